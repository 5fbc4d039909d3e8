"""What one person may contribute to a block of sums: a known set K that answers for itself.

A block is measured as  h = f - c n  with independent noise, so all that a design needs to know of K
is how far its corners lie from the centre, in p-th powers (a ``View``): a person costs
``sum |x_i - c_i|^p / scale^p``. Where the centre is a Fraction, so is every distance: exact.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from halfnoise.values import dataclass
from halfnoise.workload import grid
from halfnoise.workload.grid import Floats, Grain, Ring, in_steps, step_for, times
from halfnoise.workload.sets.levelled import Pooling

Number: TypeAlias = Fraction | float  # exact for what is certified, a float for what is searched
Center: TypeAlias = Fraction | None  # None means measured as it is, around zero
Scales: TypeAlias = tuple[float, ...]
Case: TypeAlias = tuple[Number, ...]  # of a kind of person, the distance charged to each scale
Cases: TypeAlias = tuple[Case, ...]
Parts: TypeAlias = dict[str, list[float]]  # by kind of estimate, the scales of its noises
Span: TypeAlias = tuple[int, int, float]  # equal loadings on a noise: from, up to, how much


class Kinds(Protocol):
    """The kinds of people, or of changes, that may be the worst."""

    @property
    def slack(self) -> Fraction:
        """How much more than those found the dearest may cost, relative to them."""

    def near(self, rates: Sequence[float]) -> Cases:
        """Return those among which the dearest is if a distance of one costs so much, by scale."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Few kinds of people: all of them."""

    cases: Cases
    slack: Fraction = Fraction(0)

    def near(self, _rates: Sequence[float]) -> Cases:
        """Return all."""
        return self.cases


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A block as seen from a centre, at importance one.

    ``person``: what adding or removing a person can cost; ``change``: what changing one can.
    ``weights``, ``root_weight``: how much squared errors of scales, of the number of people, count.
    ``root_told``: how much of the root of that weight is met by what the block tells of the number.
    """

    person: Kinds
    change: Kinds
    weights: tuple[Number, ...]
    root_weight: Number
    root_told: float = 0.0


class Layered(NamedTuple):
    """How noises make up the errors of tables: see ``design.cross_errors``."""

    levels: tuple[int, ...]
    layers: tuple[tuple[tuple[int, ...], ...], ...]
    places: tuple[int, ...]  # of all residuals, which scale they have
    loads: tuple[tuple[float, ...], ...]
    tables: tuple[tuple[int, tuple[int, ...]], ...]
    children: tuple[tuple[int, ...], ...] = ()  # of places inside places,
    chains: Mapping[tuple[int, tuple[int, ...]], Any] = {}  # and how much noise each has


class Mixture(NamedTuple):
    """How noises make up a block's errors: which estimates have one of the first scale alone.

    ``shared``: noises that several have: of which scale, by what its variance is divided, and who
    has how much. ``lean``: how much each has of the noise of the number of people.
    """

    own: tuple[int, int]
    shared: tuple[tuple[int, float, tuple[Span, ...]], ...]
    lean: tuple[Span, ...]
    tables: Layered | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A block ready to be measured: values in ``quantum``, noise of ``scales`` times ``steps``.

    ``offset``: what has been taken from each person's value already. ``people``: what people are
    counted in.
    """

    shape: "ContributionSet"
    center: Center
    quantum: Fraction
    offset: Fraction
    steps: tuple[Fraction, ...]
    scales: Scales
    people: Fraction = Fraction(1)

    @property
    def drawn(self) -> Scales:
        """The scales as they are drawn, in people or values."""
        pairs = zip(self.scales, self.steps, strict=True)
        return tuple(scale * float(step) for scale, step in pairs)


class ContributionSet(ABC):
    """The set K of one block: ``size`` sums come out, of contributions made of ``grain``."""

    __slots__ = ()

    size: int
    grain: Grain

    leans: ClassVar[bool] = False  # whether it makes no sense without the number of people
    gaussian_only: ClassVar[bool] = False  # whether Laplace noise would cost more than it brings
    adjustable: ClassVar[bool] = False  # whether another centre than the midpoint can be better,
    highest_center: ClassVar[float] = 0.5  # up to here,
    balances: ClassVar[bool] = False  # and even where the number of people is given
    plain_center: ClassVar[Center] = None  # where it does not lean on the number of people
    people_scale: ClassVar[int] = -1  # which scale is of what leans on it

    @property
    @abstractmethod
    def midpoint(self) -> Fraction:
        """The centre that is nearest to all of K."""

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The range of each sum's values, where they do not depend on each other."""
        return None

    @property
    def width(self) -> float:
        """The range of one value, relative to which errors count: a person counts or does not."""
        low, high = self.bounds or (0.0, 1.0)
        return high - low

    def reach(self, _center: Center) -> float:
        """Return how far a value that is centred, or not, can be from where it counts from."""
        return 1.0

    def offset(self, _center: Center) -> Fraction:
        """Return from where values count that are centred, or not: people from zero."""
        return Fraction(0)

    def ends(self, center: Number) -> tuple[Number, Number]:
        """Return the bounds in the arithmetic of the centre: exact if it is."""
        low, high = self.bounds or (0.0, 1.0)
        return (low, high) if isinstance(center, float) else (Fraction(low), Fraction(high))

    @staticmethod
    def size_of(x: Number) -> Number:
        """Return how far a number is from zero: ``abs`` forgets which type it is."""
        return max(x, -x)

    @property
    def finer(self) -> int:
        """How many steps are one part of a person: halves, or equal shares of categories."""
        people = self.grain is Grain.PEOPLE and not self.adjustable
        return self.midpoint.denominator if people else 2

    @property
    def ones(self) -> int | None:
        """How many ones a person may have, where values are zeros and ones."""
        return None

    def lone_center(self, _charge: float) -> float | None:
        """Return the best centre of a block alone, where a formula gives it (see ``centers``)."""
        return None

    def distances(self, c: Number, p: int) -> tuple[tuple[Number, ...], Number]:
        """Return how far corners that may be the farthest lie from c, and two from each other."""
        raise NotImplementedError

    def view(self, center: Number | None, p: int) -> View:
        """Return the block as seen from ``center`` in p-th powers: here, with one scale."""
        d, c = self.size, Fraction(0) if center is None else center
        person, change = self.distances(c, p)
        cases = Listed(tuple((distance,) for distance in person))
        other = Listed(((change,),))
        return View(person=cases, change=other, weights=(d,), root_weight=d * c**2)

    def parts(self, center: Number | None, scales: Scales, root: float) -> Parts:
        """Return the noises in a ``sum``: its own and, through the centre, that of n."""
        return {"sum": [scales[0], abs(float(center or 0)) * root]}

    def mixture(self, center: Center) -> Mixture:
        """Return how noises make up the errors of the estimates."""
        return Mixture((0, self.size), (), ((0, self.size, float(center or 0)),))

    @property
    def ways(self) -> int:
        """In how many ways it may be measured, of which each can be the best."""
        return 1

    def in_way(self, _way: int) -> Self:
        """Return the set that is measured in one of them; first, as it is."""
        return self

    @property
    def pooling(self) -> Pooling | None:
        """How noises tell the same; None where no two do."""
        return None

    def told(self, _scales: Scales) -> float:
        """Return what it says of the number of people beyond what it leans on, as a precision."""
        return 0.0

    def tells(self, _channel: "Channel", _h: Floats, root: Floats) -> tuple[float, Floats]:
        """Return the same for scales as drawn and, times that, the number that noisy h says.

        ``root``: what was measured of the number of people, row by row, on which h leans.
        """
        return 0.0, np.zeros_like(root)

    def on(self, _quantum: Fraction, _wider: int = 0) -> Self:
        """Return the set with bounds on the grid, around its own, ``wider`` by so many quanta."""
        return self

    def center_on_grid(self, center: Center, scale: float, bits: int = grid.SCALE_BITS) -> Center:
        """Round a centre that was searched for to at most so many bits; midpoints move with K."""
        if center is None or not self.adjustable:
            return None if center is None else self.midpoint
        bits = max(1, min(bits, grid.MOST_SCALE_BITS - 2 - math.frexp(scale)[1]))
        return Fraction(round(center * 2**bits), 2**bits)

    def steps(
        self, center: Center, quantum: Fraction, scales: Scales, people: Fraction
    ) -> tuple[Fraction, ...]:
        """Return the steps of the scales: they divide the quantum and what the centre subtracts."""
        more = (center or Fraction(0)) - self.offset(center)
        finest = min(quantum, people / more.denominator) if more else quantum
        return (step_for(scales[0], finest, self.reach(center)),)

    def spread(self, scales: Scales) -> Floats:
        """Return the scale of every sum that is measured."""
        return np.repeat(scales, self.size // len(scales))

    def channel(
        self, quantum: Fraction, center: Center, scales: Scales, people: Fraction = Fraction(1)
    ) -> Channel:
        """Make the set, which is on the grid, ready; its scales are rounded up to the grid."""
        steps = self.steps(center, quantum, scales, people)
        drawn = tuple(in_steps(scale, step) for scale, step in zip(scales, steps, strict=True))
        made: dict[str, Any] = {"quantum": quantum, "offset": self.offset(center), "steps": steps}
        return Channel(shape=self, center=center, scales=drawn, people=people, **made)

    def measure(self, channel: Channel, f: Ring, root: Ring, root_quantum: Fraction) -> Ring:
        """Return h = f - c root in steps, where f may lack its offset."""
        h = times(f, channel.quantum / channel.steps[0])
        if more := (channel.center or 0) - channel.offset:
            h -= times(root, more * root_quantum / channel.steps[0])[:, None]
        return h

    def recover(self, channel: Channel, h: Floats, root: Floats) -> Floats:
        """Return the estimates from noisy h: f^ = h^ + c root^."""
        f = h * float(channel.steps[0])
        return f if channel.center is None else f + float(channel.center) * root[:, None]
