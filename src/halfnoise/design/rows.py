"""What is measured of the coordinates: each with short parts of those behind it, people last.

Any information X on the coordinates is  U' D U  with U unit triangular: measuring the rows of U
with independent noise of variance 1/D is that information. The parts are rounded to short binary
numbers, so that a row is a whole number of steps; what people cost is worked out for these very
rows, exactly, so privacy does not rest on where they came from.
"""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from halfnoise.design.people import People, Size
from halfnoise.workload.block import Block
from halfnoise.workload.grid import MOST_SCALE_BITS, Floats, power
from halfnoise.workload.sets.base import Scales

PART_BITS = 14  # a part is exact to this much of the range of the coordinate that it is added to,
PIECE_BITS = 30  # and comes in no finer pieces than this, so that 2^32 people have room


@dataclass(frozen=True, slots=True)
class Row:
    """Parts of all coordinates, each seen from its middle, and of the number of people."""

    parts: tuple[Fraction, ...]
    people: Fraction = Fraction(0)


@dataclass(frozen=True)
class Rows:
    """A row for each coordinate but the number of people, which is measured as it is."""

    people: People
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, people: People, found: Sequence[Floats], budget: float) -> "tuple[Rows, Scales]":
        """Return short rows for an information on the coordinates, if any, and their scales.

        It is at a cost of one, in the units of the programme; the scale of the number of people,
        where it is measured, comes last.
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
        rows = []
        for i in range(own):
            parts = [Fraction(0)] * own
            parts[i], most = Fraction(1), scales[i] / 2 ** (MOST_SCALE_BITS - 2)
            for k in range(i + 1, own):
                unit = max(half[i] / half[k] / 2**PART_BITS, half[i] / quanta[k] / 2**PIECE_BITS)
                parts[k] = _short(upper[i, k] * half[i] / half[k], max(unit, most / quanta[k]))
            lean = _short(to_people[i] * half[i], max(half[i] / 2**PART_BITS, most))
            rows.append(Row(tuple(parts), lean))
        return cls(people, tuple(rows)), tuple(scales.tolist())

    def on(self, blocks: Sequence[Block]) -> "Rows":
        """Return the same rows where bounds are on the grid."""
        people = People.of(blocks, self.people.size, self.people.interest)
        if people is None:
            raise AssertionError
        return Rows(people, self.rows)

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
        for row in self.rows:
            values = [
                [part * (x - middle) for x in each.along]
                for part, each, middle in zip(row.parts, people.coordinates, middles, strict=True)
            ]
            one = math.lcm(row.people.denominator, *(x.denominator for v in values for x in v))
            whole = [[int(x * one) for x in each] for each in values]
            lean = int(row.people * one) if people.centred else 0
            most = abs(lean) + sum(max(map(abs, each)) for each in whole)
            kind = np.int64 if max(most, one) < 2**62 else object  # which Python divides
            total = np.full(len(people.distances), lean, dtype=kind)
            for each, (i, _) in zip(whole, people.order, strict=True):
                total = total + np.array(each, dtype=kind)[people.kinds[i]]
            found.append((total / one).astype(float))
        if people.size is Size.MEASURED:
            found.append(np.ones(len(people.distances)))
        return np.stack(found, axis=1) if found else np.empty((len(people.distances), 0))

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


def lower_root(matrix: Floats) -> Floats:
    """Return the triangular root of a positive matrix, of one near it where floats do not show it.

    Where importances are far apart its axes are, too. What comes of it is measured as it is.
    """
    unit = np.sqrt(np.diag(matrix))
    scaled = matrix / np.outer(unit, unit)
    for more in (0.0, *(10.0**-digits for digits in range(15, 0, -1))):
        with contextlib.suppress(np.linalg.LinAlgError):
            root: Floats = np.linalg.cholesky(scaled + more * np.eye(len(matrix)))
            return unit[:, None] * root
    return np.diag(unit)


def _short(x: float, unit: float) -> Fraction:
    """Return a number rounded to whole multiples of a power of two near ``unit``."""
    step = power(unit)
    return round(Fraction(x) / step) * step
