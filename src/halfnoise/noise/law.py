"""The two kinds of noise: how scale, privacy and error hang together in each.

With noise of scale s on a distance x, a person costs (|x|/s)^p of the budget's p-th power, p = 2
for Gaussian and p = 1 for Laplace noise, and the error has variance ``unit_variance * s^2``.

How far sums of many Laplace noises reach: the generating function of a sum of noises with scales
b_i is  M(s) = prod 1/(1 - b_i^2 s^2), and

    P(sum > x) = 1/(2 pi i) integral of M(s) e^(-s x)/s ds

along any path that crosses the real axis between 0 and the first pole 1/max(b_i). Here it crosses
where the integrand is smallest and bends away along the steepest descent, where the trapezoidal
rule reaches the precision of float64 within a hundred points, however many noises there are. A
Gaussian noise of standard deviation g beside them is one more factor, e^(g^2 s^2/2).
"""

import enum
import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from halfnoise.noise.rounded import rounded_gaussian, rounded_laplace
from halfnoise.privacy.definitions import Budget

Floats = NDArray[np.float64]


class Noise(enum.Enum):
    """Gaussian or Laplace noise."""

    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"

    def __init__(self, name: str) -> None:
        """Set the powers in which costs add up, and in which they trade against each other."""
        self.p = 2 if name == "gaussian" else 1
        self.q = 1 + 2 / self.p
        self.unit_variance = 2.0 / self.p  # at scale one

    def amount(self, budget: Budget) -> float | None:
        """Return what noise of this kind may spend: mu, or epsilon; None if it may not be used."""
        return budget.mu if self is Noise.GAUSSIAN else budget.epsilon

    def draw(self, scales: Floats) -> NDArray[np.int64]:
        """Draw integer noise of these scales, in their shape."""
        noise = rounded_gaussian if self is Noise.GAUSSIAN else rounded_laplace
        return np.asarray(noise(scales, scales.shape))

    def std(self, parts: list[float]) -> float:
        """Return the standard deviation of a sum of independent noises with these scales."""
        return math.sqrt(self.unit_variance) * math.hypot(*parts)

    def margin(self, parts: list[float], level: float, copies: int = 1) -> float:
        """Return what a sum of ``copies`` of each keeps within, with probability ``level``."""
        if self is Noise.GAUSSIAN:
            return -NormalDist().inv_cdf((1 - level) / 2) * (math.sqrt(copies) * self.std(parts))
        return margin_of(parts, level, copies=copies)


def margin_of(
    laplace: Sequence[float], level: float, *, copies: int = 1, normal: float = 0
) -> float:
    """Return the margin of a sum of Laplace noises, and of a Gaussian one beside them."""
    scales = tuple(sorted(part for part in laplace if part > 0))
    if scales:
        return laplace_margin(scales, level, copies, normal)
    return Noise.GAUSSIAN.margin([normal], level)


_STEP = 1 / 16
_POINTS = _STEP * np.arange(112)
_ALONG, _WEIGHTS = np.sinh(_POINTS), np.cosh(_POINTS) * _STEP / math.pi
_WEIGHTS[0] /= 2


@lru_cache(maxsize=4096)
def laplace_margin(
    scales: Sequence[float], level: float, copies: int = 1, normal: float = 0.0
) -> float:
    """Return the margin of a sum of Laplace noises, as ``margin_of`` does."""
    distinct, counts = np.unique(np.asarray(scales, dtype=np.float64), return_counts=True)
    many = counts.astype(np.float64) * copies
    std = math.sqrt(2 * float(many @ distinct**2) + normal**2)
    distinct /= std
    square = (normal / std) ** 2
    # The logarithm of the tail is concave, so Newton's steps come down to the margin from above.
    x = 1.0
    for _ in range(64):
        tail, density = _tail(distinct, many, x, square)
        step = math.log(2 * tail / (1 - level)) * tail / density
        x = x + step if x + step > 0 else x / 2
        if abs(step) <= 1e-13 * x:
            break
    return std * x


def _tail(scales: Floats, many: Floats, x: float, square: float) -> tuple[float, float]:
    """Return P(sum > x) and the density at x > 0; ``square``: the variance of a Gaussian noise."""
    squares = scales**2
    low, high = 0.0, 1 / float(scales.max())
    if square:  # the Gaussian factor alone would bring it here
        high = min(high, (x + math.sqrt(x**2 + 4 * square)) / (2 * square))
    for _ in range(24):
        c = (low + high) / 2
        slope = float(many @ (2 * squares * c / (1 - squares * c**2))) + square * c - x - 1 / c
        low, high = (c, high) if slope < 0 else (low, c)
    near = 1 - squares * c**2
    second = float(many @ (2 * squares * (2 - near) / near**2)) + square + 1 / c**2
    third = float(many @ (4 * squares**2 * c * (4 - near) / near**3)) - 2 / c**3
    width, bend = 1 / math.sqrt(second), max(0.0, third / (6 * second))
    u = width * _ALONG
    # A parabola that goes on straight: else a Gaussian factor, or many small noises, would grow.
    more = 4 * bend**2 * u**2
    s = c + 1j * u + bend * u**2 / np.sqrt(1 + more)
    turn = bend * u * (2 + more) / (1 + more) ** 1.5
    exponent = square * s**2 / 2 - s * x - many @ np.log(1 - np.outer(squares, s**2))
    along = np.exp(exponent) * (1 - 1j * turn) * width * _WEIGHTS
    return float((along / s).real.sum()), float(along.real.sum())
