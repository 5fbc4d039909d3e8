"""Items: one row for each person and item, and domains of up to a million items.

A person's listed items are made distinct and counted; who has more than allowed counts a fraction
for each.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.checks import refuse
from halfnoise.data.cells import MOST_WHOLE, Cell
from halfnoise.data.columns import ReadCell
from halfnoise.data.contributions import item_weight
from halfnoise.data.groups import Groups, Values
from halfnoise.data.logic import is_true
from halfnoise.data.lookup import PLACE, lookup
from halfnoise.data.sources import fetch
from halfnoise.data.spelling import SPACES
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.categories import Items
from halfnoise.workload.conditions import Literal, as_number


def item_totals(
    groups: Groups, query: Items, quantum: Fraction, cell: ReadCell, people: Sequence[str]
) -> Callable[[], dict[Values, list[int]]]:
    """Return how totals of items, in quanta, are read; what can be refused is refused before."""
    own = cell(query)
    value, there = (own.text(), own.present()) if own.is_text else own.whole()
    listed = _listed(query, own)
    there = is_true(there & own.present())
    if query.where is not None:
        there = there & cell(query.where).meets(query.where)
    group = groups.columns
    rows = groups.rows.select(*people, *group, hn_item=value, hn_there=there)
    # From here on an item is its place in the list: a number is quicker to group by than text.
    table = lookup(groups.rows, {"hn_item": listed})
    rows = rows.filter(nw.col("hn_there")).join(table, on="hn_item", how="inner")
    rows = rows.select(*people, *group, PLACE)
    if people:
        rows = rows.group_by(*people, *group, PLACE).agg(nw.len().alias("hn_rows"))
    added, whole = nw.len().alias("hn_total"), quantum.denominator
    if people and query.at_most is not None and query.at_most < len(listed):
        number = nw.col("hn_rows").count().over(*people, *group).cast(nw.Int64)
        rows = rows.with_columns(hn_number=number)
        rows = rows.with_columns(hn_weight=item_weight(nw.col("hn_number"), query.at_most, quantum))
        added, whole = nw.col("hn_weight").sum(), 1
    totals = rows.group_by(*group, PLACE).agg(added)

    def read() -> dict[Values, list[int]]:
        sums: dict[Values, list[int]] = {}
        for *values, place, total in fetch(totals):
            sums.setdefault(tuple(values), [0] * len(listed))[int(place)] = int(total) * whole
        return sums

    return read


def _listed(query: Items, cell: Cell) -> list[Any]:
    """Return the items in the type of the column, text or whole numbers, each one once."""
    listed: list[Any] = [str(item).strip(SPACES) for item in query.items]
    if not cell.is_text:
        listed = [_whole(item, query.label) for item in query.items]
    if len(set(listed)) < len(listed):
        # One row would count for both, which is more than a person may add.
        twice = next(item for item in listed if listed.count(item) > 1)
        same = f"two items of {query.label!r} read the same, {twice!r}"
        raise InvalidParameterError(f"{same}; list each one once")
    return listed


def _whole(item: Literal, label: str) -> int:
    try:
        number = int(item) if isinstance(item, str | int) else int(as_number(item) or 0)
    except (OverflowError, ValueError):
        number = MOST_WHOLE
    if abs(number) >= MOST_WHOLE or (isinstance(item, float) and number != item):
        rule = "a whole number below 2^62, since its column holds numbers"
        raise refuse(f"an item of {label!r}", rule, item, "turn the column into text")
    return number
