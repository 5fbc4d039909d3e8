import pytest

import halfnoise as hn
from halfnoise.privacy.definitions import Privacy
from halfnoise.privacy.words import definition, spending
from halfnoise.text import at_most
from halfnoise.workload.queries import Query
from support.measured import closed


@pytest.mark.parametrize(
    ("privacy", "said", "named"),
    [
        (hn.ApproxDP(epsilon=1, delta=1e-6), "epsilon 1, delta 1e-06", "approximate"),
        (hn.PureDP(epsilon=0.5), "epsilon 0.5", "pure"),
        (hn.GaussianDP(mu=2), "mu 2", "gaussian"),
        (hn.ConcentratedDP(rho=0.5), "rho 0.5", "concentrated"),
        (hn.RenyiDP(alpha=8, epsilon=1), "epsilon 1, alpha 8", "renyi"),
    ],
)
def test_budgets_in_words(privacy: Privacy, said: str, named: str) -> None:
    """A budget is said in its own terms, in sentences and in files."""
    assert spending(privacy, 1) == f"Budget: {said}."
    assert "split over 3 equal releases" in spending(privacy, 3)
    assert definition(privacy) == named


def test_what_is_protected() -> None:
    """The two rules protect two different secrets."""
    assert hn.Workload([hn.Count("a")]).protected == "whether somebody is in the data"
    replaced = hn.Workload([hn.Count("a")], neighbors=hn.Neighbors.REPLACE)
    assert "Protected: what somebody in the data answered." in replaced.words


def test_workloads_in_words() -> None:
    """A workload is said as it was asked, with limits and ranges."""
    workload = hn.Workload(
        [
            hn.Counts(5),
            hn.Sum("visits", bounds=(0, 20)),
            hn.Choice("blood", ["A", "B"]),
            hn.Items("drug", ["x", "y", "z"], at_most=2),
        ],
        at_most=2,
    )
    said = workload.words.splitlines()[0]
    assert said == (
        "Asked of each person: 5 counts, at most 2 of them, sum of visits (0 to 20),"
        " blood (3 categories), drug (3 items, at most 2 of them)."
    )
    assert [block.heading for block in workload.blocks] == [
        "5 counts",
        "sum of visits",
        "blood (3)",
        "drug (3)",
    ]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (hn.Count("smoker"), "smoker says yes"),
        (hn.Count("smoker", true=["1", "2"]), "smoker says 1, 2"),
        (hn.Count("age", between=(18, 64)), "age between 18 and 64"),
        (hn.Mean("income", bounds=(0, 1e5)), "income, kept in 0 to 100000 for each person"),
        (hn.Choice("blood", ["A"], missing=("?",)), "blood: A, other, no answer: ?"),
        (hn.Bins("age", [0, 18]), "age: 0 to 18, 18 and over, other"),
        (
            hn.Items("n", tuple(map(str, range(50)))),
            "n: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...",
        ),
        (hn.Counts(3), "3 counts"),
    ],
)
def test_queries_in_words(query: Query, said: str) -> None:
    """A dry run says what each query reads, and how."""
    assert query.meaning == said


def test_the_only_design_says_so() -> None:
    """Where nothing can be compared, nothing is claimed."""
    replaced = hn.Workload([hn.Count("a")], neighbors=hn.Neighbors.REPLACE)
    assert hn.plan(replaced, privacy=hn.GaussianDP(mu=1)).why.startswith("It is the only design")


def test_groups_in_words() -> None:
    """A plan says in how many groups it holds, and what it costs to be in several."""
    gaussian = hn.GaussianDP(mu=1)
    one = repr(hn.plan(hn.Workload([hn.Counts(4)], groups=["a"], other=None), privacy=gaussian))
    assert "The same holds in the one group." in one
    few = repr(hn.plan(hn.Workload([hn.Counts(4)], groups=3), privacy=gaussian))
    assert "The same holds in each of 3 groups." in few
    assert "Each person may be" not in few
    found = hn.Workload(
        [hn.Counts(4)], by="g", groups="discover", max_groups=2, discover_delta=1e-7
    )
    unlisted = repr(hn.plan(found, privacy=gaussian))
    assert "The same holds in each group that is found." in unlisted
    assert "up to 2 groups: noise grows with sqrt(2) = 1.41." in unlisted
    assert "all people" not in unlisted


def test_two_levels_in_words() -> None:
    """A plan says how noise grows with groups, that two levels need less, and whom n counts."""
    workload = hn.Workload([hn.Counts(4)], groups=9, max_groups=9)
    either = repr(closed(hn.plan(workload, privacy=hn.ApproxDP(epsilon=1, delta=1e-6))))
    assert "groups: noise grows with sqrt(9) = 3, Laplace noise grows with 9." in either
    assert "two-level-gaussian it grows less" in either
    assert "number of all people too, those in no group included" in either
    assert "as correlated-gaussian does, has 12.5% more standard error." in either
    pure = repr(hn.plan(workload, privacy=hn.PureDP(epsilon=1)))
    assert "groups: Laplace noise grows with 9." in pure
    assert "two-level" not in pure
    assert "two-level-gaussian it grows less" in repr(hn.plan(workload))


def test_two_kinds_of_noise_are_compared_as_one_release() -> None:
    """Where a budget is split, both kinds of noise are compared at what one release spends."""
    budget = hn.ApproxDP(epsilon=1, delta=1e-6)
    found = hn.plan(hn.Workload([hn.Count("a")]), privacy=budget, releases=4)
    mu = budget.budget(4).mu
    assert mu is not None
    pure = hn.PureDP(epsilon=0.25).best_guess
    both = f"{at_most(hn.GaussianDP(mu=mu).best_guess)} and {at_most(pure)}"
    assert f"after one, the best guess is right in at most {both}." in repr(found)
    assert found.why != hn.plan(found.workload, privacy=budget).why
