"""What people add by cell and by kind of place: the coordinates of the best noise, and its parts.

Tables without places have one kind of place, the whole, of which the parts are residuals that are
alike. In each kind of place (``spots``) numbers of the smallest places that are asked for, by kind
q of these and by layer, are added up; and where several places of a kind are in one place around
them, these are measured as residuals are, less their mean. All that is in a place v is made of the
parts of the places around it: with R what is measured in a place, less the mean of the c like it,

    T_v[q] = R_v[q] + T_w[q]/c,   w the place around v,   and T_q[q] is the number in one place.

So a person in v moves the part by f = (c-1)/c, squared, and of the n_u places each has n_u/n_t of
what is in one place t within. Layers are those of values (``cell_layers``), seen from the middle of
their range where all give them; and people, who come last.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np

from halfnoise.design.cell_layers import CellLayer, CellLayers
from halfnoise.design.cell_parts import CellPart, Kinds, Own
from halfnoise.values import dataclass
from halfnoise.workload.grid import Floats, Grain
from halfnoise.workload.sets.alike import DIGITS
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.folding import Coordinate
from halfnoise.workload.sets.placed import Placed
from halfnoise.workload.sets.residuals import Axes, cells, place_of, rank, within
from halfnoise.workload.sets.spots import Spot, Spots
from halfnoise.workload.sets.tree import NOWHERE

Asked: TypeAlias = dict[tuple[int, int], float]  # by level, -1 of all, and layer


@dataclass(frozen=True)
class CellStates(CellLayers):
    """The layers of all values, and the parts that they are measured in."""

    shape: Crossed

    @cached_property
    def spots(self) -> Spots:
        """All kinds of places; of tables without any, the whole."""
        return Spots(self.shape.tree if isinstance(self.shape, Placed) else NOWHERE)

    @cached_property
    def ends(self) -> list[Spot]:
        """The kinds of the smallest places."""
        return [spot for spot in self.spots.every if spot.level == self.shape.deep - 1]

    @cached_property
    def people(self) -> int:
        """The layer of people."""
        return len(self.layers)

    def place(self, layer: int) -> int:
        """Return which layer of the set one is: there people come first."""
        return (layer + 1) % (self.people + 1)

    def amounts(self, layer: int) -> tuple[Fraction, ...]:
        """Return what people may add to a layer, from where they count; elsewhere nothing."""
        if layer == self.people:
            return Fraction(1), Fraction(0)
        own = self.layers[layer]
        return (*(x - own.offset for x in own.amounts), Fraction(0))

    def which(self, own: Own, kinds: Kinds) -> Kinds:
        """Return which of these amounts people of such kinds add to a coordinate."""
        spot, layer = own
        there = np.array([spot in end.around for end in self.ends])[kinds[..., -1]]
        if layer == self.people:
            return np.where(there, 0, 1)
        each: CellLayer = self.layers[layer]
        return np.where(there, np.array(each.which)[kinds[..., each.value]], len(each.amounts))

    def unit(self, layer: int) -> float:
        """Return half of the range of a layer, and one person of people."""
        return 1.0 if layer == self.people else float(self.layers[layer].half)

    def lean(self, layer: int) -> Fraction:
        """Return how much an error in the number of people enters a layer as it is asked for."""
        return Fraction(0) if layer == self.people else self.layers[layer].offset

    @cached_property
    def asked(self) -> list[tuple[tuple[Axes, ...], Asked]]:
        """Residuals of plain attributes, first none, those that are alike together.

        With each goes what a squared error in a place weighs, by its level and layer.
        """
        shape, found = self.shape, dict[Axes, Asked]()
        wanted = [(self.people, 1.0, shape.wanted)]
        wanted += [(k, x.weight, shape.values[x.value].wanted) for k, x in enumerate(self.layers)]
        found[()] = defaultdict(float)
        for layer, weight, tables in wanted:
            for table, own in tables:
                place = place_of(table, shape.deep)
                plain, level = table[len(place) :], place[0] if place else -1
                for axes in within(plain):
                    each = found.setdefault(axes, defaultdict(float))
                    each[level, layer] += weight * own / cells(shape.levels, plain)
        like: dict[object, list[Axes]] = {}
        for axes, weights in found.items():
            n, m = (of(shape.levels, axes) for of in (cells, rank))
            told = sorted((at, f"{weight:.{DIGITS}g}") for at, weight in weights.items())
            like.setdefault((n, m, *told), []).append(axes)
        return [(tuple(every), found[every[0]]) for every in like.values()]

    def _finest(self, weights: Asked) -> dict[int, int]:
        """Return the finest level by which each layer is asked for, and people by that of all."""
        found = dict[int, int]()
        for level, layer in weights:
            for each in (layer, self.people):
                found[each] = max(found.get(each, -1), level)
        return found

    @cached_property
    def finest(self) -> dict[Axes, dict[int, int]]:
        """Of every residual, the finest level by which each layer is asked for."""
        seen = ((every, self._finest(weights)) for every, weights in self.asked)
        return {axes: finest for every, finest in seen for axes in every}

    def own(self, finest: dict[int, int], spot: int) -> tuple[Own, ...]:
        """Return the coordinates in places of a kind; values are first."""
        order = sorted(finest, key=lambda k: (self._grain(k) is not Grain.VALUES, k))
        return tuple((q, k) for k in order for q in self.spots.under(spot, finest[k]))

    def _grain(self, layer: int) -> Grain:
        return Grain.PEOPLE if layer == self.people else self.layers[layer].grain

    @cached_property
    def parts(self) -> list[CellPart]:
        """All parts, first the totals of everything by no plain attribute."""
        found, levels = list[CellPart](), self.shape.levels
        for (every, weights), u in itertools.product(self.asked, range(len(self.spots.every))):
            spot, finest = self.spots.every[u], self._finest(weights)
            if (own := self.own(finest, u)) and (u == 0 or spot.each > 1):
                n, m = (of(levels, every[0]) for of in (cells, rank))
                part = CellPart(every, u, own, (), spot.number, spot.each, n, m)
                asked = self._weights(part, weights, finest).tolist()
                found.append(part._replace(weights=tuple(map(tuple, asked))))
        return found

    def _weights(self, part: CellPart, weights: Asked, finest: dict[int, int]) -> Floats:
        """Return what squared errors of coordinates weigh together."""
        found: Floats = np.zeros((len(part.own),) * 2)
        place = {own: i for i, own in enumerate(part.own)}
        times = len(part.axes) * part.rank * part.cells * float(part.apart) * part.places**2
        for (level, layer), weight in weights.items():
            for t in self.spots.under(part.spot, level):
                held = np.zeros(len(found))
                for of, much in ((layer, 1.0), (self.people, float(self.lean(layer)))):
                    at = [place[q, of] for q in self.spots.under(t, finest[of])] if much else []
                    held[at] += much
                found += times * weight / self.spots.every[t].number * np.outer(held, held)
        return found

    def weighed(self, part: CellPart) -> Floats:
        """Return what squared errors of coordinates weigh together, in their units."""
        unit = np.array([self.unit(layer) for _, layer in part.own])
        return np.asarray(np.array(part.weights) * np.outer(unit, unit))

    @cached_property
    def totals(self) -> CellPart:
        """The totals of everything: coordinates beside those of all else that is asked."""
        return self.parts[0]

    @cached_property
    def free(self) -> tuple[Own, ...]:
        """Those of them that are not given by the others and the number of people."""
        return self.totals.own[:-1]

    @cached_property
    def _free_weights(self) -> Floats:
        own = self.totals.own
        seen = np.eye(len(own))
        for i, (_, layer) in enumerate(own[:-1]):
            seen[-1, i] -= layer == self.people  # the last kind has all whom others have not
        return np.asarray(seen.T @ np.array(self.totals.weights) @ seen)

    @property
    def free_weights(self) -> Floats:
        """What squared errors of these weigh together, and with the number of people."""
        return self._free_weights - np.diag([0.0] * len(self.free) + [self.root_weight])

    def added(self, *, leaves: bool, states: Kinds | None = None) -> tuple[Coordinate, ...]:
        """Return the free totals; of changes, the differences of two states."""
        found = list[Coordinate]()
        for own in self.free:
            along = self.amounts(own[1])
            which = None if states is None else self.which(own, states)
            if not leaves:
                which = None if which is None else which[0] * len(along) + which[1]
                along = tuple(x - y for x, y in itertools.product(along, repeat=2))
            half = Fraction(self._grain(own[1]) is Grain.PEOPLE, 2)
            grain, quantum = self._grain(own[1]), self.quantum(own[1])
            found.append(Coordinate(along, half, 0, grain, quantum, Fraction(0), which))
        return tuple(found)

    def quantum(self, layer: int) -> Fraction:
        """Return what a layer is counted in."""
        return Fraction(1) if layer == self.people else self.layers[layer].quantum

    @property
    def leans(self) -> list[list[tuple[int, float]]]:
        """Of which other layers of the set, and how much, an estimate of each has as well."""
        found = list[list[tuple[int, float]]]()
        for place, layer in enumerate(self.shape.layers):
            value = None if layer.value is None else self.shape.values[layer.value]
            if value is None or layer.answers:
                found.append([])
            elif value.optional:
                found.append([(place + 1, float(value.middle))])
            else:
                found.append([(0, float(value.offset))])
        return found

    @property
    def held(self) -> Floats:
        """How much each kind of estimate holds of each layer, people first."""
        found = np.eye(len(self.shape.layers))
        for place, own in enumerate(self.leans):
            for k, part in own:
                found[place, k] = part
        return found

    @property
    def root_weight(self) -> float:
        """What a squared error in the number of people weighs, without what leans on it."""
        return float(self._free_weights[-1, -1])

    @cached_property
    def used(self) -> Axes:
        """The attributes of all residuals, but for places."""
        return tuple(sorted({axis for axes in self.finest for axis in axes}))

    @cached_property
    def changes(self) -> list[frozenset[int]]:
        """All sets of attributes that may change."""
        return [*map(frozenset, within(self.used))]

    def number(self, *, leaves: bool) -> int:
        """Return how many kinds of people, or of changes, there are."""
        states, last = math.prod(self.numbers), self.shape.deep - 1
        if leaves:
            return states * len(self.ends)
        two = (i == j for i, j, _ in pairs(self.spots.every, last, leaves=False))
        each = sum(states * (states + 1) // 2 if same else states**2 for same in two)
        return each << len(self.used)

    def everybody(self) -> Kinds:
        """Return everybody."""
        numbers = (*self.numbers, len(self.ends))
        return np.indices(numbers).reshape(len(numbers), -1).T

    def changed(self) -> tuple[Kinds, Kinds, Floats]:
        """Return all changes, from whom to whom; which of what two may share; and that, by part."""
        several = [*itertools.product(*map(range, self.numbers))]
        states = np.array(several, dtype=np.intp).reshape(len(several), len(self.numbers))
        who, which, shared = list[Kinds](), list[Kinds](), list[Floats]()
        kappas = np.array([[*map(float, self.kappas(each, self.changes))] for each in self.parts])
        for i, j, around in pairs(self.spots.every, self.shape.deep - 1, leaves=False):
            both = np.triu_indices(len(states), 0 if i == j else -len(states))
            two = [
                np.insert(states[own], states.shape[1], end, axis=1)
                for own, end in zip(both, (i, j), strict=True)
            ]
            who += [np.array(two)] * len(self.changes)
            first = len(self.changes) * len(shared)
            which.append(np.repeat(first + np.arange(len(self.changes)), len(both[0])))
            shared.append(kappas * [[float(self.shared(part, around))] for part in self.parts])
        return np.concatenate(who, axis=1), np.concatenate(which), np.concatenate(shared, axis=1)

    def shared(self, part: CellPart, around: int) -> Fraction:
        """Return how much of what they move two have in common who agree around such places."""
        seen = self.spots.every[around].around
        if part.spot in seen:
            return part.apart
        beside = self.spots.every[part.spot].around[-2] == seen[-1]
        return part.apart - 1 if beside else Fraction(0)


def pairs(every: Sequence[Spot], last: int, *, leaves: bool) -> Iterator[tuple[int, int, int]]:
    """Go through pairs of kinds of smallest places, and which place may be the last around both."""
    ends = [spot.around for spot in every if spot.level == last]
    for (i, one), (j, other) in itertools.combinations_with_replacement(enumerate(ends), 2):
        if i == j:
            yield i, j, one[-1]
        for around, a, b in zip(one, one[1:], other[1:], strict=False):
            if not leaves and (a != b or every[a].each > 1):
                yield i, j, around
            if a != b:
                break
