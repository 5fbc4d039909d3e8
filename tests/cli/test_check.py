"""``halfnoise check`` and ``halfnoise spec``: what is told before anything is read or spent."""

import contextlib
import json
import os
import sqlite3
import tomllib
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import openpyxl
import polars as pl
import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.data.meaning import codes, readings
from halfnoise.data.spelling import Spelling
from support import engines
from support.commands import PEOPLE, refused, run, write_survey

MU = ("--mu", "1")
ALL = (
    *("--count", "smoker", "--count", "old=age:at-least:65", "--count", "b=blood:yes:1,A"),
    *("--sum", "visits=0:20", "--mean", "income=0:1000", "--choice", "blood=A,B"),
    *("--bins", "age=0,18,65", "--where", "day:at-least:2026-01-01", "--missing", "-99"),
    *("--by", "q_a", "--groups", "yes,no", "--importance", "smoker=2"),
)


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Return a small survey."""
    return write_survey(tmp_path)


def found(*words: str | Path, status: int = 0) -> dict[str, Any]:
    """Return what a check finds, as JSON."""
    ran = run("check", *words, "--json")
    assert ran.status == status, ran
    shown: dict[str, Any] = json.loads(ran.out)
    return shown


@pytest.mark.usefixtures("ledgers")
def test_a_release_becomes_a_check_by_one_word(survey: Path, tmp_path: Path) -> None:
    """Everything is told that is understood, and nothing is read, spent or written."""
    survey.write_bytes(survey.read_bytes().partition(b"\n")[0] + b"\n" + b'\xff\0"' * 100)
    before = sorted(tmp_path.iterdir())
    ran = run("check", survey, *ALL, *PEOPLE, *MU, "--out", tmp_path / "t.csv", "--name", "one")
    assert (ran.status, ran.err) == (0, "")
    for said in (
        "survey.csv: CSV",
        'By default: delimiter ,, quote ", encoding utf-8',
        "count 'old': age at least 65, no answer: -99",
        "yes: true, yes, y, t in capitals or not, or the number 1",
        "yes: as text, capitals as they are: 1, A; also as numbers, however written (1.0): 1",
        "below 0 counts as 0, above 20 as 20",
        "any other value, and none: 'other'",
        "no answer: an empty cell, or as text, capitals as they are: -99; also as numbers",
        "One person: rows with the same person_id. No row was read and nothing was spent.",
        "In the table: day at least 2026-01-01",
        "Groups by q_a: 'yes', 'no'; everybody else is in 'other'.",
        "A squared error of 'smoker' weighs 2.",
        "smoker: is yes written 1, true, yes, y or t? Else say its codes (:yes:).",
        "Budget: mu 1.",
        "margin of error (95%)",
        "A new ledger would be made:",
    ):
        assert said in ran.out
    assert "Refused" not in ran.out
    assert sorted(tmp_path.iterdir()) == before


def test_all_that_is_wrong_is_told(survey: Path, tmp_path: Path) -> None:
    """Not only the first: of words, columns, the budget, the spec and the output, with a hint."""
    spec = tmp_path / "s.toml"
    spec.write_text('cuont = ["smoker"]\nwhere = ["age:at-least:x"]\nchioce = "a"\n')
    words = (
        "--count",
        "q_a",
        "--count",
        "smokr",
        "--count",
        "x=age:foo:1",
        "--sum",
        "visits=9:1",
        "--mu",
        "x",
    )
    more = ("--mean", "incme=0:1", "--importance", "smkr=2", "--out", "no/t.csv")
    told = found(survey, "--spec", spec, *words, *more, status=2)["refused"]
    for said in (
        "did you mean 'count'?",
        "did you mean 'choice'?",
        "compares with neither numbers nor days",
        "there is no column 'smokr'; did you mean 'smoker'?",
        "there is no column 'incme'; did you mean 'income'?",
        "x=age:foo:1",
        "a low number below a high one",
        "--mu must be a number, got 'x'",
        "importance must be given for the name of a query, got 'smkr'; did you mean 'smokr'?",
        "who is one person is never guessed",
        "a folder that exists",
    ):
        assert sum(said in each for each in told) == 1, said
    assert len(told) == 11, told
    ran = run("check", survey, "--spec", spec, *words, *more)
    assert ran.err == "halfnoise: a release would be refused for what is listed\n"
    assert all(each in ran.out for each in told)


def test_what_types_forbid_is_told(tmp_path: Path) -> None:
    """Each query, condition and unit that its column cannot be read for, as a release refuses."""
    path = tmp_path / "t.parquet"
    table = {"id": [[1]], "day": ["2026-01-01"], "age": [3], "yes": [True], "b": ["x"]}
    pl.DataFrame(table).with_columns(pl.col("day").str.to_date()).write_parquet(path)
    asked = (
        *("--count", "a=day:at-least:3", "--count", "c=age:at-least:2026-01-01"),
        *(
            "--sum",
            "day=0:1",
            "--count",
            "yes",
            "--unit",
            "id",
            "--where",
            "yes:at-least:2026-01-01",
        ),
    )
    shown = found(path, *asked, *MU, status=2)
    assert len(shown["refused"]) == 4, shown["refused"]
    types = {c: kind for query in shown["queries"] for c, kind in query["columns"].items()}
    assert types == {"day": "days", "age": "whole numbers", "yes": "yes and no"}
    for text in shown["refused"]:
        alone = ("holds Date, not numbers", "not days", "cannot be told apart")
        assert any(said in text for said in alone), text
    shown = found(path, "--count", "yes", "--choice", "age=a,1", "--row-is-person", *MU)
    assert "never, since the column holds whole numbers: a" in shown["queries"][1]["read_as"]


SPELLINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "German": {"decimal": ",", "thousands": ".", "dates": "dd.mm.yyyy", "yes": ("ja",)},
    "any case": {"ignore_case": True},
}


def counted(cells: dict[str, str], query: Any, spelling: str) -> set[str]:
    """Return which of some cells a release counts."""
    table = pl.DataFrame({"way": [*cells], "x": [*cells.values()]})
    people: Any = {"by": "way", "groups": [*cells], "row_is_person": True}
    sharp: Any = {"privacy": hn.GaussianDP(mu=1e6), "i_know": True}
    text = hn.TextFormat(**SPELLINGS[spelling])
    out = hn.release(table, [query], text=text, **people, **sharp)
    return {way for way in cells if round(out[way]["n"].estimate) == 1}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("literal", ["1", "Fem", "2026-02-01", "-99", "2.5"])
def test_codes_mean_what_is_told(literal: str, spelling: str) -> None:
    """A release counts the spellings that are named, and no other."""
    own = Spelling(**SPELLINGS[spelling])
    told = " ".join(codes([literal], "text", own))
    tried = {
        "as text": f" {literal} ",
        "as numbers": literal.replace(".", own.decimal) + ("0" if "." in literal else "e0"),
        "as days, written yyyy-mm-dd": f"{literal} 12:30",
        "or dd.mm.yyyy": "1.2.2026" if "2026" in literal else "?",
        "in capitals or not": literal.swapcase() if literal.isalpha() else "?",
        "with spaces or without": f"{literal[0]} {literal[1:]}",
    }
    if len(literal) == 1:
        del tried["with spaces or without"]
    if not literal.isalpha():
        del tried["in capitals or not"]
    named = {said for said in tried if said in told}
    assert counted(tried, hn.Count("x", equals=literal, name="n"), spelling) == named


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_yes_is_what_is_told(spelling: str) -> None:
    """A column of text says yes as it is told, in capitals or not, and by no other word."""
    own = Spelling(**SPELLINGS[spelling])
    (told,) = readings(hn.Count("x"), {"x": nw.String()}, own)
    words, _, rest = told.removeprefix("yes: ").partition(" in capitals or not, or the number 1 (")
    named = [*words.split(", "), *rest.partition(")")[0].split(", "), "1"]
    tried = {*named, *map(str.upper, named), "ja", "1.0", "1,0", "2", "no", "si", "01"}
    cells = {f"cell {i}": cell for i, cell in enumerate(sorted(tried))}
    counts = counted(cells, hn.Count("x", name="n"), spelling)
    assert {cells[way] for way in counts} == {*named, *map(str.upper, named), "01"}


def test_yes_and_no_are_compared_as_is_told() -> None:
    """Codes that are neither are never found in a column of yes and no."""
    listed = ["true", "N", "1", "0.0", "2", "ja"]
    fit, never = codes(listed, "yes and no", Spelling(yes=("ja",)))
    assert fit == "as yes or no: true, N, 1, 0.0"
    assert never.endswith(": 2, ja")
    table = pl.DataFrame({"x": [True, False]})
    for code in listed:
        query: Any = hn.Count("x", equals=code, name="n")
        sharp: Any = {"privacy": hn.GaussianDP(mu=1e6), "i_know": True, "row_is_person": True}
        found = round(hn.release(table, [query], **sharp)["n"].estimate)
        assert (found == 1) == (code in fit), code


@pytest.mark.parametrize("engine", ["csv", "jsonl", "ods", "parquet", "sqlite", "tsv", "xlsx"])
def test_only_what_applies_to_the_format_is_told(engine: str, tmp_path: Path) -> None:
    """What is shown is what may be said of such a file; what it tells itself is not declared."""
    path = engines.ENGINES[engine](pa.table({"id": ["p"], "x": ["1"]}), tmp_path)
    words = ("--count", "x", "--unit", "id", *MU)
    file = found(path, *words)["file"]
    of_cells = {"decimal", "dates", "ignore_case"}
    of_lines = {"delimiter", "quote", "quote_newlines", "encoding", "skip"}
    others = {"jsonl": {"encoding"}, "parquet": set[str](), "sqlite": {"table"}}
    others |= {"csv": of_lines, "tsv": of_lines}
    assert file["declared"] == {}
    assert {*file["default"]} == of_cells | others.get(engine, {"sheet", "skip"})


def test_what_a_dialect_says_is_declared(tmp_path: Path) -> None:
    """A delimiter where it is that of the file, and the marks of cells anywhere."""
    words = ("--count", "x", "--unit", "id", *MU, "--dialect", "de")
    for ending, mark in (("csv", ";"), ("tsv", "\t")):
        (path := tmp_path / f"t.{ending}").write_text(f"id{mark}x\n", encoding="utf-8")
        told = found(path, *words)["file"]
        declared = {"decimal", "thousands", "dates", "yes", "no"}
        assert {*told["declared"]} == declared | ({"delimiter"} if ending == "csv" else set())
        assert told["default"].get("delimiter") == ("\t" if ending == "tsv" else None)


def test_the_ledger_tells_what_would_be_left(survey: Path, tmp_path: Path) -> None:
    """What would stand there with this release; and the status of a budget that refuses."""
    ledger = tmp_path / "l.ledger"
    run("ledger", "init", ledger, "--mu", "2", *PEOPLE)
    words = (survey, "--count", "smoker", *PEOPLE, "--ledger", ledger)
    before = ledger.read_bytes()
    shown = found(*words, "--mu", "1")
    assert "with this release, one release so far: mu 1 of 2" in shown["ledger"]
    (why,) = found(*words, "--mu", "3", status=4)["refused"]
    assert "the budget does not allow it" in why
    assert ledger.read_bytes() == before
    said = found(*words, "--mu", "1", "--resume", "none", status=2)["refused"]
    assert "a charge that stands" in said[0]
    assert run("release", *words, "--mu", "1.5", "--name", "a").status == 0
    shown = found(*words, "--mu", "1.5", "--name", "a")
    assert "'a' is released; nothing more would be charged" in shown["ledger"]
    assert "another request" in found(*words, "--mu", "1", "--name", "a", status=2)["refused"][0]


def test_without_a_file_the_words_are_looked_at(tmp_path: Path) -> None:
    """A file that is not there hides no other mistake, and a pattern is none."""
    told = found(tmp_path / "no.csv", "--count", "q_*", "--sum", "x=1:0", *MU, status=2)["refused"]
    assert ["there is no file" in told[0], "a low number" in told[1], len(told)] == [True, True, 3]


def test_only_what_is_open_is_asked(survey: Path) -> None:
    """What was declared is not asked again."""
    asked = ("--count", "s=smoker:yes:1", "--mean", "income=0:9", *PEOPLE, *MU)
    assert found(survey, *asked)["look_up"][0].endswith("None is declared.")
    told = found(survey, *asked, "--missing", "-99")["look_up"]
    assert [each.partition(":")[0] for each in told] == ["income", "person_id"]
    assert "None is declared" not in told[0]
    wide = survey.with_name("wide.csv")
    wide.write_text("person_id;income\n", encoding="utf-8")
    asked = ("--mean", "income=0:9", *PEOPLE, *MU, "--delimiter", ";")
    *_, comma, encoding = found(wide, *asked)["look_up"]
    assert "a comma" in comma
    assert "UTF-8" in encoding
    assert "UTF-8" not in str(found(wide, *asked, "--encoding", "cp1252")["look_up"])
    assert "a comma" not in str(found(wide, *asked, "--decimal", ",")["look_up"])


@pytest.mark.parametrize(
    ("words", "both"),
    [
        (("--choice", "blood=A,B"), "'B'"),
        (("--count", "b=visits:yes:1,-99.0"), "'-99.0'"),
        (("--items", "blood=O,B"), "'B'"),
        (("--count", "b=visits:in:3,-99"), "'-99'"),
        (("--count", "smoker", "--where", "blood:is:B"), "'B'"),
        (("--choice", "blood=A,O"), None),
    ],
)
def test_values_that_are_missing_are_told(
    words: tuple[str, ...], both: str | None, survey: Path
) -> None:
    """A listed value that is declared a code for no answer will be nobody's, and that is said."""
    told = " ".join(found(survey, *words, "--missing", "-99,B", *PEOPLE, *MU)["look_up"])
    assert ("counts as no answer" in told) == (both is not None)
    assert both is None or f"{both} is listed, but counts as no answer." in told


ODD = ["person_id", 'a "b"', "a,b", "a {day}", "x=y:is:z", "back\\slash", "del\x7f", "Größe", "p*"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_first_spec(tmp_path: Path, kind: str) -> None:
    """All columns stand in it, as comments that can be put in; check says what is missing."""
    path, spec = tmp_path / f"t.{kind}", tmp_path / "s.toml"
    frame = pl.DataFrame({name: [1] for name in ODD})
    frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    assert run("spec", path, "--out", spec).status == 0
    text = spec.read_text(encoding="utf-8")
    assert run("spec", path).out == text
    assert ("holds whole numbers" in text) == (kind == "parquet") == ("--skip" not in text)
    assert set(tomllib.loads(text)) == {"count", "sum", "mean", "choice", "bins", "missing"}
    told = found(path, "--spec", spec, status=2)["refused"]
    assert [each.partition(" ")[0] for each in told] == ["there", "who", "the"]
    shown = [line.partition(": ")[2] for line in text.splitlines() if "#   count" in line]
    names = [line.partition(": ")[2] for line in text.splitlines() if "#   unit" in line]
    assert len(shown) == len(ODD)
    firsts = [tomllib.loads(f"x = [{each}]")["x"][0] for each in shown[1:]]
    filled = text.replace("count = []", f"count = {json.dumps(firsts)}").replace(
        "# unit = [", f"unit = [{names[0]}] # "
    )
    spec.write_text(f"{filled}mu = 1\n", encoding="utf-8")
    queries = found(path, "--spec", spec)["queries"]
    assert [query["name"] for query in queries] == ODD[1:]
    assert "must be a new file" in refused("spec", path, "--out", spec)
    assert "another file than the input" in refused("spec", path, "--out", path)


def test_a_first_spec_says_what_to_try_where_it_can_be_said(tmp_path: Path) -> None:
    """Sheets have no delimiter, databases no lines before a header, and names are no header."""
    sheet, database, text = (tmp_path / f"t.{kind}" for kind in ("xlsx", "sqlite", "csv"))
    (book := openpyxl.Workbook()).active.append(["id", "age"])
    book.save(sheet)
    with contextlib.closing(sqlite3.connect(database)) as made:
        made.execute("create table t (id, age)")
    text.write_text("id,age\n", encoding="utf-8")
    tried = [run("spec", path).out for path in (sheet, database, text)]
    tried.append(run("spec", text, "--names", "a,b").out)
    assert ["--skip" in said for said in tried] == [True, False, True, False]
    assert ["--delimiter" in said for said in tried] == [False, False, True, False]


def test_what_was_said_of_text_stays(tmp_path: Path) -> None:
    """The words for text are those of the spec, and names stand in for a header."""
    path, spec = tmp_path / "t.csv", tmp_path / "s.toml"
    path.write_text("1;2\n", encoding="latin-1")
    words = ("--delimiter", ";", "--encoding", "latin-1", "--names", "id,age")
    assert run("spec", path, *words, "--out", spec).status == 0
    told = found(path, "--spec", spec, "--count", "age", "--unit", "id", *MU)
    assert told["file"]["declared"] == {
        "delimiter": ";",
        "encoding": "latin-1",
        "names": ["id", "age"],
    }


def test_no_header_no_spec(tmp_path: Path) -> None:
    """A line that could be a row is not written, and JSON lines have none."""
    (path := tmp_path / "t.csv").write_text("Quirin,1958-03-02\n", encoding="utf-8")
    said = refused("spec", path)
    assert "--names a,b,c" in said
    assert "1958" not in said
    (path := tmp_path / "t.jsonl").write_text('{"Quirin": 1}\n', encoding="utf-8")
    assert "no header" in refused("spec", path)
    assert found(path, "--count", "a", "--row-is-person", *MU)["file"]["format"] == "JSON lines"


def test_a_spec_without_end_is_none(survey: Path) -> None:
    """Whatever the file is, no more of it is read than a spec may have."""
    assert "16 MB" in refused("release", survey, "--spec", "/dev/zero")


def test_days_are_understood_beside_what_is_refused(tmp_path: Path) -> None:
    """As the file writes them, also where words are read one by one; a release counts the same."""
    (path := tmp_path / "t.csv").write_text("id;seen\na;1.2.2024\nb;31.01.2024\n", encoding="utf-8")
    words = ("--dialect", "de", "--count", "n=seen:at-least:01.02.2024", "--row-is-person")
    shown = found(path, *words, "--count", "nowhere:yes:1", *MU, status=2)
    assert len(shown["refused"]) == 1
    assert shown["queries"][0]["meaning"] == "seen at least 2024-02-01"
    assert "written yyyy-mm-dd or dd.mm.yyyy" in shown["queries"][0]["read_as"][0]
    out = tmp_path / "t.json"
    ran = run("release", path, *words, "--mu", "1e6", "--i-know", "--no-ledger", "--out", out)
    assert ran.status == 0, ran
    table: Any = hn.Release.from_json(out.read_text(encoding="utf-8"))
    assert round(table["n"].estimate) == 1


@pytest.mark.parametrize("more", [(), ("--names", "smoker,b", "--quote-newlines")])
def test_half_a_character_is_told_before_the_charge(more: tuple[str, ...], tmp_path: Path) -> None:
    """The size of a file tells that its last character is cut; nothing is charged for it."""
    (path := tmp_path / "a.csv").write_bytes("smoker,b\n1,2\n".encode("utf-16-le")[:-1])
    words = ("--encoding", "utf-16-le", "--count", "smoker", "--row-is-person", *MU, *more)
    for command in ("check", "release"):
        ran = run(command, path, *words)
        assert ran.status == 3
        said = ran.out if command == "check" else ran.err
        assert said.count("is cut short: its bytes are not whole characters") == 1
    assert [*tmp_path.iterdir()] == [path]


def test_where_a_spec_cannot_go(survey: Path, tmp_path: Path) -> None:
    """A check refuses what a release refuses, in the same words and with the same status."""
    (there := tmp_path / "there.toml").write_text("", encoding="utf-8")
    out, nowhere = tmp_path / "t.csv", tmp_path / "no" / "a.toml"
    words = (survey, "--count", "smoker", *PEOPLE, *MU, "--no-ledger", "--out", out)
    for place in (there, nowhere, out, survey):
        said = refused("release", *words, "--save-spec", place)
        assert found(*words, "--save-spec", place, status=2)["refused"] == [said]
    assert found(*words, "--save-spec", tmp_path / "a.toml")["refused"] == []


def test_the_status_is_that_of_a_release(survey: Path, tmp_path: Path) -> None:
    """Whatever else is refused: what a release finds first, and what it costs last."""
    (zipped := tmp_path / "a.csv.gz").write_bytes(b"smoker\n1\n")
    (there := tmp_path / "there.csv").write_text("", encoding="utf-8")
    hn.Ledger.create(tmp_path / "a.ledger", limit=hn.GaussianDP(mu=0.5), unit="person_id")
    for words in (
        (zipped, "--count", "smoker", "--row-is-person", "--ledger", tmp_path / "none.ledger"),
        (survey, "--count", "smoker", *PEOPLE, "--ledger", tmp_path / "a.ledger", "--out", there),
        (survey, "--count", "smoker", *PEOPLE, "--ledger", tmp_path / "a.ledger"),
    ):
        ran, checked = (run(command, *words, *MU) for command in ("release", "check"))
        assert ran.status != 0
        assert checked.status == ran.status


@pytest.mark.usefixtures("ledgers")
def test_a_folder_in_which_no_ledger_can_be_made(
    survey: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check refuses it as a release does, which would make a ledger beside the data."""
    access = os.access
    monkeypatch.setattr(
        os, "access", lambda p, how: not (how & os.W_OK and p == survey.parent) and access(p, how)
    )
    words = (survey, "--count", "smoker", *PEOPLE, *MU)
    (said,) = found(*words, status=3)["refused"]
    assert "survey.csv.ledger' could not be made: you may not write there" in said
    assert said in refused("release", *words, "--dry-run", status=3)
    assert found(*words, "--no-ledger")["refused"] == []


def test_what_is_asked_of_groups(tmp_path: Path) -> None:
    """Of each column what is open there: how days are written, the unit of bands, whose names."""
    (path := tmp_path / "t.csv").write_text("id,x,seen,age,shop,town\n", encoding="utf-8")
    words = (path, "--count", "x", "--unit", "id", "--epsilon", "1", "--delta", "1e-6", "--by")
    mixed = ("shop,town", "--groups", "a,b", "--groups", "discover")
    for by, column, said in (
        (("seen:week", "--groups", "2026-W01"), "seen", "are its days written 2026-11-15?"),
        (("age:bands:0,18",), "age", "in the unit that is asked for? are there codes"),
        (mixed, "shop", "are these all its codes"),
        (mixed, "town", "does no name of a group name a person?"),
    ):
        (told,) = (e for e in found(*words, *by)["look_up"] if e.startswith(f"{column}: "))
        assert said in told
    told = str(found(*words, "seen:week", "--groups", "2026-W01", "--dates", "dd.mm.yyyy"))
    assert "days written 2026-11-15" not in told
    told = found(*words, "nowhere:bands:0,18", status=2)["refused"]
    assert "has no column 'nowhere'" in str(told) or "there is no column 'nowhere'" in str(told)
    told = str(found(*words, "age:bands:0,18", "--missing", "-99"))
    assert "codes for no answer" not in told


def test_columns_of_json_lines_are_asked_for(tmp_path: Path) -> None:
    """Nothing but the rows says which there are, so a misspelt one is not found out."""
    (path := tmp_path / "t.jsonl").write_text('{"smoker": 1}\n', encoding="utf-8")
    words = ("--count", "smokr", "--row-is-person", *MU)
    assert found(path, *words)["look_up"][-1].startswith("columns: are they spelled as in the file")


def test_items_without_a_mark_are_asked_for_one(survey: Path) -> None:
    """A cell of several codes would be one that is not listed."""
    words = (survey, "--items", "blood=A,B", *PEOPLE, *MU)
    assert "blood: are these all" in (told := found(*words)["look_up"][0])
    assert told.endswith("has each cell one code? Else say what parts several (--split).")
    assert "one code?" not in str(found(*words, "--split", ";")["look_up"])
