"""Residuals that are alike: of as many cells, which a person moves as far, and that weigh as much.

They have one scale of noise. A hundred attributes have 166,750 tables of up to three, but if they
have as many categories and weigh alike, there are three kinds of residuals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from halfnoise.workload.sets.by_cell import Layer
from halfnoise.workload.sets.residuals import Axes, Levels, cells, rank

DIGITS = 9  # in which what they weigh agrees


@dataclass(frozen=True, slots=True)
class Class:
    """So many residuals of a layer, each of so many ``cells`` and dimensions, and r^2 of each."""

    layer: int
    cells: int
    rank: int
    square: float
    number: int = 1

    @property
    def distance(self) -> Fraction:
        """What one person adds to their squared lengths together."""
        return Fraction(self.number * self.rank, self.cells)

    @property
    def weight(self) -> float:
        """What a squared scale weighs: W = m N r^2 for each."""
        return self.number * self.rank * self.cells * self.square


def alike(
    levels: Levels, layers: Sequence[Layer]
) -> tuple[tuple[Class, ...], dict[tuple[int, Axes], int]]:
    """Return the classes of residuals, and which of them each is, by layer and axes."""
    found: dict[tuple[int, int, int, str], int] = {}
    classes, places, numbers = list[Class](), dict[tuple[int, Axes], int](), list[int]()
    for place, layer in enumerate(layers):
        for axes, square in zip(layer.axes, layer.squares, strict=True):
            own = Class(place, cells(levels, axes), rank(levels, axes), square)
            key = (place, own.cells, own.rank, f"{square:.{DIGITS}g}")
            if (known := found.get(key)) is None:
                known = found[key] = len(classes)
                classes.append(own)
                numbers.append(0)
            numbers[known] += 1
            places[place, axes] = known
    seen = zip(classes, numbers, strict=True)
    return tuple(Class(c.layer, c.cells, c.rank, c.square, number) for c, number in seen), places
