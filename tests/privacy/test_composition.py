import itertools
import math
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from flint import arb, ctx
from scipy.integrate import quad
from scipy.stats import norm

import halfnoise as hn
from support.high_precision import BITS, below, delta

GAUSSIAN, PURE = hn.GaussianDP(mu=0.7), hn.PureDP(epsilon=0.8)
MIXED = hn.MixedDP(gaussian=GAUSSIAN, pure=PURE)
DISCOVERY = hn.DiscoveryDP(kept=GAUSSIAN, delta=1e-7)
OTHER = hn.DiscoveryDP(kept=PURE, delta=1e-9)


def test_pure_amounts_add_up_as_pure_ones() -> None:
    """Two releases of pure epsilon 1 cost pure epsilon 2, exactly; sums are rounded up once."""
    one = hn.PureDP(epsilon=1)
    assert hn.compose(one, one) == hn.PureDP(epsilon=2)
    total = hn.compose(*[hn.PureDP(epsilon=0.1)] * 3).epsilon
    exact = 3 * Fraction(0.1)
    assert Fraction(math.nextafter(total, 0)) < exact <= Fraction(total)


REQUESTS = [
    hn.ApproxDP(epsilon=1, delta=1e-6),
    hn.ConcentratedDP(rho=0.1),
    hn.RenyiDP(alpha=8, epsilon=1),
    1.0,
    None,
]


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_requests_are_refused(request_: Any) -> None:
    """What was asked is not what it cost, alone or among others; the remedy is named."""
    for spent in ((request_,), (GAUSSIAN, request_), (request_, PURE)):
        with pytest.raises(hn.InvalidParameterError, match=r"release or a guarantee.*give the rel"):
            hn.compose(*spent)


def test_what_a_release_cost_is_its_guarantee() -> None:
    """Two releases with Laplace noise, asked for with a delta, cost twice their pure epsilon.

    Taken for the Gaussian noise of that request they would be said to cost epsilon 1.45 at delta
    1e-6; the best guess and randomised response show that delta there is above 0.1.
    """
    people = pl.DataFrame({"a": [True, False] * 50})
    asked = hn.ApproxDP(epsilon=1, delta=1e-6)
    rules: Any = {"row_is_person": True, "privacy": asked, "noise": "laplace"}
    one = hn.release(people, [hn.Count("a")], **rules)
    grouped = hn.release(people, [hn.Count("a")], by="a", groups=[True, False], **rules)
    total = hn.compose(one, grouped)
    assert total == hn.compose(one.guarantee, grouped.guarantee)
    assert isinstance(total, hn.PureDP)
    assert total.epsilon == pytest.approx(2, rel=1e-9)
    worst = (math.exp(2) - math.exp(1.45)) / (1 + math.exp(2))
    assert worst > 0.1
    gaussian = hn.release(people, [hn.Count("a")], **(rules | {"noise": "gaussian"}))
    both = hn.compose(gaussian, gaussian)
    assert isinstance(both, hn.GaussianDP)
    assert both.epsilon(1e-6) == pytest.approx(1.45, abs=0.01)
    assert isinstance(hn.compose(one, gaussian), hn.MixedDP)


def test_kinds_add_up_each_by_its_own_rule() -> None:
    """Squared mu, pure epsilon and the deltas of discovering, in any order and grouping."""
    parts: list[Any] = [GAUSSIAN, PURE, DISCOVERY, OTHER, MIXED]
    total = hn.compose(*parts)
    assert isinstance(total, hn.DiscoveryDP)
    assert isinstance(total.kept, hn.MixedDP)
    assert total.kept.gaussian == hn.compose(*[GAUSSIAN] * 3)
    assert total.kept.pure == hn.compose(*[PURE] * 3)
    deltas = Fraction(1e-7) + Fraction(1e-9)
    assert Fraction(math.nextafter(total.delta, 0)) < deltas <= Fraction(total.delta)
    assert all(hn.compose(*order) == total for order in itertools.permutations(parts))
    assert hn.compose(GAUSSIAN, PURE) == MIXED
    for alone in (GAUSSIAN, PURE, DISCOVERY, MIXED):
        assert hn.compose(alone) == alone


def exact_delta(epsilon: float, pure: float = 0.8, mu: float = 0.7) -> arb:
    """Return the delta of the rule for mixtures, from the formula of Gaussian noise alone."""
    a = arb(pure)
    p = a.exp() / (1 + a.exp())

    def at(e: float) -> arb:
        if e >= 0:
            return delta(mu, e)
        return 1 - arb(e).exp() * (1 - delta(mu, -e))

    return p * at(epsilon - pure) + (1 - p) * at(epsilon + pure)


@pytest.mark.parametrize("epsilon", [0.0, 0.25, 1.5, 4.0])
def test_mixtures_are_exact(epsilon: float) -> None:
    """Delta is that of randomised response beside a Gaussian, rounded up once."""
    pure = hn.MixedDP(gaussian=GAUSSIAN, pure=hn.PureDP(epsilon=0.75))
    found = pure.delta(epsilon)
    with ctx.workprec(BITS):
        exact = exact_delta(epsilon, 0.75)
        assert below(exact, found)
        assert not below(exact, math.nextafter(found, 0))

    def larger(x: float, sign: int) -> float:  # by how much one table makes (x, sign) likelier
        p = 1 / (1 + math.exp(-0.75))
        here, there = (p, 1 - p) if sign > 0 else (1 - p, p)
        return float(max(0.0, here * norm.pdf(x - 0.7) - math.exp(epsilon) * there * norm.pdf(x)))

    total = sum(quad(larger, -12, 14, args=(sign,), limit=500)[0] for sign in (-1, 1))
    assert found == pytest.approx(total, rel=1e-3, abs=1e-9)


def test_mixtures_lie_between_their_parts_and_their_mu() -> None:
    """They cost more than either part, and less than counting the pure part by its mu."""
    for d in (1e-9, 1e-6, 1e-3):
        found = MIXED.epsilon(d)
        assert MIXED.delta(found) <= d < MIXED.delta(math.nextafter(found, 0) * (1 - 1e-12))
        assert max(GAUSSIAN.epsilon(d), 0.8) < found <= GAUSSIAN.epsilon(d) + 0.8
        assert found < hn.GaussianDP(mu=MIXED.mu).epsilon(d)
    assert MIXED.mu == pytest.approx(math.hypot(0.7, PURE.mu))
    assert MIXED.best_guess == pytest.approx((1 + MIXED.delta(0)) / 2)
    assert max(GAUSSIAN.best_guess, PURE.best_guess) < MIXED.best_guess
    assert MIXED.best_guess <= hn.GaussianDP(mu=MIXED.mu).best_guess


def test_discovering_beside_a_mixture() -> None:
    """Its delta comes on top, at each epsilon."""
    both = hn.DiscoveryDP(kept=MIXED, delta=1e-7)
    assert both.delta_at(2.0) == pytest.approx(MIXED.delta(2.0) + 1e-7, rel=1e-12)
    assert both.epsilon(1e-6) == pytest.approx(MIXED.epsilon(9e-7), rel=1e-9)
    with pytest.raises(hn.InvalidParameterError, match="more than discovering groups costs"):
        both.epsilon(1e-7)
