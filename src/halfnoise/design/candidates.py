"""Every design that there is: a new one is a file and a line here."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from halfnoise.design.centered import at_known_size, correlated, standard
from halfnoise.design.design import Design, Setting
from halfnoise.design.optimum import optimal_without_size
from halfnoise.design.two_level import two_level_designs
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Budget
from halfnoise.workload.workload import Workload

# What offers designs, each at the whole budget, or none where none applies.
Candidate: TypeAlias = Callable[[Setting], Iterator[Design]]

# The plainest first: others are compared with it, and it wins ties.
CANDIDATES: tuple[Candidate, ...] = (
    standard,
    correlated,
    two_level_designs,
    at_known_size,
    optimal_without_size,
)


def designs(workload: Workload, budget: Budget, *, known_size: bool = False) -> Iterator[Design]:
    """List every design that applies to a workload, each at the whole budget.

    >>> from halfnoise.workload.numbers import Counts
    >>> [design.name for design in designs(Workload([Counts(9)]), Budget(mu=1.0))]
    ['standard-gaussian', 'correlated-gaussian', 'optimal-gaussian-without-size']
    """
    for noise in Noise:
        amount = noise.amount(budget)
        if amount is not None:
            setting = Setting(workload=workload, noise=noise, budget=amount, known_size=known_size)
            for candidate in CANDIDATES:
                yield from candidate(setting)
