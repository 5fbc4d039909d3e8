"""Sums that do not depend on each other, and counts of which a person may have a few."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Self

from halfnoise.errors import InvalidParameterError
from halfnoise.workload.grid import LEAST_QUANTA, Grain, in_quanta, step_for
from halfnoise.workload.sets.base import Center, ContributionSet, Number, Scales


@dataclass(frozen=True, slots=True)
class Box(ContributionSet):
    """``size`` sums, each with values in [low, high]: yes/no questions and bounded amounts."""

    size: int
    low: float = 0.0
    high: float = 1.0
    grain: Grain = field(default=Grain.PEOPLE, repr=False, compare=False)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of each sum's values."""
        return self.low, self.high

    @property
    def ones(self) -> int | None:
        """All of them, if they are zeros and ones."""
        return self.size if self.bounds == (0.0, 1.0) else None

    @property
    def midpoint(self) -> Fraction:
        """The middle: always the best, as moving by t costs sqrt(W) t and saves less on n."""
        return (Fraction(self.low) + Fraction(self.high)) / 2

    def distances(self, c: Number, p: int) -> tuple[tuple[Number, ...], Number]:
        """Return the farther end of the range, once for each sum."""
        low, high = self.ends(c)
        reach = max(self.size_of(low - c), self.size_of(high - c))
        return (self.size * reach**p,), self.size * (high - low) ** p

    def corners(self) -> Iterator[tuple[float, ...]]:
        """List all combinations of the two ends."""
        return itertools.product((self.low, self.high), repeat=self.size)

    def on(self, quantum: Fraction, label: str) -> Self:
        """Return the set with its bounds on the grid; whole people are on it."""
        if self.grain is not Grain.VALUES:
            return self
        return type(self)(self.size, *bounds_on(quantum, self.bounds, label), self.grain)

    def steps(self, center: Center, quantum: Fraction, scales: Scales) -> tuple[Fraction, ...]:
        """Return the step of the scale: half a quantum where midpoints are subtracted."""
        return (step_for(scales[0], quantum if center is None else quantum / 2, self.reach),)


@dataclass(frozen=True, slots=True)
class AtMost(ContributionSet):
    """``size`` values in [0, 1] of which a person has at most ``most`` ones (or a sum of that)."""

    size: int
    most: int
    grain: Grain = field(default=Grain.PARTS, repr=False, compare=False)
    # A smaller centre leans less on the number of people; beyond a half who has none is the worst.
    adjustable: ClassVar[bool] = True

    @classmethod
    def of(cls, size: int, most: int | None) -> ContributionSet:
        """Return ``size`` yes/no values of which at most ``most``, if any number, are yes."""
        return Box(size) if most is None or most == size else cls(size, most)

    @property
    def midpoint(self) -> Fraction:
        """The centre nearest to all of K, best where the number of people is known."""
        return min(Fraction(1, 2), Fraction(self.most, self.size))

    @property
    def ones(self) -> int:
        """As many as allowed."""
        return self.most

    def lone_center(self, charge: float) -> float:
        """Return the best centre alone, where leaning on the number of people costs ``charge``.

        gamma = k/d - sqrt(r k (d-k)/(d-r))/d with the charge r, but no more than 1/2; where the
        charge is one it is 0 for k = 1.

        >>> AtMost(10, 1).lone_center(1.0), AtMost(16, 10).lone_center(1.0)
        (0.0, 0.5)
        """
        d, k = self.size, self.most
        if d == 1 or (k == 1 and charge == 1):
            return 0.0 if d > 1 else 0.5
        return min(0.5, k / d - math.sqrt(charge * k * (d - k) / (d - charge)) / d)

    def distances(self, c: Number, p: int) -> tuple[tuple[Number, ...], Number]:
        """Return persons with ``most`` ones and with none: the cost is linear in between."""
        ones = self.most * self.size_of(1 - c) ** p + (self.size - self.most) * self.size_of(c) ** p
        return (ones, self.size * self.size_of(c) ** p), min(2 * self.most, self.size)

    def corners(self) -> Iterator[tuple[float, ...]]:
        """List all rows of zeros and at most ``most`` ones."""
        rows = itertools.product((0.0, 1.0), repeat=self.size)
        return (row for row in rows if sum(row) <= self.most)


def bounds_on(quantum: Fraction, bounds: tuple[float, float], label: str) -> tuple[float, float]:
    """Put bounds on the grid, which must tell values between them apart."""
    low, high = (in_quanta(bound, quantum) for bound in bounds)
    if high - low < LEAST_QUANTA:
        raise InvalidParameterError(
            f"the bounds of {label!r} are too close together for how far from zero they are,"
            f" or for so small a budget, got {bounds[0]:.10g} to {bounds[1]:.10g}; subtract a"
            " constant from the column first, or use a larger budget"
        )
    return float(low * quantum), float(high * quantum)
