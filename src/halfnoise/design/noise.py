"""The two kinds of noise: how scale, privacy and error hang together in each.

With noise of scale s on a distance x, a person costs (|x|/s)^p of the budget's p-th power, p = 2
for Gaussian and p = 1 for Laplace noise, and the error has variance ``unit_variance * s^2``.
"""

import enum
import math
from statistics import NormalDist

from halfnoise.tails import laplace_margin


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
        if self is Noise.GAUSSIAN:
            return NormalDist().inv_cdf((1 + level) / 2) * self.std(parts)
        scales = tuple(sorted(part for part in parts if part > 0))
        return laplace_margin(scales, level) if scales else 0.0
