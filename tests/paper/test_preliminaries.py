import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import halfnoise as hn
from halfnoise.privacy.definitions import Privacy
from support.brute_force import covariance_cost, exact_cost
from support.corners import corners
from support.small_workloads import design_of, maker

REPLACE = hn.Neighbors.REPLACE
DIMENSIONS = [1, 2, 3, 4, 7]
STANDARD = "standard-gaussian"


def counts(d: int, **options: object) -> hn.Workload:
    """Return d yes/no questions."""
    return hn.Workload((hn.Counts(d),), **options)  # type: ignore[arg-type]


def trade_off(mu: float, alpha: np.ndarray) -> np.ndarray:
    """Return the least type II error of telling N(0, 1) from N(mu, 1) at type I error alpha."""
    return np.asarray(norm.cdf(norm.ppf(1 - alpha) - mu))


def test_sec_intro_clipped_norm_doubles_under_replacement() -> None:
    """Values clipped to [-C, C] have sensitivity C when added and 2C when replaced."""
    query = hn.Sum("x", bounds=(-3, 3))
    added = design_of(hn.Workload((query,)), STANDARD)
    replaced = design_of(hn.Workload((query,), neighbors=REPLACE), STANDARD)
    assert added.query_std[0] == pytest.approx(3, rel=1e-14)
    assert replaced.query_std[0] == pytest.approx(6, rel=1e-14)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_sec_intro_counts_cost_the_same_under_both_relations(d: int) -> None:
    """For d counts the sensitivity is sqrt(d) under either relation."""
    for workload in (counts(d), counts(d, neighbors=REPLACE)):
        assert design_of(workload, STANDARD).query_std[0] == pytest.approx(math.sqrt(d))


@pytest.mark.parametrize("d", DIMENSIONS)
def test_sec_intro_no_less_than_half_of_replacement(d: int) -> None:
    """No design for adding a person has less than half the noise that replacing one asks for."""
    floor = design_of(counts(d, neighbors=REPLACE), STANDARD).query_std[0] / 2
    for design in hn.plan(counts(d), privacy=hn.GaussianDP(mu=1)).designs:
        assert design.query_std[0] > floor


def test_def_neighboring_datasets() -> None:
    """Neighbours differ by one corner when added, by two corners when replaced."""
    added, replaced = counts(3), counts(3, neighbors=REPLACE)
    assert set(corners(added)) == set(itertools.product((0.0, 1.0), repeat=3))
    design = design_of(added, STANDARD)
    assert exact_cost(design, added) == exact_cost(design, replaced)
    shifted = hn.Workload((hn.Sum("x", bounds=(5, 6)),))
    design = design_of(shifted, STANDARD)
    moved = hn.Workload((hn.Sum("x", bounds=(5, 6)),), neighbors=REPLACE)
    assert float(exact_cost(design, shifted)) == pytest.approx(
        36 * float(exact_cost(design, moved))
    )


@pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
def test_def_gdp(mu: float) -> None:
    """The deltas of mu are those of the trade-off curve between N(0, 1) and N(mu, 1)."""
    alpha = norm.cdf(np.linspace(-9, 9, 200_001))
    type_two = trade_off(mu, alpha)
    for epsilon in (0.0, 0.5, 2.0):
        advantage = (1 - type_two - math.exp(epsilon) * alpha).max()
        assert hn.GaussianDP(mu=mu).delta(epsilon) == pytest.approx(advantage, rel=1e-6)


@pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
def test_def_trade_off_function(mu: float) -> None:
    """The best guess errs as often as the trade-off curve allows where both errors are equal."""
    equal = brentq(lambda alpha: trade_off(mu, np.array(alpha)) - alpha, 1e-9, 0.5, xtol=1e-15)
    assert hn.GaussianDP(mu=mu).best_guess == pytest.approx(1 - equal, rel=1e-9)


def analytic_sigma(epsilon: float, delta: float) -> float:
    """Return the least sigma for (epsilon, delta) at sensitivity 1, in plain floats."""

    def excess(sigma: float) -> float:
        low, high = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
        return float(norm.cdf(low) - math.exp(epsilon) * norm.cdf(high) - delta)

    return float(brentq(excess, 1e-2, 1e3, xtol=1e-15, rtol=1e-14))


@pytest.mark.parametrize(
    ("privacy", "sigma"),
    [
        (hn.ApproxDP(epsilon=1, delta=1e-6), analytic_sigma(1, 1e-6)),
        (hn.ApproxDP(epsilon=0.1, delta=1e-3), analytic_sigma(0.1, 1e-3)),
        (hn.RenyiDP(alpha=8, epsilon=0.5), math.sqrt(8 / (2 * 0.5))),
        (hn.ConcentratedDP(rho=0.02), math.sqrt(1 / (2 * 0.02))),
    ],
)
@pytest.mark.parametrize("queries", ["five counts", "mixture", "counts at most 2 of 5"])
def test_remark_other_definitions(privacy: Privacy, sigma: float, queries: str) -> None:
    """Under other definitions every design is that of mu = 1 with sigma^2 in the place of 1."""
    workload = maker(queries)()
    for name in (STANDARD, "correlated-gaussian", "known-size-gaussian"):
        ours = design_of(workload, name, privacy).covariance.dense()
        plain = design_of(workload, name).covariance.dense()
        np.testing.assert_allclose(ours, sigma**2 * plain, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("mu", [0.25, 2.0])
def test_def_l2_sens(d: int, mu: float) -> None:
    """The standard noise is the largest norm of what a person adds, over mu."""
    workload = hn.Workload(tuple(hn.Sum(f"x{i}", bounds=(-2, 1)) for i in range(d)))
    sensitivity = max(np.linalg.norm(corner) for corner in corners(workload))
    design = design_of(workload, STANDARD, hn.GaussianDP(mu=mu))
    for std in design.query_std:
        assert std == pytest.approx(sensitivity / mu, rel=1e-14)


def test_def_sensitivity_space() -> None:
    """What a person may add is K, and the noise of every design covers all of it."""
    workload = hn.Workload((hn.Counts(2), hn.Sum("x", bounds=(-1, 3))))
    space = {(a, b, x) for a in (0, 1) for b in (0, 1) for x in (-1, 3)}
    assert set(corners(workload)) == space
    for design in hn.plan(workload, privacy=hn.GaussianDP(mu=1)).designs:
        assert covariance_cost(design, workload) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_lem_gaussian_mech_gdp(d: int, mu: float) -> None:
    """Independent noise of variance (sensitivity/mu)^2 on each query is exactly mu-GDP."""
    design = design_of(counts(d), STANDARD, hn.GaussianDP(mu=mu))
    np.testing.assert_allclose(design.covariance.dense(), d / mu**2 * np.eye(d), rtol=1e-14)
    assert design.loss() == pytest.approx(mu, rel=1e-14)
    assert design.loss() <= mu


@pytest.mark.parametrize("queries", ["five counts", "mixture", "two means"])
def test_lem_post_processing(queries: str) -> None:
    """Whatever is computed from a release, no person costs more in it than in the release."""
    workload = maker(queries)()
    cov = design_of(workload).covariance.dense()
    people = np.array([(*corner, 1.0) for corner in corners(workload)])
    rng = np.random.default_rng(3)
    for rows in (1, 2, len(cov) - 1):
        release = rng.normal(size=(rows, len(cov)))
        seen = people @ release.T
        inverse = np.linalg.inv(release @ cov @ release.T)
        cost = np.einsum("ij,jk,ik->i", seen, inverse, seen).max()
        assert cost < 1 + 1e-10
        assert cost < 0.999 or rows > 2
