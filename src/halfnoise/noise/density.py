"""The two densities that noise is drawn from, without their scale.

A shape is exp(-exponent(x)) up to a constant factor. Staircase, tail and error bounds rest on four
facts about it: it is even, falls with abs(x), never steeper than with slope 1, and its exponent is
convex.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A density exp(-exponent(x)), and how far strips cover it before the tail begins.

    ``exponent`` serves NumPy arrays and balls alike. ``tail_rate`` is its slope at ``reach``, so
    that the tail lies below an exponential density of that rate.
    """

    exponent: Callable[[Any], Any]
    reach: int
    tail_rate: int


def _half_square(x: Any) -> Any:  # noqa: ANN401 (an array or a ball)
    return x * x * 0.5


GAUSSIAN = Shape(exponent=_half_square, reach=8, tail_rate=8)
LAPLACE = Shape(exponent=abs, reach=16, tail_rate=1)
