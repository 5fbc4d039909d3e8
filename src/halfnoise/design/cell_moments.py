"""Averages over people where values are added up by cell: of what they add to people and values.

Values that are alike may be permuted, which no noise is better for telling apart: so not everybody
is priced, but averages over all who differ by such a permutation, so many of whose like values are
at the high end. Where these are too many, some of them, or averages over values that are *not*
alike, are priced: noise that keeps a promise to everybody keeps it to any average, so the bound
still holds, but may be lower than it could be.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from halfnoise.design.cell_layers import CellLayers, alike
from halfnoise.design.cell_parts import Kinds
from halfnoise.values import dataclass, field
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.folding import Folded

MIN_PIECES = 6  # into which many like values are cut, if all together are too many
MOST_NUMBERS, FEWEST = 2**20, 20  # in the matrices of all kinds, and kinds of which all are priced


class Moments(NamedTuple):
    """Averages over some people z, in units, people last, who may become w: who comes or goes is z.

    ``mean``, ``own``: of z and of z z'; ``other``, ``gone``: of w and of w w'; ``both``: of z w'.
    """

    mean: Floats
    own: Floats
    other: Floats
    gone: Floats
    both: Floats

    def seen_by(self, t: Floats) -> "Moments":
        """Return the averages over t z and t w."""
        mean, own, other, gone, both = self
        return Moments(mean @ t.T, t @ own @ t.T, other @ t.T, t @ gone @ t.T, t @ both @ t.T)


@dataclass(frozen=True, kw_only=True)
class Averaged(Folded):
    """Kinds of people, each an average: what it adds to coordinates, and how that varies."""

    across: Any = field(compare=False, repr=False)
    added: Floats = field(compare=False, repr=False)  # in the units of the coordinates
    varies: Floats = field(compare=False, repr=False)
    own: Sequence[tuple[Floats, Floats]] = field(default=(), compare=False, repr=False)

    def means(self, place: int, middle: float, half: float) -> Floats:
        """Return what each kind adds to a coordinate on average, in its unit."""
        del middle, half
        found: Floats = self.added[:, place]
        return found

    @property
    def spread_along(self) -> Floats:
        """How what a kind adds to all coordinates varies."""
        return self.varies

    def matrices(self) -> Iterator[Floats]:
        """Go through what is measured with noises that it shares: P of each kind."""
        return (moved for moved, _ in self.own)

    def matrix_weights(self) -> Iterator[Floats]:
        """Go through what errors of that weigh: Q."""
        return (weight for _, weight in self.own)


def moments_of(
    states: CellLayers, most: int, least: int, *, loosely: bool, leaves: bool
) -> Moments | None:
    """Return so many kinds of values at most; None if there are always more.

    ``least``: see ``_pieces``; ``loosely``: whether values that are not alike are permuted.
    """
    groups = alike(states.shape.values, loosely=loosely)
    pieces = _pieces(states, groups, most, least, leaves=leaves)
    return None if pieces is None else _orbits(states, groups, pieces, leaves=leaves)


def _kinds(states: int, *, leaves: bool) -> Sequence[int]:
    """Return in which of its states a value is priced, or in which two, one after the other.

    Where some do not answer, the last state, the other sign is as dear (``_averaged``).
    """
    if states == 2:
        return range(2 if leaves else 4)
    return (0, 2) if leaves else (0, 1, 2, 6, 8)


def _pieces(
    states: CellLayers, groups: Sequence[Sequence[int]], most: int, least: int, *, leaves: bool
) -> int | None:
    """Return into how many pieces, or more than the least, groups are cut for so many kinds.

    All values of a piece are in one state: that is a part of all kinds up to permutations, or all.
    """
    most = min(most, max(FEWEST, MOST_NUMBERS // (len(states.layers) + 1) ** 2))
    longest = max(map(len, groups), default=1)
    for pieces in range(longest, min(longest, least) - 1, -1):
        each = ((len(_kinds(states.numbers[own[0]], leaves=leaves)), len(own)) for own in groups)
        cut = ((number, min(many, pieces)) for number, many in each)
        if math.prod(math.comb(number + many - 1, many) for number, many in cut) <= most:
            return pieces
    return None


def _orbits(
    states: CellLayers, groups: Sequence[Sequence[int]], pieces: int, *, leaves: bool
) -> Moments:
    """Return everybody, or all changes, up to permutations, each an average over these."""
    choices = []
    for group in groups:
        cut, every = min(len(group), pieces), _kinds(states.numbers[group[0]], leaves=leaves)
        times = [len(piece) for piece in np.array_split(range(len(group)), cut)]
        several = itertools.combinations_with_replacement(every, cut)
        choices.append([np.repeat(each, times).tolist() for each in several])
    order = [i for group in groups for i in group]
    found = np.array([[*itertools.chain(*each)] for each in itertools.product(*choices)], int)
    kinds = np.empty_like(found)
    kinds[:, order] = found
    if leaves:
        z = _rows(states, kinds)
        mean, own = _mean(states, groups, z), _averaged(states, groups, z, z)
        return Moments(mean, own, 0 * mean, 0 * own, 0 * own)
    numbers = np.array(states.numbers, int)
    z, w = _rows(states, kinds // numbers), _rows(states, kinds % numbers)
    one, other = ((_mean(states, groups, x), _averaged(states, groups, x, x)) for x in (z, w))
    return Moments(*one, *other, _averaged(states, groups, z, w))


def _rows(states: CellLayers, kinds: Kinds) -> Floats:
    """Return what persons add in states by value, to all layers and last to people."""
    found = [states.signs(layer)[kinds[:, layer.value]] for layer in states.layers]
    return np.stack([*found, np.ones(len(kinds))], axis=1)


def _places(states: CellLayers, own: Sequence[int]) -> list[list[int]]:
    """Return where the layers of some values stand, by layer of a value."""
    every = [[k for k, layer in enumerate(states.layers) if layer.value == i] for i in own]
    return [list(each) for each in zip(*every, strict=True)]


def _mean(states: CellLayers, groups: Sequence[Sequence[int]], z: Floats) -> Floats:
    """Return vectors averaged over permutations within groups of values, and over signs."""
    found = z.copy()
    for own in groups:
        for at in _places(states, own):
            found[:, at] = z[:, at].mean(axis=1, keepdims=True)
    found[:, states.signed] = 0.0
    return found


def _averaged(states: CellLayers, groups: Sequence[Sequence[int]], z: Floats, w: Floats) -> Floats:
    """Return z w' averaged over permutations, of both at once, within groups of values.

    And over the signs of values from the middle, of those who answer: as many are above it.
    """
    found: Floats = np.einsum("ki,kj->kij", _mean(states, groups, z), _mean(states, groups, w))
    for own in groups:
        d = len(own)
        for one, other in itertools.product(_places(states, own), repeat=2):
            same = np.einsum("ki,ki->k", z[:, one], w[:, other]) / d
            every = z[:, one].sum(axis=1) * w[:, other].sum(axis=1)
            apart = (every - d * same) / (d * (d - 1)) if d > 1 else same
            block = np.repeat(apart[:, None, None], d, axis=1).repeat(d, axis=2)
            signed = {*one, *other} & {*states.signed}
            block = block * (not signed)
            block[:, range(d), range(d)] = (same * (one == other or not signed))[:, None]
            found[:, np.array(one)[:, None], other] = block
    return found
