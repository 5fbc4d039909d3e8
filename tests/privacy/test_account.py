"""Three exact sums, whatever the order and however many."""

import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.privacy.account import BEYOND, Account

DRAW = random.Random(11)


def amount() -> float:
    """Return a float64 of any size that can be asked for."""
    return DRAW.uniform(1, 10) * 10.0 ** DRAW.randint(-9, 8)


def guarantee() -> Any:
    """Return what one release, or several, may promise."""
    gaussian, pure = hn.GaussianDP(mu=amount()), hn.PureDP(epsilon=amount())
    kept: Any = DRAW.choice([gaussian, pure, hn.MixedDP(gaussian=gaussian, pure=pure)])
    if DRAW.random() < 0.5:
        return kept
    return hn.DiscoveryDP(kept=kept, delta=DRAW.random() * 1e-6)


def parts(cost: Any) -> tuple[Fraction, Fraction, Fraction]:
    """Return pure epsilon, squared mu and delta of a guarantee, by hand."""
    discovers = isinstance(cost, hn.DiscoveryDP)
    kept, delta = (cost.kept, Fraction(cost.delta)) if discovers else (cost, Fraction(0))
    mixed = isinstance(kept, hn.MixedDP)
    pure = kept.pure if mixed else kept
    gaussian = kept.gaussian if mixed else kept
    epsilon = Fraction(pure.epsilon) if isinstance(pure, hn.PureDP) else Fraction(0)
    mu = Fraction(gaussian.mu) if isinstance(gaussian, hn.GaussianDP) else Fraction(0)
    return epsilon, mu * mu, delta


def faults(of: Callable[[Any], Account], cases: int = 40) -> int:
    """Count the sets of releases whose sums are not exact, or depend on their order."""
    wrong = 0
    for _ in range(cases):
        costs = [guarantee() for _ in range(DRAW.randint(1, 30))]
        exact = tuple(sum(each) for each in zip(*map(parts, costs), strict=True))
        total = sum(map(of, costs), Account())
        DRAW.shuffle(costs)
        again = sum((of(cost) for cost in reversed(costs)), Account())
        wrong += (total.pure, total.squares, total.delta) != exact or again != total
    return wrong


def test_sums_are_exact_in_any_order() -> None:
    """Amounts from 1e-9 to 1e9 lose no bit beside each other; sums that round are caught."""
    assert not faults(Account.of)

    def rounded(cost: Any) -> Account:
        exact = Account.of(cost)
        return Account(pure=exact.pure, delta=exact.delta, squares=Fraction(float(exact.squares)))

    def cut(cost: Any) -> Account:
        exact, grid = Account.of(cost), 2**60
        return Account(
            pure=exact.pure, squares=exact.squares, delta=Fraction(int(exact.delta * grid), grid)
        )

    assert faults(rounded)
    assert faults(cut)


def test_many_of_it() -> None:
    """Times a number is that many added up, and nothing is nothing."""
    for _ in range(10):
        one, times = Account.of(guarantee()), DRAW.randint(2, 50)
        assert sum(itertools.repeat(one, times), Account()) == one * times
        assert one * 0 == Account()
        assert one + Account() == one
        assert one
    assert not Account()


def test_what_was_promised_is_never_less() -> None:
    """The promise of a sum is at least the sum, by less than a rounding."""
    for _ in range(50):
        total = sum((Account.of(guarantee()) for _ in range(9)), Account())
        said = Account.of(total.promise)
        for name in ("pure", "squares", "delta"):
            exact, rounded = getattr(total, name), getattr(said, name)
            assert exact <= rounded <= exact * (1 + Fraction(1, 2**51))
    with pytest.raises(ValueError, match="Account"):
        _ = Account().promise


@pytest.mark.parametrize("request_", [hn.ApproxDP(epsilon=1, delta=1e-6), 1.0, None], ids=str)
def test_a_request_is_no_cost(request_: Any) -> None:
    """Which noise was drawn for it decides."""
    with pytest.raises(TypeError):
        Account.of(request_)


def test_parts_of_a_whole() -> None:
    """By the kind of which it takes most; what has no place is more than everything."""
    whole = Account(pure=Fraction(2), squares=Fraction(3), delta=Fraction(1, 10))
    assert Account(pure=Fraction(1), squares=Fraction(1)).part_of(whole) == Fraction(1, 2)
    assert Account(delta=Fraction(1, 20), squares=Fraction(2)).part_of(whole) == Fraction(2, 3)
    assert Account().part_of(whole) == Account().part_of(Account()) == 0
    tiny = Fraction(1, 10**30)
    for name in ("pure", "squares", "delta"):
        assert Account(**{name: tiny}).part_of(Account()) == BEYOND
