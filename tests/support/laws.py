"""The distributions that the noise must have, written down a second time."""

from collections.abc import Callable

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy.special import ndtr

# Integrals of exp(-x^2/2) and exp(-|x|) from 0 to x, as balls.
Area = Callable[[arb], arb]
# Distribution functions in floats; accurate to a relative error near 1e-15 for x <= 0.
Cdf = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def gaussian_area(x: arb) -> arb:
    """Return the integral of exp(-t^2/2) from 0 to x."""
    return (arb.pi() / 2).sqrt() * (x / arb(2).sqrt()).erf()


def laplace_area(x: arb) -> arb:
    """Return the integral of exp(-|t|) from 0 to x."""
    return 1 - (-x).exp() if x >= 0 else x.exp() - 1


def gaussian_cdf(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard normal distribution function."""
    return np.asarray(ndtr(x))


def laplace_cdf(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard Laplace distribution function."""
    return np.where(x < 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


def cell_probabilities(cdf: Cdf, scale: float, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probabilities of rounded noise in (-inf, e0], (e0, e1], ..., (e_last, inf).

    Each difference is taken in the lower tail, where it keeps its digits.
    """
    x = (edges + 0.5) / scale
    low, high = np.append(-np.inf, x), np.append(x, np.inf)
    flip = low >= 0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    return cdf(high) - cdf(low)
