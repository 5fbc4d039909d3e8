"""Values by cell: what each adds to the layers of noise that tables are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple, Self

from halfnoise.workload.grid import Grain
from halfnoise.workload.sets.kinds import bounds_on
from halfnoise.workload.sets.residuals import Axes

# Which part of the people answers are centred on: near the best for all weights, and a short one.
SHARE = Fraction(19, 32)


class Wanted(NamedTuple):
    """A table that is asked for, and how much the squared error of one of its cells counts."""

    axes: Axes
    weight: float


class Layer(NamedTuple):
    """What is measured by cell with noise of its own: its residuals, and r^2 of each.

    ``value``: whose, None for people; ``answers``: whether it is who answered.
    """

    axes: tuple[Axes, ...]
    squares: tuple[float, ...]
    value: int | None = None
    answers: bool = False

    @classmethod
    def of(
        cls,
        squares: Mapping[Axes, float],
        value: int | None = None,
        *,
        weight: float = 1.0,
        answers: bool = False,
    ) -> Self:
        """Return a layer of residuals, small ones first."""
        order = sorted(squares, key=lambda axes: (len(axes), axes))
        return cls(tuple(order), tuple(weight * squares[axes] for axes in order), value, answers)

    def finest(self, values: "Sequence[ByCell]") -> tuple[Fraction, float]:
        """Return what its values, from their centre, are multiples of, and how far they are."""
        if self.value is None:
            return Fraction(1), 1.0
        if self.answers:
            return Fraction(1, SHARE.denominator), 1.0
        own = values[self.value]
        return own.quantum / 2, float(own.half)


@dataclass(frozen=True, slots=True)
class ByCell:
    """A value in [low, high], added up in every cell of some tables.

    ``optional``: whether some do not answer, and the mean is of those who do.
    """

    low: float
    high: float
    wanted: tuple[Wanted, ...]
    optional: bool = False
    grain: Grain = field(default=Grain.VALUES, repr=False)
    quantum: Fraction = field(default=Fraction(1), compare=False, repr=False)

    @property
    def reach(self) -> float:
        """How far from zero a value can be."""
        return max(-self.low, self.high)

    def on(self, quantum: Fraction, label: str) -> "ByCell":
        """Return the same with its bounds on a grid; whole people are on it."""
        if self.grain is not Grain.VALUES:
            return self
        low, high = bounds_on(quantum, (self.low, self.high), label)
        return replace(self, low=low, high=high, quantum=quantum)

    @property
    def middle(self) -> Fraction:
        """What is taken from each value."""
        return (Fraction(self.low) + Fraction(self.high)) / 2

    @property
    def half(self) -> Fraction:
        """Half of the range: how far a value is from the middle."""
        return (Fraction(self.high) - Fraction(self.low)) / 2

    @property
    def lean(self) -> float:
        """How an error in the number of people enters what counts."""
        return float(2 * self.half * SHARE if self.optional else self.middle)

    @property
    def layers(self) -> int:
        """How many layers of noise it has."""
        return 2 if self.optional else 1

    def states(self, *, answers: bool) -> tuple[Fraction, ...]:
        """Return how far persons of all kinds are from the centre of one of its layers."""
        if not self.optional:
            return (self.half, -self.half)
        return (1 - SHARE, 1 - SHARE, -SHARE) if answers else (self.half, -self.half, Fraction(0))
