"""Errors of many pairs of estimates that differ from pair to pair, as those of places do."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from halfnoise.noise.law import Noise
from halfnoise.values import dataclass

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The errors of many pairs of estimates, Gaussian ones: variances and covariances, row by row.

    What ``ratios`` asks of errors; where they differ from row to row.
    """

    tops: Floats
    bottoms: Floats
    shared: Floats
    noise: Noise = Noise.GAUSSIAN

    def three(self, _pair: tuple[int, int]) -> tuple[Floats, Floats, Floats]:
        """Return both variances and the covariance, row by row."""
        return self.tops, self.bottoms, self.shared

    def split(self, _top: int, _bottom: int) -> tuple[Floats, Floats, Floats]:
        """Return lean and the variances of rest and bottom, row by row, as ``Errors.split``."""
        lean = self.shared / self.bottoms
        return lean, np.maximum(0.0, self.tops - lean * self.shared), self.bottoms

    def margin(self, _weights: Mapping[int, float], level: float) -> Floats:
        """Return the margins of error of the bottoms."""
        return self.noise.margin([1.0], level) * np.sqrt(self.bottoms)
