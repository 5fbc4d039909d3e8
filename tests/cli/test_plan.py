import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from halfnoise import Counts, GaussianDP, Sum, Workload, plan
from support.commands import refused, run, write_survey

GAUSSIAN = ["standard-gaussian", "correlated-gaussian"]
LAPLACE = ["standard-laplace", "correlated-laplace"]
WITHOUT_SIZE = "optimal-gaussian-without-size"


def planned(*words: str | Path) -> dict[str, Any]:
    """Return the JSON of a plan."""
    ran = run("plan", *words, "--json")
    assert (ran.status, ran.err) == (0, "")
    found: dict[str, Any] = json.loads(ran.out)
    return found


def names(found: dict[str, Any]) -> list[str]:
    """Return the designs' names."""
    return [design["name"] for design in found["designs"]]


def stds(found: dict[str, Any], kind: int = 0) -> dict[str, float]:
    """Return the standard error of a block by design."""
    return {design["name"]: design["blocks"][kind]["std"] for design in found["designs"]}


def test_json_has_the_promised_shape() -> None:
    """The JSON of a plan holds at least what the first issue writes down."""
    found = planned("--counts", "100", "--mu", "1")
    assert found["privacy"]["mu"] == 1.0
    assert found["chosen"] == "correlated-gaussian"
    assert "45% less standard error" in found["why"]
    first = found["designs"][0]
    assert first["name"] == "standard-gaussian"
    assert first["size_std"] is None
    assert first["loss_mu"] == pytest.approx(1.0, rel=1e-12)
    (block,) = first["blocks"]
    assert {"kind": "count", "queries": 100, "std": 10.0}.items() <= block.items()


@pytest.mark.parametrize(
    ("words", "expected", "loss"),
    [
        (("--mu", "1"), [*GAUSSIAN, WITHOUT_SIZE], {"loss_mu"}),
        (("--rho", "0.5"), [*GAUSSIAN, WITHOUT_SIZE], {"loss_mu"}),
        (("--rdp", "8:4"), [*GAUSSIAN, WITHOUT_SIZE], {"loss_mu"}),
        (("--epsilon", "1"), LAPLACE, {"loss_epsilon"}),
        (
            ("--epsilon", "1", "--delta", "1e-6"),
            [*GAUSSIAN, WITHOUT_SIZE, *LAPLACE],
            {"loss_mu", "loss_epsilon"},
        ),
        (
            ("--mu", "1", "--known-size", "500"),
            [*GAUSSIAN, "known-size-gaussian", WITHOUT_SIZE],
            {"loss_mu"},
        ),
        (("--mu", "1", "--neighbors", "replace"), ["standard-gaussian"], {"loss_mu"}),
        (("--mu", "1", "--size-importance", "3"), GAUSSIAN, {"loss_mu"}),
    ],
)
def test_designs_by_budget(words: tuple[str, ...], expected: list[str], loss: set[str]) -> None:
    """Each way to state a budget brings the designs that can keep it, and their loss."""
    found = planned("--counts", "9", *words)
    assert names(found) == expected
    assert {key for d in found["designs"] for key in d if key.startswith("loss")} == loss


@pytest.mark.parametrize("words", [("--mu", "1"), ("--rho", "0.5"), ("--rdp", "8:4")])
def test_a_hundred_counts_at_mu_one(words: tuple[str, ...]) -> None:
    """At mu 1, said in three ways, a hundred counts err by 10 and by 5.5."""
    found = stds(planned("--counts", "100", *words))
    assert found["standard-gaussian"] == pytest.approx(10, rel=1e-12)
    assert found["correlated-gaussian"] == pytest.approx(5.5, rel=1e-12)


def test_a_hundred_counts_at_one_and_a_millionth() -> None:
    """At epsilon 1 and delta 1e-6 they err by 42.2467889 and by 23.2357339."""
    found = stds(planned("--counts", "100", "--epsilon", "1", "--delta", "1e-6"))
    assert round(found["standard-gaussian"], 7) == 42.2467889
    assert round(found["correlated-gaussian"], 7) == 23.2357339


def test_blocks_come_in_one_order() -> None:
    """Blocks are counts, sums, means, choices, bins, items, in whatever order they are said."""
    asked = {
        "--items": "1000",
        "--bins": "3",
        "--choice": "5",
        "--mean": "0:9",
        "--sum": "0:20",
        "--counts": "100",
    }
    words = [word for pair in asked.items() for word in pair]
    blocks = planned(*words, "--at-most", "8", "--mu", "1")["designs"][0]["blocks"]
    expected = [("count", 100), ("sum", 1), ("mean", 1), ("choice", 6), ("bins", 4)]
    assert [(b["kind"], b["queries"]) for b in blocks] == [*expected, ("items", 1000)]


def test_flags_and_the_library_agree() -> None:
    """The command plans what the library plans."""
    found = planned("--counts", "7", "--sum", "x=-1:4", "--mu", "0.3")
    workload = Workload([Counts(7), Sum("x", bounds=(-1, 4))])
    assert found == plan(workload, privacy=GaussianDP(mu=0.3)).to_dict()


def test_at_most_limits_counts_or_items() -> None:
    """A limit makes the error smaller, for counts and for items alike."""
    free = stds(planned("--counts", "100", "--mu", "1"))
    counts = stds(planned("--counts", "100", "--at-most", "4", "--mu", "1"))
    items = stds(planned("--items", "100", "--at-most", "4", "--mu", "1"))
    assert counts == items
    assert counts["standard-gaussian"] == pytest.approx(2, rel=1e-12)
    assert counts["correlated-gaussian"] < counts["standard-gaussian"]
    assert counts["correlated-gaussian"] < free["correlated-gaussian"]


def test_groups_are_planned_by_name_or_number() -> None:
    """Added or removed, people in groups cost what people without cost."""
    for groups, number in (("16", 16), ("a,b", 3)):
        found = planned("--counts", "100", "--groups", groups, "--mu", "1")
        assert found["groups"] == number
        assert stds(found)["correlated-gaussian"] == pytest.approx(5.5, rel=1e-12)
    words = run("plan", "--counts", "100", "--groups", "16", "--mu", "1").out
    assert "each of 16 groups" in words


def test_dial_and_importance_say_the_same() -> None:
    """C = 5 at a hundred counts is an importance of (5^4 - 100)/4."""
    dial = planned("--counts", "100", "--mu", "1", "--size-dial", "5")
    weight = planned("--counts", "100", "--mu", "1", "--size-importance", str((5**4 - 100) / 4))
    assert dial == weight


def test_known_size_needs_no_number_in_a_plan() -> None:
    """Where it stands and whether it has a number makes no difference to a plan."""
    alone = planned("--counts", "9", "--mu", "1", "--known-size")
    assert alone == planned("--known-size", "--counts", "9", "--mu", "1")
    assert alone == planned("--counts", "9", "--known-size", "200000", "--mu", "1")
    assert alone["chosen"] == "known-size-gaussian"
    assert stds(alone)["known-size-gaussian"] == pytest.approx(1.5, rel=1e-12)


def test_importance_moves_error() -> None:
    """What matters more gets less error."""
    found = planned("--sum", "x=0:1", "--sum", "y=0:1", "--importance", "y=9", "--mu", "1")
    x, y = found["designs"][1]["blocks"]
    assert y["std"] < x["std"]


def test_releases_split_the_budget() -> None:
    """Four equal releases have twice the error with Gaussian noise, four times with Laplace."""
    words = ("--counts", "100", "--epsilon", "1", "--delta", "1e-6")
    one, four = stds(planned(*words)), stds(planned(*words, "--releases", "4"))
    assert four["standard-gaussian"] == pytest.approx(2 * one["standard-gaussian"], rel=1e-12)
    assert four["standard-laplace"] == pytest.approx(4 * one["standard-laplace"], rel=1e-12)
    assert "split over 4 equal releases" in run("plan", *words, "--releases", "4").out


def test_margin_finds_the_budget() -> None:
    """The budget for a margin has that margin, and hardly less."""
    found = planned("--counts", "100", "--margin", "25")
    (chosen,) = (d for d in found["designs"] if d["name"] == found["chosen"])
    assert 25 * 0.999 < chosen["blocks"][0]["margin"] <= 25
    assert found["privacy"]["epsilon"] == pytest.approx(1.9167, abs=1e-3)
    assert found["privacy"]["delta"] == 1e-6


def test_without_a_budget_an_outlook() -> None:
    """Without a budget the plan compares seven, at a stated delta."""
    ran = run("plan", "--counts", "100")
    assert (ran.status, ran.err) == (0, "")
    rows = [line.split()[0] for line in ran.out.splitlines() if "%" in line and "±" in line]
    assert rows == ["0.1", "0.5", "1", "2", "3", "5", "10"]
    assert "54.8%" in ran.out
    assert "delta 1e-06" in ran.out
    found = planned("--counts", "100", "--delta", "1e-9")
    assert found["delta"] == 1e-9
    assert [each["privacy"]["epsilon"] for each in found["plans"]] == [0.1, 0.5, 1, 2, 3, 5, 10]


def test_level_scales_margins_alone() -> None:
    """Another level changes the margin and not the standard error."""
    usual = planned("--counts", "100", "--mu", "1")
    half = planned("--counts", "100", "--mu", "1", "--level", "0.5")
    assert stds(usual) == stds(half)
    assert half["designs"][0]["blocks"][0]["margin"] == pytest.approx(6.745, abs=1e-3)


def test_ten_million_counts_need_no_memory() -> None:
    """Ten million counts are planned as one block, not as arrays."""
    planned("--counts", "10", "--mu", "1")
    tracemalloc.start()
    found = planned("--counts", "10000000", "--mu", "1")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert stds(found)["correlated-gaussian"] == pytest.approx((10**3.5 + 1) / 2, rel=1e-12)
    assert peak < 3e6


def test_words_come_before_symbols() -> None:
    """The first lines of a plan speak of people, odds and budget, and never of GDP."""
    out = run("plan", "--counts", "100", "--epsilon", "1", "--delta", "1e-6").out
    assert "Protected: whether somebody is in the data." in out
    assert "right in at most 54.8% of cases" in out
    assert "margin of error (95%)" in out
    assert "GDP" not in out + run("plan", "--help").out


def test_a_plan_checks_the_header_if_there_is_a_file(tmp_path: Path) -> None:
    """A plan with a file refuses columns that its header does not have, and expands patterns."""
    survey = write_survey(tmp_path)
    asked = ("--count", "smokr", "--count", "age")
    assert "'smoker'" in refused("plan", survey, *asked, "--mu", "1")
    blocks = planned(survey, "--count", "q_*", "--mu", "1")["designs"][0]["blocks"]
    assert blocks[0]["queries"] == 2
    assert planned(survey, "--sum", "0:20", "--mu", "1") == planned("--sum", "0:20", "--mu", "1")


@pytest.mark.parametrize("word", ["plan", "release"])
def test_one_word_turns_a_plan_into_a_release(tmp_path: Path, word: str) -> None:
    """The same words, file and output included, plan and release."""
    survey, out = write_survey(tmp_path), tmp_path / "table.csv"
    ran = run(
        *(word, survey, "--count", "smoker", "--count", "old=age:at-least:65"),
        *("--sum", "visits=0:20", "--mean", "income=0:1000", "--choice", "blood=A,B,AB,O"),
        *("--bins", "age=0,18,65", "--missing", "-99,N/A", "--unit", "person_id"),
        *("--epsilon", "1", "--delta", "1e-6", "--known-size", "6", "--level", "0.9"),
        *("--out", out, "--overwrite", "--no-ledger"),
    )
    assert ran.status == 0, ran.err
    assert out.exists() == (word == "release")
