import json
from pathlib import Path

import duckdb
import pytest

import halfnoise as hn
from halfnoise.ledger.booking import NO_LEDGER
from support.commands import EXACT, PEOPLE, run, write_survey

EVERYTHING = (
    *("--count", "smoker", "--count", "old=age:at-least:65", "--sum", "visits=0:20"),
    *("--mean", "income=0:1000", "--choice", "blood=A,B,AB,O", "--bins", "age=0,18,65"),
    *("--missing", "-99,N/A"),
)
TRUTH = {
    "number of people": 6,
    "smoker": 4,
    "old": 3,
    "visits": 48,
    "income": 300,
    "income sum": 1200,
    "income answered": 4,
    "blood=A": 2,
    "blood=B": 1,
    "blood=AB": 1,
    "blood=O": 1,
    "blood=other": 1,
    "age=0 to 18": 0,
    "age=18 to 65": 3,
    "age=65 and over": 3,
    "age=other": 0,
}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Return a small survey."""
    return write_survey(tmp_path)


def released(*words: str | Path) -> dict[str, float]:
    """Release to standard output, and return the estimates without their noise."""
    ran = run("release", *words)
    assert ran.status == 0, ran.err
    return ran.table


def test_everything_at_once(survey: Path) -> None:
    """One command answers every kind of question."""
    assert released(survey, *EVERYTHING, *EXACT) == TRUTH


def test_data_goes_out_and_words_go_to_stderr(survey: Path) -> None:
    """A pipe gets a header and rows; promises, design and notes go to standard error."""
    ran = run("release", survey, *EVERYTHING, *EXACT)
    lines = ran.out.splitlines()
    assert lines[0] == "name,kind,estimate,std,relative_std,low,high"
    assert len(lines) == 1 + len(TRUTH)
    assert all(line.count(",") == 6 for line in lines)
    for words in ("Promised: mu 1e+06", "Design: ", "Intervals cover the noise"):
        assert words in ran.err
    assert "blood=other is 17% of blood: check the spelling" in ran.err
    dashed = run("release", survey, *EVERYTHING, *EXACT, "--out", "-")
    assert dashed.table == TRUTH
    assert "Written" not in dashed.err


def test_a_terminal_gets_a_table(survey: Path) -> None:
    """A terminal gets a rounded table with the promise below it."""
    words = ("--count", "smoker", *PEOPLE, "--mu", "1")
    ran = run("release", survey, *words, terminal=True)
    assert "95% interval" in ran.out
    assert "Promised: mu 1." in ran.out
    assert ran.err == f"{NO_LEDGER}\n"


@pytest.mark.parametrize(
    ("condition", "people"),
    [
        ("x=age:at-least:65", 3),
        ("x=age:above:65", 2),
        ("x=age:below:65", 3),
        ("x=age:up-to:65", 4),
        ("x=age:between:18..64", 3),
        ("x=blood:is:A", 2),
        ("x=blood:in:A,AB", 3),
        ("x=smoker:yes:2,no", 2),
        ("x=day:at-least:2026-05-05", 2),
        ("x=day:between:2026-02-01..2026-04-30", 3),
        ("x=day:is:2026-01-05", 1),
    ],
)
def test_conditions_in_words(survey: Path, condition: str, people: int) -> None:
    """Conditions are said in words that no shell eats, on numbers, texts and days."""
    assert released(survey, "--count", condition, *EXACT)["x"] == people


def test_a_condition_names_itself(survey: Path) -> None:
    """A condition without a name is called what it says; other codes for yes keep the column."""
    found = released(survey, "--count", "age:at-least:65", "--count", "smoker:yes:2", *EXACT)
    assert found == {"age at least 65": 3, "smoker": 1}


def test_a_survey_coded_1_and_2_counts_the_ones(survey: Path) -> None:
    """A 2 is no yes, unless it is said to be."""
    assert released(survey, "--count", "smoker", *EXACT)["smoker"] == 4
    assert released(survey, "--count", "smoker:yes:2", *EXACT)["smoker"] == 1


def test_patterns_expand_over_the_columns(survey: Path) -> None:
    """A pattern asks one count for each column that matches, but never for the unit."""
    assert released(survey, "--count", "q_*", *EXACT) == {"q_a": 4, "q_b": 2}
    every = released(survey, "--count", "*", *EXACT)
    assert "smoker" in every
    assert "person_id" not in every


def test_where_leaves_people_out(survey: Path) -> None:
    """A condition for all queries restricts counts, sums and means."""
    asked = ("--count", "smoker", "--sum", "visits=0:20", "--mean", "income=0:1000")
    found = released(survey, *asked, "--where", "age:at-least:65", "--missing", "-99,N/A", *EXACT)
    expected = {"smoker": 2, "visits": 28, "income": 200, "income answered": 2}
    assert expected.items() <= found.items()


def test_where_leaves_people_out_of_categories(survey: Path) -> None:
    """A condition for all queries restricts choices and bands."""
    asked = ("--choice", "blood=A,B", "--bins", "age=0,18,65", "--where", "age:at-least:65")
    expected = {"blood=A": 2, "blood=other": 1, "age=18 to 65": 0, "age=65 and over": 3}
    assert expected.items() <= released(survey, *asked, *EXACT).items()


def test_items_come_from_a_list_or_a_file(tmp_path: Path) -> None:
    """Items are listed on the command line or in a file, one row for each person and item."""
    data, listed = tmp_path / "drugs.csv", tmp_path / "drugs.txt"
    data.write_text("id,drug\na,x\na,y\nb,x\nb,x\nc,z\n", encoding="utf-8")
    listed.write_text("\ufeffx\n y \n\n", encoding="utf-8")
    words = ("--unit", "id", "--mu", "1e6", "--at-most", "2")
    expected = {"drug=x": 2, "drug=y": 1}
    for items in ("drug=x,y", f"drug=@{listed}"):
        assert expected.items() <= released(data, "--items", items, *words).items()


def test_several_files_are_one_table(tmp_path: Path) -> None:
    """A list or a glob of files is read as one table; a person may be in several."""
    for name, rows in (("a.csv", "1,yes\n2,no\n"), ("b.csv", "2,yes\n3,yes\n")):
        (tmp_path / name).write_text(f"id,x\n{rows}", encoding="utf-8")
    words = ("--count", "x", "--unit", "id", "--mu", "1e6")
    listed = released(tmp_path / "a.csv", tmp_path / "b.csv", *words)
    assert listed == released(tmp_path / "*.csv", *words) == {"number of people": 3, "x": 3}


def test_the_format_of_text_is_declared(tmp_path: Path) -> None:
    """Semicolons, decimal commas and another encoding are read as said."""
    data = tmp_path / "orte.csv"
    data.write_text("größe;stadt\n1,5;Köln\n2,25;Münster\n", encoding="latin-1")
    text = ("--delimiter", ";", "--decimal", ",", "--encoding", "latin-1")
    asked = ("--sum", "größe=0:9", "--choice", "stadt=Köln", "--row-is-person", "--mu", "1e6")
    found = released(data, *asked, *text)
    assert {"größe": 3.75, "stadt=Köln": 1, "stadt=other": 1}.items() <= found.items()


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet"])
def test_other_formats(tmp_path: Path, ending: str) -> None:
    """Tables in other formats are read by their ending."""
    path = tmp_path / f"data.{ending}"
    rows = "select * from (values (1, true), (2, false), (3, true)) as t(id, x)"
    settings = {"tsv": "(header, delimiter '\t')", "jsonl": "(format json)", "parquet": ""}
    duckdb.sql(f"copy ({rows}) to '{path}' {settings[ending]}")
    expected = {"number of people": 3, "x": 2}
    assert released(path, "--count", "x", "--unit", "id", "--mu", "1e6") == expected


def test_two_columns_can_be_the_unit(survey: Path) -> None:
    """With several columns, each combination is protected: here a person on a day."""
    words = (survey, "--count", "smoker", "--unit", "person_id, age", "--mu", "1e6")
    assert released(*words) == {"number of people": 6, "smoker": 4}
    rows = released(survey, "--count", "smoker", "--row-is-person", "--mu", "1e6")
    assert rows == {"number of people": 7, "smoker": 4}


@pytest.mark.parametrize("name", ["survey.csv", "survey.parquet"])
def test_a_dry_run_reads_no_row(survey: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A dry run says what would be read, without anything that reads rows, and writes nothing."""
    duckdb.read_csv(str(survey), all_varchar=True).write_parquet(
        str(survey.with_suffix(".parquet"))
    )

    def reads(*_: object) -> None:
        raise AssertionError("a row was read")

    monkeypatch.setattr("halfnoise.cli.releasing.carry_out", reads)
    before = sorted(survey.parent.iterdir())
    out = survey.with_name("table.csv")
    words = (*EVERYTHING, *PEOPLE, "--epsilon", "1", "--delta", "1e-6", "--out", out, "--dry-run")
    ran = run("release", survey.with_name(name), *words)
    assert (ran.status, ran.err) == (0, "")
    for said in (
        "count 'old': age at least 65, no answer: -99, N/A",
        "sum 'visits': visits, kept in 0 to 20 for each person",
        "choice 'blood': blood: A, B, AB, O, other",
        "rows with the same person_id. No row was read and nothing was spent.",
        "Budget: epsilon 1, delta 1e-06.",
        "margin of error (95%)",
    ):
        assert said in ran.out
    assert sorted(survey.parent.iterdir()) == before


def test_a_dry_run_stops_after_the_header(tmp_path: Path) -> None:
    """Of a file whose rows are garbage, a dry run sees the header alone."""
    path = tmp_path / "broken.csv"
    path.write_bytes(b"id,x\n" + b'\xff\x00"' * 1000)
    words = ("--count", "x", "--unit", "id", "--dry-run")
    ran = run("release", path, *words)
    assert (ran.status, ran.err) == (0, "")
    assert "What a budget buys" in ran.out


def test_json_is_read_back_by_the_library(survey: Path, tmp_path: Path) -> None:
    """The JSON of the command is a Release of the library, with the schema it promises."""
    out = tmp_path / "table.json"
    run("release", survey, *EVERYTHING, *EXACT, "--out", out)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["schema"] == 1
    assert found["guarantee"]["mu"] <= 1e6
    assert found["size"].keys() == {"estimate", "std", "low", "high"}
    assert found["unit"] == ["person_id"]
    table = hn.Release.from_json(out.read_text(encoding="utf-8"))
    assert isinstance(table, hn.Release)
    assert round(table["smoker"].estimate) == 4
    assert round(table.mean("income").estimate) == 300


def test_known_size_narrows_intervals(survey: Path, tmp_path: Path) -> None:
    """A public number of people is not estimated, and makes counts more accurate."""
    words = ("release", survey, "--count", "smoker", "--count", "q_*", *PEOPLE, "--mu", "1")
    stds = {}
    for name, extra in (("free", ()), ("known", ("--known-size", "6"))):
        out = tmp_path / f"{name}.json"
        run(*words, "--size-importance", "1", *extra, "--out", out)
        found = json.loads(out.read_text(encoding="utf-8"))
        stds[name] = found["queries"][0]["std"]
    assert found["size"] == {"estimate": 6, "std": 0, "low": 6, "high": 6}
    assert stds["known"] < stds["free"]
