"""People who are in several groups, or who change group: everybody who moves more than one.

All groups are alike, so of each coordinate only the total over groups and what lies across them
are told apart. A person who adds z_g in some groups moves the total by  S = sum of z_g,  and what
lies across by  sum of z_g z_g' - S S'/m  where there are m groups. What lies across coordinates
within a group is permuted in each group by itself, so of different groups it is independent.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from halfnoise.design.duality import Programme
from halfnoise.design.people import People, Size
from halfnoise.privacy.definitions import Neighbors
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats
from halfnoise.workload.workload import Workload

MOST_SQUARES = 2**18  # numbers in the squares of what everybody moves
Signs: TypeAlias = tuple[int, ...]


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
        cls, workload: Workload, blocks: Sequence[Block], size: Size, *, some: bool = False
    ) -> "Crowd | None":
        """List everybody; None where there are too many, or groups are not listed.

        ``some``: where there are too many, those who are alike in all of their groups will do.
        """
        grouping = workload.grouping
        if grouping is None or grouping.number is None:
            return None
        changed, most = None, grouping.most
        one = People.of(blocks, size, workload.size_weight)
        if workload.neighbors is Neighbors.REPLACE:
            changed, most = People.of(blocks, Size.PUBLIC), 2
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

    def _who(self) -> Iterator[tuple[Signs, np.ndarray]]:
        """Go through in how many groups people are, with which sign, and of which kinds.

        Who is replaced leaves one group and enters another; or comes from, or goes to, none.
        """
        kinds = range(len(self.one.distances))
        for number in range(1, self.most + 1):
            several = [(kind,) * number for kind in kinds]
            if not self.alike:
                several = list(itertools.combinations_with_replacement(kinds, number))
            leaves = self.changed is not None and number > 1
            yield (1, -1) if leaves else (1,) * number, np.array(several)

    def moved(self, one: Floats, changed: Floats | None) -> tuple[Floats, Floats]:
        """Return squared moves of totals and of what lies across groups, from moves in one."""
        total, across = list[Floats](), list[Floats]()
        rows = [one[who] * np.array(signs)[:, None] for signs, who in self._who()]
        rows += [] if changed is None else [changed[:, None, :]]
        for each in rows:
            added = each.sum(axis=1)
            mean = added / self.groups
            others = self.groups - each.shape[1]
            total.append(added**2)
            across.append(((each - mean[:, None]) ** 2).sum(axis=1) + others * mean**2)
        return np.concatenate(total), np.concatenate(across)

    @cached_property
    def distances(self) -> Floats:
        """What lies across within groups: of everybody, what all scales are charged with."""
        found = [self.one.distances[who].sum(axis=1) for _, who in self._who()]
        return np.concatenate([*found, *([] if self.changed is None else [self.changed.distances])])

    @cached_property
    def programme(self) -> Programme:
        """What noise to look for: on totals over groups, divided by sqrt(m), and across them."""
        rows = [self.one.rows[who] * np.array(signs)[:, None] for signs, who in self._who()]
        if self.changed is not None:
            changed, units = self.changed.rows, zip(self.changed.units, self.one.units, strict=True)
            ratio = [own / unit for (_, own), (_, unit) in units]
            none = np.zeros((len(changed), self.one.rows.shape[1] - changed.shape[1]))
            rows.append(np.hstack([changed * np.array(ratio), none])[:, None, :])
        along, across = list[Floats](), list[Floats]()
        for each in rows:
            total = each.sum(axis=1)
            share = np.einsum("ki,kj->kij", total, total) / self.groups
            along.append(share)
            across.append(np.einsum("kgi,kgj->kij", each, each) - share)
        weights, m = self.one.weights, self.groups
        moved = [np.concatenate(each) for each in (along, across)[: min(m, 2)]]
        return Programme(
            moved=moved,
            weights=[weights, (m - 1) * weights][: len(moved)],
            distances=self.distances,
            line_weights=m * self.one.line_weights,
        )


def _number(kinds: int, most: int) -> int:
    """Return how many ways there are to be of one of some kinds in each of up to so many groups."""
    return sum(math.comb(kinds + number - 1, number) for number in range(1, most + 1))
