"""The two kinds of noise: how scale, privacy and error hang together in each.

With noise of scale s on a distance x, a person costs (|x|/s)^p of the budget's p-th power, p = 2
for Gaussian and p = 1 for Laplace noise, and the error has variance ``unit_variance * s^2``.
"""

import enum
import math
from statistics import NormalDist

from flint import arb, fmpq

from halfnoise.balls import precision


class Noise(enum.Enum):
    """Gaussian or Laplace noise."""

    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"

    @property
    def p(self) -> int:
        """The power in which costs add up."""
        return 2 if self is Noise.GAUSSIAN else 1

    @property
    def q(self) -> float:
        """The power in which costs trade against each other: 1 + 2/p."""
        return 1 + 2 / self.p

    @property
    def unit_variance(self) -> float:
        """The variance at scale one."""
        return 1.0 if self is Noise.GAUSSIAN else 2.0

    def std(self, parts: list[float]) -> float:
        """Return the standard deviation of a sum of independent noises with these scales."""
        return math.sqrt(self.unit_variance) * math.hypot(*parts)

    def margin(self, parts: list[float], level: float) -> float:
        """Return the margin that a sum of such noises keeps within, with probability ``level``."""
        normal = NormalDist().inv_cdf((1 + level) / 2) * self.std(parts)
        if self is Noise.GAUSSIAN:
            return normal
        all_scales = sorted(part for part in parts if part > 0)
        scales = _few(all_scales)
        low, high = 0.0, self.std(scales)
        while _laplace_tail(scales, high) > 1 - level:
            low, high = high, 2 * high
        while high - low > 1e-12 * high:
            middle = (low + high) / 2
            low, high = (
                (middle, high) if _laplace_tail(scales, middle) > 1 - level else (low, middle)
            )
        return high if scales == all_scales else max(high, normal)


def _few(scales: list[float]) -> list[float]:
    """Return at most eight scales: the smallest merged into one of the same variance.

    Eight is as far as the precision reaches. One Laplace noise has heavier tails than several of
    the same variance together, and is narrower in the middle, where their sum is nearly normal:
    the larger of the two margins is right at all levels to about 0.03 percentage points.
    """
    small, large = scales[:-7], scales[-7:]
    return sorted([math.hypot(*small), *large]) if len(small) > 1 else scales


def _laplace_tail(scales: list[float], t: float) -> float:
    """Return P(|sum of Laplace noises| > t).

    With distinct scales b_i it is  sum_i e^(-t/b_i) prod_(j != i) b_i^2/(b_i^2 - b_j^2),  by
    partial fractions of the characteristic function. Scales that are equal are moved apart by
    2^-100, at a precision that the cancellation cannot exhaust.
    """
    with precision(1024):
        b = [arb(scale) * (1 + fmpq(i, 2**100)) for i, scale in enumerate(scales)]
        tail = arb(0)
        for i, own in enumerate(b):
            term = (-arb(t) / own).exp()
            for j, other in enumerate(b):
                if j != i:
                    term *= own**2 / (own**2 - other**2)
            tail += term
        return float(tail)
