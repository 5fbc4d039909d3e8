"""From rows to people: what all parts read of a row, and the rows of a person as one."""

from collections.abc import Sequence

import narwhals.stable.v2 as nw

from halfnoise.data.contributions import Contribution
from halfnoise.data.groups import Frame
from halfnoise.data.places import Places
from halfnoise.data.weighing import kept
from halfnoise.workload.weights import Weighing

Parts = Sequence[Contribution | Places]


def read_together(
    rows: Frame, parts: Parts, people: Sequence[str], group: Sequence[str], weighing: Weighing
) -> Frame:
    """Return what parts read, in few steps: after each, Spark looks at its whole plan again."""
    if first := {name: e for part in parts for name, e in part.first.items()}:
        rows = rows.with_columns(**first)
    for part in parts:
        rows = part.looked_up(rows)
    read = {name: e for part in parts for name, e in part.rows.items()}
    if people:
        weight = kept(weighing)
        rows = rows.select(*people, *group, *weight, **read)
        one = (e for part in parts for e in part.together)
        rows = rows.group_by(*people, *group).agg(*one, *(nw.col(name).max() for name in weight))
    elif read:
        rows = rows.with_columns(**read)
    last = {n: e for part in parts if isinstance(part, Contribution) for n, e in part.last.items()}
    return rows.with_columns(**last) if last else rows
