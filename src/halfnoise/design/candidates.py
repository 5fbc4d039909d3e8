"""Every design that there is: a new one is a file and a line here."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from halfnoise.design.centered import Centered
from halfnoise.design.certificate import fairly, least_error
from halfnoise.design.design import Design, Setting
from halfnoise.design.fitted import Fitted
from halfnoise.design.fitted_groups import FittedGroups
from halfnoise.design.goals import Fair
from halfnoise.design.largest import least_largest
from halfnoise.design.optimum import OptimalWithoutSize
from halfnoise.design.two_level import TwoLevel
from halfnoise.errors import InvalidParameterError
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Budget
from halfnoise.workload.workload import Workload

PAYS = 1.001  # a fitted design has this much less squared error than closed forms, or is none

# The plainest first: others are compared with it, and it wins ties.
CANDIDATES: tuple[type[Design], ...] = (Centered, TwoLevel, OptimalWithoutSize)
FITTED: tuple[type[Design], ...] = (Fitted, FittedGroups)


def designs(workload: Workload, budget: Budget, *, known_size: bool = False) -> Iterator[Design]:
    """List every design that applies to a workload, each at the whole budget.

    >>> from halfnoise.workload.numbers import Counts
    >>> [design.name for design in designs(Workload([Counts(9)]), Budget(mu=1.0))]
    ['standard-gaussian', 'correlated-gaussian', 'optimal-gaussian-without-size']
    """
    for noise in Noise:
        pays = noise is Noise.GAUSSIAN or not workload.gaussian_only
        if pays and (amount := noise.amount(budget)) is not None:
            setting = Setting(workload=workload, noise=noise, budget=amount, known_size=known_size)
            largest, gaussian = workload.objective == "largest", noise is Noise.GAUSSIAN
            fair = fairly(workload, amount, known_size=known_size) if largest and gaussian else None
            found = [design for each in CANDIDATES for design in _offers(each, setting, fair)]
            yield from found
            if gaussian and not (largest and fair is None):
                yield from _fitted(setting, fair, found)


def _fitted(setting: Setting, fair: Fair | None, closed: Sequence[Design]) -> Iterator[Design]:
    """Offer fitted designs where they have less error than all closed forms, and fit the grid.

    They are not looked for where the bound says that there is no such design. ``fair``: how goals
    weigh where the largest error is least.
    """
    workload = setting.workload
    fit = [design for design in closed if design.gives_size or not workload.needs_sizes]
    best = min(fit, key=lambda design: design.error(workload), default=None)
    least = math.inf if best is None else best.error(workload)
    if best is not None:
        known = setting.known_size
        bound = least_error(workload, setting.budget, known_size=known, lines=best.lines)
        if bound is not None and least <= bound * PAYS:
            return
    asked = replace(setting, workload=fair.workload, largest=workload) if fair else setting
    for candidate in FITTED if workload.weight is None else ():
        for design in candidate.offers(asked):
            if design.error(workload) * PAYS < least and _fits(design, setting):
                yield design


def _fits(design: Design, setting: Setting) -> bool:
    """Whether there is a grid for what is measured: rows may need a finer one than closed forms."""
    try:
        design.on_grid(setting.workload, setting.budget)
    except InvalidParameterError:
        return False
    return True


def _offers(candidate: type[Design], setting: Setting, fair: Fair | None) -> Iterator[Design]:
    """List what a candidate offers, each for the objective of the workload."""
    workload = setting.workload
    if workload.weight is not None and not candidate.takes_weights:
        return
    for design in candidate.offers(setting):

        def again(weighed: Workload, name: str = design.name) -> Design:
            offered = candidate.offers(replace(setting, workload=weighed))
            return next(each for each in offered if each.name == name)

        largest = workload.objective == "largest"
        yield least_largest(design, again, workload, fair) if largest else design
