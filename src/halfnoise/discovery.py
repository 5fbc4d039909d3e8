"""What discovering groups costs: a small delta of its own, beside the budget of the noise."""

import math
from fractions import Fraction

from halfnoise.calibration import divide_down
from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.grouping import Grouping
from halfnoise.privacy import ApproxDP, Budget, Privacy

PART = 10
"""Discovering takes a tenth of delta where nothing else is said."""


def spendable(
    privacy: Privacy, grouping: Grouping | None, releases: int
) -> tuple[Budget, float | None]:
    """Return what the noise of each release may spend, and the delta of discovering, if any.

    Of (epsilon, delta) the noise gets what discovering leaves of delta; in every other definition
    the delta of discovering comes on top, and must be given.

    >>> from halfnoise.grouping import grouping
    >>> found = grouping("shop", "discover", "other", 1, None)
    >>> spendable(ApproxDP(epsilon=1, delta=1e-6), found, 1)[1]
    1e-07
    """
    if grouping is None or not grouping.discovers:
        return privacy.budget(releases), None
    delta = grouping.delta
    if isinstance(privacy, ApproxDP):
        delta = divide_down(privacy.delta, PART) if delta is None else delta
        if not delta < privacy.delta:
            remedy = "the noise needs the rest of delta"
            raise refuse("discover_delta", f"below delta, {privacy.delta:g}", delta, remedy)
        rest = _difference_down(privacy.delta, delta)
        return ApproxDP(epsilon=privacy.epsilon, delta=rest).budget(releases), divide_down(
            delta, releases
        )
    if delta is None:
        raise InvalidParameterError(
            "discovering groups needs a delta, got none; say discover_delta (--discover-delta),"
            " far below 1 / (number of people), or give the budget as epsilon and delta"
        )
    return privacy.budget(releases), divide_down(delta, releases)


def _difference_down(whole: float, part: float) -> float:
    """Return the largest float64 that together with ``part`` is at most ``whole``, exactly."""
    rest = whole - part
    exact = Fraction(whole) - Fraction(part)
    return math.nextafter(rest, 0) if Fraction(rest) > exact else rest
