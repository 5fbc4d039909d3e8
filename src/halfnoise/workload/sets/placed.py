"""Tables by places inside places: one attribute that is nested, crossed with plain ones.

In every place, at every level, the residuals A of the place's own table are measured, and nothing
of the place above is taken from them. A residual has one scale in all places, with which each of
them has noise of its own, so that a person pays as much wherever they are, however uneven the tree
(``chains``). Then levels are brought together (``tree``).
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from halfnoise.values import dataclass, field, replace
from halfnoise.workload.grid import Floats, Ring, in_steps
from halfnoise.workload.sets.alike import Measured
from halfnoise.workload.sets.base import Center, Channel, Mixture, Number, Scales, View
from halfnoise.workload.sets.by_cell import Layer, Wanted
from halfnoise.workload.sets.chains import WHOLE, Chain, Wish, chain, spots_of
from halfnoise.workload.sets.crossed import Crossed, Known
from halfnoise.workload.sets.levelled import Pooling, at_first, pooling
from halfnoise.workload.sets.moves import Entry, Moves
from halfnoise.workload.sets.residuals import (
    Axes,
    cells,
    centred,
    distance,
    made_from,
    margins_of,
    place_of,
    rank,
)
from halfnoise.workload.sets.tree import NOWHERE, Pooled, Tree

MORE = 1 + 2.0**-48  # more than a root, and one product, are rounded down by
Every: TypeAlias = list[Axes]


@dataclass(frozen=True, slots=True)
class Placed(Crossed):
    """Tables of which the first attributes are the levels of a ``tree``.

    ``public``: whether n is, as nobody comes or goes. ``levelled``: whether each level has a scale
    of its own; ``alone``: whether places have no shares.

    >>> from halfnoise.workload.sets.by_cell import Wanted
    >>> Placed((2, 4, 3), (Wanted((1, 2), 1.0),), tree=Tree(((2,), (1, 3)))).size
    27
    """

    tree: Tree = NOWHERE
    public: bool = False
    levelled: bool = False
    alone: bool = False
    chains: dict[tuple[int, Axes], Chain] = field(init=False, repr=False, compare=False)
    drawn: dict[tuple[int, int], int] = field(init=False, repr=False, compare=False)

    @property
    def deep(self) -> int:
        """How many of the attributes, the first ones, are levels of one that is nested."""
        return len(self.tree.children)

    def weighed(self, wanted: tuple[Wanted, ...]) -> dict[Axes, float]:
        """Return what residuals weigh in tables by the very places, over how many these are."""
        found: defaultdict[Axes, float] = defaultdict(float)
        for table, weight in wanted:
            for axes in margins_of(table, self.deep):
                found[axes] += 0.0
            for axes in made_from(table, self.deep):
                found[axes] += weight / cells(self.levels, table)
        return dict(found)

    def of_layers(self, layers: tuple[Layer, ...]) -> tuple[list[Measured], float]:
        """Return what is measured: of each residual what is not by place, and its chain.

        An error in what is not by place enters all places as well.
        """
        chains, found, root = dict[tuple[int, Axes], Chain](), list[Measured](), 0.0
        for i, layer in enumerate(layers):
            for plain, whole, every, squares in self._residuals(layer):
                if self.levelled:
                    if every:
                        chains[i, plain] = Chain.plain(self.tree, len(every))
                    weights = at_first(squares, self._sizes(both := whole + every)).tolist()
                    for axes, w in zip(both, weights, strict=True):
                        found.append(Measured(i, plain, (axes,), w, like=place_of(axes, self.deep)))
                    continue
                more, own = 0.0, squares[len(whole) :]
                if every:
                    weights = [w * size for w, size in zip(own, self._sizes(every), strict=True)]
                    hidden, most = not self.public or bool(whole), max(weights)
                    wish = Wish(hidden, self.public, bool(i), cells(self.levels, plain), self.alone)
                    chains[i, plain] = each = chain(self.tree, weights, wish)
                    more, square = most * each.carried, most * each.weight(private=hidden)
                    kind = (each.weights, bool(each.shares), hidden)
                    found.append(Measured(i, plain, tuple(every), square, each.along, kind))
                found += [Measured(i, plain, (axes,), squares[0] + more) for axes in whole]
                root += 0.0 if whole else more
        object.__setattr__(self, "chains", chains)
        return found, root

    def _residuals(self, layer: Layer) -> Iterator[tuple[Axes, Every, Every, list[float]]]:
        """Go through residuals: by no place if measured, by all levels, and what these weigh."""
        squares = dict(zip(layer.axes, layer.squares, strict=True))
        for plain in dict.fromkeys(axes[len(place_of(axes, self.deep)) :] for axes in squares):
            levels = ((level, *plain) for level in range(self.deep))
            whole, every = ([axes for axes in of if axes in squares] for of in ([plain], levels))
            yield plain, whole, every, [squares[axes] for axes in (*whole, *every)]

    def _sizes(self, every: Sequence[Axes]) -> list[int]:
        """Return of how many places residuals are, one of which is of the whole."""
        return [cells(self.levels, place_of(axes, self.deep)) for axes in every]

    @property
    def ways(self) -> int:
        """Two where each level may have a scale of its own, or places no shares."""
        return 1 + bool(not self.public or len(self.levels) > self.deep or self.values)

    def in_way(self, way: int) -> "Placed":
        """Return the set as it is, or measured in the other way."""
        return replace(self, levelled=self.public, alone=not self.public) if way else self

    @property
    def pooling(self) -> Pooling | None:
        """Where each level has its own scale, how they tell the same."""
        several, units = list[Pooling](), np.eye(len(self.classes))
        for i, layer in enumerate(self.layers if self.levelled else ()):
            for plain, whole, every, squares in self._residuals(layer):
                both, many = whole + every, rank(self.levels, plain) * cells(self.levels, plain)
                own = pooling(squares, self._sizes(both), whole=bool(whole))
                told = own.told @ units[[self.places[i, axes] for axes in both]]
                several.append(Pooling(told, own.weights * many))
        return Pooling(*map(np.concatenate, zip(*several, strict=True))) if several else None

    def moved(self, measured: list[Measured]) -> Moves:
        """Return who can move what; two persons agree in the places around some place."""
        drawn, entries = dict[tuple[int, int], int](), list[Entry]()
        for key in self.places:
            drawn.setdefault(self._drawn(*key), len(drawn))
        object.__setattr__(self, "drawn", drawn)
        spots = spots_of(self.tree, self.chains.values()) if self.public else [WHOLE]
        for own in measured:
            shared, at = (Fraction(1),) * len(spots), self.places[own.layer, own.every[0]]
            if levels := [axes[0] for axes in own.every if place_of(axes, self.deep)]:
                of = self.chains[own.layer, own.axes].shared
                shared = tuple(of(levels, *spot) for spot in spots)
            entries.append(Entry(own.layer, own.axes, at, shared))
        return Moves(self.levels, self.values, self.classes, entries)

    def _drawn(self, layer: int, axes: Axes) -> tuple[int, int]:
        """Return the class of a residual and its level of places, or -1."""
        own = place_of(axes, self.deep)
        return self.places[layer, axes], own[0] if own else -1

    def at(self, layer: int, axes: Axes) -> int:
        """Return where the step of a residual stands among those of a channel."""
        return self.drawn[self._drawn(layer, axes)]

    def view(self, center: Number | None, p: int) -> View:
        """Return what a person moves, and how much the places tell of the number of people."""
        found, own = Crossed.view(self, center, p), self.chains.get((0, ()))
        if own is None or self.public:
            return found
        kind, more = self.classes[self.places[0, (0,)]], own.pooled().more
        return replace(found, root_told=math.sqrt(kind.weight / float(kind.distance)) * more)

    def pooled(self, layer: int, plain: Axes, scales: Scales) -> Pooled | None:
        """Return how a residual of all levels comes together; None where it is of no place."""
        own = self.chains.get((layer, plain))
        return None if own is None else own.pooled(self._own(layer, plain, scales))

    def _own(self, layer: int, plain: Axes, scales: Scales) -> list[float]:
        """Return the scales of a residual by its levels."""
        levels = range(len(self.chains[layer, plain].precisions))
        return [scales[self.places[layer, (level, *plain)]] for level in levels]

    def noises(self, at: int, table: Axes, scales: Scales, root: float, of: Known) -> list[float]:
        """Return the scales of the noises of one layer in a cell: on average over all places."""
        level, found = place_of(table, self.deep), list[float]()
        number = cells(self.levels, table[len(level) :])
        for axes in made_from(table, self.deep):
            plain = axes[len(level) :]
            if (at, plain) not in of:
                each = cells(self.levels, plain) * float(distance(self.levels, plain)) ** 0.5
                squares = self._squares(at, plain, scales, root)
                of[at, plain] = [each * math.sqrt(square) for square in squares]
            found.append(of[at, plain][level[0] + 1 if level else 0] / number)
        return found

    def _squares(self, place: int, plain: Axes, scales: Scales, root: float) -> list[float]:
        """Return the variances of a residual by no place, and on average by those of each level."""
        pooled, at = self.pooled(place, plain, scales), self.places.get((place, plain))
        top = root**2 if at is None else scales[at] ** 2
        if pooled is None:
            return [top] * (1 + self.deep)
        top = top if at is None else pooled.top(top)
        return [top, *(float(np.mean(own)) for own in pooled.spread(top))]

    def channel(
        self, quantum: Fraction, center: Center, scales: Scales, people: Fraction = Fraction(1)
    ) -> Channel:
        """Make the set ready: scales are those of the place of each level that has most noise."""
        found = Crossed.channel(self, quantum, center, scales, people)
        steps, drawn, known = list[Fraction](), list[float](), set[tuple[int, int]]()
        for of in self.places:
            if (key := self._drawn(*of)) not in known:
                known.add(key)
                scale, many = scales[key[0]] * self._largest(*of), self._multiplied(*of)
                steps.append(self.step(self.classes[key[0]], scale, many, people))
                drawn.append(in_steps(scale, steps[-1]))
        return replace(found, steps=tuple(steps), scales=tuple(drawn))

    def _noise(self, layer: int, axes: Axes) -> Floats:
        """Return the scales of noise in all places of a residual, at a scale of one."""
        if not (own := place_of(axes, self.deep)):
            return np.ones(1)
        return self.chains[layer, axes[1:]].precisions[own[0]] ** -0.5

    def _largest(self, layer: int, axes: Axes) -> float:
        return float(self._noise(layer, axes).max()) * (MORE if place_of(axes, self.deep) else 1)

    def _multiplied(self, layer: int, axes: Axes) -> int:
        own = place_of(axes, self.deep)
        times = self.chains[layer, axes[1:]].multiplied(own[0]) if own else 1
        return times * cells(self.levels, axes[len(own) :])

    @property
    def largest(self) -> int:
        """The most that a residual of values is multiplied with."""
        return max((self._multiplied(*key) for key in self.places if key[0]), default=1)

    def scales_of(self, value: int, scales: Scales) -> Scales:
        """Return the scales of a value's own noise, where each residual has most."""
        place = self.layer_of(value)
        every = (axes for layer, axes in self.places if layer == place)
        return tuple(scales[self.places[place, a]] * self._largest(place, a) for a in every)

    def spread(self, scales: Scales) -> Floats:
        """Return the scale of every cell that is measured, by place."""
        found: list[Floats] = []
        for layer, axes in self.places:
            own, many = self._noise(layer, axes), cells(self.levels, axes)
            each = scales[self.at(layer, axes)] * np.minimum(own / own.max() * MORE, 1.0)
            found.append(np.repeat(each, many // len(own)))
        return np.concatenate(found)

    def residual(self, layer: int, axes: Axes, table: Ring) -> tuple[Ring, int]:
        """Return a residual, whole, less the shares that places have of what is not by place."""
        own = place_of(axes, self.deep)
        table, many = centred(table, 1 + len(own)), self._multiplied(layer, axes)
        shares = self.chains[layer, axes[1:]].shares if own else ()
        if own and own[0] < len(shares):
            parts = shares[own[0]].reshape(-1, *[1] * (table.ndim - 2))
            whole = table.sum(1, np.uint64, keepdims=True)
            table = table * parts.sum(dtype=np.uint64) - whole * parts
        return table, many

    def told(self, scales: Scales) -> float:
        """Return what places say of the number of people, as a precision."""
        pooled = self.pooled(0, (), scales)
        return 0.0 if pooled is None else pooled.more

    def tells(self, channel: Channel, h: Floats, root: Floats) -> tuple[float, Floats]:
        """Return what places say of the number of people: how surely, and times that what."""
        pooled, own = self.pooled(0, (), self._scales(channel)), self.residuals_from(channel, h)[0]
        if pooled is None:
            return 0.0, 0.0 * root
        noisy = pooled.whole([own[level,] for level in range(len(pooled.variances))], root)
        return pooled.more, np.asarray(pooled.told(noisy) / pooled.below - pooled.taken * root)

    def _scales(self, channel: Channel) -> Scales:
        """Return the scales of all classes, as they are drawn."""
        scales = {i: channel.drawn[self.at(*k)] / self._largest(*k) for k, i in self.places.items()}
        return tuple(scales[place] for place in range(len(self.classes)))

    def agreeing(
        self, channel: Channel, residuals: list[dict[Axes, Floats]]
    ) -> list[dict[Axes, Floats]]:
        """Return the residuals of all levels brought together; that of the number of people is."""
        scales, found = self._scales(channel), [dict(each) for each in residuals]
        for (layer, plain), own in self.chains.items():
            pooled, top = own.pooled(self._own(layer, plain, scales)), residuals[layer][plain]
            noisy = [residuals[layer][level, *plain] for level in range(len(own.precisions))]
            noisy = pooled.whole(noisy, top)
            if (at := self.places.get((layer, plain))) is not None:
                top = pooled.with_top(noisy, scales[at] ** 2, top)
            found[layer][plain] = top
            found[layer] |= {(i, *plain): x for i, x in enumerate(pooled.estimates(noisy, top))}
        return found

    def mixture(self, center: Center) -> Mixture:
        """Return how layers make up what comes out; how that leans on n hangs on the scales."""
        made = Crossed.mixture(self, center)
        if made.tables is None:
            raise AssertionError
        placed = made.tables._replace(children=self.tree.children, chains=self.chains)
        return made._replace(lean=(), tables=placed)
