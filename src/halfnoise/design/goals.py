"""Goals: errors of which the largest is to be least, and what all of them weigh where it is.

The errors of lines count relative to their importance, and that of the number of people, where it
is of interest, to its own. No noise has a smaller largest error than the mean over goals, however
these are weighed; and for the shares that make the least mean largest (``duality``), the noise that
has it is that of the least largest error.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from halfnoise.design.at_prices import Optimum
from halfnoise.design.crowd import Crowd
from halfnoise.design.design import Design
from halfnoise.design.duality import solve
from halfnoise.design.people import People
from halfnoise.design.programme import Goals
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block, Line
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Floats
from halfnoise.workload.workload import Workload

MOST_GOALS = 100
EXACT = 1e-6  # how near the largest error comes to the bound
NEAR = 1.002  # of the bound
LOST, NOTHING = 1e-6, 1e-13  # of what weighs: too little beside the rest, and rounding alone
A_LITTLE = 1e-5  # beside the shares of all goals together: so noise has the least that it can have
GOLDEN = (math.sqrt(5) - 1) / 2

Listed: TypeAlias = People | Crowd
Parts: TypeAlias = tuple[list[Floats], Floats]  # what errors weigh: of all matrices, and of lines


@dataclass(frozen=True, slots=True)
class Fair:
    """A workload whose goals weigh so that its least error is that of the least largest one.

    ``rough``: whether what is far from it need not be the best of its kind.
    """

    workload: Workload
    error: float
    rough: bool = False

    def mean(self, design: Design) -> float:
        """Return the mean error of a design: of the best for these, none has a smaller largest."""
        return design.total_error(self.workload.size_importance)


def weighed(workload: Workload, shares: Floats) -> Workload:
    """Return the workload in which goals weigh so much, all together; that of the size is last."""
    size = workload.size_weight * float(shares[-1]) if workload.size_weight else 0.0
    lines = zip(workload.lines, shares, strict=False)
    return workload.weighed([float(x) * line.goal / line.queries for line, x in lines], size)


def shares(workload: Workload, lines: Sequence[Line]) -> Floats:
    """Return the shares of goals in what lines weigh, as those of a design do.

    They add up to one with that of the number of people, which lines do not say.
    """
    seen = zip(workload.lines, lines, strict=True)
    found = [made.importance * line.queries / (line.goal or math.inf) for line, made in seen]
    found += [max(0.0, 1 - math.fsum(found))] * (workload.size_weight > 0)
    return np.array(found) / math.fsum(found)


def balanced(
    listed: Callable[[Sequence[Block]], Listed | None], blocks: Sequence[Block], interest: float
) -> tuple[Listed, Optimum] | None:
    """Return the noise of the least largest error, and the shares of all goals, block by block.

    Last is that of the number of people, if it is of such ``interest``. None where people, or
    goals, are too many to be ``listed``.
    """
    lines = [line for block in blocks for line in block.lines]
    if len(lines) > MOST_GOALS:
        return None
    # What errors weigh is linear in weights, but which residuals of tables are alike is not: at
    # first tables have weights of which no two agree, and then one after the other has more.
    alone = [not isinstance(block, TableBlock) for block in blocks for _ in block.lines]
    units = [(1 + (i * GOLDEN) % 1) / (x.queries * x.width**2) for i, x in enumerate(lines)]
    own = [0.0 if plain else unit for plain, unit in zip(alone, units, strict=True)]
    at_first = _weighed(blocks, own)
    first, each = listed(at_first), list[Parts | None]()
    if first is None:
        return None
    for place, line in enumerate(lines):
        more = [x + unit * (i == place) for i, (x, unit) in enumerate(zip(own, units, strict=True))]
        one = first.weighed(_weighed(blocks, more, at_first), 0.0)
        each.append(_beyond(one, first, line.goal / line.queries / units[place]))
    if interest:
        each.append(_beyond(first.weighed(at_first, 1.0), first, interest))
    found = [parts for parts in each if parts is not None]
    if len(found) < len(each):
        return None
    weights = [np.stack(matrix) for matrix in zip(*(own for own, _ in found), strict=True)]
    asked = Goals(weights, np.stack([line_weights for _, line_weights in found]))
    return first, solve(replace(first.programme, goals=asked), EXACT)


def _weighed(
    blocks: Sequence[Block], weights: Sequence[float], known: Sequence[Block] = ()
) -> tuple[Block, ...]:
    """Return blocks with such weights; those that are known to have them, as they are."""
    left, found = iter(weights), list[Block]()
    for place, block in enumerate(blocks):
        own = [next(left) for _ in block.lines]
        same = known and [line.importance for line in known[place].lines] == own
        found.append(known[place] if same else block.weighed(own))
    return tuple(found)


def _beyond(one: Listed, other: Listed, times: float) -> Parts | None:
    """Return what weighs more than at first.

    None where other residuals are alike, or floats could not tell it from what there was.
    """
    more, first = one.asked, other.asked
    pairs = [*zip(more[0], first[0], strict=False), (more[1], first[1])]
    if len(more[0]) != len(first[0]) or any(one.shape != other.shape for one, other in pairs):
        return None
    found = [one - other for one, other in pairs]
    for own, (_, was) in zip(found, pairs, strict=True):
        far = np.abs(own).max(initial=0.0)
        whole = np.abs(was).max(initial=0.0)
        if far < NOTHING * whole:  # but for rounding, so that what is bound is no more than is so
            own[...] = 0.0
        elif far < LOST * whole:
            return None
    *matrices, lines = (times * each for each in found)
    return matrices, lines
