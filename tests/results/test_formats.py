import csv
import datetime as dt
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.privacy.definitions import DiscoveryDP
from halfnoise.results.formats import FORMATS, Output, as_csv, as_json_lines, as_markdown
from halfnoise.results.sampling import NOISE_ONLY
from halfnoise.results.table import COLUMNS
from halfnoise.workload.by import By
from support.commands import EXACT, estimates, refused, run, write_survey
from support.grouped import made

WORDS = ("--count", "smoker", "--mean", "income=0:1000", "--choice", "blood=A", *EXACT)
TRUTH = {
    "number of people": 6,
    "smoker": 4,
    "income": 300,
    "income sum": 1200,
    "income answered": 4,
    "blood=A": 2,
    "blood=other": 4,
}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Return a small survey."""
    return write_survey(tmp_path)


def named(*names: str) -> hn.Release:
    """Release counts of these names."""
    frame = pl.DataFrame({name: [True] for name in names})
    queries = [hn.Count(name) for name in names]
    privacy = hn.GaussianDP(mu=1e6)
    return hn.release(frame, queries, row_is_person=True, privacy=privacy)


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet", "md", "CSV"])
def test_every_format_holds_the_same(survey: Path, tmp_path: Path, ending: str) -> None:
    """The file's ending says the format; each holds every estimate, and nothing is printed."""
    out = tmp_path / f"table.{ending}"
    ran = run("release", survey, *WORDS, "--missing", "-99,N/A", "--out", out)
    assert (ran.status, ran.out) == (0, "")
    assert f"Written to {out}." in ran.err
    assert read(out) == TRUTH
    assert sorted(path.name for path in tmp_path.iterdir()) == ["survey.csv", out.name]


def read(path: Path) -> dict[str, float]:
    """Read a table in any format: estimates by name, without their noise."""
    ending = path.suffix.lower()
    if ending == ".csv":
        return estimates(path.read_text(encoding="utf-8"))
    text = "" if ending == ".parquet" else path.read_text(encoding="utf-8")
    rows: list[Any]
    if ending == ".json":
        found = json.loads(text)
        rows = [found["size"] | {"name": "number of people"}, *found["queries"]]
    elif ending == ".jsonl":
        rows = [json.loads(line) for line in text.splitlines()]
    elif ending == ".parquet":
        names = "name", "kind", "estimate", "std", "low", "high"
        cells = duckdb.read_parquet(str(path)).fetchall()
        rows = [dict(zip(names, row, strict=True)) for row in cells]
    else:
        split = [line.strip("| ").split(" | ") for line in text.splitlines() if "|" in line]
        rows = [dict(zip(split[0], row, strict=True)) for row in split[2:]]
    numbers = {row["name"]: float(str(row["estimate"]).replace(",", "")) for row in rows}
    return {name: round(4 * x) / 4 for name, x in numbers.items()}


def test_an_output_that_exists_is_kept(survey: Path, tmp_path: Path) -> None:
    """An output is replaced when asked to, and not otherwise."""
    out = tmp_path / "table.csv"
    out.write_text("mine", encoding="utf-8")
    words = (survey, "--count", "smoker", *EXACT, "--out", out)
    assert "exists; name another, or say --overwrite" in refused("release", *words)
    assert out.read_text(encoding="utf-8") == "mine"
    assert run("release", *words, "--overwrite").status == 0
    assert read(out)["smoker"] == 4


def test_json_lines_are_appended_or_replaced(survey: Path, tmp_path: Path) -> None:
    """Another release goes below the first, unless it shall replace it."""
    out = tmp_path / "table.jsonl"
    words = ("release", survey, "--count", "smoker", *EXACT, "--out", out)
    for _ in range(3):
        assert run(*words).status == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["name"] for row in rows] == ["number of people", "smoker"] * 3
    assert rows[0].keys() == rows[1].keys()
    assert run(*words, "--overwrite").status == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize("named", ["survey.csv", "./survey.csv", "link.csv", "s*.csv"])
def test_the_input_is_never_the_output(
    survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """Not even a glob, a link or --overwrite lets a release replace its data."""
    before = survey.read_bytes()
    (tmp_path / "link.csv").hardlink_to(survey)
    monkeypatch.chdir(tmp_path)
    for flag in ("--out", "--save-spec"):
        words = (named, "--count", "smoker", *EXACT, flag, "survey.csv", "--overwrite")
        assert "another file than the input" in refused("release", *words)
    assert survey.read_bytes() == before


def test_csv_opens_in_a_spreadsheet(tmp_path: Path) -> None:
    """A CSV file starts with a byte-order mark, and no name in it is a formula."""
    names = ["=1+1", "+1", "-1", "@x", "\tx", "fine", 'a "quoted", one', "größe"]
    Output("--out", tmp_path / "table.csv").write(named(*names))
    raw = (tmp_path / "table.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    assert raw.count(b"\xef\xbb\xbf") == 1
    rows = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"))))
    shown = [row[0] for row in rows[1:] if row[1] != "size"]
    assert shown == ["'=1+1", "'+1", "'-1", "'@x", "'\tx", *names[5:]]


def test_numbers_are_not_rounded_nor_escaped() -> None:
    """Files hold every digit, and a negative number stays a number."""
    table = named("x")
    written = list(csv.DictReader(io.StringIO(as_csv(table).decode())))
    for row, (_, each) in zip(written, table.rows(), strict=True):
        shown = [float(row[column]) for column in ("estimate", "std", "low", "high")]
        assert shown == [each.estimate, each.std, each.low, each.high]
    empty = pl.DataFrame({"x": [False] * 3})
    # An interval of level 1 - 1e-12 around noise of 1e6 lies above zero once in 10^12 runs.
    far = hn.release(
        empty,
        [hn.Count("x")],
        row_is_person=True,
        privacy=hn.GaussianDP(mu=1e-6),
        level=1 - 1e-12,
    )
    lows = [row["low"] for row in csv.DictReader(io.StringIO(as_csv(far).decode()))]
    assert any(low.startswith("-") and float(low) < 0 for low in lows)


def test_markdown_keeps_its_columns() -> None:
    """A name with a bar or a line break stays in its cell."""
    *lines, _, caption = as_markdown(named("a|b", "c\nd")).splitlines()
    assert caption == NOISE_ONLY
    for line in lines:
        assert line.replace("\\|", "").count("|") == 8


def test_pipes_get_no_byte_order_mark(survey: Path) -> None:
    """What is printed is for programs, and has no byte-order mark."""
    assert run("release", survey, *WORDS, "--out", "-").out.startswith("name,kind")


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file cannot be put in its place, the old one stays and no part of the new one."""

    def full(*_: object) -> None:
        raise OSError

    out = tmp_path / "table.csv"
    out.write_text("old", encoding="utf-8")
    monkeypatch.setattr("os.replace", full)
    with pytest.raises(hn.DataError, match="could not be written; check the folder"):
        Output("--out", out, overwrite=True).write(named("x"))
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["old"]


def test_every_ending_is_told(survey: Path) -> None:
    """An unknown ending is refused with those that there are."""
    said = refused("release", survey, *WORDS, "--out", survey.with_name("table.docx"))
    assert all(ending in said for ending in FORMATS)


KEYS = (("north", 1), ("=1+1", None), (None, -2))
BY = (By("region"), By("shop"))


def cells(text: str) -> list[dict[str, str]]:
    """Read CSV by title."""
    return list(csv.DictReader(io.StringIO(text)))


def test_groups_in_csv() -> None:
    """Keys come first: a missing one is an empty cell, and text that is a formula is escaped."""
    release = made(KEYS, BY)
    rows = cells(as_csv(release).decode())
    assert list(rows[0]) == ["region", "shop", *COLUMNS[:4], "relative_std", *COLUMNS[4:]]
    each = len(rows) // 3
    shown = [(row["region"], row["shop"]) for row in rows[::each]]
    assert shown == [("north", "1"), ("'=1+1", ""), ("", "-2")]
    found = release.columns()
    for title in ("estimate", "std", "low", "high"):
        assert [float(row[title]) for row in rows] == found[title].tolist()
    days = cells(as_csv(made(((dt.date(2026, 1, 2),), (True,), (0.5,)))).decode())
    assert {row["region"] for row in days} == {"2026-01-02", "true", "0.5"}


def test_titles_are_no_formulas_either() -> None:
    """A column of keys may be called like a formula, and is escaped as its keys are."""
    assert as_csv(made((("x",),), (By("=1+1"),))).decode().startswith("'=1+1,name,kind")


def test_groups_in_markdown() -> None:
    """Keys and titles with a bar or a line break stay in their cells."""
    *lines, _, _ = as_markdown(made((("a|b",), ("c\nd",)), (By("x|y"),))).splitlines()
    assert lines[0].startswith("| x\\|y | name | kind |")
    assert all(line.replace("\\|", "").count("|") == 9 for line in lines)


def test_groups_in_json_lines() -> None:
    """A line has its key apart, so that a column of any name fits; and all of the promise."""
    by = (By("name"), By("shop"))
    release = made(KEYS, by, guarantee=DiscoveryDP(kept=hn.GaussianDP(mu=0.2), delta=1e-7))
    rows = [json.loads(line) for line in as_json_lines(release).splitlines()]
    each = len(rows) // 3
    keys = [{"name": region, "shop": shop} for region, shop in KEYS]
    assert [row["key"] for row in rows] == [key for key in keys for _ in range(each)]
    assert [row["name"] for row in rows] == release.columns()["name"].tolist()
    assert all((row["mu"], row["discover_delta"]) == (0.2, 1e-7) for row in rows)
    pure = DiscoveryDP(kept=hn.PureDP(epsilon=0.5), delta=1e-7)
    (line, *_) = as_json_lines(made(guarantee=pure)).splitlines()
    row = json.loads(line)
    assert (row["pure_epsilon"], row["discover_delta"]) == (0.5, 1e-7)
    assert "mu" not in row
    assert "key" not in json.loads(as_json_lines(named("x")).splitlines()[0])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", None, ""], "VARCHAR"),
        ([1, None, -(2**63) + 1], "BIGINT"),
        ([2**63, None, 1], "VARCHAR"),
        ([0.1, None, 1e300], "DOUBLE"),
        ([True, None, False], "BOOLEAN"),
        ([dt.date(2026, 1, 2), None, dt.date(1, 1, 1)], "DATE"),
        ([1, None, "other"], "VARCHAR"),
        ([None], "VARCHAR"),
        ([], "VARCHAR"),
    ],
)
def test_parquet_keeps_types(tmp_path: Path, values: list[Any], kind: str) -> None:
    """A column of keys has their type, with gaps; one of several types is text."""
    by = (By('a "quoted", key'),)
    Output("--out", tmp_path / "table.parquet").write(made([(value,) for value in values], by))
    table = duckdb.read_parquet(str(tmp_path / "table.parquet"))
    assert table.columns == [by[0].column, *COLUMNS]
    assert table.types[0] == kind
    rows = [row[0] for row in table.fetchall()]
    each = len(rows) // max(1, len(values))
    text = kind == "VARCHAR"
    assert rows[:: max(1, each)] == [
        str(value) if text and value is not None else value for value in values
    ]


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_takes_groups(tmp_path: Path, ending: str) -> None:
    """Groups are written in every format, also where there is none."""
    for place, release in enumerate((made(), made(()))):
        path = tmp_path / f"{place}{ending}"
        Output("--out", path).write(release)
        assert path.exists()
        if ending == ".json":
            again = hn.Release.from_json(path.read_text("utf-8"))
            assert isinstance(again, hn.GroupedRelease)
            assert len(again) == len(release)


@pytest.mark.parametrize(
    ("asked", "amounts"),
    [
        (hn.PureDP(epsilon=1), {"epsilon": 1.0, "delta": 0.0}),
        (hn.ApproxDP(epsilon=1, delta=1e-6), {"epsilon": 1.0, "delta": 1e-6}),
        (hn.GaussianDP(mu=1), {"mu": 1.0}),
    ],
)
def test_json_lines_carry_the_guarantee(asked: Any, amounts: dict[str, float]) -> None:
    """Each line says what is promised, in the same words as the JSON of the release."""
    people = pl.DataFrame({"a": [True], "b": [False]})
    noise = "laplace" if isinstance(asked, hn.PureDP) else "gaussian"
    options: Any = {"row_is_person": True, "privacy": asked, "noise": noise}
    table = hn.release(people, [hn.Count("a"), hn.Count("b")], **options)
    whole = table.to_dict()["guarantee"]
    for line in as_json_lines(table).splitlines():
        row = json.loads(line)
        for name, amount in amounts.items():
            assert row[name] == whole[name]
            assert row[name] == pytest.approx(amount, rel=1e-9)
