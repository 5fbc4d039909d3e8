"""Values by cell: what each adds to the layers of noise that tables are made of."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Self

from halfnoise.values import dataclass, field, replace
from halfnoise.workload.grid import Floats, Grain, Ring, around
from halfnoise.workload.sets.residuals import Axes, Levels

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

    def grain(self, values: "Sequence[ByCell]", people: Fraction) -> tuple[Fraction, float]:
        """Return what its values, from their centre, are multiples of, and how far they are.

        ``people``: what people are counted in.
        """
        if self.value is None:
            return people, 1.0
        if self.answers:
            return people / SHARE.denominator, 1.0
        own = values[self.value]
        return own.finest, float(own.half)


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
    more: Fraction = field(default=Fraction(0), compare=False, repr=False)  # see ``on``

    def on(self, quantum: Fraction) -> "ByCell":
        """Return the same with bounds on a grid, around its own; whole people are on it.

        Who changes cell moves every table by two values, each rounded with the total that it enters
        or leaves: by less than a quantum otherwise than in other tables. As sqrt(D_A) is how far
        one quantum moves a residual, and as a change in all of them costs at least 2 half^2 D_A on
        average, that is less than sqrt(2) quanta more in ``half``. A value times a weight moves a
        table by less than a quantum more than it is, which is less than two more in ``half``.
        """
        if self.grain is not Grain.VALUES:
            return replace(self, quantum=quantum)
        low, high = around((self.low, self.high), quantum)
        return replace(self, low=low, high=high, quantum=quantum, more=2 * quantum)

    @property
    def middle(self) -> Fraction:
        """What is taken from each value."""
        return (Fraction(self.low) + Fraction(self.high)) / 2

    @property
    def offset(self) -> Fraction:
        """From where values count: the middle, and people from zero."""
        return self.middle if self.grain is Grain.VALUES else Fraction(0)

    @property
    def finest(self) -> Fraction:
        """What values, seen from the middle, are multiples of: people are half a person away."""
        return self.quantum if self.grain is Grain.VALUES else self.quantum / 2

    @property
    def half(self) -> Fraction:
        """Half of the range: how far a value is from the middle, and what rounding may add."""
        return (Fraction(self.high) - Fraction(self.low)) / 2 + self.more

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


def apart_by_table(
    levels: Levels, layers: Sequence[Layer], rows: "Ring | Floats"
) -> list[dict[Axes, Any]]:
    """Return the cells of all tables, layer by layer, each in the shape of its table."""
    found, start = list[dict[Axes, Any]](), 0
    for layer in layers:
        found.append({})
        for axes in layer.axes:
            shape = [levels[axis] for axis in axes]
            stop = start + math.prod(shape)
            found[-1][axes] = rows[:, start:stop].reshape(len(rows), *shape)
            start = stop
    return found


def loads_of(
    layers: Sequence[Layer], values: Sequence[ByCell]
) -> tuple[tuple[tuple[float, ...], ...], list[float]]:
    """Return how layers make up what comes out, and how that leans on the number of people."""
    loads, leans = list[tuple[float, ...]](), list[float]()
    for place, layer in enumerate(layers):
        own = [float(i == place) for i in range(len(layers))]
        lean = 1.0
        if layer.answers:
            own[0] = lean = float(SHARE)
        elif layer.value is not None:
            value = values[layer.value]
            lean = float(value.middle * (SHARE if value.optional else 1))
            own[0] = lean
            if value.optional:
                own[place + 1] = float(value.middle)
        loads.append(tuple(own))
        leans.append(lean)
    return tuple(loads), leans
