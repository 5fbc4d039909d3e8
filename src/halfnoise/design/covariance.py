"""Joint errors: a diagonal plus a few rank-one terms, which is never built as a full matrix.

    Cov = diag(variances) + sum_k weight_k g_k g_k^T

The terms are the noises that several estimates share: that of the number of people, that of the
number who answered a mean, and, with a negative weight, what a projection takes away.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Run:
    """Equal entries of a vector, from ``start`` up to but without ``stop``."""

    start: int
    stop: int
    value: float


@dataclass(frozen=True, slots=True)
class Shared:
    """A rank-one term: ``weight`` times the outer product of ``loadings`` with itself."""

    weight: float
    loadings: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariance of all estimates of a design, the number of people last where it is measured.

    >>> people = Shared(1.0, (Run(0, 2, 0.5), Run(2, 3, 1.0)))
    >>> covariance = Covariance(3, (Run(0, 2, 4.0),), (people,))
    >>> covariance.dense()
    array([[4.25, 0.25, 0.5 ],
           [0.25, 4.25, 0.5 ],
           [0.5 , 0.5 , 1.  ]])
    >>> covariance.quadratic_form([1, -1, 0])
    8.0
    """

    size: int
    variances: tuple[Run, ...]
    shared: tuple[Shared, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix it stands for."""
        return (self.size, self.size)

    def diagonal(self) -> Vector:
        """Return the variance of every estimate."""
        diagonal = _expand(self.size, self.variances)
        for term in self.shared:
            for run in term.loadings:
                diagonal[run.start : run.stop] += term.weight * run.value**2
        return diagonal

    def variance(self, index: int) -> float:
        """Return the variance of one estimate, without building the diagonal."""
        return sum(self.terms({index: 1.0}))

    def terms(self, weights: Mapping[int, float]) -> list[float]:
        """Return the variances of the noises in a weighted sum of a few estimates.

        They are independent, but for what a projection takes away, which is negative.
        """
        own = [w**2 * _entry(self.variances, i) for i, w in weights.items()]
        shared = [
            term.weight * sum(w * _entry(term.loadings, i) for i, w in weights.items()) ** 2
            for term in self.shared
        ]
        return [term for term in own + shared if term]

    def __matmul__(self, other: object) -> Vector:
        """Multiply with a vector, or with the columns of a matrix, in linear time."""
        x = np.asarray(other, dtype=np.float64)
        product = np.zeros_like(x)
        for run in self.variances:
            product[run.start : run.stop] = run.value * x[run.start : run.stop]
        for term in self.shared:
            dot = sum(run.value * x[run.start : run.stop].sum(axis=0) for run in term.loadings)
            for run in term.loadings:
                product[run.start : run.stop] += term.weight * run.value * dot
        return product

    def quadratic_form(self, weights: object) -> float:
        """Return the variance of the sum of the estimates times ``weights``."""
        w = np.asarray(weights, dtype=np.float64)
        return float(w @ (self @ w))

    def dense(self) -> NDArray[np.float64]:
        """Build the full matrix: for a look, or for small tables."""
        return self @ np.eye(self.size)


def _entry(runs: tuple[Run, ...], index: int) -> float:
    return next((run.value for run in runs if run.start <= index < run.stop), 0.0)


def _expand(size: int, runs: tuple[Run, ...]) -> Vector:
    vector = np.zeros(size)
    for run in runs:
        vector[run.start : run.stop] = run.value
    return vector
