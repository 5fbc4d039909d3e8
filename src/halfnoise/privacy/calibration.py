"""Certified conversions between a privacy definition and mu.

Every function returns a float64 that is *proved*, in ball arithmetic, to lie on the safe side of
the real number it stands for, and is the nearest float64 for which the proof goes through.

The facts used (Dong, Roth & Su 2022; Balle & Wang 2018), with Phi the normal distribution function:

- mu-GDP implies (epsilon, delta) if and only if
  delta >= Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu);
- mu-GDP of a Gaussian mechanism is rho-zCDP with rho = mu^2/2, and (alpha, alpha mu^2/2)-RDP;
- pure epsilon-DP implies mu-GDP if and only if Phi(-mu/2) <= 1/(1 + e^epsilon).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from flint import arb

from halfnoise.proof import ball, holds, largest, round_up, smallest


def normal_cdf(x: arb) -> arb:
    """Phi, with full relative accuracy in the lower tail."""
    return (-x / arb(2).sqrt()).erfc() / 2


def gaussian_delta(mu: arb, epsilon: arb) -> arb:
    """Return the exact delta of mu-GDP at epsilon, which may be negative."""
    if epsilon < 0:  # delta(-e) = 1 - e^-e (1 - delta(e))
        return 1 - epsilon.exp() * (1 - gaussian_delta(mu, -epsilon))
    x, y = mu / 2 - epsilon / mu, mu / 2 + epsilon / mu
    first, half = normal_cdf(x), arb(1) / 2
    # Phi(-y) = e^(-y^2/2) U(1/2, 1/2, y^2/2) / sqrt(4 pi), and e^epsilon e^(-y^2/2) = e^(-x^2/2):
    # no term is ever out of range.
    second = (-x * x / 2).exp() * (y * y / 2).hypgeom_u(half, half) / (4 * arb.pi()).sqrt()
    bounds = first.union(arb(0))  # it lies between 0 and the first term
    return bounds.intersection(first - second) if second.is_finite() else bounds


def pure_delta(pure: arb, epsilon: arb) -> arb:
    """Return the exact delta of pure epsilon-DP at another epsilon: that of randomised response."""
    return ((1 - (epsilon - pure).exp()) / (1 + (-pure).exp())).max(arb(0))


def mixed_delta(pure: arb, mu: arb, epsilon: arb) -> arb:
    """Return the exact delta of pure epsilon, at its worst randomised response, beside mu-GDP.

    With a for the pure one and p = e^a/(1 + e^a): p delta_mu(e - a) + (1 - p) delta_mu(e + a).
    """
    p = 1 / (1 + (-pure).exp())
    less, more = gaussian_delta(mu, epsilon - pure), gaussian_delta(mu, epsilon + pure)
    return p * less + (1 - p) * more


@lru_cache(maxsize=1024)
def mu_of_approx(epsilon: Fraction | float, delta: Fraction | float) -> float:
    """Return the largest float64 mu proved to give (epsilon, delta)."""
    return largest(lambda mu: (gaussian_delta(arb(mu), ball(epsilon)), ball(delta)))


@lru_cache(maxsize=1024)
def epsilon_of_mu(mu: float, delta: float) -> float:
    """Return the smallest float64 epsilon >= 0 proved to hold with mu and delta."""
    return epsilon_of(lambda epsilon: gaussian_delta(arb(mu), epsilon), delta)


def epsilon_of(loss: Callable[[arb], arb], delta: float) -> float:
    """Return the smallest float64 epsilon >= 0 proved to have a loss of at most delta."""

    def private(epsilon: float) -> tuple[arb, arb]:
        return loss(arb(epsilon)), arb(delta)

    return 0.0 if holds(lambda: private(0.0)) else smallest(private)


def delta_of_mu(mu: float, epsilon: float) -> float:
    """Return the smallest float64 delta proved to hold with mu and epsilon."""
    return min(1.0, round_up(lambda: gaussian_delta(arb(mu), arb(epsilon))))


@lru_cache(maxsize=1024)
def mu_of_pure(epsilon: float) -> float:
    """Return the smallest float64 mu proved to be implied by pure epsilon-DP.

    Phi(-mu/2) <= 1/(1+e^epsilon): the two-point trade-off curve of epsilon-DP lies above the
    Gaussian one everywhere as soon as it does at its corner.
    """
    return smallest(lambda mu: (normal_cdf(-arb(mu) / 2), 1 / (1 + arb(epsilon).exp())))
