"""Prices on people where values are by cell, or places: in the parts that noise is found in.

What a person moves in the residuals A of a part (``cell_states``), z of all its coordinates, is
P = f D_A z z'. Two persons have kappa_A f z w' in common in one place of the kind, and f - 1 in the
place of f in two of the same place around; else nothing.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from halfnoise.design.cell_moments import MIN_PIECES, Averaged, Moments, moments_of
from halfnoise.design.cell_parts import CellPart
from halfnoise.design.cell_states import CellStates, pairs
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.spots import MOST_SPOTS

MOST_NUMBERS = 2**22  # in all matrices


@dataclass(frozen=True, kw_only=True)
class PricedCells(Averaged):
    """Kinds of people, each an average over like places, and over like values in their cells."""

    prices: "_Prices" = field(compare=False, repr=False)

    @classmethod
    def of(cls, shape: Crossed, most: int, *, leaves: bool) -> "PricedCells | None":
        """Return so many kinds at most; None if there are always more."""
        several = _Prices.list(CellStates(shape), most, leaves=leaves)
        made = (cls._made(found) for found in several)
        return next((found for found in made if found is not None), None)

    @classmethod
    def _made(cls, prices: "_Prices") -> "PricedCells | None":
        """Take free totals for coordinates, in places single numbers for lines, else matrices."""
        states, kinds = prices.states, prices.kinds
        numbers = kinds * sum(len(part.own) ** 2 for part in states.parts)
        if states.shape.deep and numbers > MOST_NUMBERS:
            return None
        (totals, *apart), at = states.parts, np.arange(len(states.free))
        added = prices.added(totals)[:, at]
        varies = prices.moved(totals)[:, at[:, None], at] - np.einsum("ki,kj->kij", added, added)
        coordinates = states.added(leaves=prices.leaves)
        unit = np.array([states.unit(layer) for _, layer in states.free])
        reach = [x.half if prices.leaves else max(x.along) for x in coordinates]
        ratio = unit / np.array([*map(float, reach)])
        lines = [part for part in apart if _line(states, part)]
        across = np.array([prices.moved(part)[:, 0, 0] for part in lines])
        more = [part for part in apart if not _line(states, part)]
        return cls(
            shape=states.shape,
            coordinates=coordinates,
            across=across.reshape(len(lines), kinds).T,
            weights=tuple(float(states.weighed(part)[0, 0]) for part in lines),
            root_weight=states.root_weight,
            added=added * unit,
            varies=varies * np.outer(ratio, ratio),
            own=[(prices.moved(part), states.weighed(part)) for part in more],
            prices=prices,
        )

    def means(self, place: int, middle: float, half: float) -> Floats:
        """Return what each kind adds to a coordinate on average, in its unit."""
        found: Floats = (self.added[:, place] - middle) / half
        return found

    @property
    def along_weights(self) -> Floats:
        """What squared errors of coordinates weigh together, and with the number of people."""
        return self.prices.states.free_weights

    def weighed(self, shape: Any) -> "PricedCells":
        """Return the same of a set that differs in what squared errors weigh alone."""
        known, states = self.prices.states.parts, CellStates(shape)
        if [part.about for part in known] != [part.about for part in states.parts]:
            found = self._made(replace(self.prices, states=states))
            return self if found is None else found
        asked = [(_line(states, part), states.weighed(part)) for part in states.parts[1:]]
        lines = tuple(float(own[0, 0]) for line, own in asked if line)
        more = (own for line, own in asked if not line)
        return replace(
            self,
            shape=shape,
            weights=lines,
            root_weight=states.root_weight,
            own=[(moved, own) for (moved, _), own in zip(self.own, more, strict=True)],
            prices=replace(self.prices, states=states),
        )


@dataclass(frozen=True, kw_only=True)
class _Prices:
    """Who is priced: ``who`` is in a smallest place of a kind, and may go to one of another kind.

    The third says of which kind the smallest place is that both are in. ``sets``: which of the
    attributes may change; if none is listed, anything, which on average has nothing in common.
    """

    states: CellStates
    who: np.ndarray
    moments: Moments  # of all layers, in their units
    sets: Sequence[frozenset[int]]
    leaves: bool

    @classmethod
    def list(cls, states: CellStates, most: int, *, leaves: bool) -> "Iterator[_Prices]":
        """List everybody, or all changes, then fewer: so many at most, or none."""
        shape, every = states.shape, states.spots.every
        few, many = len(every) <= MOST_SPOTS, 2 ** len(states.used) <= most
        who = np.array([*pairs(every, shape.deep - 1, leaves=leaves)] if few else [])
        raw = np.diag([*states.units, 1.0])
        raw[:-1, -1] = [float(layer.middle - layer.offset) for layer in states.layers]
        units = np.array([states.unit(layer) for layer in range(len(raw))])
        changes = () if leaves or not many else states.changes
        for loosely, sets in itertools.product((False, True), (changes, ())):
            left = most // max(1, len(who) * max(1, len(sets)))
            least = 1 if loosely and not sets else MIN_PIECES
            if not left or not len(who):
                continue
            found = moments_of(states, left, least, loosely=loosely, leaves=leaves)
            if found is not None:
                seen = found.seen_by(raw / units[:, None])
                yield cls(states=states, who=who, moments=seen, sets=sets, leaves=leaves)

    @property
    def kinds(self) -> int:
        """How many kinds of people, or of changes, there are."""
        return len(self.who) * len(self.moments.own) * max(1, len(self.sets))

    def _each(self, part: CellPart, person: int) -> Floats:
        ends = self.states.ends
        there = np.array([[float(q in end.around) for q, _ in part.own] for end in ends])
        found: Floats = there[self.who[:, person]]
        return found

    def added(self, part: CellPart) -> Floats:
        """Return what everybody adds to totals, on average."""
        layers = [layer for _, layer in part.own]
        means = self._each(part, 0)[:, None] * self.moments.mean[:, layers]
        means = means - self._each(part, 1)[:, None] * self.moments.other[:, layers]
        found: Floats = np.repeat(means[:, :, None], max(1, len(self.sets)), axis=2)
        return found.reshape(self.kinds, len(layers))

    def moved(self, part: CellPart) -> Floats:
        """Return P of everybody."""
        layers = np.array([layer for _, layer in part.own])
        pick = (slice(None), layers[:, None], layers)
        one, other, moments = self._each(part, 0), self._each(part, 1), self.moments

        def both(a: Floats, b: Floats, each: Floats) -> Floats:
            found: Floats = np.einsum("pc,pd->pcd", a, b)[:, None, None] * each[pick][:, None]
            return found

        far = float(part.distance)
        found = far * (both(one, one, moments.own) + both(other, other, moments.gone))
        if not self.leaves:
            shared = np.array([float(self.states.shared(part, at)) for at in self.who[:, 2]])
            cross = both(one * shared[:, None], other, moments.both) * self._kappas(part)
            found = found - cross - cross.swapaxes(3, 4)
        return found.reshape(self.kinds, *found.shape[3:])

    def _kappas(self, part: CellPart) -> Floats:
        """Return kappa for every change."""
        found = map(float, self.states.kappas(part, self.sets))
        return np.array([*found] or [float(not part.axes[0])])[:, None, None]


def _line(states: CellStates, part: CellPart) -> bool:
    """Whether a part is a single number, which is a line where no noise is found from prices."""
    return states.shape.deep > 0 and len(part.own) == 1
