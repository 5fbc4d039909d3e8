"""A value that not all give, and its square: what the variance of a mean is made of."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, NamedTuple, Self

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

STAIRS = 16  # how finely it is told how far two people's values and squares lie apart
COARSE = Fraction(1, 2**7)  # the coarsest grid of squares, relative to the largest


@dataclass(frozen=True, slots=True)
class Squared(Answered):
    """What ``Answered`` is and, third, the squared distance of the value from the middle.

    It lies between 0 and w^2/4, w the width of the range, and is centred at w^2/8 on the number who
    answered. It weighs so little (1/w^2) that the mean has 4% more noise, and 15% more where that
    is Laplace noise. ``quantum``: the
    grid of the values, once the set is on it; squares are rounded down to a grid of their own.
    """

    size: int = field(default=3, init=False)
    people_scale: ClassVar[int] = 1
    quantum: Fraction | None = field(default=None, repr=False)

    @property
    def largest(self) -> Fraction:
        """The largest square."""
        if self.quantum is None:
            return (Fraction(self.high) - Fraction(self.low)) ** 2 / 4
        return self._unit * self._grid.most

    @property
    def _grid(self) -> "Squares":
        low, high = (Fraction(bound) / (self.quantum or Fraction(1)) for bound in self.bounds)
        return Squares.of(int(low), int(high))

    @property
    def _unit(self) -> Fraction:
        """The grid of the squares."""
        return (self.quantum or Fraction(1)) ** 2 / 4 * self._grid.by

    def on(self, quantum: Fraction, wider: int = 0) -> Self:
        """Return the set with bounds on the grid, around its own."""
        low, high = around(self.bounds, quantum, wider)
        if (
            Squares.of(int(Fraction(low) / quantum), int(Fraction(high) / quantum)).most
            < 1 / COARSE
        ):
            raise InvalidParameterError(
                "the budget is too small for a variance: its noise would hide all differences"
                " between values; use a larger budget, or leave variance out"
            )
        return replace(self, low=low, high=high, quantum=quantum)

    def view(self, center: Number | None, p: int) -> View:
        """Return those who answered and those who did not, as cases of one person.

        Of two people whose values lie u apart the squares lie at most u (w - u) apart, and no more
        than for w/2 where u is less. Rounding adds less than two quanta to u, and a step to these.
        """
        two = Answered.view(self, center, p)
        low, high = self.ends(Fraction(0) if center is None else center)
        width = high - low
        largest = self.largest if isinstance(width, Fraction) else float(self.largest)
        lean = largest / 2 if center is None else 0
        reach = (largest if center is None else largest / 2) ** p
        (value, answered), none = two.person.near(())
        (left, given), _ = two.change.near(())
        more = (COARSE if isinstance(width, Fraction) else float(COARSE)) / 2
        pairs = pairwise(width / 2 * (STAIRS + i) / STAIRS for i in range(STAIRS + 1))
        changes = [
            (min(width, far + more * width) ** p, 0, (near * (width - near) + slack) ** p)
            for (near, far), slack in ((pair, more * width**2 / 2) for pair in pairs)
        ]
        return View(
            person=Listed(((value, answered, reach), (*none, 0))),
            change=Listed(((left, given, reach), *changes)),
            weights=(two.weights[0], two.weights[1] + lean**2 / width**2, 1 / width**2),
            root_weight=two.root_weight,
        )

    def corners(self) -> Iterator[tuple[float, ...]]:
        """List no answer, the lowest, the highest, and the middle."""
        most, middle = float(self.largest), float(self.middle)
        return iter([(0, 0, 0), (self.low, 1, most), (self.high, 1, most), (middle, 1, 0)])

    def parts(self, center: Number | None, scales: Scales, root: float) -> Parts:
        """Return the noises of its sums, and of value and square less their middles * answered."""
        value, answered, square = scales
        two = Answered.parts(self, center, (value, answered), root)
        leaning = [float(self.largest / 2) * part for part in two["answered"]]
        if center is None:
            return {**two, "squares": [square], "spread": [square, *leaning]}
        return {**two, "squares": [square, *leaning], "spread": [square]}

    def mixture(self, center: Center) -> Mixture:
        """Return the noises of its own, and that of the number who answered, which all have."""
        two, lean = Answered.mixture(self, center), float(self.largest / 2)
        lean, c = 0.0 if center is None else lean, float(center or 0)
        ((scale, by, loadings),) = two.shared
        both = (scale, by, (*loadings, (2, 3, lean)))
        own = (2, 1.0, ((2, 3, 1.0),))
        return two._replace(shared=(both, own), lean=(*two.lean, (2, 3, lean * c)))

    def steps(
        self, center: Center, quantum: Fraction, scales: Scales, people: Fraction
    ) -> tuple[Fraction, ...]:
        """Return the steps of the value, of the number who answered, and of the square."""
        square = step_for(scales[2], self._unit / 2, float(self.largest))
        return *Answered.steps(self, center, quantum, scales[:2], people), square

    def measure(self, channel: Channel, f: Ring, root: Ring, root_quantum: Fraction) -> Ring:
        """Return value and square, centred on who answered, and who answered, on the root."""
        two = Answered.measure(self, channel, f, root, root_quantum)
        step = channel.steps[2]
        square = times(f[:, 2], self._unit / step)
        if channel.center is not None:
            square = square - times(f[:, 1], self.largest / 2 / step)
        return np.column_stack([two, square])

    def recover(self, channel: Channel, h: Floats, root: Floats) -> Floats:
        """Return the sum of the values, the number who answered, and the sum of the squares."""
        two = Answered.recover(self, replace(channel, steps=channel.steps[:2]), h, root)
        square = h[:, 2] * float(channel.steps[2])
        if channel.center is not None:
            square = square + float(self.largest / 2) * two[:, 1]
        return np.column_stack([two, square])


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
