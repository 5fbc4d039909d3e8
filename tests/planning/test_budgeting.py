import pytest

import halfnoise as hn

WORKLOADS = [
    hn.Workload([hn.Counts(1)]),
    hn.Workload([hn.Counts(100)]),
    hn.Workload([hn.Counts(5)], groups=4, neighbors=hn.Neighbors.REPLACE),
    hn.Workload([hn.Count("a"), hn.Sum("x", bounds=(0, 20)), hn.Choice("c", ["u", "v"])]),
    hn.Workload([hn.Mean("m", bounds=(1900, 2010))], size_importance=1),
    hn.Workload([hn.Counts(5)], groups=4, max_groups=4),
    hn.Workload([hn.Counts(5)], by="g", groups="discover", max_groups=2),
]


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("margin", [0.5, 25.0, 1e4])
@pytest.mark.parametrize("releases", [1, 7])
def test_the_budget_buys_the_margin_and_a_smaller_one_does_not(
    workload: hn.Workload, margin: float, releases: int
) -> None:
    """The margins of a plan at the budget are kept; a millionth less budget breaks them."""
    found = hn.budget_for(workload, margin=margin, delta=1e-6, releases=releases)
    assert max(hn.plan(workload, privacy=found, releases=releases).margins) <= margin
    less = hn.ApproxDP(epsilon=(1 - 1e-6) * found.epsilon, delta=1e-6)
    assert max(hn.plan(workload, privacy=less, releases=releases).margins) > margin


def test_releases_level_and_known_size_count() -> None:
    """More releases and a higher level need more; a known number of people needs less."""
    workload = hn.Workload([hn.Counts(20)])
    base = hn.budget_for(workload, margin=10).epsilon
    assert hn.budget_for(workload, margin=10, releases=4).epsilon > base
    assert hn.budget_for(workload, margin=10, level=0.99).epsilon > base
    assert hn.budget_for(workload, margin=10, known_size=True).epsilon < base
    assert hn.budget_for(workload, margin=10, delta=1e-9).epsilon > base


def test_more_groups_need_more_and_a_known_size_is_refused() -> None:
    """Who may be in more groups needs more budget; a known size goes with a whole table alone."""
    needed = [
        hn.budget_for(hn.Workload([hn.Counts(20)], groups=9, max_groups=most), margin=10).epsilon
        for most in (1, 2, 5, 9)
    ]
    assert needed == sorted(set(needed))
    with pytest.raises(hn.NotSupportedError, match="known_size is the size of a whole table"):
        hn.budget_for(hn.Workload([hn.Counts(20)], groups=9), margin=10, known_size=True)


def test_margins_beyond_reason() -> None:
    """A huge margin needs next to nothing; a tiny one is refused, not searched for without end."""
    workload = hn.Workload([hn.Counts(20)])
    assert hn.budget_for(workload, margin=1e300).epsilon < 1e-8
    with pytest.raises(hn.InvalidParameterError, match="margin must be larger"):
        hn.budget_for(workload, margin=1e-300)
    mean = [hn.Mean("income", bounds=(0, 200_000))]
    with pytest.raises(hn.InvalidParameterError, match=r"margin must be larger.* of a mean"):
        hn.budget_for(mean, margin=1e-3)
    needed = [hn.budget_for(mean, margin=m, i_know=True).epsilon for m in (200, 25, 2, 0.2)]
    assert needed == sorted(needed)  # also where Gaussian noise would be finer than can be drawn


@pytest.mark.parametrize("margin", [0, -1, float("nan"), "25"])
def test_a_margin_is_a_positive_number(margin: float) -> None:
    """Anything else is refused."""
    with pytest.raises(hn.InvalidParameterError, match="margin must be"):
        hn.budget_for(WORKLOADS[0], margin=margin)
