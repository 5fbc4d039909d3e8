"""Dialects: each is what the docs say, and only a name for options."""

from dataclasses import fields
from pathlib import Path

import pytest

import halfnoise as hn
from halfnoise.data.dialects import DIALECTS
from halfnoise.data.sources import open_source
from halfnoise.spec.words import text_format
from support.commands import run

PAGE = (Path(__file__).parents[2] / "docs" / "spelling.md").read_text(encoding="utf-8")
SHOWN = {"\u202f": "narrow", "\u00a0": "no-break"}


def line(name: str) -> str:
    """Return the line of the docs about a dialect."""
    own = DIALECTS[name]
    marks = (name, own["delimiter"], own["decimal"], SHOWN.get(own["thousands"], own["thousands"]))
    cells = [
        *(f"`{mark}`" for mark in (*marks, own["dates"])),
        *map(" ".join, (own["yes"], own["no"])),
    ]
    return "| " + " | ".join(cells).replace(" |  | ", " | | ").rstrip() + " |"


def test_the_docs_say_what_each_stands_for() -> None:
    """The table has one line for each dialect, and no other."""
    _, _, below = PAGE.partition("| dialect |")
    table = below.partition("\n\n")[0].splitlines()[2:]
    assert table == [line(name) for name in DIALECTS]


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_is_a_name_for_options(name: str) -> None:
    """What the options say in words is the same, and each option that is said wins."""
    own = DIALECTS[name]
    words = {key: ",".join(own[key]) for key in ("yes", "no") if own[key]}
    words |= {key: own[key] for key in ("decimal", "dates")}
    words["thousands"] = SHOWN.get(own["thousands"], own["thousands"])
    spelled, named = text_format(words).spelling, text_format({"dialect": name}).spelling
    assert spelled == named != hn.TextFormat().spelling
    said = {"decimal": ";", "thousands": "'", "dates": "yyyymmdd", "yes": "x", "no": "z"}
    for key, value in said.items():
        other = text_format({"dialect": name, key: value}).spelling
        differ = [e.name for e in fields(other) if getattr(other, e.name) != getattr(named, e.name)]
        assert differ == [key]


def test_a_decimal_mark_that_is_said_takes_the_mark_for_thousands_away() -> None:
    """It can be but one of the two."""
    assert hn.TextFormat.of_dialect("de", decimal=".").thousands is None


@pytest.mark.parametrize(
    ("ending", "rows"),
    [
        (".csv", "p;x\n1;a,b\n"),
        (".tsv", "p\tx\n1\ta,b\n"),
        (".jsonl", '{"p": "1", "x": "a,b"}\n'),
    ],
)
def test_its_delimiter_is_that_of_csv_alone(ending: str, rows: str, tmp_path: Path) -> None:
    """Where the ending says what parts cells, or nothing does, a dialect is no mistake."""
    (path := tmp_path / f"t{ending}").write_text(rows, encoding="utf-8")
    with open_source(path, text=hn.TextFormat.of_dialect("de")) as opened:
        source = opened.of(["p", "x"])
        source.fill()
        assert source.rows().select("p", "x").to_native().fetchall() == [("1", "a,b")]


def test_a_spec_keeps_a_dialect_and_what_is_said_beside_it(tmp_path: Path) -> None:
    """What is saved reads the same file in the same way; the command line wins over it."""
    (data := tmp_path / "t.csv").write_text("p;x\n1;2000,5\n", encoding="utf-8")
    spec, asked = tmp_path / "s.toml", ("--sum", "x=0:9000", "--row-is-person", "--mu", "1e6")
    text = ("--dialect", "de", "--thousands", " ", "--yes", "ja,'s", "--ignore-case")
    first = run("release", data, *asked, *text, "--save-spec", spec)
    saved = spec.read_text(encoding="utf-8")
    for each in ('dialect = "de"', 'thousands = " "', """yes = "ja,'s\"""", "ignore-case = true"):
        assert f"{each}\n" in saved
    again = run("release", data, "--spec", spec)
    assert first.table["x"] == again.table["x"] == 2000.5
    other = run("release", data, "--spec", spec, "--decimal", ".")
    assert other.table["x"] == 0


def test_a_mark_that_the_encoding_lacks_is_refused() -> None:
    """No cell could hold it: every number with a mark between thousands would be missing."""
    for encoding in ("cp1252", "latin-1", "ascii"):
        with pytest.raises(hn.InvalidParameterError, match=f"a mark that {encoding} has.*no-break"):
            hn.TextFormat.of_dialect("fr", encoding=encoding)
    assert hn.TextFormat.of_dialect("fr", encoding="cp1252", thousands=" ").thousands == " "
    for name in set(DIALECTS) - {"fr"}:
        assert hn.TextFormat.of_dialect(name, encoding="cp1250").encoding == "cp1250"


@pytest.mark.parametrize(("mark", "said"), [("\u202f", "narrow"), (" ", "space")])
def test_a_mark_that_cannot_be_seen_is_named(mark: str, said: str, tmp_path: Path) -> None:
    """A check calls it as the option does, and asks whether it is that one."""
    (path := tmp_path / "t.csv").write_text("p;x\n1;2\n", encoding="utf-8")
    words = ("--dialect", "fr", "--thousands", mark, "--mean", "x=0:9", "--unit", "p", "--mu", "1")
    shown = run("check", path, *words).out
    assert f"thousands {said}," in shown
    assert f"decimal mark ,, {said} between thousands;" in shown
    assert f"the one that is called {said}? Else say --thousands" in shown
    text = (*words[:3], "none", *words[4:])
    assert "the one that" not in run("check", path, *text).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sum", "x=0:20.000"), "say 20000, or for the smaller number 20.0000"),
        (("--mean", "x=-1.500:9:variance"), "say -1500,"),
        (("--bins", "x=0,1.000"), "say 1000,"),
        (("--count", "n=x:at-least:1.000"), "say 1000,"),
        (("--count", "x", "--where", "x:between:1..2.000"), "say 2000,"),
        (("--count", "x", "--by", "x:bands:0,1.000"), "say 1000,"),
        (("--count", "x", "--weight", "x=0:5.000"), "say 5000,"),
        (("--count", "x", "--size-importance", "1", "--known-size", "200.000"), "say 200000,"),
    ],
)
def test_a_number_of_the_release_is_not_read_in_two_ways(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    """Whoever writes 20.000 in a file for 20000 may do so in a bound, which would be 20."""
    (path := tmp_path / "t.csv").write_text("p;x\n1;20.000\n", encoding="utf-8")
    asked: tuple[str | Path, ...] = (path, *words, "--unit", "p", "--mu", "1")
    for command in ("release", "check"):
        ran = run(command, *asked, "--dialect", "de")
        assert ran.status == 2
        assert (ran.out + ran.err).count(said) == 1
    other = ("--dialect", "de", "--thousands", "none"), ("--delimiter", ";")
    for text in other:
        assert "between thousands, got" not in run("check", *asked, *text).out
