import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.planning.readers import read
from halfnoise.results.inference import ANYTHING, Errors, ratios
from support.commands import run

INSURED = hn.Count("insured")
INCOME = hn.Mean("income", bounds=(0, 200_000))
VISITS = hn.Sum("visits", bounds=(5, 20))
BLOOD, AGE = hn.Choice("blood", ["A", "B"]), hn.Bins("age", [0, 18, 65])
WORKLOADS: dict[str, hn.Workload] = {
    "one": hn.Workload([INSURED]),
    "two": hn.Workload([INSURED, INCOME]),
    "sums": hn.Workload([hn.Counts(20), VISITS, hn.Mean("m", bounds=(-9, -3), variance=True)]),
    "choices": hn.Workload([BLOOD, AGE], size_importance=1),
    "groups": hn.Workload([INSURED, INCOME, hn.Counts(8)], groups=5),
    "tables": hn.Workload(
        [BLOOD, AGE, hn.Table(["blood", "age"]), replace(INCOME, by=["blood"]), INSURED]
    ),
}


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("accept", [0.02, 0.3])
def test_the_budget_is_the_smallest_that_will_do(name: str, accept: float) -> None:
    """At it every share and mean is within what is accepted; a thousandth less breaks one."""
    found = hn.plan(WORKLOADS[name], people=4400, accept=accept)
    workload = found.workload
    assert found.budget is not None
    assert found.needed is not None
    within = 4400 / (5 if name == "groups" else 1)

    def widest(epsilon: float) -> float:
        plan = hn.plan(workload, privacy=hn.ApproxDP(epsilon=epsilon, delta=1e-6), i_know=True)
        return max(e.relative for e in read(plan.chosen, 0.95, within) if e.line.asked)

    assert widest(found.budget.epsilon) <= accept < widest(found.budget.epsilon * 0.999)


@pytest.mark.parametrize("name", [name for name in WORKLOADS if name != "tables"])
def test_margins_are_those_of_a_release(name: str) -> None:
    """What a reader sees is as far off as intervals of a release of so many people reach.

    At the ends of their range, where the share or mean is known least.
    """
    workload, n = WORKLOADS[name], 100_000.0
    plan = hn.plan(workload, privacy=hn.GaussianDP(mu=1))
    design = plan.chosen
    covariance = design.covariance
    start, lines = 0, iter(read(design, 0.95, n))
    for block in design.blocks:
        line = next(lines)
        mean = block.kind == "mean"
        ends = (block.shape.bounds or (0, 1)) if mean or block.kind == "sum" else (0, 1)
        below = start + 1 if mean else covariance.size - 1
        reached = []
        for r in ends:
            values = np.zeros((1, covariance.size))
            values[0, start], values[0, below] = r * n, n
            if not mean and design.size_scale is None:
                errors = Errors(design.noise, covariance)
                reached.append(errors.margin({start: 1.0}, 0.95) / n)
                continue
            _, _, low, high = ratios(
                values, Errors(design.noise, covariance), (start, below), 0.95, ANYTHING
            )[:, 0]
            reached.append((high - low) / 2)
        assert line.margin == pytest.approx(max(reached), rel=1e-2)
        start += block.shape.size


def test_means_are_shown_as_means() -> None:
    """With people, nobody has to divide: in plans, without a budget, and in JSON."""
    workload, budget = hn.Workload([INSURED, INCOME]), hn.ApproxDP(epsilon=1, delta=1e-6)
    plain, told = hn.plan(workload, privacy=budget), hn.plan(workload, privacy=budget, people=4400)
    assert "Divide the margin of a mean" in repr(plain)
    assert "Divide" not in repr(told)
    assert "if half of them do, they double" in repr(told)
    *_, chosen = (line for line in told.table().splitlines() if line.startswith("*"))
    shown = float(chosen.split("±")[2].split()[0].replace(",", ""))
    (block,) = (b for b in told.to_dict()["designs"][-1]["blocks"] if b["kind"] == "mean")
    assert shown == pytest.approx(block["mean_margin"], rel=0.01)
    # A little more than at the middle of the range, where who answered does not matter.
    assert 1 < block["mean_margin"] * 4400 / block["margin"] < 1.5
    assert "mean_margin" not in str(plain.to_dict())
    outlook = hn.plan(workload, people=4400)
    assert f"±{shown:,.0f}" in outlook.table()
    tables = hn.plan(WORKLOADS["tables"], privacy=budget, people=4400)
    assert "Divide" not in repr(tables)


def test_what_a_reader_may_see_is_said() -> None:
    """The page names the goal, the budget, an example of a share, and what is not covered."""
    found = hn.plan([INSURED, INCOME, VISITS], people=4400, accept=0.02)
    said = repr(found)
    assert found.budget is not None
    assert "every share within 2 points and every mean within 2% of its range: --epsilon" in said
    assert "for example, insured: 78% ± " in said
    assert "Sums are shown as means over all people." in said
    assert "who was asked moves a share by up to ±1.48 points" in said
    assert "Warning" not in said
    shown = float(said.split("--epsilon ")[1].split()[0])
    assert found.budget.epsilon <= shown <= found.budget.epsilon * 1.01
    assert json.loads(json.dumps(found.to_dict()))["epsilon"] == found.budget.epsilon
    assert "±" in hn.plan(WORKLOADS["tables"], people=4400, accept=0.02).table()


def test_above_the_ceiling_there_is_a_warning() -> None:
    """A budget above it is named with a warning, and one that protects nobody is not named."""
    for ceiling, warns in ((None, False), (0.1, True)):
        found = hn.plan([INSURED], people=400, accept=0.02, ceiling=ceiling)
        assert ("Warning: that is above epsilon" in repr(found)) == warns
        assert found.to_dict()["above_ceiling"] == warns
    assert "Warning" in repr(hn.plan([INSURED], people=40, accept=0.02))
    none = hn.plan([hn.Counts(50)], people=100, accept=0.01)
    assert none.budget is None
    assert none.to_dict()["epsilon"] is None
    assert "No budget that protects anybody keeps every share within 1 point" in repr(none)
    insists = hn.plan([hn.Counts(50)], people=100, accept=0.01, i_know=True)
    assert insists.budget is not None
    assert insists.budget.epsilon > 10
    assert "Warning" in repr(insists)
    impossible = hn.plan([hn.Counts(50)], people=1e-30, accept=1e-9)
    assert impossible.budget is None
    assert "It would take" not in repr(impossible)


def test_a_ledger_may_have_no_place(tmp_path: Path) -> None:
    """Where the ledger cannot pay for it, that is said."""
    place = str(tmp_path / "a.ledger")
    limit = ("--epsilon", "0.5", "--delta", "1e-6", "--row-is-person")
    assert run("ledger", "init", place, *limit).status == 0
    for people, warns in (("40", True), ("4000", False)):
        words = ("--counts", "1", "--people", people, "--accept", "5%", "--ledger", place)
        ran = run("plan", *words)
        assert ran.status == 0
        assert ("the ledger has no place left for it" in ran.out) == warns


def test_what_is_wrong_is_refused() -> None:
    """Both ways at once, no people, a part that is none, a ceiling without it or beyond reason."""
    budget = hn.GaussianDP(mu=1)
    with pytest.raises(hn.InvalidParameterError, match="not both"):
        hn.plan([INSURED], privacy=budget, people=9, accept=0.1)  # type: ignore[call-overload]
    with pytest.raises(hn.InvalidParameterError, match="how many people"):
        hn.plan([INSURED], accept=0.1)  # type: ignore[call-overload]
    with pytest.raises(hn.InvalidParameterError, match="together with accept"):
        hn.plan([INSURED], ceiling=1)  # type: ignore[call-overload]
    with pytest.raises(hn.InvalidParameterError, match="at most 10"):
        hn.plan([INSURED], people=9, accept=0.1, ceiling=11)
    for wrong in (0, 1, 2, -0.1, math.nan):
        with pytest.raises(hn.InvalidParameterError, match="accept"):
            hn.plan([INSURED], people=9, accept=wrong)


def test_on_the_command_line() -> None:
    """2% and 0.02 are the same; what is wrong is said with its remedy."""
    one, other = (
        run("plan", "--count", "insured", "--people", "4400", "--accept", part, "--json")
        for part in ("2%", "0.02")
    )
    assert one.out == other.out
    found = json.loads(one.out)
    assert found["plans"][0]["read"][0]["kind"] == "share"
    refused = (
        (("--accept", "2"), "above 0% and below 100%"),
        (("--accept", "2%", "--epsilon", "1"), "not several"),
        (("--accept", "2%", "--margin", "3"), "not several"),
        (("--ceiling", "2"), "together with --accept"),
    )
    for words, why in refused:
        ran = run("plan", "--count", "insured", "--people", "4400", *words)
        assert ran.status == 2
        assert why in ran.err
    assert "--people 4400" in run("plan", "--count", "insured", "--accept", "2%").err


SHARES: dict[str, dict[str, Any]] = {
    "Laplace noise": {},
    "a size anyway": {"size_importance": 2},
    "groups": {"by": "g", "groups": ["a", "b"]},
    "groups without sizes": {"by": "g", "groups": ["a", "b"], "group_sizes": False},
    "weights": {"weight": hn.Weight("w", bounds=(0, 5))},
}


@pytest.mark.parametrize("name", SHARES)
def test_shares_that_are_planned_can_be_read(name: str) -> None:
    """Whatever budget is named, a release with it and the words beside it gives the share."""
    given = SHARES[name]
    found = hn.plan([INSURED, INCOME], people=4400, accept=0.02, **given)
    assert found.budget is not None
    told = "--size-importance 1" in found.sentences()[0]
    assert told == (name in ("Laplace noise", "groups without sizes", "weights"))
    frame = pl.DataFrame({"insured": [True], "income": [1.0], "g": ["a"], "w": [1.0]})
    rules = {**given, "size_importance": 1} if told else given
    queries = [INSURED, INCOME]
    made: Any = hn.release(frame, queries, privacy=found.budget, row_is_person=True, **rules)
    for each in [made["a"]] if "by" in given else [made]:
        assert each.size is not None
        assert each.share("insured").std > 0
    assert found.to_dict()["size_importance"] == rules.get("size_importance", 0)


def test_means_alone_need_no_number_of_people() -> None:
    """Nothing is paid for what nobody divides by; nor where it is public."""
    assert "--size" not in repr(hn.plan([INCOME], people=4400, accept=0.02))
    for rules in ({"known_size": True}, {"neighbors": hn.Neighbors.REPLACE}):
        said = hn.plan([INSURED], people=4400, accept=0.02, **rules).sentences()
        assert "--known-size 4400." in said[0]


def test_margins_as_wide_as_everything_say_nothing() -> None:
    """Of 44 people a small budget tells nothing: no share is off by 179 points."""
    found = hn.plan([INSURED, INCOME], people=44, accept=0.02)
    cells = [str(each) for each in found.read(found.plans[0])]
    assert cells == ["says nothing"] * 2
    worst = hn.plan([INSURED], people=0.01, accept=0.5)
    assert "78%" not in repr(worst)
    assert "up to ±100 points, if" in repr(worst)


def test_people_with_weights_are_their_sum() -> None:
    """It is said what the number is of."""
    found = hn.plan([INSURED], people=4400, accept=0.02, weight=hn.Weight("w", bounds=(0, 5)))
    assert "with weights that add up to 4,400," in repr(found)
    assert "simple random sample" not in repr(found)
