"""Choices and bands of many categories: people are counted by rank, in rows, not in columns."""

from collections.abc import Callable, Sequence

import narwhals.stable.v2 as nw

from halfnoise.data.contributions import Contribution
from halfnoise.data.groups import Groups, Values
from halfnoise.data.sources import fetch
from halfnoise.data.weighing import WEIGHT, kept, together

Counted = Callable[[], dict[Values, list[int]]]  # what reads sums for each group


def counted(groups: Groups, part: Contribution, people: Sequence[str]) -> Counted:
    """Return how many people there are of each rank, put in the order of the categories."""
    group, ((rank, expression),) = groups.columns, part.rows.items()
    weighing = part.block.weighing
    made: dict[str, nw.Expr] = {rank: expression}
    table = part.looked_up(groups.rows).select(*people, *group, *kept(weighing), **made)
    if people:
        table = table.group_by(*people, *group).agg(*part.together, *together(weighing))
    total = nw.col(WEIGHT).sum() if weighing.bits else nw.len()
    totals = table.group_by(*group, rank).agg(total.alias("hn_total"))
    places = {rank: place for place, rank in enumerate(part.in_order)}

    def read() -> dict[Values, list[int]]:
        sums: dict[Values, list[int]] = {}
        for *values, own, total in fetch(totals):
            if own in places:  # else nobody is to be counted
                sums.setdefault(tuple(values), [0] * len(places))[places[own]] = int(total)
        return sums

    return read
