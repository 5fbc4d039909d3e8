"""What is measured in like places: rows of all coordinates in them, each with parts of others.

As for totals (``rows``), an information on the coordinates is that of a triangle of short rows;
each is a table by the places of one kind, less the mean of those in one place around.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.cell_parts import CellPart, Kinds
from halfnoise.design.cell_states import CellStates
from halfnoise.design.triangle import Row, finest, lower_root, short_rows, summed
from halfnoise.values import dataclass
from halfnoise.workload.grid import Floats, Ring, step_for, times
from halfnoise.workload.sets.base import Scales
from halfnoise.workload.sets.residuals import centred


@dataclass(frozen=True)
class CellRows:
    """A row for each coordinate of a part."""

    kind: CellPart
    rows: tuple[Row, ...]

    @classmethod
    def of(
        cls, states: CellStates, kind: CellPart, information: Floats, quanta: Sequence[Fraction]
    ) -> "tuple[CellRows, Scales]":
        """Return short rows for an information, and their scales; ``quanta``: of all layers."""
        root, half = lower_root(information), np.ones(len(kind.own))
        for i, (_, layer) in enumerate(kind.own):
            half[i] = states.unit(layer)
        scales, upper = half / np.diag(root), (root / np.diag(root)).T
        own, nobody = [quanta[layer] for _, layer in kind.own], np.zeros(len(half))
        rows = short_rows(upper, nobody, half, own, scales=scales, cells=kind.times)
        return cls(kind, rows), tuple(scales.tolist())

    def moved(self, states: CellStates, kinds: Kinds) -> list[tuple[NDArray[Any], int]]:
        """Return how far people of such kinds move each row: whole parts of one."""
        which = [states.which(own, kinds) for own in self.kind.own]
        amounts = [states.amounts(layer) for _, layer in self.kind.own]
        found = list[tuple[NDArray[Any], int]]()
        for row in self.rows:
            some = [i for i, part in enumerate(row.parts) if part]
            each = [(row.parts[i], amounts[i], which[i]) for i in some]
            found.append(summed(each, Fraction(0), len(kinds)))
        return found

    def _pieces(self, states: CellStates, row: Row) -> list[Fraction]:
        """Return how much of a quantum of each coordinate is in a row."""
        seen = zip(row.parts, self.kind.own, strict=True)
        return [part * states.quantum(layer) for part, (_, layer) in seen]

    def steps(self, states: CellStates, scales: Sequence[float]) -> list[Fraction]:
        """Return the steps of the rows: so many times a part is a whole number of them."""
        many, found = self.kind.times, list[Fraction]()
        for row, scale, (_, layer) in zip(self.rows, scales, self.kind.own, strict=True):
            least = min(finest(piece) for piece in self._pieces(states, row) if piece)
            reach = states.unit(layer) * many
            found.append(step_for(scale * many, least, reach, cells=many) / many)
        return found

    def measure(
        self, states: CellStates, tables: Sequence[Ring], steps: Sequence[Fraction]
    ) -> list[Ring]:
        """Return all rows in steps, of what coordinates come to in all places of the kind."""
        found = list[Ring]()
        for row, step in zip(self.rows, steps, strict=True):
            whole = self.kind.times * step
            seen = zip(self._pieces(states, row), tables, strict=True)
            parts = [times(each, piece / whole) for piece, each in seen if piece]
            found.append(centred(self.kind.less_mean(sum(parts[1:], parts[0])), 2))
        return found

    @property
    def back(self) -> Floats:
        """How much of the noise of each row the coordinates hold."""
        there = np.array([[*map(float, row.parts)] for row in self.rows])
        found: Floats = np.asarray(np.linalg.inv(there), dtype=np.float64)
        return found
