"""Residuals that are alike: of as many cells, which a person moves as far, and that weigh as much.

They have one scale of noise. A hundred attributes have 166,750 tables of up to three, but if they
have as many categories and weigh alike, there are three kinds of residuals.
"""

from collections.abc import Sequence
from fractions import Fraction

from halfnoise.values import dataclass, replace
from halfnoise.workload.sets.by_cell import Layer
from halfnoise.workload.sets.residuals import Axes, Levels, cells, inside, rank

DIGITS = 9  # in which what they weigh agrees


@dataclass(frozen=True, slots=True)
class Class:
    """So many residuals of a layer, each of so many ``cells`` and dimensions, and r^2 of each.

    ``inside``: how many of the cells are in one place; all of them where there are no places.
    """

    layer: int
    cells: int
    rank: int
    square: float
    inside: int
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
    levels: Levels, layers: Sequence[Layer], deep: int = 0
) -> tuple[tuple[Class, ...], dict[tuple[int, Axes], int]]:
    """Return the classes of residuals, and which of them each is, by layer and axes."""
    found: dict[tuple[int, int, int, int, str], int] = {}
    classes, places, numbers = list[Class](), dict[tuple[int, Axes], int](), list[int]()
    for place, layer in enumerate(layers):
        for axes, square in zip(layer.axes, layer.squares, strict=True):
            many, one = cells(levels, axes), inside(levels, axes, deep)
            own = Class(place, many, rank(levels, axes, deep), square, one)
            key = (place, own.cells, own.inside, own.rank, f"{square:.{DIGITS}g}")
            if (known := found.get(key)) is None:
                known = found[key] = len(classes)
                classes.append(own)
                numbers.append(0)
            numbers[known] += 1
            places[place, axes] = known
    seen = zip(classes, numbers, strict=True)
    return tuple(replace(each, number=number) for each, number in seen), places
