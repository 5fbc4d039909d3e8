"""Exact totals: the sums over all people and the number of people, as integers.

The same on every engine, in every order and however the rows are split: only integers are added,
and no sum can overflow below 2^40 people (``design.grid``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from halfnoise.conditions import Where
from halfnoise.data.cells import Cell
from halfnoise.data.contributions import Contribution, contribution
from halfnoise.data.items import item_totals
from halfnoise.data.sources import Source, fetch
from halfnoise.design.grid import OnGrid, Ring
from halfnoise.queries import Asked, Items
from halfnoise.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Totals:
    """What enters the noise, and must not leave this side without it. It has no repr."""

    sums: tuple[Ring, ...]
    people: Ring


def totals(source: Source, workload: Workload, grid: OnGrid, unit: Sequence[str] | None) -> Totals:
    """Return the exact totals of a workload; ``unit`` None means that each row is a person."""
    frame = _with_expressions(source.frame, workload)

    def cell(asked: Asked | Where) -> Cell:
        if isinstance(asked.column, nw.Expr):
            column = _expression_name(workload, asked)
            return Cell(name=column, dtype=nw.Boolean(), label=column, missing=asked.missing)
        return Cell(
            name=source.names[asked.column],
            dtype=source.dtypes[asked.column],
            label=asked.column,
            missing=asked.missing,
            decimal=source.text.decimal,
        )

    parts = [
        None if block.kind == "items" else contribution(block, on, cell, f"hn{i}")
        for i, (block, on) in enumerate(zip(workload.blocks, grid.blocks, strict=True))
    ]
    person = _people(frame, source, unit)
    first = _one_row(person, [part for part in parts if part is not None])
    sums = []
    start = 0
    for part, block, on in zip(parts, workload.blocks, grid.blocks, strict=True):
        if part is None:
            (query,) = block.asked
            assert isinstance(query, Items)  # noqa: S101
            found = item_totals(person, query, on.unit, cell, unit_keys(person))
        else:
            stop = start + len(part.person)
            found, start = first[start:stop], stop
        sums.append(_ring(found))
    return Totals(sums=tuple(sums), people=_ring(first[-1:])[:, 0])


def _people(
    frame: nw.LazyFrame[Any], source: Source, unit: Sequence[str] | None
) -> nw.LazyFrame[Any]:
    """Add the columns that say who a row is about, and drop rows that do not say it."""
    if unit is None:
        return frame
    keys = {}
    for i, column in enumerate(unit):
        key = nw.col(source.names[column])
        dtype = source.dtypes[column]
        if dtype.is_float():
            # NaN is nobody, and -0.0 is 0.0.
            key = nw.when(~key.is_nan()).then(key + 0.0)
        keys[f"hn_unit{i}"] = key
    named = frame.with_columns(**keys)
    return named.filter(*(~nw.col(key).is_null() for key in keys))


def unit_keys(frame: nw.LazyFrame[Any]) -> list[str]:
    """Return the columns that say who a row is about."""
    return [name for name in frame.collect_schema().names() if name.startswith("hn_unit")]


def _one_row(frame: nw.LazyFrame[Any], parts: Sequence[Contribution]) -> list[int]:
    """Return all sums and, last, the number of people, from one pass over the rows."""
    rows = {name: e for part in parts for name, e in part.rows.items()}
    together = {name: how for part in parts for name, how in part.together.items()}
    if keys := unit_keys(frame):
        read = frame.select(*keys, **rows)
        aggregates = [getattr(nw.col(name), how)() for name, how in together.items()]
        people = read.group_by(*keys).agg(*aggregates)
    else:
        people = frame.select(**rows) if rows else frame
    sums = [e.alias(f"s{i}") for i, e in enumerate(e for part in parts for e in part.person)]
    bounded = people.select(*sums) if sums else people
    totals = [nw.col(f"s{i}").sum() for i in range(len(sums))]
    (row,) = fetch(bounded.select(*totals, nw.len().alias("people")))
    return [int(value or 0) for value in row]


def _ring(values: Sequence[int]) -> Ring:
    return np.array([[value % 2**64 for value in values]], dtype=np.uint64)


def _with_expressions(frame: nw.LazyFrame[Any], workload: Workload) -> nw.LazyFrame[Any]:
    given = {
        _expression_name(workload, query): query.column
        for query in workload.queries
        if isinstance(query.column, nw.Expr)
    }
    return frame.with_columns(**given) if given else frame


def _expression_name(workload: Workload, query: Any) -> str:  # noqa: ANN401
    return f"hn_expression{[id(each) for each in workload.queries].index(id(query))}"
