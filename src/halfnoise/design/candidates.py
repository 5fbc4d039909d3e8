"""Every design that there is: a new one is a file and a line here."""

from collections.abc import Iterator
from typing import Protocol

from halfnoise.design.centered import at_known_size, correlated, standard
from halfnoise.design.design import Design
from halfnoise.design.optimum import optimal_without_size
from halfnoise.design.two_level import two_level_designs
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Budget
from halfnoise.workload.workload import Workload


class Candidate(Protocol):
    """What offers designs for a workload, each at the whole budget, or none where none applies."""

    def __call__(
        self, workload: Workload, noise: Noise, budget: float, *, known_size: bool
    ) -> Iterator[Design]:
        """List what applies."""


CANDIDATES: tuple[Candidate, ...] = (
    standard,
    correlated,
    two_level_designs,
    at_known_size,
    optimal_without_size,
)
"""The plainest first: others are compared with it, and it wins ties."""


def designs(workload: Workload, budget: Budget, *, known_size: bool = False) -> Iterator[Design]:
    """List every design that applies to a workload, each at the whole budget.

    >>> from halfnoise.workload.numbers import Counts
    >>> [design.name for design in designs(Workload([Counts(9)]), Budget(mu=1.0))]
    ['standard-gaussian', 'correlated-gaussian', 'optimal-gaussian-without-size']
    """
    for noise in Noise:
        amount = noise.amount(budget)
        if amount is not None:
            for candidate in CANDIDATES:
                yield from candidate(workload, noise, amount, known_size=known_size)
