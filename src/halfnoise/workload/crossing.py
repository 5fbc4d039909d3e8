"""All tables of a workload as one block: its attributes, which tables weigh what, values by cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from halfnoise.errors import NotSupportedError
from halfnoise.workload.block import Block, Line
from halfnoise.workload.question import Question
from halfnoise.workload.sets import Crossed, Wanted
from halfnoise.workload.sets.base import Center, Parts, Scales
from halfnoise.workload.sets.residuals import Axes, cells, within
from halfnoise.workload.tables import MOST_CELLS, Axis, Table, attributes, names_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBlock(Block):
    """All tables: ``axes`` are the attributes, ``tables`` those asked for and then their margins.

    What comes out are the cells of all of them, smaller tables first.
    """

    axes: tuple[Axis, ...] = field(compare=False, repr=False)
    shape: Crossed
    tables: Mapping[Axes, tuple[float, bool]] = field(compare=False, repr=False)

    @property
    def queries(self) -> int:
        """The number of cells that are asked for."""
        return sum(cells(self.shape.levels, axes) for axes, (_, asked) in self.tables.items() if asked)

    @property
    def lines(self) -> tuple[Line, ...]:
        """A line for each table, those that were asked for first."""
        return tuple(self._line(axes, *each) for axes, each in self.tables.items())

    def _line(self, axes: Axes, weight: float, asked: bool) -> Line:
        label, number = self.named(axes), cells(self.shape.levels, axes)
        return Line("table", label, f"{label} ({number})", number, weight, asked=asked)

    def named(self, axes: Axes) -> str:
        """Return what a table is called."""
        return ",".join(self.axes[axis].label for axis in axes)

    def parts(self, center: Center, scales: Scales, root: float) -> tuple[Parts, ...]:
        """Return, line by line, the scales of the independent noises in its cells."""
        del center
        return tuple(self.shape.parts_of(None, axes, scales, root) for axes in self.tables)

    @property
    def words(self) -> str:
        """What is asked, in words."""
        shown = [f"{line.label} ({line.queries} cells)" for line in self.lines if line.asked]
        return ", ".join(shown)

    def on_grid(self, scale: float) -> "TableBlock":
        """Return the block on its grid: people are whole."""
        del scale
        return self

    def questions(self, start: int) -> list[Question]:
        """Return every table as results need it, in the order of their cells."""
        listed = list(names_of(self.axes))
        found = []
        for axes in self.shape.layers[0].axes:
            weight, asked = self.tables.get(axes, (0.0, False))
            shown = tuple((self.axes[axis].label, listed[axis]) for axis in axes)
            found.append(Question.table(start, shown, asked=asked))
            start += cells(self.shape.levels, axes)
        return found


def crossing(
    tables: Sequence[Table], asked: Sequence[Axis], importance: Mapping[str, float]
) -> TableBlock:
    """Return all tables as one block; ``asked``: choices and bands that are asked by themselves.

    A choice that is an axis of some table is the table of one axis, of importance one unless a
    weight says otherwise. Margins weigh what the table that weighs them most says.
    """
    found = attributes(tables, asked)
    axes, place = tuple(found.values()), {label: i for i, label in enumerate(found)}
    levels = tuple(len(axis.names) for axis in axes)
    weights: dict[Axes, float] = {}
    margins: dict[Axes, float] = {}

    def add(kept: dict[Axes, float], table: Axes, weight: float) -> None:
        number = cells(levels, table)
        if number > MOST_CELLS:
            label = ",".join(axes[axis].label for axis in table)
            rule = f"a table has at most 2^27 cells, got {number:,} for {label!r}"
            raise NotSupportedError(f"{rule}; use fewer attributes or coarser bands")
        kept[table] = max(kept.get(table, 0.0), weight / number)

    for axis in asked:
        if axis.label in place:
            number = len(axis.names)
            one = importance.get(axis.label, 1 / number) * number
            add(weights, (place[axis.label],), one)
    for table in tables:
        wanted = tuple(sorted(place[label] for label in table.labels))
        add(weights, wanted, importance.get(table.label, table.importance))
        for margin in within(wanted):
            if margin and margin != wanted and table.margins:
                add(margins, margin, table.margins)
    shown = {axes_: (weight, True) for axes_, weight in weights.items()}
    shown |= {a: (weight, False) for a, weight in sorted(margins.items()) if a not in weights}
    shape = Crossed(levels, tuple(Wanted(a, weight) for a, (weight, _) in shown.items()))
    return TableBlock(
        kind="table",
        shape=shape,
        importance=1.0,
        label="tables",
        asked=axes,
        axes=axes,
        tables=shown,
    )
