"""Tables and their residuals: a table with its mean taken away along every axis.

With v_i categories along axis i, N_A = prod v_i cells in a table A, and C_i = I - J/v_i, the
residual of A is  h_A = (kron of C_i, i in A) f_A, and every table is made of those of its margins:

    f_B[x] = sum over A within B of  h_A[x_A] / N_(B - A),   as I = C_i + J/v_i on every axis of B.

One person moves h_A by a vector of squared length D_A = prod (1 - 1/v_i), whatever their cell. The
empty set is the number of people.

The first ``deep`` attributes may be levels of one that is nested, coarse ones first: a table is by
one of them at most, and a margin of it by that one, a coarser one or none. What is said above holds
in each place by itself; what is taken away along places says ``chains``.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from halfnoise.workload.grid import Floats, Ring

Value = TypeVar("Value", np.uint64, np.float64)
Axes: TypeAlias = tuple[int, ...]  # of a table, in order; () is the number of people
Levels: TypeAlias = tuple[int, ...]  # how many categories each axis has


def within(table: Axes) -> Iterator[Axes]:
    """List a table and all its margins, the number of people first.

    >>> list(within((0, 2)))
    [(), (0,), (2,), (0, 2)]
    """
    numbers = range(len(table) + 1)
    return itertools.chain.from_iterable(itertools.combinations(table, k) for k in numbers)


def place_of(table: Axes, deep: int) -> Axes:
    """Return the level of places that a table is by, if it is by one."""
    return table[:1] if table and table[0] < deep else ()


def margins_of(table: Axes, deep: int) -> Iterator[Axes]:
    """List a table and all its margins, by coarser places too.

    >>> list(margins_of((1, 4), 3))
    [(), (4,), (0,), (0, 4), (1,), (1, 4)]
    """
    own = place_of(table, deep)
    if not own:
        return within(table)
    coarser = [(), *((level,) for level in range(own[0] + 1))]
    inner = list(within(table[len(own) :]))
    return ((*place, *axes) for place in coarser for axes in inner)


def made_from(table: Axes, deep: int) -> Iterator[Axes]:
    """List the residuals that a table is made of: those of its margins in the same place."""
    own = place_of(table, deep)
    return ((*own, *axes) for axes in within(table[len(own) :]))


def maximal(tables: Iterable[Axes]) -> tuple[Axes, ...]:
    """Return those tables that are no margin of another.

    >>> maximal([(0,), (1,), (0, 2), (2,)])
    ((1,), (0, 2))
    """
    largest: list[Axes] = []
    inner: set[Axes] = set()
    for table in sorted(set(tables), key=len, reverse=True):
        if table not in inner:
            largest.append(table)
            inner.update(within(table))
    return tuple(sorted(largest, key=lambda axes: (len(axes), axes)))


def cells(levels: Levels, axes: Iterable[int]) -> int:
    """Return N, the number of cells of a table."""
    return math.prod([levels[axis] for axis in axes])


def inside(levels: Levels, axes: Iterable[int], deep: int = 0) -> int:
    """Return how many cells of a table are in one place."""
    return math.prod([levels[axis] for axis in axes if axis >= deep])


def rank(levels: Levels, axes: Iterable[int]) -> int:
    """Return m, how many dimensions a residual has: it sums to zero along every axis."""
    return math.prod([levels[axis] - 1 for axis in axes])


def distance(levels: Levels, axes: Axes) -> Fraction:
    """Return D, what one person adds to the squared length of a residual."""
    return Fraction(rank(levels, axes), cells(levels, axes))


def squares(
    levels: Levels, wanted: Iterable[tuple[Axes, float]], deep: int = 0
) -> dict[Axes, float]:
    """Return r^2 of every residual: over wanted tables that hold it, a cell's weight over N."""
    found: defaultdict[Axes, float] = defaultdict(float)
    for table, weight in wanted:
        share = weight / cells(levels, table)
        for axes in margins_of(table, deep):
            found[axes] += share
    return dict(found)


def centred(table: Ring, first: int = 1) -> Ring:
    """Return N_A h_A, whole numbers modulo 2^64: v x - (sum over the axis), along every axis.

    The axes before the ``first`` are those of groups and places.
    """
    for axis in range(first, table.ndim):
        table = table * np.uint64(table.shape[axis]) - table.sum(axis, np.uint64, keepdims=True)
    return table


def projected(table: Floats, first: int = 1) -> Floats:
    """Return a residual with what its noise adds to its means taken away."""
    for axis in range(first, table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def summed(table: Ring, axes: Axes, margin: Axes) -> Ring:
    """Return a margin of a table."""
    gone = tuple(1 + place for place, axis in enumerate(axes) if axis not in margin)
    return table.sum(gone, np.uint64) if gone else table


def made_of(levels: Levels, table: Axes, residuals: Mapping[Axes, Floats], deep: int = 0) -> Floats:
    """Return a table from the residuals of its margins."""
    rows = len(residuals[()])
    made = np.zeros((rows, *(levels[axis] for axis in table)))
    for axes in made_from(table, deep):
        shape = [levels[axis] if axis in axes else 1 for axis in table]
        others = cells(levels, (axis for axis in table if axis not in axes))
        made += residuals[axes].reshape(rows, *shape) / others
    return made


def flat(table: NDArray[Value]) -> NDArray[Value]:
    """Return a table with all its cells in one row for each group, of which there may be none."""
    return table.reshape(len(table), math.prod(table.shape[1:]))
