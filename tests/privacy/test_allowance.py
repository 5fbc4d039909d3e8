"""What a limit allows: exact at its edge, against brute force and other formulas."""

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

import halfnoise as hn
from halfnoise.privacy import calibration
from halfnoise.privacy.account import BEYOND, Account
from halfnoise.privacy.allowance import Allowance, taken
from halfnoise.proof import up
from support.high_precision import BITS, delta

APPROX = hn.ApproxDP(epsilon=1, delta=1e-6)
LIMITS: list[Any] = [
    APPROX,
    hn.ApproxDP(epsilon=0.3, delta=1e-9),
    hn.ApproxDP(epsilon=3, delta=1e-5),
    hn.GaussianDP(mu=0.5),
    hn.GaussianDP(mu=0.1),
    hn.ConcentratedDP(rho=0.3),
    hn.RenyiDP(alpha=8.1, epsilon=0.3),
    hn.PureDP(epsilon=0.3),
]
TINY = Account(squares=Fraction(1, 10**12))


def cost(privacy: Any, releases: int = 1, **rules: Any) -> Account:
    """Return what a release is charged: the loss that is proved for it."""
    found = hn.plan([hn.Counts(3)], privacy=privacy, releases=releases, i_know=True, **rules)
    return Account.of(found.measurement.guarantee)


def whole(limit: Any, *costs: Account) -> bool:
    """Whether releases fit into a limit that is fixed around all of them."""
    return around(limit, sum(costs, Account())).fits(sum(costs, Account()))


def around(limit: Any, total: Account, times: int = 1) -> Allowance:
    """Return the box of a limit, with the delta of discovering beside one that has none."""
    if isinstance(limit, hn.ApproxDP):
        return Allowance.around(limit, total, times)
    return Allowance(limit=limit, delta=total.delta * times)


@pytest.mark.parametrize(
    ("kind", "amounts", "limit"),
    [
        (lambda x: hn.ConcentratedDP(rho=x), (0.1, 0.2), 0.3),
        (lambda x: hn.ConcentratedDP(rho=x), (0.1,) * 3, 0.3),
        (lambda x: hn.PureDP(epsilon=x), (0.1, 0.2), 0.3),
        (lambda x: hn.PureDP(epsilon=x), (0.1,) * 7, 0.7),
        (lambda x: hn.GaussianDP(mu=x), (0.3, 0.4), 0.5),
        (lambda x: hn.GaussianDP(mu=x), (0.1,) * 9, 0.3),
        (lambda x: hn.RenyiDP(alpha=2.3, epsilon=x), (0.1, 0.2), 0.3),
        (lambda x: hn.ApproxDP(epsilon=x, delta=1e-6), (0.3,), 0.3),
    ],
)
def test_decimals_that_add_up_fit(kind: Any, amounts: tuple[float, ...], limit: float) -> None:
    """0.1 and 0.2 fit into 0.3 as they are written, and then nothing more does."""
    costs = [cost(kind(amount)) for amount in amounts]
    assert whole(kind(limit), *costs)
    more = TINY if costs[0].squares else Account(pure=Fraction(1, 10**12))
    box = around(kind(limit), sum(costs, Account()))
    assert not box.fits(sum(costs, more))


def test_deltas_of_discovering_that_add_up_fit() -> None:
    """Written as decimals, too."""
    rules: Any = {"by": "shop", "groups": "discover", "privacy": hn.GaussianDP(mu=0.01)}
    costs = [cost(**rules, discover_delta=own) for own in (1e-7, 2e-7)]
    for limit in (APPROX, hn.GaussianDP(mu=1), hn.PureDP(epsilon=1)):
        box = Allowance(limit=limit, delta=Fraction("3e-7"))
        deltas = Account(delta=costs[0].delta + costs[1].delta)
        assert box.fits(deltas)
        assert not box.fits(deltas + Account(delta=Fraction(1, 10**9)))
        assert not Allowance(limit=limit).fits(deltas)


def test_costs_are_never_rounded_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum that is above the limit by a part in 1e16, or in 1e40, is refused; mutants are not."""

    def let_in() -> Iterator[str]:
        over = Account(pure=3 * Fraction(0.1))  # float64 0.1 is a little above a tenth
        if Allowance(limit=hn.PureDP(epsilon=0.3)).fits(over):
            yield "pure"
        for limit, most in ((hn.GaussianDP(mu=0.5), "1/4"), (hn.ConcentratedDP(rho=0.3), "0.6")):
            if Allowance(limit=limit).fits(Account(squares=Fraction(most) + Fraction(1, 10**40))):
                yield "squares"
        box = Allowance(limit=APPROX, delta=Fraction(1, 10**7))
        if box.fits(Account(delta=Fraction(1, 10**7) + Fraction(1, 10**40))):
            yield "delta"

    assert not list(let_in())
    fits = Allowance.fits

    def rounded(self: Allowance, spent: Account) -> bool:
        pure, squares, own = map(float, (spent.pure, spent.squares, spent.delta))
        near = [Fraction(repr(each)) for each in (round(pure, 12), squares, own)]
        return fits(self, Account(pure=near[0], squares=near[1], delta=near[2]))

    monkeypatch.setattr(Allowance, "fits", rounded)
    assert set(let_in()) == {"pure", "squares", "delta"}


SHARES = [
    *((limit, "gaussian", {}) for limit in LIMITS if not isinstance(limit, hn.PureDP)),
    *((limit, "laplace", {}) for limit in LIMITS if isinstance(limit, hn.ApproxDP | hn.PureDP)),
    *((limit, None, {"by": "shop", "groups": "discover"}) for limit in LIMITS),
]


@pytest.mark.parametrize(("limit", "noise", "rules"), SHARES, ids=str)
def test_equal_shares_fit_exactly(limit: Any, noise: Any, rules: dict[str, Any]) -> None:
    """365 of 365 fit, and the 366th does not, whatever the limit and the noise."""
    if rules and not isinstance(limit, hn.ApproxDP):
        rules = rules | {"discover_delta": 1e-7}
    one = cost(limit, releases=365, noise=noise, **rules)
    box = around(limit, one, 365)
    assert box.fits(one * 365)
    assert box.room(Account(), one) == 365
    assert box.room(one * 365, one) == 0
    spent = Account()
    for _ in range(365):
        spent += box.price(one, spent)
    assert spent == one * 365
    assert not box.fits(spent + box.price(one, spent))
    assert box.share(one) == pytest.approx(1 / 365, rel=1e-6)


def loss(mu: float, pure: float, epsilon: float) -> arb:
    """Return the delta of randomised response beside mu, by the formulas of high precision."""
    a = arb(pure)
    p = a.exp() / (1 + a.exp())

    def at(e: float) -> arb:
        return delta(mu, e) if e >= 0 else 1 - arb(e).exp() * (1 - delta(mu, -e))

    return p * at(epsilon - pure) + (1 - p) * at(epsilon + pure)


def misjudged(cases: int = 30) -> int:
    """Count boxes on the wrong side of a limit that is two roundings from their exact delta."""
    draw, wrong = random.Random(5), 0
    for _ in range(cases):
        # Binary fractions, so that amounts are the same as written and as stored.
        epsilon, mu = draw.randint(8, 512) / 64, draw.randint(16, 128) / 64
        pure = draw.choice([0, 1, draw.randint(1, 80) / 64]) * epsilon
        own = Fraction(draw.choice([0, draw.randint(1, 99)]), 10**3)
        with ctx.workprec(BITS):
            near = float(loss(mu, pure, epsilon) + arb(own.numerator) / own.denominator)
        spent = Account(pure=Fraction(pure), squares=Fraction(mu) ** 2, delta=own)
        for step, fits in ((math.inf, True), (0, False)):
            most = math.nextafter(math.nextafter(near, step), step)
            if 0 < most < 1:
                limit = hn.ApproxDP(epsilon=epsilon, delta=most)
                wrong += Allowance.around(limit, spent).fits(spent) is not fits
    return wrong


def test_the_edge_is_where_other_formulas_put_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last digit of delta; a rule that forgets the second term is caught."""
    assert not misjudged()
    exact = calibration.mixed_delta

    def one_sided(pure: arb, mu: arb, epsilon: arb) -> arb:
        p = 1 / (1 + (-pure).exp())
        return p * calibration.gaussian_delta(mu, epsilon - pure)

    monkeypatch.setattr(calibration, "mixed_delta", one_sided)
    assert misjudged()
    monkeypatch.setattr(
        calibration, "mixed_delta", lambda a, mu, e: exact(a, mu, e) * (1 + arb(1e-14))
    )
    assert misjudged()


BOXES = [
    Allowance(limit=APPROX),
    Allowance(limit=APPROX, pure=Fraction(1, 4)),
    Allowance(limit=APPROX, pure=Fraction(1, 4), delta=Fraction(1, 10**7)),
    Allowance(limit=APPROX, pure=Fraction(1)),
    *(Allowance(limit=limit, delta=Fraction(1, 10**7)) for limit in LIMITS[3:]),
]


def by_hand(box: Allowance, spent: Account, each: Account) -> int:
    """Charge one after the other until one is refused."""
    for times in itertools.count():
        spent += box.price(each, spent)
        if not box.fits(spent):
            return times
    raise AssertionError


def test_room_is_what_can_be_charged_one_by_one() -> None:
    """For all kinds of boxes and releases, some of it spent before."""
    draw = random.Random(3)
    for box, _ in itertools.product(BOXES, range(6)):
        part = box.mu or 0.01
        pure = up(box.pure) or part
        each = draw.choice(
            [
                Account(squares=Fraction(part * draw.uniform(0.1, 0.6)) ** 2),
                Account(pure=Fraction(pure * draw.uniform(0.1, 0.6))),
                Account(pure=Fraction(pure) / 7, squares=Fraction(part / 9) ** 2),
                Account(squares=Fraction(part / 9) ** 2, delta=Fraction(3, 10**9)),
            ]
        )
        spent = Account(pure=box.pure * draw.choice([0, 1]) / 3)
        spent += Account(squares=Fraction(part / 3) ** 2 if box.mu else Fraction(0))
        assert box.room(spent, each) == by_hand(box, spent, each)
    assert not BOXES[1].room(Account(pure=Fraction(1)), Account(pure=Fraction(1, 1000)))


def release(box: Allowance, draw: random.Random) -> Account:
    """Return what some release costs: of one kind or of two, large or small beside the limit."""
    mu = Fraction(box.mu or 1)
    pure = Fraction(1) if isinstance(box.limit, hn.ApproxDP) else box.pure or mu
    most = {"pure": pure, "squares": mu**2, "delta": box.delta or Fraction(1, 10**7)}
    kinds = draw.sample(sorted(most), draw.choice([1, 1, 2]))
    return Account(**{kind: most[kind] * draw.randint(12, 140) / 120 for kind in kinds})


def test_room_beside_random_mixtures() -> None:
    """Whatever was charged before; who does not see that there is no mu as yet is caught."""
    draw, blind = random.Random(8), 0
    for box, _ in itertools.product(BOXES, range(12)):
        spent = Account()
        for _ in range(draw.randint(0, 4)):
            price = box.price(asked := release(box, draw), spent)
            spent += price if box.fits(spent + price) else Account()
        each = asked if draw.random() < 0.3 and spent else release(box, draw)
        times = by_hand(box, spent, each)
        assert box.room(spent, each) == times
        blind += box.room(spent + Account(squares=Fraction(1, 10**99)), each) != times
    assert blind


def test_the_largest_mu_fits_and_not_much_more_does() -> None:
    """``mu`` is within the box as written and as stored; a part in 1e14 above it is not."""
    for box in BOXES:
        corner = box.whole
        assert box.fits(corner)
        assert box.share(corner) == 1
        assert not box.fits(corner + Account(squares=Fraction(max(box.mu, 1e-9)) ** 2 / 10**14))
        assert not box.fits(corner + Account(delta=Fraction(1, 10**30)))
        assert not box.fits(corner + Account(pure=Fraction(1, 10**30)))


def test_more_is_never_easier() -> None:
    """What fits fits with less of anything, in a larger limit, and in a box of less of the rest."""
    squares, steps = Fraction(BOXES[0].mu) ** 2, [Fraction(k, 4) for k in range(5)]
    boxes = [Allowance(limit=APPROX, pure=k / 2, delta=k / 10**6 / 3) for k in steps]
    mus = [box.mu for box in boxes]
    assert mus == sorted(set(mus), reverse=True)
    for box in boxes:
        fits = [box.fits(Account(squares=squares * k)) for k in steps]
        assert fits == sorted(fits, reverse=True)
        assert fits[0]
    limits = [hn.ApproxDP(epsilon=0.5 + k / 4, delta=1e-6) for k in range(5)]
    mus = [Allowance(limit=limit, pure=Fraction(1, 2)).mu for limit in limits]
    assert mus == sorted(set(mus))


EDGES = [
    # A box with no delta left has no place for any mu, but for all of its pure epsilon.
    (Allowance(limit=APPROX, pure=Fraction(1), delta=Fraction("1e-6")), "pure", "1", True),
    (Allowance(limit=APPROX, pure=Fraction(1), delta=Fraction("1e-6")), "squares", "1e-300", False),
    (Allowance(limit=APPROX, delta=Fraction("1.1e-6")), "delta", "1e-9", False),
    # Pure epsilon above that of the limit costs delta.
    (Allowance(limit=APPROX, pure=Fraction("1.000001")), "pure", "1.000001", True),
    (Allowance(limit=APPROX, pure=Fraction("1.00001")), "pure", "1", False),
    (Allowance(limit=APPROX, pure=Fraction(10**300)), "pure", "1", False),
    (Allowance(limit=APPROX), "squares", "1e-3000", True),
    (Allowance(limit=APPROX), "squares", "1e3000", False),
    (Allowance(limit=hn.ApproxDP(epsilon=1e9, delta=1e-6)), "squares", "1e9", True),
    (Allowance(limit=hn.ApproxDP(epsilon=1e9, delta=1e-6)), "squares", "3e9", False),
    (Allowance(limit=hn.PureDP(epsilon=1)), "squares", "1e-300", False),
]


@pytest.mark.parametrize(("box", "kind", "amount", "expected"), EDGES)
def test_edges(box: Allowance, kind: str, amount: str, expected: object) -> None:
    """Nothing left, nothing asked for, far too little and far too much."""
    assert box.fits(Account(**{kind: Fraction(amount)})) is expected
    assert Allowance(limit=APPROX, delta=Fraction(APPROX.delta)).mu == 0


def test_laplace_noise_without_a_place_costs_what_it_implies() -> None:
    """The squared mu of randomised response; in rho and RDP epsilon squared, if that is less."""
    for epsilon in (1e-9, 0.01, 1.0, 7.0, 9.0, 300.0):
        one = Account(pure=Fraction(epsilon), delta=Fraction(1, 10**9))
        mu = Fraction(hn.PureDP(epsilon=epsilon).mu) ** 2
        for box, spent in itertools.product(BOXES, (Account(), TINY)):
            expected = Account(squares=mu, delta=one.delta)
            if isinstance(box.limit, hn.ConcentratedDP | hn.RenyiDP):
                expected = Account(squares=min(mu, Fraction(epsilon) ** 2), delta=one.delta)
            alone = not spent and isinstance(box.limit, hn.ApproxDP)
            if one.pure <= max(box.pure, Fraction(alone)) or isinstance(box.limit, hn.PureDP):
                expected = one
            assert box.price(one, spent) == expected
            assert replace(box, spent=spent).price(one) == expected
    half = Account(pure=Fraction(1, 8))
    assert BOXES[1].price(half, spent=half + TINY) == half
    assert not BOXES[1].price(half, spent=half + half + TINY).pure
    assert BOXES[1].price(half, spent=half * 7) == half
    assert not BOXES[1].price(half, spent=half * 8).pure
    endless = Account(pure=Fraction(10**400))
    for box in BOXES:  # an epsilon without a finite mu has no price, and is refused
        assert not box.fits(box.price(endless))
        assert box.room(Account(), endless) == 0


def test_pure_epsilon_alone_has_all_of_epsilon() -> None:
    """With the box's own delta; then there is no mu beside it, be it that of Laplace noise."""
    more, least = Fraction(1, 10**30), Account(squares=Fraction(1, 10**300))
    for box in BOXES[:4]:
        whole = Account(pure=Fraction(1), delta=box.delta)
        assert box.fits(whole)
        assert not box.fits(whole + Account(pure=more))
        assert not box.fits(whole + Account(delta=more))
        edge = Account(pure=box.pure)
        assert box.fits(edge + least)
        assert not box.fits(edge + least + Account(pure=more))
        for spent in (Account(pure=box.pure + more), Account(pure=Fraction(1))):
            if box.pure < spent.pure <= 1:
                assert box.room(spent, least) == box.room(spent, Account(pure=Fraction(2))) == 0
                assert replace(box, spent=spent).share(least) == BEYOND
    for limit in LIMITS[3:7]:
        assert not Allowance(limit=limit).fits(Account(pure=more))


def test_a_tenth_of_delta_is_for_discovering() -> None:
    """Where the first release, as often as it is to be made, leaves it, and discovers nothing."""
    tenth, most = Fraction("1e-7"), Fraction(APPROX.mu) ** 2
    for asked, times, own in [
        (Account(squares=most / 2), 1, tenth),
        (Account(squares=most / 2), 2, 0),  # all of delta is for mu
        (Account(pure=Fraction(1)), 1, tenth),
        (Account(pure=Fraction(1, 365)), 365, tenth),
        (Account(pure=Fraction(1, 2), squares=most / 9), 1, tenth),
        (Account(squares=most / 3, delta=Fraction("3e-8")), 2, Fraction("6e-8")),
        (Account(squares=most * 2), 1, 0),  # too much anyway
    ]:
        box = Allowance.around(APPROX, asked, times)
        assert (box.pure, box.delta) == (asked.pure * times, own)
        assert box.fits(asked * times) is (asked.squares <= most)
    for power in range(1, 15):  # as it is written
        limit = hn.ApproxDP(epsilon=1, delta=float(f"1e-{power}"))
        assert Allowance.around(limit, Account()).delta == Fraction(1, 10 ** (power + 1))


@pytest.mark.parametrize("alpha", [1.01, 2, 8, 64])
def test_epsilon_squared_is_enough_in_rho(alpha: float) -> None:
    """The divergence of randomised response of order alpha is at most alpha epsilon^2/2."""
    for epsilon in (0.01, 0.5, 2.0, 8.0, 9.0, 20.0):
        p = 1 / (1 + math.exp(-epsilon))
        # In logarithms of p^alpha (1-p)^(1-alpha) and the other way round, lest they overflow.
        one = math.log(p) + (alpha - 1) * epsilon
        other = math.log(p) - alpha * epsilon
        divergence = (one + math.log1p(math.exp(other - one))) / (alpha - 1)
        price = Allowance(limit=hn.ConcentratedDP(rho=1)).price(Account(pure=Fraction(epsilon)))
        assert divergence <= alpha * price.squares / 2


def test_a_limit_in_mu_has_no_pure_part() -> None:
    """Else Laplace noise would be free beside the whole of mu; a pure limit is pure already."""
    for limit in LIMITS[3:7]:
        with pytest.raises(hn.InvalidParameterError, match="pure must be left out"):
            Allowance(limit=limit, pure=Fraction(1))
        assert Allowance.around(limit, Account(pure=Fraction(1))) == Allowance(limit=limit)
    assert Allowance(limit=hn.PureDP(epsilon=0.3)).pure == Fraction(3, 10)


def test_which_part_of_a_limit_is_taken() -> None:
    """Where there is no box as yet, of each kind by what there may be of it alone."""
    pure, gaussian = Account(pure=Fraction(1, 4)), Account(squares=Fraction(APPROX.mu) ** 2 / 5)
    assert taken(APPROX, pure) == Fraction(1, 4)
    assert taken(APPROX, gaussian) == Fraction(1, 5)
    assert taken(APPROX, Account(delta=Fraction("1e-7")) + gaussian) == Fraction(1, 5)
    assert taken(BOXES[1], pure) == taken(BOXES[0], pure) == Fraction(1, 4)  # alone as yet
    assert taken(replace(BOXES[1], spent=TINY), pure) == 1
    assert taken(replace(BOXES[0], spent=TINY), pure) > 1
    assert taken(replace(BOXES[1], spent=pure), gaussian) == gaussian.part_of(BOXES[1].whole)
    assert taken(replace(BOXES[1], spent=pure * 2), gaussian) == BEYOND  # no place any more
    assert taken(replace(BOXES[1], spent=pure * 2), pure) == Fraction(1, 4)
    assert taken(hn.PureDP(epsilon=1), gaussian) == BEYOND
    assert taken(hn.GaussianDP(mu=1), Account(delta=Fraction("1e-30"))) == BEYOND
