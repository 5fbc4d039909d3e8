"""With a ledger's limit, both kinds of noise are compared at equal cost there."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import norm

import halfnoise as hn
from halfnoise.noise.law import Noise
from halfnoise.planning import choice
from halfnoise.planning.choice import WORTH, best
from halfnoise.privacy.account import Account
from halfnoise.privacy.allowance import Allowance

APPROX, WIDE = hn.ApproxDP(epsilon=1, delta=1e-6), hn.ApproxDP(epsilon=3, delta=1e-6)
SOME = Account(squares=Fraction(1, 10**9))
LIMITS: list[Any] = [
    WIDE,
    APPROX,
    hn.ApproxDP(epsilon=10, delta=1e-6),
    hn.GaussianDP(mu=1),
    hn.ConcentratedDP(rho=0.5),
    hn.RenyiDP(alpha=8, epsilon=2),
    hn.PureDP(epsilon=3),
    Allowance(limit=WIDE),
    Allowance(limit=WIDE, pure=Fraction(1)),
    Allowance(limit=WIDE, spent=SOME),
    Allowance(limit=WIDE, pure=Fraction(1), spent=SOME),
    Allowance(limit=WIDE, pure=Fraction(5, 2), spent=SOME),
    Allowance(limit=WIDE, pure=Fraction(1), spent=Account(pure=Fraction(3, 2))),
]
REQUESTS = [APPROX, hn.ApproxDP(epsilon=0.1, delta=1e-9), hn.ApproxDP(epsilon=9, delta=1e-6)]


def taken(limit: Any, epsilon: float, mu: float) -> tuple[float, float]:
    """Return the parts of a limit that Laplace and Gaussian noise take, by formulas in floats."""
    implied = (2 * norm.isf(1 / (1 + math.exp(epsilon)))) ** 2
    match limit:
        case hn.ApproxDP(epsilon=most):
            return epsilon / most, mu**2 / limit.mu**2
        case hn.PureDP(epsilon=most):
            return epsilon / most, math.inf
        case Allowance(pure=pure, spent=spent):
            place = pure if spent.squares else 3  # pure epsilon alone has all of it
            fits, squares = epsilon + spent.pure <= place, limit.mu**2
            in_mu = squares if spent.pure <= pure else 0.0
            laplace = epsilon / float(place) if fits else implied / in_mu if in_mu else math.inf
            return laplace, mu**2 / in_mu if in_mu else math.inf
        case hn.GaussianDP(mu=most):
            return implied / most**2, mu**2 / most**2
    rho = limit.mu**2 / 2
    return min(implied, epsilon**2) / 2 / rho, mu**2 / 2 / rho


def wrong_choices() -> Iterator[str]:
    """List the plans whose noise is not the one that is better at equal cost."""
    for d, asked, limit in ((d, a, x) for d in (1, 4) for a in REQUESTS for x in LIMITS):
        found = hn.plan([hn.Counts(d)], privacy=asked, i_know=True, limit=limit)
        both = [best(found.designs, found.workload, kind) for kind in (Noise.LAPLACE, *Noise)][:2]
        shares = taken(limit, asked.epsilon, asked.mu)
        if min(shares) == math.inf:  # no place for either: it is left to the charge to refuse
            shares = (1.0, 1.0)
        laplace, gaussian = (
            math.sqrt(design.total_error(found.workload.size_importance) * share)
            for design, share in zip(both, shares, strict=True)
        )
        if found.chosen is not both[laplace > WORTH * gaussian]:
            yield f"{d} counts, {asked}, {limit}: {found.chosen.name}"


def test_noise_is_judged_in_the_unit_of_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """For every kind of limit; a choice that is blind to it is caught in each."""
    assert not list(wrong_choices())
    monkeypatch.setattr(choice, "at_equal_cost", lambda *_: 1.0)
    caught = "\n".join(wrong_choices())
    assert all(str(limit) in caught for limit in (*LIMITS[2:6], *LIMITS[7:12]))
    assert f"{APPROX}, {WIDE}" in caught


def test_the_choice_says_so() -> None:
    """In one sentence, on the screen and in the JSON."""
    found = hn.plan([hn.Counts(4)], privacy=APPROX, limit=WIDE)
    said = "In the ledger, Laplace noise would take 33.3% of the limit and Gaussian noise 13.4%;"
    said += " at equal cost it would have 16.4% more standard error."
    assert found.chosen.noise is Noise.GAUSSIAN
    assert said in found.why
    assert said in repr(found)
    stored = json.loads(json.dumps(found.to_dict()))["noise"]
    assert stored["chosen"] == "gaussian"
    assert stored["share_of_limit"]["laplace"] == pytest.approx(1 / 3, rel=1e-6)
    assert stored["share_of_limit"]["gaussian"] == pytest.approx(APPROX.mu**2 / WIDE.mu**2)
    one = hn.plan([hn.Counts(1)], privacy=APPROX, limit=WIDE)
    assert "Laplace noise takes 33.3% of the limit" in one.why
    assert "it has 47.1% less standard error." in one.why
    ten = hn.plan([hn.Counts(1)], privacy=APPROX, limit=LIMITS[2])
    assert "it would have 17.3% less standard error, which is not worth it." in ten.why
    assert "ledger" not in hn.plan([hn.Counts(4)], privacy=APPROX).why
    assert "share_of_limit" not in hn.plan([hn.Counts(4)], privacy=APPROX).to_dict()["noise"]


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_noise_that_is_asked_for_is_not_judged(noise: str) -> None:
    """With ``noise`` nothing changes by a limit."""
    plain = hn.plan([hn.Counts(4)], privacy=APPROX, noise=noise)
    for limit in LIMITS:
        assert repr(hn.plan([hn.Counts(4)], privacy=APPROX, noise=noise, limit=limit)) == repr(
            plain
        )


def test_noise_without_a_price() -> None:
    """Where a limit has no place for one kind the other is taken, if there is one."""
    for limit in (hn.PureDP(epsilon=3), LIMITS[-1]):  # pure, or with more of that than a box has
        found = hn.plan([hn.Counts(50)], privacy=APPROX, limit=limit)
        assert found.chosen.noise is Noise.LAPLACE
        assert "The ledger's limit has no place for Gaussian noise." in found.why
        shares = found.to_dict()["noise"]["share_of_limit"]
        assert shares == {"gaussian": None, "laplace": pytest.approx(1 / 3)}
    alone = hn.plan([hn.Counts(50)], privacy=hn.GaussianDP(mu=1), limit=hn.PureDP(epsilon=3))
    assert alone.chosen.noise is Noise.GAUSSIAN  # the charge will refuse it
    assert "ledger" not in alone.why


def test_groups_that_are_discovered() -> None:
    """The delta of discovering counts in both, and decides nothing where it has no place."""
    rules: Any = {"by": "shop", "groups": "discover", "privacy": APPROX}
    plain = hn.plan([hn.Count("a")], **rules)
    nowhere = hn.plan([hn.Count("a")], **rules, limit=hn.GaussianDP(mu=1))
    assert nowhere.why == plain.why
    box = Allowance(limit=WIDE, delta=Fraction(1, 10**6) / 4)
    for spent, chosen in ((Account(), Noise.LAPLACE), (SOME, Noise.GAUSSIAN)):
        within = hn.plan([hn.Count("a")], **rules, limit=replace(box, spent=spent))
        assert float(within.shares[Noise.GAUSSIAN]) == pytest.approx(0.4)  # of the delta
        assert (within.shares[Noise.LAPLACE] > Fraction(1, 2)) is bool(spent)  # has it a place?
        assert within.chosen.noise is chosen
        assert ("no place for Laplace noise" if spent else "In the ledger") in within.why


def test_what_budgets_bring_and_what_a_margin_needs() -> None:
    """Both take the noise that is taken with the limit."""
    outlook = hn.plan([hn.Counts(4)], limit=hn.GaussianDP(mu=1))
    assert {each.chosen.noise for each in outlook.plans[:3]} == {Noise.GAUSSIAN}
    assert Noise.LAPLACE in {each.chosen.noise for each in hn.plan([hn.Counts(4)]).plans[:3]}
    needed = hn.budget_for([hn.Counts(2)], margin=10, limit=hn.GaussianDP(mu=1))
    found = hn.plan([hn.Counts(2)], privacy=needed, limit=hn.GaussianDP(mu=1))
    assert found.chosen.noise is Noise.GAUSSIAN
    assert max(found.margins) == pytest.approx(10, rel=1e-6)
    asked = hn.budget_for([hn.Counts(2)], margin=10, noise="gaussian")
    assert needed.epsilon == pytest.approx(asked.epsilon, rel=1e-9)
    assert needed.epsilon > hn.budget_for([hn.Counts(2)], margin=10, noise="laplace").epsilon


@pytest.mark.parametrize("limit", ["mu", 1.0, hn.Counts(2)])
def test_what_is_no_limit_is_refused(limit: Any) -> None:
    """A limit is a privacy definition, or what a ledger allows of it."""
    with pytest.raises(hn.InvalidParameterError, match="limit must be a privacy definition"):
        hn.plan([hn.Counts(2)], privacy=APPROX, limit=limit)
