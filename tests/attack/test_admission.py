"""Whoever chooses the next release by earlier answers gains nothing over a box, nor beside it.

The attack is exact, in numbers: with the observed privacy loss L so far, what is still to be won
is a function of e = epsilon - L alone, so it is worked out from the last release backwards on a
grid of e. Gaussian noise of squared mu m smooths it, randomised response shifts it, discovering
shows everything with probability d; and at each stage the attacker takes what is best at each e.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

import halfnoise as hn
from halfnoise.privacy.account import Account
from halfnoise.privacy.allowance import Allowance
from halfnoise.proof import exactly

Floats = NDArray[np.float64]
LIMITS = [
    hn.ApproxDP(epsilon=1, delta=1e-6),
    hn.ApproxDP(epsilon=3, delta=1e-6),
    hn.ApproxDP(epsilon=0.5, delta=1e-9),
]
SHAPES = [("0", "0"), ("1/2", "1/2"), ("7/8", "0")]  # how much of epsilon and of delta
NAMES = {"gaussian": "squares", "pure": "pure", "delta": "delta"}
STEPS = 20  # of the grid, to the mu of the limit
PARTS = [Fraction(part, 100) for part in (60, 70, 75, 80, 98)]
EXACT = 1e-6  # how far the numbers are from being right


class Points(Allowance):
    """A rule that looks at what was spent alone, and so leaves the choice of a box for later."""

    def price(self, cost: Account, spent: Account | None = None) -> Account:
        """Return the cost as it is."""
        del spent
        return cost

    def fits(self, spent: Account) -> bool:
        """Whether these amounts, decided beforehand, would keep the promise."""
        return Allowance.around(self.limit, spent).fits(spent)


class Beside(Allowance):
    """A rule that has a place for all of epsilon beside mu, too."""

    def _place(self, spent: Account) -> Fraction:
        return super()._place(replace(spent, squares=Fraction(0)))


class Further(Allowance):
    """A rule whose place for pure epsilon alone is too large by a part in a thousand."""

    def _place(self, spent: Account) -> Fraction:
        return super()._place(spent) * (1 if spent.squares else Fraction(1001, 1000))


class Small(Allowance):
    """A rule to which a small release with Laplace noise is none."""

    def price(self, cost: Account, spent: Account | None = None) -> Account:
        """Return what it costs, or nothing."""
        limit: Any = self.limit
        small = 0 < cost.pure < exactly(limit.epsilon) / 10
        return Account() if small else super().price(cost, spent)


class Discovers(Allowance):
    """A rule by which all of delta may be discovered beside pure epsilon alone.

    That would be admitted beforehand, as the box would be; not the choice between them.
    """

    def fits(self, spent: Account) -> bool:
        """Whether so much is within the box, or has no mu."""
        limit: Any = self.limit
        alone = Allowance(limit=limit, delta=exactly(limit.delta))
        return super().fits(spent) or (not spent.squares and alone.fits(spent))


def gaussian(squares: float, e: Floats) -> Floats:
    """Return the delta of Gaussian noise at every e, or of nothing at all."""
    if squares <= 0:
        return np.maximum(0.0, -np.expm1(np.minimum(e, 0.0)))
    mu = math.sqrt(squares)
    return np.asarray(ndtr(mu / 2 - e / mu) - np.exp(e + log_ndtr(-mu / 2 - e / mu)))


class Attack:
    """Somebody who knows the rule, and of which kinds of releases there are to choose from."""

    def __init__(self, rule: Allowance, kinds: str) -> None:
        """Lay out the grid, wide enough that its ends are never seen from the middle."""
        limit: Any = rule.limit
        self.rule, self.limit, self.kinds = rule, limit, kinds
        self.step = limit.mu / STEPS
        self.half = math.ceil((20 * limit.mu + 2 * limit.epsilon) / self.step)
        self.e = limit.epsilon + self.step * np.arange(-self.half, self.half + 1)

    def won(self, stages: int) -> float:
        """Return the delta that so many releases reach, in parts of what was promised."""
        return float(self.value(Account(), stages)[self.half]) / float(self.limit.delta)

    def value(self, spent: Account, stages: int) -> Floats:
        """Return what is to be won at every e with so many releases to come."""
        best = self.last(spent)
        for kind, amount in self.moves() if stages > 1 else ():
            price = self.rule.price(Account(**{NAMES[kind]: Fraction(amount)}), spent)
            if self.rule.fits(spent + price):
                later = self.value(spent + price, stages - 1)
                best = np.maximum(best, self.after(kind, amount, later))
        return best

    def moves(self) -> Iterator[tuple[str, float]]:
        """List first releases that leave much to choose afterwards, or one of many small ones."""
        if "steps" in self.kinds:
            yield "pure", max(1, int(self.limit.epsilon / 16 / self.step)) * self.step
            return
        yield from (("gaussian", part * self.limit.mu**2) for part in (0.05, 0.4))
        if "pure" in self.kinds:  # within a box, all of it, and beside it
            for amount in (self.limit.epsilon / 4, self.rule.pure, self.limit.epsilon * 0.6):
                yield "pure", int(amount / self.step) * self.step
        if "delta" in self.kinds:
            yield "delta", self.limit.delta / 4

    def after(self, kind: str, amount: float, later: Floats) -> Floats:
        """Return what is to be won before a release, given what is afterwards."""
        if kind == "delta":
            return amount + (1 - amount) * later
        if kind == "pure":
            p, places = 1 / (1 + math.exp(-amount)), round(amount / self.step)
            return np.asarray(p * np.roll(later, places) + (1 - p) * np.roll(later, -places))
        losses = self.step * np.arange(-(reach := 12 * STEPS), reach + 1)
        density = np.exp(-((losses - amount / 2) ** 2) / (2 * amount))
        weights = density * (self.step / math.sqrt(2 * math.pi * amount))
        return np.asarray(np.convolve(later, weights, mode="same"))

    def last(self, spent: Account) -> Floats:
        """Return what the best last release wins: pure, or of discovering, and all mu that fits."""
        best: Floats = np.zeros_like(self.e)
        for pure, delta in self.choices(spent):
            after = spent + self.rule.price(Account(pure=pure, delta=delta), spent)
            if self.rule.fits(after):
                noise, a, d = self.most(after), float(pure), float(delta)
                p = 1 / (1 + math.exp(-a))
                less, more = gaussian(noise, self.e - a), gaussian(noise, self.e + a)
                best = np.maximum(best, d + (1 - d) * (p * less + (1 - p) * more))
        return best

    def choices(self, spent: Account) -> Iterator[tuple[Fraction, Fraction]]:
        """List amounts of pure epsilon and of delta: none, or all that is left of box or limit."""
        none, epsilon = Fraction(0), Fraction(self.limit.epsilon)
        ends = {none, self.rule.pure, epsilon, epsilon * Fraction(1001, 1000)}
        for end, own in product(ends, {none, self.rule.delta}):
            yield max(none, end - spent.pure), max(none, own - spent.delta)
        if "pure" in self.kinds:
            yield from ((epsilon * part, none) for part in PARTS)
        if "delta" in self.kinds:
            yield from ((none, Fraction(self.limit.delta) * part) for part in PARTS)

    def most(self, spent: Account) -> float:
        """Return the most squared mu that still fits: the rest of a box, or what is found."""
        rest = self.rule.whole.squares - spent.squares
        if rest <= 0 or self.rule.fits(spent + Account(squares=rest)):
            return max(0.0, float(rest))
        low, high = 0.0, float(rest)
        for _ in range(10):
            middle = (low + high) / 2
            fits = self.rule.fits(spent + Account(squares=Fraction(middle)))
            low, high = (middle, high) if fits else (low, middle)
        return low


def won(rule: type[Allowance], limit: hn.ApproxDP, shape: Any, kinds: str, stages: int) -> float:
    """Return what is won against a rule, with a box of that shape."""
    pure, own = (Fraction(part) for part in shape)
    box = rule(limit=limit, pure=Fraction(limit.epsilon) * pure, delta=Fraction(limit.delta) * own)
    return Attack(box, kinds).won(stages)


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_within_a_box_choosing_wins_nothing(limit: hn.ApproxDP) -> None:
    """Two and three releases, each chosen by the answers before, reach the promise and no more."""
    for shape, stages in ((SHAPES[0], 2), (SHAPES[1], 3), (SHAPES[2], 2)):
        assert 1 - EXACT <= won(Allowance, limit, shape, "pure delta", stages) <= 1 + EXACT


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_many_small_steps_of_pure_epsilon_win_nothing(limit: hn.ApproxDP) -> None:
    """Through the box and out of it, and after each a choice of all that is left by then."""
    for shape in (("0", "1/2"), ("1/4", "0"), ("1/2", "1/10")):
        assert 1 - EXACT <= won(Allowance, limit, shape, "steps delta", 14) <= 1 + EXACT


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize(
    ("rule", "kinds", "stages", "least"),
    [
        (Beside, "pure", 2, 1000),
        (Further, "pure", 2, 100),
        (Small, "steps", 14, 1000),
        (Discovers, "pure delta", 2, 1.02),
    ],
)
def test_pure_epsilon_with_too_large_a_place_is_seen(
    rule: type[Allowance], limit: hn.ApproxDP, kinds: str, stages: int, least: float
) -> None:
    """Beside mu, above that of the limit, by small steps, or with more discovering than a box."""
    assert won(rule, limit, SHAPES[1], kinds, stages) > least


@pytest.mark.parametrize(
    ("limit", "kinds", "stages", "least"),
    [
        (LIMITS[0], "pure", 2, 2.5),
        (LIMITS[0], "delta", 2, 1.8),
        (LIMITS[1], "pure delta", 2, 3.0),
        (LIMITS[2], "pure", 3, 2.8),
    ],
)
def test_without_a_box_it_wins_much(
    limit: hn.ApproxDP, kinds: str, stages: int, least: float
) -> None:
    """A rule that admits whatever would have been admitted beforehand is broken, and seen to be.

    Who chooses once reaches three times the promised delta, and who chooses twice nearly four.
    """
    assert won(Points, limit, SHAPES[0], kinds, stages) > least


def test_a_box_that_is_a_little_too_large_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose squared mu is above what is allowed by a part in a thousand."""
    fits = Allowance.fits
    larger = property(lambda self: whole(self) + Account(squares=whole(self).squares / 1000))
    whole: Any = vars(Allowance)["whole"].fget
    monkeypatch.setattr(Allowance, "whole", larger)
    monkeypatch.setattr(
        Allowance, "fits", lambda self, spent: fits(self, spent * Fraction(1000, 1001))
    )
    for limit in LIMITS:
        assert won(Allowance, limit, SHAPES[1], "pure delta", 2) > 1 + EXACT
