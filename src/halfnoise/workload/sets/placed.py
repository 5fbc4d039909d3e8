"""Tables by places inside places: one attribute that is nested, crossed with plain ones.

In every place, at every level, the residuals A of the place's own table are measured, and nothing
of the place above is taken from them. A person is in one place of each level, so moves each by
D_A, however uneven the tree: the cost is the sum of all D_A/s^2, for everybody. With r^2 as ever,
over all wanted tables of a level and of finer ones, the best precision is

    1/s^2 = (mu^2/T) N_A M_l (r_(l,A) - r_(l+1,A)),   T = sum of m_A M_l (r_(l,A) - r_(l+1,A)):

optimal where the tree is even, by the proof for plain tables with levels for axes (``theory``). It
is that of a class of residuals of r = r_l - r_(l+1). Then levels are brought together (``tree``).
"""

import math
from typing import ClassVar

import numpy as np

from halfnoise.values import dataclass, replace
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.base import Center, Channel, Mixture, Number, Scales, View
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.residuals import Axes, cells, distance, made_from, place_of, rank
from halfnoise.workload.sets.tree import NOWHERE, Pooled, Tree

LEAST = 1e-3  # of r: what a level that nobody asks for is measured with, lest it have no number


@dataclass(frozen=True, slots=True)
class Placed(Crossed):
    """Tables of which the first attributes are the levels of a ``tree``.

    >>> from halfnoise.workload.sets.by_cell import Wanted
    >>> Placed((2, 4, 3), (Wanted((1, 2), 1.0),), tree=Tree(((2,), (1, 3)))).size
    27
    """

    tree: Tree = NOWHERE
    ungrouped: ClassVar[bool] = True

    @property
    def deep(self) -> int:
        """How many of the attributes, the first ones, are levels of one that is nested."""
        return len(self.tree.children)

    def measured(self, squares: dict[Axes, float]) -> dict[Axes, float]:
        """Return r^2 of what is measured: of r less that of the same one level finer."""
        found = {}
        for axes, square in squares.items():
            own = place_of(axes, self.deep)
            level, r = own[0] + 1 if own else 0, math.sqrt(square)
            finer = (level, *axes[len(own) :]) if level < self.deep else None
            beyond = 0.0 if finer is None else math.sqrt(squares.get(finer, 0.0))
            found[axes] = max(r - beyond, LEAST * r) ** 2
        return found

    def view(self, center: Number | None, p: int) -> View:
        """Return what a person moves, and how much the places tell of the number of people."""
        people = self.layers[0]
        seen = zip(people.axes, people.squares, strict=True)
        told = math.fsum(math.sqrt(x) for axes, x in seen if axes == place_of(axes, self.deep))
        return replace(Crossed.view(self, center, p), root_told=told)

    def pooled(self, layer: int, plain: Axes, scales: Scales) -> Pooled | None:
        """Return how a residual of all levels comes together; None where it is of no place."""
        keys = [(layer, (level, *plain)) for level in range(self.deep)]
        own = [scales[self.places[key]] ** 2 for key in keys if key in self.places]
        return Pooled(self.tree, own) if own else None

    def noises(self, place: int, table: Axes, scales: Scales, root: float) -> list[float]:
        """Return the scales of the noises of one layer in a cell: on average over all places."""
        level, found = place_of(table, self.deep), []
        for axes in made_from(table, self.deep):
            plain = axes[len(level) :]
            pooled, at = self.pooled(place, plain, scales), self.places.get((place, plain))
            top = root**2 if at is None else scales[at] ** 2
            if pooled is not None and at is not None:
                top = pooled.top(top)
            square = top
            if pooled is not None and level:
                square = float(np.mean(pooled.spread(top)[level[0]]))
            others = cells(self.levels, (axis for axis in table if axis not in axes))
            far = float(distance(self.levels, plain))
            found.append(math.sqrt(square * far) / others)
        return found

    def borne(self, rates: Scales) -> Scales:
        """Return what squared scales weigh where n is public, as if places of a level were alike.

        With p_k the rate of level k, of M_k places, what is alike within those of level l but not
        in those around, M_l - M_(l-1) directions, is told with the precision X_l = sum of p_k/M_k
        over k >= l, and has the part p_k/(M_k X_l) of the noise of level k.
        """
        found = [0.0] * len(self.classes)
        for place, layer in enumerate(self.layers):
            squares = dict(zip(layer.axes, layer.squares, strict=True))
            for plain in {axes[len(place_of(axes, self.deep)) :] for axes in layer.axes}:
                every = [plain, *((level, *plain) for level in range(self.deep))]
                chain = [axes for axes in every if axes in squares]
                at = [self.places[place, axes] for axes in chain]
                many = [cells(self.levels, place_of(axes, self.deep)) for axes in chain]
                roots = np.cumsum([math.sqrt(squares[axes]) for axes in reversed(chain)])[::-1]
                told = np.array([rates[each] for each in at]) / many
                apart = np.diff([0 if plain == chain[0] else 1, *many])
                shared = np.cumsum(apart * (roots / np.cumsum(told[::-1])[::-1]) ** 2)
                weights = np.maximum(told**2 * many * shared, (LEAST * roots * many) ** 2)
                for each, weight in zip(at, weights.tolist(), strict=True):
                    found[each] += weight * rank(self.levels, plain) * cells(self.levels, plain)
        return tuple(found)

    def told(self, scales: Scales) -> float:
        """Return the variance with which it tells the number of people by itself."""
        pooled = self.pooled(0, (), scales)
        return math.inf if pooled is None else pooled.below

    def tells(self, channel: Channel, h: Floats) -> Floats | None:
        """Return the number of people that it tells by itself, row by row, from noisy h."""
        pooled, own = self.pooled(0, (), channel.drawn), self.residuals_from(channel, h)[0]
        if pooled is None:
            return None
        return pooled.told([own[level,] for level in range(len(pooled.variances))])

    def agreeing(
        self, channel: Channel, residuals: list[dict[Axes, Floats]]
    ) -> list[dict[Axes, Floats]]:
        """Return the residuals of all levels brought together; that of the number of people is."""
        scales, found = channel.drawn, [dict(each) for each in residuals]
        for layer, own in enumerate(residuals):
            for plain in [axes for axes in own if not place_of(axes, self.deep)]:
                if (pooled := self.pooled(layer, plain, scales)) is None:
                    continue
                noisy = [own[level, *plain] for level in range(len(pooled.variances))]
                top = own[plain]
                if (at := self.places.get((layer, plain))) is not None:
                    top = pooled.with_top(noisy, scales[at] ** 2, top)
                found[layer][plain] = top
                estimates = pooled.estimates(noisy, top)
                found[layer] |= {(i, *plain): x for i, x in enumerate(estimates)}
        return found

    def mixture(self, center: Center) -> Mixture:
        """Return how layers make up what comes out; how that leans on n hangs on the scales."""
        made = Crossed.mixture(self, center)
        if made.tables is None:
            raise AssertionError
        return made._replace(lean=(), tables=made.tables._replace(children=self.tree.children))
