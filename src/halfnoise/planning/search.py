"""The smallest budget with which what comes out is near enough."""

import math
from collections.abc import Callable

from halfnoise.design.candidates import designs
from halfnoise.design.design import Design
from halfnoise.errors import InvalidParameterError
from halfnoise.noise.law import Noise
from halfnoise.planning.choice import best
from halfnoise.planning.plan import Plan
from halfnoise.planning.spending import split_delta
from halfnoise.privacy.definitions import Budget, GaussianDP
from halfnoise.privacy.reason import MOST_EPSILON
from halfnoise.workload.workload import Workload

LEAST, MOST = 1e-9, 1e9  # the smallest and the largest mu or epsilon that can be asked for
HALVINGS = 40


def smallest(
    workload: Workload,
    widest: Callable[[Design], float],
    target: float,
    at: Callable[[float], Plan],
    *,
    noise: Noise | None,
    delta: float,
    releases: int,
    known_size: bool,
) -> Plan | None:
    """Return the plan with the smallest epsilon at which the widest margin is within a target.

    ``widest``: the margin that counts, which must go with 1/mu and 1/epsilon. ``at``: the plan at
    an epsilon. None where there is none.
    """

    def worst(budget: Budget) -> float:
        return widest(best(designs(workload, budget, known_size=known_size), workload))

    # One look at 1 tells what each kind of noise needs.
    rest, _ = split_delta(delta, workload.grouping)
    needed = []
    if noise is not Noise.GAUSSIAN:
        needed.append(worst(Budget(epsilon=1.0)) / target * releases)
    if noise is not Noise.LAPLACE:
        mu = worst(Budget(mu=1.0)) / target * releases**0.5
        needed.append(GaussianDP(mu=min(max(mu, LEAST), MOST)).epsilon(rest))
    tried = [max(e, LEAST * releases) * (1 + 1e-12) for e in needed if e <= MOST]

    def enough(epsilon: float) -> bool:
        try:
            return widest(at(epsilon).chosen) <= target
        except InvalidParameterError:
            if epsilon <= MOST_EPSILON:
                raise
            return False  # such noise would be finer than what can be drawn

    if (high := next(filter(enough, sorted(tried)), None)) is None:
        return None
    low = min(tried)
    # Which noise is taken depends on the budget, so the better kind may need more to be taken.
    for _ in range(HALVINGS if high > low else 0):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return at(high)
