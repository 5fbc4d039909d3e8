"""The other way round: from a margin of error to the budget it needs."""

import itertools
from collections.abc import Sequence
from typing import Unpack

from halfnoise.checks import fraction, known_keywords, positive, refuse, whole
from halfnoise.design.candidates import designs
from halfnoise.planning.plan import DELTA, LEAST, MOST, best_design, margins_of, plan
from halfnoise.planning.spending import split_delta
from halfnoise.privacy.definitions import ApproxDP, Budget, GaussianDP
from halfnoise.workload.groups import Columns
from halfnoise.workload.queries import Query
from halfnoise.workload.workload import Rules, Workload


@known_keywords
def budget_for(
    workload: Workload | Sequence[Query],
    *,
    margin: float,
    level: float = 0.95,
    delta: float = DELTA,
    releases: int = 1,
    known_size: bool = False,
    by: Columns = None,
    **rules: Unpack[Rules],
) -> ApproxDP:
    """Return the smallest budget with which no query's margin of error is above ``margin``.

    The margin is in people for counts and in units for sums; for a mean it is the margin times the
    number who answered. ``by`` and ``rules`` are those of ``Workload``, where queries are a list.

    >>> from halfnoise import Counts, budget_for
    >>> budget_for([Counts(100)], margin=25, delta=1e-6)
    ApproxDP(epsilon=1.916..., delta=1e-06)
    """
    workload = Workload.of(workload, by, **rules)
    target = positive(margin=margin)
    level, delta, releases = fraction(level=level), fraction(delta=delta), whole(releases=releases)

    def worst(budget: Budget) -> float:
        found = designs(workload, budget, known_size=known_size)
        return max(margins_of(best_design(tuple(found), workload), level))

    # Margins go with 1/mu and 1/epsilon, so one look at 1 tells what each kind of noise needs.
    mu = worst(Budget(mu=1.0)) / target * releases**0.5
    epsilon = worst(Budget(epsilon=1.0)) / target * releases
    approximate = GaussianDP(mu=min(max(mu, LEAST), MOST)).epsilon(
        split_delta(delta, workload.grouping)[0]
    )
    needed = [each for each in (epsilon, approximate) if each <= MOST]
    if not needed:
        raise refuse("margin", "larger: no budget that protects anybody gives it", target)
    for nudge in itertools.count():
        for epsilon in sorted(needed):
            stretched = max(epsilon, LEAST * releases) * (1 + 1e-12) * 1.001**nudge
            privacy = ApproxDP(epsilon=stretched, delta=delta)
            found = plan(
                workload, privacy=privacy, releases=releases, known_size=known_size, level=level
            )
            if max(found.margins) <= target:
                return privacy
    raise AssertionError
