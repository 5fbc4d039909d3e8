"""Budgets that protect hardly anybody: refused, in one sentence, unless somebody insists."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from support.commands import PEOPLE, refused, run

pytestmark = pytest.mark.usefixtures("limits")
QUERIES = [hn.Count("a")]
INSISTS = "--i-know"

TOO_LARGE: list[tuple[Any, dict[str, Any], str]] = [
    (
        hn.ApproxDP(epsilon=10.01, delta=1e-6),
        {},
        r"epsilon 10.01 is above 10: .* up to 8[0-9.]+% of",
    ),
    (hn.PureDP(epsilon=10.0001), {}, r"epsilon 10\.0001 is above 10"),
    (hn.ApproxDP(epsilon=1, delta=1.0000001e-5), {}, r"delta 1\.0000001e-05 is above 1e-05"),
    (hn.PureDP(epsilon=19), {}, "epsilon 19 is above 10: .* in up to 99.9999995% of cases"),
    (hn.GaussianDP(mu=2.01), {}, "epsilon 10.1 at delta 1e-05 is above 10"),
    (hn.ConcentratedDP(rho=2.1), {}, "at delta 1e-05 is above 10"),
    (hn.RenyiDP(alpha=2, epsilon=5), {}, "at delta 1e-05 is above 10"),
    (hn.ApproxDP(epsilon=1, delta=1.1e-5), {}, "delta 1.1e-05 is above 1e-05.*no protection"),
    (hn.ApproxDP(epsilon=1, delta=0.01), {}, "one in 100 people"),
    (
        hn.GaussianDP(mu=1),
        {"by": "a", "groups": "discover", "discover_delta": 1e-4},
        "discover_delta 0.0001 is above",
    ),
]


@pytest.mark.parametrize(("budget", "rules", "said"), TOO_LARGE, ids=str)
def test_large_budgets_are_refused(budget: Any, rules: dict[str, Any], said: str) -> None:
    """In a plan and in a release, with the word that allows them."""
    people = pl.DataFrame({"a": [True]})
    insisting: list[dict[str, Any]] = [{}, {"i_know": False}]
    for insist in insisting:
        with pytest.raises(
            hn.InvalidParameterError, match=said + r"[\s\S]*--i-know \(i_know=True\)"
        ):
            hn.plan(QUERIES, privacy=budget, **rules, **insist)
        with pytest.raises(hn.InvalidParameterError, match=said):
            hn.release(people, QUERIES, row_is_person=True, privacy=budget, **rules, **insist)
    assert hn.plan(QUERIES, privacy=budget, i_know=True, **rules).privacy == budget
    options: Any = {"row_is_person": True, "privacy": budget, "i_know": True}
    assert hn.release(people, QUERIES, **options, **rules).privacy == budget


@pytest.mark.parametrize(
    "budget",
    [
        hn.ApproxDP(epsilon=10, delta=1e-5),
        hn.PureDP(epsilon=10),
        hn.GaussianDP(mu=2),
        hn.ConcentratedDP(rho=2),
    ],
    ids=str,
)
def test_usual_budgets_pass(budget: Any) -> None:
    """Up to the limits nothing has to be said, also where several releases share a budget."""
    assert hn.plan(QUERIES, privacy=budget, releases=5).releases == 5


def test_a_split_does_not_make_a_budget_small() -> None:
    """The whole budget counts, not the part of one release."""
    with pytest.raises(hn.InvalidParameterError, match="epsilon 40 is above 10"):
        hn.plan(QUERIES, privacy=hn.PureDP(epsilon=40), releases=10)


def test_an_outlook_has_a_usual_delta() -> None:
    """What budgets bring is shown at a delta that protects people."""
    assert len(hn.plan(QUERIES).plans) == 7
    with pytest.raises(hn.InvalidParameterError, match=r"delta 0.001 is above 1e-05"):
        hn.plan(QUERIES, delta=1e-3)
    assert hn.plan(QUERIES, delta=1e-3, i_know=True).delta == 1e-3


def test_a_margin_that_asks_for_too_much() -> None:
    """A margin that only such a budget brings is refused with it."""
    mean = [hn.Mean("m", bounds=(0, 1))]
    with pytest.raises(hn.InvalidParameterError, match=r"a margin of 0.2 is too small: epsilon 19"):
        hn.budget_for(mean, margin=0.2)
    assert hn.budget_for(mean, margin=0.2, i_know=True).epsilon > 10
    assert hn.budget_for(mean, margin=5).epsilon < 10


def test_the_word_on_the_command_line(tmp_path: Path) -> None:
    """Plan, release, dry run and spec take it, and tell of it where it is missing."""
    people = tmp_path / "people.csv"
    people.write_text("person_id,a\n1,1\n2,0\n")
    words: tuple[Any, ...] = (people, "--count", "a", *PEOPLE, "--epsilon", "19")
    for command in ("plan", "release"):
        assert "epsilon 19 is above 10" in refused(command, *words)
        assert run(command, *words, INSISTS).status == 0
    assert "epsilon 19 is above 10" in refused("release", *words, "--dry-run")
    assert "is too small: epsilon" in refused("plan", "--mean", "m=0:1", "--margin", "0.2")
    spec = tmp_path / "spec.toml"
    assert run("plan", *words, INSISTS, "--save-spec", spec).status == 0
    assert "i-know = true" in spec.read_text()
    assert run("release", people, "--spec", spec).status == 0


def test_discovering_counts_all_releases() -> None:
    """A plan for ten releases may not spend ten times the limit on discovering."""
    rules: Any = {"by": "a", "groups": "discover", "discover_delta": 2e-5, "releases": 10}
    with pytest.raises(hn.InvalidParameterError, match="discover_delta 2e-05 is above 1e-05"):
        hn.plan(QUERIES, privacy=hn.GaussianDP(mu=1), **rules)
    rules["discover_delta"] = 1e-5
    for releases in (1, 3, 7, 10):
        hn.plan(QUERIES, privacy=hn.GaussianDP(mu=1), **rules | {"releases": releases})


@pytest.mark.parametrize("insist", ["no", 1, 0, None, []])
def test_to_know_is_yes_or_no(insist: Any) -> None:
    """A text is no yes, least of all "no"."""
    people = pl.DataFrame({"a": [True]})
    for budget in (hn.PureDP(epsilon=500), hn.PureDP(epsilon=1)):
        with pytest.raises(hn.InvalidParameterError, match="i_know must be True or False"):
            hn.plan(QUERIES, privacy=budget, i_know=insist)
        if insist is not None:
            with pytest.raises(hn.InvalidParameterError, match="i_know must be True or False"):
                hn.release(people, QUERIES, row_is_person=True, privacy=budget, i_know=insist)
    with pytest.raises(hn.InvalidParameterError, match="i_know must be True or False"):
        hn.budget_for(QUERIES, margin=10, i_know=insist)


@pytest.mark.parametrize("noise", [[], {}, 1, "Laplace"])
def test_noise_has_a_name(noise: Any) -> None:
    """What is no name of a noise is refused in our words."""
    with pytest.raises(hn.InvalidParameterError, match="noise must be 'gaussian' or 'laplace'"):
        hn.plan(QUERIES, privacy=hn.PureDP(epsilon=1), noise=noise)


@pytest.mark.parametrize("more", ["--epsilon 500", "--mu 50", "--delta 0.1", "--rho 99"])
def test_a_spec_knows_of_its_own_budget_alone(tmp_path: Path, more: str) -> None:
    """Whoever names another budget must say so again; with the budget of the spec it is said."""
    spec = tmp_path / "a.toml"
    spec.write_text('count = "a"\nepsilon = 20\ndelta = 1e-6\ni-know = true\n', encoding="utf-8")
    assert run("plan", "--spec", spec).status == 0
    assert "--i-know" in refused("plan", "--spec", spec, *more.split())
    assert run("plan", "--spec", spec, *more.split(), INSISTS).status == 0
    path = tmp_path / "a.csv"
    path.write_text("id,a\n1,1\n", encoding="utf-8")
    hn.release(path, spec=spec, unit="id")
    with pytest.raises(hn.InvalidParameterError, match="--i-know"):
        hn.release(path, spec=spec, unit="id", privacy=hn.PureDP(epsilon=500))
