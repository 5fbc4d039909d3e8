"""Residuals that are alike: of as many cells, which a person moves as far, and that weigh as much.

They have one scale of noise. A hundred attributes have 166,750 tables of up to three, but if they
have as many categories and weigh alike, there are three kinds of residuals.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple

from halfnoise.values import dataclass, replace
from halfnoise.workload.sets.by_cell import Layer
from halfnoise.workload.sets.residuals import Axes, Levels, cells, rank

DIGITS = 9  # in which what they weigh agrees


@dataclass(frozen=True, slots=True)
class Class:
    """So many residuals of a layer, each of so many ``cells`` and dimensions, and r^2 of each.

    ``along``: where one is measured in many places, what a person pays for these, beside D.
    """

    layer: int
    cells: int
    rank: int
    square: float
    along: Fraction = Fraction(1)
    number: int = 1

    @property
    def distance(self) -> Fraction:
        """What one person adds to their squared lengths together."""
        return Fraction(self.number * self.rank, self.cells) * self.along

    @property
    def weight(self) -> float:
        """What a squared scale weighs: W = m N r^2 for each."""
        return self.number * self.rank * self.cells * self.square


class Measured(NamedTuple):
    """A residual of a layer: what is said of it beside its cells, and what it weighs.

    ``every``: all axes by which it is measured, its own or those of places with them.
    """

    layer: int
    axes: Axes
    every: tuple[Axes, ...]
    square: float
    along: Fraction = Fraction(1)
    like: Hashable = None


def of_layers(layers: Sequence[Layer]) -> list[Measured]:
    """Return what is measured of tables without places."""
    return [
        Measured(place, axes, (axes,), square)
        for place, layer in enumerate(layers)
        for axes, square in zip(layer.axes, layer.squares, strict=True)
    ]


def alike(
    levels: Levels, measured: Sequence[Measured]
) -> tuple[tuple[Class, ...], dict[tuple[int, Axes], int]]:
    """Return the classes of residuals, and which of them each is, by layer and axes."""
    found: dict[Hashable, int] = {}
    classes, places, numbers = list[Class](), dict[tuple[int, Axes], int](), list[int]()
    for layer, axes, every, square, along, like in measured:
        own = Class(layer, cells(levels, axes), rank(levels, axes), square, along)
        key = (layer, own.cells, own.rank, f"{square:.{DIGITS}g}", like)
        if (known := found.get(key)) is None:
            known = found[key] = len(classes)
            classes.append(own)
            numbers.append(0)
        numbers[known] += 1
        places |= dict.fromkeys(((layer, each) for each in every), known)
    seen = zip(classes, numbers, strict=True)
    return tuple(replace(each, number=number) for each, number in seen), places
