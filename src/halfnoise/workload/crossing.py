"""All tables of a workload as one block: attributes, which tables weigh what, values by cell."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.block import Block, Line
from halfnoise.workload.categories import Choice
from halfnoise.workload.grid import LEAST_TABLE_BITS, REACH_BITS, TABLE_BITS, Grain
from halfnoise.workload.nested import Level, Nested
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.question import CellNames, Question, Shown
from halfnoise.workload.sets import ByCell, Crossed, Placed, Wanted
from halfnoise.workload.sets.base import Center, Parts, Scales
from halfnoise.workload.sets.crossed import Known
from halfnoise.workload.sets.residuals import Axes, cells
from halfnoise.workload.table_weights import Asked, Weights, unweighed
from halfnoise.workload.tables import Axis, Said, Table, attributes, names_of, one_each, places_of

Value: TypeAlias = Count | Sum | Mean
Alike: TypeAlias = tuple[int | None, ...]
MOST_NAMED = 20  # tables that are named in a sentence
MARGINS = 0.01  # what people, and margins, weigh where nobody says how much


@dataclass(frozen=True, kw_only=True)
class TableBlock(Block):
    """All tables: ``axes`` are the attributes, ``values`` what is broken down by them.

    ``tables``: those that were asked for, and then their margins.
    """

    shape: Crossed
    axes: tuple[Axis, ...] = field(compare=False, repr=False)
    nested: Nested | None = field(compare=False, repr=False)  # whose levels the first axes are
    values: tuple[Value, ...] = field(compare=False, repr=False)
    tables: tuple[Asked, ...] = field(repr=False)  # which orders its lines
    alike: tuple[Alike, ...] = field(compare=False, repr=False)  # equal where errors are

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """A line for each table, those that were asked for first."""
        return tuple(map(self._line, self.tables))

    def _line(self, table: Asked) -> Line:
        label, number = self.named(table.axes), cells(self.shape.levels, table.axes)
        if table.value is None:
            heading = f"{label} ({number})"
            return Line("table", label, heading, number, table.weight, 1.0, table.asked, number)
        query, value = self.values[table.value], self.shape.values[table.value]
        label = f"{query.label} by {label}" if label else query.label
        heading, width = f"{query.kind} of {label} ({number})", float(2 * value.half)
        return Line(query.kind, label, heading, number, table.weight, width, table.asked, number)

    def named(self, axes: Axes) -> str:
        """Return what a table is called."""
        return ",".join([self._labels[axis] for axis in axes])

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return tuple(axis.label for axis in self.axes)

    def parts(self, center: Center, scales: Scales, root: float) -> tuple[Parts, ...]:
        """Return, line by line, the scales of the independent noises in its cells."""
        del center
        of, found, known = self.shape.parts_of, dict[Alike, Parts](), Known()
        for like, table in zip(self.alike, self.tables, strict=True):
            if like not in found:
                found[like] = of(table.value, table.axes, scales, root, known)
        return tuple(found[like] for like in self.alike)

    def weighed(self, weights: Sequence[float]) -> "TableBlock":
        """Return the same where squared errors of cells weigh so much, table by table."""
        pairs = zip(self.tables, weights, strict=True)
        tables = tuple(table._replace(weight=weight) for table, weight in pairs)

        def wanted(value: int | None) -> tuple[Wanted, ...]:
            own = (table for table in tables if table.value == value and table.weight)
            return tuple(Wanted(table.axes, table.weight) for table in own)

        values = tuple(replace(v, wanted=wanted(i)) for i, v in enumerate(self.shape.values))
        shape = replace(self.shape, wanted=wanted(None), values=values)
        return replace(self, shape=shape, tables=tables, alike=tuple(_alike(shape, tables)))

    @property
    def words(self) -> str:
        """What is asked, in words."""
        asked = [f"{line.label} ({line.queries} cells)" for line in self.lines if line.asked]
        more = f" and {len(asked) - MOST_NAMED:,} more tables" if len(asked) > MOST_NAMED else ""
        return ", ".join(asked[:MOST_NAMED]) + more

    def on_grid(self, center: Center, *scales: float) -> "TableBlock":
        """Return the block with the bounds of its values on their grids."""
        del center  # always the middle
        of = self.shape.scales_of
        each = (scales if len(scales) == 1 else of(i, scales) for i in range(len(self.values)))
        return self.with_values([max(own) for own in each]) if self.values else self

    def with_values(
        self, scales: Sequence[float], spare: int = 0, most: int | None = None
    ) -> "TableBlock":
        """Return the block with values on the grids for such scales, with so many spare bits.

        ``most``: what residuals are multiplied with, if not as the set says.
        """
        largest = most or self.shape.largest
        bits = TABLE_BITS - spare - math.ceil(math.log2(largest))
        bits, moved = min(REACH_BITS, max(LEAST_TABLE_BITS, bits)), list[ByCell]()
        for value, own in zip(self.shape.values, scales, strict=True):
            scale, people = self.weighing.of_whole(own) * largest, self.weighing.quantum
            moved.append(value.on(value.grain.quantum(float(value.half), scale, people, bits)))
        return replace(self, shape=replace(self.shape, values=tuple(moved)))

    def questions(self, start: int) -> list[Question]:
        """Return every table as results need it, in the order of their cells."""
        listed, found = list(names_of(self.axes)), list[Question]()
        weighed = {(table.axes, table.value): table.asked for table in self.tables}
        for kind, axes in self.shape.tables:
            value, number = self.shape.layers[kind].value, cells(self.shape.levels, axes)
            shown = tuple((self.axes[axis].label, listed[axis]) for axis in axes)
            if not self.shape.layers[kind].answers:
                asked = weighed.get((axes, value), False)
                question = self._question(start, shown, value, asked=asked)
                other = self._other(axes) if value is None else None
                found.append(replace(question, other=other))
            start += number
        return found

    def _other(self, axes: Axes) -> int | None:
        """Return which cell of a table by one choice counts all other categories."""
        (axis,) = (self.axes[place] for place in axes) if len(axes) == 1 else (None,)
        return axis.categories.index(axis.other) if isinstance(axis, Choice) else None

    def _question(self, start: int, axes: Shown, value: int | None, *, asked: bool) -> Question:
        if value is None:
            label, names = ",".join(label for label, _ in axes), CellNames(axes)
            return Question(name=label, kind="table", start=start, names=names, asked=asked)
        query = self.values[value]
        bounds = None if isinstance(query, Count) else query.shape.bounds
        return Question(
            name=query.label,
            kind=query.kind,
            start=start,
            names=CellNames(axes, *query.names),
            bounds=bounds,
            asked=asked,
        )


def crossing(
    tables: Sequence[Table],
    asked: Sequence[Said],
    values: Sequence[Value],
    importance: Mapping[str, float],
    *,
    public: bool = False,
) -> TableBlock:
    """Return all tables as one block; ``asked``: choices, bands and places asked by themselves.

    A choice that is an axis of some table is the table of one axis, of importance one unless a
    weight says otherwise, and so is each level of places. Margins weigh what the table that weighs
    them most says. ``public``: whether the number of people is.
    """
    labels = used(tables, values, asked)
    found = attributes(tables, asked, labels)
    one_each(found, asked)
    nested, around = _places(tables, asked, labels)
    axes = (*around, *(axis for axis in found.values() if not isinstance(axis, Level)))
    place = {axis.label: i for i, axis in enumerate(axes)}
    levels, deep = tuple(len(axis.names) for axis in axes), len(around)

    def of(labels: Iterable[str]) -> Axes:
        table = tuple(sorted(place[label] for label in labels))
        if len(table) > 1 and table[1] < deep:
            coarse, fine = (axes[each].label for each in table[:2])
            rule = f"a table is by one level of places, got {coarse!r} and {fine!r}"
            remedy = f"leave {coarse!r} out: a table by {fine!r} adds up to it"
            raise InvalidParameterError(f"{rule}; {remedy}")
        return table

    people = Weights(levels, deep)
    for label in used((), (), asked):
        people.add(of([label]), importance.get(label, 1.0))
    for axis in (each for each in asked if each.label in place and not isinstance(each, Nested)):
        number = len(axis.names)
        people.add(of([axis.label]), importance.get(axis.label, 1 / number) * number)
    for table in tables:
        weight = importance.get(table.label, table.importance or 1.0)
        people.add(of(table.labels), weight, table.margins)
    shown, by_cell = list[Asked](), list[ByCell]()
    for i, query in enumerate(values):
        low, high = query.shape.bounds or (0.0, 1.0)
        weight, own = importance.get(query.label, 1 / (high - low) ** 2), Weights(levels, deep)
        own.add(of(query.by), weight, MARGINS * weight)
        for by in query.within:
            own.add(of(by), weight)
        for by in (query.by, *query.within):  # people come with them, also where none lean
            people.margins_of(of(by), MARGINS)
        grain = Grain.PEOPLE if isinstance(query, Count) else Grain.VALUES
        optional = isinstance(query, Mean)
        by_cell.append(ByCell(low, high, own.wanted, optional, grain))
        shown += own.shown(i)
    shown[:0] = people.shown(None)
    shape: Crossed = Crossed(levels, people.wanted, tuple(by_cell))
    if nested is not None and (deep > 1 or not values):  # one level is as any other attribute
        shape = Placed(levels, people.wanted, tuple(by_cell), tree=nested.tree, public=public)
    listed = sorted([*shown, *unweighed(shape, shown)], key=lambda table: not table.asked)
    plain = (axis for axis in axes if not isinstance(axis, Level))
    return TableBlock(
        kind="table",
        shape=shape,
        importance=1.0,
        label="tables",
        asked=(*(nested.choices if nested else ()), *plain, *values),
        axes=axes,
        nested=nested,
        values=tuple(values),
        tables=tuple(listed),
        alike=tuple(_alike(shape, listed)),
    )


def _alike(shape: Crossed, tables: Iterable[Asked]) -> Iterator[Alike]:
    if shape.deep:
        return ((table.value, *table.axes) for table in tables)
    return ((table.value, *shape.made_of(table.value, table.axes)) for table in tables)


def _places(
    tables: Sequence[Table], asked: Sequence[Said], labels: Sequence[str]
) -> tuple[Nested | None, tuple[Level, ...]]:
    """Return the nested attribute down to the last level that a table is by, and its levels."""
    nested = places_of(tables, asked)
    deep = [i for i, label in enumerate(nested.labels, 1) if label in labels] if nested else []
    if nested is None or not deep:
        return None, ()
    kept = nested.upto(max(deep))
    return kept, kept.levels


def used(
    tables: Iterable[Table], values: Iterable[Value], asked: Iterable[object] = ()
) -> list[str]:
    """Return the labels of all attributes that tables are by, each once, in order.

    Places that are ``asked`` by themselves are by each of their levels.
    """
    labels = [label for table in tables for label in table.labels]
    labels += [label for value in values for part in (value.by, *value.within) for label in part]
    labels += [label for each in asked if isinstance(each, Nested) for label in each.labels]
    return [*dict.fromkeys(labels)]
