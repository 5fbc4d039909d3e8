"""What people add to values by cell, layer by layer, and what two have in common by attributes.

A value has one layer, seen from the middle of its range; one that not all give has two: values from
the middle of those who answer, and who answers.
"""

import math
from collections.abc import Collection
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from halfnoise.design.cell_parts import CellPart
from halfnoise.values import dataclass
from halfnoise.workload.grid import Floats, Grain
from halfnoise.workload.sets.alike import DIGITS
from halfnoise.workload.sets.by_cell import ByCell
from halfnoise.workload.sets.crossed import Crossed


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


@dataclass(frozen=True)
class CellLayers:
    """The layers of all values."""

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

    def kappas(self, part: CellPart, changes: Collection[frozenset[int]]) -> list[Fraction]:
        """Return kappa of residuals, all together, for every change."""
        levels = self.shape.levels
        found = list[Fraction]()
        for change in changes:
            each = [-1 if i in change else v - 1 for i, v in enumerate(levels)]
            whole = sum(math.prod(each[i] for i in axes) for axes in part.axes)
            found.append(Fraction(whole, part.cells))
        return found


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
