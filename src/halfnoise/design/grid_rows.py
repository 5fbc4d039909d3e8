"""Rows on the grid: whole numbers of steps from exact totals, and coordinates back from them."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Self, TypeAlias

import numpy as np

from halfnoise.design.measurement import Root, all_told
from halfnoise.design.people import Size
from halfnoise.design.rows import Rows
from halfnoise.design.triangle import Row, finest
from halfnoise.values import dataclass
from halfnoise.workload.grid import Floats, Ring, times
from halfnoise.workload.sets.base import Scales

Tells: TypeAlias = Callable[[Floats], Iterable[tuple[float, Floats]]]


@dataclass(frozen=True, slots=True)
class GridRows:
    """Rows with the steps and scales of their noise, those of the number of people last.

    ``groups``: rows are seen from their mean over so many groups, and steps are that much finer.
    """

    rows: Rows
    steps: tuple[Root, ...]
    groups: int = 1

    @classmethod
    def of(cls, rows: Rows, scales: Scales, groups: int = 1) -> Self:
        """Put rows on the grid: a step divides whatever a row is made of."""
        people, steps = rows.people, list[Root]()
        for row, scale, (_, half) in zip(rows.rows, scales, people.units, strict=False):
            pieces = [
                part * quantum for part, quantum in zip(row.parts, people.quanta, strict=True)
            ]
            least = min(finest(piece) for piece in (*pieces, rows.of_people(row)) if piece)
            steps.append(Root.of(scale * groups, least, half * groups))
        if people.size is Size.MEASURED:
            steps.append(Root.of(scales[-1] * groups, Fraction(1), groups))
        return cls(rows, tuple(steps), groups)

    @property
    def scales(self) -> Floats:
        """The scales of the noise, in steps."""
        return np.array([step.scale for step in self.steps])

    def measure(self, sums: Sequence[Ring], people: Ring) -> Ring:
        """Return all rows in steps, for each group, from the sums of all blocks."""
        seen = zip(self.rows.people.folds, sums, strict=True)
        each = [fold.along(f) for fold, f in seen]
        along = [each[i][own] for i, own in self.rows.people.order]
        found = [self._row(r, s, along, people) for r, s in zip(self.rows.rows, self.steps)]  # noqa: B905
        found += [times(people, 1 / step.step) for step in self.steps[len(found) :]]
        rows = np.stack(found, axis=1)
        if self.groups == 1:
            return rows
        apart: Ring = rows * np.uint64(self.groups) - rows.sum(axis=0, dtype=np.uint64)
        return apart

    def _row(self, row: Row, step: Root, along: Sequence[Ring], people: Ring) -> Ring:
        total = times(people, self.rows.of_people(row) / step.step)
        for part, quantum, each in zip(row.parts, self.rows.people.quanta, along, strict=True):
            total = total + times(each, part * quantum / step.step)
        return total

    def recover(
        self, noisy: Floats, given: Floats | None = None, tells: Tells = lambda _: ()
    ) -> tuple[list[Floats], Floats]:
        """Return coordinates, in order, and people, from rows in steps: those behind first.

        ``given``: the number of people where it is not measured. ``tells``: what else says, beside
        what was measured of it, how many there are.
        """
        people, rows = self.rows.people, self.rows.rows
        values = noisy * np.array([float(step.step) / self.groups for step in self.steps])
        if self.groups > 1:
            values = values - values.mean(axis=0)
        size = given
        if people.size is Size.MEASURED:
            last, size = self.steps[-1], values[:, -1]
            size = all_told(size, (float(last.step) * last.scale / self.groups) ** -2, tells(size))
        root = np.zeros(len(values)) if size is None else size
        seen = dict[int, Floats]()  # from the middles of what people add
        for i in reversed(range(len(rows))):
            behind = sum(float(rows[i].parts[k]) * seen[k] for k in range(i + 1, len(rows)))
            seen[i] = values[:, i] - float(rows[i].people) * root - behind
        return [seen[k] + float(m) * root for k, m in enumerate(people.seen_from)], root
