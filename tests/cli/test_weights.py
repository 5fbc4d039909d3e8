"""Weights in all words: options, a spec, Python; what is said of them; and names in a ledger."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from halfnoise.request import Request
from halfnoise.results import document
from halfnoise.spec.header import Header
from halfnoise.spec.toml import read_spec, write_spec
from halfnoise.spec.words import read
from halfnoise.workload.weights import HEADS, SQUARES
from support.commands import refused, run, write_survey
from support.release_schema import VALIDATOR

WORDS: dict[str, Any] = {
    "count": ["smoker"],
    "mu": "1e6",
    "unit": ["person_id"],
    "weight": "visits=0.5:4",
}
WORDS |= {"i-know": True}
OPTIONS = ["--count", "smoker", "--mu", "1e6", "--unit", "person_id", "--i-know"]
WEIGHT = hn.Weight("visits", bounds=(0.5, 4))


def asked(**rules: Any) -> Request:
    """Return a request in Python."""
    workload = hn.Workload([hn.Count("smoker")], **rules)
    budget = hn.GaussianDP(mu=1e6)
    return Request(workload=workload, unit=("person_id",), privacy=budget, i_know=True)


def test_all_words_say_the_same(tmp_path: Path) -> None:
    """Options, a spec that was written and Python are one request; other weights are others."""
    sizes = {"unweighted-size": True, "effective-size": True}
    header = Header(["person_id", "smoker", "visits"])
    (tmp_path / "a.toml").write_text(write_spec(WORDS | sizes), encoding="utf-8")
    requests = [
        read(WORDS | sizes, header),
        read(read_spec(tmp_path / "a.toml", {}), header),
        asked(weight=WEIGHT, unweighted_size=True, effective_size=True),
    ]
    assert len({request.fingerprint() for request in requests}) == 1
    others: list[dict[str, Any]] = [
        {},
        {"weight": WEIGHT},
        {"weight": WEIGHT, "unweighted_size": True},
        {"weight": WEIGHT, "effective_size": True},
        {"weight": hn.Weight("visits", bounds=(0, 4))},
        {"weight": hn.Weight("visits", bounds=(0.5, 5))},
        {"weight": hn.Weight("age", bounds=(0.5, 4))},
        {"weight": hn.Weight("visits", bounds=(0.5, 4), missing="-99")},
    ]
    prints = {asked(**rules).fingerprint() for rules in others}
    assert len(prints | {requests[0].fingerprint()}) == len(others) + 1


def test_codes_for_missing_are_those_of_weights_too() -> None:
    """A code that stands for no answer stands for no weight."""
    weight = read(WORDS | {"missing": ["-99"]}).workload.weight
    assert weight == hn.Weight("visits", bounds=(0.5, 4), missing=("-99",))


@pytest.mark.usefixtures("ledgers")
def test_a_weighted_release(tmp_path: Path) -> None:
    """Six people of known weights: all sums, the notes, and JSON that comes back."""
    survey, out = write_survey(tmp_path), tmp_path / "table.json"
    own = ["--weight", "visits=0.5:4", "--unweighted-size", "--effective-size"]
    ran = run("release", survey, *OPTIONS, *own, "--out", out)
    assert ran.status == 0, ran.err
    rows = pl.read_csv(survey, schema_overrides={"smoker": pl.String})
    people = rows.group_by("person_id").agg(
        pl.col("visits").cast(pl.Float64).clip(0.5, 4).fill_null(0.5).max(),
        pl.col("smoker").str.to_lowercase().is_in(["1", "yes", "y", "t", "true"]).any(),
    )
    release = hn.Release.from_json(out.read_text(encoding="utf-8"))
    assert isinstance(release, hn.Release)
    w = people["visits"].to_numpy()
    truth = {"number of people": w.sum(), HEADS: len(w), SQUARES: (w**2).sum()}
    truth["smoker"] = people.filter("smoker")["visits"].sum()
    for name, value in truth.items():
        assert release[name].estimate == pytest.approx(value, abs=1e-3), name
    assert release.effective_size is not None
    effective = w.sum() ** 2 / (w**2).sum()
    assert release.effective_size.estimate == pytest.approx(effective, abs=1e-3)
    note = "Weighted: a person counts as often as visits says, kept in 0.5 to 4"
    assert note in repr(release)
    stored = json.loads(out.read_text(encoding="utf-8"))
    assert stored["weight"] == {"column": "visits", "bounds": [0.5, 4.0]}
    VALIDATOR.validate(stored)
    assert hn.Release.from_json(release.to_json()).facts == release.facts
    for wrong in ({"column": 1, "bounds": [0, 1]}, {"column": "w", "bounds": [3, 1]}, {}, None):
        with pytest.raises(hn.DataError):
            document.from_json(json.dumps(stored | {"weight": wrong}))


def test_a_plan_says_it() -> None:
    """A plan in words and as JSON; and a plan without a column."""
    ran = run("plan", *OPTIONS, "--weight", "0:5", "--unweighted-size")
    assert "noise grows with the highest weight, 5." in ran.out
    assert "The unweighted number of people comes with a standard error of" in ran.out
    shown = json.loads(run("plan", *OPTIONS, "--weight", "w=0:5", "--json").out)
    assert shown["weight"] == {"column": "w", "bounds": [0.0, 5.0], "missing": []}


@pytest.mark.usefixtures("ledgers")
def test_what_is_checked_and_refused(tmp_path: Path) -> None:
    """A check says how weights are read, and all that is wrong with them."""
    survey = write_survey(tmp_path)
    ran = run("check", survey, *OPTIONS, "--weight", "visits=0:5", "--missing", "-99")
    assert ran.status == 0, ran.err
    for said in (
        "Each counts as often as visits, kept in 0 to 5, no weight: -99",
        "below 0 counts as 0, above 5 as 5, and none as 0",
        "of several rows a person's largest counts",
        "is it the person's weight, and the same in all their rows?",
    ):
        assert said in ran.out
    for own, said in {
        ("--weight", "visits"): "--weight must be written COLUMN=LOW:HIGH",
        ("--weight", "visits=-1:5"): "bounds of a weight must be zero or more",
        ("--weight", "nothing=0:5"): "'nothing'",
        ("--weight", "person_id=0:5"): "'person_id' is the unit and the weight at once",
        ("--weight", "visits=0:5", "--neighbors", "replace"): "weight goes with add-remove alone",
        ("--effective-size",): "go with a weight",
        ("--weight", "0:5"): "given a column to release",
    }.items():
        assert said in refused("release", survey, *OPTIONS, *own)


def test_rows_of_one_person_have_one_weight() -> None:
    """It is the largest, in any order; missing rows do not matter, in items neither."""
    rows = {"id": [1, 1, 1, 2], "w": [None, 3.0, 1.0, 9.0], "i": ["a", None, "b", "a"]}
    queries = [hn.Items("i", ["a", "b"]), hn.Count("i", equals="a", name="is a")]
    about: dict[str, Any] = {"unit": "id", "privacy": hn.GaussianDP(mu=1e6), "i_know": True}
    for order in ([0, 1, 2, 3], [2, 1, 3, 0], [3, 0, 1, 2]):
        frame = pl.DataFrame(rows)[order]
        found = hn.release(frame, queries, weight=hn.Weight("w", bounds=(0, 5)), **about)
        for name, value in {"i=a": 8, "i=b": 3, "is a": 8}.items():
            assert found[name].estimate == pytest.approx(value, abs=1e-3)


def test_a_known_size_is_the_sum_of_weights() -> None:
    """With it counts come out right, and it is what shares are of."""
    frame = pl.DataFrame({"a": [True, False] * 50, "w": [3.0, 1.0] * 50})
    weight = hn.Weight("w", bounds=(0, 5))
    found = hn.release(
        frame, [hn.Count("a")], weight=weight, known_size=200, row_is_person=True,
        privacy=hn.GaussianDP(mu=1e6), i_know=True,
    )  # fmt: skip
    assert found["a"].estimate == pytest.approx(150, abs=1e-3)
    assert found.share("a").estimate == pytest.approx(0.75, abs=1e-4)
