"""The joint error of tables by places inside places, in closed form, place by place.

As for plain tables (``cross_errors``), but that a residual A has in every place of every level a
number of its own, brought together as ``workload.sets.tree`` says. In uneven trees errors differ
from place to place; cells of one place have the same.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import finite, refuse, whole
from halfnoise.design.cross_errors import STORED, CrossErrors, Matrix, Vector
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.sets.base import Layered, Scales, Span
from halfnoise.workload.sets.residuals import Axes, cells, distance, place_of, projected, within
from halfnoise.workload.sets.tree import Children, Pooled, Tree


@dataclass(frozen=True)
class PlacedErrors(CrossErrors):
    """The errors of tables of which the first attributes are the levels of a tree.

    The noise of the number of people, from which that of the places is made, is not among them.
    ``by_place``: of each residual, by how much the variance of its noise is to be multiplied in
    each place of its level; one number where all have the same, none where it is of no place.
    """

    children: Children = field(default=(), kw_only=True)
    by_place: tuple[Matrix, ...] = field(default=(), kw_only=True)

    @property
    def deep(self) -> int:
        """How many levels of places there are."""
        return len(self.children)

    @cached_property
    def tree(self) -> Tree:
        """The places."""
        return Tree(self.children)

    @cached_property
    def _pooled(self) -> list[dict[Axes, tuple[Pooled | None, float]]]:
        """Of each layer and plain residual, how levels come together and what the whole varies."""
        found = list[dict[Axes, tuple[Pooled | None, float]]]()
        for noise, axes, each in zip(self._noise, self.layers, self.by_place, strict=True):
            apart = dict(zip(axes, each, strict=True))
            found.append({})
            for plain in dict.fromkeys(own[len(place_of(own, self.deep)) :] for own in noise):
                keys = [(level, *plain) for level in range(self.deep)]
                keys = [key for key in keys if key in noise]
                own = [noise[key] * self._spread(key[0], apart[key]) for key in keys]
                pooled = Pooled(self.tree, own) if own else None
                found[-1][plain] = (pooled, noise.get(plain, 0.0))
        return found

    def _spread(self, level: int, by_place: Sequence[float]) -> Vector:
        return np.broadcast_to(np.array(by_place, dtype=np.float64), self.tree.sizes[level])

    def leans(self) -> Iterator[Span]:
        """Go through runs of cells that have as much of the noise of the number of people."""
        people = self._pooled[0].get((), (None, 0.0))[0]
        for kind, axes, start, stop in self.tables:
            own, load = place_of(axes, self.deep), self.loads[kind][0]
            many = cells(self.levels, axes[len(own) :])
            carried = people.carried(own[0]) if people and own else np.ones(1)
            ends = [*(np.flatnonzero(np.diff(carried)) + 1).tolist(), (stop - start) // many]
            for low, high in zip((0, *ends), ends, strict=False):
                yield start + low * many, start + high * many, load * float(carried[low]) / many

    def _count(self, axes: Axes) -> int:
        return cells(self.levels, place_of(axes, self.deep))

    def places(self, table: int) -> tuple[int, int]:
        """Return how many places a table is by, and how many cells there are in each."""
        _, axes = self._table(table)
        return self._count(axes), cells(self.levels, axes) // self._count(axes)

    def around(self, one: int, other: int) -> NDArray[np.int64]:
        """Return which place of the margin each place of a table is in."""
        (level, _), (level_, _) = (self._apart(self._table(each)[1]) for each in (one, other))
        if level_ < 0:
            return np.zeros(1 if level < 0 else self.tree.sizes[level], dtype=np.int64)
        return self.tree.above(level, level_)

    def matched(self, one: int, other: int) -> Vector:
        """Return, by place, the covariance of cells with those of a margin that they are in."""
        (kind, axes), (kind_, axes_) = self._table(one), self._table(other)
        (level, plain), (level_, plain_) = self._apart(axes), self._apart(axes_)
        common, total = tuple(i for i in plain if i in plain_), np.zeros(self._count(axes))
        for layer, load in self._shared(kind, kind_):
            for part in within(common):
                if part not in self._pooled[layer]:
                    continue
                pooled, top = self._pooled[layer][part]
                varies = np.array([top])
                if pooled is not None and level >= 0:
                    above = pooled.spread(top)[level_] if level_ >= 0 else varies
                    varies = pooled.carried(level, level_) * above[self.around(one, other)]
                moved = float(distance(self.levels, part))
                total += load * varies * (moved / self._apart_by(part, plain, plain_))
        return total

    def _apart(self, axes: Axes) -> tuple[int, Axes]:
        """Return the level of a table, -1 for none, and its plain axes."""
        own = place_of(axes, self.deep)
        return own[0] if own else -1, axes[len(own) :]

    def _shared(self, kind: int, other: int) -> Iterator[tuple[int, float]]:
        pairs = zip(self.loads[kind], self.loads[other], strict=True)
        return ((layer, a * b) for layer, (a, b) in enumerate(pairs) if a * b)

    def covariance(self, one: int, other: int) -> float:
        """Return the covariance of two estimates; what is no cell has none of these noises."""
        if not all(self.start <= index < self.stop for index in (one, other)):
            return 0.0
        (kind, axes, x), (kind_, axes_, y) = self._cell(one), self._cell(other)
        (level, plain), (level_, plain_) = self._apart(axes), self._apart(axes_)
        here, there = dict(zip(axes, x, strict=True)), dict(zip(axes_, y, strict=True))
        common, total = tuple(i for i in plain if i in plain_), 0.0
        for layer, load in self._shared(kind, kind_):
            for part in within(common):
                if part not in self._pooled[layer]:
                    continue
                lie = math.prod((here[i] == there[i]) - 1 / self.levels[i] for i in part)
                apart = self._apart_by(part, plain, plain_)
                pooled, top = self._pooled[layer][part]
                two = (level, here.get(level, 0)), (level_, there.get(level_, 0))
                total += load * lie / apart * (pooled.between(*two, top) if pooled else top)
        return total

    def block(self, one: int, other: int, chosen: Sequence[Sequence[int]]) -> float:
        """Return the covariance of the sums over a block of cells, in two tables by the same axes.

        ``chosen``: along each axis, which categories are in the block.
        """
        (kind, axes), (kind_, _) = self._table(one), self._table(other)
        level, plain = self._apart(axes)
        many, total = {i: len(own) for i, own in zip(axes, chosen, strict=True)}, 0.0
        inside = np.zeros(self._count(axes))
        inside[[*chosen[0]] if level >= 0 else 0] = 1.0
        for layer, load in self._shared(kind, kind_):
            for part in within(plain):
                held = math.prod(many[i] * (1 - many[i] / self.levels[i]) for i in part)
                beside = math.prod(many[i] / self.levels[i] for i in plain if i not in part)
                total += load * held * beside**2 * self._quadratic(layer, part, level, inside)
        return total

    def weighted(self, table: int, weights: Vector) -> float:
        """Return the variance of a weighted sum of all cells of a table, in a few passes."""
        (kind, axes), total = self._table(table), 0.0
        level, plain = self._apart(axes)
        own = weights if level >= 0 else weights[np.newaxis]
        for part in within(plain):
            gone = tuple(1 + at for at, axis in enumerate(plain) if axis not in part)
            held = projected(own.mean(axis=gone) if gone else own)
            for layer, load in self._shared(kind, kind):
                total += load * self._quadratic(layer, part, level, held)
        return total

    def _quadratic(self, layer: int, part: Axes, level: int, weights: Vector) -> float:
        """Return the variance of sums of a residual over places, weighted, its cells apart."""
        if part not in self._pooled[layer]:
            return 0.0
        pooled, top = self._pooled[layer][part]
        if pooled is None or level < 0:
            return top * float((weights**2).sum())
        each = [np.zeros((n, *weights.shape[1:])) for n in self.tree.sizes[:level]]
        noises, whole_ = pooled.noises([*each, weights])
        pairs = zip(pooled.own, noises, strict=False)
        own = sum(float((u @ (e**2).reshape(len(u), -1)).sum()) for u, e in pairs)
        return own + top * float((whole_**2).sum())

    def _vary(self, found: dict[tuple[int, Axes], Vector], columns: Sequence[int]) -> None:
        """Multiply weights on residuals with the covariance of these, in place."""
        for layer, own in enumerate(self._pooled):
            for plain, (pooled, top) in own.items():
                self._come_together(found, (layer, plain), pooled, top, columns)

    def _come_together(
        self,
        found: dict[tuple[int, Axes], Vector],
        key: tuple[int, Axes],
        pooled: Pooled | None,
        top: float,
        columns: Sequence[int],
    ) -> None:
        """Multiply the weights on one residual of all levels with its covariance, in place."""
        layer, plain = key
        shape = (*(self.levels[axis] for axis in plain), *columns)
        above = found.get(key, np.zeros(shape))
        if pooled is not None:
            deep = range(len(pooled.variances))
            sizes = self.tree.sizes
            each = [found.get((layer, (i, *plain)), np.zeros((sizes[i], *shape))) for i in deep]
            noises, whole_ = pooled.noises(each)
            above = top * (above + whole_)
            drawn = [(u * e.T).T for u, e in zip(pooled.own, noises, strict=True)]
            errors = pooled.errors(drawn, above)
            found |= {(layer, (i, *plain)): x for i, x in enumerate(errors)}
        else:
            above = top * above
        found[key] = above

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        more = {"children": self.children, "by_place": self.by_place}
        return CrossErrors.to_dict(self) | more

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read it from plain values; refuse places that are not those of the levels."""
        plain = CrossErrors.from_dict(stored)
        children = tuple(
            tuple(whole(children=each) for each in level) for level in stored["children"]
        )
        sizes, first = tuple(map(sum, children)), [len(level) for level in children]
        alike = first == [1, *sizes[:-1]] and plain.levels[: len(sizes)] == sizes
        if not children or not alike or plain.mixed:
            raise refuse("children", "into how many places those of each level are parted", "more")
        found = {(kind, axes) for kind, axes in plain.order} | {(0, ())}
        every = [(kind, axes) for kind, layer in enumerate(plain.layers) for axes in layer]
        levels = [[axis for axis in axes if axis < len(sizes)] for _, axes in every]
        around = {
            (k, (*([own[0] - 1] if own and own[0] else []), *axes[len(own) :]))
            for (k, axes), own in zip(every, levels, strict=True)
        }
        if any(len(own) > 1 for own in levels) or not {*every, *around} <= found:
            raise refuse("layers", "of all places around those that are measured", "fewer")
        by_place = tuple(
            tuple(tuple(finite(by_place=each) for each in own) for own in layer)
            for layer in stored["by_place"]
        )
        numbers = [
            [(1, sizes[own[0]]) if (own := place_of(axes, len(sizes))) else (0,) for axes in layer]
            for layer in plain.layers
        ]
        fits = [len(layer) for layer in by_place] == [len(layer) for layer in numbers] and all(
            len(each) in known and min(each, default=1.0) > 0
            for layer, own in zip(by_place, numbers, strict=True)
            for each, known in zip(layer, own, strict=True)
        )
        if not fits:
            raise refuse(
                "by_place", "a positive number for each place of a level, or one", "others"
            )
        kept = (getattr(plain, name) for name in STORED)
        return cls(*kept, children=children, by_place=by_place)


def errors_of(start: int, made: Layered, variances: Sequence[float]) -> CrossErrors:
    """Return the errors of tables under noise of such variances, by scale."""
    plain = CrossErrors.under(start, made, variances)
    if not made.children:
        return plain
    deep, layers, by_place = len(made.children), list[tuple[float, ...]](), list[Matrix]()
    for i, (layer, drawn) in enumerate(zip(made.layers, plain.variances, strict=True)):
        known, own, each = dict(zip(layer, drawn, strict=True)), list[float](), list[Scales]()
        for axes, variance in known.items():
            level = place_of(axes, deep)
            here = made.chains.get((i, axes[len(level) :]))
            if here is None:
                own.append(variance)
                each.append(())
            elif level:
                spread = (1 / here.precisions[level[0]]).tolist()
                own.append(variance)
                each.append(tuple(spread if len({*spread}) > 1 else spread[:1]))
            else:  # as it comes out, with what places say of it
                levels = range(len(here.precisions))
                own.append(here.pooled([math.sqrt(known[j, *axes]) for j in levels]).top(variance))
                each.append(())
        layers.append(tuple(own))
        by_place.append(tuple(each))
    kept = (getattr(replace(plain, variances=tuple(layers)), name) for name in STORED)
    return PlacedErrors(*kept, children=made.children, by_place=tuple(by_place))
