"""What discovering groups costs: a small delta of its own, beside the budget of the noise."""

import math
from fractions import Fraction
from typing import NamedTuple, Self

from halfnoise.checks import refuse
from halfnoise.design.design import Measurement
from halfnoise.errors import InvalidParameterError
from halfnoise.privacy.definitions import ApproxDP, Budget, Privacy
from halfnoise.proof import divide_down, down, exactly, least
from halfnoise.text import short
from halfnoise.values import dataclass
from halfnoise.workload.groups import Grouping

PART = 10  # discovering takes a tenth of delta where nothing else is said


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What the noisy size of a group must reach to be released, and what that costs."""

    threshold: float
    usual: float  # a group of so many people shows in 95% of cases
    delta: float  # how likely a release shows a key that only one person has

    @classmethod
    def of(cls, measurement: Measurement) -> Self:
        """Return what a measurement asks of groups to be discovered."""
        limit, design = measurement.threshold, measurement.design
        if limit is None:
            raise AssertionError(design.name)
        # Noise is symmetric: as much below as above.
        below = design.noise.margin([design.seen_scale or 0.0], 0.9)
        return cls(threshold=limit.size, usual=limit.size + below, delta=limit.delta)

    def __str__(self) -> str:
        return (
            f"A group shows if its noisy number of people is at least {short(self.threshold)}; one"
            f" of {short(math.ceil(self.usual))} people does in 95% of cases. A key that only one"
            f" person has shows with probability {self.delta:.2g} at most."
        )


class Spending(NamedTuple):
    """What the noise of each release may spend, and the delta of discovering, if any."""

    budget: Budget
    delta: float | None = None

    @classmethod
    def of(cls, privacy: Privacy, grouping: Grouping | None, releases: int) -> Self:
        """Share a budget out among releases, noise and discovering.

        Of (epsilon, delta) the noise gets what discovering leaves of delta; in every other
        definition the delta of discovering comes on top, and must be given.

        >>> from halfnoise.workload.groups import Grouping
        >>> shops = Grouping.of("shop", "discover")
        >>> Spending.of(ApproxDP(epsilon=1, delta=1e-6), shops, 1).delta
        1e-07
        """
        if grouping is None or not grouping.discovers:
            return cls(privacy.budget(releases))
        if isinstance(privacy, ApproxDP):
            rest, delta = split_delta(privacy.delta, grouping)
            privacy = ApproxDP(epsilon=privacy.epsilon, delta=rest)
        elif grouping.delta is None:
            raise InvalidParameterError(
                "discovering groups needs a delta, got none; say discover_delta (--discover-delta),"
                " far below 1 / (number of people), or give the budget as epsilon and delta"
            )
        else:
            delta = grouping.delta
        return cls(privacy.budget(releases), divide_down(least(delta), releases))


def split_delta(delta: float, grouping: Grouping | None) -> tuple[float, float]:
    """Return the part of delta that is left for the noise, and the part for discovering."""
    if grouping is None or not grouping.discovers:
        return delta, 0.0
    own = divide_down(least(delta), PART) if grouping.delta is None else grouping.delta
    if not own < delta:
        remedy = "the noise needs the rest of delta"
        raise refuse("discover_delta", f"below delta, {delta:g}", own, remedy)
    # The largest float64 that together with the other part is at most delta, exactly.
    return down(least(delta) - max(Fraction(own), exactly(own))), own
