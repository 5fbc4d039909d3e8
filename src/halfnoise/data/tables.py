"""Tables: people are counted by all attributes at once, and the tables added up from that.

One pass over the rows: each person has one category of each attribute, by the rule of a Choice, so
that a column has one category in all tables. The engine counts whoever agrees in all attributes;
what comes back are whole numbers, which are added up in those tables that are no margin of others,
and then in all their margins.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from halfnoise.data.columns import Columns
from halfnoise.data.contributions import Contribution
from halfnoise.data.groups import Frame, Groups, Values
from halfnoise.data.sources import fetch_columns
from halfnoise.workload.block import Block
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Ring
from halfnoise.workload.sets.residuals import Axes, cells, maximal, summed

_WORD = 2**62  # a whole number holds the categories of so many attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTotals:
    """What reads the cells of all tables: a row for whoever agrees in all attributes."""

    block: TableBlock
    together: Frame
    groups: Sequence[str]
    words: Sequence[Axes]  # the attributes whose categories a column holds
    orders: Sequence[Sequence[int]]  # of the categories of each attribute, their ranks

    def ring(self, places: Mapping[Values, int]) -> Ring:
        """Return the cells of all tables, a row for each group."""
        found = np.column_stack(fetch_columns(self.together, 0)[1])
        at = self._rows(found, places)
        ranks = self._ranks(found)
        width = len(self.groups) + len(self.words)
        shape, levels = self.block.shape, self.block.shape.levels
        parts = list[Ring]()
        for place, layer in enumerate(shape.layers):
            own = found[:, width + place].view(np.uint64)
            tables: dict[Axes, Ring] = {}
            for axes in maximal(layer.axes):
                tables[axes] = self._counted(axes, at, ranks, own, len(places))
            for axes in sorted(layer.axes, key=len, reverse=True):
                if axes not in tables:
                    whole = min(
                        (t for t in tables if {*axes} <= {*t}), key=lambda t: cells(levels, t)
                    )
                    tables[axes] = summed(tables[whole], whole, axes)
            parts += [tables[axes].reshape(len(places), -1) for axes in layer.axes]
        return np.concatenate(parts, axis=1)

    def _rows(self, found: np.ndarray, places: Mapping[Values, int]) -> np.ndarray:
        if not self.groups:
            return np.zeros(len(found), dtype=np.intp)
        keys, own = np.unique(found[:, : len(self.groups)], axis=0, return_inverse=True)
        return np.array([places[tuple(key)] for key in keys.tolist()], np.intp)[own.ravel()]

    def _ranks(self, found: np.ndarray) -> dict[int, np.ndarray]:
        ranks = {}
        for column, axes in enumerate(self.words, start=len(self.groups)):
            rest = found[:, column]
            for axis in reversed(axes):
                rest, own = np.divmod(rest, self.block.shape.levels[axis])
                ranks[axis] = own
        return ranks

    def _counted(
        self, axes: Axes, at: np.ndarray, ranks: Mapping[int, np.ndarray], own: Ring, rows: int
    ) -> Ring:
        shape = [self.block.shape.levels[axis] for axis in axes]
        place = at
        for axis in axes:
            place = place * self.block.shape.levels[axis] + ranks[axis]
        ring = np.zeros(rows * math.prod(shape), dtype=np.uint64)
        np.add.at(ring, place, own)
        table = ring.reshape(rows, *shape)
        for i, axis in enumerate(axes, start=1):
            table = np.take(table, self.orders[axis], axis=i)
        return table


def table_totals(
    groups: Groups, block: TableBlock, columns: Columns, people: Sequence[str]
) -> TableTotals:
    """Return what reads all tables of a block."""
    alone = not people
    axes = [
        Contribution(_block(axis), columns, f"axis{i}", alone=alone)
        for i, axis in enumerate(block.axes)
    ]
    values = [
        Contribution(_value(block, i), columns, f"value{i}", alone=alone)
        for i in range(len(block.values))
    ]
    table, group, parts = groups.rows, groups.columns, [*axes, *values]
    for part in parts:
        table = part.looked_up(table)
    rows = {name: e for part in parts for name, e in part.rows.items()}
    if people:
        table = table.select(*people, *group, **rows)
        table = table.group_by(*people, *group).agg(*(e for p in parts for e in p.together))
    elif rows:
        table = table.with_columns(**rows)
    words = _words(block.shape.levels)
    held = {f"word{i}": _held(axes, word, block) for i, word in enumerate(words)}
    own = [nw.lit(1), *(e for part in values for e in part.person)]
    layers = {f"layer{i}": e.cast(nw.Int64) for i, e in enumerate(own)}
    table = table.select(*group, **held, **layers)
    together = table.group_by(*group, *held).agg(*(nw.col(name).sum() for name in layers))
    return TableTotals(
        block=block,
        together=together,
        groups=group,
        words=words,
        orders=[part.order for part in axes],
    )


def _block(query: ColumnQuery, quantum: Fraction = Fraction(1)) -> Block:
    about: dict[str, Any] = {"kind": query.kind, "shape": query.shape, "label": query.label}
    return Block(**about, importance=1.0, asked=(query,), quantum=quantum)


def _value(block: TableBlock, i: int) -> Block:
    """Return a value as if it were asked by itself, with its bounds on the grid."""
    query, value = block.values[i], block.shape.values[i]
    return _block(query, value.quantum)


def _words(levels: Sequence[int]) -> list[Axes]:
    """Return attributes in pieces, each of so few categories that a whole number holds them."""
    words: list[Axes] = [()]
    for axis, level in enumerate(levels):
        if math.prod(levels[other] for other in words[-1]) * level > _WORD:
            words.append(())
        words[-1] += (axis,)
    return words


def _held(parts: Sequence[Contribution], word: Axes, block: TableBlock) -> nw.Expr:
    """Return the categories of several attributes as one whole number."""
    levels = block.shape.levels

    def next_(held: nw.Expr, axis: int) -> nw.Expr:
        return held * levels[axis] + _rank(parts[axis])

    first, *others = word
    return reduce(next_, others, _rank(parts[first]))


def _rank(part: Contribution) -> nw.Expr:
    if part.rank_of_person is None:
        raise AssertionError(part.block.label)
    return part.rank_of_person
