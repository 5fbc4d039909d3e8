"""What one person can move in all residuals: by coming or going, or by changing cell and values.

Of layer l, in which two persons are x and y from the centre, a change of cell in the attributes S
moves residual A by

    (x^2 + y^2) D_A - 2 x y kappa_A(S),   kappa_A(S) = prod (1 - 1/v_i or, in S, -1/v_i) over A.

There are 2^k sets S of k attributes. At given rates, the sums of rate * kappa over all residuals
come out for all S in one pass for each attribute, with the matrix [[1, 1 - 1/v], [1, -1/v]]. All
terms of such a sum are at most rate * D, and the dearest change costs at least the sum of all
(x^2 + y^2) rate * D, as kappa is 0 on average over all cells. So rounding, below 100 units in the
last place of that sum for each of up to 16 attributes, is far less than ``SLACK``.

Of places inside places, with precisions p, two persons agree around some place, a ``spot``: where
each pays D times the sum of p along their path, they share kappa times that down to the spot. In
finer places each moves one of their own.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from halfnoise.values import dataclass
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.alike import Class
from halfnoise.workload.sets.base import Case, Cases
from halfnoise.workload.sets.by_cell import ByCell
from halfnoise.workload.sets.residuals import Axes, Levels

State: TypeAlias = tuple[Fraction, ...]  # how far a person is from the centre of some layers
Pair: TypeAlias = tuple[State, State]
SLACK = Fraction(1, 2**40)
MOST_ATTRIBUTES = 16  # for which all sets of attributes are gone through


class Entry(NamedTuple):
    """A residual: its layer, attributes and class, and what two persons share of it, by spot."""

    layer: int
    axes: Axes
    at: int
    shared: tuple[Fraction, ...] = (Fraction(1),)


@dataclass(frozen=True)
class Moves:
    """Who can move what of all residuals."""

    levels: Levels
    values: Sequence[ByCell]
    classes: Sequence[Class]
    residuals: Sequence[Entry]

    @cached_property
    def used(self) -> Axes:
        """The attributes of all residuals, but for places."""
        return tuple(sorted({axis for own in self.residuals for axis in own.axes}))

    @property
    def spots(self) -> int:
        """Around how many kinds of places two persons may agree; first, around none."""
        return len(self.residuals[0].shared) if self.residuals else 1

    @cached_property
    def states(self) -> list[tuple[list[int], list[State]]]:
        """People, and each value: the layers, and how far from their centres a person can be."""
        everybody: list[State] = [(Fraction(1),)]
        found, place = [([0], everybody)], 1
        for value in self.values:
            parts = [value.states(answers=answers) for answers in (False, True)[: value.layers]]
            kinds: list[State] = list(dict.fromkeys(zip(*parts, strict=True)))
            found.append(([*range(place, place + value.layers)], kinds))
            place += value.layers
        return found

    @cached_property
    def _by_layer(self) -> list[list[int]]:
        every = range(1 + sum(value.layers for value in self.values))
        return [[at for at, x in enumerate(self.classes) if x.layer == layer] for layer in every]

    def whole(self, rates: Sequence[float]) -> list[float]:
        """Return, layer by layer, what a person one away from the centre costs."""
        far = [rate * float(each.distance) for rate, each in zip(rates, self.classes, strict=True)]
        return [math.fsum(far[at] for at in own) for own in self._by_layer]

    @cached_property
    def _masks(self) -> list[tuple[np.ndarray, np.ndarray, Floats]]:
        """Of each layer's residuals the sets of attributes, the classes, and what is shared."""
        bits = {axis: 1 << (len(self.used) - 1 - i) for i, axis in enumerate(self.used)}
        layers = range(len(self._by_layer))
        return [
            (
                np.array([sum(bits[axis] for axis in own.axes) for own in each], int),
                np.array([own.at for own in each], int),
                np.array([own.shared for own in each], float).reshape(len(each), self.spots),
            )
            for each in ([own for own in self.residuals if own.layer == i] for i in layers)
        ]

    def together(self, layer: int, rates: Sequence[float]) -> Floats:
        """Return the sum of rate * kappa, spot by spot, for every set of attributes that differ."""
        masks, own, shared = self._masks[layer]
        found = np.zeros((2 ** len(self.used), self.spots))
        np.add.at(found, masks, np.asarray(rates)[own, np.newaxis] * shared)
        return self._over_sets(found.T).ravel()

    def _over_sets(self, found: Floats, *, whole: bool = False) -> Floats:
        """Return rows of sums over attributes for every set that differs: of kappa, or N kappa."""
        found = found.reshape(-1, *(2,) * len(self.used))
        for place, axis in enumerate(self.used, 1):
            one = self.levels[axis] if whole else 1
            part = one / self.levels[axis]
            without, held = np.take(found, 0, place), np.take(found, 1, place)
            found = np.stack([without + (one - part) * held, without - part * held], place)
        return found.reshape(len(found), -1)

    def kappas(self, at: int) -> list[Fraction]:
        """Return, class by class, the sum of kappa where ``together`` is."""
        spot, mask = divmod(at, 1 << len(self.used))
        apart = {axis for i, axis in enumerate(reversed(self.used)) if mask >> i & 1}
        each = [-1 if axis in apart else v - 1 for axis, v in enumerate(self.levels)]
        found = [0] * len(self.classes)
        for own in self.residuals:
            found[own.at] += math.prod(each[axis] for axis in own.axes)
        return self._kappas(found, spot)

    def every_kappa(self) -> Iterator[list[Fraction]]:
        """Go through ``kappas`` one behind the other: N kappa adds up to less than 2^53."""
        found = np.zeros((len(self.classes), 2 ** len(self.used)))
        for masks, own, _ in self._masks:
            np.add.at(found, (own, masks), 1.0)
        sets = self._over_sets(found, whole=True).T.tolist()
        return (self._kappas(own, spot) for spot in range(self.spots) for own in sets)

    @cached_property
    def _parts(self) -> list[list[Fraction]]:
        """What two persons share of one cell of each class, by spot: of all in it, as much."""
        shared, every = {own.at: own.shared for own in self.residuals}, [*enumerate(self.classes)]
        return [[shared[at][i] / each.cells for at, each in every] for i in range(self.spots)]

    def _kappas(self, found: Sequence[float], spot: int) -> list[Fraction]:
        return [Fraction(own) * part for own, part in zip(found, self._parts[spot], strict=True)]

    @cached_property
    def on_average(self) -> list[Fraction]:
        """The sums of kappa on average over all changes to other places and any cells."""
        found = [0] * len(self.classes)
        for own in self.residuals:
            found[own.at] += not own.axes
        return self._kappas(found, 0)

    def least_and_most(self) -> Iterator[tuple[Fraction, Fraction]]:
        """Go through classes: the least and the most that the sum of N * kappa can be."""
        least, most = ([Fraction(0)] * len(self.classes) for _ in range(2))
        for _, axes, at, shared in self.residuals:
            levels = [self.levels[axis] for axis in axes]
            whole = math.prod(v - 1 for v in levels)
            # One attribute that differs makes it negative: the one of fewest categories.
            kappas = (whole, -whole // (min(levels) - 1)) if levels else (whole,)
            each = [kappa * own for kappa in kappas for own in shared]
            most[at] += max(each)
            least[at] += min(each)
        return zip(least, most, strict=True)

    def number(self, *, leaves: bool) -> int:
        """Return how many kinds there are."""
        states = [len(kinds) for _, kinds in self.states]
        pairs = math.prod(each * (each + 1) // 2 for each in states)
        return math.prod(states) if leaves else (pairs * self.spots) << len(self.used)

    def kinds(self, *, leaves: bool) -> Iterator[Case]:
        """List everybody who comes or goes, or everything that may change, by what it costs."""
        both = itertools.combinations_with_replacement
        pairs = [[(x, x) for x in own] if leaves else [*both(own, 2)] for _, own in self.states]
        for kappas in [None] if leaves else self.every_kappa():
            seen = zip(self.states, pairs, strict=True)
            own = [[self._part(layers, kappas, x) for x in each] for (layers, _), each in seen]
            yield from (tuple(itertools.chain(*parts)) for parts in itertools.product(*own))

    def changing(self, at: int, pairs: tuple[Pair, ...]) -> Case:
        """Return what a change costs exactly, by class; at -1 to any other place and cell."""
        if (at, pairs) not in self._changes:
            kappas = self.kappas(at) if at >= 0 else self.on_average
            seen = zip(self.states, pairs, strict=True)
            parts = (self._part(layers, kappas, pair) for (layers, _), pair in seen)
            self._changes[at, pairs] = tuple(itertools.chain(*parts))
        return self._changes[at, pairs]

    @cached_property
    def _changes(self) -> dict[tuple[int, tuple[Pair, ...]], Case]:
        return {}  # as they were found: a search for scales asks for the same again

    def _part(self, layers: list[int], kappas: Sequence[Fraction] | None, pair: Pair) -> Case:
        """Return that for the classes of some layers, one after the other as all classes are."""
        found = list[Fraction]()
        for layer, x, y in zip(layers, *pair, strict=True):
            own, square, both = self._by_layer[layer], x**2 + y**2, 2 * x * y
            if kappas is None:
                found += [x**2 * self.classes[place].distance for place in own]
            else:
                distances = (square * self.classes[place].distance for place in own)
                found += [d - both * kappas[at] for d, at in zip(distances, own, strict=True)]
        return tuple(found)


@dataclass(frozen=True)
class Coming:
    """What it costs that somebody comes or goes: whoever answers what is dearest."""

    moves: Moves

    @property
    def slack(self) -> Fraction:
        """How much more than those found the dearest may cost, relative to them."""
        return SLACK if any(value.optional for value in self.moves.values) else Fraction(0)

    def near(self, rates: Sequence[float]) -> Cases:
        """Return who answers everything, and the dearest at these rates.

        That is whoever is, for each value, in the state that costs most.
        """
        moves, whole = self.moves, self.moves.whole(rates)
        far, answers = dict[int, Fraction](), dict[int, Fraction]()
        for layers, kinds in moves.states:
            own = [whole[layer] for layer in layers]
            costs = [sum(float(x**2) * y for x, y in zip(kind, own, strict=True)) for kind in kinds]
            far |= zip(layers, kinds[costs.index(max(costs))], strict=True)
            answers |= zip(layers, kinds[0], strict=True)
        found = [[x[c.layer] ** 2 * c.distance for c in moves.classes] for x in (answers, far)]
        return tuple(dict.fromkeys(map(tuple, found)))


@dataclass(frozen=True)
class Changing:
    """What a change of cell and of values costs.

    Of more than 16 attributes, the most for each residual: together no less than any. That wastes
    up to an eighth of the variance where attributes have ten categories, up to half where two.
    """

    moves: Moves

    @property
    def slack(self) -> Fraction:
        """How much more than those found the dearest may cost, relative to them."""
        return SLACK

    def near(self, rates: Sequence[float]) -> Cases:
        """Return the dearest at these rates, and what a change to any cell costs on average.

        That moves every residual, as some answer then who did not before, and costs no more than
        the dearest.
        """
        moves = self.moves
        if len(moves.used) > MOST_ATTRIBUTES:
            return (tuple(self._most()),)
        whole = moves.whole(rates)
        differ = [moves.together(layer, rates) for layer in range(len(whole))]
        total, chosen = np.zeros_like(differ[0]), list[tuple[np.ndarray, list[Pair]]]()
        for layers, kinds in moves.states:
            pairs = list(itertools.combinations_with_replacement(kinds, 2))
            costs = np.array([_cost(pair, layers, whole, differ) for pair in pairs])
            best = costs.argmax(axis=0)
            total += costs.max(axis=0)
            chosen.append((best, pairs))
        at = int(total.argmax())
        dearest = moves.changing(at, tuple(pairs[best[at]] for best, pairs in chosen))
        return dearest, moves.changing(
            -1, tuple((kinds[0], kinds[-1]) for _, kinds in moves.states)
        )

    def _most(self) -> Iterator[Fraction]:
        moves, far = self.moves, dict[int, list[tuple[Fraction, Fraction]]]()
        for layers, kinds in moves.states:
            for k, layer in enumerate(layers):
                own = {kind[k] for kind in kinds}
                far[layer] = list(itertools.combinations_with_replacement(own, 2))
        for each, ends in zip(moves.classes, moves.least_and_most(), strict=True):
            yield max(
                (x**2 + y**2) * each.distance - 2 * x * y * kappa / each.cells
                for x, y in far[each.layer]
                for kappa in ends
            )


def _cost(
    pair: Pair, layers: Sequence[int], whole: Sequence[float], differ: Sequence[Floats]
) -> Floats:
    """Return what a change between two states costs, for every set of attributes that differ."""
    found = np.zeros_like(differ[0])
    for x, y, layer in zip(*pair, layers, strict=True):
        found += float(x**2 + y**2) * whole[layer] - float(2 * x * y) * differ[layer]
    return found
