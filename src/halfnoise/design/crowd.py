"""People who are in several groups, or who change group: everybody who moves more than one.

All groups are alike, so of each coordinate only the total over groups and what lies across them
are told apart. A person who adds z_g in some groups moves the total by  S = sum of z_g,  and what
lies across by  sum of z_g z_g' - S S'/m  where there are m groups. What lies across coordinates
within a group is permuted in each group by itself, so of different groups it is independent.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from halfnoise.design.people import People, Size
from halfnoise.design.programme import Programme
from halfnoise.privacy.definitions import Neighbors
from halfnoise.values import dataclass
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats
from halfnoise.workload.groups import Grouping

MOST_SQUARES = 2**20  # numbers in the squares of what everybody moves
FEW = 32  # numbers of groups that are tried, of those who are alike in all of theirs
Signs: TypeAlias = tuple[int, ...]
Fold: TypeAlias = Callable[[Sequence[Block], Size, float], People | None]


@dataclass(frozen=True)
class Crowd:
    """Who moves what in ``groups`` groups: people of a kind in each of up to ``most`` of them.

    ``changed``: where people are replaced, what can change within one group; else None.
    """

    one: People
    changed: People | None
    groups: int
    most: int
    alike: bool = False  # whether only those are listed who are alike in all of their groups

    @classmethod
    def of(
        cls,
        grouping: Grouping | None,
        neighbors: Neighbors,
        blocks: Sequence[Block],
        size: Size,
        interest: float,
        *,
        fold: Fold = People.of,
        some: bool = False,
    ) -> "Crowd | None":
        """List everybody; None where there are too many, or groups are not listed.

        ``interest``: what sizes weigh. ``fold``: who is listed in one group. ``some``: where there
        are too many, those who are alike in all of their groups will do.
        """
        if grouping is None or grouping.number is None:
            return None
        changed, most = None, grouping.most
        one = fold(blocks, size, interest)
        if neighbors is Neighbors.REPLACE:
            changed, most = fold(blocks, Size.PUBLIC, 0.0), 2
            if changed is None:
                return None
        if one is None:
            return None
        most = min(most, grouping.number)
        many = _number(len(one.distances), most) * one.rows.shape[1] ** 2 > MOST_SQUARES
        return None if many and not some else cls(one, changed, grouping.number, most, many)

    def on(self, blocks: Sequence[Block]) -> "Crowd":
        """Return the same where bounds are on the grid."""
        changed = None if self.changed is None else self.changed.on(blocks)
        return Crowd(self.one.on(blocks), changed, self.groups, self.most, self.alike)

    @cached_property
    def _who(self) -> list[tuple[Signs, np.ndarray]]:
        """In how many groups people are, with which sign, and of which kinds.

        Who is replaced leaves one group and enters another; or comes from, or goes to, none.
        """
        kinds, found = range(len(self.one.distances)), []
        for number in self._numbers:
            several = [(kind,) * number for kind in kinds]
            if not self.alike:
                several = list(itertools.combinations_with_replacement(kinds, number))
            leaves = self.changed is not None and number > 1
            found.append(((1, -1) if leaves else (1,) * number, np.array(several)))
        return found

    @property
    def _numbers(self) -> Sequence[int]:
        """In how many groups people are; a few such numbers for those who are alike in all.

        At prices a along and b across, j of m groups cost j^2 a/m + j(1 - j/m) b, which grows up to
        the half of them.
        """
        least = max(1, min(self.most, self.groups // 2))
        if not self.alike or self.changed is not None:
            return range(1, self.most + 1)
        return range(self.most, least - 1, -1 - (self.most - least) // FEW)

    def moved(self, one: Floats, changed: Floats | None, *, across: bool) -> Floats:
        """Return squared moves of totals, or of what lies across groups, from moves in one."""
        found = list[Floats]()
        rows = [one[who] * np.array(signs)[:, None] for signs, who in self._who]
        rows += [] if changed is None else [changed[:, None, :]]
        for each in rows:
            added = each.sum(axis=1)
            if not across:
                found.append(added**2)
                continue
            mean, others = added / self.groups, self.groups - each.shape[1]
            found.append(((each - mean[:, None]) ** 2).sum(axis=1) + others * mean**2)
        return np.concatenate(found)

    @cached_property
    def distances(self) -> Floats:
        """What lies across within groups: of everybody, what all scales are charged with."""
        found = [self.one.distances[who].sum(axis=1) for _, who in self._who]
        return np.concatenate([*found, *([] if self.changed is None else [self.changed.distances])])

    @property
    def asked(self) -> tuple[list[Floats], Floats]:
        """What squared errors weigh: of totals, of what lies across groups, and in each group."""
        m, (weights, line_weights) = self.groups, self.one.asked
        own = [self.one.weights] * bool(self.one.weights.size)
        both = [times * weight for weight in own for times in (1, m - 1)[: min(m, 2)]]
        return [*both, *(m * weight for weight in weights[len(own) :])], m * line_weights

    def weighed(self, blocks: Sequence[Block], interest: float) -> "Crowd":
        """Return the same people where squared errors weigh otherwise."""
        one = self.one.weighed(blocks, interest)
        return Crowd(one, self.changed, self.groups, self.most, self.alike)

    @cached_property
    def programme(self) -> Programme:
        """What noise to look for: on totals over groups, divided by sqrt(m), and across them."""
        one, several = self.one, self._who
        rows = [one.rows[who] * np.array(signs)[:, None] for signs, who in several]
        spreads = [one.spread[who].sum(axis=1) for _, who in several]
        if (changed := self.changed) is not None:
            units = zip(changed.units, one.units, strict=True)
            ratio = np.array([own / unit for (_, own), (_, unit) in units])
            none = one.rows.shape[1] - changed.rows.shape[1]
            rows.append(np.pad(changed.rows * ratio, ((0, 0), (0, none)))[:, None, :])
            spread = changed.spread * np.outer(ratio, ratio)
            spreads.append(np.pad(spread, ((0, 0), (0, none), (0, none))))
        along, across = list[Floats](), list[Floats]()
        for each, spread in zip(rows, spreads, strict=True):
            total = each.sum(axis=1)
            share = (np.einsum("ki,kj->kij", total, total) + spread) / self.groups
            along.append(share)
            across.append(np.einsum("kgi,kgj->kij", each, each) + spread - share)
        levels = (along, across)[: min(self.groups, 2) if one.weights.size else 0]
        moved = [np.concatenate(each) for each in levels]
        for place, each in enumerate(one.matrices):  # each group has its own
            more = [] if changed is None else [changed.matrices[place]]
            moved.append(np.concatenate([*(each[who].sum(axis=1) for _, who in several), *more]))
        weights, line_weights = self.asked
        return Programme(
            moved=moved, weights=weights, distances=self.distances, line_weights=line_weights
        )


def _number(kinds: int, most: int) -> int:
    """Return how many ways there are to be of one of some kinds in each of up to so many groups."""
    return sum(math.comb(kinds + number - 1, number) for number in range(1, most + 1))
