"""What may be concluded from noisy values: intervals and differences. All post-processing.

An error is a sum of independent noises, which the covariance lists: one for each estimate and a
few that several share. Whatever is linear keeps that form, so shared noise cancels by itself.
Intervals cover the noise only, not who was asked or how they answered.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.placed_errors import PlacedErrors
from halfnoise.noise.law import Noise

Floats = NDArray[np.float64]
Columns: TypeAlias = dict[str, NDArray[Any]]  # numbers as float64, all else as objects
Places: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = Mapping[int, float]
SURE = math.nextafter(1.0, 0.0)  # the highest level that there is
_cdf = np.vectorize(NormalDist().cdf, otypes=[np.float64])


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value, its standard error, and an interval that covers the noise.

    >>> smokers = Estimate(name="smoker", estimate=-2.3, std=5.0, low=-12.1, high=7.5)
    >>> smokers.as_count()
    Estimate(name='smoker', estimate=0.0, std=5.0, low=-12.1, high=7.5)
    """

    name: str
    estimate: float
    std: float
    low: float
    high: float

    def as_count(self, most: float = math.inf) -> "Estimate":
        """Return it rounded and within [0, most], with an interval that reaches to it."""
        return self.moved(min(max(float(round(self.estimate)), 0.0), most))

    def moved(self, x: float) -> "Estimate":
        """Return it with another value, and an interval that reaches to it."""
        return replace(self, estimate=x, low=min(self.low, x), high=max(self.high, x))

    def within(self, least: float, most: float) -> "Estimate":
        """Return it and its interval within bounds that the true value cannot leave."""
        x, low, high = (min(max(v, least), most) for v in (self.estimate, self.low, self.high))
        return replace(self, estimate=x, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Errors:
    """The joint error of several estimates: which noise, and its covariance."""

    noise: Noise
    covariance: Covariance
    copies: int = 1  # so many independent errors of this covariance add up, as in a sum over groups

    def parts(self, weights: Weights) -> list[float]:
        """Return the scales of the independent noises in a weighted sum, of one copy."""
        if self.noise is Noise.GAUSSIAN:  # the whole sum is one
            return [math.sqrt(max(0.0, self.covariance.of(weights)))]
        unit = self.noise.unit_variance
        return [math.sqrt(variance / unit) for variance in self.covariance.noises(weights)]

    def std(self, weights: Weights) -> float:
        """Return the standard error of a weighted sum of estimates."""
        return math.sqrt(self.copies) * self.noise.std(self.parts(weights))

    def margin(self, weights: Weights, level: float) -> float:
        """Return the margin of error of a weighted sum of estimates."""
        return self.noise.margin(self.parts(weights), level, self.copies)

    def linear(self, name: str, values: Floats, weights: Weights, level: float) -> Estimate:
        """Return a weighted sum of estimates with its interval."""
        x = sum(w * float(values[i]) for i, w in weights.items())
        margin, std = self.margin(weights, level), self.std(weights)
        return Estimate(name=name, estimate=x, std=std, low=x - margin, high=x + margin)

    def split(self, a: int, b: int) -> tuple[float, float, float]:
        """Return lean and the variances of rest and b: a = lean * b + rest, uncorrelated with b."""
        variance, shared = self.covariance.variance(b), self.covariance.between(a, b)
        lean = shared / variance if variance > 0 else 0.0
        rest = max(0.0, self.covariance.variance(a) - lean * shared)
        return lean, self.copies * rest, self.copies * variance

    def two(self, top: float, bottom: float, shared: float) -> "Errors":
        """Return the errors of two numbers alone, from variances and covariance of one copy."""
        lean = shared / bottom if bottom > 0 else 0.0
        rest = Run(0, 1, max(0.0, top - lean * shared))
        common = Shared(bottom, (Run(0, 1, lean), Run(1, 2, 1.0)))
        return replace(self, covariance=Covariance(2, (rest,), (common,)))

    def both(self, a: int, b: int) -> "Errors":
        """Return the errors of two estimates alone."""
        top, bottom = (self.covariance.variance(each) for each in (a, b))
        return self.two(top, bottom, self.covariance.between(a, b))

    def each(self, table: int, level: float) -> tuple[Floats, Floats]:
        """Return standard errors and margins of a table's cells, by place; one if by no places."""
        variances, one = self.covariance.matched(table, table), {table: 1.0}
        if len(variances) == 1:
            return np.array([self.std(one)]), np.array([self.margin(one, level)])
        std = np.sqrt(self.copies * np.maximum(variances, 0.0))
        return std, self.noise.margin([1.0], level) * std

    def beside(
        self, table: int, other: int, spread: Callable[[Floats], Floats]
    ) -> "Errors | Pairs":
        """Return the errors of a table's cells, each with what it is part of, as ``both`` does.

        ``spread``: what numbers of places become for all cells.
        """
        shared = self.covariance.matched(table, other)
        if len(shared) == 1:
            return self.both(table, other)
        around = self.covariance.around(table, other)
        top, bottom = (self.covariance.matched(each, each) for each in (table, other))
        tops, bottoms, both = (spread(self.copies * x) for x in (top, bottom[around], shared))
        return Pairs(tops, bottoms, both)

    def lines(self, places: Places, level: float) -> tuple[Floats, Floats]:
        """Return standard errors and margins of estimates of one table, or else of the first."""
        if not isinstance(self.covariance.tables, PlacedErrors):
            one = {int(places[0]): 1.0}
            return np.array([self.std(one)]), np.array([self.margin(one, level)])
        std = np.sqrt(self.copies * np.maximum(self.covariance.diagonal()[places], 0.0))
        return std, self.noise.margin([1.0], level) * std

    def pairs(self, tops: Places, bottoms: Places) -> "Errors | Pairs":
        """Return the errors of pairs of estimates that are alike, or else of the first."""
        if not isinstance(self.covariance.tables, PlacedErrors):
            return self.both(int(tops[0]), int(bottoms[0]))
        both = zip(tops.tolist(), bottoms.tolist(), strict=True)
        shared = np.array([self.covariance.between(a, b) for a, b in both])
        own, copies = self.covariance.diagonal(), self.copies
        return Pairs(copies * own[tops], copies * own[bottoms], copies * shared)


@dataclass(frozen=True, slots=True)
class Pairs:
    """The errors of many pairs of estimates, Gaussian ones: variances and covariances, row by row.

    What ``ratios`` asks of errors; where they differ from row to row.
    """

    tops: Floats
    bottoms: Floats
    shared: Floats
    noise: Noise = Noise.GAUSSIAN

    def split(self, _top: int, _bottom: int) -> tuple[Floats, Floats, Floats]:
        """Return lean and the variances of rest and bottom, row by row, as ``Errors.split``."""
        lean = self.shared / self.bottoms
        return lean, np.maximum(0.0, self.tops - lean * self.shared), self.bottoms

    def margin(self, _weights: Weights, level: float) -> Floats:
        """Return the margins of error of the bottoms."""
        return self.noise.margin([1.0], level) * np.sqrt(self.bottoms)


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
        return min(1 - (1 - level) / (queries + means), SURE)
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
