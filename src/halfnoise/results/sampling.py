"""Who was asked: the error of a sample beside that of the noise. All post-processing.

Of n people drawn by chance, a sum of values between L and U whose mean is m varies by at most
n (U - m)(m - L), and a count by n p (1 - p). An interval holds every m that fits:

    (|top - m bottom| - h)^2 <= z^2 (variance of the noise + variance of the sample if m is true)

with h for half a person, as a sample is of whole people (Wilson 1927, Newcombe 1998). So it holds
its level near the bounds and for few people too, where what the estimate itself makes of the
variance may be zero.
"""

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from halfnoise.checks import finite, refuse
from halfnoise.noise.law import Noise
from halfnoise.results.inference import Floats, Range
from halfnoise.values import dataclass

METHODS = {"srs": "a simple random sample"}
NOISE_ONLY = (
    "Intervals cover the noise that protects people, not who was asked or how they answered."
)
NOISE, BOTH = "noise", "noise and sampling"
# What is too large for a float64 is no end: an interval then reaches as far as its noise.
_QUIETLY = np.errstate(all="ignore")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How people came into the table: ``srs``, a simple random sample.

    ``design_effect``: by how much more its estimates vary, as they do where clusters were drawn.

    >>> print(Sampling("srs", design_effect=1.5))
    Intervals cover the noise that protects people and who was asked (a simple random sample, \
design effect 1.5), not how they answered. Numbers of people are those of the sample.
    """

    method: str
    design_effect: float = 1.0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise refuse("sampling", f"one of {', '.join(METHODS)}", self.method)
        effect = finite(design_effect=self.design_effect)
        if not 0 < effect <= 1e6:
            raise refuse("design_effect", "above 0 and at most a million", effect)
        object.__setattr__(self, "design_effect", effect)

    @classmethod
    def of(cls, method: object, design_effect: float | None = None) -> "Sampling | None":
        """Return what was said of a sample, by a word or as it is; None where nothing was."""
        if isinstance(method, str):
            return cls(method, 1.0 if design_effect is None else design_effect)
        if design_effect is not None:
            remedy = "for example sampling='srs' (--sampling srs)"
            raise refuse("design_effect", "given together with sampling", design_effect, remedy)
        if isinstance(method, Sampling | None):
            return method
        raise refuse("sampling", f"one of {', '.join(METHODS)}", method)

    def __str__(self) -> str:
        return self.covers(weighted=False)

    def covers(self, *, weighted: bool) -> str:
        """Say what intervals cover; ``weighted``: people count by weights, whose effect is seen."""
        effect = "" if self.design_effect == 1 else f", design effect {self.design_effect:g}"
        effect += ", with the measured effect of weights" if weighted else ""
        people = "sums of weights over" if weighted else "those of"
        return (
            f"Intervals cover the noise that protects people and who was asked"
            f" ({METHODS[self.method]}{effect}), not how they answered. Numbers of people are"
            f" {people} the sample."
        )


def caption(sampling: Sampling | None, *, weighted: bool) -> str:
    """Say what intervals cover."""
    return NOISE_ONLY if sampling is None else sampling.covers(weighted=weighted)


class Reach(NamedTuple):
    """How far intervals reach: ``z`` standard errors, of noise ``heavier`` than Gaussian noise.

    ``effect``: the design effect, or, where people weigh differently, their number divided by the
    effective sample size: by how much more sums vary than those of as many people drawn by chance.
    """

    z: float
    heavier: float
    effect: Floats | float

    @classmethod
    def of(cls, noise: Noise, level: float, effect: Floats | float) -> "Reach":
        """Return what a level asks for.

        Noise beside a sample is taken for Gaussian of a variance so much larger that it reaches as
        far at this level, or as it is where Laplace noise reaches less.
        """
        z = NormalDist().inv_cdf((1 + level) / 2)
        return cls(z, max(1.0, noise.margin([1.0], level) / (z * noise.std([1.0]))) ** 2, effect)


class Curve(NamedTuple):
    """A variance if the true value is t away: ``here`` + ``slope`` t + ``bend`` t^2."""

    here: Floats | float
    slope: Floats | float = 0.0
    bend: Floats | float = 0.0

    def beside(self, noise: "Curve", reach: Reach) -> "Curve":
        """Return it times the design effect, with the noise added."""
        pairs = zip(self, noise, strict=True)
        return Curve(*(reach.effect * own + reach.heavier * other for own, other in pairs))


@_QUIETLY
def ends(
    top: Floats,
    bottom: Floats | float,
    at: Floats,
    curves: tuple[Curve, Curve],
    z: float,
    *,
    h: Any,
) -> tuple[Floats, Floats]:
    """Return the lowest and the highest ratio that fits, seen from ``at``, one that can be true.

    ``curves``: the variance of  top - ratio * bottom,  towards lower and towards higher ratios.
    """
    gap, found = top - at * bottom, list[Floats]()
    for sign, (here, slope, bend) in zip((-1, 1), curves, strict=True):
        # (t b - f)^2 <= z^2 (here + slope t + bend t^2), with t counted away from where it is seen.
        f, a = sign * gap + h, bottom**2 - z**2 * bend
        half = f * bottom + sign * z**2 * slope / 2
        square = half**2 - a * (f**2 - z**2 * here)
        t = (half + np.sqrt(np.maximum(square, 0.0))) / a
        found.append(at + sign * np.where((square >= 0) & (a > 0), np.maximum(t, 0.0), 0.0))
    return found[0], found[1]


@_QUIETLY
def of_sums(numbers: Floats, people: tuple[Floats, Floats], bounds: Range, reach: Reach) -> Floats:
    """Return numbers of sums or counts with the error of the sample.

    ``numbers``: estimates, standard errors, low and high ends. ``people``: how many there are, and
    how many of them the sum is over. With T the sum over m of n people, no more than
    (L + U) T - L U m - T^2/n  is the variance.
    """
    (low, high), (x, std, *noisy) = bounds, numbers
    n, m = (np.maximum(each, 0.0) for each in people)
    at = np.clip(x, low * m, high * m)
    part = np.where(n > 0, 1 / n, 0.0)
    here = np.maximum(0.0, (low + high) * at - low * high * m - at**2 * part)
    sample = Curve(here, low + high - 2 * at * part, -part)
    both = sample.beside(Curve(std**2), reach)
    found = ends(x, 1.0, at, (both, both), reach.z, h=reach.effect * (high - low) / 2)
    return _wider(x, np.sqrt(std**2 + reach.effect * here), noisy, found)


@_QUIETLY
def of_ratios(
    numbers: Floats,
    two: tuple[Floats, Floats],
    noise: tuple[Floats | float, Floats | float, Floats | float],
    bounds: Range,
    reach: Reach,
    *,
    squares: Floats | None = None,
) -> Floats:
    """Return numbers of means or shares, of which ``two`` are top and bottom, with that error.

    ``noise``: the variances of top and bottom, and between them. ``squares``: the variance of one
    person's value, where it was measured. If the true mean is d higher than the estimate, it is
    taken to be larger by d (U - estimate), as if rare values of U were those that nobody gave; and
    never to be more than its bound.
    """
    (low, high), (top, bottom), (own, under, shared) = bounds, two, noise
    x, std, *noisy = numbers
    sure = bottom > reach.z * np.sqrt(reach.heavier * under)
    b = np.where(sure, bottom, 1.0)
    at = np.clip(top / b, low, high)
    drawn = Curve(own - 2 * at * shared + at**2 * under, 2 * (at * under - shared), under)
    most = b * (high - at) * (at - low)
    widest = Curve(most, b * (low + high - 2 * at), -b).beside(drawn, reach)
    h, here = reach.effect * (high - low) / 2, most
    found = ends(top, b, at, (widest, widest), reach.z, h=h)
    if squares is not None:
        here = np.clip(b * squares, 0.0, most)
        tilted = (Curve(here, -b * (at - low)), Curve(here, b * (high - at)))
        lower, upper = (each.beside(drawn, reach) for each in tilted)
        less = ends(top, b, at, (lower, upper), reach.z, h=h)
        found = np.maximum(found[0], less[0]), np.minimum(found[1], less[1])
    found = np.where(sure, found[0], -math.inf), np.where(sure, found[1], math.inf)
    more = reach.effect * np.where(sure, here, 0.0) / bottom**2
    return _wider(x, np.sqrt(std**2 + more), noisy, found)


@_QUIETLY
def of_weighted(
    numbers: Floats, variance: Floats | float, most: Floats | float, reach: Reach
) -> Floats:
    """Return numbers of weighted sums with that error; ``most``: what one person may add to one.

    It reaches to both sides as far as a count of the same variance reaches upwards.
    """
    x, std, *noisy = numbers
    more, whole = reach.effect * variance, reach.effect * most
    reached = reach.z * np.sqrt(reach.heavier * std**2 + more + (reach.z * whole) ** 2 / 4)
    reached += whole * (reach.z**2 + 1) / 2
    return _wider(x, np.sqrt(std**2 + more), noisy, (x - reached, x + reached))


def _wider(x: Floats, std: Floats, noisy: Any, found: tuple[Floats, Floats]) -> Floats:
    """Return numbers with intervals that are nowhere narrower than those of the noise alone."""
    low, high = np.fmin(noisy[0], found[0]), np.fmax(noisy[1], found[1])
    return np.stack([x, np.where(np.isnan(std), math.inf, std), low, high])
