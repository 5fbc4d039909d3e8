"""Exact totals: the sums over all people and the number of people, as integers.

The same on every engine, in every order and however the rows are split: only integers are added,
and no sum can overflow below 2^40 people (``workload.grid``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from halfnoise.data.cells import Cell
from halfnoise.data.contributions import Contribution, ReadCell
from halfnoise.data.expressions import expressions, roots
from halfnoise.data.groups import Frame, Groups, Values
from halfnoise.data.items import item_totals
from halfnoise.data.quiet import quietly
from halfnoise.data.sources import fetch
from halfnoise.data.sources.frames import plain_text
from halfnoise.data.sources.source import Source
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.block import Block
from halfnoise.workload.categories import Items
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Where
from halfnoise.workload.grid import Ring
from halfnoise.workload.totals import Totals
from halfnoise.workload.workload import Workload

FAILED = (
    "the table could not be read to the end; check that every file is complete and of the format"
    " that its name says, and that an expression of yours cannot fail on a row"
)


def prepared(
    source: Source, workload: Workload, blocks: Sequence[Block], unit: Sequence[str] | None
) -> Callable[[], Totals]:
    """Return what reads the exact totals; what a column's type forbids is refused before that.

    **Guarantee.** All totals are of the same rows: where they take more than one scan, and the rows
    might differ from scan to scan, they are of a snapshot.
    """
    asked, needed = (workload, blocks, unit or ()), _needed(workload, unit or ())
    table = source.of(needed)
    tried = quietly(lambda: _prepared(table, *asked), FAILED)

    def add_up() -> Totals:
        rows = table.rows(needed, again=tried.scans > 1)
        if rows is table.frame:
            return tried.read()
        return _prepared(replace(table, frame=rows), *asked).read()

    return lambda: quietly(lambda: table.read(add_up), FAILED)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What reads the totals, and how often it goes through the rows."""

    read: Callable[[], Totals]
    scans: int


def _needed(workload: Workload, unit: Sequence[str]) -> list[str]:
    """Return the columns that are read."""
    named = [column for query in workload.queries for column in query.columns]
    named += [condition.column for condition in workload.who]
    named += [c for e in expressions(workload.queries).values() for c in sorted(roots(e))]
    return [*dict.fromkeys([*named, *unit, *workload.group_columns])]


def _prepared(
    source: Source, workload: Workload, blocks: Sequence[Block], unit: Sequence[str]
) -> _Prepared:
    frame, cell, by = _read(source, workload, unit)
    # Who does not meet the conditions is not in the table, before anything else is asked of it.
    who = [cell(condition).meets(condition) for condition in workload.who]
    frame = frame.filter(*who) if who else frame
    people = [f"unit{i}" for i in range(len(unit))]
    frame = frame.filter(*(~nw.col(key).is_null() for key in people)) if people else frame
    groups = Groups.of(frame, workload.grouping, by, people)
    parts = [
        item_totals(groups, query, block.quantum, cell, people)
        if isinstance(query := block.asked[0], Items)
        else Contribution(block, cell, f"hn{i}")
        for i, block in enumerate(blocks)
    ]
    together = _together(groups, [p for p in parts if isinstance(p, Contribution)], people)
    sizes = [b.shape.size for b, p in zip(blocks, parts, strict=True) if not callable(p)]

    def read() -> Totals:
        wide = len(groups.columns)
        rows: dict[Values, list[int]] = {}
        for row in fetch(together):
            # Engines keep keys apart as we do; if one did not, nobody's rows would be lost.
            group, own = row[:wide], [int(value or 0) for value in row[wide:]]
            before = rows.get(group)
            rows[group] = own if before is None else [*map(sum, zip(before, own, strict=True))]
        places = groups.places(list(rows))
        columns = _ring(rows, places, sum(sizes) + 1)
        own_sums = iter(np.split(columns, np.cumsum(sizes), axis=1))
        sums = tuple(
            _ring(part(), places, block.shape.size) if callable(part) else next(own_sums)
            for block, part in zip(blocks, parts, strict=True)
        )
        number = columns[:, -1]
        everyone = number.sum(dtype=np.uint64, keepdims=True)
        if groups.everybody is not None:  # where a person may be in several groups, or in none
            (row,) = fetch(groups.everybody.select(nw.len().alias("people")))
            everyone = np.array(row, dtype=np.uint64)
        return Totals(sums=sums, people=number, everyone=everyone, keys=groups.keys(list(rows)))

    return _Prepared(read, scans=groups.scans + sum(map(callable, parts)))


def _read(
    source: Source, workload: Workload, unit: Sequence[str]
) -> tuple[Frame, ReadCell, list[Cell]]:
    """Return what is needed of the table under names of our own, its cells, and those of groups."""
    made = expressions(workload.queries)
    prefix, taken = "halfnoise_expression", "\n".join(map(str.casefold, source.names.values()))
    while prefix in taken:  # a column of the table may be called so
        prefix += "_"
    given = {f"{prefix}{i}": e for i, e in enumerate(made.values())}
    for column in (c for expression in made.values() for c in roots(expression)):
        if source.names[column] != column:
            why = "an expression can only name columns in plain letters, each spelled in one way"
            raise InvalidParameterError(f"{why}; rename the column {column!r}")
    frame = source.frame.with_columns(**given) if given else source.frame
    columns = dict.fromkeys(column for query in workload.queries for column in query.columns)
    columns |= dict.fromkeys(each.column for each in workload.who)
    own: dict[Any, str] = {column: f"cell{i}" for i, column in enumerate(columns)}
    read = {own[column]: nw.col(source.names[column]) for column in columns}
    own |= dict(zip(made, given, strict=True))
    read |= {name: nw.col(name) for name in given}
    read |= {f"unit{i}": _who(source, column) for i, column in enumerate(unit)}
    keys = () if workload.grouping is None else workload.grouping.by
    by = {f"by{i}": key.column for i, key in enumerate(keys)}
    read |= {name: nw.col(source.names[column]) for name, column in by.items()}
    frame = frame.select(**read) if read else frame
    frame = plain_text(frame, list(given)) if given else frame
    dtypes = dict(frame.collect_schema())

    def cell(asked: ColumnQuery | Where) -> Cell:
        by_id = id(asked.column) in made
        name = own[id(asked.column) if by_id else asked.column]
        label = asked.label if isinstance(asked, ColumnQuery) and by_id else str(asked.column)
        plain = Cell(name=name, dtype=dtypes[name], label=label, missing=asked.codes)
        inferred = not by_id and asked.column in source.inferred
        return replace(plain, spelling=source.text.spelling, inferred=inferred)

    named = [
        Cell(name=name, dtype=dtypes[name], label=column, inferred=column in source.inferred)
        for name, column in by.items()
    ]
    return frame, cell, named


def _who(source: Source, column: str) -> nw.Expr:
    """Return who a row is about."""
    name = source.ids.get(column, source.names[column])
    return Cell(name=name, dtype=source.frame.collect_schema()[name], label=column).who()


def _together(groups: Groups, parts: Sequence[Contribution], people: Sequence[str]) -> Frame:
    """Return a row for each group: what names it, all sums and, last, the number of people."""
    group, table = groups.columns, groups.rows
    for part in parts:
        table = part.looked_up(table)
    rows = {name: e for part in parts for name, e in part.rows.items()}
    if people or group or rows:
        table = table.select(*people, *group, **rows)
    if people:
        table = table.group_by(*people, *group).agg(*(e for part in parts for e in part.together))
    sums = [e.alias(f"s{i}") for i, e in enumerate(e for part in parts for e in part.person)]
    bounded = table.select(*group, *sums) if sums or group else table
    totals = [*(nw.col(f"s{i}").sum() for i in range(len(sums))), nw.len().alias("people")]
    return bounded.group_by(*group).agg(*totals) if group else bounded.select(*totals)


def _ring(rows: Mapping[Values, Sequence[int]], places: Mapping[Values, int], size: int) -> Ring:
    """Return integers modulo 2^64 with a row for each group; one that has no row has nobody."""
    ring = np.zeros((len(places), size), dtype=np.uint64)
    at = [places[group] for group in rows]
    values = (value % 2**64 for row in rows.values() for value in row)
    ring[at] = np.fromiter(values, dtype=np.uint64).reshape(len(at), size)
    return ring
