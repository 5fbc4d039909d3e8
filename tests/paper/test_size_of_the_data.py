import math

import numpy as np
import pytest

import halfnoise as hn
from support.small_workloads import design_of

D = 10_000


def release(d: int, dial: float | None, mu: float = 1.0) -> hn.Plan:
    """Return the plan for d counts with the dial C."""
    workload = hn.Workload((hn.Counts(d),), size_dial=dial)
    return hn.plan(workload, privacy=hn.GaussianDP(mu=mu), known_size=True)


def variances(d: int, dial: float | None, mu: float = 1.0) -> tuple[float, float]:
    """Return the variances of a count and of the number of people."""
    workload = hn.Workload((hn.Counts(d),), size_dial=dial)
    design = design_of(workload, privacy=hn.GaussianDP(mu=mu))
    assert design.size_std is not None
    return design.query_std[0] ** 2, design.size_std**2


@pytest.mark.parametrize("d", [2, 9, 100, D])
@pytest.mark.parametrize("stretch", [1.0, 1.1, 2.0, 7.0])
@pytest.mark.parametrize("mu", [0.5, 1.0])
def test_lem_error_function_of_c(d: int, stretch: float, mu: float) -> None:
    """The variance of a count is (d + C^2 + d/C^2 + 1)/(4 mu^2), that of n (d/C^2 + 1)/mu^2."""
    c = stretch * d**0.25
    count, size = variances(d, c, mu)
    assert count == pytest.approx((d + c**2 + d / c**2 + 1) / (4 * mu**2), rel=1e-11)
    assert size == pytest.approx((d / c**2 + 1) / mu**2, rel=1e-11)


@pytest.mark.parametrize("d", [2, 16, D])
def test_lem_error_function_of_c_is_least_at_the_fourth_root(d: int) -> None:
    """The default is C = d^(1/4); a larger C improves n and costs the counts."""
    dials = [None, d**0.25, 1.05 * d**0.25, 1.5 * d**0.25, 2.5 * d**0.25]
    errors = [variances(d, dial) for dial in dials]
    np.testing.assert_allclose(errors[0], errors[1], rtol=1e-11)
    counts, sizes = zip(*errors[1:], strict=True)
    assert list(counts) == sorted(counts)
    assert list(sizes) == sorted(sizes, reverse=True)


@pytest.mark.parametrize("d", [2, 16, D])
def test_sec_reduced_correlated_noise_smaller_c_is_refused(d: int) -> None:
    """A C below d^(1/4) would make both estimates worse, so it is refused."""
    with pytest.raises(hn.InvalidParameterError, match="makes both"):
        hn.Workload((hn.Counts(d),), size_dial=0.99 * d**0.25)


def test_sec_reduced_correlated_noise_numbers() -> None:
    """At d = 10000: C = 10 is the best; C = 100 gives A = 2 and 5000.5, against 10000."""
    count, size = variances(D, 100)
    assert size == pytest.approx(2, rel=1e-12)
    assert count == pytest.approx(5000.5, rel=1e-12)
    assert count == pytest.approx((D + 1) / 2, rel=1e-12)
    assert variances(D, 10)[0] == pytest.approx(variances(D, None)[0], rel=1e-12)
    standard = design_of(hn.Workload((hn.Counts(D),)), "standard-gaussian")
    assert standard.query_std[0] ** 2 == pytest.approx(D, rel=1e-12)


@pytest.mark.parametrize("c", [10, 12.5, 20, 50, 100])
def test_fig_covariance_d_10000(c: float) -> None:
    """The four entries are (A+B)/4, A/4, A/2 and A with A = 10^4/C^2 + 1, B = 10^4 + C^2."""
    a, b = 1e4 / c**2 + 1, 1e4 + c**2
    covariance = design_of(hn.Workload((hn.Counts(D),), size_dial=c)).covariance
    assert covariance.variance(0) == pytest.approx((a + b) / 4, rel=1e-12)
    assert covariance.variance(D) == pytest.approx(a, rel=1e-12)
    column = covariance @ np.eye(D + 1, 1)
    np.testing.assert_allclose(column[1:D, 0], a / 4, rtol=1e-12)
    assert column[D, 0] == pytest.approx(a / 2, rel=1e-12)


@pytest.mark.parametrize("d", [3, 16])
@pytest.mark.parametrize("stretch", [1.0, 2.0])
def test_sec_reduced_correlated_noise_differences(d: int, stretch: float) -> None:
    """The estimates of f - n/2 are independent of n's, with C times the noise of n/2."""
    c = stretch * d**0.25
    covariance = design_of(hn.Workload((hn.Counts(d),), size_dial=c)).covariance.dense()
    minus_half = np.eye(d + 1)
    minus_half[:-1, -1] = -0.5
    minus_half[-1, -1] = 0.5
    noise = minus_half @ covariance @ minus_half.T
    own, half = noise[0, 0], noise[-1, -1]
    np.testing.assert_allclose(noise, np.diag([*[own] * d, half]), atol=1e-11 * own)
    assert math.sqrt(own / half) == pytest.approx(c, rel=1e-11)


@pytest.mark.parametrize("d", [1, 2, 10, 100])
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_lem_already_have_estimate(d: int, mu: float) -> None:
    """With n known, independent noise of variance d/(4 mu^2) is mu-GDP, exactly."""
    design = design_of(hn.Workload((hn.Counts(d),)), "known-size-gaussian", hn.GaussianDP(mu=mu))
    expected = d / (4 * mu**2) * np.eye(d)
    np.testing.assert_allclose(design.covariance.dense(), expected, rtol=1e-12)
    assert mu * (1 - 1e-12) <= design.loss() <= mu
    assert design.size_std is None


@pytest.mark.parametrize("d", [1, 2, 10, 100])
def test_sec_intro_known_size(d: int) -> None:
    """An estimate of n reduces the noise from (sqrt(d) + 1)/2 to sqrt(d)/2."""
    ours = {design.name: design.query_std[0] for design in release(d, None).designs}
    assert ours["correlated-gaussian"] == pytest.approx((math.sqrt(d) + 1) / 2, rel=1e-12)
    assert ours["known-size-gaussian"] == pytest.approx(math.sqrt(d) / 2, rel=1e-12)
