"""The best scales for rows as they are measured: rounding them has changed what people cost."""

from typing import Protocol, Self, TypeVar

import numpy as np
from flint import arb

from halfnoise.design.design import Setting
from halfnoise.design.duality import CLOSE, solve
from halfnoise.design.goals import A_LITTLE
from halfnoise.design.programme import Goals, Programme
from halfnoise.proof import ball
from halfnoise.workload.grid import Floats
from halfnoise.workload.workload import Workload

SLACK = 2.0**-40  # more than all rounding of a sum of positive numbers
EVEN = 1e-4  # how near scales of short rows come to the best
EXACT = 1e-6  # the same, and of all else, where several errors are to be as large
GROWN = 2.0**-10  # by how much a squared scale is, to see what its noise weighs


class Scaled(Protocol):
    """Rows with the scales of their noises, each independent of all others."""

    @property
    def noises(self) -> Floats:
        """The scales of all noises."""

    @property
    def charged(self) -> Floats:
        """What everybody, and every noise of scale one, costs."""

    def with_noises(self, scales: Floats) -> Self:
        """Return the same with other scales."""

    def error(self, workload: Workload) -> float:
        """Return what the workload wants to be least."""

    def errors(self, workload: Workload) -> list[float]:
        """Return the error of each goal."""


S = TypeVar("S", bound=Scaled)


def balanced(design: S, setting: Setting) -> S:
    """Return the same rows with the best scales for them.

    What errors grow by, as each squared scale does, is what its noise weighs in them.
    """
    scales, goals = design.noises, setting.largest

    def errors(own: Floats) -> Floats:
        seen = design.with_noises(own)
        return np.array(seen.errors(goals) if goals else [seen.error(setting.workload)])

    least, grown = errors(scales), np.sqrt(np.eye(len(scales)) * GROWN + 1)
    more = [errors(scales * own) - least for own in grown]
    weights = np.maximum(np.array(more).T / scales**2, 0.0)
    programme = Programme(
        moved=(),
        weights=(),
        distances=design.charged,
        line_weights=weights.sum(axis=0),
        goals=Goals((), weights),
    )
    if goals:  # first what they weigh, then the best for goals that all weigh a little
        fair = solve(programme.lifted, EXACT).shares
        programme = programme.weighed(fair + A_LITTLE)
    found = solve(programme.lifted, EVEN)
    return design.with_noises(found.lines**-0.5 / setting.budget)


def closeness(setting: Setting) -> float:
    """Return how near an error comes to the least; each of several, if all are to be as large."""
    return EXACT if setting.largest else CLOSE


def dearest(design: Scaled) -> arb:
    """Return what the worst of all people costs.

    How far a person moves each row is exact; a sum of positive numbers in floating point is off by
    far less than the slack.
    """
    cost = design.charged @ design.noises**-2.0
    return (ball(float(cost.max())) * ball(1 + SLACK)).sqrt()
