"""The two densities that noise is drawn from, without their scale.

Staircase, tail and error bounds rest on four facts about a density: it is even, falls with abs(x),
never steeper than with slope 1, and its exponent is convex.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Density:
    """A density exp(-exponent(x)), up to a factor; strips cover it as far as ``reach``.

    ``exponent`` serves NumPy arrays and balls alike. ``tail_rate`` is its slope at ``reach``, so
    that the tail beyond lies below an exponential density of that rate.
    """

    exponent: Callable[[Any], Any]
    reach: int
    tail_rate: int


def _half_square(x: Any) -> Any:  # noqa: ANN401 (an array or a ball)
    return x * x * 0.5


GAUSSIAN = Density(exponent=_half_square, reach=8, tail_rate=8)
LAPLACE = Density(exponent=abs, reach=16, tail_rate=1)
