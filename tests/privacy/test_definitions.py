import math
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import halfnoise as hn
from halfnoise.privacy.definitions import DiscoveryDP, Privacy
from support.high_precision import BITS, below, chance_at_odds, delta, lower_tail


def design_std(privacy: Privacy, name: str) -> float:
    """Return the standard error of each of a hundred counts."""
    designs = hn.plan(hn.Workload((hn.Counts(100),)), privacy=privacy).designs
    (design,) = (design for design in designs if design.name == name)
    return design.query_std[0]


def test_mu_at_one_and_a_millionth() -> None:
    """The mu of (1, 1e-6) is 0.236704380663..."""
    assert f"{hn.ApproxDP(epsilon=1, delta=1e-6).mu:.14f}".startswith("0.236704380663")


@pytest.mark.parametrize(
    ("privacy", "correlated", "standard", "digits"),
    [
        (hn.ApproxDP(epsilon=1, delta=1e-6), 23.2357339, 42.2467889, 7),
        (hn.GaussianDP(mu=1), 5.5, 10, 14),
    ],
)
def test_errors_of_a_hundred_counts(
    privacy: Privacy, correlated: float, standard: float, digits: int
) -> None:
    """A hundred counts have these standard errors, to the last digit given."""
    assert round(design_std(privacy, "correlated-gaussian"), digits) == correlated
    assert round(design_std(privacy, "standard-gaussian"), digits) == standard


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 10.0, 200.0])
@pytest.mark.parametrize("d", [1e-300, 1e-9, 1e-6, 0.5])
def test_approx_round_trip(epsilon: float, d: float) -> None:
    """Going to mu and back never promises more than was asked, and loses next to nothing."""
    private = hn.GaussianDP(mu=hn.ApproxDP(epsilon=epsilon, delta=d).mu)
    assert private.delta(epsilon) <= d
    assert private.delta(epsilon) == pytest.approx(d, rel=1e-10)
    assert private.epsilon(d) <= epsilon
    # At a tiny epsilon delta alone does the work, so epsilon is lost in mu's last digit.
    assert private.epsilon(d) == pytest.approx(epsilon, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("rho", [1e-9, 0.1, 0.5, 2 / 3, 8.0])
def test_concentrated_is_half_the_square(rho: float) -> None:
    """The mu of rho is the largest float64 with mu^2/2 <= rho, as it is stored and as written."""
    mu = hn.ConcentratedDP(rho=rho).mu
    readings = (Fraction(rho), Fraction(repr(rho)))
    assert Fraction(mu) ** 2 / 2 <= min(readings)
    assert Fraction(math.nextafter(mu, math.inf)) ** 2 / 2 > min(readings)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.floats(1.001, 1000), st.floats(1e-6, 100))
def test_renyi_is_linear_in_its_order(alpha: float, epsilon: float) -> None:
    """The mu of (alpha, epsilon) is the largest with alpha mu^2/2 <= epsilon, as written."""
    mu = hn.RenyiDP(alpha=alpha, epsilon=epsilon).mu
    order = max(Fraction(alpha), Fraction(repr(alpha)))
    bound = min(Fraction(epsilon), Fraction(repr(epsilon)))
    assert order * Fraction(mu) ** 2 / 2 <= bound
    assert order * Fraction(math.nextafter(mu, math.inf)) ** 2 / 2 > bound


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0, 40.0])
def test_pure_implies_its_mu_and_no_smaller(epsilon: float) -> None:
    """Randomised response, the worst of pure epsilon, is as well told apart as its mu says."""
    mu = hn.PureDP(epsilon=epsilon).mu
    # Randomised response has (e, d) for all e <= epsilon with d = (e^epsilon - e^e)/(1+e^epsilon).
    for e in (0.0, epsilon / 3, epsilon * 0.9):
        response = (1 - math.exp(e - epsilon)) / (1 + math.exp(-epsilon))
        assert not below(delta(mu, e), response * (1 - 1e-9))
    # Where the errors of the two kinds are equal the two curves touch: there it cannot be less.
    with ctx.workprec(BITS):
        equal_errors = 1 / (1 + math.exp(epsilon))
        assert float(lower_tail(mu / 2)) == pytest.approx(equal_errors, rel=1e-12)


def test_pure_at_one_costs_27_times_the_gaussian() -> None:
    """At epsilon 1, mu^2 is 1.518, 27 times that of (1, 1e-6)."""
    pure, approx = hn.PureDP(epsilon=1).mu ** 2, hn.ApproxDP(epsilon=1, delta=1e-6).mu ** 2
    assert round(pure, 3) == 1.518
    assert round(pure / approx) == 27


@pytest.mark.parametrize(
    "privacy",
    [
        hn.GaussianDP(mu=0.7),
        hn.ApproxDP(epsilon=1, delta=1e-6),
        hn.ConcentratedDP(rho=0.3),
        hn.RenyiDP(alpha=3, epsilon=1),
        hn.PureDP(epsilon=2),
    ],
)
def test_best_guess_is_phi_of_half_mu(privacy: Privacy) -> None:
    """The odds are Phi(mu/2), rounded up to the next float64."""
    guess = privacy.best_guess
    with ctx.workprec(BITS):
        exact = 1 - lower_tail(privacy.mu / 2)
        assert below(exact, guess)
        assert not below(exact, math.nextafter(guess, 0))


def test_best_guess_in_words() -> None:
    """Epsilon 1 at delta 1e-6 is 54.7 %, pure epsilon 1 is e/(1+e)."""
    assert f"{hn.ApproxDP(epsilon=1, delta=1e-6).best_guess:.1%}" == "54.7%"
    assert hn.PureDP(epsilon=1).best_guess == pytest.approx(math.e / (1 + math.e), rel=1e-14)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.floats(1e-150, 1e150), min_size=1, max_size=6))
def test_compose_adds_squares_exactly(mus: list[float]) -> None:
    """The mu of several releases is the first float64 whose square covers the exact sum."""
    total = hn.compose(*(hn.GaussianDP(mu=mu) for mu in mus)).mu
    exact = sum(Fraction(mu) ** 2 for mu in mus)
    assert Fraction(math.nextafter(total, 0)) ** 2 < exact <= Fraction(total) ** 2


@pytest.mark.parametrize("releases", [1, 2, 3, 7, 1000])
def test_equal_shares_compose_to_the_whole(releases: int) -> None:
    """Equal shares of a budget stay within it together, and nearly use it up."""
    mu = hn.ApproxDP(epsilon=1, delta=1e-6).mu
    share = hn.ApproxDP(epsilon=1, delta=1e-6).budget(releases)
    assert share.mu is not None
    assert share.epsilon is not None
    assert Fraction(share.mu) ** 2 * releases <= Fraction(mu) ** 2
    assert share.mu * math.sqrt(releases) == pytest.approx(mu, rel=1e-15)
    assert Fraction(share.epsilon) * releases <= 1
    assert share.epsilon * releases == pytest.approx(1, rel=1e-15)


def test_gaussian_definitions_pay_for_no_laplace_noise() -> None:
    """Budgets in mu, rho or Renyi epsilon buy Gaussian noise; a pure one buys Laplace noise."""
    for privacy in (hn.GaussianDP(mu=1), hn.ConcentratedDP(rho=1), hn.RenyiDP(alpha=2, epsilon=1)):
        assert privacy.budget().epsilon is None
    assert hn.PureDP(epsilon=1).budget().mu is None


GAUSSIAN = DiscoveryDP(kept=hn.GaussianDP(mu=0.7), delta=1e-7)
PURE = DiscoveryDP(kept=hn.PureDP(epsilon=0.8), delta=1e-7)


def test_discovering_adds_its_delta() -> None:
    """At each epsilon delta is that of what is kept and that of discovering, rounded up once."""
    for epsilon in (0.0, 0.1, 1.0, 5.0, 50.0):
        total = GAUSSIAN.delta_at(epsilon)
        with ctx.workprec(BITS):
            exact = delta(0.7, epsilon) + arb(1e-7)
        assert below(exact, total)
        assert not below(exact, math.nextafter(total, 0))


def test_discovering_leaves_less_delta() -> None:
    """Epsilon holds with what discovering leaves of delta, and no smaller one does."""
    # Of some of these what is left would round up to a float64 that holds a smaller epsilon.
    for d in (math.nextafter(1e-7, 1), 2e-7, 1e-6, 3e-6, 3.5e-6, 6.1e-6, 6.3e-6, 0.01):
        epsilon = GAUSSIAN.epsilon(d)
        with ctx.workprec(BITS):
            total = delta(0.7, epsilon) + arb(1e-7)
            smaller = delta(0.7, math.nextafter(epsilon, 0)) + arb(1e-7)
        assert below(total, d)
        assert not below(smaller, math.nextafter(d, 0))
    assert PURE.epsilon(1e-7) == PURE.epsilon(0.5) == 0.8


@pytest.mark.parametrize(("promise", "d"), [(GAUSSIAN, 1e-7), (GAUSSIAN, 1e-9), (PURE, 0.99e-7)])
def test_discovering_needs_its_delta(promise: DiscoveryDP, d: float) -> None:
    """No epsilon holds with a delta that discovering uses up."""
    with pytest.raises(hn.InvalidParameterError, match="more than discovering groups costs"):
        promise.epsilon(d)


def test_discovering_beside_pure_epsilon() -> None:
    """Beyond its epsilon only discovering costs delta; below it, randomised response does too."""
    assert PURE.delta_at(0.8) == PURE.delta_at(3.0) == 1e-7
    for epsilon in (0.0, 0.3, 0.79):
        with ctx.workprec(BITS):
            kept = (arb(0.8).exp() - arb(epsilon).exp()) * chance_at_odds(0.8)
            exact = kept + arb(1e-7)
        assert below(exact, PURE.delta_at(epsilon))
        assert not below(exact, math.nextafter(PURE.delta_at(epsilon), 0))


def test_discovering_helps_a_guesser_by_half_its_delta() -> None:
    """The best guess is right more often by at most half the delta of discovering."""
    for promise in (GAUSSIAN, PURE):
        least = Fraction(promise.kept.best_guess) + Fraction(promise.delta) / 2
        assert Fraction(math.nextafter(promise.best_guess, 0)) < least <= promise.best_guess
    assert DiscoveryDP(kept=hn.GaussianDP(mu=50), delta=0.5).best_guess == 1


@pytest.mark.parametrize("d", [0, 1, -1e-7, math.nan])
def test_the_delta_of_discovering_is_a_fraction(d: float) -> None:
    """Discovering without a delta, or with one of 1, is refused."""
    with pytest.raises(hn.InvalidParameterError, match="delta must be"):
        DiscoveryDP(kept=hn.GaussianDP(mu=1), delta=d)


def test_there_is_no_mu_of_discovering() -> None:
    """No mu holds where groups are discovered, so none can be read."""
    assert not hasattr(GAUSSIAN, "mu")
