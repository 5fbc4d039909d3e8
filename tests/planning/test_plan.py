import json
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.planning.outlook import EPSILONS
from halfnoise.privacy.definitions import Privacy
from support.measured import closed

COUNTS = hn.Workload([hn.Counts(100)])
GAUSSIAN = hn.GaussianDP(mu=1)
APPROX = hn.ApproxDP(epsilon=1, delta=1e-6)


def test_the_least_error_is_chosen() -> None:
    """The chosen design has the least error, up to one per cent."""
    for d in (1, 2, 3, 9, 50, 1000):
        workload = hn.Workload([hn.Counts(d)])
        found = hn.plan(workload, privacy=APPROX)
        errors = [design.total_error(0) ** 0.5 for design in found.designs]
        assert found.chosen.total_error(0) ** 0.5 <= 1.01 * min(errors)


def test_a_near_tie_goes_to_the_design_that_gives_the_size() -> None:
    """Within a fifth of a per cent of the squared error, who gives the number of people wins."""
    for d, chosen in ((12, "correlated-gaussian"), (7, "optimal-gaussian-without-size")):
        found = hn.plan(hn.Workload([hn.Counts(d)]), privacy=GAUSSIAN)
        errors = {design.name: design.total_error(0) for design in found.designs}
        assert errors["optimal-gaussian-without-size"] < errors["correlated-gaussian"]
        assert found.chosen.name == chosen


def test_interest_in_the_size_excludes_designs_without_it() -> None:
    """Who wants the number of people never gets a design that does not tell it."""
    for d in (1, 2, 3):
        workload = hn.Workload([hn.Counts(d)], size_importance=0.01)
        assert hn.plan(workload, privacy=APPROX).chosen.size_std is not None


@pytest.mark.parametrize("groups", [{}, {"by": "region", "groups": ["north"]}])
def test_what_the_chosen_design_gives_is_said(groups: dict[str, Any]) -> None:
    """Where only designs with the number of people will do it is said so, without groups too."""
    workload = hn.Workload([hn.Count("smoker")], size_importance=1, **groups)
    assert "those that give the number of people." in hn.plan(workload, privacy=APPROX).why


def test_nothing_else_is_said_only_where_nothing_has_less_error() -> None:
    """What is chosen for a third of a per cent less standard error has that much less."""
    queries = [hn.Choice("event", ["a", "b", "c"]), hn.Mean("ms", bounds=(0, 500), by=["event"])]
    found = hn.plan(queries, privacy=APPROX)
    assert found.chosen.name == "fitted-gaussian"
    assert found.why.startswith("It has 0.326% less standard error than correlated-gaussian")


def test_laplace_wins_for_few_counts_and_says_at_which_price() -> None:
    """For one count at (1, 1e-6) Laplace noise wins, and the plan tells what it is worth."""
    found = hn.plan(hn.Workload([hn.Count("smoker")]), privacy=APPROX)
    assert found.chosen.name == "standard-laplace"
    assert "Laplace noise has 66.5% less standard error than Gaussian noise" in found.why
    assert found.best_guess == pytest.approx(0.731, abs=1e-3)


@pytest.mark.parametrize("privacy", [GAUSSIAN, APPROX, hn.PureDP(epsilon=1)])
def test_releases_together_keep_the_best_guess(privacy: Privacy) -> None:
    """How often it is right after all releases does not depend on how many there are."""
    one, many = (hn.plan(COUNTS, privacy=privacy, releases=n).best_guess for n in (1, 10))
    assert many == pytest.approx(one, rel=1e-9)


def test_margins_follow_the_level() -> None:
    """A 95% margin is 1.96 standard errors with Gaussian noise."""
    found = hn.plan(COUNTS, privacy=GAUSSIAN)
    assert found.margins[0] == pytest.approx(1.959964 * 5.5, rel=1e-6)
    wide = hn.plan(COUNTS, privacy=GAUSSIAN, level=0.99)
    assert wide.margins[0] == pytest.approx(2.575829 * 5.5, rel=1e-6)


def test_an_outlook_is_a_plan_for_each_budget() -> None:
    """Without a budget there is a plan for each epsilon, at the stated delta."""
    found = hn.plan(COUNTS, delta=1e-9)
    assert isinstance(found, hn.Outlook)
    budgets = [hn.ApproxDP(epsilon=epsilon, delta=1e-9) for epsilon in EPSILONS]
    assert [each.privacy for each in found.plans] == budgets
    margins = [each.margins[0] for each in found.plans]
    assert margins == sorted(margins, reverse=True)
    assert "delta 1e-09" in repr(found)
    assert json.dumps(found.to_dict())


def test_the_table_marks_the_choice() -> None:
    """One design is marked, and its number of people is shown."""
    lines = hn.plan(COUNTS, privacy=GAUSSIAN).table().splitlines()
    (chosen,) = (line for line in lines if line.startswith("* "))
    assert chosen.split() == ["*", "correlated-gaussian", "±10.8", "±6.5"]


def test_what_people_stand_for() -> None:
    """The number of people is measured, not given, or known."""
    known = hn.plan(COUNTS, privacy=GAUSSIAN, known_size=True).table()
    assert "not given" in known
    assert known.splitlines()[3].endswith("known")
    replaced = hn.Workload([hn.Counts(100)], neighbors=hn.Neighbors.REPLACE)
    assert hn.plan(replaced, privacy=GAUSSIAN).table().endswith("known")


def test_means_are_told_apart() -> None:
    """The JSON of a mean has its own error and that of the number who answered."""
    workload = hn.Workload([hn.Mean("income", bounds=(0, 10))])
    (block,) = hn.plan(workload, privacy=GAUSSIAN).to_dict()["designs"][0]["blocks"]
    assert {"std", "mean_std", "answered_std", "margin"} <= block.keys()
    assert "Divide the margin of a mean" in repr(hn.plan(workload, privacy=GAUSSIAN))


def test_wrong_arguments_are_refused() -> None:
    """Queries and a privacy definition are asked for by name."""
    with pytest.raises(hn.InvalidParameterError, match="queries must be a list of queries"):
        hn.plan(hn.Count("a"), privacy=GAUSSIAN)  # type: ignore[call-overload]  # the mistake
    with pytest.raises(hn.InvalidParameterError, match="privacy must be a privacy definition"):
        hn.plan(COUNTS, privacy=1)  # type: ignore[call-overload]


@pytest.mark.parametrize("mu", [1e-7, 1e7])
def test_the_smallest_and_largest_budgets_work(mu: float) -> None:
    """At both ends of what can be drawn, ten million counts are planned and shown."""
    found = hn.plan(hn.Workload([hn.Counts(10**7)]), privacy=hn.GaussianDP(mu=mu))
    assert json.dumps(found.to_dict(), allow_nan=False)
    assert "correlated-gaussian" in repr(found)


@pytest.mark.parametrize(
    ("queries", "privacy", "said"),
    [
        ([hn.Count("a")], hn.GaussianDP(mu=1e8), "too large: the noise would be finer"),
        ([hn.Counts(9)], hn.GaussianDP(mu=1e9), "too large: the noise would be finer"),
        ([hn.Mean("m", bounds=(0, 1))], hn.PureDP(epsilon=1e8), "too large"),
        ([hn.Counts(10**7)], hn.GaussianDP(mu=1e-9), "too small: the noise would be more"),
    ],
)
def test_what_cannot_be_drawn_is_not_planned(queries: Any, privacy: Any, said: str) -> None:
    """A plan is refused where its noise cannot be drawn, before anything is charged."""
    with pytest.raises(hn.InvalidParameterError, match=said):
        hn.plan(queries, privacy=privacy)


@pytest.mark.parametrize("exponent", range(-9, 10))
@pytest.mark.parametrize("queries", [[hn.Counts(1)], [hn.Choice("c", ["a", "b"]), hn.Counts(40)]])
def test_what_is_planned_can_be_drawn(queries: Any, exponent: int) -> None:
    """Whatever passes a plan is drawn, at every budget and with both kinds of noise."""
    for privacy in (hn.GaussianDP(mu=10.0**exponent), hn.PureDP(epsilon=10.0**exponent)):
        try:
            ready = hn.plan(queries, privacy=privacy).measurement
        except hn.InvalidParameterError:
            assert not -6 <= exponent <= 6
            continue
        for scales in ready.scales:
            assert scales.min() >= 32
            assert ready.design.noise.draw(scales).shape == scales.shape


@pytest.mark.parametrize("mu", [0.99e-9, 1.01e9])
def test_budgets_beyond_reason_are_refused(mu: float) -> None:
    """Where floating point would fail, a sentence comes instead."""
    with pytest.raises(hn.InvalidParameterError, match="mu must be between 1e-09 and 1e"):
        hn.plan(COUNTS, privacy=hn.GaussianDP(mu=mu))


def test_a_known_size_is_that_of_a_whole_table() -> None:
    """In groups a known number of people is refused, and the remedy named."""
    workload = hn.Workload([hn.Counts(5)], groups=3)
    message = r"known_size is the size of a whole table.*release\[key\]\.with_known_size afterwards"
    with pytest.raises(hn.NotSupportedError, match=message):
        hn.plan(workload, privacy=GAUSSIAN, known_size=True)
    with pytest.raises(hn.NotSupportedError, match=message):
        hn.plan(workload, known_size=True)


SEVERAL = hn.Workload([hn.Counts(4)], groups=10, max_groups=10)


def test_two_levels_stand_beside_scaling() -> None:
    """Where people may be in several groups the plan shows both, and all people's number."""
    found = closed(hn.plan(SEVERAL, privacy=GAUSSIAN))
    assert found.chosen.name == "two-level-gaussian"
    header, standard, correlated, two_level = found.table().splitlines()
    assert header.endswith("people  all people")
    assert standard.split()[0] == "standard-gaussian"
    assert correlated.split() == ["correlated-gaussian", "±9.3", "±10.7", "not", "given"]
    assert two_level.split() == ["*", "two-level-gaussian", "±8.24", "±8.2", "±8.04"]
    assert "all people" not in hn.plan(COUNTS, privacy=GAUSSIAN).table()


def test_groups_in_json() -> None:
    """The plan says how many groups there are, in how many one may be, and the error of n."""
    said = hn.plan(SEVERAL, privacy=GAUSSIAN).to_dict()
    assert (said["groups"], said["max_groups"]) == (10, 10)
    stds = {design["name"]: design.get("people_std") for design in said["designs"]}
    assert stds.pop("two-level-gaussian") == pytest.approx(4.1001693, rel=1e-6)
    assert set(stds.values()) == {None}
    alone = hn.plan(COUNTS, privacy=GAUSSIAN).to_dict()
    assert (alone["groups"], alone["max_groups"]) == (None, None)
    unlisted = hn.Workload(
        [hn.Counts(4)], by="g", groups="discover", max_groups=3, discover_delta=1e-7
    )
    said = hn.plan(unlisted, privacy=GAUSSIAN).to_dict()
    assert (said["groups"], said["max_groups"]) == (None, 3)


def test_nearly_no_gain_goes_to_the_plainer_design() -> None:
    """Two levels that gain less than a tenth of a per cent are shown but not chosen."""
    found = hn.plan(hn.Workload([hn.Counts(4)], groups=1000, max_groups=2), privacy=GAUSSIAN)
    errors = {design.name: design.total_error(0) for design in found.designs}
    assert errors["two-level-gaussian"] < errors["correlated-gaussian"]
    assert found.chosen.name == "correlated-gaussian"
