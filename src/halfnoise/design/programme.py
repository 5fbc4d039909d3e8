"""Which noise is looked for: kinds of people, what each pays for, and what errors weigh."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfnoise.values import dataclass, replace
from halfnoise.workload.grid import Floats

LEAST_PRICE, LEAST_PART = 1e-30, 1e-4
GOLDEN = (math.sqrt(5) - 1) / 2


class Goals(NamedTuple):
    """Of several errors what each weighs: Q of each matrix block, and the weights of lines."""

    weights: Sequence[Floats]
    line_weights: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Programme:
    """Kinds of people, and what errors weigh.

    ``moved``: for each matrix block of the information, P of every kind of person, or a row of
    which it is the square, or several of whose squares it is the sum, fewer than there are columns;
    ``weights``: Q of each block. ``distances``: for every kind what a line
    is charged with; ``line_weights``: what the error of each line weighs. ``given``: the number of
    people, last in every P of the first block and not in Q, is. ``goals``: where the largest of
    several errors is to be least.
    """

    moved: Sequence[Floats]
    weights: Sequence[Floats]
    distances: Floats
    line_weights: Floats
    given: bool = False
    goals: Goals | None = None

    @property
    def every(self) -> Goals:
        """All goals; what errors weigh altogether, if that is the only one."""
        return self.goals or Goals([each[None] for each in self.weights], self.line_weights[None])

    def weighed(self, shares: Floats) -> "Programme":
        """Return the same with one goal, of which all others are such shares."""
        goals = self.every
        weights = [np.einsum("g,gij->ij", shares, each) for each in goals.weights]
        return replace(self, weights=weights, line_weights=shares @ goals.line_weights)

    @property
    def numbers(self) -> int:
        """How many numbers all matrices have."""
        return sum(each.size for each in self.moved)

    @property
    def lifted(self) -> "Programme":
        """The same where nothing weighs so little that its noise would have no place on a grid.

        Along an axis with noise of its own, what weighs w and is moved by P costs sqrt(w P) in s:
        each costs at least its share of ``LEAST_PART`` of all, by which s grows at most.
        """
        axes, own, far = [], [], list[Floats]()
        for moved, weight in zip(self.moved, self.weights, strict=True):
            values, vectors = np.linalg.eigh(weight)
            axes.append(vectors)
            own.append(np.maximum(values, 0.0))
            some = slice(len(values))  # but the number of people, where it is given
            if moved.ndim == 3 and not in_rows(moved):
                seen = np.einsum(
                    "ia,kij,ja->ka", vectors, moved[:, some, some], vectors, optimize=True
                )
            else:
                several = moved.reshape(len(moved), -1, moved.shape[-1])
                seen = ((several[..., some] @ vectors) ** 2).sum(axis=1)
            far.append(seen.max(axis=0))
        own, far = [*own, self.line_weights], [*far, self.distances.max(axis=0, initial=0.0)]
        pairs = [*zip(own, far, strict=True)]
        part = LEAST_PART * sum(float(np.sqrt(w * p).sum()) for w, p in pairs)
        part /= sum(map(len, own))
        *found, lines = (np.maximum(w, part**2 / np.maximum(p, LEAST_PRICE)) for w, p in pairs)
        weights = [(v * w) @ v.T for v, w in zip(axes, found, strict=True)]
        goals = self.goals and Goals(
            [g + w - o for g, w, o in zip(self.goals.weights, weights, self.weights, strict=True)],
            self.goals.line_weights + lines - self.line_weights,
        )
        return replace(self, weights=weights, line_weights=lines, goals=goals)


def spread(number: int, most: int) -> NDArray[np.intp]:
    """Choose at most so many of a number, far apart: multiples of the golden ratio, modulo one."""
    several = np.arange(min(most, number))
    return np.unique((several * GOLDEN % 1 * number).astype(np.intp))


def in_rows(moved: Floats) -> bool:
    """Whether P of every kind is the sum of the squares of several rows."""
    return moved.ndim == 3 and moved.shape[1] < moved.shape[2]
