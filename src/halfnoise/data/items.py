"""Items: a person's set of codes, from rows of one code or cells of several.

A person's listed items are made distinct and counted; who has more than allowed counts a fraction
for each. Where each row is a person, rows with the same cell have the same items, so that a cell
stands for all of them: no engine has to tell rows apart.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import narwhals.stable.v2 as nw

from halfnoise.checks import refuse, said_twice
from halfnoise.data.cells import MOST_WHOLE, Cell
from halfnoise.data.columns import ReadCell
from halfnoise.data.contributions import part_of_item
from halfnoise.data.groups import Frame, Groups, Values
from halfnoise.data.handed import Rows
from halfnoise.data.logic import is_true
from halfnoise.data.lookup import PLACE, Listed, parts, times
from halfnoise.data.many import Counted
from halfnoise.data.spark_items import MOST, counted_sets
from halfnoise.data.spelling import folded
from halfnoise.data.weighing import kept, whole_item
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.block import Block
from halfnoise.workload.categories import Items
from halfnoise.workload.codes import deepest
from halfnoise.workload.conditions import Literal, as_number

# A cell with more characters holds no codes: engines split thousands of cells at a time, and would
# run out of memory over those of a few people.
LONGEST_CELL = 10_000
_ITEM, _CELL, _TIMES, _LENGTH = "hn_item", "hn_cell", "hn_times", "hn_length"


class _Listed(NamedTuple):
    """Items as they are looked up, and the ``lengths`` of those that codes begin with, else 0.

    ``several``: whether one code can be more than one of them.
    """

    keys: list[Any]
    lengths: list[int]
    several: bool

    @property
    def enough(self) -> int:
        """How many characters of a cell tell which of the items its code is."""
        return 1 + max(map(len, self.keys))

    @classmethod
    def of(cls, query: Items, cell: Cell) -> Self:
        """Return the items in the type of the column, text or whole numbers, each one once."""
        if not cell.is_text:
            cell.whole()  # refuses what holds no numbers, before it is said that it does
            numbers = [_whole(item, query.label) for item in query.items]
            return cls(_once(numbers, query.label), [0] * len(numbers), several=False)
        codes = query.listed
        if cell.spelling.ignore_case:
            codes = [code._replace(text=folded(code.text)) for code in codes]
        keys, lengths = [code.text for code in codes], [code.length for code in codes]
        _once([*zip(lengths, keys, strict=True)], query.label)
        return cls(keys, lengths, several=deepest(codes) > 1)


def item_totals(
    groups: Groups, query: Items, block: Block, cell: ReadCell, people: Sequence[str]
) -> Counted:
    """Return how totals of items, in quanta, are read; what can be refused is refused before."""
    own, group = cell(query), groups.columns
    listed = _Listed.of(query, own)
    splits = query.split is not None and own.is_text  # a number is one code
    weight = kept(block.weighing)
    rows, times = _cells(groups, query, cell, people, weight), nw.lit(1)
    if splits:
        rows = rows.filter(nw.col(_ITEM).str.len_chars() <= LONGEST_CELL)
    if not people and (splits or listed.several):
        rows = rows if splits else rows.with_columns(nw.col(_ITEM).str.slice(0, listed.enough))
        rows = rows.group_by(*group, *weight, _ITEM).agg(nw.len().alias(_TIMES))
        rows = rows.with_columns(nw.col(_ITEM).alias(_CELL), nw.col(_TIMES).cast(nw.Int64))
        people, times = [_CELL, _TIMES], nw.col(_TIMES)
    if splits:
        rows = _split(rows, own, str(query.split))
    # From here on an item is its place in the list: a number is quicker to group by than text.
    rows = _placed(rows, listed).select(*people, *weight, *group, PLACE)
    items = len(query.items)
    most = query.at_most if people and (query.at_most or items) < items else None

    def each(number: nw.Expr) -> nw.Expr:
        counts = whole_item(block) if most is None else part_of_item(number, most, block)
        return (counts * times).cast(nw.Int64)

    if people and rows.implementation.is_spark_like() and items <= MOST:
        return counted_sets(rows, [*people, *weight, *group], group, items, each)
    if people:
        rows = rows.group_by(*people, *weight, *group, PLACE).agg(nw.len().alias("hn_rows"))
    if most is not None:
        number = nw.col(PLACE).count().over(*people, *weight, *group).cast(nw.Int64)
        rows = rows.with_columns(hn_number=number)
    rows = rows.select(*group, PLACE, hn_total=each(nw.col("hn_number")))
    totals = rows.group_by(*group, PLACE).agg(nw.col("hn_total").sum())

    def added(found: Rows) -> dict[Values, list[int]]:
        sums: dict[Values, list[int]] = {}
        for *values, place, total in found:
            sums.setdefault(tuple(values), [0] * items)[int(place)] = int(total)
        return sums

    return Counted(totals, added)


def _cells(
    groups: Groups, query: Items, cell: ReadCell, people: Sequence[str], weight: Sequence[str]
) -> Frame:
    """Return whom a row is about, their weight, the group, and the cell; only rows that count."""
    own, group = cell(query), groups.columns
    if own.is_text:  # each part of a cell is a code, and not all of it
        value, there = own.code() if query.split is None else own.text(), own.present()
    else:
        value, there = own.whole()
    there = is_true(there)
    if query.where is not None:
        there = there & cell(query.where).meets(query.where)
    # A person's weight is the largest of all rows, also of those that do not count here.
    made = {name: nw.col(name) for name in weight}
    made |= {name: e.max().over(*people, *group) for name, e in made.items() if people}
    rows = groups.placed.select(*people, *group, hn_item=value, hn_there=there, **made)
    return rows.filter(nw.col("hn_there")).drop("hn_there")


def _split(rows: Frame, cell: Cell, mark: str) -> Frame:
    """Return a row for each code in a cell; a code for missing is none, nor is nothing."""
    part = replace(cell, name=_ITEM, dtype=nw.String(), made=())
    rows = parts(rows, _ITEM, mark).filter(part.present())
    return rows.with_columns(part.code().alias(_ITEM)).filter(nw.col(_ITEM) != "")


def _placed(rows: Frame, listed: _Listed) -> Frame:
    """Return a row for each item that a code is, with its place in the list.

    Beside the whole code, its beginnings of all lengths that are listed are looked up.
    """
    lengths, on, key = sorted({*listed.lengths}), [_ITEM], nw.col(_ITEM)
    columns: list[Sequence[Any]] = [listed.keys]
    if len(lengths) > 1:
        rows = times(rows, _LENGTH, lengths)
        columns, on = [*columns, listed.lengths], [_ITEM, _LENGTH]
    for length in filter(None, lengths):
        begin = nw.col(_ITEM).str.slice(0, length)
        several = nw.when(nw.col(_LENGTH) == length).then(begin).otherwise(key)
        key = several if len(lengths) > 1 else begin
    places = Listed.of(rows, columns)
    return places.find(rows.with_columns(key.alias(_ITEM)), on, elsewhere=False)


def _once(listed: list[Any], label: str) -> list[Any]:
    """Refuse two that read the same: one row would count for both, more than a person may add."""
    if (twice := said_twice(listed)) is not None:
        shown = twice[1] if isinstance(twice, tuple) else twice
        same = f"two items of {label!r} read the same, {shown!r}"
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
