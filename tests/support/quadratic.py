"""Variances of weighted sums of all estimates, by products with the covariance."""

from typing import Any

import numpy as np

from halfnoise.design.covariance import Covariance


def quadratic_form(covariance: Covariance, weights: Any) -> float:
    """Return the variance of the sum of the estimates times ``weights``."""
    w = np.asarray(weights, dtype=np.float64)
    return float(w @ (covariance @ w))
