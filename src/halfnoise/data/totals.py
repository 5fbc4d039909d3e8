"""Exact totals: the sums over all people and the number of people, as integers.

The same on every engine, in every order and however the rows are split: only integers are added,
and no sum can overflow below 2^40 people (``design.grid``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from halfnoise.data.cells import SPACES, Cell
from halfnoise.data.contributions import Contribution, ReadCell, contribution
from halfnoise.data.groups import Groups, Values, in_groups
from halfnoise.data.items import item_totals
from halfnoise.data.quiet import quietly
from halfnoise.data.sources import fetch
from halfnoise.data.sources.source import Source
from halfnoise.design.measurement import OnGrid, Ring
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.asked import Asked
from halfnoise.workload.categories import Items
from halfnoise.workload.conditions import Where
from halfnoise.workload.groups import Key
from halfnoise.workload.queries import Query
from halfnoise.workload.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Totals:
    """What enters the noise, and must not leave this side without it. It has no repr.

    ``sums`` and ``people`` have a row for each group, ``everyone`` is the number of all people.
    ``keys``: the groups that were found, in the order of the rows; None where they are listed.
    """

    sums: tuple[Ring, ...]
    people: Ring
    everyone: Ring
    keys: tuple[Key, ...] | None = None


FAILED = (
    "the table could not be read to the end; check that every file is complete and of the format"
    " that its name says, and that an expression of yours cannot fail on a row"
)


def totals(source: Source, workload: Workload, grid: OnGrid, unit: Sequence[str] | None) -> Totals:
    """Return the exact totals of a workload; ``unit`` None means that each row is a person."""
    return prepared(source, workload, grid, unit)()


def prepared(
    source: Source, workload: Workload, grid: OnGrid, unit: Sequence[str] | None
) -> Callable[[], Totals]:
    """Return what reads the totals; whatever a column's type forbids is refused before that."""
    for query in workload.queries:
        _check_expression(query)

    def work(table: Source) -> Callable[[], Totals]:
        return _prepared(table, workload, grid, unit or ())

    if source.frame.implementation.is_pandas():
        # It computes at once, so what may be refused is tried on no rows first.
        quietly(lambda: work(replace(source, frame=source.frame.head(0))), FAILED)
        return lambda: quietly(lambda: work(source)(), FAILED)  # noqa: PLW0108
    read = quietly(lambda: work(source), FAILED)

    def fill_and_read() -> Totals:
        source.fill()
        return read()

    return lambda: quietly(fill_and_read, FAILED)


def _prepared(
    source: Source, workload: Workload, grid: OnGrid, unit: Sequence[str]
) -> Callable[[], Totals]:
    frame, cell, by = _read(source, workload, unit)
    people = [f"unit{i}" for i in range(len(unit))]
    frame = frame.filter(*(~nw.col(key).is_null() for key in people)) if people else frame
    groups = in_groups(frame, workload.grouping, by, people)
    parts: list[Contribution | Callable[[], dict[Values, list[int]]]] = []
    for i, (block, on) in enumerate(zip(workload.blocks, grid.blocks, strict=True)):
        query = block.asked[0]
        parts.append(
            item_totals(groups, query, on.unit, cell, people)
            if isinstance(query, Items)
            else contribution(block, on, cell, f"hn{i}")
        )
    asked = [part for part in parts if isinstance(part, Contribution)]
    together = _together(groups, asked, people)

    def read() -> Totals:
        wide = len(groups.columns)
        found: dict[Values, list[int]] = {}
        for row in fetch(together):
            # Engines keep keys apart as we do; if one did not, nobody's rows would be lost.
            own = [int(value or 0) for value in row[wide:]]
            before = found.get(row[:wide])
            found[row[:wide]] = (
                own if before is None else list(map(sum, zip(before, own, strict=True)))
            )
        places = groups.places(list(found))
        sums = []
        start = 0
        for block, part in zip(workload.blocks, parts, strict=True):
            if isinstance(part, Contribution):
                stop = start + block.shape.size
                part_of = {group: row[start:stop] for group, row in found.items()}
                start = stop
            else:
                part_of = part()
            sums.append(_ring(part_of, places, block.shape.size))
        people = _ring({group: row[-1:] for group, row in found.items()}, places, 1)[:, 0]
        return Totals(
            sums=tuple(sums),
            people=people,
            everyone=_number(groups.everybody, people),
            keys=groups.keys(list(found)),
        )

    return read


def _number(everybody: nw.LazyFrame[Any] | None, people: Ring) -> Ring:
    """Return the number of all people, each counted once."""
    if everybody is None:
        return np.array([people.sum(dtype=np.uint64)], dtype=np.uint64)
    ((number,),) = fetch(everybody.select(nw.len().alias("people")))
    return np.array([number], dtype=np.uint64)


def _read(
    source: Source, workload: Workload, unit: Sequence[str]
) -> tuple[nw.LazyFrame[Any], ReadCell, list[Cell]]:
    """Return what is needed of the table under names of our own, and how to find its cells.

    The cells that name groups come last.
    """
    expressions = {
        id(query.column): query.column
        for query in workload.queries
        if isinstance(query.column, nw.Expr)
    }
    given = {f"halfnoise_expression{i}": e for i, e in enumerate(expressions.values())}
    frame = source.frame.with_columns(**given) if given else source.frame
    columns = dict.fromkeys(column for query in workload.queries for column in query.columns)
    own: dict[Any, str] = {column: f"cell{i}" for i, column in enumerate(columns)}
    read = {own[column]: nw.col(source.names[column]) for column in columns}
    for i, (key, name) in enumerate(zip(expressions, given, strict=True)):
        own[key] = f"made{i}"
        read[own[key]] = nw.col(name)
    for i, column in enumerate(unit):
        read[f"unit{i}"] = _key(source, column)
    by = () if workload.grouping is None else workload.grouping.by
    for i, each in enumerate(by):
        read[f"by{i}"] = nw.col(source.names[each.column])
    frame = frame.select(**read) if read else frame
    dtypes = dict(frame.collect_schema())
    spaces = None if frame.implementation.is_ibis() else SPACES  # its own are the same

    def cell(asked: Asked | Where) -> Cell:
        made = isinstance(asked.column, nw.Expr)
        name = own[id(asked.column) if made else asked.column]
        return Cell(
            name=name,
            dtype=dtypes[name],
            label=asked.label if isinstance(asked, Asked) and made else str(asked.column),
            missing=asked.codes,
            decimal=source.text.decimal,
            spaces=spaces,
        )

    keys = [
        Cell(name=f"by{i}", dtype=dtypes[f"by{i}"], label=each.column, spaces=spaces)
        for i, each in enumerate(by)
    ]
    return frame, cell, keys


def _key(source: Source, column: str) -> nw.Expr:
    """Return who a row is about: null where it does not say."""
    key = nw.col(source.names[column])
    dtype = source.dtypes[column]
    if dtype.is_float():
        # NaN is nobody, and -0.0 is 0.0.
        return nw.when(~key.is_nan()).then(key + 0.0)
    if dtype == nw.String:
        return nw.when(key.str.strip_chars() != "").then(key)
    return key


def _check_expression(query: Query) -> None:
    """Refuse an expression that looks at several rows: one person would change another's part."""
    if isinstance(query.column, nw.Expr) and not _row_by_row(query.column):
        raise InvalidParameterError(
            f"the expression of {query.label!r} looks at more than one row at a time; each row must"
            " be judged by itself, without mean, rank, shift, over and the like"
        )


def _row_by_row(expression: nw.Expr) -> bool:
    return all(
        node.kind.name in ("COL", "NTH", "LITERAL", "ELEMENTWISE", "WHEN_THEN")
        and not any(_is_column(each) for each in (*node.exprs, *node.kwargs.values()))
        and all(_row_by_row(each) for each in node.exprs if isinstance(each, nw.Expr))
        for node in expression._nodes  # noqa: SLF001  # there is no public way to ask
    )


def _is_column(value: object) -> bool:
    """Whether a value is a column of its own, whose cells would meet rows by their order."""
    return isinstance(value, nw.Series) or hasattr(value, "__array__") or hasattr(value, "to_numpy")


def _together(
    groups: Groups, parts: Sequence[Contribution], people: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Return a row for each group: what names it, all sums and, last, the number of people."""
    rows = {name: e for part in parts for name, e in part.rows.items()}
    together = {name: how for part in parts for name, how in part.together.items()}
    group = groups.columns
    table = groups.rows
    for part in parts:
        table = part.looked_up(table)
    if people:
        read = table.select(*people, *group, **rows)
        aggregates = [getattr(nw.col(name), how)() for name, how in together.items()]
        each = read.group_by(*people, *group).agg(*aggregates)
    else:
        each = table.select(*group, **rows) if rows or group else table
    sums = [e.alias(f"s{i}") for i, e in enumerate(e for part in parts for e in part.person)]
    bounded = each.select(*group, *sums) if sums or group else each
    totals = [nw.col(f"s{i}").sum() for i in range(len(sums))]
    number = nw.len().alias("people")
    if group:
        return bounded.group_by(*group).agg(*totals, number)
    return bounded.select(*totals, number)


def _ring(found: Mapping[Values, Sequence[int]], places: Mapping[Values, int], size: int) -> Ring:
    """Return integers modulo 2^64 with a row for each group; who is not found has nobody."""
    ring = np.zeros((len(places), size), dtype=np.uint64)
    at = [places[group] for group in found]
    ring[at] = np.array(
        [[value % 2**64 for value in row] for row in found.values()], dtype=np.uint64
    ).reshape(len(at), size)
    return ring
