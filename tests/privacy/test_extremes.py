"""Conversions at the ends of what a float64 can hold: as safe, and in as few steps."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from halfnoise import ApproxDP, GaussianDP, InvalidParameterError, MixedDP, PureDP, compose, proof
from halfnoise.privacy import calibration

AMOUNTS = [5e-324, 1e-300, 1e-150, 1e-9, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e150, 1e300, 1.7e308]
FEW = len(proof.PRECISIONS)
BISECTED = 64 * FEW  # of all float64s


class Steps:
    """Counts how often balls are computed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        """Take the place of a function that computes them."""
        self.taken, self.own = 0, getattr(calibration, name)
        monkeypatch.setattr(calibration, name, self)

    def __call__(self, *args: Any) -> Any:
        """Compute one, of not too many."""
        self.taken += 1
        assert self.taken <= BISECTED + FEW
        return self.own(*args)

    def of(self, ask: Callable[[], float]) -> tuple[float, int]:
        """Return what is asked, and how many steps it took."""
        self.taken = 0
        return ask(), self.taken


def test_delta_takes_a_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every mu at every epsilon: the precision rises a few times, and no float is walked to."""
    steps = Steps(monkeypatch, "gaussian_delta")
    for mu, epsilon in [(1e6, 5e11), *itertools.product(AMOUNTS, [0.0, *AMOUNTS])]:
        found, taken = steps.of(lambda mu=mu, e=epsilon: GaussianDP(mu=mu).delta(e))  # type: ignore[misc]  # bound at once
        assert 0 < found <= 1
        assert taken <= FEW
        with proof.precision(proof.PRECISIONS[-1]):
            exact = steps.own(arb(mu), arb(epsilon))
            assert exact <= arb(found) or found == 1.0
            before = math.nextafter(found, 0)
            assert exact > arb(before) or not before  # the next smaller one would not do


def test_two_that_took_for_ever() -> None:
    """Where the terms cancel, or are out of range, the delta is right to the last digit."""
    # Phi(0) - e^(-0) erfcx: at epsilon = mu^2/2 the second term is 1/(mu sqrt(2 pi)), nearly.
    assert GaussianDP(mu=1e6).delta(5e11) == pytest.approx(0.5 - 1e-6 / math.sqrt(2 * math.pi))
    assert GaussianDP(mu=1e-300).delta(0) == pytest.approx(1e-300 / math.sqrt(2 * math.pi))


def test_searches_take_no_more_steps_than_a_bisection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other way round, floats are halved; the answer is on the safe side."""
    steps = Steps(monkeypatch, "gaussian_delta")
    deltas = [1e-300, 1e-12, 0.5, math.nextafter(1.0, 0.0)]
    calibration.mu_of_approx.cache_clear()
    calibration.epsilon_of_mu.cache_clear()
    for amount, delta in itertools.product([1e-300, 1e-3, 1.0, 1e6, 1e300], deltas):
        mu, taken = steps.of(lambda a=amount, d=delta: ApproxDP(epsilon=a, delta=d).mu)  # type: ignore[misc]  # bound at once
        assert taken <= BISECTED
        assert calibration.delta_of_mu(mu, amount) <= delta
        epsilon, taken = steps.of(lambda a=amount, d=delta: GaussianDP(mu=a).epsilon(d))  # type: ignore[misc]  # bound at once
        assert taken <= BISECTED + FEW
        assert math.isinf(epsilon) or calibration.delta_of_mu(amount, epsilon) <= delta


def test_guesses_and_pure_amounts(monkeypatch: pytest.MonkeyPatch) -> None:
    """How good the best guess is, and what a pure epsilon implies, take counted steps too."""
    steps = Steps(monkeypatch, "normal_cdf")
    calibration.mu_of_pure.cache_clear()
    for amount in AMOUNTS:
        guess, taken = steps.of(lambda a=amount: GaussianDP(mu=a).best_guess)  # type: ignore[misc]  # bound at once
        assert 0.5 < guess <= 1
        assert taken <= FEW
        if amount <= 1e9:
            mu, taken = steps.of(lambda a=amount: PureDP(epsilon=a).mu)  # type: ignore[misc]  # bound at once
            assert taken <= BISECTED
            assert mu > 0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.floats(5e-324, 1e300), st.integers(1, 10))
def test_roots_of_any_size_are_the_nearest_on_their_side(amount: float, parts: int) -> None:
    """Subnormal or huge: rounded down and up they enclose the root as tightly as float64 can."""
    square = Fraction(amount) ** 2 / parts
    low, high = proof.sqrt_down(square), proof.sqrt_up(square)
    assert Fraction(low) ** 2 <= square < Fraction(math.nextafter(low, math.inf)) ** 2
    assert Fraction(math.nextafter(high, 0)) ** 2 < square <= Fraction(high) ** 2


def test_exact_numbers_round_to_themselves() -> None:
    """What a ball holds exactly is not rounded at all; what it cannot settle, to the next."""
    for number in (0.0, 0.1, 1.0, 5e-324, 1.7e308):
        assert proof.round_up(lambda x=number: arb(x)) == number  # type: ignore[misc]  # bound at once
    assert proof.round_up(lambda: arb(2).sqrt() ** 2) == math.nextafter(2.0, 3.0)
    assert proof.round_up(lambda: arb("nan")) == math.inf
    assert compose(GaussianDP(mu=3), GaussianDP(mu=4)).mu == 5.0


def test_huge_amounts_together() -> None:
    """What has no float is infinite, or refused in our words; never an error of Python."""
    huge = 1.7e308
    with pytest.raises(InvalidParameterError, match="mu must be a finite number, got inf"):
        compose(GaussianDP(mu=huge), GaussianDP(mu=huge))
    with pytest.raises(InvalidParameterError, match="epsilon must be a finite number, got inf"):
        compose(PureDP(epsilon=huge), PureDP(epsilon=huge))
    for mu, epsilon in ((huge, 1.0), (huge, huge), (1.0, huge), (1.34e308, 1e300)):
        both = compose(GaussianDP(mu=mu), PureDP(epsilon=epsilon))
        assert isinstance(both, MixedDP)
        assert both.mu >= mu
