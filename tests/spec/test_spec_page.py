"""The page of specs: every word is there, and every example runs."""

import csv
import re
import tomllib
from pathlib import Path

import pytest

from halfnoise import GaussianDP, Ledger
from halfnoise.spec.header import Header
from halfnoise.spec.toml import read_spec
from halfnoise.spec.vocabulary import BUDGET, QUERIES, WORDS
from halfnoise.spec.words import read, text_format
from support import stored
from support.commands import run, write_survey

PAGE = (Path(__file__).parents[2] / "docs" / "spec.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([a-z-]+)` \| `(.+?)` \|", PAGE, re.MULTILINE))
CHOICES = 'choice = ["blood=A,B", "day=2026-01-05"]\nbins = "age=0,18,65"'
# What an example needs beside itself; groups by two columns are listed for both.
WITH = {
    "at-most": 'items = "blood=A,B"',
    "split": 'items = "blood=A,B"',
    "table": CHOICES,
    "margins": f'{CHOICES}\ntable = "blood,age"',
    "by-cell": f'{CHOICES}\nmean = "income=0:1000"',
    "importance": 'count = "smoker"',
    "design-effect": 'sampling = "srs"',
    "by": ROWS["groups"],
    "groups": ROWS["by"],
    "other": 'by = "blood"\ngroups = ["A"]',
    "missing-group": 'by = "blood"\ngroups = ["A"]',
    "max-groups": 'by = "blood"\ngroups = ["A", "B"]',
    "no-group-sizes": 'by = "blood"\ngroups = ["A", "B"]',
    "discover-delta": 'by = "blood"\ngroups = "discover"\nepsilon = 1\ndelta = 1e-6',
    "delta": "epsilon = 1",
    "size-dial": "counts = 4",
    "objective": f'{CHOICES}\ntable = "blood,age"',
    "unweighted-size": 'weight = "visits=0:5"',
    "effective-size": 'weight = "visits=0:5"',
    "missing": 'where = "age:at-least:18"',
}
STORED = {
    "sheet": lambda columns, folder: stored.xlsx({"a": []}, folder, Visits=columns),
    "file-table": stored.sqlite,
}
TITLES = {"skip": 3, "header-row": 3}  # lines before the header, where an example says so


def test_every_word_is_there() -> None:
    """The page has each word once, in the order of the program, and no other."""
    assert list(ROWS) == list(WORDS)


@pytest.mark.parametrize("word", WORDS)
def test_each_example_runs(word: str, tmp_path: Path) -> None:
    """Each example is TOML of that word, and a plan over the survey takes it."""
    example = ROWS[word]
    assert list(tomllib.loads(example)) == [word]
    text = f"{example}\n{WITH.get(word, '')}\n"
    said = tomllib.loads(text)
    text += "" if said.keys() & set(QUERIES) else 'count = "smoker"\n'
    text += "" if said.keys() & set(BUDGET) else "mu = 1\n"
    text += "" if said.keys() & {"unit", "row-is-person"} else 'unit = "person_id"\n'
    (spec := tmp_path / "a.toml").write_text(text, encoding="utf-8")
    (tmp_path / "places.csv").write_text("A,2026-01-05\nA,2026-01-06\nB\n", encoding="utf-8")
    survey = write_survey(tmp_path)
    rows = survey.read_text(encoding="utf-8")
    survey.write_text("A survey\n" * TITLES.get(word, 0) + rows, encoding="utf-8")
    if word in STORED:
        names, *cells = csv.reader(rows.splitlines())
        survey = STORED[word](dict(zip(names, zip(*cells, strict=True), strict=True)), tmp_path)
    named = tmp_path / "a.ledger"  # a part of a limit needs one
    Ledger.create(named, limit=GaussianDP(mu=1), unit="person_id")
    ran = run("plan", survey, "--spec", spec, "--ledger", named)
    assert ran.status == 0, ran.err
    words = read_spec(spec, {})
    without = {name: value for name, value in words.items() if name != word}
    header = Header(rows.splitlines()[0].split(","))
    if word not in (*QUERIES, "by", "groups"):  # the others can do without, but it says something
        said_more = read(words, header), text_format(words)
        assert said_more != (read(without, header), text_format(without))


def test_the_example_on_top_runs(tmp_path: Path) -> None:
    """The file that the page begins with can be released."""
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (spec := tmp_path / "smokers.toml").write_text(text, encoding="utf-8")
    assert run("release", write_survey(tmp_path), "--spec", spec).status == 0
