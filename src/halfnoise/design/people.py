"""Everybody who may be in a table, by kind, and the programme whose answer is the best noise.

What is measured has coordinates (``workload.sets.folding``): of each set that has one what people
add along it, and last, where it matters, the number of people; and directions across them. A kind
of person is a kind of each set.
"""

import enum
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Protocol, TypeGuard

import numpy as np

from halfnoise.design.cells import Cells
from halfnoise.design.design import Setting
from halfnoise.design.programme import Programme
from halfnoise.privacy.definitions import Neighbors
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Floats, Grain
from halfnoise.workload.sets.base import ContributionSet, Scales
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.folding import Coordinate, Folded
from halfnoise.workload.sets.folds import folded
from halfnoise.workload.sets.varying import Varying

MOST_KINDS = 2**14

# What is done with the number of people: nothing, as nobody wants it; it is a coordinate; it is
# given; or it is public, as people are replaced.
Size = enum.Enum("Size", "UNUSED MEASURED GIVEN PUBLIC")


class Fold(Protocol):
    """How a set is folded, into so many kinds at most."""

    def __call__(self, shape: ContributionSet, most: int, *, leaves: bool) -> Folded | None:
        """Return its kinds; None where there are more."""


@dataclass(frozen=True)
class People:
    """The kinds of people of all blocks together."""

    blocks: tuple[Block, ...]
    folds: tuple[Folded, ...]
    size: Size
    interest: float

    @classmethod
    def of(
        cls,
        blocks: Sequence[Block],
        size: Size,
        interest: float = 0.0,
        *,
        fold: "Fold | None" = None,
        most: int = MOST_KINDS,
    ) -> "People | None":
        """Fold the sets of all blocks; None where there are too many kinds of people.

        ``interest``: what a squared error in the number of people weighs by itself. ``fold``: how
        a set is folded into so many kinds at most, if not by itself; ``most``: of all together.
        """
        left, folds = most, dict[int, Folded]()
        for i in sorted(range(len(blocks)), key=lambda i: isinstance(blocks[i].shape, Crossed)):
            shape, leaves = blocks[i].shape, size is not Size.PUBLIC
            own = fold(shape, left, leaves=leaves) if fold else folded(shape, leaves=leaves)
            if own is None or len(own.across) > left:
                return None
            left, folds[i] = left // len(own.across), own
        return cls(tuple(blocks), tuple(folds[i] for i in sorted(folds)), size, interest)

    def on(self, blocks: Sequence[Block], like: "People | None" = None) -> "People":
        """Return the same where bounds are on the grid, or what others measure is measured."""
        leaves, folds = self.size is not Size.PUBLIC, list[Folded]()
        for block, known, other in zip(blocks, self.folds, (like or self).folds, strict=True):
            fold: Folded | None
            shape = block.shape
            if isinstance(known, Cells) and isinstance(other, Cells) and isinstance(shape, Crossed):
                fold = known.on(shape, other.fits)
            else:
                fold = folded(shape, leaves=leaves)
            if fold is None:
                raise AssertionError
            folds.append(fold)
        return People(tuple(blocks), tuple(folds), self.size, self.interest)

    @cached_property
    def order(self) -> tuple[tuple[int, int], ...]:
        """Which block each coordinate is of, and which it is there; values are first."""
        each = [fold.coordinates for fold in self.folds]
        every = [(i, own) for i, found in enumerate(each) for own in range(len(found))]
        # People are counted in larger quanta.
        return tuple(sorted(every, key=lambda at: each[at[0]][at[1]].grain is not Grain.VALUES))

    @cached_property
    def coordinates(self) -> list[Coordinate]:
        """All coordinates, in their order."""
        return [self.folds[i].coordinates[place] for i, place in self.order]

    def own(self, i: int) -> list[int]:
        """Return where the coordinates of a block stand."""
        return [self.order.index((i, own)) for own in range(len(self.folds[i].coordinates))]

    @cached_property
    def kinds(self) -> list[np.ndarray]:
        """Of everybody, which kind of each set they are."""
        numbers = [len(fold.across) for fold in self.folds]
        every = np.arange(math.prod(numbers))
        return [every // math.prod(numbers[i + 1 :]) % n for i, n in enumerate(numbers)]

    @cached_property
    def distances(self) -> Floats:
        """Of everybody, what all scales across are charged with."""
        seen = zip(self.folds, self.kinds, strict=True)
        parts = [np.array(f.across, dtype=float).reshape(len(f.across), -1)[k] for f, k in seen]
        return np.hstack(parts)

    @property
    def centred(self) -> bool:
        """Whether coordinates are seen from the middle of their ranges, times people."""
        return self.size in (Size.MEASURED, Size.GIVEN)

    @cached_property
    def seen_from(self) -> list[Fraction]:
        """Of each coordinate, the middle of what one person adds, if people are at hand."""
        if self.size is Size.UNUSED:
            return [Fraction(0)] * len(self.order)
        return [each.middle for each in self.coordinates]

    def quantum(self, place: int, scale: float) -> Fraction:
        """Return what a coordinate is counted in under noise of such a scale."""
        (i, own), block = self.order[place], self.blocks[self.order[place][0]]
        fold = self.folds[i]
        if isinstance(fold, Cells) and isinstance(block, TableBlock):
            return fold.quanta(block, [scale] * len(fold.coordinates))[own]
        if isinstance(fold, Varying) and self.coordinates[place].quantum is None:
            return fold.quantum(scale)
        return self.coordinates[place].quantum or self.on_grid(i, (), [scale]).quantum

    def on_grid(self, i: int, across: Scales, along: Sequence[float]) -> Block:
        """Return a block on the grid: values count from their middle where people are at hand.

        The scales of what lies across, and of its coordinates.
        """
        block, fold = self.blocks[i], self.folds[i]
        if isinstance(fold, Cells) and isinstance(block, TableBlock):
            return fold.on_grid(block, across, along)
        center = None if self.size is Size.UNUSED and fold.along_only else Fraction(0)
        return block.on_grid(center, *(across or along))

    @property
    def quanta(self) -> list[Fraction]:
        """What each coordinate is counted in, where blocks are on the grid."""
        seen = zip(self.coordinates, self.order, strict=True)
        return [each.quantum or self.blocks[i].quantum for each, (i, _) in seen]

    @property
    def offsets(self) -> list[Fraction]:
        """From where people count in each coordinate, where blocks are on the grid."""
        found = list[Fraction]()
        for each, (i, _) in zip(self.coordinates, self.order, strict=True):
            block = self.blocks[i]
            found.append(block.shape.size * block.offset if each.offset is None else each.offset)
        return found

    @cached_property
    def units(self) -> list[tuple[float, float]]:
        """Of each coordinate, the middle and the half of its range, or zero and its reach."""
        found = []
        for each in self.coordinates:
            reach = float(max(map(abs, each.along)))
            found.append((float(each.middle), float(each.half)) if self.centred else (0.0, reach))
        return found

    @cached_property
    def rows(self) -> Floats:
        """What everybody adds to all coordinates, in their units, the number of people last."""
        seen = zip(self.order, self.units, strict=True)
        rows = [self.folds[i].means(own, *unit)[self.kinds[i]] for (i, own), unit in seen]
        rows += [np.ones(len(self.distances))] * self.centred
        return np.stack(rows, axis=1) if rows else np.empty((len(self.distances), 0))

    @cached_property
    def weights(self) -> Floats:
        """What squared errors of coordinates weigh, in their units."""
        last = int(self.size is Size.MEASURED)
        found = np.zeros((len(self.order) + last,) * 2)
        raw = np.eye(len(self.order) + 1, len(found))  # coordinates as they are asked for, people
        for place, (middle, half) in enumerate(self.units):
            raw[place, place] = half
            raw[place, len(self.order) :] = middle
        for i, (block, fold) in enumerate(zip(self.blocks, self.folds, strict=True)):
            own = raw[[*self.own(i), -1]]
            found += block.importance * own.T @ fold.along_weights @ own
        if last:
            found[-1, -1] += self.root_weight
        return found

    @cached_property
    def line_weights(self) -> Floats:
        """What squared scales across weigh."""
        seen = zip(self.blocks, self.folds, strict=True)
        return np.array([b.importance * float(w) for b, f in seen for w in f.weights])

    def borne(self, rates: Floats) -> Floats:
        """Return what squared scales across weigh in estimates that are made for such rates."""
        left, found = iter(rates.tolist()), list[float]()
        for block, fold in zip(self.blocks, self.folds, strict=True):
            own, pooling = [*itertools.islice(left, len(fold.weights))], fold.shape.pooling
            weights = pooling.borne(np.array(own)) if pooling else fold.weights
            found += [block.importance * float(w) for w in weights]
        return np.array(found)

    @cached_property
    def spread(self) -> Floats:
        """How what everybody adds to all coordinates varies, where kinds stand for several."""
        found = np.zeros((len(self.distances), *self.rows.shape[1:], *self.rows.shape[1:]))
        for i, (fold, kinds) in enumerate(zip(self.folds, self.kinds, strict=True)):
            if (spread := fold.spread_along) is not None:
                own = np.array(self.own(i), int)
                found[:, own[:, None], own] += spread[kinds]
        return found

    @cached_property
    def matrices(self) -> list[Floats]:
        """What is measured with noises of its own that are shared: P of everybody."""
        seen = zip(self.folds, self.kinds, strict=True)
        return [each[kinds] for fold, kinds in seen for each in fold.matrices()]

    @property
    def asked(self) -> tuple[list[Floats], Floats]:
        """What squared errors weigh: of all matrices, and of lines."""
        seen = zip(self.blocks, self.folds, strict=True)
        more = [b.importance * weight for b, fold in seen for weight in fold.matrix_weights()]
        return [*[self.weights] * bool(self.weights.size), *more], self.line_weights

    def weighed(self, blocks: Sequence[Block], interest: float) -> "People":
        """Return the same people where squared errors weigh otherwise."""
        seen = zip(self.folds, self.blocks, blocks, strict=True)
        folds = (f if b.shape is a.shape else f.weighed(b.shape) for f, a, b in seen)
        return replace(self, blocks=tuple(blocks), folds=tuple(folds), interest=interest)

    @cached_property
    def programme(self) -> Programme:
        """What noise to look for; coordinates are in the first matrix."""
        weights, line_weights = self.asked
        moved = [self.rows] * bool(self.weights.size)
        if any(fold.spread_along is not None for fold in self.folds):
            moved = [np.einsum("ki,kj->kij", rows, rows) + self.spread for rows in moved]
        return Programme(
            moved=[*moved, *self.matrices],
            weights=weights,
            distances=self.distances,
            line_weights=line_weights,
            given=self.size is Size.GIVEN and bool(self.weights.size),
        )

    @cached_property
    def root_weight(self) -> float:
        """What a squared error in the number of people weighs, with all that leans on it."""
        seen = zip(self.blocks, self.folds, strict=True)
        return self.interest + sum(b.importance * float(f.root_weight) for b, f in seen)


def adds_by_cell(shape: ContributionSet) -> TypeGuard[Crossed]:
    """Whether a set is of tables with values by cell."""
    return isinstance(shape, Crossed) and bool(shape.values)


def _leans(shape: ContributionSet) -> bool:
    """Whether a set leans on the number of people, which is no coordinate of it."""
    return shape.leans or bool((fold := folded(shape, leaves=True)) and fold.root_weight)


def size_of(setting: Setting) -> Size:
    """Return what is to be done with the number of people."""
    workload = setting.workload
    if workload.size_is_public:
        return Size.PUBLIC
    alone = workload.neighbors is Neighbors.ADD_REMOVE and not workload.grouped
    if setting.known_size and alone:
        return Size.GIVEN
    wanted = workload.size_importance or any(_leans(block.shape) for block in workload.blocks)
    return Size.MEASURED if wanted or workload.needs_sizes else Size.UNUSED
