"""A residual in all places of all levels: one scale of noise, and what places have of it.

In every place the residual of the place's own table is measured, with the precision that ``paths``
says, times that of the one scale. What a person pays is the same wherever they are.

Where what is not by place, n, is private, places of the first levels are measured less their share
c of it: h = f - c n. If the sum of p c along every path is k, that is as if all were measured as
they are, and k taken from the precision of n: what places would tell of n they do not, and nobody
pays for it. So ``tree`` brings them together as ever. Shares are whole numbers by their sum, near
the best ones, what is in each place of an error in n; the last level among them is then measured so
that the sums along all paths are the same.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from halfnoise.values import dataclass
from halfnoise.workload.grid import Floats, Ring
from halfnoise.workload.sets.paths import LEAST, precisions
from halfnoise.workload.sets.tree import Pooled, Tree

WHOLE = (-1, 0)  # all places, by level and number
SLACK = Fraction(1, 2**44)
DIGITS = 9  # in which weights of levels agree that have one chain
LARGE_BITS = 18  # of what residuals are multiplied with, where all shares are alike; else of
PEOPLE_BITS, VALUE_BITS = 16, 12  # people, and of values, which have many bits themselves
LEAST_BITS, LAST_BITS = 5, 8  # of a share, on average, and where no finer level can make up for it


@dataclass(frozen=True, eq=False)
class Chain:
    """Precisions of all places at a scale of one, and shares of the first levels, if any.

    ``weights``: what a squared error in a place of each level weighs, the largest of them one.
    """

    tree: Tree
    weights: tuple[float, ...]
    precisions: tuple[Floats, ...]
    shares: tuple[Ring, ...] = ()

    @classmethod
    def plain(cls, tree: Tree, levels: int) -> "Chain":
        """Return one where all places have a precision of one, and each level its scale."""
        return cls(tree, (), tuple(np.ones(size) for size in tree.sizes[:levels]))

    def pooled(self, scales: Sequence[float] = (1.0,)) -> Pooled:
        """Return how levels come together under noise of such scales: one of each, or of all."""
        each = np.resize(scales, len(self.precisions)).tolist()
        varies = [scale**2 / own for scale, own in zip(each, self.precisions, strict=True)]
        return Pooled(self.tree, varies, _parts(self.shares))

    @cached_property
    def error(self) -> float:
        """What a squared scale weighs: all errors where the number of all people is known."""
        return self._weighed(self.pooled().spread(0.0))

    def weight(self, *, private: bool) -> float:
        """Return what a squared scale counts, with what places say of the whole, if it is private.

        What they say is taken from the price of the whole, and so makes theirs less. All that is
        in one place alone is that of the whole.
        """
        return self.error / (1 - private * self.pooled().more / float(self.along or 1))

    @cached_property
    def carried(self) -> float:
        """What a squared error in the number of all people weighs, through all places."""
        pooled = self.pooled()
        return self._weighed([pooled.carried(i) ** 2 for i in range(len(self.precisions))])

    def _weighed(self, squares: Sequence[Floats]) -> float:
        seen = zip(self.weights, squares, strict=True)
        return math.fsum(w * float(own.sum()) for w, own in seen)

    @cached_property
    def along(self) -> Fraction:
        """What the dearest person pays for the places that they are in, at a scale of one.

        A few numbers of at most one are added up, with far less rounding than the slack.
        """
        paid = np.zeros(1)
        for i, p in enumerate(self.precisions):
            free = 2 * _parts(self.shares)[i] if i < len(self.shares) else 0.0
            paid = self.tree.spread(i, paid) + p * (1 - free)
        found = Fraction(float(paid.max()) + self._taken)
        return found + SLACK if found > SLACK else Fraction(0)  # nobody moves one place alone

    @cached_property
    def _taken(self) -> float:
        return self.pooled().taken

    def paths(self, level: int) -> Floats:
        """Return the sum of precisions of all places around each of a level; -1 is the whole."""
        found = np.zeros(1)
        for i in range(min(level + 1, len(self.precisions))):
            found = self.tree.spread(i, found) + self.precisions[i]
        for i in range(len(self.precisions), level + 1):
            found = self.tree.spread(i, found)
        return found

    def shared(self, levels: Sequence[int], level: int, place: int) -> Fraction:
        """Return what two persons share of levels who agree around a place: nearly that less k."""
        found = -Fraction(self._taken)  # as 2 k are taken, and k stays
        for i in levels:
            if i <= level:
                found += Fraction(float(self.precisions[i][self.tree.above(level, i)[place]]))
        return found

    def multiplied(self, level: int) -> int:
        """Return by what a residual in the places of a level is multiplied to be whole."""
        return int(self.shares[level].sum()) if level < len(self.shares) else 1


def spots_of(tree: Tree, chains: Iterable[Chain]) -> list[tuple[int, int]]:
    """Return places, by level and number, in which two persons may agree and in no finer one.

    Of places in which they share as much of everything one will do; the whole is first.
    """
    found, several = list[tuple[int, int]](), [*dict.fromkeys(chains)]
    within = (*tree.children, (2,) * tree.sizes[-1])
    for level in range(-1, len(tree.sizes)):
        parted = np.flatnonzero(np.array(within[level + 1]) > 1)
        paths = [np.broadcast_to(own.paths(level), len(within[level + 1])) for own in several]
        each = [path[parted] for path in paths if np.ptp(path[parted]) > 0] if parted.size else []
        kinds = np.unique(each, axis=1, return_index=True)[1] if each else parted[:1] * 0
        found += [(level, int(parted[at])) for at in kinds]
    return found


def _parts(shares: Sequence[Ring]) -> list[Floats]:
    found: list[Floats] = [own.astype(np.float64) for own in shares]
    return [own / own.sum() for own in found]


class Wish(NamedTuple):
    """What a chain is to be the best for, beside the weights of levels.

    ``private``: whether what is not by place is: else the sum of all places is known. ``replaced``:
    whether people are; ``values``: whether it is of these. ``cells``: of the residual in one place.
    ``alone``: whether places have no shares.
    """

    private: bool
    replaced: bool = False
    values: bool = False
    cells: int = 1
    alone: bool = False


def chain(tree: Tree, weights: Sequence[float], wish: Wish) -> Chain:
    """Return the best for such weights of levels."""
    most = max(weights) or 1.0
    return _chain(tree, tuple(float(f"{w / most:.{DIGITS}g}") for w in weights), wish)


@lru_cache(maxsize=32)
def _chain(tree: Tree, weights: tuple[float, ...], wish: Wish) -> Chain:
    found = precisions(tree, weights, leaves=wish.private, few=wish.replaced)
    cells = math.log2(wish.cells)
    large, bits = LARGE_BITS - cells, (VALUE_BITS if wish.values else PEOPLE_BITS) - cells
    several = [Chain(tree, weights, found)]
    for top in range((wish.private and not wish.alone) * len(found)):
        least = LAST_BITS if top == len(found) - 1 else LEAST_BITS
        if shares := _shares(tree, found[: top + 1], large, bits, least):
            level = _evened(tree, found, shares)
            pairs = zip(level, found, strict=True)
            if all((own >= np.minimum(p / 2, LEAST**2)).all() for own, p in pairs):
                several.append(Chain(tree, weights, level, shares))
    return min(several, key=lambda own: own.weight(private=wish.private) * (own.along or 1))


def _evened(tree: Tree, found: tuple[Floats, ...], shares: tuple[Ring, ...]) -> tuple[Floats, ...]:
    """Return precisions for which shares that are short are the best.

    The last level that has shares is measured so that the sums of p c are the same, and the last of
    all so that paths are.
    """
    top, parts, level, path = len(shares) - 1, _parts(shares), [*found], np.zeros(1)
    for i, (own, c) in enumerate(zip(found, parts, strict=False)):
        path = tree.spread(i, path) + own * c
    level[top] = level[top] + (float(parts[top] @ path) - path) / parts[top]
    if top < len(found) - 1:
        others = np.zeros(1)
        for i, own in enumerate(level[:-1]):
            others = tree.spread(i, others) + own
        least = np.minimum(found[-1] / 2, LEAST**2)  # where the others take all there is
        level[-1] = np.maximum(1 - tree.spread(len(found) - 1, others), least)
    return tuple(level)


def _shares(
    tree: Tree, found: Sequence[Floats], large: float, bits: float, least: int
) -> tuple[Ring, ...]:
    """Return shares of all these levels, in lowest terms; none where they are too long.

    ``large``, ``bits``: how long they may be together, where all are alike, and else; ``least``:
    how many bits each of these needs.
    """
    top, size = len(found) - 1, len(found[-1])
    best = Pooled(tree, [1 / own for own in found]).carried(top)
    alike = bool(np.ptp(best) <= 1e-9 * best.max())
    more = 0 if alike else math.floor(bits - math.log2(size))
    if math.log2(size) > large or (more < least and not alike):
        return ()
    each = [np.maximum(np.rint(best * size * 2.0**more), 1).astype(np.uint64)]
    for level in reversed(range(1, top + 1)):
        each.insert(0, tree.summed(level, each[0]))
    return tuple(own // np.gcd.reduce(own) for own in each)
