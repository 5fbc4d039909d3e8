"""Kinds of places inside places: those that are alike, inside and around, may be permuted."""

from collections import Counter, defaultdict
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.values import dataclass
from halfnoise.workload.sets.tree import Tree

MOST_SPOTS = 2**9

Shape: TypeAlias = tuple[tuple[int, int], ...]  # kinds of places in one, and how many


class Spot(NamedTuple):
    """Places that are alike: their level, all kinds around, how many in one place, and in all."""

    level: int
    around: tuple[int, ...]  # from the whole on, and itself last
    each: int
    number: int


@dataclass(frozen=True)
class Spots:
    """The kinds of places in a ``tree``.

    >>> [spot.number for spot in Spots(Tree(((3,), (2, 1, 2)))).every]
    [1, 2, 1, 4, 1]
    """

    tree: Tree

    @cached_property
    def _inside(self) -> tuple[list[Shape], list[list[int]]]:
        """What there is in places, and, level by level from the whole on, which each one has."""
        known, inside, own = dict[object, int](), list[Shape]([()]), [[0] * self.tree.smallest]
        for level in reversed(self.tree.children):
            found, start = list[int](), 0
            for many in level:
                shape = tuple(sorted(Counter(own[0][start : start + many]).items()))
                found.append(known.setdefault(shape, len(inside)))
                inside += [shape] * (len(known) == len(inside))
                start += many
            own.insert(0, found)
        return inside, own

    @cached_property
    def every(self) -> list[Spot]:
        """All kinds of places, the whole first, or some where there are too many."""
        inside, ((whole,), *_) = self._inside
        every, own = [Spot(-1, (0,), 1, 1)], [whole]
        for spot, shape in zip(every, own, strict=False):  # both grow
            for kind, many in inside[shape] if len(every) <= MOST_SPOTS else ():
                around = (*spot.around, len(every))
                every.append(Spot(spot.level + 1, around, many, spot.number * many))
                own.append(kind)
        return every

    @cached_property
    def kinds(self) -> list[NDArray[np.intp]]:
        """Level by level, of which kind each place is."""
        (_, (_, *levels)), found = self._inside, list[NDArray[np.intp]]()
        above, last = np.zeros(1, dtype=np.intp), 0
        for children, shapes in zip(self.tree.children, levels, strict=True):
            own = np.repeat(above, children) * 2**32 + shapes
            above = last + 1 + np.unique(own, return_inverse=True)[1]
            last = int(above.max())
            found.append(above)
        return found

    @cached_property
    def places(self) -> list[NDArray[np.intp]]:
        """Of all kinds, which places of their level are of it, in order."""
        found = [np.zeros(1, dtype=np.intp)]
        for kinds in self.kinds:
            every = range(len(found), int(kinds.max()) + 1)
            found += [np.flatnonzero(kinds == each) for each in every]
        return found

    @cached_property
    def _under(self) -> dict[tuple[int, int], list[int]]:
        found = defaultdict[tuple[int, int], list[int]](list)
        for q, spot in enumerate(self.every):
            for around in spot.around:
                found[around, spot.level].append(q)
        return found

    def under(self, spot: int, level: int) -> list[int]:
        """Return the kinds of places of a level that are in those of a kind, or are these.

        >>> Spots(Tree(((3,), (2, 1, 2)))).under(1, 1)
        [3]
        """
        return self._under.get((spot, level), [])
