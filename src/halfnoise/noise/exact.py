"""The certain path: random reals of which bits are drawn as they are needed.

Where float64 cannot settle a draw, it is taken up here with the very bits already drawn, and more
of them, so the outcome is a function of the infinite reals alone. ``docs/noise.md`` has the proof.
"""

from typing import TypeAlias

import numpy as np
from flint import arb

from halfnoise.noise.bits import Bits
from halfnoise.noise.staircase import Density
from halfnoise.proof import interval, precision
from halfnoise.values import dataclass


@dataclass(slots=True, kw_only=True)
class LazyUniform:
    """A uniform real in [0, 1): numerator / 2**drawn, and more bits whenever they are asked for."""

    bits: Bits
    word_bits: int = 64
    numerator: int = 0
    drawn: int = 0

    def more(self) -> None:
        """Draw the next word of this number's bits."""
        word = np.empty(1, dtype=np.uint64)
        self.bits.fill(word)
        self.numerator = (self.numerator << self.word_bits) + int(word[0])
        self.drawn += self.word_bits

    def ball(self) -> arb:
        """Return a ball that holds the number."""
        return interval(self.numerator, self.drawn)


@dataclass(slots=True, kw_only=True)
class StripPoint:
    """A place X = (strip + U) / per_unit, uniform in its strip."""

    strip: int
    per_unit: int
    uniform: LazyUniform

    def height(self, density: Density, top: int) -> arb:
        """Return how high the density stands over X: top * exp(-exponent(X))."""
        place = (self.uniform.ball() + self.strip) / self.per_unit
        height: arb = (-density.exponent(place)).exp() * top
        return height

    def rounded(self, scale: float) -> int:
        """Return round(scale * X), in integers: scale and both ends of X's interval are dyadic."""
        numerator, denominator = scale.as_integer_ratio()
        while True:
            low = (self.strip << self.uniform.drawn) + self.uniform.numerator
            one = (denominator * self.per_unit) << self.uniform.drawn
            # X lies in [low, low + 1), so the upper end itself is not reached.
            first = (2 * low * numerator + one) // (2 * one)
            last = (2 * (low + 1) * numerator + one - 1) // (2 * one)
            if first == last:
                return first
            self.uniform.more()


@dataclass(slots=True, kw_only=True)
class TailPoint:
    """A place X = sign * (reach + E / rate), where E = -log(U) is a standard exponential."""

    sign: int
    reach: int
    rate: int
    per_unit: int
    uniform: LazyUniform

    def _distance(self) -> arb:
        return -self.uniform.ball().log() / self.rate + self.reach

    def height(self, density: Density, top: int) -> arb:
        """Return the density over the exponential proposal, in units of a table entry."""
        ratio: arb = (-density.exponent(self._distance())).exp() / self.uniform.ball()
        return ratio * top * self.per_unit / self.rate

    def rounded(self, scale: float) -> int:
        """Return round(scale * X); no bits or zero bits of U give no finite ball, hence more."""
        while True:
            with precision(self.uniform.drawn + 128):
                shifted = self._distance() * self.sign * arb(scale) + arb(0.5)
                whole = shifted.floor().unique_fmpz() if shifted.is_finite() else None
            if whole is not None:
                return int(whole)
            self.uniform.more()


Point: TypeAlias = StripPoint | TailPoint  # a place that is known ever more closely


def accepts(point: Point, level: int, fraction: LazyUniform, density: Density, top: int) -> bool:
    """Whether level + V < height over the point, for certain; draws bits of both until it is.

    **Guarantee.** The answer is that of the infinite reals (equality has probability zero).
    """
    while True:
        with precision(point.uniform.drawn + fraction.drawn + 64):
            gap = point.height(density, top) - level - fraction.ball()
            if gap > 0:
                return True
            if gap < 0:
                return False
        point.uniform.more()
        fraction.more()
