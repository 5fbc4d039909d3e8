"""Which kinds of people sets have once they are folded: each kind of set by itself."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, singledispatch
from typing import TypeAlias

from halfnoise.workload.grid import Grain
from halfnoise.workload.sets.base import Case, Cases, ContributionSet
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.folding import Alike, Answering, Coordinate, Folded
from halfnoise.workload.sets.kinds import Answered, AtMost, Box, OneOf
from halfnoise.workload.sets.squared import Squared
from halfnoise.workload.sets.varying import Varying

MANY, FEW = 2**12, 2**8  # kinds of people, and of those in tables, that are listed


Grids: TypeAlias = tuple[tuple[Fraction, Fraction], ...]


@singledispatch
def folded(shape: ContributionSet, *, leaves: bool, some: bool = False) -> Folded | None:
    """Fold a set by who is added or removed, who ``leaves``, or else by who changes answers.

    None where there are too many kinds of people to list, or ``some`` of them, if that is enough;
    and for sets of which nobody has worked it out.
    """
    del shape, leaves, some
    return None


@folded.register
def _(shape: Box, *, leaves: bool, some: bool = False) -> Folded | None:
    low, high = map(Fraction, shape.bounds)
    return _alike(shape, shape.size, (low, high), leaves=leaves, some=some)


@folded.register
def _(shape: AtMost, *, leaves: bool, some: bool = False) -> Folded | None:
    return _alike(shape, shape.most, (Fraction(0), Fraction(1)), leaves=leaves, some=some)


@folded.register
def _(shape: OneOf, *, leaves: bool, some: bool = False) -> Folded:
    del some
    view = shape.view(shape.midpoint, 2)
    (case,) = (view.person if leaves else view.change).near((1.0,))
    return Folded(shape=shape, across=(case,), weights=view.weights, root_weight=view.root_weight)


@folded.register
def _(shape: Answered, *, leaves: bool, some: bool = False) -> Folded:
    del some
    low, high = map(Fraction, shape.bounds)
    width = high - low
    far = (width**2 / 4,)
    kinds: dict[Fraction, Case] = {Fraction(0): (Fraction(0),), Fraction(1): far}
    if not leaves:
        kinds = {Fraction(0): (width**2,), Fraction(1): far, Fraction(-1): far}
    one, none = Fraction(1), Fraction(0)
    answered = Coordinate((*kinds,), one / 2, width**2, Grain.PEOPLE, one, none)
    return Answering(shape=shape, coordinates=(answered,), across=(*kinds.values(),), weights=(1,))


@folded.register
def _(shape: Squared, *, leaves: bool, some: bool = False) -> Folded:
    del some
    return Varying.of(shape, leaves=leaves)


@folded.register
def _(shape: Crossed, *, leaves: bool, some: bool = False) -> Folded | None:
    view, moves = shape.view(None, 2), shape.moves
    many = moves.number(leaves=leaves) > (MANY if shape.deep else FEW)
    if many and not some:
        return None
    kinds = (view.person if leaves else view.change).near([1.0] * len(view.weights))
    return Folded(
        shape=shape,
        across=kinds if many else _everybody(shape, leaves=leaves),
        weights=view.weights,
        root_weight=view.root_weight,
    )


def _everybody(shape: Crossed, *, leaves: bool) -> Cases:
    """List what everybody moves; values that are equal may be on other grids."""
    return _listed(shape, leaves, tuple((value.quantum, value.more) for value in shape.values))


@lru_cache(maxsize=16)  # all designs ask for the same
def _listed(shape: Crossed, leaves: bool, _grids: Grids) -> Cases:  # noqa: FBT001  # by place
    return tuple(shape.moves.kinds(leaves=leaves))


def _alike(
    shape: ContributionSet, most: int, ends: tuple[Fraction, Fraction], *, leaves: bool, some: bool
) -> Folded | None:
    """Fold d like queries of which at most so many are at the high end, all others at the low."""
    d, (low, high) = shape.size, ends
    width, numbers = high - low, list(range(min(most, MANY) + 1))
    if most > MANY and not some:
        return None
    if most > MANY:  # where the dearest is, and the ends
        near = (0, 1, d // 2, (d + 1) // 2, most - 1, most)
        peaks = (
            round((d + sign * math.sqrt(d)) / 2) + step for sign in (-1, 1) for step in (-1, 0, 1)
        )
        numbers = sorted({min(most, max(0, j)) for j in (*near, *peaks)})
    people = [(Fraction(j), Fraction(j * (d - j), d)) for j in numbers]  # along, across squared
    if not leaves:
        signed = sorted(sign * j for j in numbers for sign in (-1, 1)[not j :])
        people = _dearest([_swaps(d, most, more) for more in signed])
    along = tuple(d * low * leaves + width * more for more, _ in people)
    middle = d * low + width * Fraction(most, 2)
    return Alike(
        shape=shape,
        coordinates=(Coordinate(along, middle, Fraction(1, d), shape.grain),),
        across=tuple((width**2 * distance,) if d > 1 else () for _, distance in people),
        weights=(d - 1,) if d > 1 else (),
    )


def _dearest(people: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return those who may be the dearest: what lies across is not below that between two others.

    What people cost is convex in what lies along, so that who is between two others costs no more.
    """
    kept = list[tuple[Fraction, Fraction]]()
    for x, y in people:
        while len(kept) > 1:
            (a, b), (c, d) = kept[-2:]
            if (d - b) * (x - a) > (y - b) * (c - a):
                break
            kept.pop()
        kept.append((x, y))
    return kept


def _swaps(d: int, most: int, more: int) -> tuple[Fraction, Fraction]:
    """Return what changes where so many more hold than before, and as many as can have changed.

    Of those that hold before or after, p are new and q are gone; p and q are at most ``most``, and
    together at most d. For given p - q the farthest across are the most of both.
    """
    gone = min(most - abs(more), (d - abs(more)) // 2)
    return Fraction(more), 2 * gone + abs(more) - Fraction(more**2, d)
