"""Everybody who may be in a table, by kind, and the programme whose answer is the best noise.

What is measured has coordinates (``workload.sets.folding``): of each set that has one what people
add along it, and last, where it matters, the number of people; and directions across them. A kind
of person is a kind of each set.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from halfnoise.design.design import Setting
from halfnoise.design.duality import Programme
from halfnoise.privacy.definitions import Neighbors
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats, Grain
from halfnoise.workload.sets.folding import Folded, folded

MOST_KINDS = 4096

# What is done with the number of people: nothing, as nobody wants it; it is a coordinate; it is
# given; or it is public, as people are replaced.
Size = enum.Enum("Size", "UNUSED MEASURED GIVEN PUBLIC")


@dataclass(frozen=True)
class People:
    """The kinds of people of all blocks together."""

    blocks: tuple[Block, ...]
    folds: tuple[Folded, ...]
    size: Size
    interest: float

    @classmethod
    def of(cls, blocks: Sequence[Block], size: Size, interest: float = 0.0) -> "People | None":
        """Fold the sets of all blocks; None where there are too many kinds of people.

        ``interest``: what a squared error in the number of people weighs by itself.
        """
        number, folds = 1, []
        for block in blocks:
            fold = folded(block.shape, leaves=size is not Size.PUBLIC)
            number *= MOST_KINDS + 1 if fold is None else len(fold.across)
            if fold is None or number > MOST_KINDS:
                return None
            folds.append(fold)
        return cls(tuple(blocks), tuple(folds), size, interest)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Which block each coordinate is of, values first: people are counted in larger quanta."""
        own = [i for i, fold in enumerate(self.folds) if fold.coordinates]
        return tuple(sorted(own, key=lambda i: self._counted_in(i) is not Grain.VALUES))

    def _counted_in(self, i: int) -> Grain:
        kind = self.blocks[i]
        return Grain.PEOPLE if kind.kind == "mean" else kind.shape.grain

    @cached_property
    def kinds(self) -> list[np.ndarray]:
        """Of everybody, which kind of each set they are."""
        numbers = [len(fold.across) for fold in self.folds]
        return [each.ravel() for each in np.indices(numbers)]

    @cached_property
    def distances(self) -> Floats:
        """Of everybody, what all scales across are charged with."""
        seen = zip(self.folds, self.kinds, strict=True)
        parts = [np.array(f.across, dtype=float).reshape(len(f.across), -1)[k] for f, k in seen]
        return np.hstack(parts)

    def along(self, values: Sequence[Sequence[object]]) -> Floats:
        """Return of everybody, for each coordinate, the value of their kind."""
        seen = zip(self.order, values, strict=True)
        rows = [np.array(each, dtype=float)[self.kinds[i]] for i, each in seen]
        return np.stack(rows, axis=1) if rows else np.empty((len(self.distances), 0))

    @property
    def centred(self) -> bool:
        """Whether coordinates are seen from the middle of their ranges, times people."""
        return self.size in (Size.MEASURED, Size.GIVEN)

    @cached_property
    def seen_from(self) -> list[Fraction]:
        """Of each coordinate, the middle of what one person adds, if people are at hand."""
        if self.size is Size.UNUSED:
            return [Fraction(0)] * len(self.order)
        return [self.folds[i].middle for i in self.order]

    def quantum(self, place: int, scale: float) -> Fraction:
        """Return what a coordinate is counted in under noise of such a scale."""
        i = self.order[place]
        return self.folds[i].quantum(self.blocks[i].on_grid(scale).quantum)

    @property
    def quanta(self) -> list[Fraction]:
        """What each coordinate is counted in, where blocks are on the grid."""
        return [self.folds[i].quantum(self.blocks[i].quantum) for i in self.order]

    @cached_property
    def units(self) -> list[tuple[float, float]]:
        """Of each coordinate, the middle and the half of its range, or zero and its reach."""
        found = []
        for i in self.order:
            fold = self.folds[i]
            reach = float(max(map(abs, fold.along)))
            found.append((float(fold.middle), float(fold.half)) if self.centred else (0.0, reach))
        return found

    @cached_property
    def programme(self) -> Programme:
        """What noise to look for: coordinates are in ``units``, the number of people last."""
        last = int(self.centred)
        values = [
            [(float(x) - middle) / half for x in self.folds[i].along]
            for i, (middle, half) in zip(self.order, self.units, strict=True)
        ]
        z = self.along(values)
        z = np.hstack([z, np.ones((len(z), last))])
        weights, m = np.zeros((len(self.order) + last,) * 2), len(self.order)
        seen = zip(self.blocks, self.folds, strict=True)
        own = [block.importance * float(fold.along_weight) for block, fold in seen]
        for place, (i, (middle, half)) in enumerate(zip(self.order, self.units, strict=True)):
            lean = np.zeros(len(weights))
            lean[place] = half
            if self.size is Size.MEASURED:
                lean[-1] = middle
            weights += own[i] * np.outer(lean, lean)
        if self.size is Size.MEASURED:
            weights[-1, -1] += self.root_weight
        seen = zip(self.blocks, self.folds, strict=True)
        lines = [b.importance * float(w) for b, f in seen for w in f.weights]
        keep = m if self.size is Size.GIVEN else len(weights)
        moved = np.einsum("ki,kj->kij", z, z)
        return Programme(
            moved=[moved] if moved.shape[1] else [],
            weights=[weights[:keep, :keep]] if moved.shape[1] else [],
            distances=self.distances,
            line_weights=np.array(lines),
            given=self.size is Size.GIVEN,
        )

    @cached_property
    def root_weight(self) -> float:
        """What a squared error in the number of people weighs, with all that leans on it."""
        seen = zip(self.blocks, self.folds, strict=True)
        return self.interest + sum(b.importance * float(f.root_weight) for b, f in seen)


def size_of(setting: Setting) -> Size:
    """Return what is to be done with the number of people."""
    workload = setting.workload
    if workload.size_is_public:
        return Size.PUBLIC
    alone = workload.neighbors is Neighbors.ADD_REMOVE and not workload.grouped
    if setting.known_size and alone:
        return Size.GIVEN
    leans = (folded(block.shape, leaves=True) for block in workload.blocks)
    wanted = workload.size_importance or any(fold and fold.root_weight for fold in leans)
    return Size.MEASURED if wanted or workload.needs_sizes else Size.UNUSED

