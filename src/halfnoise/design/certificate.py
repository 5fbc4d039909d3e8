"""How far a design is from the least error of any Gaussian noise: a bound that no noise is below.

By duality any prices on kinds of people bound the error of every noise from below (``duality``).
Where all kinds can be listed the best prices are found. Where there are too many, some kinds, and
averages over many of them, are priced: noise that keeps a promise to everybody keeps it to these,
so the bound still holds, but may be lower than it could be.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np

from halfnoise.design.cells import Cells
from halfnoise.design.crowd import Crowd
from halfnoise.design.design import Setting
from halfnoise.design.duality import CLOSE, bound_at, bound_by_some, solve
from halfnoise.design.goals import A_LITTLE, Fair, balanced, shares, weighed
from halfnoise.design.people import People, Size, adds_by_cell, size_of
from halfnoise.design.place_parts import average, parts
from halfnoise.design.prices import in_spots, loosely, priced
from halfnoise.design.programme import Programme
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Neighbors
from halfnoise.text import percent
from halfnoise.values import replace
from halfnoise.workload.block import Block, Line
from halfnoise.workload.grid import Floats
from halfnoise.workload.groups import Grouping
from halfnoise.workload.likeness import gathered
from halfnoise.workload.sets import ContributionSet, Placed, Squared
from halfnoise.workload.sets.folding import Folded
from halfnoise.workload.sets.folds import folded
from halfnoise.workload.workload import Workload

PRICED = partial(People.of, fold=priced)
ROUNDING = 1e-6  # more than floating point can be off
MOST_COORDINATES, FEW_PARTS = 256, 4
CrowdOf: TypeAlias = tuple[()] | tuple[Grouping | None, Neighbors]
NEAR = 0.005  # what is as good as the least
FAR = 2  # of a bound: no design is so far from the best, so that says nothing
UNKNOWN = (
    "How far its squared error is from the least that any Gaussian noise can have is not known:"
    " too much differs to bound that."
)
AT_ENDS = (0.8, 0.2)  # of those who answer: who cost as much, there and in the middle
LEVELS = (0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)


def least_error(
    workload: Workload, mu: float, *, known_size: bool = False, lines: Sequence[Line] = ()
) -> float | None:
    """Return what the error of no Gaussian noise is below; None where nothing can be said.

    It is in squares, as ``Design.error`` is for the same workload. Where the largest error is to
    be least, no noise has a smaller largest error than its mean over goals, however these are
    weighed; where the best weights are not known, they are those that a design was made with, as
    its ``lines`` say.

    **Guarantee.** It hangs on the workload and the budget alone, never on data.

    >>> from halfnoise.workload.numbers import Counts
    >>> round(least_error(Workload([Counts(2)]), 1.0), 3)
    2.667
    """
    size, weight, bound = _size(workload, known_size=known_size), workload.size_weight, None
    largest, crowd = workload.objective == "largest", _crowd_of(workload)
    if largest and (found := _balanced(crowd, *_about(workload, size))) is not None:
        bound, _ = found
    elif largest:
        workload = weighed(workload, shares(workload, lines))
        weight = workload.size_weight
    if bound is None:
        blocks, _ = gathered(workload.blocks)
        bound = _crowded(*crowd, blocks, size, weight) if crowd else _least(blocks, size, weight)
    touched = workload.touched if workload.discovers else 1
    one = mu / float(workload.blocks[0].weighing.heaviest)  # what a person of weight one may cost
    return None if bound is None else bound * touched * (1 - ROUNDING) / one**2


def fairly(workload: Workload, mu: float, *, known_size: bool = False) -> Fair | None:
    """Return the workload weighed so that the least error is of noise whose largest one is least.

    None where that is not known.
    """
    size = _size(workload, known_size=known_size)
    found = _balanced(_crowd_of(workload), *_about(workload, size))
    if found is None:
        return None
    # Of goals that hardly weigh anything, little as it is, noise has the least that it can have.
    left = iter((found[1] + A_LITTLE).tolist())
    blocks, places = gathered(workload.blocks)
    each = [[next(left) for _ in block.lines] for block in blocks]
    own = [
        share * block.queries / blocks[place].queries if len(each[place]) == 1 else share
        for block, place in zip(workload.blocks, places, strict=True)
        for share in each[place]
    ]
    least = least_error(workload, mu, known_size=known_size) or 0.0
    return Fair(weighed(workload, np.array([*own, *left])), least)


def _size(workload: Workload, *, known_size: bool) -> Size:
    noise, mu = Noise.GAUSSIAN, 1.0
    return size_of(Setting(workload=workload, noise=noise, budget=mu, known_size=known_size))


def _crowd_of(workload: Workload) -> CrowdOf:
    """Return who moves several groups, or changes answers in the one group; empty for others."""
    leaves = workload.neighbors is Neighbors.ADD_REMOVE
    several = workload.touched > leaves and not workload.discovers
    return (workload.grouping, workload.neighbors) if several else ()


def _about(workload: Workload, size: Size) -> tuple[tuple[Block, ...], Size, float]:
    blocks, _ = gathered(workload.blocks)
    return blocks, size, workload.size_weight


def words(error: float, bound: float | None, objective: str = "total") -> str:
    """Say how far an error is from the bound, if there is one.

    >>> words(1.0009, 1.0)
    'Its squared error is within 0.1% of the least that any Gaussian noise can have.'
    >>> words(1.034, 1.0)[:58]
    'Its squared error is at most 3.5% above the least that any'
    """
    if bound is None or error > FAR * bound:
        return UNKNOWN
    above = max(0.0, error / bound - 1)
    own, any_ = f"Its {'largest ' * (objective == 'largest')}squared error", "any Gaussian noise"
    if above < NEAR:
        within = next(x for x in (0.001, 0.002, NEAR) if above <= x)
        return f"{own} is within {percent(within)} of the least that {any_} can have."
    part = percent(math.ceil(above * 1000) / 1000)
    said = f"at most {part} above the least that {any_} can have"
    return f"{own} is {said}; no design here comes nearer."


@lru_cache(maxsize=16)  # for whoever chooses a design, and then says how near it is
def _balanced(crowd: CrowdOf, *asked: Any) -> tuple[float, Floats] | None:
    """Return the bound of the largest error at a budget of one, and the shares of all goals."""
    blocks, size, interest = asked

    def listed(blocks: Sequence[Block]) -> Crowd | People | None:
        return _crowd(*crowd, blocks, size, 0.0) if crowd else PRICED(blocks, size, 0.0)

    if (found := balanced(listed, blocks, interest)) is None:
        return None
    who, best = found
    return best.bound / (who.groups if isinstance(who, Crowd) else 1), best.shares


@lru_cache(maxsize=16)
def _crowded(*crowd: Any) -> float | None:
    """Return the bound at a budget of one where a person moves several groups."""
    found = _crowd(*crowd)
    return None if found is None else solve(found.programme).bound / found.groups


def _crowd(*crowd: Any) -> Crowd | None:
    return Crowd.of(*crowd, fold=PRICED, some=True)


@lru_cache(maxsize=16)
def _least(blocks: tuple[Block, ...], size: Size, weight: float) -> float | None:
    """Return the bound at a budget of one where a person moves one group."""
    placed = any(isinstance(block.shape, Placed) for block in blocks)
    if placed and (known := in_spots(blocks, size, weight, CLOSE)) is not None:
        everybody, found = known
        return bound_at(everybody.programme, found.prices)
    if (people := PRICED(blocks, size, weight) or loosely(blocks, size, weight)) is not None:
        listed = placed and any(isinstance(fold, Cells) for fold in people.folds)
        return bound_by_some(people.programme) if listed else solve(people.programme).bound
    if placed:
        return _in_parts(blocks, size, weight)
    if any(adds_by_cell(block.shape) for block in blocks):
        return None
    folds = [_some(block.shape, leaves=size is not Size.PUBLIC) for block in blocks]
    some = tuple(fold for fold in folds if fold is not None)
    people = People(blocks, some, size, weight)
    if len(some) < len(folds) or len(people.order) > MOST_COORDINATES:
        return None
    return solve(_glimpsed(people)).bound


def _some(shape: ContributionSet, *, leaves: bool) -> Folded | None:
    """Fold a set into some who may be in the table."""
    one = isinstance(shape, Squared)
    return priced(shape, 1, leaves=leaves) if one else folded(shape, leaves=leaves, some=True)


def _in_parts(blocks: tuple[Block, ...], size: Size, weight: float) -> float | None:
    """Return the bound from parts of places inside places.

    Where people are replaced, they are in few parts, or one is drawn by prices, and so is who comes
    for them: these move twice what one varies by, 2 (M - m m'), and s is at least
    sqrt(2) (s(M) - sqrt(m'Qm)).
    """
    others = tuple(block for block in blocks if not isinstance(block.shape, Placed))
    ((tables, shape),) = ((b, b.shape) for b in blocks if isinstance(b.shape, Placed))
    every = [*parts(shape)]
    if size is not Size.PUBLIC or len(every) <= FEW_PARTS:
        found = _each_part(others, tables, every, size, weight)
        if size is not Size.PUBLIC or all(found):
            return math.fsum(found) or None
    beside = (_least(others, size, weight) if others else None) or 0.0
    found = _each_part((), tables, every, Size.MEASURED, 0.0)
    if not (whole := math.fsum(found)):
        return None
    together = math.fsum(x**2 for x in found) / whole**2  # prices of parts are as their bounds
    left = max(0.0, math.sqrt(whole) - math.sqrt(average(shape, together)))
    return beside + 2 * left**2


def _each_part(
    others: Sequence[Block],
    tables: Block,
    every: Sequence[tuple[Placed, float]],
    size: Size,
    weight: float,
) -> list[float]:
    """Return the bound of each part, with its share of the ``others``; zero if it is too large."""
    known = dict[tuple[Placed, float], float]()
    for part in every:
        if part not in known:
            some = [replace(block, importance=block.importance * part[1]) for block in others]
            people = PRICED([*some, replace(tables, shape=part[0])], size, weight * part[1])
            known[part] = 0.0 if people is None else solve(people.programme).bound
    return [known[part] for part in every]


def _glimpsed(people: People) -> Programme:
    """Price averages over people at several levels: of each set those who add so much."""
    moved, distances = list[Floats](), list[Floats]()
    last = len(people.order) + people.centred
    for level in sorted({*LEVELS, *_peaks(people.folds)}):
        row, spread, across = np.ones(last), np.zeros((last, last)), list[Floats]()
        for i, fold in enumerate(people.folds):
            own, share = people.own(i), _shares(fold, level)
            along = np.array([fold.means(k, *people.units[at]) for k, at in enumerate(own)])
            along = along.reshape(len(own), len(share))
            row[own] = 0.0 if people.size is Size.PUBLIC else along @ share  # a change either way
            spread[np.ix_(own, own)] = along * share @ along.T - np.outer(row[own], row[own])
            across.append(share @ np.array(fold.across, dtype=float).reshape(len(share), -1))
        moved.append(np.outer(row, row) + spread)
        distances.append(np.concatenate(across))
    some = people.weights.size > 0
    return Programme(
        moved=[np.array(moved)] if some else [],
        weights=[people.weights] if some else [],
        distances=np.array(distances),
        line_weights=people.line_weights,
        given=people.size is Size.GIVEN,
    )


def _peaks(folds: Sequence[Folded]) -> Iterator[float]:
    """Go through the levels at which many like queries cost most."""
    for fold in folds:
        if (d := fold.shape.size) > 2:
            yield from ((1 + sign / math.sqrt(d)) / 2 for sign in (-1, 1))


def _shares(fold: Folded, level: float) -> Floats:
    """Return of which kinds people at a level are, by how much they add; here, of one or two.

    Of values with squares so many answer, most of them at the ends; or go from one to the other.
    """
    along = [float(x) for each in fold.coordinates for x in each.along]
    share = np.zeros(len(fold.across))
    if len(fold.coordinates) > 1:
        leaves = len(share) == 3
        share[:2] = (level if leaves else 1 - level) * np.array(AT_ENDS)
        share[2 if leaves else 3] = 1 - share.sum()
        return share
    order = sorted(range(len(share)), key=lambda k: abs(along[k]) if along else 0.0)
    place = level * (len(order) - 1)
    share[order[math.floor(place)]] = 1 - place % 1
    share[order[math.ceil(place)]] += place % 1
    return share
