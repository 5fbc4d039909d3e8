"""Blocks of one size, one behind the other: what is done to each is done to all of them at once.

Places inside places have many small blocks, of which each would wait for Python.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.programme import Programme, in_rows
from halfnoise.values import dataclass, replace
from halfnoise.workload.grid import Floats

Places = NDArray[np.intp]


class Stack(NamedTuple):
    """Blocks of a programme: what everybody moves, and what the errors of all goals weigh.

    ``moved``: P of everybody is the sum of the squares of several rows, or has them for its own;
    by block, row and person.
    """

    places: tuple[int, ...]
    whole: bool
    moved: Floats
    weights: Floats

    def of(self, chosen: Places) -> "Stack":
        """Return the same for some kinds of people."""
        return self._replace(moved=np.take(self.moved, chosen, axis=2))

    def average(self, prices: Floats) -> Floats:
        """Return the sum of P of all kinds, each times its price."""
        if self.whole:
            found: Floats = np.einsum("k,brkj->brj", prices, self.moved)
            return found
        rows = self._rows
        return np.asarray((rows.mT * np.tile(prices, self.moved.shape[1])) @ rows)

    def costs(self, matrices: Floats) -> Floats:
        """Return what everybody costs under noise of such information."""
        if self.whole:
            found: Floats = np.einsum("brkj,brj->k", self.moved, matrices)
            return found
        cost = np.einsum("bij,bij->bi", self._rows @ matrices, self._rows)
        return np.asarray(cost.reshape(-1, self.moved.shape[2]).sum(axis=0))

    def seen(self, views: Floats, i: Places, j: Places) -> Floats:
        """Return some entries of P of everybody, seen by matrices: by block and entry."""
        if self.whole:
            squares = views[:, None] @ self.moved.swapaxes(1, 2) @ views.mT[:, None]
            return np.asarray(squares[..., i, j].mT)
        several = views[:, None] @ self.moved.mT
        return np.asarray((several[:, :, i] * several[:, :, j]).sum(axis=1))

    @property
    def last(self) -> Floats:
        """The last column of P of everybody."""
        if self.whole:
            return self.moved[..., -1]
        return np.asarray((self.moved * self.moved[..., -1:]).sum(axis=1).mT)

    @property
    def _rows(self) -> Floats:
        return self.moved.reshape(len(self.moved), -1, self.moved.shape[3])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacks:
    """A programme in stacks; where the number of people is given, the first is of one block."""

    every: tuple[Stack, ...]
    distances: Floats
    line_weights: Floats  # of all goals
    given: bool

    @classmethod
    def of(cls, programme: Programme) -> "Stacks":
        """Put blocks of one size in one stack."""
        goals, like = programme.every, dict[tuple[object, ...], list[int]]()
        for place, moved in enumerate(programme.moved):
            like.setdefault((programme.given and not place, *moved.shape[1:]), []).append(place)
        every = list[Stack]()
        for places in like.values():
            each = [programme.moved[place] for place in places]
            whole = each[0].ndim == 3 and not in_rows(each[0])
            moved = np.stack([own.reshape(len(own), -1, own.shape[-1]) for own in each])
            weights = np.stack([goals.weights[place] for place in places])
            every.append(
                Stack(tuple(places), whole, np.ascontiguousarray(moved.swapaxes(1, 2)), weights)
            )
        return cls(
            every=tuple(every),
            distances=programme.distances,
            line_weights=goals.line_weights,
            given=programme.given,
        )

    def chosen(self, some: Places) -> "Stacks":
        """Return the same for some kinds of people."""
        every = tuple(stack.of(some) for stack in self.every)
        return replace(self, every=every, distances=self.distances[some])

    @property
    def sizes(self) -> list[int]:
        """How large all blocks are."""
        return [stack.weights.shape[-1] for stack in self.every for _ in stack.places]

    def costs(self, matrices: Sequence[Floats], lines: Floats) -> Floats:
        """Return what everybody costs under noise of such information."""
        cost = np.einsum("kl,l->k", self.distances, lines)  # threads of BLAS would not pay
        for stack, own in zip(self.every, matrices, strict=True):
            cost = cost + stack.costs(own)
        found: Floats = np.maximum(cost, 0.0)
        return found

    def apart(self, matrices: Sequence[Floats]) -> tuple[Floats, ...]:
        """Return the blocks of matrices in their order."""
        pairs = zip(self.every, matrices, strict=True)
        every = {
            at: own for stack, each in pairs for at, own in zip(stack.places, each, strict=True)
        }
        return tuple(every[at] for at in range(len(every)))
