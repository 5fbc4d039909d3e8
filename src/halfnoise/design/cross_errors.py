"""The joint error of all tables, in closed form: every covariance is a sum over common margins.

Noise of variance s_A^2 on residual A, projected, has covariance s_A^2 kron(I - J/v_i). Tables are
made of residuals (``residuals``), so that for a cell x of table B and a cell y of B'

    Cov = sum over A within B and B' of
          s_A^2 prod_(i in A) (1[x_i = y_i] - 1/v_i) / (N_(B-A) N_(B'-A)).

No matrix is built. What comes out may be made of several layers: a sum by cell is the noisy sum of
values from the midpoint and, times the midpoint, the noisy number of people.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import finite, refuse, whole
from halfnoise.values import dataclass
from halfnoise.workload.sets.base import Layered, Span
from halfnoise.workload.sets.residuals import (
    Axes,
    Levels,
    cells,
    made_from,
    place_of,
    projected,
    within,
)

Vector = NDArray[np.float64]
Matrix = tuple[tuple[float, ...], ...]
STORED = ("start", "levels", "layers", "variances", "loads", "order")


@dataclass(frozen=True)
class CrossErrors:
    """The errors of tables whose cells stand from ``start`` on, without that of the size.

    ``layers``: the axes of the residuals of each layer of noise; ``variances``: of their noise.
    ``loads``: for each kind of estimate, of which there are as many as layers, how much it has of
    each layer. ``order``: the tables that come out, each of a kind and by some axes. ``mixed``: by
    the axes of residuals in which layers share noises, how much each layer has of each noise.
    """

    start: int
    levels: Levels
    layers: tuple[tuple[Axes, ...], ...]
    variances: tuple[tuple[float, ...], ...]
    loads: tuple[tuple[float, ...], ...]
    order: tuple[tuple[int, Axes], ...]
    mixed: tuple[tuple[tuple[Axes, ...], Matrix], ...] = ()

    @classmethod
    def under(cls, start: int, made: Layered, variances: Sequence[float]) -> Self:
        """Return the errors of tables under noise of such variances, by scale."""
        drawn = iter(variances[place] for place in made.places)
        own = tuple(tuple(itertools.islice(drawn, len(layer))) for layer in made.layers)
        return cls(start, made.levels, made.layers, own, made.loads, made.tables)

    @property
    def deep(self) -> int:
        """How many of the attributes, the first ones, are levels of one that is nested."""
        return 0

    def leans(self) -> Iterator[Span]:
        """Go through runs of cells that have some of the noise of n which hangs on all scales."""
        return iter(())

    @cached_property
    def tables(self) -> list[tuple[int, Axes, int, int]]:
        """All tables that come out: of which kind, by what, and where their cells stand."""
        found, at = [], self.start
        for kind, axes in self.order:
            number = cells(self.levels, axes)
            found.append((kind, axes, at, at + number))
            at += number
        return found

    @property
    def stop(self) -> int:
        """Where the cells end."""
        return self.tables[-1][3]

    @cached_property
    def _noise(self) -> list[dict[Axes, float]]:
        pairs = zip(self.layers, self.variances, strict=True)
        return [dict(zip(axes, own, strict=True)) for axes, own in pairs]

    @cached_property
    def _starts(self) -> Vector:
        return np.array([start for _, _, start, _ in self.tables])

    @cached_property
    def _mixed(self) -> dict[Axes, Matrix]:
        """How much kinds of estimates have of each noise, where that is not by layer."""
        loads = np.array(self.loads)
        found: dict[Axes, Matrix] = {}
        for every, held in self.mixed:
            found |= dict.fromkeys(every, tuple(map(tuple, (loads @ np.array(held)).tolist())))
        return found

    def _held(self, kind: int, part: Axes) -> tuple[float, ...]:
        """Return how much a kind of estimate has of each noise in a residual."""
        return self._mixed.get(part, self.loads)[kind]

    def _varies(self, kind: int, other: int, part: Axes) -> float:
        """Return the covariance of two kinds of estimates in a residual."""
        seen = zip(self._held(kind, part), self._held(other, part), self._noise, strict=True)
        return sum(a * b * noise.get(part, 0.0) for a, b, noise in seen if a * b)

    def places(self, table: int) -> tuple[int, int]:
        """Return how many places a table is by, and how many cells, all alike, are in each."""
        return 1, cells(self.levels, self._table(table)[1])

    def around(self, one: int, other: int) -> NDArray[np.int64]:
        """Return which place of the margin ``other`` each place of a table is in."""
        del one, other
        return np.zeros(1, dtype=np.int64)

    def matched(self, one: int, other: int) -> Vector:
        """Return, by place, the covariance of cells with those of a margin that they are in.

        ``one``, ``other``: the tables, by where they start; of the same, its variances.
        """
        return np.array([self.covariance(one, other)])

    def diagonal(self) -> Vector:
        """Return the variance of every cell."""
        starts = [start for _, _, start, _ in self.tables]
        each = (np.repeat(self.matched(at, at), self.places(at)[1]) for at in starts)
        return np.concatenate([*each])

    def _cell(self, index: int) -> tuple[int, Axes, tuple[int, ...]]:
        place = int(np.searchsorted(self._starts, index, side="right")) - 1
        kind, axes, start, _ = self.tables[place]
        shape = tuple(self.levels[axis] for axis in axes)
        at = np.unravel_index(index - start, shape) if shape else ()
        return kind, axes, tuple(map(int, at))

    def covariance(self, one: int, other: int) -> float:
        """Return the covariance of two estimates; what is no cell has none of these noises."""
        if not all(self.start <= index < self.stop for index in (one, other)):
            return 0.0
        (kind, axes, x), (kind_, axes_, y) = self._cell(one), self._cell(other)
        here, there = dict(zip(axes, x, strict=True)), dict(zip(axes_, y, strict=True))
        common = tuple(axis for axis in axes if axis in there)
        total = 0.0
        for part in within(common):
            lie = math.prod((here[i] == there[i]) - 1 / self.levels[i] for i in part)
            total += self._varies(kind, kind_, part) * lie / self._apart_by(part, axes, axes_)
        return total

    def _apart_by(self, part: Axes, axes: Axes, axes_: Axes) -> int:
        """Return by how many cells of two tables a residual of both is shared out."""
        every = (i for own in (axes, axes_) for i in own if i not in part)
        return cells(self.levels, every)

    def of(self, weights: Mapping[int, float]) -> float:
        """Return the variance of a weighted sum of a few cells, and of what is no cell none."""
        own = [(i, w) for i, w in weights.items() if w and self.start <= i < self.stop]
        total = 0.0
        for number, (i, w) in enumerate(own):
            total += w * w * self.covariance(i, i)
            total += sum(2 * w * v * self.covariance(i, j) for j, v in own[:number])
        return total

    def block(self, one: int, other: int, chosen: Sequence[Sequence[int]]) -> float:
        """Return the covariance of the sums over a block of cells, in two tables by the same axes.

        ``one``, ``other``: the tables, by where they start; ``chosen``: which categories of each
        axis are in the block, k_i of v_i. With k_i ones along axis i, projected they have the
        squared length k_i (1 - k_i/v_i), and their mean is k_i/v_i.
        """
        (kind, axes), (kind_, _) = self._table(one), self._table(other)
        many, total = {i: len(own) for i, own in zip(axes, chosen, strict=True)}, 0.0
        for part in within(axes):
            inside = math.prod(many[i] * (1 - many[i] / self.levels[i]) for i in part)
            beside = math.prod(many[i] / self.levels[i] for i in axes if i not in part)
            total += self._varies(kind, kind_, part) * inside * beside**2
        return total

    def weighted(self, table: int, weights: Vector) -> float:
        """Return the variance of a weighted sum of all cells of a table, in a few passes.

        Of every residual it holds the weights averaged over the other axes, and projected.
        """
        (kind, axes), total = self._table(table), 0.0
        for part in within(axes):
            if amount := self._varies(kind, kind, part):
                gone = tuple(place for place, axis in enumerate(axes) if axis not in part)
                own = projected(weights.mean(axis=gone), 0)
                total += amount * float((own**2).sum())
        return total

    def _table(self, start: int) -> tuple[int, Axes]:
        kind, axes, _, _ = self.tables[int(np.searchsorted(self._starts, start))]
        return kind, axes

    def __matmul__(self, x: Vector) -> Vector:
        """Multiply with a vector, or with the columns of a matrix, that has a row for each cell."""
        noisy, columns, product = self._in_residuals(x), x.shape[1:], np.zeros_like(x)
        for kind, axes, start, stop in self.tables:
            made = np.zeros((*(self.levels[axis] for axis in axes), *columns))
            for layer, part in self._made_of(kind, axes):
                thin = [self.levels[axis] if axis in part else 1 for axis in axes]
                others = cells(self.levels, (i for i in axes if i not in part))
                held = noisy[layer, part].reshape((*thin, *columns))
                made += self._held(kind, part)[layer] * held / others
            product[start - self.start : stop - self.start] = made.reshape((-1, *columns))
        return product

    def _made_of(self, kind: int, axes: Axes) -> Iterator[tuple[int, Axes]]:
        """Go through the residuals, by noise, that a table is made of."""
        for part in made_from(axes, self.deep):
            held = zip(self._held(kind, part), self._noise, strict=True)
            yield from ((i, part) for i, (load, noise) in enumerate(held) if load and part in noise)

    def _in_residuals(self, x: Vector) -> dict[tuple[int, Axes], Vector]:
        """Return what weights on all cells come to in each residual, times its covariance."""
        found: dict[tuple[int, Axes], Vector] = {}
        for kind, axes, start, stop in self.tables:
            shape = [self.levels[axis] for axis in axes]
            own = x[start - self.start : stop - self.start].reshape((*shape, *x.shape[1:]))
            for layer, part in self._made_of(kind, axes):
                gone = tuple(place for place, axis in enumerate(axes) if axis not in part)
                less = self._held(kind, part)[layer] * (own.mean(axis=gone) if gone else own)
                found[layer, part] = found.get((layer, part), 0.0) + less
        for (layer, part), held in found.items():
            spread = held
            for axis in range(len(place_of(part, self.deep)), len(part)):
                spread = spread - spread.mean(axis=axis, keepdims=True)
            found[layer, part] = spread
        self._vary(found, x.shape[1:])
        return found

    def _vary(self, found: dict[tuple[int, Axes], Vector], _columns: Sequence[int]) -> None:
        """Multiply weights on residuals with the covariance of these, in place."""
        for (layer, part), held in found.items():
            found[layer, part] = self._noise[layer][part] * held

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        stored = {name: getattr(self, name) for name in STORED}
        return stored | ({"mixed": self.mixed} if self.mixed else {})

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read it from plain values; refuse what no errors of tables are."""
        levels = tuple(whole(least=2, levels=each) for each in stored["levels"])
        layers = tuple(map(_axes, stored["layers"]))
        numbers = {
            name: tuple(tuple(finite(**{name: each}) for each in row) for row in stored[name])
            for name in ("variances", "loads")
        }
        start = whole(least=0, start=stored["start"])
        order = tuple(
            (whole(least=0, kind=kind), tuple(whole(least=0, axis=axis) for axis in axes))
            for kind, axes in stored["order"]
        )
        mixed = tuple(
            (_axes(every), tuple(tuple(finite(mixed=each) for each in row) for row in rows))
            for every, rows in stored.get("mixed", ())
        )
        found = cls(start, levels, layers, numbers["variances"], numbers["loads"], order, mixed)
        alike = [len(layer) for layer in layers] == [len(row) for row in found.variances]
        known = {axis for layer in layers for axes in layer for axis in axes} <= {
            *range(len(levels))
        }
        matrices = (found.loads, *(rows for _, rows in mixed))
        square = all({len(rows), *map(len, rows)} == {len(layers)} for rows in matrices)
        measured = {axes for row in layers for axes in row}
        known = known and {axes for every, _ in mixed for axes in every} <= measured
        total = [()] if mixed else []  # of a value, which shares noises with all that is asked
        kept = all(k < len(layers) and (axes in layers[k] or axes in total) for k, axes in order)
        positive = kept and all(each > 0 for row in found.variances for each in row)
        if not (alike and known and square and positive and layers):
            raise refuse("tables", "axes and variances that belong together", "others")
        return found


def _axes(stored: Iterable[Iterable[Any]]) -> tuple[Axes, ...]:
    """Read the axes of several tables."""
    return tuple(tuple(whole(least=0, axis=axis) for axis in axes) for axes in stored)
