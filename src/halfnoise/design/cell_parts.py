"""A part of places inside places: residuals in all places of one kind, and what those like it have.

There are as many of a kind in each place around them, and what these are apart is measured.
"""

from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.workload.grid import Floats, Ring
from halfnoise.workload.sets.residuals import Axes, projected

Own: TypeAlias = tuple[int, int]  # of a coordinate, the kind of place and the layer
Kinds: TypeAlias = NDArray[np.intp]  # of everybody, the state by value, and last the place


class CellPart(NamedTuple):
    """Residuals that are alike, in places of a kind: of what, and what squared errors weigh."""

    axes: tuple[Axes, ...]
    spot: int
    own: tuple[Own, ...]
    weights: tuple[tuple[float, ...], ...]
    places: int
    each: int  # of them in one place around; 1 of the whole
    cells: int
    rank: int

    @property
    def about(self) -> tuple[Any, ...]:
        """Of what they are: all but what errors weigh."""
        return self.axes, self.spot, self.own

    @property
    def apart(self) -> Fraction:
        """By how much somebody moves what like places are apart, of what they add, squared."""
        return Fraction(self.each - 1, self.each) if self.spot else Fraction(1)

    @property
    def distance(self) -> Fraction:
        """What one person adds to the squared lengths of all of them."""
        return self.apart * Fraction(len(self.axes) * self.rank, self.cells)

    @property
    def times(self) -> int:
        """By what a part is multiplied to be whole."""
        return self.each * self.cells

    def less_mean(self, table: Ring) -> Ring:
        """Return what all places, along the second axis, have beyond the mean of those like them.

        It is multiplied with how many these are.
        """
        if self.spot == 0:
            return table
        like = table.reshape(len(table), -1, self.each, *table.shape[2:])
        apart = like * np.uint64(self.each) - like.sum(axis=2, dtype=np.uint64, keepdims=True)
        return np.asarray(apart.reshape(table.shape))

    def projected(self, noisy: Floats) -> Floats:
        """Return what was measured in all places, with what noise adds to means taken away."""
        if self.spot:
            like = noisy.reshape(len(noisy), -1, self.each, *noisy.shape[2:])
            noisy = (like - like.mean(axis=2, keepdims=True)).reshape(noisy.shape)
        return projected(noisy, 2)
