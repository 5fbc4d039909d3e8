import math

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.centered import Centered
from support.brute_force import Matrix, exact_cost
from support.corners import corners
from support.small_workloads import design_of

DIMENSIONS = [1, 2, 3, 4, 9, 16, 50]
MUS = [0.2, 1.0, 3.0]


def release(d: int, mu: float = 1.0, *, dial: float | None = None) -> Centered:
    """Return the correlated design for d counts."""
    workload = hn.Workload((hn.Counts(d),), size_dial=dial)
    design = design_of(workload, privacy=hn.GaussianDP(mu=mu))
    assert isinstance(design, Centered)
    return design


def injection(d: int, dial: float) -> Matrix:
    """Return the map from the queries and n to g: 2 f - n, and C n."""
    return np.block([[2 * np.eye(d), -np.ones((d, 1))], [np.zeros((1, d)), np.array([[dial]])]])


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("mu", MUS)
def test_alg_correlated_gaussian(d: int, mu: float) -> None:
    """The design is the listing: eta on all counts and twice on n, and z on each."""
    eta, z = (math.sqrt(d) + 1) / (4 * mu**2), (d + math.sqrt(d)) / (4 * mu**2)
    adds = np.hstack([np.vstack([np.eye(d), np.zeros(d)]), np.append(np.ones(d), 2)[:, None]])
    listing = adds @ np.diag([*[z] * d, eta]) @ adds.T
    np.testing.assert_allclose(release(d, mu).covariance.dense(), listing, rtol=1e-12)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("mu", MUS)
def test_lem_alg1_error(d: int, mu: float) -> None:
    """Each count has variance (d + 2 sqrt(d) + 1)/(4 mu^2), not (4 mu) as the text once says."""
    variance = (d + 2 * math.sqrt(d) + 1) / (4 * mu**2)
    assert release(d, mu).query_std[0] == pytest.approx(math.sqrt(variance), rel=1e-12)
    assert release(d, mu).covariance.variance(0) == pytest.approx(variance, rel=1e-12)


@pytest.mark.parametrize("d", [1, 3, 6])
@pytest.mark.parametrize("stretch", [1.0, 1.5, 4.0])
def test_lem_l2sens_in_injection(d: int, stretch: float) -> None:
    """In the space of g all noises are equal, to the sensitivity sqrt(d + C^2) over mu."""
    dial = stretch * d**0.25
    design = release(d, dial=dial)
    assert design.size_scale is not None
    people = np.array([(*corner, 1) for corner in corners(hn.Workload((hn.Counts(d),)))])
    sensitivity = np.linalg.norm(people @ injection(d, dial).T, axis=1).max()
    assert sensitivity == pytest.approx(math.sqrt(d + dial**2), rel=1e-14)
    assert 2 * design.scales[0][0] == pytest.approx(sensitivity, rel=1e-12)
    assert dial * design.size_scale == pytest.approx(sensitivity, rel=1e-12)


@pytest.mark.parametrize("d", [1, 3, 6])
@pytest.mark.parametrize("stretch", [1.0, 1.5, 4.0])
@pytest.mark.parametrize("mu", MUS)
def test_lem_release_of_injection(d: int, stretch: float, mu: float) -> None:
    """For every C the design is the standard mechanism on g and exactly mu-GDP."""
    dial = stretch * d**0.25
    design, to_g = release(d, mu, dial=dial), injection(d, dial)
    noise = to_g @ design.covariance.dense() @ to_g.T
    flat = (d + dial**2) / mu**2
    np.testing.assert_allclose(noise, flat * np.eye(d + 1), rtol=1e-11, atol=1e-11 * flat)
    assert mu * (1 - 1e-12) <= design.loss() <= mu


@pytest.mark.parametrize("d", [1, 2, 5, 16])
@pytest.mark.parametrize("mu", MUS)
def test_lem_equivalent_under_post_processing(d: int, mu: float) -> None:
    """The map to g can be undone, and takes each of the two covariances to the other."""
    to_g = injection(d, d**0.25)
    back = np.linalg.inv(to_g)
    flat = (d + math.sqrt(d)) / mu**2 * np.eye(d + 1)
    ours = release(d, mu).covariance.dense()
    np.testing.assert_allclose(to_g @ ours @ to_g.T, flat, rtol=1e-11, atol=1e-11 * flat.max())
    np.testing.assert_allclose(back @ flat @ back.T, ours, rtol=1e-11)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("mu", MUS)
def test_thm_main_theorem(d: int, mu: float) -> None:
    """The mechanism is mu-GDP, exactly, with standard error (sqrt(d) + 1)/(2 mu) on each count."""
    design, workload = release(d, mu), hn.Workload((hn.Counts(d),))
    assert design.query_std[0] == pytest.approx((math.sqrt(d) + 1) / (2 * mu), rel=1e-12)
    assert mu**2 * (1 - 1e-11) < float(exact_cost(design, workload)) <= mu**2
    assert design.name in {d.name for d in hn.plan(workload, privacy=hn.GaussianDP(mu=mu)).designs}


@pytest.mark.parametrize("d", DIMENSIONS)
def test_thm_main_theorem_simplified(d: int) -> None:
    """Shared and own noise are (sqrt(d)+1)/4 and (d+sqrt(d))/4; the privacy is that of d."""
    design = release(d)
    standard = design_of(hn.Workload((hn.Counts(d),)), "standard-gaussian")
    assert design.size_std is not None
    assert design.size_std**2 / 4 == pytest.approx((math.sqrt(d) + 1) / 4, rel=1e-12)
    assert design.scales[0][0] ** 2 == pytest.approx((d + math.sqrt(d)) / 4, rel=1e-12)
    assert standard.query_std[0] ** 2 == pytest.approx(d, rel=1e-12)
    assert standard.loss() == pytest.approx(design.loss(), rel=1e-12)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("mu", MUS)
def test_cor_covariance_matrix(d: int, mu: float) -> None:
    """The covariance has the four values that the corollary prints, where it prints them."""
    root = math.sqrt(d)
    printed = np.full((d + 1, d + 1), (root + 1) / 4)
    np.fill_diagonal(printed, (d + 2 * root + 1) / 4)
    printed[:, -1] = printed[-1, :] = (root + 1) / 2
    printed[-1, -1] = root + 1
    np.testing.assert_allclose(release(d, mu).covariance.dense(), printed / mu**2, rtol=1e-12)


def test_fig_geometric_intuition() -> None:
    """For d = 2 the radii are sqrt(2) and sqrt(2)/2, and the ellipse leaves a small gap."""
    workload = hn.Workload((hn.Counts(2),))
    standard = design_of(workload, "standard-gaussian")
    known = design_of(workload, "known-size-gaussian")
    assert standard.query_std[0] == pytest.approx(math.sqrt(2), rel=1e-14)
    assert known.query_std[0] == pytest.approx(math.sqrt(2) / 2, rel=1e-14)
    ellipse = np.linalg.inv(release(2).covariance.dense()[:2, :2])
    costs = sorted(np.array(x) @ ellipse @ np.array(x) for x in corners(workload))
    assert 0.97 < costs[-1] < 0.98
    assert costs[0] == 0


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_fig_geometric_intuition_touching_corners(d: int) -> None:
    """All 2^d changes of all answers touch the sphere of sqrt(d); of people added, one each way."""
    ends = np.array(list(corners(hn.Workload((hn.Counts(d),)))))
    radius = design_of(hn.Workload((hn.Counts(d),)), "standard-gaussian").query_std[0]
    changes = {tuple(a - b) for a in ends for b in ends}
    touching = [x for x in changes if np.linalg.norm(x) == pytest.approx(radius)]
    added = [x for x in ends if np.linalg.norm(x) == pytest.approx(radius)]
    assert len(touching) == 2**d
    assert 2 * len(added) == 2


@pytest.mark.parametrize("d", [2, 3, 10, 1000])
def test_sec_algo_note_for_practitioners(d: int) -> None:
    """A rational C next to d^(1/4) costs next to nothing: 2 digits after the point are plenty."""
    rational = math.ceil(100 * d**0.25) / 100
    best = release(d).query_std[0]
    assert best <= release(d, dial=rational).query_std[0] < best * (1 + 1e-4)
