import dataclasses
import itertools
import math

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.centered import Centered
from support.brute_force import exact_cost
from support.corners import corners
from support.small_workloads import design_of

REPLACE = hn.Neighbors.REPLACE
OPTIMAL = "optimal-gaussian-without-size"
DIMENSIONS = [1, 2, 3, 5, 16]


def grouped(d: int, neighbors: hn.Neighbors = hn.Neighbors.ADD_REMOVE) -> hn.Workload:
    """Return d counts in each of three groups."""
    return hn.Workload((hn.Counts(d),), neighbors=neighbors, groups=("a", "b", "c"))


def variance(d: int, k: int, name: str) -> float:
    """Return the variance of each of d counts of which a person may have k, at mu = 1."""
    return design_of(hn.Workload((hn.Counts(d),), at_most=k), name).query_std[0] ** 2


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("mu", [0.5, 1.0])
def test_lem_standard_gaussian_with_buckets(d: int, mu: float) -> None:
    """In groups, standard noise has variance d/mu^2, or 2d/mu^2 where people are replaced."""
    for neighbors, factor in ((hn.Neighbors.ADD_REMOVE, 1), (REPLACE, 2)):
        workload = grouped(d, neighbors)
        design = design_of(workload, "standard-gaussian", hn.GaussianDP(mu=mu))
        assert design.query_std[0] ** 2 == pytest.approx(factor * d / mu**2, rel=1e-12)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_alg_correlated_gaussian_groups_added(d: int) -> None:
    """Where people are added each group gets the noise of one table, at the whole budget."""
    alone = design_of(hn.Workload((hn.Counts(d),))).covariance.dense()
    np.testing.assert_allclose(design_of(grouped(d)).covariance.dense(), alone, rtol=1e-13)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("mu", [0.5, 1.0])
def test_alg_correlated_gaussian_groups_replaced(d: int, mu: float) -> None:
    """Where people are replaced Var(z) is d/mu^2 and Var(eta) is 1/mu^2: (d+1)/mu^2 together."""
    design = design_of(grouped(d, REPLACE), privacy=hn.GaussianDP(mu=mu))
    assert isinstance(design, Centered)
    assert design.size_std is not None
    assert design.scales[0][0] ** 2 == pytest.approx(d / mu**2, rel=1e-12)
    assert (design.size_std / 2) ** 2 == pytest.approx(1 / mu**2, rel=1e-12)
    assert design.query_std[0] ** 2 == pytest.approx((d + 1) / mu**2, rel=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_alg_correlated_gaussian_groups_listing_versus_proof(d: int) -> None:
    """Var(eta) = 1/mu^2, as in the proof, is exactly tight; the listing's 4/mu^2 only wastes."""
    workload = grouped(d, REPLACE)
    design = design_of(workload)
    assert isinstance(design, Centered)
    assert design.size_scale is not None
    assert float(exact_cost(design, workload)) == pytest.approx(1, rel=1e-12)
    # Less noise on n breaks the promise, so 1/mu^2 is the least there is beside Var(z) = d/mu^2.
    less = dataclasses.replace(design, size_scale=design.size_scale * 0.999)
    assert exact_cost(less, workload) > 1
    # eta is half of n's noise. With the listing's the worst person still costs mu (who only changes
    # answers), so nothing is gained for three more units of variance on every count.
    listing = dataclasses.replace(design, size_scale=2 * design.size_scale)
    assert float(exact_cost(listing, workload)) == pytest.approx(1, rel=1e-12)
    assert listing.query_std[0] ** 2 == pytest.approx(design.query_std[0] ** 2 + 3, rel=1e-12)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_lem_correlated_noise_groups(d: int) -> None:
    """With C = sqrt(d) staying and leaving both move g by 2 sqrt(d), and the design is mu-GDP."""
    rows = [np.append(2 * np.array(x) - 1, math.sqrt(d)) for x in corners(grouped(d))]
    stay = max(np.linalg.norm(a - b) for a, b in itertools.product(rows, repeat=2))
    leave = max(np.linalg.norm(np.append(a, -b)) for a, b in itertools.product(rows, repeat=2))
    assert stay == pytest.approx(leave)
    assert stay == pytest.approx(2 * math.sqrt(d))
    for neighbors in hn.Neighbors:
        workload = grouped(d, neighbors)
        for mu in (0.5, 1.0):
            design = design_of(workload, privacy=hn.GaussianDP(mu=mu))
            assert float(exact_cost(design, workload)) == pytest.approx(mu**2, rel=1e-12)
            assert exact_cost(design, workload) <= mu**2
            assert design.loss() <= mu


@pytest.mark.parametrize("d", [2, 3, 5, 16])
def test_sec_extensions_better_under_both_relations(d: int) -> None:
    """In groups our noise is below the standard one under both relations."""
    for neighbors in hn.Neighbors:
        ours, standard = (
            design_of(grouped(d, neighbors), name).query_std[0]
            for name in ("correlated-gaussian", "standard-gaussian")
        )
        assert ours < standard


@pytest.mark.parametrize("d", [2, 4, 6, 10, 100, 1000])
def test_lem_jy24_variance(d: int) -> None:
    """For k = d/2 the variance is (d + 2 sqrt(d-1))/4, with n for free or without it."""
    for name in ("correlated-gaussian", OPTIMAL):
        expected = (d + 2 * math.sqrt(d - 1)) / 4
        assert variance(d, d // 2, name) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("d", [*range(1, 31), 101, 1000])
def test_lem_near_optimal_bound(d: int) -> None:
    """For k >= d/2 the paper's variance is at most sqrt(3)/2 < 0.87 above the optimum."""
    ours = design_of(hn.Workload((hn.Counts(d),))).query_std[0] ** 2
    ks = range(math.ceil(d / 2), d + 1) if d <= 30 else (math.ceil(d / 2), d)
    optima = [variance(d, k, OPTIMAL) for k in ks]
    assert optima == pytest.approx(sorted(optima), rel=1e-12)
    gap = ours - optima[0]
    assert -1e-12 * ours <= gap <= 2 * math.sqrt(3) / 4 < 0.87
    if d % 2 == 0:
        assert gap == pytest.approx((1 + 2 * math.sqrt(d) - 2 * math.sqrt(d - 1)) / 4, abs=1e-9)
        assert gap <= 0.46


def test_lem_near_optimal_bound_degenerate() -> None:
    """The bound is exact for d = 3 and k = 1: variance 1 against (4 + 2 sqrt(3))/4."""
    ours = variance(3, 3, "correlated-gaussian")
    assert variance(3, 1, OPTIMAL) == pytest.approx(1, rel=1e-12)
    assert ours == pytest.approx((4 + 2 * math.sqrt(3)) / 4, rel=1e-12)
    assert ours - variance(3, 1, OPTIMAL) == pytest.approx(2 * math.sqrt(3) / 4, rel=1e-12)


def test_lem_near_optimal_bound_one_count_is_optimal() -> None:
    """For d = 1 the paper's variance is the optimum."""
    assert variance(1, 1, "correlated-gaussian") == pytest.approx(variance(1, 1, OPTIMAL))


@pytest.mark.parametrize(
    ("d", "optimum", "paper"),
    [(2, 4 / 3, 1.457107), (3, 1.8, 1.866025), (4, 2.25, 2.25), (5, 18 / 7, 2.618034)],
)
def test_sec_bounded_density_open_problem(d: int, optimum: float, paper: float) -> None:
    """The value of OPT that the paper leaves open, for k = d."""
    assert variance(d, d, OPTIMAL) == pytest.approx(optimum, rel=1e-12)
    assert round(variance(d, d, "correlated-gaussian"), 6) == paper


def test_fig_count_sparse() -> None:
    """At d = 1000 elliptical noise gains with k: to 0.532 at d/2, and on to 0.266 at d."""
    d = 1000
    paper = (math.sqrt(d) + 1) ** 2 / 4
    relative = {}
    for k in (1, 10, 100, 250, 400, 500, 515, 516, 600, 800, 1000):
        ours, ball = variance(d, k, "correlated-gaussian"), variance(d, k, "standard-gaussian")
        assert ball == pytest.approx(k, rel=1e-12)
        relative[k] = ours / ball
        assert ours == pytest.approx(variance(d, k, OPTIMAL), rel=1e-6)
        if k <= d / 2:
            ellipse = (k + math.sqrt((d - 1) * k * (d - k))) ** 2 / d**2
            assert ours == pytest.approx(ellipse, rel=1e-10)
        if k > (d + math.sqrt(d)) / 2:
            assert ours == pytest.approx(paper, rel=1e-12)
    assert list(relative.values()) == sorted(relative.values(), reverse=True)
    assert relative[1] == pytest.approx(1, rel=1e-12)
    assert round(relative[500], 3) == 0.532
    assert round(relative[1000], 3) == 0.266


def test_sec_bounded_density_the_better_switch() -> None:
    """Between d/2 and (d + sqrt(d))/2 at most k has less error than the paper's mechanism."""
    d = 1000
    paper = (math.sqrt(d) + 1) ** 2 / 4
    assert variance(d, 505, "correlated-gaussian") < paper * (1 - 1e-4)
    assert variance(d, 516, "correlated-gaussian") == pytest.approx(paper, rel=1e-12)


@pytest.mark.parametrize("width", [0.5, 7.0])
def test_sec_related_scaled_input(width: float) -> None:
    """Values in [0, b] are the same task as in [0, 1], with all errors times b."""
    sums = hn.Workload(tuple(hn.Sum(f"x{i}", bounds=(0, width)) for i in range(5)))
    for std in design_of(sums).query_std:
        assert std == pytest.approx(width * (math.sqrt(5) + 1) / 2, rel=1e-12)


@pytest.mark.parametrize("d", [1, 4])
def test_sec_related_other_domain(d: int) -> None:
    """The domains {-1, 1} and {0, 1} are one task when people are replaced, not when added."""
    signs = tuple(hn.Sum(f"x{i}", bounds=(-1, 1)) for i in range(d))
    replaced = design_of(hn.Workload(signs, neighbors=REPLACE), "standard-gaussian")
    counts = design_of(hn.Workload((hn.Counts(d),), neighbors=REPLACE), "standard-gaussian")
    assert replaced.query_std[0] == pytest.approx(2 * counts.query_std[0], rel=1e-12)
    added = design_of(hn.Workload(signs)).query_std[0]
    assert added == pytest.approx(math.sqrt(d), rel=1e-12)
    assert added < 2 * design_of(hn.Workload((hn.Counts(d),))).query_std[0]


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_sec_related_privacy_loss(mu: float) -> None:
    """For the worst person the privacy loss is N(mu^2/2, mu^2): all corners, as all are as far."""
    workload = hn.Workload((hn.Counts(4),))
    design = design_of(workload, privacy=hn.GaussianDP(mu=mu))
    inverse = np.linalg.inv(design.covariance.dense())
    for corner in corners(workload):
        x = np.append(corner, 1)
        # The loss is x^T S^-1 Z + x^T S^-1 x / 2 for noise Z of covariance S.
        assert x @ inverse @ x == pytest.approx(mu**2, rel=1e-11)


def test_sec_related_one_dimension() -> None:
    """For one query our error is that of the standard mechanism, and n comes on top."""
    design = design_of(hn.Workload((hn.Sum("x", bounds=(0, 1)),)))
    assert design.query_std[0] == pytest.approx(1, rel=1e-12)
    assert design.size_std == pytest.approx(math.sqrt(2), rel=1e-12)


@pytest.mark.parametrize("d", [3, 10, 100])
def test_sec_conclusion_laplace(d: int) -> None:
    """The technique carries over to Laplace noise and pure differential privacy."""
    workload, privacy = hn.Workload((hn.Counts(d),)), hn.PureDP(epsilon=1)
    ours = design_of(workload, "correlated-laplace", privacy)
    assert ours.query_std[0] < design_of(workload, "standard-laplace", privacy).query_std[0]
    assert 1 - 1e-12 <= ours.loss() <= 1
