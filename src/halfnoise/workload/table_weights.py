"""What tables weigh: those that were asked for, their margins, and what comes out beside them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from halfnoise.errors import NotSupportedError
from halfnoise.workload.sets import Crossed, Wanted
from halfnoise.workload.sets.residuals import Axes, cells, margins_of
from halfnoise.workload.tables import MOST_CELLS

MOST_PARTS = 2**25  # margins of margins that are gone through
MOST_UNWEIGHED = 2**10  # margins of values that weigh nothing and are listed in a plan all the same


class Asked(NamedTuple):
    """A table as a plan shows it: of people or of a value, and what a cell of it weighs."""

    axes: Axes
    weight: float
    asked: bool
    value: int | None = None


class Weights:
    """What tables weigh, those that were asked for and their margins; and their cells."""

    def __init__(self, levels: tuple[int, ...], deep: int) -> None:
        """Start with nothing; ``deep``: how many of the first axes are levels of places."""
        self.levels, self.deep = levels, deep
        self.own: dict[Axes, float] = {}
        self.margins: dict[Axes, float] = {}
        self.parts = 0

    def add(self, table: Axes, weight: float, margins: float = 0.0) -> None:
        """Take a table that was asked for, and what each of its margins weighs."""
        self.own[table] = max(self.own.get(table, 0.0), weight)
        self.margins_of(table, margins)

    def margins_of(self, table: Axes, weight: float) -> None:
        """Take a table and its margins, each of such a weight, and refuse what is too large."""
        if (number := cells(self.levels, table)) > MOST_CELLS:
            rule = f"a table has at most 2^27 cells, got {number:,}"
            raise NotSupportedError(f"{rule}; use fewer attributes or coarser bands")
        self.parts += 3 ** len(table) if weight else 2 ** len(table)
        if self.parts > MOST_PARTS:
            rule = "tables and their margins are made of at most 2^25 parts"
            said = f"{rule}, got more with one by {len(table)} attributes"
            raise NotSupportedError(f"{said}; use fewer attributes, or several smaller tables")
        if weight:
            known = self.margins
            for margin in margins_of(table, self.deep):
                if known.get(margin, 0.0) < weight:
                    known[margin] = weight
            del known[()]

    def _cells(self, tables: Mapping[Axes, float]) -> dict[Axes, float]:
        return {axes: weight / cells(self.levels, axes) for axes, weight in tables.items()}

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """What a cell of each table weighs."""
        return tuple(Wanted(*each) for each in self._cells(self.margins | self.own).items())

    def shown(self, value: int | None) -> list[Asked]:
        """Return the tables as a plan shows them, those that were asked for first."""
        own = self._cells(self.own)
        margins = self._cells({a: w for a, w in self.margins.items() if a not in own})
        found = [Asked(axes, weight, asked=True, value=value) for axes, weight in own.items()]
        return [*found, *(Asked(a, w, asked=False, value=value) for a, w in margins.items())]


def unweighed(shape: Crossed, weighed: Iterable[Asked]) -> Iterator[Asked]:
    """Go through margins of values that come out and weigh nothing, unless they are many."""
    known, values = {(table.value, table.axes) for table in weighed}, shape.layers[1:]
    if sum(len(layer.axes) for layer in values) > len(known) + MOST_UNWEIGHED:
        return
    for layer in values:
        for axes in () if layer.answers else layer.axes:
            if axes and (layer.value, axes) not in known:
                yield Asked(axes, 0.0, asked=False, value=layer.value)
