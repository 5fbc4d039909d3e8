import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halfnoise as hn
from halfnoise.design.covariance import Covariance, Run, Shared
from support.quadratic import quadratic_form
from support.small_workloads import QUERIES, design_of, maker

EXAMPLE = Covariance(
    5,
    (Run(0, 2, 3.0), Run(3, 4, 0.5)),
    (
        Shared(2.0, (Run(0, 2, 0.5), Run(2, 3, -1.0), Run(4, 5, 1.0))),
        Shared(-1.0, (Run(0, 2, 1.0),)),
    ),
)
"""Two estimates with noise of their own, one with none, one apart, and the number of people."""


def by_hand() -> np.ndarray:
    """Return the same matrix, written out."""
    lean, projected = np.array([0.5, 0.5, -1, 0, 1]), np.array([1, 1, 0, 0, 0])
    own = np.diag([3, 3, 0, 0.5, 0])
    return np.asarray(own + 2 * np.outer(lean, lean) - np.outer(projected, projected))


def test_dense_is_the_diagonal_plus_the_shared_terms() -> None:
    """The full matrix is diag(variances) + sum of weight g g^T."""
    np.testing.assert_array_equal(EXAMPLE.dense(), by_hand())


def test_diagonal_and_variance() -> None:
    """The variances are the diagonal, all at once or one by one."""
    np.testing.assert_array_equal(EXAMPLE.diagonal(), np.diag(by_hand()))
    assert [EXAMPLE.variance(i) for i in range(5)] == list(np.diag(by_hand()))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.floats(-10, 10), min_size=5, max_size=5))
def test_products(x: list[float]) -> None:
    """Products with vectors and quadratic forms are those of the full matrix."""
    np.testing.assert_allclose(EXAMPLE @ x, by_hand() @ x, atol=1e-12)
    assert quadratic_form(EXAMPLE, x) == pytest.approx(np.array(x) @ by_hand() @ x, abs=1e-10)


def test_product_with_a_matrix_is_column_by_column() -> None:
    """Several vectors can be multiplied at once, as the columns of a matrix."""
    columns = np.arange(15.0).reshape(5, 3)
    np.testing.assert_allclose(EXAMPLE @ columns, by_hand() @ columns, atol=1e-12)


@pytest.mark.parametrize("queries", QUERIES)
@pytest.mark.parametrize("name", ["correlated-gaussian", "known-size-gaussian"])
def test_no_combination_of_estimates_has_negative_variance(queries: str, name: str) -> None:
    """Every design's covariance is positive semidefinite, projections included."""
    dense = design_of(maker(queries)(), name).covariance.dense()
    eigenvalues = np.linalg.eigvalsh(dense)
    assert eigenvalues.min() >= -1e-12 * eigenvalues.max()


def test_categories_add_up_to_the_people() -> None:
    """The estimates of one question's categories sum to that of the people, without error."""
    covariance = design_of(hn.Workload((hn.Choice("c", ("a", "b", "d")),))).covariance
    assert quadratic_form(covariance, [1, 1, 1, 1, -1]) == pytest.approx(0, abs=1e-12)
    assert quadratic_form(covariance, [1, 1, 1, 1, 0]) == pytest.approx(covariance.variance(4))


def test_shared_noise_cancels_in_differences() -> None:
    """The difference of two counts has the variance of their own noises alone."""
    design = design_of(hn.Workload((hn.Counts(16),)))
    (own,) = design.scales[0]  # type: ignore[attr-defined]
    weights = np.zeros(17)
    weights[:2] = 1, -1
    assert quadratic_form(design.covariance, weights) == pytest.approx(2 * own**2, rel=1e-12)


def test_a_large_covariance_is_never_built() -> None:
    """Ten million counts have a variance without a vector of that length."""
    design = design_of(hn.Workload((hn.Counts(10**7),)))
    covariance = design.covariance
    assert len(covariance.variances) + len(covariance.shared) == 2
    assert covariance.variance(10**7 - 1) == pytest.approx(design.query_std[0] ** 2, rel=1e-12)


SIZED = Covariance(
    5,
    (Run(0, 2, 3.0), Run(3, 4, 0.5)),
    (
        Shared(-1.5, (Run(0, 2, 1.0),)),
        Shared(2.0, (Run(0, 2, 0.5), Run(2, 3, -1.0), Run(4, 5, 1.0))),
    ),
)
"""Two projected estimates, one that leans on the people alone, one apart, and the people."""


def test_given_the_last_estimate() -> None:
    """Knowing the last estimate leaves the Schur complement, and a lean for each of the others."""
    rest, lean = SIZED.given_last()
    dense = SIZED.dense()
    np.testing.assert_allclose(lean, dense[:-1, -1] / dense[-1, -1])
    left = dense[:-1, :-1] - np.outer(dense[:-1, -1], lean)
    np.testing.assert_allclose(rest.dense(), left, atol=1e-12)
    assert rest.size == 4


def test_more_of_the_last_noise() -> None:
    """A last noise that varies more adds that much along its loadings, and nothing else."""
    lean = np.array([0.5, 0.5, -1, 0, 1])
    found = SIZED.with_last(more=0.75).dense()
    np.testing.assert_allclose(found, SIZED.dense() + 0.75 * np.outer(lean, lean))


@pytest.mark.parametrize("weights", [{0: 1.0}, {0: 2.0, 3: 1.0}, {0: 1.0, 1: 1.0}, {2: 1.0, 4: 1}])
def test_noises_add_up_to_the_variance(weights: dict[int, float]) -> None:
    """The independent noises of a sum are positive and make up its variance, as the matrix says."""
    w = np.zeros(5)
    w[list(weights)] = list(weights.values())
    expected = w @ SIZED.dense() @ w
    assert SIZED.of(weights) == pytest.approx(expected, abs=1e-12)
    noises = SIZED.noises(weights)
    assert all(variance > 0 for variance in noises)
    assert sum(noises) == pytest.approx(expected, abs=1e-12)


def test_which_estimates_are_alone() -> None:
    """Estimates with one noise of their own are alone; what a projection ties together is not."""
    assert SIZED.alone(last=True) == [(1, np.sqrt(0.5), 0.0)]
    plain = Covariance(4, (Run(0, 3, 4.0),), (Shared(9.0, (Run(0, 3, -0.5), Run(3, 4, 1.0))),))
    assert plain.alone(last=True) == [(3, 2.0, 1.5)]
    assert plain.alone(last=False) == []


def test_it_comes_back_from_plain_values() -> None:
    """Through JSON a covariance stays the same."""
    assert Covariance.from_dict(json.loads(json.dumps(SIZED.to_dict()))) == SIZED
