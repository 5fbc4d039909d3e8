"""The least largest error: weights on what is asked, moved until the largest errors are alike.

Any weights that add up to one make the error of the best design for them a lower bound: no design
has a smaller weighted mean of errors, and so none a smaller largest one. What has a large error
gets more weight, by a power of it that grows as long as the bound does, until the largest error is
as good as the bound.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from halfnoise.design.design import Design
from halfnoise.workload.block import Line
from halfnoise.workload.grid import Floats
from halfnoise.workload.workload import Workload

MOST_ROUNDS, CLOSE, CLOSE_ENOUGH = 150, 1e-7, 5e-4  # the last from ``PATIENCE`` rounds on
PATIENCE = 25
LEAST, LEAST_POWER = 1e-12, 1e-4  # of weights, and of what they move by
ROUGH, ROUGH_POWER = 2e-3, 0.05  # the same where designs are only nearly the best


def least_largest(
    first: Design, again: Callable[[Workload], Design], workload: Workload, *, roughly: bool
) -> Design:
    """Return the design of the least largest error; ``again``: the best for weights that add up.

    ``roughly``: these are only nearly the best.

    The errors of lines count relative to their importance, and that of the number of people, where
    it is measured and of interest, to its own.
    """
    goals = len(workload.lines) + (workload.size_importance > 0)
    kept = pi = np.full(goals, 1 / goals)
    best, least, bound, power = first, math.inf, 0.0, 1.0
    for number in range(MOST_ROUNDS):
        design = again(_weighed(workload, pi))
        errors = np.array(design.errors(workload))
        low, high = float(pi @ errors), float(errors.max())
        if high <= least * (1 + CLOSE):  # of those as good, one whose weights say more
            best, least = design, min(high, least)
        close = ROUGH if roughly else CLOSE if number < PATIENCE else CLOSE_ENOUGH
        if least <= max(low, bound) * (1 + close):
            break
        if low >= bound:
            kept, moved, bound, power = pi, errors / high, low, 1.2 * power
        elif (power := power / 4) < (ROUGH_POWER if roughly else LEAST_POWER):
            break
        pi = np.maximum(kept * moved**power, LEAST)
        pi /= pi.sum()
    return best


def _weighed(workload: Workload, pi: Floats) -> Workload:
    """Return the workload in which goals weigh so much, all together."""
    size = workload.size_importance * float(pi[-1]) if workload.size_importance else 0.0
    lines = zip(workload.lines, pi, strict=False)
    return workload.weighed([float(x) * line.goal / line.queries for line, x in lines], size)


def as_made(workload: Workload, lines: Sequence[Line]) -> Workload:
    """Return the workload in which goals weigh what they do in the lines of a design.

    These add up to one with the weight of the number of people, which lines do not say.
    """
    seen = zip(workload.lines, lines, strict=True)
    pi = [made.importance * line.queries / (line.goal or math.inf) for line, made in seen]
    pi += [max(0.0, 1 - math.fsum(pi))] * (workload.size_importance > 0)
    return _weighed(workload, np.array(pi) / math.fsum(pi))
