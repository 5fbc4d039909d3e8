"""Certified conversions between a privacy definition and mu.

Every function returns a float64 that is *proved*, in ball arithmetic, to lie on the safe side of
the real number it stands for, and is the nearest float64 for which the proof goes through.

The facts used (Dong, Roth & Su 2022; Balle & Wang 2018), with Phi the normal distribution function:

- mu-GDP implies (epsilon, delta) if and only if
  delta >= Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu);
- mu-GDP of a Gaussian mechanism is rho-zCDP with rho = mu^2/2, and (alpha, alpha mu^2/2)-RDP;
- pure epsilon-DP implies mu-GDP if and only if Phi(-mu/2) <= 1/(1 + e^epsilon).
"""

import math
import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache

from flint import arb

from halfnoise.balls import precision

_FIRST_BITS, _LAST_BITS = 128, 8192


def holds(claim: Callable[[], tuple[arb, arb]]) -> bool:
    """Prove ``left <= right``: True only if ball arithmetic settles it.

    The precision doubles until the two balls are apart; balls that never part (an equality of
    irrational numbers) count as not proved, which is the safe answer.

    >>> holds(lambda: (arb(2).sqrt() ** 2, arb(3)))
    True
    """
    bits = _FIRST_BITS
    while bits <= _LAST_BITS:
        with precision(bits):
            left, right = claim()
            if left <= right:
                return True
            if left > right:
                return False
        bits *= 2
    return False


def round_up(value: Callable[[], arb]) -> float:
    """Return the smallest float64 proved to be at least ``value()``, a nonnegative real."""
    with precision(_LAST_BITS // 8):
        guess = float(value().mid())

    def enough(number: float) -> bool:
        return holds(lambda: (value(), arb(number)))

    while guess > 0 and enough(math.nextafter(guess, 0)):
        guess = math.nextafter(guess, 0)
    while not enough(guess):
        guess = math.nextafter(guess, math.inf)
    return guess


def normal_cdf(x: arb) -> arb:
    """Phi, with full relative accuracy in the lower tail."""
    return (-x / arb(2).sqrt()).erfc() / 2


def gaussian_delta(mu: arb, epsilon: arb) -> arb:
    """Return the exact delta of mu-GDP at epsilon."""
    first = normal_cdf(mu / 2 - epsilon / mu)
    second = epsilon.exp() * normal_cdf(-mu / 2 - epsilon / mu)
    # It lies between 0 and the first term, which is all that is left where e^epsilon is too large.
    bounds = first.union(arb(0))
    return bounds.intersection(first - second) if second.is_finite() else bounds


@lru_cache(maxsize=1024)
def mu_of_approx(epsilon: float, delta: float) -> float:
    """Return the largest float64 mu proved to give (epsilon, delta)."""
    return _largest(
        lambda mu: holds(lambda: (gaussian_delta(arb(mu), arb(epsilon)), arb(delta))),
    )


@lru_cache(maxsize=1024)
def epsilon_of_mu(mu: float, delta: float) -> float:
    """Return the smallest float64 epsilon >= 0 proved to hold with mu and delta."""

    def private(epsilon: float) -> bool:
        return holds(lambda: (gaussian_delta(arb(mu), arb(epsilon)), arb(delta)))

    return 0.0 if private(0.0) else _smallest(private)


def delta_of_mu(mu: float, epsilon: float) -> float:
    """Return the smallest float64 delta proved to hold with mu and epsilon."""
    return min(1.0, round_up(lambda: gaussian_delta(arb(mu), arb(epsilon))))


@lru_cache(maxsize=1024)
def mu_of_pure(epsilon: float) -> float:
    """Return the smallest float64 mu proved to be implied by pure epsilon-DP.

    Phi(-mu/2) <= 1/(1+e^epsilon): the two-point trade-off curve of epsilon-DP lies above the
    Gaussian one everywhere as soon as it does at its corner.
    """
    return _smallest(
        lambda mu: holds(lambda: (normal_cdf(-arb(mu) / 2), 1 / (1 + arb(epsilon).exp()))),
    )


def sqrt_down(square: Fraction) -> float:
    """Return the largest float64 whose square is at most ``square``, exactly."""
    root = _sqrt_guess(square)
    while Fraction(root) ** 2 > square:
        root = math.nextafter(root, 0)
    while Fraction(math.nextafter(root, math.inf)) ** 2 <= square:
        root = math.nextafter(root, math.inf)
    return root


def sqrt_up(square: Fraction) -> float:
    """Return the smallest float64 whose square is at least ``square``, exactly."""
    root = sqrt_down(square)
    return root if Fraction(root) ** 2 == square else math.nextafter(root, math.inf)


def divide_down(amount: float, parts: int) -> float:
    """Return the largest float64 of which ``parts`` together are at most ``amount``, exactly."""
    share = amount / parts
    return math.nextafter(share, 0) if Fraction(share) * parts > Fraction(amount) else share


def sum_of_squares(values: Iterable[float]) -> Fraction:
    """Add up squares without rounding."""
    return sum((Fraction(value) ** 2 for value in values), Fraction(0))


def _sqrt_guess(square: Fraction) -> float:
    # Scaled by a power of four, so that no square overflows or loses bits.
    shift = square.numerator.bit_length() - square.denominator.bit_length()
    shift -= shift % 2
    return math.ldexp(math.sqrt(float(square / Fraction(2) ** shift)), shift // 2)


def _largest(good: Callable[[float], bool]) -> float:
    """Bisect the positive float64s for the last one that is good; good then not good."""
    low, high = 1, _bits(math.inf)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(_float(middle)) else (low, middle)
    return _float(low)


def _smallest(good: Callable[[float], bool]) -> float:
    """Bisect the positive float64s for the first one that is good; not good then good."""
    return math.nextafter(_largest(lambda x: not good(x)), math.inf)


def _bits(x: float) -> int:
    # Positive floats are ordered as their bit patterns, so one bisection covers them all.
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def _float(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])
