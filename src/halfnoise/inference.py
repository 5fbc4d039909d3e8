"""What may be concluded from noisy values: intervals, differences, ratios. All post-processing.

An error is a sum of independent noises, which the covariance lists: one for each estimate and a
few that several share. Whatever is linear keeps that form, so shared noise cancels by itself.
Intervals cover the noise only, not who was asked or how they answered.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.covariance import Covariance
from halfnoise.design.noise import Noise

Floats = NDArray[np.float64]
ANYTHING = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value, its standard error, and an interval that covers the noise."""

    name: str
    estimate: float
    std: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Errors:
    """The joint error of several estimates: which noise, and its covariance."""

    noise: Noise
    covariance: Covariance

    def parts(self, weights: Mapping[int, float]) -> list[float]:
        """Return the scales of the independent noises in a weighted sum of estimates.

        With Gaussian noise the whole sum is one.
        """
        if self.noise is Noise.GAUSSIAN:
            return [math.sqrt(max(0.0, sum(self.covariance.terms(weights))))]
        size, shared = self.covariance.size, self.covariance.shared
        own = Covariance(size, self.covariance.variances).terms(self._projected(weights))
        common = Covariance(size, (), tuple(term for term in shared if term.weight > 0))
        unit = self.noise.unit_variance
        return [math.sqrt(term / unit) for term in own + common.terms(weights)]

    def _projected(self, weights: Mapping[int, float]) -> Mapping[int, float]:
        """Return the weights of the noises themselves, where some are projected onto sum zero.

        A projection is a term of negative weight: it takes from each of its noises their average,
        so an estimate holds all of them.
        """
        found = dict(weights)
        for term in self.covariance.shared:
            if term.weight < 0:
                block = [i for run in term.loadings for i in range(run.start, run.stop)]
                average = sum(weights.get(i, 0.0) for i in block) / len(block)
                found |= {i: weights.get(i, 0.0) - average for i in block}
        return found

    def std(self, weights: Mapping[int, float]) -> float:
        """Return the standard error of a weighted sum of estimates."""
        return self.noise.std(self.parts(weights))

    def margin(self, weights: Mapping[int, float], level: float) -> float:
        """Return the margin of error of a weighted sum of estimates."""
        parts = [part for part in self.parts(weights) if part > 0]
        return self.noise.margin(parts, level) if parts else 0.0


def linear(
    name: str, values: Floats, errors: Errors, weights: Mapping[int, float], level: float
) -> Estimate:
    """Return a weighted sum of estimates with its interval."""
    value = sum(w * float(values[i]) for i, w in weights.items())
    margin = errors.margin(weights, level)
    std = errors.std(weights)
    return Estimate(name=name, estimate=value, std=std, low=value - margin, high=value + margin)


def ratio(
    name: str,
    values: Floats,
    errors: Errors,
    pair: tuple[int, int],
    level: float,
    *,
    bounds: tuple[float, float] = ANYTHING,
) -> Estimate:
    """Return the ratio of two estimates with Fieller's interval, kept within ``bounds``.

    The interval holds every r for which  top - r bottom  is no larger than its noise allows. It
    keeps its level also where the bottom may well be zero: then it is all there is.
    """
    top, bottom = pair
    a, b = float(values[top]), float(values[bottom])
    if abs(b) <= errors.margin({bottom: 1.0}, level):
        low, high = ANYTHING
    else:

        def excess(r: float) -> float:
            return abs(a - r * b) - errors.margin({top: 1.0, bottom: -r}, level)

        step = max(errors.margin({top: 1.0, bottom: -a / b}, level) / abs(b), 1e-300)
        low, high = _edge(excess, a / b, -step), _edge(excess, a / b, step)
    centre = a / b if b else 0.0
    std = errors.std({top: 1.0, bottom: -centre}) / abs(b) if b else math.inf
    return within(Estimate(name=name, estimate=centre, std=std, low=low, high=high), bounds)


def within(each: Estimate, bounds: tuple[float, float]) -> Estimate:
    """Keep an estimate and its interval within the bounds that its true value cannot leave."""
    x, low, high = (min(max(v, bounds[0]), bounds[1]) for v in (each.estimate, each.low, each.high))
    return replace(each, estimate=x, low=low, high=high)


def _edge(excess: Callable[[float], float], inside: float, step: float) -> float:
    """Return where an interval ends, seen from a point in it, in the direction of ``step``.

    ``excess`` is positive outside. False position with the Illinois rule, as one look at Laplace
    noise is slow.
    """
    near, far = inside, inside + step
    below = depth = excess(near)
    while (above := excess(far)) <= 0:
        near, below = far, above
        step *= 2
        far = inside + step
        if not math.isfinite(far):
            return math.copysign(math.inf, step)
    moved = 0
    for _ in range(60):
        middle = (near * above - far * below) / (above - below)
        value = excess(middle)
        if abs(value) <= 1e-9 * abs(depth):
            return middle
        if value > 0:
            far, above = middle, value
            below, moved = (below / 2, 1) if moved > 0 else (below, 1)
        else:
            near, below = middle, value
            above, moved = (above / 2, -1) if moved < 0 else (above, -1)
    return far


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
        return 1 - (1 - level) / (queries + means)
    own, alone = _by_kind(errors.covariance, queries)
    grid = np.linspace(-9.0, 9.0, 1801)
    density = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi) * (grid[1] - grid[0])

    def together(z: float) -> float:
        inside = np.ones_like(grid)
        for count, std, lean in own:
            reach, shift = z * math.hypot(std, lean), lean * grid
            inside *= (_cdf((reach - shift) / std) - _cdf((-reach - shift) / std)) ** count
        return float(np.sum(density * inside)) * math.erf(z / math.sqrt(2)) ** (alone + means)

    low, high = 0.0, 1.0
    while together(high) < level:
        high *= 2
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if together(middle) >= level else (middle, high)
    return math.erf(high / math.sqrt(2))


def _by_kind(covariance: Covariance, queries: int) -> tuple[list[tuple[int, float, float]], int]:
    """Return (count, own std, shared std) of runs that share the last term alone; and the rest."""
    root = covariance.shared[-1] if covariance.size > queries else None
    tied = {run.start for term in covariance.shared if term is not root for run in term.loadings}
    own = []
    for run in covariance.variances:
        if run.start not in tied:
            lean = (
                next((r.value for r in root.loadings if r.start == run.start), 0.0) if root else 0.0
            )
            shared = abs(lean) * math.sqrt(root.weight) if root else 0.0
            own.append((run.stop - run.start, math.sqrt(run.value), shared))
    return own, queries - sum(count for count, _, _ in own)


def _cdf(x: Floats) -> Floats:
    return np.array([NormalDist().cdf(float(value)) for value in x])
