"""Workbooks and CSV for spreadsheets: every number is the JSON's, and text is nothing but text."""

import codecs
import csv
import datetime as dt
import io
import json
import math
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import polars as pl
import pytest
from markdown_it import MarkdownIt
from python_calamine import CalamineWorkbook

import halfnoise as hn
from halfnoise.errors import MissingExtraError
from halfnoise.results import sheets
from halfnoise.results.formats import FORMATS, Output, as_csv, as_markdown
from halfnoise.results.lines import EXCEL
from halfnoise.results.reliability import LEFT_OUT
from halfnoise.results.render import beside
from halfnoise.results.wide import DASH
from support import pages
from support.commands import refused, run, write_survey
from support.tabled import everything

NASTY = ["<script>alert(1)</script>", "=cmd()", "+1", "-1", "@x", "a\nb", "שלום", "x\u202ey", "\ta"]
NASTY += [
    "a,b",
    "a;=cmd()",
    'q"=1',
    "_x0041_",
    "a|b",
    "*c*",
    "[l](http://x.y)",
    "\u007f",
    "\uff1d1",
]
ROW = ("estimate", "standard error", "low", "high")


def released(names: list[str], **more: Any) -> Any:
    """Release a count for each name, of people who do not exist."""
    columns = {name: [i % 3 == 0 for i in range(300)] for name in names}
    rows = pl.DataFrame({"id": range(300), "g": ["x", "y"] * 150, **columns})
    given: dict[str, Any] = {"unit": "id", "privacy": hn.GaussianDP(mu=1), "ledger": None}
    return hn.release(rows, [hn.Count(name) for name in names], **given | more)


def opened(release: Any) -> Any:
    """Return the workbook of a release, read by another library."""
    return openpyxl.load_workbook(io.BytesIO(FORMATS[".xlsx"](release)))


def rows_of(page: Any) -> list[dict[str, Any]]:
    """Return the rows of a sheet by title."""
    head, *rows = page.iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rows]


def stored(release: Any) -> Iterator[dict[str, Any]]:
    """Go through the numbers of the JSON of a release by group, the number of people first."""
    found = json.loads(release.to_json())
    for group in found.get("groups", [found]):
        yield {"name": "number of people", **group["size"]}
        yield from group["queries"]


@pytest.mark.parametrize("release", [everything(), everything().rounded(), released(["a"])])
def test_every_number_is_that_of_the_json(release: Any) -> None:
    """To the fifteen digits that a sheet has, in estimates and margins together."""
    book = opened(release)
    found: dict[str, dict[str, Any]] = {}
    for name in ("estimates", "margins"):
        found |= {row["name"]: row for row in rows_of(book[name])} if name in book else {}
    expected = [*stored(release)]
    assert len(found) == len({each["name"] for each in expected})
    for each in expected:
        row = found[each["name"]]
        for title, own in zip(ROW, ("estimate", "std", "low", "high"), strict=True):
            if each[own] is not None:
                assert row[title] == pytest.approx(each[own], rel=1e-14)
            else:
                assert row[title] in ("∞", "-∞")


def test_a_deviation_is_an_estimate_too() -> None:
    """What a mean brings with it stands in its row."""
    rows = pl.DataFrame({"id": range(300), "x": [i % 7 for i in range(300)]})
    asked = [hn.Mean("x", bounds=(0, 6), variance=True)]
    release = hn.release(rows, asked, unit="id", privacy=hn.GaussianDP(mu=1), ledger=None)
    names = [row["name"] for row in rows_of(opened(release)["estimates"])]
    assert names == ["number of people", "x", "x sum", "x answered", "x deviation"]


def test_shares_are_those_of_the_release() -> None:
    """With Fieller's intervals, in per cent, by group too."""
    for release in (everything(), everything().with_known_size(500)):
        for row in rows_of(opened(release)["shares"]):
            share = release.share(row["name"])
            own = [share.estimate, share.std, share.low, share.high]
            assert [row[title] for title in ROW] == pytest.approx(own, rel=1e-9)
    for release in (everything().with_sampling("srs", design_effect=2),):
        for row in rows_of(opened(release)["shares"]):
            share = release.share(row["name"])
            assert [row["standard error"], row["high"]] == pytest.approx([share.std, share.high])
    grouped = released(["a"], by="g", groups=["x", "y"])
    rows = rows_of(opened(grouped)["shares"])
    assert {row["g"]: row["estimate"] for row in rows} == pytest.approx(
        {key: grouped[key].share("a").estimate for key in ("x", "y", "other")}
    )


def test_tables_are_laid_out_with_their_totals() -> None:
    """Each table that was asked for is on a sheet, as it is on a page; means with all digits."""
    release = everything()
    book = opened(release)
    asked = [each for each in release.tables if each.asked]
    assert [name for name in book.sheetnames if name.startswith("table ")] == [
        f"table {i + 1}" for i in range(len(asked))
    ]
    for place, each in enumerate(asked, start=1):
        table = release.table(*each.labels, of=each.of)
        grid = [[*row.values()] for row in rows_of(book[f"table {place}"])]
        left, error = len(table.rows), table.std.max() if table.kind == "mean" else 0.0
        for own, (heads, texts) in zip(grid, table.wide().lines, strict=False):
            assert [each or "" for each in own[:left]] == [*heads]
            wanted = [pages.number(text) for text in texts]
            assert own[left:] == pytest.approx(wanted, rel=1e-9, abs=error)
        first = table.estimates.reshape(-1, table.shape[-1] if table.columns else 1)[0]
        if table.kind == "mean":
            assert grid[0][left : left + len(first)] == pytest.approx(first.tolist())


def test_a_mean_of_nobody_is_a_dash_on_a_sheet() -> None:
    """What a page does not tell, a sheet laid out as one reads it does not either."""
    release = everything()
    table, values = release.table("sex", of="income"), release.values.copy()
    cells = table.cells_of(np.arange(len(values), dtype=np.float64), 1).astype(int)
    values[cells] = 0.0  # who answered
    for each, there in ((release, False), (replace(release, values=values), True)):
        found = {cell.value for page in opened(each) for row in page for cell in row}
        assert (DASH in found) is there


def test_heads_stay_and_numbers_have_their_format() -> None:
    """Header rows are frozen; people are whole numbers, other numbers as their errors allow."""
    release = everything()
    book = opened(release)
    assert {page.freeze_panes for page in book} == {"A2"}
    assert all(cell.font.bold for page in book for cell in page[1])
    page = book["estimates"]
    titles = [cell.value for cell in page[1]]
    for row in page.iter_rows(min_row=2):
        cells = dict(zip(titles, row, strict=True))
        if cells["kind"].value in ("size", "count", "table"):
            assert cells["estimate"].number_format == "#,##0"
        assert cells["relative standard error"].number_format in ("0.0%", "General")
    notes = [row[0] for row in book["notes"].iter_rows(min_row=2, values_only=True)]
    assert notes == beside(release)


def test_marks_and_what_is_left_out() -> None:
    """A mark is in the format of a number, which stays one; what is left out is no number."""
    release = everything()
    std = np.sqrt(release.errors.covariance.diagonal())
    values = std / np.resize([0.01, 0.25, 0.9], std.size)
    marked = replace(release, values=values).flagged(0.2, suppress=0.5)
    book = opened(marked)
    cells = {
        cell.value: cell.number_format
        for name in book.sheetnames
        if name.startswith("table ")
        for row in book[name].iter_rows(min_row=2)
        for cell in row
    }
    assert '#,##0" (a)"' in cells.values()
    assert LEFT_OUT in cells
    flags = {row["flag"]: row for row in rows_of(book["estimates"])}
    assert flags["(a) 20% or more"]["estimate"] is not None
    assert flags[".. 50% or more"]["estimate"] is None


def test_text_is_nothing_but_text() -> None:
    """No formula, link or number is made of a name, by either reader; it comes back as it was."""
    release = released(NASTY)
    content = FORMATS[".xlsx"](release)
    book = openpyxl.load_workbook(io.BytesIO(content))
    for page in book:
        for row in page.iter_rows():
            for cell in row:
                assert cell.data_type in ("s", "n", "inlineStr", "b")
                assert cell.hyperlink is None
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        sheets_of = [parts.read(name) for name in parts.namelist() if "worksheets/" in name]
    assert not any(b"<f>" in each or b"<hyperlink" in each for each in sheets_of)
    seen = CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_name("estimates")
    names = [row[0] for row in seen.to_python()[2:]]
    assert names == NASTY
    quoted = [
        cell.quotePrefix
        for cell in next(book["estimates"].iter_cols(1, 1, min_row=3))
        if str(cell.value).startswith(("=", "+", "-", "@"))
    ]
    assert quoted
    assert all(quoted)


@pytest.mark.parametrize("excel", [False, True])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_csv_is_harmless_whatever_parts_its_cells(mark: str, *, excel: bool) -> None:
    """Also where a spreadsheet expects another mark between columns, no cell begins a formula."""
    release = released(NASTY, by="g", groups=["x", *NASTY])  # names stand behind keys
    content = as_csv(release, excel=excel).decode()
    for row in csv.reader(io.StringIO(content), delimiter=mark):
        for cell in row:
            number = cell.replace(",", ".").removeprefix('"')
            try:
                float(number)
            except ValueError:
                assert not cell.lstrip('"').startswith(("=", "+", "-", "@", "\t", "\uff1d")), cell


def test_markdown_is_harmless() -> None:
    """To a parser of Markdown, a table holds texts and nothing else, and the names are back."""
    shown = [name.replace("\n", " ").replace("\u202e", "") for name in NASTY]
    for release in (released(NASTY), released(["a"], by="g", groups=["x", *NASTY])):
        tokens = MarkdownIt("commonmark").enable("table").parse(as_markdown(release))
        inside = [token.children for token in tokens if token.type == "inline"]
        kinds = {part.type for parts in inside for part in parts or ()}
        assert kinds <= {"text", "text_special"}
        cells = ["".join(part.content for part in parts or ()) for parts in inside]
        assert {name.strip() for name in shown} <= {cell.strip() for cell in cells}
        assert not any(token.type.startswith("html") for token in tokens)


def test_csv_for_a_spreadsheet_with_decimal_commas() -> None:
    """Semicolons part columns and commas decimals: the numbers are the same, long tables too."""
    for number in (3, 6_000):
        groups = [f"g{i}" for i in range(number)]
        release = released(["a", "b;c"], by="g", groups=groups).flagged(0.2, suppress=2.0)
        plain = [*csv.DictReader(io.StringIO(as_csv(release).decode()))]
        found = [*csv.DictReader(io.StringIO(as_csv(release, excel=True).decode()), delimiter=";")]
        assert len(found) == len(plain) == 3 * (number + 1)
        for title in ("estimate", "std", "relative_std", "low", "high"):
            own = [row[title].replace(",", ".") for row in found]
            assert own == [row[title] for row in plain]
            assert not any("." in row[title] for row in found)
        assert [row["name"] for row in found] == [row["name"] for row in plain]
    assert EXCEL.line("a", "b") == "a;b\n"


def test_keys_keep_their_kind() -> None:
    """Days are days, numbers numbers, yes and no themselves, and what is beyond a sheet is text."""
    keys = [dt.date(2026, 1, 2), 7, True, 0.5, 2**60, None, "x" * 40_000, dt.date(1800, 1, 1)]
    release = released(["a"], by="g", groups=["x"])
    release = replace(
        release,
        group_keys=tuple((key,) for key in keys),
        values=release.values[[0] * len(keys)].copy(),
    )
    found = [row["g"] for row in rows_of(opened(release)["estimates"])][::2]
    assert found[0] == dt.datetime(2026, 1, 2)
    assert found[1:5] == [7, True, 0.5, str(2**60)]
    assert found[5] is None
    assert found[6] == "x" * sheets.LONGEST
    assert found[7] == "1800-01-01"


def test_a_full_sheet_goes_on_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is cut off."""
    release = released(["a", "b", "c"])
    everyone = [row["name"] for row in rows_of(opened(release)["estimates"])]
    monkeypatch.setattr(sheets, "MOST_ROWS", 3)
    book = opened(release)
    parts = [name for name in book.sheetnames if name.startswith("estimates")]
    assert parts == ["estimates", "estimates 2"]
    assert [row["name"] for name in parts for row in rows_of(book[name])] == everyone


def test_the_same_release_gives_the_same_bytes() -> None:
    """Whenever it is written, so that a name can be asked for again."""
    release = everything()
    assert FORMATS[".xlsx"](release) == FORMATS[".xlsx"](hn.Release.from_json(release.to_json()))


def test_the_command_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--out table.xlsx, and --excel for CSV; a missing package is told before anything is spent."""
    monkeypatch.chdir(tmp_path)
    survey = write_survey(tmp_path)
    words = ("release", survey, "--count", "smoker", "--unit", "person_id", "--mu", "1")
    assert run(*words, "--out", "t.xlsx").status == 0
    assert openpyxl.load_workbook("t.xlsx").sheetnames == ["estimates", "shares", "notes"]
    assert run(*words, "--out", "t.csv", "--excel").status == 0
    text = Path("t.csv").read_bytes()
    assert text.startswith(codecs.BOM_UTF8 + b"name;kind;estimate")
    assert run(*words, "--excel").out.startswith("name;kind;")
    assert "a file ending in .csv with --excel" in refused(*words, "--excel", "--out", "u.xlsx")
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtraError, match="XlsxWriter"):
        Output("--out", Path("v.xlsx")).check([])


def test_infinite_ends_are_told() -> None:
    """A number that may be anything has no end, and a sheet no infinity."""
    assert sheets._text(math.inf) == "∞"
    assert sheets._text(-math.inf) == "-∞"
