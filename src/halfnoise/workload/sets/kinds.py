"""The sets there are: ranges, counts, categories of which one holds, and values not all give."""

import math
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from halfnoise.values import dataclass, field, replace
from halfnoise.workload.grid import Floats, Grain, Ring, around, step_for, times
from halfnoise.workload.sets.base import (
    Center,
    Channel,
    ContributionSet,
    Listed,
    Mixture,
    Number,
    Parts,
    Scales,
    View,
)

MANY = 64  # noises of more categories than this are not told apart


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

    def reach(self, center: Center) -> float:
        """Return how far a value can be from the middle, or from zero if it is not centred."""
        return _reach(self, center) if self.grain is Grain.VALUES else 1.0

    def offset(self, center: Center) -> Fraction:
        """Return the middle, if values are centred on it."""
        centred = center is not None and self.grain is Grain.VALUES
        return self.midpoint if centred else Fraction(0)

    def on(self, quantum: Fraction, wider: int = 0) -> Self:
        """Return the set with bounds on the grid, around its own; whole people are on it."""
        if self.grain is not Grain.VALUES:
            return self
        return type(self)(self.size, *around(self.bounds, quantum, wider), self.grain)


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

        gamma = k/d - sqrt(r k (d-k)/(d-r))/d with the charge r, at most 1/2; 0 for r = k = 1.

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


@dataclass(frozen=True, slots=True)
class OneOf(ContributionSet):
    """``size`` categories, two or more, of which exactly one holds for each person.

    Seen from 1/size, the true h sums to zero: projecting takes 1/size of its variance away.
    """

    size: int
    grain: Grain = field(default=Grain.PEOPLE, init=False, repr=False, compare=False)

    @property
    def midpoint(self) -> Fraction:
        """Equal shares: other centres do not sum to exactly one."""
        return Fraction(1, self.size)

    def distances(self, c: Number, p: int) -> tuple[tuple[Number, ...], Number]:
        """Return the one kind of person there is."""
        return (self.size_of(1 - c) ** p + (self.size - 1) * c**p,), 2

    def view(self, center: Number | None, p: int) -> View:
        """Return the block with the projection where it is centred."""
        plain = ContributionSet.view(self, center, p)
        return plain if center is None else replace(plain, weights=(self.size - 1,))

    def parts(self, center: Number | None, scales: Scales, root: float) -> Parts:
        """Return its own noise, projected where it is centred, and that of the number of people."""
        if center is None:
            return {"sum": [scales[0]]}
        # Projected, most of its own noise and a little of each other's; of many, nearly one again.
        v = self.size
        own = [scales[0] * (1 - 1 / v) ** 0.5]
        if v <= MANY:
            own = [scales[0] * (1 - 1 / v), *[scales[0] / v] * (v - 1)]
        return {"sum": [*own, float(center) * root]}

    def mixture(self, center: Center) -> Mixture:
        """Return noises of which the projection takes the average away."""
        v, plain = self.size, ContributionSet.mixture(self, center)
        if center is None:
            return plain
        if v == 2:
            # Half the difference of two noises, with opposite signs in the two.
            halves = (0, 1, ((0, 1, 0.5), (1, 2, -0.5)))
            return plain._replace(own=(0, 0), shared=(halves, halves))
        return plain._replace(shared=((0, -v, ((0, v, 1.0),)),))

    def steps(
        self, center: Center, quantum: Fraction, scales: Scales, _people: Fraction
    ) -> tuple[Fraction, ...]:
        """Return the step of the scale: equal shares are whole numbers of it."""
        if center is None:
            return (step_for(scales[0], quantum),)
        return (step_for(scales[0] * self.size, quantum, self.size) / self.size,)

    def recover(self, channel: Channel, h: Floats, root: Floats) -> Floats:
        """Return the estimates, projected where they are centred."""
        if channel.center is not None:
            h = h - h.mean(axis=1, keepdims=True)
        return ContributionSet.recover(self, channel, h, root)


@dataclass(frozen=True, slots=True)
class Answered(ContributionSet):
    """A value in [low, high] and whether it was given: who did not answer adds zero to both.

    The two sums are the value's, centred at the midpoint on the number who answered, and that
    number, centred on the number of people. What counts is the mean, so the weights are those of
    the error of  value - midpoint * answered  and of  answered  (times width^2, to be comparable).
    """

    low: float
    high: float
    size: int = field(default=2, init=False)
    grain: Grain = field(default=Grain.VALUES, init=False, repr=False, compare=False)
    # A little above one half balances who answered with who did not.
    adjustable: ClassVar[bool] = True
    balances: ClassVar[bool] = True
    highest_center: ClassVar[float] = 1.0
    # The value is centred on the number who answered even where that is not centred itself.
    plain_center: ClassVar[Center] = Fraction(0)
    # Half of the people: the plainest centre for the number who answered.
    midpoint = Fraction(1, 2)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the values."""
        return self.low, self.high

    @property
    def middle(self) -> Fraction:
        """The middle of the range, on which the value is centred."""
        return (Fraction(self.low) + Fraction(self.high)) / 2

    def view(self, center: Number | None, p: int) -> View:
        """Return those who answered and those who did not, as cases of one person."""
        c = Fraction(0) if center is None else center
        low, high = self.ends(c)
        width = high - low
        reach, weight = width / 2, width**2
        if center is None:
            reach = max(self.size_of(low), self.size_of(high))
            weight = weight + ((low + high) / 2) ** 2
        return View(
            person=Listed(((reach**p, self.size_of(1 - c) ** p), (0, self.size_of(c) ** p))),
            change=Listed(((reach**p, 1), (width**p, 0))),
            weights=(1, weight),
            root_weight=width**2 * c**2,
        )

    def parts(self, center: Number | None, scales: Scales, root: float) -> Parts:
        """Return the noises of the sum, of who answered, and of  value - midpoint * answered."""
        value, answered = scales
        middle = abs(float(self.middle))
        if center is None:
            return {"sum": [value], "answered": [answered], "mean": [value, middle * answered]}
        given = [answered, float(center) * root]
        summed = [value, *(middle * part for part in given)]
        return {"sum": summed, "answered": given, "mean": [value]}

    def mixture(self, center: Center) -> Mixture:
        """Return the value's own noise, and that of the number who answered, which both have."""
        middle, c = (0.0 if center is None else float(self.middle)), float(center or 0)
        both = (1, 1, ((0, 1, middle), (1, 2, 1.0)))
        return Mixture((0, 1), (both,), ((0, 1, middle * c), (1, 2, c)))

    def reach(self, center: Center) -> float:
        """Return how far a value can be from the middle, or from zero if it is not centred."""
        return _reach(self, center)

    def offset(self, center: Center) -> Fraction:
        """Return the middle, if values are centred on it."""
        return Fraction(0) if center is None else self.middle

    def on(self, quantum: Fraction, wider: int = 0) -> Self:
        """Return the set with bounds on the grid, around its own."""
        return type(self)(*around(self.bounds, quantum, wider))

    def steps(
        self, center: Center, quantum: Fraction, scales: Scales, people: Fraction
    ) -> tuple[Fraction, ...]:
        """Return the steps of the value and of the number who answered."""
        whole = people if center is None else people / center.denominator
        return step_for(scales[0], quantum, self.reach(center)), step_for(scales[1], whole)

    def measure(self, channel: Channel, f: Ring, root: Ring, root_quantum: Fraction) -> Ring:
        """Return the value, which lacks its middle, and who answered, centred on the root."""
        y = times(f[:, 0], channel.quantum / channel.steps[0])
        a = times(f[:, 1], channel.people / channel.steps[1])
        if channel.center is not None:
            a = a - times(root, channel.center * root_quantum / channel.steps[1])
        return np.stack([y, a], axis=1)

    def recover(self, channel: Channel, h: Floats, root: Floats) -> Floats:
        """Return the sum of the values and the number who answered."""
        y, a = (h[:, i] * float(step) for i, step in enumerate(channel.steps))
        if channel.center is not None:
            a = a + float(channel.center) * root
            y = y + float(self.middle) * a
        return np.stack([y, a], axis=1)


def _reach(values: Box | Answered, center: Center) -> float:
    """Return how far a value can be from the middle, or from zero if it is not centred."""
    low, high = values.bounds
    return max(-low, high) if center is None else high / 2 - low / 2
