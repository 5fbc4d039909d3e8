"""Places inside places: each level measured by itself, and all of them made one.

In every place of every level its own number is measured, with noise of variance v of that level.
What places say adds up only nearly, so all of it is brought together by least squares, in two
passes (``Pooled``). Up: a place has a number from below alone, of variance u, where its own
measurement and the sum of those inside it are weighed; down: what the place above says beyond
what these add up to is shared out among them, to each the more the less it is sure of itself:

    u = 1/(1/v + 1/sum u_c),   z = u (y/v + sum z_c / sum u_c);   in the smallest u = v, z = y
    f_c = z_c + g_c (f - sum z_c),   g_c = u_c / sum u_c,   Var_c = u_c (1 - g_c) + g_c^2 Var.

So the numbers inside a place add up to its own. Noise e_c of variance u_c in every place, each
independent of all others, makes the same errors:  f_c = e_c + g_c (f - sum e_c).
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from halfnoise.values import dataclass
from halfnoise.workload.grid import Floats

Value = TypeVar("Value", np.uint64, np.float64)
Children: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Tree:
    """``children``: level by level, into how many places each place is parted; first, all of it.

    Places of a level stand in the order of those that they are in.

    >>> Tree(((2,), (1, 3))).sizes
    (2, 4)
    """

    children: Children

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many places each level has."""
        return tuple(map(sum, self.children))

    @property
    def smallest(self) -> int:
        """How many places there are of the last level; without levels, one."""
        return self.sizes[-1] if self.sizes else 1

    @cached_property
    def _parted(self) -> list[NDArray[np.int64]]:
        return [np.array(each, dtype=np.int64) for each in self.children]

    @cached_property
    def starts(self) -> list[NDArray[np.int64]]:
        """Where, in its level, the first place inside each one stands."""
        return [np.cumsum((0, *each[:-1])) for each in self.children]

    def summed(self, level: int, x: NDArray[Value], axis: int = 0) -> NDArray[Value]:
        """Return what the places of a level come to in those of the level above.

        >>> Tree(((2,), (1, 3))).summed(1, np.array([5.0, 1.0, 2.0, 3.0])).tolist()
        [5.0, 6.0]
        """
        return np.add.reduceat(x, self.starts[level], axis=axis)

    def spread(self, level: int, x: NDArray[Value], axis: int = 0) -> NDArray[Value]:
        """Return, for each place of a level, what stands at the place that it is in."""
        return x.repeat(self._parted[level], axis)

    def above(self, level: int, over: int) -> NDArray[np.int64]:
        """Return which place of a level over another each place of the other is in."""
        found = np.arange(self.sizes[over])
        for each in range(over + 1, level + 1):
            found = np.repeat(found, self.children[each])
        return found


NOWHERE = Tree(())


@dataclass(frozen=True, eq=False)
class Pooled:
    """A tree whose places are measured with noise of so large ``variances``, level by level.

    Where it has fewer levels than the tree, finer ones are not measured. The whole, which is no
    level, is brought in from outside: its number and variance are the ``top`` below.

    ``shares``: of the first levels, the part c of the whole that was taken from each place, the sum
    of c/v along every path being one number k (``chains``). As c'D y, k times what they would tell
    of the whole, is noise alone then, least squares are those of places measured as they are and a
    whole that is measured with k less precision.
    """

    tree: Tree
    variances: Sequence[Floats]
    shares: Sequence[Floats] = ()

    @cached_property
    def own(self) -> list[Floats]:
        """The variance u of each place from below alone."""
        last = len(self.variances) - 1
        found = [np.asarray(self.variances[last])]
        for level in reversed(range(last)):
            both = 1 / self.variances[level] + 1 / self.tree.summed(level + 1, found[0])
            found.insert(0, 1 / both)
        return found

    @cached_property
    def gains(self) -> list[Floats]:
        """How much of what is above goes to each place: those in one place add up to one."""
        tree = self.tree
        return [u / tree.spread(i, tree.summed(i, u)) for i, u in enumerate(self.own)]

    @property
    def below(self) -> float:
        """The variance of what all places of the first level come to."""
        return float(self.own[0].sum())

    @cached_property
    def taken(self) -> float:
        """The precision k with which places would tell the whole, had nothing been taken."""
        seen = zip(self.shares, self.variances, strict=False)
        return math.fsum(float((c**2 / v).sum()) for c, v in seen)

    @property
    def more(self) -> float:
        """What places say of the whole, as a precision."""
        return 1 / self.below - self.taken

    def top(self, variance: float) -> float:
        """Return the variance of the whole, which is measured with such noise itself."""
        return 1 / (1 / variance + self.more) if variance else 0.0

    def whole(self, noisy: Sequence[Floats], top: Floats) -> list[Floats]:
        """Return what was measured of all places, with what was taken from them put back."""
        if not self.shares:
            return [*noisy]
        seen = zip(self.shares, self.variances, noisy, strict=False)
        less = sum(np.einsum("p,gp...->g...", c / v, y) for c, v, y in seen) / self.taken
        back = zip(self.shares, noisy, strict=False)
        found = [y + _wide(c, y) * (top - less)[:, np.newaxis] for c, y in back]
        return [*found, *noisy[len(found) :]]

    def spread(self, top: float) -> list[Floats]:
        """Return the variances of all places, level by level."""
        found = [np.array([top])]
        for level, (u, g) in enumerate(zip(self.own, self.gains, strict=True)):
            found.append(u * (1 - g) + g**2 * self.tree.spread(level, found[-1]))
        return found[1:]

    def carried(self, level: int, over: int = -1) -> Floats:
        """Return how much of a place's noise is in each place of a level in it; -1 is the whole."""
        found = np.ones(1 if over < 0 else self.tree.sizes[over])
        for each in range(over + 1, level + 1):
            found = self.gains[each] * self.tree.spread(each, found)
        return found

    def between(self, one: tuple[int, int], other: tuple[int, int], top: float) -> float:
        """Return the covariance of two places, each said by its level, -1 the whole, and number."""
        (level, place), (level_, place_) = sorted((one, other), reverse=True)
        carried = 1.0
        while level > level_:
            carried *= float(self.gains[level][place])
            level, place = level - 1, self._above(level, place)
        apart = 1.0  # of the second of two that are not one place
        while place != place_:
            u, (g, g_) = float(self.own[level][place]), self.gains[level][[place, place_]].tolist()
            up, up_ = self._above(level, place), self._above(level, place_)
            if up == up_:
                over = top if level == 0 else float(self.spread(top)[level - 1][up])
                return float(carried * apart * (g * g_ * over - u * g_))
            carried, apart, level, place, place_ = carried * g, apart * g_, level - 1, up, up_
        return carried * (top if level < 0 else float(self.spread(top)[level][place]))

    def _above(self, level: int, place: int) -> int:
        return int(np.searchsorted(self.tree.starts[level], place, side="right")) - 1

    def told(self, noisy: Sequence[Floats]) -> Floats:
        """Return what all places come to; ``noisy``: of each level an array by rows and places.

        Here and below the mean is in all of them (``whole``).
        """
        return self.tree.summed(0, self._from_below(noisy)[0], axis=1)[:, 0]

    def with_top(self, noisy: Sequence[Floats], variance: float, measured: Floats) -> Floats:
        """Return the whole, which was measured itself with noise of that variance."""
        below = self.top(variance) / self.below
        return np.asarray((1 - below) * measured + below * self.told(noisy))

    def estimates(self, noisy: Sequence[Floats], top: Floats) -> list[Floats]:
        """Return the numbers of all places, level by level."""
        found, tree = [top[:, np.newaxis]], self.tree
        for level, z in enumerate(self._from_below(noisy)):
            lacks = found[-1] - tree.summed(level, z, axis=1)
            found.append(z + _wide(self.gains[level], z) * tree.spread(level, lacks, axis=1))
        return found[1:]

    def _from_below(self, noisy: Sequence[Floats]) -> list[Floats]:
        found = [noisy[-1]]
        for level in reversed(range(len(noisy) - 1)):
            y, part = noisy[level], self.own[level] / self.variances[level]
            inner = self.tree.summed(level + 1, found[0], axis=1)
            found.insert(0, _wide(part, y) * y + _wide(1 - part, y) * inner)
        return found

    def noises(self, weights: Sequence[Floats]) -> tuple[list[Floats], Floats]:
        """Return how much of each independent noise, and of the whole, weighted sums have.

        ``weights``: for each level an array by places.
        """
        found, rest = list[Floats](), weights[-1]
        for level in reversed(range(len(weights))):
            given = self.tree.summed(level, _down(self.gains[level], rest) * rest)
            found.insert(0, rest - self.tree.spread(level, given))
            rest = given + weights[level - 1] if level else given
        return found, rest[0]

    def errors(self, noises: Sequence[Floats], top: Floats) -> list[Floats]:
        """Return what noises of the places, and one of the whole, make in all places."""
        found, tree = [top[np.newaxis]], self.tree
        for level, e in enumerate(noises):
            lacks = tree.spread(level, found[-1] - tree.summed(level, e))
            found.append(e + _down(self.gains[level], e) * lacks)
        return found[1:]


def _wide(by_place: Floats, like: Floats) -> Floats:
    """Return numbers of places so that they multiply an array by rows, places and cells."""
    return by_place.reshape(1, -1, *[1] * (like.ndim - 2))


def _down(by_place: Floats, like: Floats) -> Floats:
    return by_place.reshape(-1, *[1] * (like.ndim - 1))
