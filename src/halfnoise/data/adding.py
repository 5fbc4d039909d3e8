"""From people and their categories to the cells of all tables, in whole numbers.

Added up, piece by piece, are those tables that are no margin of others; margins are their sums.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.workload.grid import Ring
from halfnoise.workload.sets.residuals import Axes, Levels, cells, maximal, summed

Whole: TypeAlias = NDArray[np.int64]

_PIECE = 2**17  # rows at once, so that what is computed of them stays near


def added(
    levels: Levels,
    tables: Sequence[Axes],
    own: Ring | None,
    people: Sequence[tuple[Axes, Whole]],
    groups: tuple[Whole | None, int],
) -> dict[Axes, Ring]:
    """Return tables, of ranks, with a row for each group.

    ``own``: what each row adds, one if not said; ``people``: for some attributes after others, the
    ranks of each row in one number; ``groups``: in which one each row is, and how many there are.

    >>> word = np.array([0, 5, 5], dtype=np.int64)  # of (0, 0) and, twice, of (1, 2)
    >>> found = added((2, 3), [(0,), (1,)], None, [((0, 1), word)], (None, 1))
    >>> found[0,].tolist(), found[1,].tolist()
    ([[1, 2]], [[1, 0, 2]])
    """
    at, number = groups
    flat = {
        axes: np.zeros(number * cells(levels, axes), dtype=np.uint64) for axes in maximal(tables)
    }
    for start in range(0, len(people[0][1]), _PIECE):
        piece = slice(start, start + _PIECE)
        ranks = _ranks(levels, [(axes, word[piece]) for axes, word in people])
        group = np.zeros_like(people[0][1][piece]) if at is None else at[piece]
        adds = np.uint64(1) if own is None else own[piece]
        outer, before = Axes(), group
        for *others, last in sorted(flat):
            if outer != tuple(others):  # else as in the table before
                outer, before = tuple(others), _place(levels, others, ranks, group)
            place = _place(levels, [last], ranks, before)
            np.add.at(flat[*outer, last], place, adds)
    shaped = {
        axes: table.reshape(number, *(levels[axis] for axis in axes))
        for axes, table in flat.items()
    }
    return with_margins(levels, shaped, tables)


def with_margins(
    levels: Levels, largest: Mapping[Axes, Ring], tables: Iterable[Axes]
) -> dict[Axes, Ring]:
    """Return tables and their margins, each summed from the smallest that holds it."""
    found, smallest = dict(largest), dict[Axes, Axes]()
    for axes in sorted({*tables, *largest}, key=len, reverse=True):
        if axes not in found:
            found[axes] = summed(found[smallest[axes]], smallest[axes], axes)
        for gone in range(len(axes)):
            margin = axes[:gone] + axes[gone + 1 :]
            known = smallest.setdefault(margin, axes)
            smallest[margin] = min(known, axes, key=lambda table: cells(levels, table))
    return found


def _place(levels: Levels, axes: Sequence[int], ranks: Mapping[int, Whole], before: Whole) -> Whole:
    """Return the cell of each row, in a table by some attributes after those before."""
    place = before
    for axis in axes:
        place = place * levels[axis] + ranks[axis]
    return place


def _ranks(levels: Levels, people: Sequence[tuple[Axes, Whole]]) -> dict[int, Whole]:
    """Return the rank of each person's category in each attribute."""
    ranks = {}
    for axes, word in people:
        rest = word
        for axis in reversed(axes):
            others = rest // levels[axis]
            ranks[axis], rest = rest - others * levels[axis], others
    return ranks
