"""Sheets of Excel and OpenDocument: every cell is text by itself, and no row changes others."""

import datetime as dt
import re
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlwt
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

import halfnoise as hn
from halfnoise.data.sources import fetch, open_source
from halfnoise.data.sources.source import TextFormat
from support import binary_sheets, stored
from support.binary_sheets import DAY, MOMENT, SPAN
from support.commands import run

q: Any = hn
Row = tuple[str | None, ...]
HOURS = dt.timedelta(hours=36, minutes=30)


def rows(data: object, *columns: str, **text: Any) -> list[Row]:
    """Return the texts of some columns, or of all."""
    with open_source(data, text=TextFormat(**text)) as source:
        source.fill()
        wanted = [*(columns or source.columns)]
        frame = source.of(wanted).rows(wanted)
        return fetch(frame.select(*(source.names[column] for column in wanted)))


def refused(data: object, **text: Any) -> str:
    """Return the sentence with which a file is refused."""
    with pytest.raises(hn.HalfnoiseError) as caught:
        rows(data, **text)
    assert caught.value.__cause__ is None
    return str(caught.value)


def edited(path: Path, part: str, change: Callable[[str], str]) -> Path:
    """Change a part of a zipped file."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = change(parts[part].decode()).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def book(folder: Path, cells: dict[str, Any], formats: dict[str, str] | None = None) -> Path:
    """Write a sheet of Excel with cells by their places."""
    made = openpyxl.Workbook()
    for place, value in cells.items():
        made.active[place] = value
    for place, code in (formats or {}).items():
        made.active[place].number_format = code
    made.save(folder / "book.xlsx")
    return folder / "book.xlsx"


CELLS: list[tuple[Any, str, str | None]] = [
    (7, "General", "7"),
    (7.0, "0.00", "7"),
    (0.1, "0%", "0.1"),
    (-2.5, '#,##0.00 "days"', "-2.5"),
    (2**53, "0", "9007199254740992"),
    (1e22, "General", "10000000000000000000000"),
    (1e300, "General", "1e+300"),
    (True, "General", "true"),
    (" a\nb ", "General", " a\nb "),
    ("ä_x0041_", "General", "äA"),
    ("_x0000_", "General", None),
    (dt.date(2026, 11, 15), "dd.mm.yyyy", "2026-11-15"),
    (dt.datetime(2026, 11, 15, 12, 30, 15), "yyyy-mm-dd hh:mm", "2026-11-15 12:30:15"),
    (dt.time(9, 30), "hh:mm", "09:30:00"),
    (HOURS, "[h]:mm:ss", "36:30:00"),
    (46341, "yyyy-mm-dd", "2026-11-15"),
    (46341, "yyyy-mm-dd hh:mm", "2026-11-15 00:00:00"),  # what shows the clock shows midnight
    (46341, "m/d/yy h:mm", "2026-11-15 00:00:00"),  # which has a number, and no code in the file
    (46341, "mm-dd-yy", "2026-11-15"),
    (46341, "mm:ss", "2026-11-15 00:00:00"),
    (46341, 'd.m.yy "hs"', "2026-11-15"),
    (46341.99999999999, "yyyy-mm-dd", "2026-11-15 23:59:59.999000"),
    (46341.95833333333, "yyyy-mm-dd", "2026-11-15 23:00:00"),
    (0.99999999999, "hh:mm", "23:59:59.999000"),
    (2958465.999999999, "yyyy-mm-dd", "9999-12-31 23:59:59.999000"),
    (46341, "[$-407]d. mmmm yyyy;@", "2026-11-15"),
    (46341, '"years" 0', "46341"),
    (46341, "[Red]0.00", "46341"),
    (46341, "[>5]0;General", "46341"),
    (59, "yyyy-mm-dd", "1900-02-28"),
    (61, "yyyy-mm-dd", "1900-03-01"),
    (2958465.5, "yyyy-mm-dd", "9999-12-31 12:00:00"),
    *((n, "yyyy-mm-dd", str(n)) for n in (-1, 2958466, 10**18, -(10**18))),
    *((n, "yyyy-mm-dd", repr(n)) for n in (1e300, -1e300, -107e9 - 0.5)),
    *((n, "[h]:mm", repr(n)) for n in (1e300, -1e300)),
    (-1.5, "[h]:mm", "-36:00:00"),
    ("=1/0", "General", None),
    ("#N/A", "General", None),
]


def test_each_cell_is_text(tmp_path: Path) -> None:
    """Numbers, days, times, yes and text each have one spelling, whatever is in other cells."""
    cells = {f"A{i}": cell for i, (cell, _, _) in enumerate(CELLS, 2)}
    formats = {f"A{i}": code for i, (_, code, _) in enumerate(CELLS, 2)}
    keys = {f"B{i}": f"k{i}" for i in range(2, len(CELLS) + 2)}
    path = book(tmp_path, {"A1": "a", "B1": "b", **cells, **keys}, formats)
    assert [cell for cell, _ in rows(path)] == [text for _, _, text in CELLS]
    comma = [cell for cell, _ in rows(path, decimal=",")]
    assert [text for text in comma if text and "," in text] == ["0,1", "-2,5", "-107000000000,5"]


def test_numbers_of_strange_files(tmp_path: Path) -> None:
    """What is no number, no text of the list and no yes is missing, and nothing fails."""
    cells = ("><v>x</v>", " t='s'><v>99</v>", " t='s'>", " t='s'><v>-1</v>", " t='b'><v>7</v>",
             " t='e'><v>#N/A</v>", ">", " s='99'><v></v>", " t='inlineStr'>",
             " t='inlineStr'><is/>")  # fmt: skip
    strange: dict[str, str | None] = dict.fromkeys(cells)
    strange["><v>1234567890123456789</v>"] = "1234567890123456789"
    for cell, text in strange.items():
        path = book(tmp_path, {"A1": "a", "B1": "b", "A2": 1, "B2": "k"})
        edited(path, "xl/worksheets/sheet1.xml",
               lambda xml, cell=cell: re.sub(r'<c r="A2".*?</c>', f"<c r='A2'{cell}</c>", xml))  # type: ignore[misc]  # fmt: skip
        assert rows(path) == [(text, "k")]
    path = edited(
        path, "xl/worksheets/sheet1.xml", lambda xml: re.sub(r' r="[A-Z]*[0-9]+"', "", xml)
    )
    assert rows(path) == [(text, "k")]


def test_where_a_sheet_begins_and_ends(tmp_path: Path) -> None:
    """Empty rows and columns are no rows and no columns; the others keep their numbers."""
    cells = {"A1": "A title", "B3": "x", "D3": "y", "B4": 1, "D4": "p", "B6": 2, "F6": "far",
             "A7": 9, "C9": "between", "F10": "far", "D12": "q", "XFD14": "z"}  # fmt: skip
    path = book(tmp_path, cells)
    expected = [("1", None, "p"), ("2", None, None), (None, "between", None), (None, None, "q")]
    assert rows(path, skip=2) == expected
    assert rows(path, "y", skip=2) == [row[2:] for row in expected]
    named = rows(path, skip=3, names=["t", "x", "u", "y"])
    assert named == [(None, *row) for row in expected[:2]] + [("9", None, None, None)] + [
        (None, *row) for row in expected[2:]
    ]
    assert "row 2 of the sheet 'Sheet' in" in refused(path, skip=1)
    assert "with --header-row" in refused(path, skip=99)
    with open_source(path, text=TextFormat(skip=2)) as source:
        assert not source.counted
        assert source.could_be_a_row  # a name is missing among them


def test_no_row_decides_whether_others_are_there(tmp_path: Path) -> None:
    """One row more is one row more, whatever is before it, or none."""
    crowd = {"A1": "a", "B1": "b", "A2": 1, "A6": 3}
    before = rows(book(tmp_path, crowd))
    for more, count in (({"A99": 5}, 1), ({"B99": " "}, 1), ({"A99": ""}, 0), ({"Z9": 1}, 0)):
        assert len(rows(book(tmp_path, crowd | more))) == len(before) + count


def test_sheets_by_name_and_number(tmp_path: Path) -> None:
    """Of several sheets one is named; what was said in two ways is the same request."""
    one, other = {"a": [1]}, {"a": [2, 3]}
    for write in (stored.xlsx, stored.ods):
        path = write(one, tmp_path, Other=other)
        assert "--sheet NAME; the sheets of" in refused(path)
        assert "'Table', 'Other'" in refused(path)
        assert "did you mean 'Other'?" in refused(path, sheet="other")
        assert "sheet must be one of 'Table', 'Other', got 3" in refused(path, sheet=3)
        for sheet in ("Other", 2, "2"):
            assert rows(path, sheet=sheet) == [("2",), ("3",)]
            with open_source(path, text=TextFormat(sheet=sheet)) as source:
                assert source.text.sheet == "Other"
        numbers = write(one, tmp_path, **{"1": other})
        assert rows(numbers, sheet="1") == [("2",), ("3",)]
        alone = write(one, tmp_path)
        with open_source(alone, text=TextFormat()) as source:
            assert source.text.sheet == "Table"
        assert rows([alone, path], sheet=1) == [("1",)] * 2
        assert "differs from" in refused([alone, write({"b": [1]}, tmp_path)])
    for wrong in (0, "", True, 1.5):
        if wrong is not True:
            with pytest.raises(hn.InvalidParameterError, match="sheet must be"):
                TextFormat(sheet=wrong)  # type: ignore[arg-type]


def odf(folder: Path, *cells: tuple[dict[str, str], str | None]) -> Path:
    """Write a sheet of OpenDocument, a cell to a row, under the name a."""
    made, table = OpenDocumentSpreadsheet(), Table(name="T")
    for about, text in (({"valuetype": "string"}, "a"), *cells):
        row, cell = TableRow(), TableCell(**about)
        for line in [] if text is None else text.split("\n"):
            cell.addElement(P(text=line))
        row.addElement(cell)
        table.addElement(row)
    made.spreadsheet.addElement(table)
    made.save(folder / "book.ods")
    return folder / "book.ods"


def number(value: str, kind: str = "float") -> dict[str, str]:
    """Return a cell with a number."""
    return {"valuetype": kind, "value": value}


ODF: list[tuple[dict[str, str], str | None, str]] = [
    (number("1"), "1,00", "1"),
    (number("0.5", "percentage"), "50 %", "0.5"),
    (number("3.25", "currency"), "3,25 €", "3.25"),
    (number("12345678901234567"), "1,2E16", "12345678901234567"),
    ({"valuetype": "date", "datevalue": "2026-11-15"}, "15.11.26", "2026-11-15"),
    ({"valuetype": "date", "datevalue": "2026-11-15T12:30:00"}, "x", "2026-11-15 12:30:00"),
    ({"valuetype": "time", "timevalue": "PT36H30M00S"}, "x", "36:30:00"),
    ({"valuetype": "time", "timevalue": "PT09H30M00S"}, "x", "09:30:00"),
    ({"valuetype": "time", "timevalue": "-PT1M"}, "x", "-00:01:00"),
    ({"valuetype": "time", "timevalue": "P9999999999999D"}, "x", "P9999999999999D"),
    ({"valuetype": "boolean", "booleanvalue": "true"}, "WAHR", "true"),
    ({"valuetype": "string"}, "a\nb", "a\nb"),
    ({"valuetype": "string", "formula": "of:=A1"}, "x", "x"),
]


def test_each_cell_of_open_documents(tmp_path: Path) -> None:
    """The stored value counts, not how it is shown; missing cells, notes and errors are nothing."""
    path = odf(tmp_path, *((about, shown) for about, shown, _ in ODF))
    assert rows(path) == [(text,) for _, _, text in ODF]
    nothing = [({}, None), (number("x"), "x"), ({"valuetype": "boolean"}, "x"), ({}, "shown")]
    assert rows(odf(tmp_path, *nothing)) == []
    for about, text in (
        ("calcext:value-type='error' office:value-type='string'", None),
        ("office:value-type='string' calcext:value-type='error'", None),
        ("office:value-type='string' table:number-columns-repeated='2'", "b"),
    ):
        cell = (
            f"<table:table-cell {about}><office:annotation><text:p>n</text:p></office:annotation>"
        )
        cell += "<text:p>b</text:p></table:table-cell>"
        path = stored.ods({"a": ["A"], "b": ["B"]}, tmp_path)
        old = "<table:table-cell office:value-type='string'><text:p>A</text:p></table:table-cell>"
        edited(path, "content.xml", lambda x, new=cell, old=old: x.replace(old, new).replace(
            "office:document-content ", "office:document-content xmlns:calcext='c' ", 1))  # type: ignore[misc]  # fmt: skip
        assert rows(path) == [(text, "b" if "repeated" in about else "B")]


def test_repeated_rows_of_open_documents(tmp_path: Path) -> None:
    """Rows that are written once and count often are as many; empty ones only move others."""
    path = stored.ods({"a": ["x", None, "y"]}, tmp_path)
    first, *_ = ("<table:table-row><table:table-cell office:value-type='string'><text:p>x",)
    edited(path, "content.xml", lambda xml: xml.replace(
        "<table:table-row><table:table-cell/>",
        "<table:table-row table:number-rows-repeated='1048000'><table:table-cell/>",
    ).replace(first, first.replace("-row>", "-row table:number-rows-repeated='3'>")))  # fmt: skip
    assert rows(path) == [("x",)] * 3 + [("y",)]
    assert rows(path, skip=1_048_004, names=["a"]) == [("y",)]
    assert rows(path, skip=1_048_005, names=["a"]) == []


def old_book(folder: Path, cells: Sequence[tuple[Any, str]]) -> Path:
    """Write a sheet of old Excel, under the names a and b."""
    made = xlwt.Workbook()
    sheet = made.add_sheet("Old")
    sheet.write(1, 1, "a")
    sheet.write(1, 2, "b")
    for i, (cell, code) in enumerate(cells, 2):
        sheet.write(i, 1, cell, xlwt.easyxf(num_format_str=code))
        sheet.write(i, 2, f"k{i}")
    made.save(str(folder / "old.xls"))
    return folder / "old.xls"


def test_old_sheets(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same of .xls; a row with a cell that its reader cannot hold is no row, in silence."""
    cells: list[tuple[Any, str]] = [
        (1, "General"),
        (2.5, "0%"),
        (True, "General"),
        ("ä", "General"),
    ]
    cells += [(46341.5, "yyyy-mm-dd"), (1.5, "[h]:mm"), (-1e300, "yyyy-mm-dd"), (1e300, "[h]:mm")]
    path = old_book(tmp_path, [*cells, (None, "General"), (3, "General")])
    texts = ["1", "2.5", "true", "ä", "2026-11-15 12:00:00", "36:00:00"]
    expected = [(text, f"k{i}") for i, text in enumerate(texts, 2)]
    assert rows(path, skip=1) == [*expected, (None, "k10"), ("3", "k11")]
    assert capfd.readouterr() == ("", "")
    assert "the sheet 'Old'" in refused(path)


def test_binary_sheets(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same of .xlsb, of several sheets and where nothing stands in rows between."""
    cells: list[tuple[Any, str | None]] = [
        (7.0, "7"),
        (2.5, "2.5"),
        (True, "true"),
        ("ä😀\nb", "ä😀\nb"),
        ((46341, DAY), "2026-11-15"),
        ((46341.5, MOMENT), "2026-11-15 12:00:00"),
        ((46341, MOMENT), "2026-11-15"),
        ((1.5, SPAN), "36:00:00"),
        ((2958466, DAY), "2958466"),
        (b"\x2a", None),
        ("a\0b", None),
        (None, None),
    ]
    table = [[None, cell, f"k{i}"] for i, (cell, _) in enumerate(cells)]
    broken = [None, (1e300, SPAN), "gone"]
    sheets = {"One": [[], [None, "a", "b"], [], *table, broken, ["beside"], []], "Two": [["b"]]}
    path = binary_sheets.book(sheets, tmp_path)
    expected = [(text, f"k{i}") for i, (_, text) in enumerate(cells)]
    assert rows(path, sheet="One", skip=1) == expected
    assert rows(path, sheet="2") == []
    assert capfd.readouterr() == ("", "")
    assert "'One', 'Two'" in refused(path)


def test_files_that_are_no_sheets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is damaged, behind a password, another kind or without its reader is told before."""
    whole = stored.xlsx({"a": [1]}, tmp_path).read_bytes()
    bad = (b"a,b\n1,2\n", whole[:-40], b"PK", b"\xff" * 99)
    for ending in (".xlsx", ".ods", ".xlsm", ".xls", ".xlsb"):
        for content in bad[: 4 if ending in (".xlsx", ".ods") else 1]:
            (path := tmp_path / f"bad{ending}").write_bytes(content)
            assert f"bad{ending}" in refused(path)
    (locked := tmp_path / "locked.xlsx").write_bytes(
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99
    )
    assert "has a password, or is an .xls" in refused(locked)
    ods = stored.ods({"a": [1]}, tmp_path)
    with zipfile.ZipFile(ods, "a") as archive:
        archive.writestr("META-INF/manifest.xml", "<m:a xmlns:m='m'><m:encryption-data/></m:a>")
    assert "has a password" in refused(ods)
    entity = edited(stored.ods({"a": [1]}, tmp_path), "content.xml",
                    lambda xml: f"<!DOCTYPE a [<!ENTITY b 'c'>]>{xml}")  # fmt: skip
    assert "declares XML of its own" in refused(entity)
    assert "table must be left out" in refused(stored.xlsx({"a": [1]}, tmp_path), table="t")
    assert "encoding must be left out" in refused(locked, encoding="latin-1")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(hn.MissingExtraError, match="pip install python-calamine"):
        rows(old_book(tmp_path, []))


def test_a_sheet_is_released(tmp_path: Path) -> None:
    """One command releases a sheet, charged beside it; its sheets are different requests."""
    people = {"id": [*range(50)] * 2, "smoker": ["ja", True] * 50, "age": [30.5, "41"] * 50}
    path = stored.xlsx(people, tmp_path, Other=people)
    words: list[str | Path] = [
        "release",
        path,
        "--count",
        "smoker",
        "--mean",
        "age=0:100",
        "--unit",
        "id",
    ]
    words += ("--mu", "1000000", "--i-know", "--name", "one")
    words += ("--ledger", f"{path}.ledger")
    assert (
        run("ledger", "init", f"{path}.ledger", "--mu", "1e8", "--unit", "id", "--i-know").status
        == 0
    )
    ran = run(*words, "--sheet", "Table")
    assert ran.status == 0, ran.err
    assert round(ran.table["smoker"]) == 25
    assert run(*words, "--sheet", "1").out == ran.out  # kept, and not drawn again
    assert run(*words, "--sheet", "Other").status == 2
