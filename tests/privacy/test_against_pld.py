"""Mixtures of releases against another library's composition of privacy loss distributions."""

import math
import os
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld
from flint import arb

import halfnoise as hn
from halfnoise.privacy import calibration
from halfnoise.privacy.account import Account
from halfnoise.privacy.allowance import Allowance
from halfnoise.proof import down, exactly, sqrt_down

MORE = int(os.environ.get("HALFNOISE_SOAK", "1"))
MIXTURES = 12 * MORE
# Their losses lie on a grid, to which others are rounded up; the largest of all that is pure lie on
# it here (binary fractions of binary numbers). With fifty steps to a mu and 1024 to epsilon each
# Gaussian release but the first adds up to 7e-5 to delta, a quarter of that at half the step.
TOLERANCE = 5e-4
STEPS, FAR = 1024, 1e-20
LIMITS = [(1.0, 1e-6), (3.0, 1e-6), (0.5, 1e-9), (8.0, 1e-5), (0.125, 1e-4)]
PURE = ("laplace", "pure")


def distribution(kind: str, amount: float, step: float) -> Any:
    """Return the privacy loss distribution of one release."""
    if kind == "gaussian":
        make, law = pld.from_gaussian_mechanism, 1 / amount
        return make(law, value_discretization_interval=step, log_mass_truncation_bound=-60)
    if kind == "laplace":
        return pld.from_laplace_mechanism(1 / amount, value_discretization_interval=step)
    # Randomised response, and with probability delta everything.
    epsilon, delta = (amount, 0.0) if kind == "pure" else (0.0, amount)
    worst = common.DifferentialPrivacyParameters(epsilon, delta)
    return pld.from_privacy_parameters(worst, value_discretization_interval=step)


def composed(releases: list[tuple[str, float]], epsilon: float) -> Any:
    """Return the distribution of all of them together."""
    finest = min((amount for kind, amount in releases if kind == "gaussian"), default=math.inf)
    step = epsilon / STEPS
    while step > finest / 50:
        step /= 2
    together = distribution(*releases[0], step)
    for kind, amount in releases[1:]:
        one = distribution(kind, amount, step)
        together = together.compose(one, tail_mass_truncation=FAR)
    return together


def mixture(box: Allowance, epsilon: float, draw: random.Random) -> list[tuple[str, float]]:
    """Return releases of all kinds that a box takes, one by one, until it is full."""
    whole, spent, taken = box.whole, Account(), []
    names = {"gaussian": "squares", "discover": "delta", "pure": "pure", "laplace": "pure"}

    def ask(kind: str, amount: float) -> None:
        nonlocal spent
        if kind in PURE:  # which they round up to their grid
            amount = math.floor(amount / epsilon * STEPS) * (epsilon / STEPS)
        power = 2 if kind == "gaussian" else 1
        price = box.price(Account(**{names[kind]: Fraction(amount) ** power}), spent)
        if amount > 0 and box.fits(spent + price):
            spent += price
            taken.append((kind, amount))

    if draw.random() < 0.5:
        ask(draw.choice(PURE), box.mu)  # more than a box or a limit in mu may have room for
    else:
        ask("gaussian", box.mu * draw.uniform(0.3, 0.6))
    for _ in range(draw.randint(0, 2)):
        asked = [("gaussian", box.mu), ("discover", float(whole.delta))]
        asked += [(draw.choice(PURE), most) for most in (float(whole.pure), box.mu)]
        for kind, most in draw.sample(asked, draw.randint(2, 4)):
            ask(kind, most * draw.uniform(0.05, 0.8))
    most_pure = exactly(epsilon) if spent.pure > whole.pure else whole.pure
    ask(draw.choice(PURE), down(most_pure - spent.pure))
    ask("discover", down(whole.delta - spent.delta))
    ask("gaussian", sqrt_down(whole.squares - spent.squares))
    return taken


def boxes(draw: random.Random) -> Iterator[Allowance]:
    """List boxes of several limits, flat ones and thick ones."""
    for i in range(MIXTURES):
        epsilon, delta = LIMITS[i % len(LIMITS)]
        pure, own = (Fraction(draw.choice([0, draw.randint(1, STEPS - 1)]), STEPS) for _ in "ab")
        limit = hn.ApproxDP(epsilon=epsilon, delta=delta)
        yield Allowance(limit=limit, pure=pure * exactly(epsilon), delta=own * exactly(delta))


def excess() -> list[float]:
    """Return how much of its delta each full box of random releases uses."""
    draw, found = random.Random(2026), []
    for box in boxes(draw):
        limit: Any = box.limit
        together = composed(mixture(box, limit.epsilon, draw), limit.epsilon)
        found.append(together.get_delta_for_epsilon(limit.epsilon) / limit.delta)
    return found


def test_what_a_box_takes_keeps_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gaussian and Laplace noise, randomised response and discovering, in random mixtures.

    Mutants: a rule that is blind to pure epsilon, and one that has a place for all of it beside mu.
    """
    found = excess()
    assert max(found) <= 1 + TOLERANCE
    assert max(found) > 0.95  # some of them are as bad as the box allows
    assert min(found) < 1e-9  # and some are pure alone, which costs no delta
    if MORE > 1:
        print(f"\n{len(found)} mixtures, the worst used {max(found):.7f} of its delta")  # noqa: T201  # figures
    real = calibration.mixed_delta

    def blind(_: arb, mu: arb, epsilon: arb) -> arb:  # to the pure part
        return real(arb(0), mu, epsilon)

    with monkeypatch.context() as broken:
        broken.setattr(calibration, "mixed_delta", blind)
        assert max(excess()) > 1.5
    monkeypatch.setattr(Allowance, "_place", lambda self, _: exactly(self.limit.epsilon))
    assert max(excess()) > 100


def test_the_corner_is_exact() -> None:
    """Randomised response beside Gaussian noise and discovering uses the limit up."""
    draw = random.Random(7)
    for box in [box for box in boxes(draw) if box.mu][: 8 * MORE]:
        limit: Any = box.limit
        worst = [("pure", float(box.pure)), ("gaussian", box.mu), ("discover", float(box.delta))]
        together = composed([each for each in worst if each[1]], limit.epsilon)
        used = together.get_delta_for_epsilon(limit.epsilon) / limit.delta
        assert 0.98 <= used <= 1 + TOLERANCE


def beyond(mu: float) -> float:
    """Return by how much releases that a limit in mu takes exceed its curve, at the worst."""
    draw, worst = random.Random(4), 0.0
    limit = hn.GaussianDP(mu=mu)
    for _ in range(2 * MORE):
        together = composed(mixture(Allowance(limit=limit), mu, draw), mu)
        for epsilon in (0.0, mu / 2, mu, 2 * mu):
            worst = max(worst, together.get_delta_for_epsilon(epsilon) / limit.delta(epsilon))
    return worst


def test_laplace_noise_in_mu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is charged as mu it keeps the promise at every epsilon; epsilon as mu does not."""
    assert all(beyond(mu) <= 1 + TOLERANCE for mu in (0.125, 1.0, 3.0))
    monkeypatch.setattr(calibration, "mu_of_pure", lambda epsilon: epsilon)
    assert max(beyond(mu) for mu in (0.125, 1.0)) > 1.1
