"""Prices on people where values are added up by cell: a bound for noise that may lean in any way.

In every residual of tables (``sets.residuals``) a person moves people and all values at once. By
symmetry among categories the best noise treats the directions of a residual alike, but it may tell
values from people by any matrix, where our own designs have a scale for each; so what is priced
here are matrices. Somebody x who changes to y in another cell moves residual A by

    (x x' + y y') D_A - (x y' + y x') kappa_A(S),   S the attributes that change (``sets.moves``).

With too many sets S, changes to any cell are priced on average, for which kappa is 0.
"""

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from halfnoise.design.duality import Programme
from halfnoise.design.people import MOST_KINDS, People, Size
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.by_cell import SHARE
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.folding import Folded
from halfnoise.workload.sets.folds import folded
from halfnoise.workload.sets.residuals import Axes, cells, rank, squares

MOST_STATES = 2**6  # of all values together; beyond, averages over many are priced
PARTS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)  # of people at the high end, and of who answers


class Moved(NamedTuple):
    """What somebody moves, people first: in total, how that varies, and in a residual.

    There it is ``apart`` times D_A, less ``alike`` times kappa of the attributes that change.
    """

    total: Floats
    spread: Floats
    apart: Floats
    alike: Floats
    change: int = 0


def by_cell(blocks: Sequence[Block], size: Size, interest: float) -> Programme | None:
    """Return what to price; None where that is not worked out, or there is too much of it."""
    if size is Size.GIVEN:
        return None
    leaves, folds, own = size is not Size.PUBLIC, list[Folded](), list[ByCell]()
    for block in blocks:
        if isinstance(block.shape, Crossed) and block.shape.values:
            if block.shape.deep:  # places of all levels tell the size themselves
                return None
            seen = ByCell(block.shape, block.importance, leaves=leaves, place=len(folds))
            own.append(seen)
            folds.append(seen.fold)
        elif (fold := folded(block.shape, leaves=leaves)) is not None:
            folds.append(fold)
    few = math.prod(len(fold.across) for fold in folds) <= MOST_KINDS
    if len(folds) < len(blocks) or len(own) != 1 or not few:
        return None
    return own[0].beside(People(tuple(blocks), tuple(folds), size, interest))


@dataclass(frozen=True)
class ByCell:
    """Tables with values by cell; ``leaves``: whether people come and go, or change."""

    shape: Crossed
    importance: float
    leaves: bool
    place: int

    @cached_property
    def fold(self) -> Folded:
        """Its kinds of people, of whom all is said in matrices, but for what leans on n alone."""
        return Folded(
            shape=self.shape,
            across=tuple(() for _ in self.moved),
            weights=(),
            root_weight=self._people.get((), 0.0),
        )

    @cached_property
    def _people(self) -> dict[Axes, float]:
        """What squared errors of people weigh, without what leans on them."""
        return squares(self.shape.levels, self.shape.wanted)

    @cached_property
    def moved(self) -> list[Moved]:
        """What all kinds of people move; values in halves of their ranges."""
        if self.leaves:
            return [_coming(*each) for each in self.states]
        pairs = [*itertools.combinations_with_replacement(self.states, 2)]
        several = range(len(self.changes) or 1)
        return [_changing(*each, change) for change in several for each in pairs]

    @cached_property
    def states(self) -> list[tuple[Floats, Floats]]:
        """Where one person can be, and how that varies: everybody, or averages of too many."""
        found = [*itertools.islice(self._states(), MOST_STATES + 1)]
        return found if len(found) <= MOST_STATES else [*self._averages()]

    @cached_property
    def changes(self) -> list[frozenset[int]]:
        """The sets of attributes that may change, if they are few; who comes changes none."""
        used, pairs = self.shape.moves.used, math.comb(len(self.states) + 1, 2)
        if self.leaves or pairs * 2 ** len(used) > MOST_KINDS:
            return []
        return [
            frozenset(each)
            for k in range(len(used) + 1)
            for each in itertools.combinations(used, k)
        ]

    def _states(self) -> Iterator[tuple[Floats, Floats]]:
        """Go through people, one first: where they are, and how that varies."""
        parts = [[*map(self._scaled, kinds)] for _, kinds in self.shape.moves.states]
        for each in itertools.product(*parts):
            where = np.concatenate(each)
            yield where, np.zeros_like(where)

    def _averages(self) -> Iterator[tuple[Floats, Floats]]:
        """Go through people on average: so many at the high end of all values, so many answer."""
        peak = 1 / (2 * math.sqrt(len(self.shape.values)))  # where many like values cost most
        for high, answer in itertools.product((*PARTS, 0.5 - peak, 0.5 + peak), PARTS):
            mean, spread = [np.ones(1)], [np.zeros(1)]
            for _, kinds in self.shape.moves.states[1:]:
                ends = np.array([*map(self._scaled, kinds)])
                share = np.array([high, 1 - high])
                if len(ends) > 2:  # who does not answer comes last
                    share = np.array([answer * high, answer * (1 - high), 1 - answer])
                mean.append(share @ ends)
                spread.append(share @ ends**2 - mean[-1] ** 2)
            yield np.concatenate(mean), np.concatenate(spread)

    def _scaled(self, state: Sequence[object]) -> Floats:
        """Return a state with a value, which comes first, in signs: high, low or no answer."""
        found = np.array([float(x) for x in state])  # type: ignore[arg-type]
        if found[0] not in (0.0, 1.0):
            found[0] = np.sign(found[0])
        return found

    def weights(self, own: Sequence[float], people: float) -> Floats:
        """Return what errors weigh in a residual: ``own``, those of each value; people first."""
        number = 1 + sum(value.layers for value in self.shape.values)
        unit, at = np.eye(number), 1
        found = people * np.outer(unit[0], unit[0])
        for value, square in zip(self.shape.values, own, strict=True):
            half, middle = float(value.half), float(value.middle)
            lean = half * unit[at] + (0.0 if value.optional else middle) * unit[0]
            found = found + square * np.outer(lean, lean)
            if value.optional:
                lean = 2 * half * (unit[at + 1] + float(SHARE) * unit[0])
                found = found + square * np.outer(lean, lean)
            at += value.layers
        return self.importance * np.asarray(found)

    def residuals(self) -> Iterator[tuple[float, Floats, Floats]]:
        """Go through kinds of residuals: D of them all, kappa of all changes, and Q of all."""
        levels = self.shape.levels
        values = [squares(levels, value.wanted) for value in self.shape.values]
        every = dict.fromkeys(axes for each in (self._people, *values) for axes in each)
        alike: dict[tuple[int, int, tuple[float, ...]], list[Axes]] = {}
        none = frozenset[int]()
        for axes in every:
            if axes:
                own = tuple(each.get(axes, 0.0) for each in (self._people, *values))
                key = (cells(levels, axes), rank(levels, axes), own)
                alike.setdefault(key, []).append(axes)
        for (many, m, (people, *asked)), all_axes in alike.items():
            kappas = [
                sum(self._kappa(axes, s) for axes in all_axes) for s in self.changes or [none]
            ]
            number = len(all_axes)
            weight = number * m * many * self.weights(asked, people)
            yield number * m / many, np.array(kappas), weight

    def _kappa(self, axes: Axes, change: Collection[int]) -> float:
        if not self.changes:
            return 0.0
        levels = self.shape.levels
        return math.prod((axis not in change) - 1 / levels[axis] for axis in axes)

    def beside(self, people: People) -> Programme:
        """Return the programme of all blocks."""
        kinds, last = people.kinds[self.place], int(people.centred)
        total, spread, apart, alike, change = (
            np.array([each[k] for each in self.moved])[kinds] for k in range(5)
        )
        others = people.rows[:, : people.rows.shape[1] - last]
        rows = np.hstack([others, total[:, 1:], *[people.rows[:, -last:]] * last])
        moved = np.einsum("ki,kj->kij", rows, rows)
        at = np.arange(others.shape[1], others.shape[1] + total.shape[1] - 1)
        moved[:, at, at] += spread[:, 1:]
        found, weights = [moved], [self._of_totals(people, at)]
        for far, kappas, weight in self.residuals():
            found.append(far * apart - kappas[change][:, None, None] * alike)
            weights.append(weight)
        given = people.programme
        return replace(given, moved=found, weights=weights)

    def _of_totals(self, people: People, at: Floats) -> Floats:
        """Return Q of all that is not by cell."""
        last = int(people.size is Size.MEASURED)
        wide = len(people.order) + len(at) + last
        found, others = np.zeros((wide, wide)), [*range(len(people.order)), *[wide - 1] * last]
        found[np.ix_(others, others)] = people.weights
        values = [squares(self.shape.levels, value.wanted) for value in self.shape.values]
        own = self.weights([each.get((), 0.0) for each in values], 0.0)
        inside = [*[wide - 1] * last, *at]
        found[np.ix_(inside, inside)] += own if last else own[1:, 1:]
        return found


def _coming(where: Floats, spread: Floats) -> Moved:
    both = np.outer(where, where)
    return Moved(where, spread, both + np.diag(spread), np.zeros_like(both))


def _changing(one: tuple[Floats, Floats], other: tuple[Floats, Floats], change: int = 0) -> Moved:
    apart = _coming(*one).apart + _coming(*other).apart
    alike = np.outer(one[0], other[0])
    return Moved(one[0] - other[0], one[1] + other[1], apart, alike + alike.T, change)
