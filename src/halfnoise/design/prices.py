"""Which kinds of people are priced: any of them, and any averages over them, bound all noise."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from halfnoise.design.at_prices import Optimum
from halfnoise.design.cell_moments import Averaged
from halfnoise.design.cell_prices import PricedCells
from halfnoise.design.cells import MOST_NUMBERS as MOST_SHARED
from halfnoise.design.cells import Cells
from halfnoise.design.duality import CLOSE, solve
from halfnoise.design.people import MOST_KINDS, People, Size, adds_by_cell
from halfnoise.values import replace
from halfnoise.workload.block import Block
from halfnoise.workload.sets import Box, Placed
from halfnoise.workload.sets.base import ContributionSet
from halfnoise.workload.sets.folding import Folded
from halfnoise.workload.sets.folds import folded
from halfnoise.workload.sets.squared import Squared
from halfnoise.workload.sets.varying import Varying

ENDS = [(Fraction(u), Fraction(u)) for u in (1, 2)]  # of the curve of two values and their squares

Priced: TypeAlias = tuple[People, Optimum]
MOST_CHANGES = 2**14  # of places inside places, and of all else beside them
MOST_EXACT = 2**18  # numbers in all matrices where each of several errors is to be exact
MANY, ROUGH = 2**10, 3e-3  # how near the best will do for how many kinds
MOST_AVERAGES, MOST_NUMBERS = 1500, 2**20  # over sums that are unlike, and in all their matrices


def priced(shape: ContributionSet, most: int, *, leaves: bool) -> Folded | None:
    """Fold a set into those who are priced."""
    if isinstance(shape, Placed) and (some := Cells.of(shape, most, leaves=leaves, some=True)):
        return some
    if isinstance(shape, Placed) or adds_by_cell(shape):
        return PricedCells.of(shape, most, leaves=leaves)
    if isinstance(shape, Squared):
        return Varying.of(shape, ENDS, leaves=leaves)
    return folded(shape, leaves=leaves)


@lru_cache(maxsize=4)  # for the bound, and for the noise that is near it
def in_spots(blocks: tuple[Block, ...], size: Size, interest: float, close: float) -> Priced | None:
    """Return everybody in places inside places of few kinds, and what is the best for them."""
    most = MOST_CHANGES if size is Size.PUBLIC else MOST_KINDS
    people = People.of(blocks, size, interest, fold=listed, most=most)
    numbers = MOST_SHARED if close >= CLOSE else MOST_EXACT
    if people is None or people.programme.numbers > numbers:
        return None
    many = close >= CLOSE and len(people.distances) > MANY
    return people, solve(people.programme.lifted, ROUGH if many else close)


def listed(shape: ContributionSet, most: int, *, leaves: bool) -> Folded | None:
    """Fold a set so that everybody is listed, where values and places may share noises."""
    if isinstance(shape, Placed) or adds_by_cell(shape):
        return Cells.of(shape, most, leaves=leaves)
    return folded(shape, leaves=leaves)


def loosely(blocks: Sequence[Block], size: Size, interest: float) -> People | None:
    """Price averages over people who differ by a permutation of sums that are *not* alike.

    The sums that lean most on the number of people, as many as can be, are told apart. Of m others
    so many are at the end farther from zero, all choices alike: with signs z that are t on average,
    those of two have the average  (m t^2 - 1)/(m - 1),  and so vary by  (t^2 - 1)/(m - 1).
    """
    alone = [b for b in blocks if isinstance(b.shape, Box) and b.shape.size == 1]
    others = [b for b in blocks if not (isinstance(b.shape, Box) and b.shape.size == 1)]
    rest = People.of(others, size, interest, fold=priced, most=MOST_AVERAGES)
    if rest is None or size is Size.PUBLIC:
        return None
    alone.sort(key=lambda b: b.importance * float(b.shape.midpoint) ** 2)
    d, kinds = len(alone), math.prod(len(fold.across) for fold in rest.folds)
    most = min(MOST_AVERAGES, MOST_NUMBERS // (d + len(rest.order) + 1) ** 2)
    many = next((m for m in range(2, d + 1) if kinds * (m + 1) << (d - m) <= most), None)
    if many is None:
        return None
    high = np.array([*itertools.product(range(many + 1), *[(-1.0, 1.0)] * (d - many))])
    mean = np.hstack([np.repeat(2 * high[:, :1] / many - 1, many, axis=1), high[:, 1:]])
    varies = np.zeros((len(mean), d, d))
    varies[:, :many, :many] = ((mean[:, 0] ** 2 - 1) / (many - 1))[:, None, None]
    varies[:, range(d), range(d)] = 1 - mean**2
    found = [fold.coordinates[0] for b in alone if (fold := folded(b.shape, leaves=True))]
    middle, half = np.array([(float(each.middle), float(each.half)) for each in found]).T
    unit = half if size is not Size.UNUSED else half + abs(middle)
    sign, middle = np.where(middle < 0, -half, half) / unit, middle * (size is Size.UNUSED) / unit
    fold = Averaged(
        shape=alone[0].shape,
        coordinates=tuple(
            replace(x, weight=b.importance) for x, b in zip(found, alone, strict=True)
        ),
        across=np.zeros((len(mean), 0)),
        weights=(),
        added=middle + sign * mean,
        varies=varies * np.outer(sign, sign),
    )
    return People((*others, replace(alone[0], importance=1.0)), (*rest.folds, fold), size, interest)
