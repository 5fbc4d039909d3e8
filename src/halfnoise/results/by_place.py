"""Errors of the cells of a table, or of some: by place, where it is by places; else all alike."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.placed_errors import PlacedErrors
from halfnoise.results.inference import Errors, Floats
from halfnoise.results.pairs import Pairs

Places: TypeAlias = NDArray[np.intp]


def each(errors: Errors, table: int, level: float) -> tuple[Floats, Floats]:
    """Return standard errors and margins of a table's cells, by place; one if by no places.

    ``table``: where it starts.
    """
    variances = errors.covariance.matched(table, table)
    return _first(errors, table, level) if len(variances) == 1 else _all(errors, variances, level)


def beside(
    errors: Errors, table: int, other: int, spread: Callable[[Floats], Floats]
) -> Errors | Pairs:
    """Return the errors of a table's cells, each with what it is part of.

    ``spread``: what numbers of places become for all cells.
    """
    covariance, copies = errors.covariance, errors.copies
    shared = covariance.matched(table, other)
    if len(shared) == 1:
        return errors.both(table, other)
    top, bottom = (covariance.matched(each, each) for each in (table, other))
    around = covariance.around(table, other)
    tops, bottoms, both = (spread(copies * x) for x in (top, bottom[around], shared))
    return Pairs(tops, bottoms, both)


def total(errors: Errors, table: int, chosen: Sequence[Sequence[int]]) -> Errors:
    """Return the errors of the total over a block of cells, alone; of a choice, which is by one."""
    if errors.covariance.in_tables(table):
        return errors.two(errors.covariance.block(table, table, chosen), 0.0, 0.0)
    return errors.alone({table + each: 1.0 for each in chosen[0]})


def weighted(errors: Errors, table: int, w: Floats) -> Errors:
    """Return the errors of a weighted sum of all cells, alone."""
    if errors.covariance.in_tables(table):
        return errors.two(errors.covariance.weighted(table, w), 0.0, 0.0)
    return errors.alone({table + place: each for place, each in enumerate(w.tolist())})


def some(errors: Errors, cells: Places, level: float) -> tuple[Floats, Floats]:
    """Return standard errors and margins of some cells of a table; one if all are alike."""
    if not isinstance(errors.covariance.tables, PlacedErrors):
        return _first(errors, int(cells[0]), level)
    return _all(errors, errors.covariance.diagonal()[cells], level)


def some_beside(errors: Errors, tops: Places, bottoms: Places) -> Errors | Pairs:
    """Return the errors of pairs of estimates; of the first, if all are alike."""
    if not isinstance(errors.covariance.tables, PlacedErrors):
        return errors.both(int(tops[0]), int(bottoms[0]))
    both = zip(tops.tolist(), bottoms.tolist(), strict=True)
    shared = np.array([errors.covariance.between(a, b) for a, b in both])
    own, copies = errors.covariance.diagonal(), errors.copies
    return Pairs(copies * own[tops], copies * own[bottoms], copies * shared)


def _first(errors: Errors, place: int, level: float) -> tuple[Floats, Floats]:
    one = {place: 1.0}
    return np.array([errors.std(one)]), np.array([errors.margin(one, level)])


def _all(errors: Errors, variances: Floats, level: float) -> tuple[Floats, Floats]:
    std = np.sqrt(errors.copies * np.maximum(variances, 0.0))
    return std, errors.noise.margin([1.0], level) * std
