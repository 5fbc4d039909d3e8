"""Tables of attributes of so many categories."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import halfnoise as hn

MU = hn.GaussianDP(mu=1)
# The attributes of three data sets that others publish errors for.
ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
CPS = (50, 100, 7, 4, 2)
LOANS = (101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15)


def axes(levels: Sequence[int]) -> list[hn.Choice]:
    """Return choices of so many categories, the one for all others among them."""
    return [hn.Choice(f"a{i}", [f"c{j}" for j in range(v - 1)]) for i, v in enumerate(levels)]


def tables(
    levels: Sequence[int], orders: Iterable[int], *, each_cell: bool = False, **said: Any
) -> list[Any]:
    """Return all tables of so many attributes; of importance one, or one for ``each_cell``."""
    attributes, found = axes(levels), []
    for order in orders:
        for own in itertools.combinations(attributes, order):
            cells = 1
            for axis in own if each_cell else ():
                cells *= len(axis.names)
            given = {"importance": float(cells), "margins": 0.0} | said
            found.append(hn.Table(own, **given))
    return found
