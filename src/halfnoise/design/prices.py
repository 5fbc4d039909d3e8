"""Which kinds of people are priced: any of them, and any averages over them, bound all noise."""

from fractions import Fraction

from halfnoise.design.cell_prices import PricedCells
from halfnoise.design.people import adds_by_cell
from halfnoise.design.place_prices import PricedPlaces
from halfnoise.workload.grid import Grain
from halfnoise.workload.sets import Placed
from halfnoise.workload.sets.base import ContributionSet
from halfnoise.workload.sets.folding import Coordinate, Folded
from halfnoise.workload.sets.folds import folded
from halfnoise.workload.sets.squared import Squared

APART = (1, Fraction(5, 4), Fraction(3, 2), Fraction(7, 4), 2)  # two values, in halves of the range


def priced(shape: ContributionSet, most: int, *, leaves: bool) -> Folded | None:
    """Fold a set into those who are priced."""
    if isinstance(shape, Placed):
        return PricedPlaces.of(shape, most, leaves=leaves)
    if adds_by_cell(shape):
        return PricedCells.of(shape, most, leaves=leaves)
    return (
        _squares(shape, leaves=leaves)
        if isinstance(shape, Squared)
        else folded(shape, leaves=leaves)
    )


def _squares(shape: Squared, *, leaves: bool) -> Folded:
    """Fold a value, in units t of half its range from the middle, and its square t^2.

    Either sign of t is as likely to be measured, so that the value is a direction of its own beside
    who answered, and how far squares are beyond half the largest. What somebody costs is convex in
    t^2: who is at an end or in the middle costs most. Of two whose values are u apart the squares
    are farthest, u (2 - u), if one is at an end; both grow up to u = 1. Some u beyond are priced.
    """
    half, far = Fraction(shape.width) / 2, shape.largest
    kinds = [(1, far / 2, half**2), (1, -far / 2, Fraction(0))]  # answered, square, value squared
    if leaves:
        kinds.append((0, Fraction(0), Fraction(0)))
    else:
        kinds += [(0, u * (2 - u) * far, (u * half) ** 2) for u in APART]
        kinds += [(-answered, -square, value) for answered, square, value in kinds]
    answered, squares = (tuple(Fraction(kind[i]) for kind in kinds) for i in (0, 1))
    width = Fraction(shape.width)
    return Folded(
        shape=shape,
        coordinates=(
            Coordinate(answered, Fraction(1, 2), width**2, Grain.PEOPLE),
            Coordinate(squares, Fraction(0), 1 / width**2, Grain.VALUES),
        ),
        across=tuple((value,) for _, _, value in kinds),
        weights=(1,),
    )
