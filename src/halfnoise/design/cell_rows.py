"""What is measured in residuals that are alike: rows of values, with parts of others and people.

As for totals (``rows``), an information on people and values is that of a triangle of short rows;
each is a table, of which the residual is measured with noise of its own.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.cell_states import CellStates, Residuals
from halfnoise.design.triangle import Row, finest, lower_root, short_rows, summed
from halfnoise.values import dataclass
from halfnoise.workload.grid import Floats, Ring, step_for, times
from halfnoise.workload.sets.base import Scales
from halfnoise.workload.sets.residuals import centred


@dataclass(frozen=True)
class CellRows:
    """A row for each layer that residuals are of, and one of people alone, which comes last."""

    kind: Residuals
    rows: tuple[Row, ...]

    @classmethod
    def of(
        cls, states: CellStates, kind: Residuals, information: Floats, quanta: Sequence[Fraction]
    ) -> "tuple[CellRows, Scales]":
        """Return short rows for an information, in units of the layers, and their scales.

        ``quanta``: what layers are counted in.
        """
        half = np.array([*states.units[[*kind.own]], 1.0])
        root = lower_root(information)
        scales, upper = half / np.diag(root), (root / np.diag(root)).T
        own = [quanta[k] for k in kind.own]
        rows = short_rows(upper, upper[:, -1], half, own, scales=scales, cells=kind.cells)
        people = Row((Fraction(0),) * len(own), Fraction(1))
        return cls(kind, (*rows, people)), tuple(scales.tolist())

    def moved(self, states: CellStates, kinds: NDArray[np.intp]) -> list[tuple[NDArray[Any], int]]:
        """Return how far persons in states by value move each row: whole parts of one."""
        layers = [states.layers[k] for k in self.kind.own]
        which = [np.array(layer.which)[kinds[:, layer.value]] for layer in layers]
        found = list[tuple[NDArray[Any], int]]()
        for row in self.rows:
            seen = zip(row.parts, layers, strict=True)
            values = [[part * (x - layer.middle) for x in layer.amounts] for part, layer in seen]
            found.append(summed(values, which, row.people, len(kinds)))
        return found

    def _pieces(self, states: CellStates, row: Row) -> list[Fraction]:
        """Return how much of a quantum of each layer is in a row, and of people."""
        seen = [*zip(row.parts, (states.layers[k] for k in self.kind.own), strict=True)]
        lean = sum((part * (each.middle - each.offset) for part, each in seen), Fraction(0))
        return [*(part * each.quantum for part, each in seen), row.people - lean]

    def steps(self, states: CellStates, scales: Sequence[float]) -> list[Fraction]:
        """Return the steps of the rows: N_A times a residual is a whole number of them."""
        many, found = self.kind.cells, list[Fraction]()
        half = [*states.units[[*self.kind.own]].tolist(), 1.0]
        for row, scale, reach in zip(self.rows, scales, half, strict=True):
            pieces = self._pieces(states, row)
            least = min(finest(piece) for piece in pieces if piece)
            found.append(step_for(scale * many, least, reach * many, cells=many) / many)
        return found

    def measure(
        self, states: CellStates, tables: Sequence[Ring], steps: Sequence[Fraction]
    ) -> list[Ring]:
        """Return all rows of one residual, in steps, from its tables, that of people last."""
        found = list[Ring]()
        for row, step in zip(self.rows, steps, strict=True):
            whole, seen = (
                self.kind.cells * step,
                zip(self._pieces(states, row), tables, strict=True),
            )
            parts = [times(table, piece / whole) for piece, table in seen if piece]
            found.append(centred(sum(parts[1:], parts[0])))
        return found

    def back(self, states: CellStates) -> Floats:
        """Return how much of the noise of each row the layers hold, people last."""
        there = np.array([[*map(float, (*row.parts, row.people))] for row in self.rows])
        found: Floats = np.asarray(np.linalg.inv(there), dtype=np.float64)
        middles = [float(states.layers[k].middle) for k in self.kind.own]
        found[:-1] += np.outer(middles, found[-1])  # seen from there so far
        return found
