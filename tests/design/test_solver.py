import math

import pytest

import halfnoise as hn
from halfnoise.workload.queries import Query
from support.convex import (
    cp,
    error_of,
    least_error_at_known_size,
    least_error_in_groups,
    least_error_of,
    least_error_of_change,
    least_error_of_two_levels,
    least_error_without_size,
)
from support.soak import SOAKS

AGREE = 1e-6
"""How closely the solver has to agree; the issue asks for 1e-5."""


def counts(d: int, most: int | None = None, interest: float = 0.0) -> hn.Workload:
    """Return d counts of which a person may have some, and an interest in the size."""
    return hn.Workload((hn.Counts(d),), at_most=most, size_importance=interest)


def threshold(d: int) -> float:
    """Return the interest in the size from which our noise for d counts is the best there is."""
    offsets = [j - d / 2 for j in range(d) if -1 / 2 < j - d / 2 <= d / 2 - 1]
    m = min((d / 4 + a * (a + 1)) / (2 * a + 1) for a in offsets)
    return max(0.0, (d / (4 * m)) ** 2 - d / 4)


@pytest.mark.parametrize("interest", [0.0, 0.3, 4.0])
@pytest.mark.parametrize("v", [2, 3, 4, 6])
def test_categories_are_optimal(v: int, interest: float) -> None:
    """No Gaussian noise has less error for the categories of one question."""
    workload = hn.Workload((hn.Choice("c", tuple(range(v - 1))),), size_importance=interest)
    assert error_of(workload) == pytest.approx(least_error_of(workload), rel=AGREE)


@pytest.mark.parametrize(("d", "known"), [(2, 0.5), (3, 0.25), (4, 0), (5, 0.3125), (9, 0)])
def test_threshold(d: int, known: float) -> None:
    """The threshold is 1/2 for two counts, 1/4 for three and nothing for square numbers."""
    assert threshold(d) == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("d", range(2, 8))
def test_counts_are_optimal_from_the_threshold(d: int) -> None:
    """From the threshold on no Gaussian noise has less error for d counts and the size."""
    for interest in (threshold(d), 1.2 * threshold(d) + 0.01, 3.0):
        workload = counts(d, interest=interest)
        assert error_of(workload) == pytest.approx(least_error_of(workload), rel=AGREE)


@pytest.mark.parametrize("d", [2, 3, 5, 6, 7])
def test_counts_are_not_optimal_below_the_threshold(d: int) -> None:
    """Below the threshold some other noise has less error, so the threshold cannot be lower."""
    workload = counts(d, interest=0.8 * threshold(d))
    assert error_of(workload) > least_error_of(workload) * (1 + 10 * AGREE)


AT_MOST = [(d, k) for d in (range(2, 8) if SOAKS else (2, 3, 6)) for k in range(1, d + 1)]


@pytest.mark.parametrize(("d", "k"), [(d, k) for d, k in AT_MOST if k <= (d + math.sqrt(d)) / 2])
def test_at_most_k_is_optimal(d: int, k: int) -> None:
    """Up to k = (d + sqrt(d))/2 no Gaussian noise has less error, and the size comes for free."""
    workload = counts(d, k)
    assert error_of(workload) == pytest.approx(least_error_of(workload), rel=AGREE)
    assert error_of(workload) == pytest.approx(least_error_without_size(workload), rel=AGREE)


@pytest.mark.parametrize(("d", "k"), [(1, 1), *AT_MOST])
def test_optimum_without_size(d: int, k: int) -> None:
    """Where the size is not wanted the closed form is the least error of any Gaussian noise."""
    workload = counts(d, k)
    ours = error_of(workload, "optimal-gaussian-without-size")
    assert ours == pytest.approx(least_error_without_size(workload), rel=AGREE)


@pytest.mark.parametrize("d", [8, 11, 15, 16, 17, 30, 99, 100])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.55, 0.7, 1.0])
def test_optimum_without_size_for_many_counts(d: int, share: float) -> None:
    """For more counts the two axes of the noise, left to a solver, come out the same."""
    k = max(1, round(share * d))
    u, v = cp.Variable(pos=True), cp.Variable(pos=True)
    costs = [j * j / d * u + j * (d - j) / d * v <= 1 for j in range(1, k + 1)]
    programme = cp.Problem(cp.Minimize((cp.inv_pos(u) + (d - 1) * cp.inv_pos(v)) / d), costs)
    ours = error_of(counts(d, k), "optimal-gaussian-without-size")
    assert ours / d == pytest.approx(programme.solve(solver=cp.CLARABEL), rel=1e-5)


@pytest.mark.parametrize("interest", [0.0, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("bounds", [(0, 1), (-1, 3), (-50, -40)])
def test_one_mean_is_optimal(bounds: tuple[float, float], interest: float) -> None:
    """No Gaussian noise has less error for one mean, weighed as the library weighs it."""
    workload = hn.Workload((hn.Mean("m", bounds=bounds),), size_importance=interest)
    assert error_of(workload) == pytest.approx(least_error_of(workload), rel=AGREE)


@pytest.mark.parametrize("interest", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("bounds", [(0, 20), (-3, 5), (90, 100), (-1, 1)])
def test_one_sum_is_optimal(bounds: tuple[float, float], interest: float) -> None:
    """No Gaussian noise has less error for one sum with its own bounds."""
    workload = hn.Workload((hn.Sum("x", bounds=bounds),), size_importance=interest)
    assert error_of(workload) == pytest.approx(least_error_of(workload), rel=AGREE)


@pytest.mark.parametrize(
    "queries",
    [
        (hn.Counts(1),),
        (hn.Counts(5),),
        (hn.Choice("c", ("a", "b")),),
        (hn.Mean("m", bounds=(-50, -40)),),
        (hn.Count("a"), hn.Choice("c", ("a", "b")), hn.Sum("x", bounds=(0, 20))),
    ],
)
def test_known_size_is_optimal(queries: tuple[Query, ...]) -> None:
    """Where the size is given, no Gaussian noise around any centre has less error."""
    workload = hn.Workload(queries)
    least = least_error_at_known_size(workload)
    assert error_of(workload, "known-size-gaussian") == pytest.approx(least, rel=AGREE)


@pytest.mark.parametrize(("d", "k"), [(3, 2), (5, 3), (5, 4), (6, 6)])
def test_at_most_more_than_half_is_optimal_at_known_size(d: int, k: int) -> None:
    """The same holds of at most k for k above d/2."""
    workload = counts(d, k)
    least = least_error_at_known_size(workload)
    assert error_of(workload, "known-size-gaussian") == pytest.approx(least, rel=AGREE)


@pytest.mark.parametrize(
    ("query", "interest"),
    [
        (hn.Counts(1), 0.0),
        (hn.Counts(2), 0.0),
        (hn.Counts(3), 1.0),
        (hn.Counts(5), 1.0),
        (hn.Choice("c", ("a", "b")), 0.0),
        (hn.Choice("c", ("a", "b")), 1.0),
        (hn.Mean("m", bounds=(-50, -40)), 0.0),
        (hn.Mean("m", bounds=(-50, -40)), 1.0),
    ],
)
def test_replacement_in_groups_is_optimal(query: Query, interest: float) -> None:
    """Where people may change group, no noise that is the same in each has less error."""
    workload = hn.Workload(
        (query,), neighbors=hn.Neighbors.REPLACE, groups=2, size_importance=interest
    )
    assert error_of(workload) == pytest.approx(least_error_of_change(workload), rel=AGREE)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_replacement_of_counts_is_optimal(d: int) -> None:
    """Where people only change their answers, standard noise is the best for counts."""
    workload = hn.Workload((hn.Counts(d),), neighbors=hn.Neighbors.REPLACE)
    least = least_error_of_change(workload)
    assert error_of(workload, "standard-gaussian") == pytest.approx(least, rel=AGREE)


@pytest.mark.parametrize("interest", [0.0, 1.0])
@pytest.mark.parametrize("other", ["other", None])
def test_categories_in_several_groups_are_optimal(interest: float, other: str | None) -> None:
    """For categories in up to two of three groups no noise on all of them has less error."""
    listed = ["a", "b", "c"][: 2 if other else 3]
    workload = hn.Workload(
        (hn.Choice("c", ("x", "y")),),
        groups=listed,
        other=other,
        max_groups=2,
        size_importance=interest,
    )
    ours = error_of(workload, "two-level-gaussian")
    assert ours == pytest.approx(least_error_in_groups(workload), rel=AGREE)
    assert error_of(workload) > 1.03 * ours


@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize(("m", "most"), [(2, 2), (3, 2), (9, 2), (9, 6), (9, 9)])
def test_two_levels_are_the_best_of_their_kind(d: int, m: int, most: int) -> None:
    """No other scales, left to a solver, and no other centre of the groups have less error."""
    workload = hn.Workload((hn.Counts(d),), groups=m, max_groups=most)
    ours = error_of(workload, "two-level-gaussian")
    tried = [least_error_of_two_levels(d, m, most, step / 100) for step in range(1, 51)]
    assert ours <= min(tried) * (1 + AGREE)
    assert ours >= min(tried) * (1 - 1e-3)
