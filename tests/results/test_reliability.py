"""Marks and what is left out: by noisy values alone, and by the rule that is printed."""

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.errors import DataError, InvalidParameterError
from halfnoise.results.formats import as_csv, as_markdown
from halfnoise.results.reliability import LEFT_OUT, Reliability, relative, said
from support.commands import refused, run, write_survey
from support.release_schema import VALIDATOR, strictly
from support.tabled import everything

RULE = ("(a) from 20% on, (b) from 33% on, .. from 50% on",)


def shaky() -> Any:
    """Return a release whose numbers are reliable, shaky, and nothing but noise."""
    release = everything()
    std = np.sqrt(release.errors.covariance.diagonal())
    shares = np.resize([0.01, 0.25, 0.4, 0.6, -0.01, math.inf, 0.1], std.size)
    return replace(release, values=std / shares)


def test_marks_follow_from_what_is_shown() -> None:
    """Each number of a CSV has its relative standard error, its mark, or is left out."""
    release = shaky().flagged(0.2, 0.33, suppress=0.5)
    rows = [*csv.DictReader(io.StringIO(as_csv(release).decode()))]
    columns = release.columns()
    found = {""}
    for place, row in enumerate(rows):
        x, std = (float(columns[title][place]) for title in ("estimate", "std"))
        people = columns["kind"][place] in ("size", "count", "table")
        share = math.inf if x == 0 or (people and x < 0) else std / abs(x)
        assert float(row["relative_std"]) == share
        steps = [(0.5, ".. 50% or more"), (0.33, "(b) 33% or more"), (0.2, "(a) 20% or more")]
        flag = next((text for least, text in steps if share >= least), "")
        assert row["flag"] == flag
        found.add(flag)
        numbers = [row[title] for title in ("estimate", "std", "low", "high")]
        gone = flag.startswith(LEFT_OUT)
        assert numbers == [""] * 4 if gone else float(numbers[0]) == x
    assert len(found) == 4  # all of them are there


def test_what_is_at_or_below_zero_is_noise() -> None:
    """Counts; sums and means may be below zero, and are measured by their size."""
    x, std = np.array([-50.0, 0.0, 50.0]), np.full(3, 5.0)
    assert relative(x, std, counts=True).tolist() == [math.inf, math.inf, 0.1]
    assert relative(x, std, counts=False).tolist() == [0.1, math.inf, 0.1]
    assert relative(np.zeros(1), np.zeros(1), counts=True).tolist() == [0.0]  # known, nobody
    assert [said(each) for each in (0.0, 0.0049, 0.994, 0.996)] == [
        "0%",
        "0.49%",
        "99%",
        "over 100%",
    ]


def test_the_rule_is_printed_and_kept() -> None:
    """In text, Markdown, notebooks and JSON, which comes back with it and keeps every number."""
    release = shaky()
    marked = release.flagged(0.2, 0.33, suppress=0.5)
    for text in (
        repr(marked),
        as_markdown(marked),
        marked._repr_html_(),
        "\n".join(marked.notes()),
    ):
        assert all(each in text for each in RULE)
        assert LEFT_OUT in text
    stored = strictly(marked.to_json())
    VALIDATOR.validate(stored)
    assert stored["reliability"] == {"flags": [0.2, 0.33], "suppress": 0.5}
    again = hn.Release.from_json(marked.to_json())
    assert repr(again) == repr(marked)
    assert stored["values"] == json.loads(release.to_json())["values"]
    assert marked.to_polars().equals(release.to_polars())
    assert "Marks" not in repr(release)


def test_cells_of_tables_are_marked_alike() -> None:
    """A table as one reads it marks what the list marks."""
    release = shaky().flagged(0.2, 0.33, suppress=0.5)
    columns = release.columns()
    named = dict(
        zip(columns["name"], zip(columns["estimate"], columns["std"], strict=True), strict=True)
    )
    rule = Reliability((0.2, 0.33), 0.5)
    table = release.table("sex", "region")
    seen = set[str]()
    for (sex,), cells in table.wide().lines[:-1]:
        for region, cell in zip(table.categories[1], cells, strict=False):
            x, std = named[f"sex={sex}, region={region}"]
            (mark,) = rule.marks(relative(np.array([x]), np.array([std]), counts=True)).tolist()
            assert cell == LEFT_OUT if mark == LEFT_OUT else cell.endswith(mark)
            assert mark or "(" not in cell
            seen.add(mark)
    assert len(seen) > 1


def test_groups_are_marked_too() -> None:
    """The template keeps the rule for all groups; a column called flag stays."""
    rows = [{"id": i, "flag": "xy"[i % 2], "yes": i % 3 == 0} for i in range(300)]
    table = hn.release(
        pl.DataFrame(rows),
        [hn.Count("yes")],
        by="flag",
        groups=["x", "y"],
        unit="id",
        privacy=hn.GaussianDP(mu=1),
        ledger=None,
    ).flagged(1e-9)
    head, *lines = as_csv(table).decode().splitlines()
    assert head == "flag,name,kind,estimate,std,relative_std,low,high,flag (noise)"
    assert all(line.endswith("(a) 1e-07% or more") for line in lines)
    assert hn.Release.from_json(table.to_json()).facts["reliability"]["flags"] == [1e-9]


@pytest.mark.parametrize(
    ("flags", "suppress", "told"),
    [
        ((0.3, 0.2), None, "flags must be rising"),
        ((0.2, 0.2), None, "flags must be rising"),
        ((0.0,), None, "flag must be a positive number"),
        ((math.nan,), None, "flag must be a finite number"),
        ((0.2,), 0.1, "suppress must be above the last flag, 0.2"),
        ((), -1.0, "suppress must be a positive number"),
        (tuple(i / 100 for i in range(1, 28)), None, "as many as there are letters"),
    ],
)
def test_rules_that_are_none(flags: tuple[float, ...], suppress: float | None, told: str) -> None:
    """Thresholds rise, and what is left out is worse than what is marked."""
    with pytest.raises(InvalidParameterError, match=told):
        everything().flagged(*flags, suppress=suppress)
    stored = json.loads(everything().to_json())
    stored["reliability"] = {"flags": [*flags], "suppress": suppress}
    with pytest.raises(DataError):
        hn.Release.from_json(json.dumps(stored))


@pytest.mark.usefixtures("ledgers")
def test_the_command_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--flag and --suppress, refused before anything is spent where they are none."""
    monkeypatch.chdir(tmp_path)
    survey = write_survey(tmp_path)
    words = ("release", survey, "--count", "smoker", "--unit", "person_id", "--mu", "1")
    ran = run(*words, "--flag", "0.0001%", "--suppress", "1000000%")
    assert ran.out.splitlines()[0].endswith(",flag")
    assert "Marks by relative standard error: (a) from 0.0001% on, .. from 1e+06% on" in ran.err
    spent = len(hn.Ledger("survey.csv.ledger").history().charges)
    assert "did you mean 20%?" in refused(*words, "--flag", "20,33")
    assert "above the last flag" in refused(*words, "--flag", "20%", "--suppress", "10%")
    assert len(hn.Ledger("survey.csv.ledger").history().charges) == spent
    for name in ("first", "first"):  # the same again, byte for byte
        again = run(*words, "--flag", "20%", "--name", name, "--out", "table.csv")
        assert again.status == 0, again.err
    other = run(*words, "--name", "first", "--out", "table.csv")
    assert "exists and is another" in other.err
