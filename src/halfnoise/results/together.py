"""The level at which each of several intervals must hold, so that all of them hold at once."""

import math
from statistics import NormalDist

import numpy as np

from halfnoise.noise.law import Noise
from halfnoise.results.inference import Errors

SURE = math.nextafter(1.0, 0.0)  # the highest level that there is
_cdf = np.vectorize(NormalDist().cdf, otypes=[np.float64])


def shared_out(level: float, many: int) -> float:
    """Return the level at which each of many intervals must hold, whatever they have in common."""
    return min(1 - (1 - level) / many, SURE)


def simultaneous_level(errors: Errors, queries: int, means: int, level: float) -> float:
    """Return the level at which each of all intervals must hold so that they hold together.

    ``means``: how many ratios of the estimates have an interval beside the ``queries`` themselves.

    Laplace noise: what is lacking is shared out. Gaussian noise: given the noise of the last term,
    which all estimates share, those with a noise of their own alone are independent, so one
    integral over it tells. What shares yet another noise (means, projected categories) is
    multiplied in: symmetric intervals of Gaussian estimates are never less likely to hold together
    than apart (Royen 2014).
    """
    if errors.noise is Noise.LAPLACE:
        return shared_out(level, queries + means)
    own = errors.covariance.alone(last=errors.covariance.size > queries)
    others = means + queries - sum(count for count, _, _ in own)
    grid = np.linspace(-9.0, 9.0, 1801)
    density = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi) * (grid[1] - grid[0])

    def together(z: float) -> float:
        inside = np.ones_like(grid)
        for count, std, lean in own:
            reach, shift = z * math.hypot(std, lean), lean * grid
            inside *= (_cdf((reach - shift) / std) - _cdf((-reach - shift) / std)) ** count
        return float(np.sum(density * inside)) * math.erf(z / math.sqrt(2)) ** others

    # Beyond eight standard deviations all is certain, as far as a float64 can tell.
    low, high = 0.0, next((z for z in (1.0, 2.0, 4.0) if together(z) >= level), 8.0)
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (low, middle) if together(middle) >= level else (middle, high)
    return min(math.erf(high / math.sqrt(2)), SURE)
