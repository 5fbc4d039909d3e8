"""The least largest error of a closed form: weights on goals, moved until the largest are alike.

Any weights that add up to one make the error of the best design for them a lower bound: no design
has a smaller weighted mean of errors, and so none a smaller largest one. What has a large error
gets more weight, by a power of it that grows as long as the bound does, until the largest error is
as good as the bound.
"""

import math
from collections.abc import Callable

import numpy as np

from halfnoise.design.design import Design
from halfnoise.design.goals import NEAR, Fair, shares, weighed
from halfnoise.workload.workload import Workload

MOST_ROUNDS, CLOSE, CLOSE_ENOUGH, ROUGH = 150, 1e-7, 5e-4, 2e-2
PATIENCE = 25  # rounds after which close enough will do, or which bring no part of STILL
STILL = 1e-4
EXACT = 1.0001  # of the least error of any noise: what is near it, and not it, need not be closer
LEAST, FASTER, SLOWER = 1e-9, 1.2, 4.0  # of weights, and how the power that moves them changes
FEW = 1e-3  # of equal weights, in those at first


def least_largest(
    first: Design,
    again: Callable[[Workload], Design | None],
    workload: Workload,
    fair: Fair | None,
    beaten: float = math.inf,
) -> Design:
    """Return the design of the least largest error.

    ``again``: the best for weights that add up, None if there is none of the kind for these.
    ``fair``: with which weights any noise would have it, where that is known. ``beaten``: from
    which largest error on another design is chosen: what cannot be less may be rough.
    """
    goals = len(workload.lines) + (workload.size_weight > 0)
    pi = np.full(goals, 1 / goals) if fair is None else shares(workload, fair.workload.lines)
    kept = pi = (pi + FEW / goals) / (1 + FEW)
    best, least, highest, bound, power = first, math.inf, math.inf, 0.0, 1.0
    still, kept_least = 0, math.inf
    for number in range(MOST_ROUNDS):
        made = number == 0 and fair is not None and fair.rough
        if (design := first if made else again(weighed(workload, pi))) is None:
            break
        errors = np.array(design.errors(workload))
        low, high = float(pi @ errors), float(errors.max())
        if high <= least * (1 + CLOSE):  # of those as good, one whose weights say more
            best, least = design, min(high, least)
        if least < kept_least * (1 - STILL):
            still, kept_least = number, least
        if number - still == PATIENCE:  # it goes round in circles
            break
        close = CLOSE if number < PATIENCE else CLOSE_ENOUGH
        if low > beaten:
            close = ROUGH
        elif fair and (fair.rough or EXACT * fair.error < low <= NEAR * fair.error):
            close = ROUGH if fair.rough else CLOSE_ENOUGH
        if low <= least * (1 + CLOSE) and least <= low * (1 + close):  # else it is not the best
            break
        better, highest = high < highest, high
        if low >= bound or better or power == 1:  # of what is only nearly the best, low wavers
            kept, moved, bound, power = pi, errors / high, max(low, bound), FASTER * power
        else:
            power = max(1.0, power / SLOWER)
        pi = np.maximum(kept * moved**power, LEAST)
        pi /= pi.sum()
    return best
