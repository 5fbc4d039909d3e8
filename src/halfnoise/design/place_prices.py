"""Prices on people in places inside places.

Places that are alike, inside and around, may be permuted, and noise averaged over that has no more
error. So numbers by smallest place part into totals over kinds of places and, for each kind u of
which there are c > 1 in each place around, into what these c are apart: the same totals inside one
u, less their mean over the c. A person in one u moves that by f = (c-1)/c, squared; n_u places have
f n_u such differences. A place of kind q, of n_q, has the share 1/n_q of their total:

    Q = f n_u^2 w_q/n_q,   P = f z z',   and f = 1 for the totals, where u is the whole,

with z = 1 for each kind that the person is in. Two persons in one u have f z z' in common, in two
of the same place around f - 1 times that, and otherwise nothing. Residuals A of plain attributes
multiply Q by m_A N_A and P by D_A, or kappa_A for what two have in common. Layers of values
multiply z. Totals that everybody adds alike are one total, and weigh together.
"""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from halfnoise.design.cell_prices import Averaged, Moments, moments_of
from halfnoise.design.cell_states import CellStates, Residuals
from halfnoise.design.spot_states import SpotStates, pairs
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.folding import Coordinate
from halfnoise.workload.sets.placed import Placed
from halfnoise.workload.sets.residuals import cells, rank, within
from halfnoise.workload.sets.spots import MOST_SPOTS, Spot, Spots

MOST_NUMBERS = 2**21  # in all matrices


class Part(NamedTuple):
    """Totals in places of a kind ``u``, of layers: who adds to them, and what they weigh."""

    residuals: Residuals
    u: int
    totals: Floats  # by kind of smallest place
    layers: list[int]
    weights: Floats


@dataclass(frozen=True, kw_only=True)
class PricedPlaces(Averaged):
    """Kinds of people, each an average over like places, and over like values in their cells."""

    prices: "_Prices" = field(compare=False, repr=False)

    @classmethod
    def of(cls, shape: Placed, most: int, *, leaves: bool) -> "PricedPlaces | None":
        """Return so many kinds at most; None if there are always more."""
        several = _Prices.list(shape, Spots(shape.tree).every, most, leaves=leaves)
        made = (cls._made(found, [*found.parts()]) for found in several)
        return next((found for found in made if found is not None), None)

    @classmethod
    def _made(cls, prices: "_Prices", parts: Sequence[Part]) -> "PricedPlaces | None":
        """Take totals for coordinates, single numbers for lines, and the rest for matrices.

        The total of people in all places is the number of people.
        """
        if prices.kinds * sum(len(part.layers) ** 2 for part in parts) > MOST_NUMBERS:
            return None
        totals, apart = parts[0], parts[1:]
        last = len(prices.units) - 1
        seen = zip(totals.layers, totals.totals, strict=True)
        whole = np.array([layer == last and bool(row.all()) for layer, row in seen])
        at = np.flatnonzero(~whole)
        added = prices.added(totals)[:, at]
        varies = prices.moved(totals)[:, at[:, None], at] - np.einsum("ki,kj->kij", added, added)
        coordinates = []
        for i in at:
            unit = Fraction(float(prices.units[totals.layers[i]]))
            weight = totals.weights[i] / float(unit) ** 2
            coordinates.append(Coordinate((-unit, unit), Fraction(0), weight, prices.shape.grain))
        lines = [part for part in apart if len(part.layers) == 1]
        across = [prices.moved(part)[:, 0, 0] for part in lines]
        more = [part for part in apart if len(part.layers) > 1]
        return cls(
            shape=prices.shape,
            coordinates=tuple(coordinates),
            across=np.array(across).reshape(len(lines), prices.kinds).T,
            weights=tuple(float(part.weights[0]) for part in lines),
            root_weight=float(totals.weights[whole].sum()),
            added=added,
            varies=varies,
            own=[(prices.moved(part), np.diag(part.weights)) for part in more],
            prices=prices,
        )

    def weighed(self, shape: Any) -> "PricedPlaces":
        """Return the same of a set that differs in what squared errors weigh alone."""
        prices = replace(self.prices, shape=shape)
        found = self._made(prices, [*prices.parts()])
        return self if found is None else found


@dataclass(frozen=True, kw_only=True)
class _Prices:
    """Who is priced: ``who`` is in a smallest place of a kind, and may go to one of another kind.

    The third says of which kind the smallest place is that both are in. ``sets``: which of the
    attributes may change; if none is listed, anything, which on average has nothing in common.
    """

    shape: Placed
    spots: Sequence[Spot]
    who: np.ndarray
    moments: Moments  # of all layers, in ``units``
    units: Floats
    sets: Sequence[frozenset[int]]
    leaves: bool

    @classmethod
    def list(
        cls, shape: Placed, every: Sequence[Spot], most: int, *, leaves: bool
    ) -> "Iterator[_Prices]":
        """List everybody, or all changes, then fewer: so many at most, or none."""
        states, plain = CellStates(shape), tuple(range(shape.deep, len(shape.levels)))
        few = len(every) <= MOST_SPOTS
        who = np.array([*pairs(every, shape.deep - 1, leaves=leaves)] if few else [])
        units = np.array([*(float(max(map(abs, x.amounts))) for x in states.layers), 1.0])
        raw = np.diag([*states.units, 1.0])
        raw[:-1, -1] = [float(layer.middle) for layer in states.layers]
        changes = [*map(frozenset, within(plain))] if 2 ** len(plain) <= most else []
        for sets in (() if leaves else changes, ()):
            left = most // max(1, len(who) * max(1, len(sets)))
            moments = moments_of(states, left, leaves=leaves) if left and len(who) else None
            if moments is not None:
                yield cls(
                    shape=shape,
                    spots=every,
                    who=who,
                    moments=moments.seen_by(raw / units[:, None]),
                    units=units,
                    sets=sets,
                    leaves=leaves,
                )

    @property
    def kinds(self) -> int:
        """How many kinds of people, or of changes, there are."""
        return len(self.who) * len(self.moments.own) * max(1, len(self.sets))

    def parts(self) -> Iterator[Part]:
        """Go through all totals, those of all people first."""
        last = [spot.around for spot in self.spots if spot.level == self.shape.deep - 1]
        under = np.array([[float(q in end) for end in last] for q in range(len(self.spots))])
        apart, people = [u for u in range(len(self.spots)) if self.apart(u)], len(self.units) - 1
        inside: dict[int, list[int]] = {u: [] for u in range(len(self.spots))}
        for q, u in ((q, u) for q, spot in enumerate(self.spots) for u in spot.around):
            inside[u].append(q)
        for (every, weights), u in itertools.product(SpotStates(self.shape).asked, apart):
            n, m = (of(self.shape.levels, every[0]) for of in (cells, rank))
            kind = Residuals(every, (), (), n, m)
            times = len(kind.axes) * kind.rank * kind.cells * self.apart(u)
            found: dict[tuple[bytes, int], tuple[Floats, float]] = {}
            for q, layer in itertools.product(inside[u], range(people + 1)):
                weight = weights.get((self.spots[q].level, layer), 0.0)
                if weight or (u == q == 0 and layer == people):
                    weight *= times * self.spots[u].number ** 2 / self.spots[q].number
                    key = (under[q].tobytes(), layer)
                    found[key] = (under[q], weight + (found[key][1] if key in found else 0.0))
            if found:
                layers, each = [layer for _, layer in found], found.values()
                own = np.array([weight for _, weight in each]) * self.units[layers] ** 2
                yield Part(kind, u, np.array([total for total, _ in each]), layers, own)

    def apart(self, u: int) -> float:
        """Return f, by how much a person in a place of a kind moves what these are apart."""
        return 1 - 1 / self.spots[u].each if u else 1.0

    def _each(self, part: Part, person: int) -> Floats:
        found: Floats = part.totals.T[self.who[:, person]]
        return found

    def added(self, part: Part) -> Floats:
        """Return what everybody adds to totals, on average."""
        means = self._each(part, 0)[:, None] * self.moments.mean[:, part.layers]
        means = means - self._each(part, 1)[:, None] * self.moments.other[:, part.layers]
        found: Floats = np.repeat(means[:, :, None], max(1, len(self.sets)), axis=2)
        return found.reshape(self.kinds, len(part.layers))

    def moved(self, part: Part) -> Floats:
        """Return P of everybody."""
        pick = (slice(None), np.array(part.layers)[:, None], part.layers)
        one, other, moments = self._each(part, 0), self._each(part, 1), self.moments

        def both(a: Floats, b: Floats, each: Floats) -> Floats:
            found: Floats = np.einsum("pc,pd->pcd", a, b)[:, None, None] * each[pick][:, None]
            return found

        far, f = float(part.residuals.distance), self.apart(part.u)
        found = f * far * (both(one, one, moments.own) + both(other, other, moments.gone))
        if not self.leaves:
            shared = np.array([self._shared(part.u, self.spots[a].around) for a in self.who[:, 2]])
            cross = both(one * shared[:, None], other, moments.both) * self._kappas(part.residuals)
            found = found - cross - cross.swapaxes(3, 4)
        return found.reshape(self.kinds, *found.shape[3:])

    def _shared(self, u: int, around: tuple[int, ...]) -> float:
        """Return how much of f two have in common who are in places of these kinds together."""
        if u in around:
            return self.apart(u)
        return self.apart(u) - 1 if self.spots[u].around[-2] == around[-1] else 0.0

    def _kappas(self, kind: Residuals) -> Floats:
        """Return kappa for every change."""
        found = map(float, CellStates(self.shape).kappas(kind, self.sets))
        return np.array([*found] or [float(not kind.axes[0])])[:, None, None]
