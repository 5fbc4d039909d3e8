"""The errors of places inside places whose noise was found for them: part by part.

What is in a place holds of each part of the places around it (``cell_states``) n_u/n_t of what is
measured there, so the covariance of two estimates is a sum over the places that both are in, and
those beside each other that are alike: with f = (c-1)/c in the same of c, f - 1 in two of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from halfnoise.checks import finite, refuse, whole
from halfnoise.design.cross_errors import Vector
from halfnoise.design.placed_errors import PlacedErrors
from halfnoise.design.spot_noises import Noises, axes_of
from halfnoise.values import dataclass, field
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.base import Span
from halfnoise.workload.sets.residuals import Axes, cells, distance, projected, within
from halfnoise.workload.sets.spots import Spots


@dataclass(frozen=True)
class SpotErrors(PlacedErrors):
    """The errors of tables by places, without those of the totals of everything."""

    noises: tuple[Noises, ...] = field(default=(), kw_only=True)

    @cached_property
    def spots(self) -> Spots:
        """The kinds of places."""
        return Spots(self.tree)

    @cached_property
    def _parts(self) -> dict[tuple[Axes, int], Noises]:
        return {(axes, each.spot): each for each in self.noises for axes in each.axes}

    @cached_property
    def _known(self) -> dict[tuple[Axes, int, int, int], Vector]:
        return {}  # as they were found: of one part estimates of several places hold some

    def _apart_in(self, spot: int) -> float:
        return 1 - 1 / self.spots.every[spot].each if spot else 1.0

    def _holds(self, axes: Axes, u: int, kind: int, t: int) -> Vector:
        """Return how much estimates in places of a kind hold of each noise in those around."""
        if (key := (axes, u, kind, t)) not in self._known:
            self._known[key] = self.held(self._parts[axes, u], self.loads[kind], t)
        return self._known[key]

    def _in_common(self, axes: Axes, u: int, kinds: Sequence[int], places: Sequence[int]) -> float:
        """Return the covariance of two estimates that hold of the same noises, if there are any."""
        if (axes, u) not in self._parts:
            return 0.0
        one, other = (self._holds(axes, u, *own) for own in zip(kinds, places, strict=True))
        return float((one * other) @ np.array(self._parts[axes, u].variances))

    def held(self, own: Noises, loads: Sequence[float], t: int) -> Vector:
        """Return how much what holds so much of each layer, in a place, holds of each noise."""
        every = self.spots.every
        found = np.zeros(len(own.variances))
        for (q, layer), row in zip(own.own, own.held, strict=True):
            if t in every[q].around:
                found += loads[layer] * np.array(row)
        return found * every[own.spot].number / every[t].number

    def leans(self) -> Iterator[Span]:
        """Go through runs of cells that lean on the number of people by itself: there are none."""
        return iter(())

    def alone(self, axes: Axes, loads: Floats, t: int) -> float:
        """Return the variance in a residual of what holds so much of each layer, in places."""
        total = 0.0
        for u in self.spots.every[t].around:
            if (own := self._parts.get((axes, u))) is not None:
                squares = self.held(own, loads.tolist(), t) ** 2
                total += self._apart_in(u) * float(squares @ np.array(own.variances))
        return total

    def matched(self, one: int, other: int) -> Vector:
        """Return, by place, the covariance of cells with those of a margin that they are in."""
        (kind, axes), (kind_, axes_) = self._table(one), self._table(other)
        (level, plain), (level_, plain_) = self._apart(axes), self._apart(axes_)
        common, every = tuple(i for i in plain if i in plain_), self.spots.every
        kinds = self.spots.kinds[level] if level >= 0 else np.zeros(1, dtype=np.intp)
        found = np.zeros(len(every))
        for t in np.unique(kinds).tolist():
            t_ = every[t].around[level_ + 1]
            for part in within(common):
                moved = float(distance(self.levels, part)) / self._apart_by(part, plain, plain_)
                for u in every[t_].around:
                    own = self._in_common(part, u, (kind, kind_), (t, t_))
                    found[t] += moved * self._apart_in(u) * own
        return np.asarray(found[kinds])

    def covariance(self, one: int, other: int) -> float:
        """Return the covariance of two estimates; what is no cell has none of these noises."""
        if not all(self.start <= index < self.stop for index in (one, other)):
            return 0.0
        (kind, axes, x), (kind_, axes_, y) = self._cell(one), self._cell(other)
        (level, plain), (level_, plain_) = self._apart(axes), self._apart(axes_)
        here, there = dict(zip(axes, x, strict=True)), dict(zip(axes_, y, strict=True))
        common, total = tuple(i for i in plain if i in plain_), 0.0
        t, factors = self._beside((level, here.get(level, 0)), (level_, there.get(level_, 0)))
        for part in within(common):
            lie = 1.0
            for i in part:
                lie *= (here[i] == there[i]) - 1 / self.levels[i]
            lie /= self._apart_by(part, plain, plain_)
            for u, factor in factors:
                total += lie * factor * self._in_common(part, u, (kind, kind_), t)
        return total

    def _beside(
        self, one: tuple[int, int], other: tuple[int, int]
    ) -> tuple[tuple[int, int], list[tuple[int, float]]]:
        """Return the kinds of two places, and of what around them they share how much."""
        paths = [[0], [0]]
        for path, (level, place) in zip(paths, (one, other), strict=True):
            path += [int(self.tree.above(level, i)[place]) for i in range(level + 1)]
        kinds = [
            [0, *(int(self.spots.kinds[i][place]) for i, place in enumerate(path[1:]))]
            for path in paths
        ]
        found = list[tuple[int, float]]()
        for a, b, u, u_ in zip(*paths, *kinds, strict=False):
            if u != u_:
                break
            found.append((u, self._apart_in(u) - (a != b)))
            if a != b:
                break
        return (kinds[0][-1], kinds[1][-1]), found

    def block(self, one: int, other: int, chosen: Sequence[Sequence[int]]) -> float:
        """Return the covariance of the sums over a block of cells, in two tables by the same axes.

        ``chosen``: along each axis, which categories are in the block.
        """
        (kind, axes), (kind_, _) = self._table(one), self._table(other)
        level, plain = self._apart(axes)
        many, total = {i: len(own) for i, own in zip(axes, chosen, strict=True)}, 0.0
        inside = np.zeros((self._count(axes), 1))
        inside[[*chosen[0]] if level >= 0 else 0] = 1.0
        for part in within(plain):
            beside = 1.0
            for i in plain:
                share = many[i] / self.levels[i]
                beside *= many[i] * (1 - share) if i in part else share**2
            total += beside * self._both(part, (kind, kind_), level, inside)
        return total

    def weighted(self, table: int, weights: Vector) -> float:
        """Return the variance of a weighted sum of all cells of a table, in a few passes."""
        (kind, axes), total = self._table(table), 0.0
        level, plain = self._apart(axes)
        own = weights if level >= 0 else weights[np.newaxis]
        for part in within(plain):
            gone = tuple(1 + at for at, axis in enumerate(plain) if axis not in part)
            held = projected(own.mean(axis=gone) if gone else own)
            total += self._both(part, (kind, kind), level, held.reshape(len(held), -1))
        return total

    def _both(self, part: Axes, kinds: tuple[int, int], level: int, weights: Vector) -> float:
        """Return the covariance of weighted sums of two kinds of estimates in a residual."""
        total = 0.0
        for u in range(len(self.spots.every)):
            if (noises := self._parts.get((part, u))) is not None:
                one, two = (self._down(part, u, kind, level, weights) for kind in kinds)
                squares = (self._less_mean(u, one) * two).sum(axis=(0, 2))
                total += float(squares @ np.array(noises.variances))
        return total

    def _less_mean(self, u: int, x: Vector) -> Vector:
        if u == 0:
            return x
        like = x.reshape(-1, self.spots.every[u].each, *x.shape[1:])
        apart: Vector = (like - like.mean(axis=1, keepdims=True)).reshape(x.shape)
        return apart

    def _among(self, u: int, level: int) -> Iterator[tuple[int, Any, int]]:
        """Go through kinds of places of a level in those of a kind: which, and how many in one."""
        number = self.spots.every[u].number
        for t in self.spots.under(u, level):
            places = self.spots.places[t] if t else np.zeros(1, dtype=np.intp)
            yield t, places, len(places) // number

    def _down(self, part: Axes, u: int, kind: int, level: int, x: Vector) -> Vector:
        """Return what weights on places, by column, come to on the noises in places of a kind."""
        number, noises = self.spots.every[u].number, len(self._parts[part, u].variances)
        found = np.zeros((number, noises, x.shape[1]))
        for t, places, inside in self._among(u, level):
            held = self._holds(part, u, kind, t)
            summed = x[places].reshape(number, inside, -1).sum(axis=1)
            found += np.multiply.outer(summed, held).swapaxes(1, 2)
        return found

    def _up(self, part: Axes, u: int, kind: int, level: int, noise: Vector) -> Vector:
        """Return what noises in places of a kind make in all places of a level."""
        found = np.zeros((self._size(level), noise.shape[2]))
        for t, places, inside in self._among(u, level):
            made = np.einsum("n,vnc->vc", self._holds(part, u, kind, t), noise)
            found[places] = made.repeat(inside, axis=0)
        return found

    def __matmul__(self, x: Vector) -> Vector:
        """Multiply with a vector, or with the columns of a matrix, that has a row for each cell."""
        columns, product = x.reshape(len(x), -1), np.zeros((len(x), x.size // max(1, len(x))))
        drawn = dict[tuple[Axes, int], Vector]()
        for kind, level, plain, own in self._by_table():
            shape = [-1, *(self.levels[axis] for axis in plain), columns.shape[1]]
            for part, gone in _margins(plain):
                held = columns[own].reshape(shape).mean(axis=gone, keepdims=True)
                for axis in range(1, 1 + len(plain)):
                    held = held if axis in gone else held - held.mean(axis=axis, keepdims=True)
                held = held.reshape(len(held), -1)
                for u in self._places(part, level):
                    more = self._down(part, u, kind, level, held)
                    drawn[part, u] = drawn.get((part, u), 0.0) + more
        for (part, u), noise in drawn.items():
            variances = np.array(self._parts[part, u].variances)
            drawn[part, u] = self._less_mean(u, noise) * variances[:, np.newaxis]
        for kind, level, plain, own in self._by_table():
            shape = [self._size(level), *(self.levels[axis] for axis in plain), columns.shape[1]]
            made = np.zeros(shape)
            for part, gone in _margins(plain):
                thin = [1 if at in gone else n for at, n in enumerate(shape)]
                others = cells(self.levels, (axis for axis in plain if axis not in part))
                for u in self._places(part, level):
                    held = self._up(part, u, kind, level, drawn[part, u])
                    made += held.reshape(thin) / others
            product[own] = made.reshape(-1, columns.shape[1])
        return product.reshape(x.shape)

    def _by_table(self) -> Iterator[tuple[int, int, Axes, slice]]:
        for kind, axes, start, stop in self.tables:
            yield kind, *self._apart(axes), slice(start - self.start, stop - self.start)

    def _size(self, level: int) -> int:
        return 1 if level < 0 else self.tree.sizes[level]

    def _places(self, part: Axes, level: int) -> Iterator[int]:
        """Go through the kinds of places in which a residual is measured, and which hold others."""
        for u in range(len(self.spots.every)):
            if (part, u) in self._parts and self.spots.under(u, level):
                yield u

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        return PlacedErrors.to_dict(self) | {"parts": [each._asdict() for each in self.noises]}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read it from plain values; refuse what no errors of places are."""
        children = tuple(
            tuple(whole(children=each) for each in level) for level in stored["children"]
        )
        levels = tuple(whole(least=2, levels=each) for each in stored["levels"])
        order = tuple((whole(least=0, kind=kind), axes_of(axes)) for kind, axes in stored["order"])
        loads = tuple(tuple(finite(loads=each) for each in row) for row in stored["loads"])
        noises = tuple(map(Noises.from_dict, stored["parts"]))
        start, nothing = whole(least=0, start=stored["start"]), ((),) * len(loads)
        given = (start, levels, nothing, nothing, loads, order)
        found = cls(*given, children=children, noises=noises)
        if not found.sound:
            raise refuse("tables", "places, tables and noises that belong together", "others")
        return found

    @property
    def sound(self) -> bool:
        """Whether all that is said belongs together."""
        sizes, first = self.tree.sizes, [len(level) for level in self.children]
        if first != [1, *sizes[:-1]] or self.levels[: self.deep] != sizes or not self.order:
            return False
        kinds, axes = len(self.loads), range(len(self.levels))
        tables = [table for _, table in self.order]
        known = all({*own} <= {*axes} and own == tuple(sorted({*own})) for own in tables)
        plain = all(len(own) < 2 or own[1] >= self.deep for own in tables)
        square = all(len(row) == kinds for row in self.loads) and all(
            k < kinds for k, _ in self.order
        )
        plain_ = range(self.deep, len(self.levels))
        fit = all(each.fits(self.spots, kinds, plain_) for each in self.noises)
        return known and plain and square and fit


def _margins(plain: Axes) -> Iterator[tuple[Axes, tuple[int, ...]]]:
    """Go through the margins of a table in a place, and along which axes of it each is summed."""
    for part in within(plain):
        yield part, tuple(1 + at for at, axis in enumerate(plain) if axis not in part)
