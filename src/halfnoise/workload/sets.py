"""What one person may contribute to a block of sums: a known set K and how it looks from a centre.

A block is measured as  h = f - c n  with independent noise, so all that a design needs to know of K
is how far its points lie from the centre. A ``View`` holds that. Only corners of K matter, as the
distance is convex.

Distances are p-th powers, p = 2 for Gaussian and p = 1 for Laplace noise: a person costs
``sum |x_i - c_i|^p / scale^p``. Where the centre is a Fraction, so is every distance: exact.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

Number: TypeAlias = Fraction | float
"""An exact rational for what is certified, a float for what is only searched."""

Cases: TypeAlias = tuple[tuple[Number, ...], ...]
"""For each kind of person that may be the worst, the distance charged to each scale."""

MANY = 64
"""Noises of more categories than this are not told apart."""

Parts: TypeAlias = dict[str, list[float]]
"""For each kind of estimate, the scales of the independent noises that add up in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A block as seen from a centre, at importance one.

    ``person``: what adding or removing a person can cost; ``change``: what changing one can.
    ``weights``: how much the squared error of each scale counts.
    ``root_weight``: how much the squared error of the number of people counts, through the centre.
    """

    person: Cases
    change: Cases
    weights: tuple[Number, ...]
    root_weight: Number


class Shape(ABC):
    """The set K of one block. A centre of None means measured as it is, around zero."""

    __slots__ = ()

    size: int
    """The number of sums that come out."""

    @property
    def width(self) -> float:
        """The range of one value, relative to which errors count: a person counts or does not."""
        return 1.0

    @property
    @abstractmethod
    def midpoint(self) -> Fraction:
        """The centre that is nearest to all of K."""

    @property
    def adjustable(self) -> bool:
        """Whether another centre than the midpoint can be better."""
        return False

    @property
    def highest_center(self) -> float:
        """The highest centre worth trying."""
        return float(self.midpoint)

    @abstractmethod
    def view(self, center: Number | None, p: int) -> View:
        """Return the block as seen from ``center`` in p-th powers."""

    @abstractmethod
    def parts(self, center: Number | None, scales: tuple[float, ...], root: float) -> Parts:
        """Return the noises in the estimates: those of a ``sum``, and what else a block gives."""

    @abstractmethod
    def corners(self) -> Iterator[tuple[float, ...]]:
        """List the corners of K."""


@dataclass(frozen=True, slots=True)
class Box(Shape):
    """``size`` sums, each with values in [low, high]: yes/no questions and bounded amounts."""

    size: int
    low: float = 0.0
    high: float = 1.0

    @property
    def width(self) -> float:
        """The length of the range."""
        return self.high - self.low

    @property
    def midpoint(self) -> Fraction:
        """The middle: always the best, as moving by t costs sqrt(W) t and saves less on n."""
        return (Fraction(self.low) + Fraction(self.high)) / 2

    def view(self, center: Number | None, p: int) -> View:
        """Return the farther end of the range, once for each sum."""
        c = Fraction(0) if center is None else center
        low, high = _like(c, self.low), _like(c, self.high)
        reach = max(_size(low - c), _size(high - c))
        return View(
            person=((self.size * reach**p,),),
            change=((self.size * (high - low) ** p,),),
            weights=(self.size,),
            root_weight=self.size * c**2,
        )

    def parts(self, center: Number | None, scales: tuple[float, ...], root: float) -> Parts:
        """Return its own noise and, through the centre, that of the number of people."""
        return {"sum": [scales[0], abs(float(center or 0)) * root]}

    def corners(self) -> Iterator[tuple[float, ...]]:
        """List all combinations of the two ends."""
        return itertools.product((self.low, self.high), repeat=self.size)


@dataclass(frozen=True, slots=True)
class AtMost(Shape):
    """``size`` values in [0, 1] of which a person has at most ``most`` ones (or a sum of that)."""

    size: int
    most: int

    @property
    def midpoint(self) -> Fraction:
        """The centre nearest to all of K, best where the number of people is known."""
        return min(Fraction(1, 2), Fraction(self.most, self.size))

    @property
    def adjustable(self) -> bool:
        """Adjustable: a smaller centre leans less on the number of people."""
        return True

    @property
    def highest_center(self) -> float:
        """One half: beyond it people with no ones are the worst."""
        return 0.5

    def view(self, center: Number | None, p: int) -> View:
        """Return persons with none and with ``most`` ones: the cost is linear in between."""
        c = Fraction(0) if center is None else center
        ones = self.most * _size(1 - c) ** p + (self.size - self.most) * _size(c) ** p
        return View(
            person=((ones,), (self.size * _size(c) ** p,)),
            change=((min(2 * self.most, self.size),),),
            weights=(self.size,),
            root_weight=self.size * c**2,
        )

    def parts(self, center: Number | None, scales: tuple[float, ...], root: float) -> Parts:
        """Return its own noise and, through the centre, that of the number of people."""
        return {"sum": [scales[0], float(center or 0) * root]}

    def corners(self) -> Iterator[tuple[float, ...]]:
        """List all rows of zeros and at most ``most`` ones."""
        rows = itertools.product((0.0, 1.0), repeat=self.size)
        return (row for row in rows if sum(row) <= self.most)


@dataclass(frozen=True, slots=True)
class OneOf(Shape):
    """``size`` categories, two or more, of which exactly one holds for each person.

    Seen from 1/size, the true h sums to zero, so its estimate is projected onto sum zero, which
    takes 1/size of its variance away.
    """

    size: int

    @property
    def midpoint(self) -> Fraction:
        """Equal shares: other centres do not sum to exactly one."""
        return Fraction(1, self.size)

    def view(self, center: Number | None, p: int) -> View:
        """Return the one kind of person there is, with the projection where it is centred."""
        c = Fraction(0) if center is None else center
        return View(
            person=((_size(1 - c) ** p + (self.size - 1) * c**p,),),
            change=((2,),),
            weights=(self.size if center is None else self.size - 1,),
            root_weight=self.size * c**2,
        )

    def parts(self, center: Number | None, scales: tuple[float, ...], root: float) -> Parts:
        """Return its own noise, projected where it is centred, and that of the number of people."""
        if center is None:
            return {"sum": [scales[0]]}
        # The projection leaves most of its own noise and a little of each other's; of many, that
        # is nearly one noise again.
        v = self.size
        own = [scales[0] * (1 - 1 / v) ** 0.5]
        if v <= MANY:
            own = [scales[0] * (1 - 1 / v), *[scales[0] / v] * (v - 1)]
        return {"sum": [*own, float(center) * root]}

    def corners(self) -> Iterator[tuple[float, ...]]:
        """List the categories."""
        return (tuple(float(i == chosen) for i in range(self.size)) for chosen in range(self.size))


@dataclass(frozen=True, slots=True)
class Answered(Shape):
    """A value in [low, high] and whether it was given: who did not answer adds zero to both.

    The two sums are the value's, centred at the midpoint on the number who answered, and that
    number, centred on the number of people. What counts is the mean, so the weights are those of
    the error of  value - midpoint * answered  and of  answered  (times width^2, to be comparable).
    """

    low: float
    high: float
    size: int = field(default=2, init=False)

    @property
    def width(self) -> float:
        """The length of the range."""
        return self.high - self.low

    @property
    def middle(self) -> Fraction:
        """The middle of the range, on which the value is centred."""
        return (Fraction(self.low) + Fraction(self.high)) / 2

    @property
    def midpoint(self) -> Fraction:
        """Half of the people: the plainest centre for the number who answered."""
        return Fraction(1, 2)

    @property
    def adjustable(self) -> bool:
        """Adjustable: a little above one half balances who answered with who did not."""
        return True

    @property
    def highest_center(self) -> float:
        """One: everybody answered."""
        return 1.0

    def view(self, center: Number | None, p: int) -> View:
        """Return those who answered and those who did not, as cases of one person."""
        c = Fraction(0) if center is None else center
        low, high = _like(c, self.low), _like(c, self.high)
        width = high - low
        reach, lean = width / 2, _like(c, 0)
        if center is None:
            reach, lean = max(_size(low), _size(high)), ((low + high) / 2) ** 2
        return View(
            person=((reach**p, _size(1 - c) ** p), (0, _size(c) ** p)),
            change=((reach**p, 1), (width**p, 0)),
            weights=(1, width**2 + lean),
            root_weight=width**2 * c**2,
        )

    def parts(self, center: Number | None, scales: tuple[float, ...], root: float) -> Parts:
        """Return the noises in the sum of the values, in the number who answered, and in the mean.

        The mean's are those of  value - midpoint * answered: divided by the number who answered
        they are the error of a mean near the midpoint.
        """
        value, answered = scales
        middle = abs(float(self.middle))
        if center is None:
            return {"sum": [value], "answered": [answered], "mean": [value, middle * answered]}
        given = [answered, float(center) * root]
        return {
            "sum": [value, *(middle * part for part in given)],
            "answered": given,
            "mean": [value],
        }

    def corners(self) -> Iterator[tuple[float, ...]]:
        """List no answer, the lowest and the highest."""
        return iter([(0.0, 0.0), (self.low, 1.0), (self.high, 1.0)])


def _like(center: Number, x: float) -> Number:
    """Return a number in the arithmetic of the centre: exact if it is."""
    return x if isinstance(center, float) else Fraction(x)


def _size(x: Number) -> Number:
    return max(x, -x)
