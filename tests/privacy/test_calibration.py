import math
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from halfnoise import proof
from halfnoise.privacy import calibration
from support.high_precision import (
    BITS,
    below,
    chance_at_odds,
    delta,
    delta_by_integration,
    lower_tail,
)

EPSILONS = [1e-6, 1e-3, 0.1, 0.5, 1.0, math.log(3), 5.0, 20.0, 200.0]
DELTAS = [1e-300, 1e-100, 1e-30, 1e-12, 1e-6, 1e-3, 0.1, 0.5]
MUS = [1e-3, 0.05, 0.236704380663, 1.0, 3.0, 12.0]


def up(x: float) -> float:
    """Return the next float64."""
    return math.nextafter(x, math.inf)


def down(x: float) -> float:
    """Return the float64 before."""
    return math.nextafter(x, 0)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("d", DELTAS)
def test_mu_of_approx_is_the_last_float_that_is_private(epsilon: float, d: float) -> None:
    """The mu of (epsilon, delta) keeps the definition, proved, and the next float64 breaks it."""
    mu = calibration.mu_of_approx(epsilon, d)
    assert below(delta(mu, epsilon), d)
    assert not below(delta(up(mu), epsilon), d)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.floats(-6, math.log10(200)), st.floats(-300, math.log10(0.5)))
def test_mu_of_approx_between_the_grid(log_epsilon: float, log_delta: float) -> None:
    """The same holds of any epsilon from 1e-6 to 200 and delta from 1e-300 to 0.5."""
    epsilon, d = 10**log_epsilon, 10**log_delta
    mu = calibration.mu_of_approx(epsilon, d)
    assert below(delta(mu, epsilon), d)
    assert not below(delta(up(mu), epsilon), d)


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("epsilon", [0.0, *EPSILONS[:-1]])
def test_delta_of_mu_is_the_first_float_that_is_safe(mu: float, epsilon: float) -> None:
    """The delta of mu at epsilon is proved to be enough, and the float64 before is not."""
    d = calibration.delta_of_mu(mu, epsilon)
    assert below(delta(mu, epsilon), d)
    assert not below(delta(mu, epsilon), down(d))


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("d", DELTAS)
def test_epsilon_of_mu_is_the_first_float_that_is_safe(mu: float, d: float) -> None:
    """The epsilon of mu at delta is proved to be enough, and the float64 before is not."""
    epsilon = calibration.epsilon_of_mu(mu, d)
    assert below(delta(mu, epsilon), d)
    assert epsilon == 0 or not below(delta(mu, down(epsilon)), d)


def test_epsilon_is_zero_where_delta_is_enough_alone() -> None:
    """A delta above the total variation distance needs no epsilon."""
    assert calibration.epsilon_of_mu(0.1, 0.5) == 0.0
    assert calibration.epsilon_of_mu(0.1, 0.01) > 0.0


def test_delta_of_a_hopeless_mu_is_one() -> None:
    """Where the true delta is one within every float64, one is returned and no more."""
    assert calibration.delta_of_mu(1e6, 1.0) == 1.0


@pytest.mark.parametrize("epsilon", [1e-9, *EPSILONS, 700.0])
def test_mu_of_pure_is_the_first_float_that_is_implied(epsilon: float) -> None:
    """The mu of pure epsilon is implied by it, proved, and the float64 before is not."""
    mu = calibration.mu_of_pure(epsilon)
    with ctx.workprec(BITS):
        chance = chance_at_odds(epsilon)
        assert lower_tail(mu / 2) <= chance
        assert lower_tail(down(mu) / 2) > chance


@pytest.mark.parametrize(("mu", "epsilon"), [(0.2, 1.0), (1.0, 0.3), (1.0, 4.0), (5.0, 20.0)])
def test_the_reference_agrees_with_an_integral(mu: float, epsilon: float) -> None:
    """The formula that the tests rely on is the integral of its own derivative."""
    by_formula, by_integral = delta(mu, epsilon), delta_by_integration(mu, epsilon)
    with ctx.workprec(256):
        assert by_formula.overlaps(by_integral)
        assert by_integral.rad() < by_formula * arb(10) ** -15


@pytest.mark.parametrize(("mu", "epsilon"), [(0.2, 0.1), (1.0, 0.3), (1.0, 1.0), (3.0, 2.0)])
def test_the_reference_agrees_with_scipy(mu: float, epsilon: float) -> None:
    """The formula that the tests rely on agrees with plain floats where those are accurate."""
    plain = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert float(delta(mu, epsilon)) == pytest.approx(plain, rel=1e-10)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_roots_are_the_nearest_on_their_side(square: Fraction) -> None:
    """Roots rounded down and up enclose the exact root as tightly as float64 can."""
    low, high = proof.sqrt_down(square), proof.sqrt_up(square)
    assert Fraction(low) ** 2 <= square < Fraction(up(low)) ** 2
    assert Fraction(down(high)) ** 2 < square <= Fraction(high) ** 2


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.floats(1e-6, 1e3), st.integers(1, 1000))
def test_shares_add_up_to_no_more_than_the_whole(amount: float, parts: int) -> None:
    """Equal shares stay within the amount, and a share one step larger would not."""
    share = Fraction(proof.divide_down(amount, parts))
    assert share * parts <= Fraction(amount)
    assert Fraction(up(float(share))) * parts > Fraction(amount)


def test_an_equality_that_balls_cannot_settle_is_not_proved() -> None:
    """What ball arithmetic cannot decide counts as not proved."""
    assert not proof.holds(lambda: (arb(2).sqrt(), arb(8).sqrt() / 2))
    assert proof.holds(lambda: (arb(2).sqrt(), arb(8).sqrt() / 2 + arb(2) ** -4000))
    assert not proof.holds(lambda: (arb(2).sqrt() + arb(2) ** -4000, arb(8).sqrt() / 2))
