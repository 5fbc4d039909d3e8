"""Tables and their residuals: a table with its mean taken away along every axis.

With v_i categories along axis i, N_A = prod v_i cells in a table A, and C_i = I - J/v_i, the
residual of A is  h_A = (kron of C_i, i in A) f_A, and every table is made of those of its margins:

    f_B[x] = sum over A within B of  h_A[x_A] / N_(B - A),   as I = C_i + J/v_i on every axis of B.

One person moves h_A by a vector of squared length D_A = prod (1 - 1/v_i), whatever their cell. The
empty set is the number of people.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def closure(tables: Iterable[Axes]) -> tuple[Axes, ...]:
    """Return tables and all their margins, each once, small ones first."""
    found = {margin for table in tables for margin in within(table)}
    return tuple(sorted(found, key=lambda axes: (len(axes), axes)))


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


def rank(levels: Levels, axes: Iterable[int]) -> int:
    """Return m, how many dimensions a residual has: it sums to zero along every axis."""
    return math.prod([levels[axis] - 1 for axis in axes])


def distance(levels: Levels, axes: Axes) -> Fraction:
    """Return D, what one person adds to the squared length of a residual."""
    return Fraction(rank(levels, axes), cells(levels, axes))


def overlap(levels: Levels, axes: Axes, differ: Iterable[int]) -> Fraction:
    """Return how a person's residual lies to that of one whose cell differs in these attributes.

    Their inner product, prod (1 - 1/v_i) over axes that agree and -1/v_i over those that differ.
    """
    apart = set(differ)
    each = (Fraction(-1 if i in apart else levels[i] - 1, levels[i]) for i in axes)
    return math.prod(each, start=Fraction(1))


def squares(levels: Levels, wanted: Iterable[tuple[Axes, float]]) -> dict[Axes, float]:
    """Return r^2 of every residual: over wanted tables that hold it, a cell's weight over N."""
    found: defaultdict[Axes, float] = defaultdict(float)
    for table, weight in wanted:
        share = weight / cells(levels, table)
        for axes in within(table):
            found[axes] += share
    return dict(found)


def centred(table: Ring) -> Ring:
    """Return N_A h_A, whole numbers modulo 2^64: v x - (sum over the axis), along every axis.

    The first axis is that of groups.
    """
    for axis in range(1, table.ndim):
        table = table * np.uint64(table.shape[axis]) - table.sum(axis, np.uint64, keepdims=True)
    return table


def projected(table: Floats) -> Floats:
    """Return a residual with what its noise adds to its means taken away."""
    for axis in range(1, table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def summed(table: Ring, axes: Axes, margin: Axes) -> Ring:
    """Return a margin of a table."""
    gone = tuple(1 + place for place, axis in enumerate(axes) if axis not in margin)
    return table.sum(gone, np.uint64) if gone else table


def made_of(levels: Levels, table: Axes, residuals: Mapping[Axes, Floats]) -> Floats:
    """Return a table from the residuals of its margins."""
    rows = len(residuals[()])
    made = np.zeros((rows, *(levels[axis] for axis in table)))
    for axes in within(table):
        shape = [levels[axis] if axis in axes else 1 for axis in table]
        others = cells(levels, (axis for axis in table if axis not in axes))
        made += residuals[axes].reshape(rows, *shape) / others
    return made


def flat(table: NDArray[Value]) -> NDArray[Value]:
    """Return a table with all its cells in one row for each group, of which there may be none."""
    return table.reshape(len(table), math.prod(table.shape[1:]))


def shaped(levels: Levels, axes: Axes) -> Sequence[int]:
    """Return how many categories a table has along each of its axes."""
    return [levels[axis] for axis in axes]
