"""A value that not all give, and its square: what the variance of a mean is made of.

With t a value in halves of its range from the middle, and b from where squares are seen, somebody
who answers moves the value by t and the square by  b - t^2.  Who is far out in the one is not so in
the other, so the two share what a person may cost. In p-th powers of the value that is a straight
line for p = 2, and a curve for p = 1. Of two people whose values lie u apart the squares lie
u (2 - u)  apart at most, and where u is below 1 no more than there: a curve from 1 to 2. What
somebody costs is convex, so the dearest is at a corner of any polygon that holds the curve: there
tangents at u and v meet, at the value  (u + v)/2,  or  u v  for p = 2, and at the square  b - u v,
or  u + v - u v.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.grid import Floats, Ring, around, step_for, times
from halfnoise.workload.sets.base import (
    Center,
    Channel,
    Listed,
    Mixture,
    Number,
    Parts,
    Scales,
    View,
)
from halfnoise.workload.sets.kinds import Answered

TANGENTS = 16  # steps between those that hold a curve, and one more
FROM = Fraction(27, 32)  # of the largest square: from where squares are seen, for the least error
COARSE = Fraction(1, 2**7)  # the coarsest grid of squares, relative to the largest
Corner: TypeAlias = tuple[Fraction, Fraction]  # a value, in p-th powers, and a square
Pair: TypeAlias = tuple[Fraction, Fraction]  # of tangents


@dataclass(frozen=True, slots=True)
class Squared(Answered):
    """What ``Answered`` is and, third, the squared distance of the value from the middle.

    It lies between 0 and w^2/4, w the width of the range, and is seen from 27/32 of that for each
    who answered. What counts is how far it is from w^2/8, so little (1/w^2) that the mean has no
    more Gaussian noise for it, and 7% more Laplace noise. ``quantum``: the grid of the values, once
    the set is on it; squares are rounded down to a grid of their own.
    """

    size: int = field(default=3, init=False)
    people_scale: ClassVar[int] = 1
    quantum: Fraction | None = field(default=None, repr=False)

    @property
    def extent(self) -> Fraction:
        """The width of the range, exactly."""
        return Fraction(self.high) - Fraction(self.low)

    @property
    def largest(self) -> Fraction:
        """The largest square."""
        return self.step * self.most if self.step else self.extent**2 / 4

    @property
    def most(self) -> int:
        """How many steps the largest square has, on the grid."""
        return self._grid(self.quantum).most if self.quantum else 0

    @property
    def step(self) -> Fraction:
        """The grid of the squares; zero before there is one."""
        return self.step_under(self.quantum) if self.quantum else Fraction(0)

    def step_under(self, quantum: Fraction) -> Fraction:
        """Return the grid of the squares of values in such quanta."""
        return quantum**2 / 4 * self._grid(quantum).by

    def _grid(self, quantum: Fraction) -> "Squares":
        return Squares.of(0, int(self.extent / quantum))

    def seen(self, center: Center | Number) -> Fraction:
        """Return from where squares are seen, for each who answered: from zero if values are."""
        if center is None:
            return Fraction(0)
        return int(FROM * self.most) * self.step if self.step else FROM * self.largest

    def on(self, quantum: Fraction, wider: int = 0) -> Self:
        """Return the set with bounds on the grid, around its own."""
        low, high = around(self.bounds, quantum, wider)
        found = replace(self, low=low, high=high, quantum=quantum)
        if found.most < 1 / COARSE:
            raise InvalidParameterError(
                "the budget is too small for a variance: its noise would hide all differences"
                " between values; use a larger budget, or leave variance out"
            )
        return found

    def leaving(self, p: int) -> list[Corner]:
        """Return corners that hold what those who answer move: the value's p-th power, the square.

        On the grid a value may be rounded to a quantum farther out than the one that is squared;
        squares are rounded down by less than a step, and so is from where they are seen.
        """
        pairs = [(Fraction(0),) * 2, (Fraction(1),) * 2] if p == 2 else around_from(0)
        return [self._at(u, v, p, abs(FROM - u * v), 2) for u, v in pairs]

    def changing(self, p: int, pairs: "Iterable[Pair] | None" = None) -> list[Corner]:
        """Return corners that hold how far two values, in p-th powers, and their squares are apart.

        ``pairs``: at which tangents meet; twice the same is a point of the curve.
        """
        return [self._at(u, v, p, u + v - u * v, 4) for u, v in pairs or around_from(1)]

    def _at(self, u: Fraction, v: Fraction, p: int, square: Fraction, reach: int) -> Corner:
        """Return where tangents meet, or what rounding makes of it: ``reach``, as far as values."""
        half, q = self.extent / 2, self.quantum or Fraction(0)
        value = u * v * half**2 + q * (reach * half + q) if p == 2 else (u + v) / 2 * half + q
        return value, square * half**2 + 2 * self.step

    def view(self, center: Number | None, p: int) -> View:
        """Return those who answered and those who did not, as cases of one person.

        Where a centre is searched for, the value and its square are as one scale, which costs one
        to those at an end and in the middle alike.
        """
        two, curve = Answered.view(self, center, p), _curve(self, p)
        (value, answered), none = two.person.near(())
        (_, given), _ = two.change.near(())
        leaving, lean = curve.leaving, curve.lean
        answers, root = two.weights[1] + lean, two.root_weight + (center or 0) ** 2 * lean
        if isinstance(center, float) and p == 2:
            cases = Listed(((1, answered), (0, none[1])))
            return View(person=cases, change=cases, weights=(curve.both, answers), root_weight=root)
        if center is None:
            leaving, answers = [(value, self.largest**p)], two.weights[1] + curve.plain
        changes = *((x, given, y) for x, y in leaving), *((x, 0, y) for x, y in curve.changing)
        return View(
            person=Listed((*((x, answered, y) for x, y in leaving), (*none, 0))),
            change=Listed(changes),
            weights=(two.weights[0], answers, 1 / self.extent**2),
            root_weight=root,
        )

    def parts(self, center: Number | None, scales: Scales, root: float) -> Parts:
        """Return the noises of its sums, and of value and square less their middles * answered."""
        value, answered, square = scales
        two = Answered.parts(self, center, (value, answered), root)
        lean = float(abs(self.seen(center) - self.largest / 2))
        return two | {"spread": [square, *(lean * part for part in two["answered"])]}

    def mixture(self, center: Center) -> Mixture:
        """Return the noises of its own, and that of the number who answered, which all have."""
        two, lean, c = Answered.mixture(self, center), float(self.seen(center)), float(center or 0)
        ((scale, by, loadings),) = two.shared
        both = (scale, by, (*loadings, (2, 3, lean)))
        own = (2, 1.0, ((2, 3, 1.0),))
        return two._replace(shared=(both, own), lean=(*two.lean, (2, 3, lean * c)))

    def steps(
        self, center: Center, quantum: Fraction, scales: Scales, people: Fraction
    ) -> tuple[Fraction, ...]:
        """Return the steps of the value, of the number who answered, and of the square."""
        square = step_for(scales[2], self.step, float(self.largest))
        return *Answered.steps(self, center, quantum, scales[:2], people), square

    def measure(self, channel: Channel, f: Ring, root: Ring, root_quantum: Fraction) -> Ring:
        """Return value and square, centred on who answered, and who answered, on the root."""
        two = Answered.measure(self, channel, f, root, root_quantum)
        step = channel.steps[2]
        seen = times(f[:, 1], self.seen(channel.center) / step)
        square = times(f[:, 2], self.step / step) - seen
        return np.column_stack([two, square])

    def recover(self, channel: Channel, h: Floats, root: Floats) -> Floats:
        """Return the sum of the values, the number who answered, and the sum of the squares."""
        two = Answered.recover(self, replace(channel, steps=channel.steps[:2]), h, root)
        seen = float(self.seen(channel.center)) * two[:, 1]
        square = h[:, 2] * float(channel.steps[2]) + seen
        return np.column_stack([two, square])


def around_from(first: int) -> list[Pair]:
    """Return where tangents meet that hold a curve from here to one beyond."""
    each = [first + Fraction(i, TANGENTS) for i in range(TANGENTS + 1)]
    return [*pairwise(each), (each[-1], each[-1])]


class Curve(NamedTuple):
    """Corners in p-th powers, of those who leave and of changes, and weights of squared errors.

    ``both``: of a value and its square, at a cost of one; ``lean``: what that of the number who
    answered weighs in how far squares are from their middle, ``plain``: if these are not centred.
    """

    leaving: Sequence[tuple[Number, Number]]
    changing: Sequence[tuple[Number, Number]]
    both: float
    lean: float
    plain: float


@lru_cache(maxsize=64)
def _curve(shape: Squared, p: int) -> Curve:
    leaving, changing = (
        [(x, y**p) for x, y in each] for each in (shape.leaving(p), shape.changing(p))
    )
    (_, middle), (value, end) = leaving[0], leaving[-1]
    squared = shape.extent**2
    both = value / (1 - end / middle) + middle / squared
    lean, plain = (
        float((seen - shape.largest / 2) ** 2 / squared) for seen in map(shape.seen, (FROM, None))
    )
    return Curve(leaving, changing, float(both), lean, plain)


class Squares(NamedTuple):
    """The grid of squared distances, in quarters of a squared quantum: ``by`` so many."""

    by: int
    most: int

    @classmethod
    def of(cls, low: int, high: int) -> Self:
        """Return that of values in so many quanta: a power of two, so that to divide is exact.

        The largest is at most a quarter of how many quanta there are: as its noise is about so much
        wider, what can be drawn for the values can be drawn for it.

        >>> Squares.of(0, 1024)
        Squares(by=8192, most=128)
        """
        by = 4 * 2 ** int(high - low).bit_length()
        return cls(by, (high - low) ** 2 // by)
