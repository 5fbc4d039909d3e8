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
from halfnoise.design.goals import Fair, shares, weighed
from halfnoise.workload.workload import Workload

MOST_ROUNDS, CLOSE, CLOSE_ENOUGH = 150, 1e-7, 5e-4  # the last from ``PATIENCE`` rounds on
PATIENCE = 25
LEAST, FASTER, SLOWER = 1e-12, 1.2, 4.0  # of weights, and how the power that moves them changes
NEAR = 1.002  # of the least error of any noise
FEW = 1e-3  # of equal weights, in those at first


def least_largest(
    first: Design, again: Callable[[Workload], Design], workload: Workload, fair: Fair | None
) -> Design:
    """Return the design of the least largest error; ``again``: the best for weights that add up.

    ``fair``: with which weights any noise would have it, where that is known.
    """
    goals = len(workload.lines) + (workload.size_weight > 0)
    pi = np.full(goals, 1 / goals) if fair is None else shares(workload, fair.workload.lines)
    kept = pi = (pi + FEW / goals) / (1 + FEW)
    best, least, bound, power = first, math.inf, 0.0, 1.0
    for number in range(MOST_ROUNDS):
        design = again(weighed(workload, pi))
        errors = np.array(design.errors(workload))
        low, high = float(pi @ errors), float(errors.max())
        if high <= least * (1 + CLOSE):  # of those as good, one whose weights say more
            best, least = design, min(high, least)
        far = fair is not None and low > NEAR * fair.error  # others will be taken
        close = CLOSE_ENOUGH if far or number >= PATIENCE else CLOSE
        if least <= max(low, bound) * (1 + close):
            break
        if low >= bound or power == 1:  # where closed forms are only nearly the best, low wavers
            kept, moved, bound, power = pi, errors / high, max(low, bound), FASTER * power
        else:
            power = max(1.0, power / SLOWER)
        pi = np.maximum(kept * moved**power, LEAST)
        pi /= pi.sum()
    return best
