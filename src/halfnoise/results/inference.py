"""What may be concluded from noisy values: intervals, differences, ratios. All post-processing.

An error is a sum of independent noises, which the covariance lists: one for each estimate and a
few that several share. Whatever is linear keeps that form, so shared noise cancels by itself.
Intervals cover the noise only, not who was asked (see ``sampling``) or how they answered.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.noise.law import Noise
from halfnoise.results.pairs import Pairs
from halfnoise.values import dataclass, replace

Floats = NDArray[np.float64]
Columns: TypeAlias = dict[str, NDArray[Any]]  # numbers as float64, all else as objects
Pair: TypeAlias = tuple[int, int]
Range: TypeAlias = tuple[float, float]
Weights: TypeAlias = Mapping[int, float]
Wider: TypeAlias = Callable[[Floats, Floats], Floats]  # of values and numbers, wider numbers
ANYTHING = (-math.inf, math.inf)
NUMBERS = ("estimate", "std", "low", "high")  # of an estimate, in this order
NOTHING: Weights = MappingProxyType({})


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

    def alone(self, top: Weights, bottom: Weights = NOTHING) -> "Errors":
        """Return the errors of two weighted sums alone, with each noise that they are made of."""
        if self.noise is Noise.GAUSSIAN:  # whose sums are of its kind
            both = {i: top.get(i, 0.0) + bottom.get(i, 0.0) for i in (*top, *bottom)}
            one, other, sum_ = map(self.covariance.of, (top, bottom, both))
            return self.two(one, other, (sum_ - one - other) / 2)
        above, below = map(self.covariance.loads, (top, bottom))
        terms = list[Shared]()
        for place, (variance, _) in (above | below).items():
            held = enumerate(each[place][1] if place in each else 0.0 for each in (above, below))
            terms.append(Shared(variance, tuple(Run(i, i + 1, load) for i, load in held if load)))
        return replace(self, covariance=Covariance(2, (), tuple(terms)))

    def both(self, a: int, b: int) -> "Errors":
        """Return the errors of two estimates alone."""
        if self.noise is Noise.LAPLACE:
            return self.alone({a: 1.0}, {b: 1.0})
        top, bottom = (self.covariance.variance(each) for each in (a, b))
        return self.two(top, bottom, self.covariance.between(a, b))

    def three(self, pair: Pair) -> tuple[float, float, float]:
        """Return the variances of two estimates and their covariance."""
        top, bottom = (self.copies * self.covariance.variance(each) for each in pair)
        return top, bottom, self.copies * self.covariance.between(*pair)


def ratios(
    values: Floats, errors: Errors | Pairs, pair: Pair, level: float, bounds: Range = ANYTHING
) -> Floats:
    """Return ratio, standard error and the ends of Fieller's interval, for each row of values.

    The interval holds every r for which  top - r bottom  is no larger than its noise allows. It
    keeps its level also where the bottom may well be zero: then it is all there is.

    With a = top - lean * bottom, whose noise of variance R is uncorrelated with that of b = bottom,
    of variance V, these are all r = lean + t with  (a - t b)^2 <= z^2 (R + t^2 V),  which ends at

        t = (a S +- z R b) / (b S -+ z V a),  S = sqrt(a^2 V + b^2 R - z^2 R V),  b > 0.
    """
    top, bottom = pair
    lean, R, V = (np.broadcast_to(x, len(values)) for x in errors.split(top, bottom))
    b = values[:, bottom]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        estimate = np.where(b == 0, 0.0, values[:, top] / b)
        std = np.sqrt(R + (estimate - lean) ** 2 * V) / np.abs(b)
    sure = np.abs(b) > errors.margin({bottom: 1.0}, level)
    turned, (lean, R, V) = np.sign(b[sure]), (x[sure] for x in (lean, R, V))
    a, b = (values[sure, top] - lean * b[sure]) * turned, np.abs(b[sure])
    ends = []
    for sign in (-1, 1):
        z, S = _reach(errors, pair, level, (a, b, R, V), sign)
        end = np.full(len(values), sign * math.inf)
        with np.errstate(invalid="ignore"):
            t = (a * S + sign * z * R * b) / (b * S - sign * z * V * a)
        end[sure] = lean + np.where(S == 0, 0.0, t)
        ends.append(np.clip(end, *bounds))
    return np.array([np.clip(estimate, *bounds), std, *ends])


def _reach(
    errors: Errors | Pairs,
    pair: Pair,
    level: float,
    seen: tuple[Floats, Floats, Floats, Floats],
    sign: int,
) -> tuple[Floats, Floats]:
    """Return z and S of one end of Fieller's interval.

    With Gaussian noise z is the same for every t. With Laplace noise it depends on how t mixes the
    two noises: on the angle of  (sqrt(R), t sqrt(V)).  Seen from (b sqrt(R), a sqrt(V)), where
    t = a/b, the interval ends at the angle where  z = |(b sqrt(R), a sqrt(V))| sin(angle)/sqrt(RV).
    """
    a, b, rest, below = seen
    x, y = b * np.sqrt(rest), a * np.sqrt(below)
    if errors.noise is Noise.GAUSSIAN or isinstance(errors, Pairs):
        z = np.full_like(x, errors.noise.margin([1.0], level))
        return z, np.sqrt(np.maximum(0.0, x**2 + y**2 - z**2 * rest * below))
    _, R, V = errors.split(*pair)
    if not R * V:
        some = pair[1] if V else pair[0]
        z = np.full_like(x, errors.margin({some: 1.0}, level) / math.sqrt(V or R or 1.0))
        return z, np.hypot(x, y)
    waves, far, start = _waves(errors, pair, level), np.hypot(x, y), np.arctan2(y, x)
    low, high = np.zeros_like(x), math.pi / 2 - sign * start
    for _ in range(60):
        middle = (low + high) / 2
        z = np.polynomial.polynomial.polyval(np.exp(2j * (start + sign * middle)), waves).real
        inside = far * np.sin(middle) <= z * math.sqrt(R * V)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return far * np.sin(high) / math.sqrt(R * V), far * np.cos(high)


@lru_cache(maxsize=1024)
def _waves(errors: Errors, pair: Pair, level: float) -> NDArray[np.complex128]:
    """Return the margin of  cos(angle) a/sqrt(R) - sin(angle) b/sqrt(V)  as a sum of waves."""
    top, bottom = pair
    lean, R, V = errors.split(top, bottom)
    # It is a smooth function of twice the angle: 64 waves give nine digits and more, and often
    # fewer do: those that change nothing are left out.
    angles = math.pi / 128 * np.arange(128)
    mixed = zip(np.cos(angles) / math.sqrt(R), np.sin(angles) / math.sqrt(V), strict=True)
    margins = [errors.margin({top: p, bottom: -p * lean - q}, level) for p, q in mixed]
    waves = np.fft.rfft(margins) / 128
    waves[1:-1] *= 2
    return waves[: np.flatnonzero(np.abs(waves) > 1e-12 * np.abs(waves[0]))[-1] + 1]


def apart(
    two: tuple[Floats, Floats],
    errors: Errors,
    pair: Pair,
    level: float,
    between: Sequence[Shared] = (),
    *,
    wider: Wider | None = None,
) -> Floats:
    """Return a ratio minus that of another group, as ``ratios`` does, for each row of the two.

    With intervals of the two that end d_1 and d_2 away from their ratios, the difference ends
    sqrt(d_1^2 + d_2^2 - 2 rho d_1 d_2)  away from its own (Zou & Donner 2008): exact for normal
    ratios, and close for others. It takes the ratios as they are, not kept within bounds: from a
    ratio that was moved to its bound there is no way to go. ``between`` is what the groups share:
    of a term a ratio holds k = (load of the top - ratio * load of the bottom) / bottom; so rho is
    the sum of  weight k_1 k_2 / (std_1 std_2). ``wider``: what widens the intervals of the two by
    another error, independent in each.
    """
    numbers = [ratios(each, errors, pair, level) for each in two]
    if wider is not None:
        numbers = [wider(*each) for each in zip(two, numbers, strict=True)]
    ratio, std, _, _ = found = np.stack(numbers, axis=1)
    bottoms, shared = np.stack([each[:, pair[1]] for each in two]), np.zeros(len(two[0]))
    with np.errstate(divide="ignore", invalid="ignore"):
        for term in between:
            top, bottom = map(term.load, pair)
            shared += term.weight * ((top - ratio * bottom) / bottoms).prod(axis=0)
        rho = shared / std.prod(axis=0)
    reach = 1.0 if wider is not None else _together(two, errors, pair, level)
    return _less(found, rho, reach)


def _less(found: Floats, rho: Floats, reach: Floats | float = 1.0) -> Floats:
    """Return the first of two numbers minus the second; ``rho``: how their errors correlate."""
    (r, s), std, low, high = found
    rho, x = np.nan_to_num(np.clip(rho, -1.0, 1.0)), r - s
    below = _away(r - low[0], high[1] - s, rho) * reach
    above = _away(high[0] - r, s - low[1], rho) * reach
    return np.array([x, _away(std[0], std[1], rho), x - below, x + above])


def _away(one: Floats, other: Floats, rho: Floats) -> Floats:
    endless = np.isinf(one) | np.isinf(other)
    a, b = np.where(endless, 0.0, one), np.where(endless, 0.0, other)
    square = np.maximum(0.0, a**2 + b**2 - 2 * rho * a * b)
    return np.where(endless, math.inf, np.sqrt(square))


def apart_by(
    values: Floats,
    errors: Errors,
    pairs: tuple[Pair, Pair],
    level: float,
    wider: Callable[[Pair, Floats], Floats] | None = None,
) -> Floats:
    """Return one ratio minus another of the same release, Gaussian ones, as ``apart`` does."""
    numbers = [ratios(values[np.newaxis], errors, pair, level) for pair in pairs]
    if wider is not None:
        numbers = [wider(*each) for each in zip(pairs, numbers, strict=True)]
    found = np.stack([each[:, 0] for each in numbers], 1)
    (a, b), (c, d) = pairs
    (r, s), std, _, _ = found
    between = errors.covariance.between
    shared = between(a, c) - r * between(b, c) - s * between(a, d) + r * s * between(b, d)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = errors.copies * shared / (values[b] * values[d]) / np.prod(std)
    return _less(found, rho)


def _together(
    two: tuple[Floats, Floats], errors: Errors, pair: Pair, level: float
) -> Floats | float:
    """Return how far two ratios together reach, relative to their reaches squared and added.

    One for Gaussian noise. Two Laplace noises are less peaked than one: at a level of 50% they
    reach up to 17% farther, at 95% up to 3% less.
    """
    if errors.noise is Noise.GAUSSIAN:
        return 1.0
    top, bottom = pair
    reach = np.ones(len(two[0]))
    for row, (one, other) in enumerate(zip(*two, strict=True)):
        if one[bottom] and other[bottom]:
            seen = [(1 / each[bottom], each[top] / each[bottom] ** 2) for each in (one, other)]
            parts = [errors.parts({top: a, bottom: -b}) for a, b in seen]
            alone = math.hypot(*(errors.noise.margin(each, level) for each in parts))
            reach[row] = errors.noise.margin([*parts[0], *parts[1]], level) / (alone or 1.0)
    return reach
