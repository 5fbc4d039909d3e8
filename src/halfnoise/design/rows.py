"""What is measured of the coordinates: each with short parts of those behind it, people last.

Which parts these are says ``triangle``; what people cost is worked out for these very rows,
exactly, so privacy does not rest on where they came from.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from halfnoise.design.people import People, Size
from halfnoise.design.triangle import Row, lower_root, short_rows, summed
from halfnoise.values import dataclass
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.base import Scales


@dataclass(frozen=True)
class Rows:
    """A row for each coordinate but the number of people, which is measured as it is."""

    people: People
    rows: tuple[Row, ...]

    @classmethod
    def of(
        cls, people: People, found: Sequence[Floats], budget: float, groups: int = 1
    ) -> "tuple[Rows, Scales]":
        """Return short rows for an information on the coordinates, if any, and their scales.

        It is at a cost of one, in the units of the programme; the scale of the number of people,
        where it is measured, comes last. ``groups``: how many they are seen from the mean of.
        """
        own = len(people.order)
        if not found:
            return cls(people, ()), ()
        (information,) = found
        last = len(information) if people.size is Size.MEASURED else own
        half = np.array([half for _, half in people.units] + [1.0] * (last - own))
        root = lower_root(information[:last, :last])
        scales = half / (budget * np.diag(root))
        upper = (root / np.diag(root)).T
        to_people = upper[:own, -1] if people.size is Size.MEASURED else np.zeros(own)
        if people.size is Size.GIVEN:
            to_people = np.linalg.solve(root.T, np.linalg.solve(root, information[:own, -1]))
            to_people = upper @ to_people
        quanta = [people.quantum(place, scale) for place, scale in enumerate(scales[:own])]
        rows = short_rows(upper, to_people, half, quanta, scales=scales * groups)
        return cls(people, rows), tuple(scales.tolist())

    def on(self, blocks: Sequence[Block]) -> "Rows":
        """Return the same rows where bounds are on the grid."""
        return Rows(self.people.on(blocks), self.rows)

    def of_people(self, row: Row) -> Fraction:
        """Return how much of the number of people is in a row beyond what sums lack already."""
        people = self.people
        seen = zip(row.parts, people.seen_from, people.offsets, strict=True)
        return row.people - sum((part * (x - offset) for part, x, offset in seen), Fraction(0))

    @cached_property
    def moved(self) -> Floats:
        """Of everybody, how far they move each row, from exact sums; the number of people last."""
        people, found = self.people, list[Floats]()
        changes = people.size is Size.PUBLIC  # of which no number of people is a part
        middles = [Fraction(0) if changes else middle for middle in people.seen_from]
        seen = [*zip(people.coordinates, people.order, middles, strict=True)]
        which = [each.added(people.kinds[i]) for each, (i, _), _ in seen]
        apart = [[x - middle for x in each.along] for each, _, middle in seen]
        for row in self.rows:
            some = [i for i, part in enumerate(row.parts) if part]
            own = [(row.parts[i], apart[i], which[i]) for i in some]
            lean = row.people if people.centred else Fraction(0)
            total, one = summed(own, lean, len(people.distances))
            found.append((total / one).astype(float))
        if people.size is Size.MEASURED:
            found.append(np.ones(len(people.distances)))
        return np.stack(found, axis=1) if found else np.empty((len(people.distances), 0))

    @cached_property
    def charged(self) -> Floats:
        """What everybody costs in each row, and in what lies across, for a scale of one."""
        return np.hstack([self.moved**2, self.people.distances])

    def changed(self, who: People) -> Floats:
        """Return how far those who change answers move each row; the number of people stays."""
        moved = Rows(who, self.rows).moved
        return np.hstack([moved, np.zeros((len(moved), self.moved.shape[1] - moved.shape[1]))])

    @cached_property
    def back(self) -> Floats:
        """How much of the noise of each row the coordinates hold, the number of people last."""
        own, last = len(self.rows), int(self.people.size is Size.MEASURED)
        there = np.eye(own + last)
        for i, row in enumerate(self.rows):
            there[i, :own] = [float(part) for part in row.parts]
            if last:
                there[i, -1] = float(row.people)
        seen: Floats = np.asarray(np.linalg.inv(there), dtype=np.float64) if len(there) else there
        if last:  # seen from their middles so far
            seen[:own] += np.outer([float(x) for x in self.people.seen_from], seen[-1])
        return seen
