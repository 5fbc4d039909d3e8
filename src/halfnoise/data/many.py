"""Choices and bands of many categories: people are counted by rank, in rows, not in columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from halfnoise.data.contributions import Contribution
from halfnoise.data.groups import Frame, Groups, Values
from halfnoise.data.handed import Rows


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows of counts, and what makes sums for each group of them."""

    frame: Frame
    sums: Callable[[Rows], dict[Values, list[int]]]


def counted(groups: Groups, part: Contribution, people: Sequence[str]) -> Counted:
    """Return how many people there are of each rank, put in the order of the categories."""
    group, ((rank, expression),) = groups.columns, part.rows.items()
    table = part.looked_up(groups.rows).select(*people, *group, **{rank: expression})
    if people:
        table = table.group_by(*people, *group).agg(*part.together)
    totals = table.group_by(*group, rank).agg(nw.len().alias("hn_total"))
    places = {rank: place for place, rank in enumerate(part.in_order)}

    def added(rows: Rows) -> dict[Values, list[int]]:
        sums: dict[Values, list[int]] = {}
        for *values, own, total in rows:
            if own in places:  # else nobody is to be counted
                sums.setdefault(tuple(values), [0] * len(places))[places[own]] = int(total)
        return sums

    return Counted(totals, added)
