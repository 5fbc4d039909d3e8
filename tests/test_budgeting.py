import pytest

import halfnoise as hn

WORKLOADS = [
    hn.Workload([hn.Counts(1)]),
    hn.Workload([hn.Counts(100)]),
    hn.Workload([hn.Counts(5)], groups=4, neighbors=hn.Neighbors.REPLACE),
    hn.Workload([hn.Count("a"), hn.Sum("x", bounds=(0, 20)), hn.Choice("c", ["u", "v"])]),
    hn.Workload([hn.Mean("m", bounds=(1900, 2010))], size_importance=1),
]


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("margin", [0.5, 25.0, 1e4])
def test_the_budget_buys_the_margin_and_a_smaller_one_does_not(
    workload: hn.Workload, margin: float
) -> None:
    """The margins of a plan at the budget are kept; one per cent less budget breaks them."""
    found = hn.budget_for(workload, margin=margin, delta=1e-6)
    assert max(hn.plan(workload, privacy=found).margins) <= margin
    less = hn.ApproxDP(epsilon=0.99 * found.epsilon, delta=1e-6)
    assert max(hn.plan(workload, privacy=less).margins) > margin


def test_releases_level_and_known_size_count() -> None:
    """More releases and a higher level need more; a known number of people needs less."""
    workload = hn.Workload([hn.Counts(20)])
    base = hn.budget_for(workload, margin=10).epsilon
    assert hn.budget_for(workload, margin=10, releases=4).epsilon > base
    assert hn.budget_for(workload, margin=10, level=0.99).epsilon > base
    assert hn.budget_for(workload, margin=10, known_size=True).epsilon < base
    assert hn.budget_for(workload, margin=10, delta=1e-9).epsilon > base


def test_margins_beyond_reason() -> None:
    """A huge margin needs next to nothing; a tiny one is refused, not searched for without end."""
    workload = hn.Workload([hn.Counts(20)])
    assert hn.budget_for(workload, margin=1e300).epsilon < 1e-8
    with pytest.raises(hn.InvalidParameterError, match="margin must be larger"):
        hn.budget_for(workload, margin=1e-300)


@pytest.mark.parametrize("margin", [0, -1, float("nan"), "25"])
def test_a_margin_is_a_positive_number(margin: float) -> None:
    """Anything else is refused."""
    with pytest.raises(hn.InvalidParameterError, match="margin must be"):
        hn.budget_for(WORKLOADS[0], margin=margin)
