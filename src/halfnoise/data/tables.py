"""Tables: people are told apart by all attributes at once, and the tables added up from that.

One pass over the rows: each person has one category of each attribute, by the rule of a Choice, so
that a column has one category in all tables. Where few cells are possible, the engine counts
whoever agrees in all attributes; else it hands over a whole number for each person.
"""

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from halfnoise.data.adding import added
from halfnoise.data.columns import Columns
from halfnoise.data.contributions import Contribution
from halfnoise.data.groups import Frame, Groups, Values
from halfnoise.data.handed import Handed
from halfnoise.data.places import Places
from halfnoise.data.sources import comes_in_rows
from halfnoise.data.together import read_together
from halfnoise.data.weighing import size
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Ring, carried
from halfnoise.workload.nested import Level
from halfnoise.workload.sets.residuals import Axes, cells, flat, place_of

_WORD = 2**62  # a whole number holds the categories of so many attributes
_FEW = 2**20  # cells: of more, counting people in them takes longer than handing them over


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTotals:
    """What reads the cells of all tables: a row for each person, or for all who agree.

    ``listed``: whether a group is known by its place, not by its key. ``counted``: whether rows say
    of how many people they are, or how often somebody counts.
    """

    block: TableBlock
    frame: Frame
    groups: Sequence[str]
    listed: bool
    counted: bool
    words: Sequence[Axes]  # the attributes whose categories a column holds
    orders: Mapping[int, Sequence[int]]  # of the categories of each attribute, their ranks
    in_parts: Sequence[bool]  # of which layers a column of parts comes after that of quanta

    def ring(self, handed: Handed, places: Mapping[Values, int]) -> Ring:
        """Return the cells of all tables, a row for each group."""
        named, columns = handed.columns(self.frame, 0 if self.listed else len(self.groups))
        at = None
        if self.groups:
            keys = zip(*named, strict=True)
            own = columns.pop(0) if self.listed else [places[values] for values in keys]
            at = np.asarray(own, dtype=np.int64)
        shape, wide = self.block.shape, len(self.words)
        people = list(zip(self.words, columns[:wide], strict=True))
        adds: list[Ring | None] = [column.view(np.uint64) for column in columns[wide:]]
        summed = iter(adds if self.counted else [None, *adds])
        found = []
        for layer, in_parts in zip(shape.layers, self.in_parts, strict=True):
            rules = (people, (at, len(places)))
            tables = self._added(layer.axes, next(summed), *rules)
            if in_parts:  # each table and margin is rounded once
                parts = self._added(layer.axes, next(summed), *rules)
                tables = {axes: carried(table, parts[axes]) for axes, table in tables.items()}
            found += [flat(tables[axes]) for axes in layer.axes]
        return np.concatenate(found, axis=1)

    def _added(self, wanted: Sequence[Axes], *given: Any) -> dict[Axes, Ring]:
        """Return tables, those by coarser places too, with categories as they are listed."""
        finest = [*dict.fromkeys(map(self._finest, wanted))]
        tables = added(self.block.shape.levels, finest, *given)
        ordered = {axes: self._in_order(axes, table) for axes, table in tables.items()}
        return {axes: self._coarser(axes, ordered) for axes in wanted}

    def _in_order(self, axes: Axes, table: Ring) -> Ring:
        """Return a table with its categories in the order in which they are listed."""
        for i, axis in enumerate(axes, start=1):
            if self.orders[axis] != (*range(table.shape[i]),):
                table = np.take(table, self.orders[axis], axis=i)
        return table

    def _finest(self, axes: Axes) -> Axes:
        """Return the table by the smallest places, which are those that are read."""
        deep = self.block.shape.deep
        return (deep - 1, *axes[1:]) if place_of(axes, deep) else axes

    def _coarser(self, axes: Axes, tables: dict[Axes, Ring]) -> Ring:
        """Return a table by coarser places, each summed from the next finer one."""
        if axes not in tables and self.block.nested is not None:
            level, *others = axes
            finer = self._coarser((level + 1, *others), tables)
            tables[axes] = self.block.nested.tree.summed(level + 1, finer, axis=1)
        return tables[axes]


def table_totals(
    groups: Groups, block: TableBlock, columns: Columns, people: Sequence[str]
) -> TableTotals:
    """Return what reads all tables of a block."""
    alone = not people
    axes: dict[int, Contribution | Places] = {}
    if block.nested is not None:
        axes[len(block.nested.columns) - 1] = Places.of(block.nested, columns, alone=alone)
    for i, axis in enumerate(block.axes):
        if not isinstance(axis, Level):
            axes[i] = Contribution(_block(axis), columns, f"axis{i}", alone=alone)
    values = [
        Contribution(_value(block, i), columns, f"value{i}", alone=alone)
        for i in range(len(block.values))
    ]
    table, group, parts = groups.placed, groups.columns, [*axes.values(), *values]
    table = read_together(table, parts, people, group, block.weighing)
    words = _words(block.shape.levels, tuple(axes))
    held = {f"word{i}": _held(axes, word, block) for i, word in enumerate(words)}
    layers = {f"layer{i}": e for i, e in enumerate(e for part in values for e in part.person)}
    counted = _counts(groups, block, tuple(axes))
    says = counted or block.weighing.bits > 0
    if says:
        layers = {"people": size(block.weighing), **layers}
    table = table.select(*group, **{n: e.cast(nw.Int64) for n, e in (held | layers).items()})
    if counted:
        table = table.group_by(*group, *held).agg(*(nw.col(name).sum() for name in layers))
    return TableTotals(
        block=block,
        frame=table,
        groups=group,
        listed=groups.number is not None,
        counted=says,
        words=words,
        orders={axis: part.order for axis, part in axes.items()},
        in_parts=[False, *(kind for part in values for kind in _layers(part))],
    )


def _counts(groups: Groups, block: TableBlock, axes: Axes) -> bool:
    """Whether the engine counts who agrees: in few cells, or where each row is dear to fetch."""
    number = groups.number
    if number is None or comes_in_rows(groups.rows):
        return True
    return number * cells(block.shape.levels, axes) <= _FEW


def _layers(part: Contribution) -> list[bool]:
    """Return, layer by layer, whether a value is added up in parts: who answered is not."""
    return [part.in_parts] + [False] * (len(part.person) - 1 - part.in_parts)


def _block(query: ColumnQuery) -> Block:
    about: dict[str, Any] = {"kind": query.kind, "shape": query.shape, "label": query.label}
    return Block(**about, importance=1.0, asked=(query,))


def _value(block: TableBlock, i: int) -> Block:
    """Return a value as if it were asked by itself, on its grid."""
    alone, value = _block(block.values[i]), block.shape.values[i]
    about: dict[str, Any] = {"quantum": value.quantum, "weighing": block.weighing}
    return replace(alone, shape=alone.shape.on(value.quantum), offset=value.offset, **about)


def _words(levels: Sequence[int], axes: Axes) -> list[Axes]:
    """Return attributes in pieces, each of so few categories that a whole number holds them."""
    words: list[Axes] = [()]
    for axis in axes:
        if math.prod(levels[other] for other in words[-1]) * levels[axis] > _WORD:
            words.append(())
        words[-1] += (axis,)
    return words


def _held(parts: Mapping[int, Contribution | Places], word: Axes, block: TableBlock) -> nw.Expr:
    """Return the categories of several attributes as one whole number."""
    levels = block.shape.levels

    def next_(held: nw.Expr, axis: int) -> nw.Expr:
        return held * levels[axis] + _rank(parts[axis])

    first, *others = word
    return reduce(next_, others, _rank(parts[first]))


def _rank(part: Contribution | Places) -> nw.Expr:
    if part.rank_of_person is None:
        raise AssertionError(part)
    return part.rank_of_person
