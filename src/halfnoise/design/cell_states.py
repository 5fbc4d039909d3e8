"""What people add to tables with values by cell: to each value, and in which residuals it counts.

A value has one layer, seen from the middle of its range; one that not all give has two: values from
the middle of those who answer, and who answers. Every layer is a coordinate of the totals.
"""

import itertools
import math
from collections.abc import Collection
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from halfnoise.values import dataclass
from halfnoise.workload.grid import Floats, Grain
from halfnoise.workload.sets.alike import DIGITS
from halfnoise.workload.sets.by_cell import ByCell
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.folding import Coordinate
from halfnoise.workload.sets.residuals import Axes, cells, rank, squares

Places = NDArray[np.intp]


class Alike(Protocol):
    """Residuals that are alike."""

    @property
    def axes(self) -> tuple[Axes, ...]:
        """Of what they are."""

    @property
    def cells(self) -> int:
        """How many cells each has."""


class CellLayer(NamedTuple):
    """A layer of a value: what people may add, and by the state of a person which of that it is.

    ``weight``: what a squared error weighs, where one of the value weighs one.
    """

    value: int
    amounts: tuple[Fraction, ...]
    which: tuple[int, ...]
    middle: Fraction
    weight: float
    grain: Grain
    quantum: Fraction
    offset: Fraction  # from where people count
    rounded: Fraction  # what tables may round it apart by

    @property
    def half(self) -> Fraction:
        """Half of the range of what people add."""
        return (max(self.amounts) - min(self.amounts)) / 2


class Residuals(NamedTuple):
    """Residuals that are alike: of which layers, and what their squares weigh, people last."""

    axes: tuple[Axes, ...]
    own: tuple[int, ...]
    weights: tuple[float, ...]
    cells: int
    rank: int

    @property
    def distance(self) -> Fraction:
        """What one person adds to the squared lengths of all of them."""
        return Fraction(len(self.axes) * self.rank, self.cells)


@dataclass(frozen=True)
class CellStates:
    """The layers of all values, and the residuals that they are measured in."""

    shape: Crossed

    @cached_property
    def layers(self) -> tuple[CellLayer, ...]:
        """All layers but that of people, in the order of ``Crossed.layers``."""
        found, none, one = list[CellLayer](), Fraction(0), Fraction(1)
        for i, value in enumerate(self.shape.values):
            middle, half, on = value.middle, value.half, (value.grain, value.quantum)
            if not value.optional:
                ends = (middle + half, middle - half)
                by = (value.offset, value.more / 2)
                found.append(CellLayer(i, ends, (0, 1), middle, 1.0, *on, *by))
                continue
            three, whole = (half, -half, none), float(2 * half) ** 2
            found.append(CellLayer(i, three, (0, 1, 2), none, 1.0, *on, none, value.more / 2))
            who = (Grain.PEOPLE, one, none, none)
            found.append(CellLayer(i, (one, none), (0, 0, 1), one / 2, whole, *who))
        return tuple(found)

    @property
    def signed(self) -> list[int]:
        """The layers of values, from the middle, that not all give."""
        return [k for k, layer in enumerate(self.layers) if len(layer.amounts) == 3]

    @cached_property
    def numbers(self) -> list[int]:
        """In how many states a person may be, by value."""
        return [3 if value.optional else 2 for value in self.shape.values]

    @cached_property
    def units(self) -> Floats:
        """What the states of each layer add, from the middle and in halves of the range."""
        return np.array([float(layer.half) for layer in self.layers])

    def signs(self, layer: CellLayer) -> Floats:
        """Return what the states of its value add to a layer, in its unit."""
        found = [float((layer.amounts[k] - layer.middle) / layer.half) for k in layer.which]
        return np.array(found)

    @cached_property
    def _squares(self) -> list[dict[Axes, float]]:
        """r^2 by value and residual, people last, without what leans on them."""
        levels, values = self.shape.levels, self.shape.values
        return [squares(levels, each) for each in (*(v.wanted for v in values), self.shape.wanted)]

    @property
    def root_weight(self) -> float:
        """What a squared error in the number of people weighs, without what leans on it."""
        return self._squares[-1].get((), 0.0)

    def coordinates(self, *, leaves: bool, states: Places | None = None) -> tuple[Coordinate, ...]:
        """Return the totals of all layers; of changes, the differences of two states.

        ``states``: of every kind of person the state by value, or both.
        """
        found = list[Coordinate]()
        for layer in self.layers:
            along, which = layer.amounts, None
            if not leaves:
                along = tuple(x - y for x, y in itertools.product(along, repeat=2))
            if states is not None:
                own = np.array(layer.which)[states[..., layer.value]]
                which = own if leaves else own[0] * len(layer.amounts) + own[1]
            weight = layer.weight * self._squares[layer.value].get((), 0.0)
            on = (layer.grain, layer.quantum, layer.offset)
            found.append(Coordinate(along, layer.middle, weight, *on, which))
        return tuple(found)

    @cached_property
    def residuals(self) -> tuple[Residuals, ...]:
        """All kinds of residuals."""
        levels, found = self.shape.levels, dict[object, list[Axes]]()
        for axes in self.shape.layers[0].axes:
            seen = (each.get(axes) for each in self._squares)
            own = (None if x is None else f"{x:.{DIGITS}g}" for x in seen)
            key = (cells(levels, axes), rank(levels, axes), *own)
            found.setdefault(key, []).append(axes)
        return tuple(self._kind(tuple(every)) for every in found.values())

    def _kind(self, every: tuple[Axes, ...]) -> Residuals:
        axes, levels = every[0], self.shape.levels
        weights = [each.get(axes, 0.0) for each in self._squares]
        own = [k for k, layer in enumerate(self.layers) if axes in self._squares[layer.value]]
        own.sort(key=lambda k: self.layers[k].grain is not Grain.VALUES)  # as coordinates are
        each = tuple(self.layers[k].weight * weights[self.layers[k].value] for k in own)
        return Residuals(
            every, tuple(own), (*each, weights[-1]), cells(levels, axes), rank(levels, axes)
        )

    def weights(self, kind: Residuals) -> Floats:
        """Return what squared errors weigh in residuals, in units of the layers, people last."""
        found, last = np.zeros((len(kind.weights),) * 2), len(kind.own)
        found[-1, -1] = kind.weights[-1]
        for place, k in enumerate(kind.own):
            lean = np.zeros(len(found))
            lean[place], lean[last] = self.units[k], float(self.layers[k].middle)
            found += kind.weights[place] * np.outer(lean, lean)
        return len(kind.axes) * kind.rank * kind.cells * found

    @cached_property
    def changes(self) -> list[frozenset[int]]:
        """All sets of attributes that may change."""
        used = self.shape.moves.used
        every = (itertools.combinations(used, k) for k in range(len(used) + 1))
        return [frozenset(each) for each in itertools.chain.from_iterable(every)]

    def kappas(self, kind: Alike, changes: Collection[frozenset[int]]) -> list[Fraction]:
        """Return kappa of residuals, all together, for every change."""
        levels = self.shape.levels
        found = list[Fraction]()
        for change in changes:
            each = [-1 if i in change else v - 1 for i, v in enumerate(levels)]
            whole = sum(math.prod(each[i] for i in axes) for axes in kind.axes)
            found.append(Fraction(whole, kind.cells))
        return found

    def number(self, *, leaves: bool) -> int:
        """Return how many kinds of people, or of changes, there are."""
        states = math.prod(self.numbers)
        return states if leaves else math.comb(states + 1, 2) << len(self.shape.moves.used)


def alike(values: tuple[ByCell, ...], *, loosely: bool = False) -> list[list[int]]:
    """Return which values may be permuted: they are alike but for units, or ``loosely`` at all."""
    found: dict[object, list[int]] = {}
    for i, value in enumerate(values):
        half = float(value.half)
        seen = [0.0 if value.optional else float(value.middle) / half]
        seen += [wanted.weight * half**2 for wanted in value.wanted]
        numbers = tuple(f"{x:.{DIGITS}g}" for x in seen)
        key = (numbers, tuple(wanted.axes for wanted in value.wanted))
        found.setdefault((value.optional, None if loosely else key), []).append(i)
    return [*found.values()]
