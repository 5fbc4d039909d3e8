"""Sheets with content that no program writes: it changes its own row alone, and nothing fails."""

import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

import halfnoise as hn
from halfnoise.data.sources import fetch, ods, open_source, plain_cells, xlsx, xml_parts
from halfnoise.data.sources.source import TextFormat

MANY = "9" * 5000


def rows(path: Path) -> list[tuple[str | None, ...]]:
    """Return the texts of all columns."""
    with open_source(path, text=TextFormat()) as source:
        source.fill()
        wanted = [*source.columns]
        frame = source.of(wanted).rows(wanted)
        return fetch(frame.select(*(source.names[column] for column in wanted)))


def zipped(path: Path, **parts: str) -> Path:
    """Write a file of parts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def excel(folder: Path, table: str, before: str = "", **parts: str) -> Path:
    """Write a sheet of Excel with rows as they are written there."""
    sheet = f"{before}<worksheet><sheetData>{table}</sheetData></worksheet>"
    target = "Target='worksheets/sheet1.xml'"
    about = {
        "xl/workbook.xml": "<workbook xmlns:r='x'><sheets><sheet name='S' r:id='1'/></sheets>"
        "</workbook>",
        "xl/_rels/workbook.xml.rels": "<Relationships>"
        f"<Relationship Id='1' Type='x/worksheet' {target}/></Relationships>",
        "xl/worksheets/sheet1.xml": sheet,
    }
    kept = {name: content for name, content in (about | parts).items() if content}
    return zipped(folder / "odd.xlsx", **kept)


def inline(text: str) -> str:
    """Return a cell of Excel."""
    return f"<c t='inlineStr'><is><t>{text}</t></is></c>"


def crowd_of_excel(odd: str, row: str = "<row>") -> str:
    """Return a header, a row with an odd cell, and one after it."""
    header = f"<row r='1'>{inline('id')}{inline('a')}</row>"
    after = f"{row}{inline('p2')}{inline('yes')}</row>"
    return f"{header}<row r='2'>{inline('p1')}{odd}</row>{after}"


def open_document(folder: Path, table: str) -> Path:
    """Write a sheet of OpenDocument with rows as they are written there."""
    spaces = " ".join(f"xmlns:{name}='{name}'" for name in ("office", "table", "text"))
    start, end = f"<office:a {spaces}><table:table table:name='S'>", "</table:table></office:a>"
    return zipped(folder / "odd.ods", **{"content.xml": f"{start}{table}{end}"})


def cell(text: str, about: str = "office:value-type='string'") -> str:
    """Return a cell of OpenDocument."""
    return f"<table:table-cell {about}><text:p>{text}</text:p></table:table-cell>"


def crowd_of_open_document(odd: str, times: str = "1") -> str:
    """Return a header, a row with an odd cell, and one after it."""
    row = "<table:table-row"
    header = f"{row}>{cell('id')}{cell('a')}</table:table-row>"
    first = f"{row} table:number-rows-repeated='{times}'>{cell('p1')}{odd}</table:table-row>"
    return f"{header}{first}{row}>{cell('p2')}{cell('yes')}</table:table-row>"


ODD_EXCEL = {
    "<c t='n'><is><t>x</t></is></c>": None,
    "<c t='str'><v>b</v><is><t>x</t></is></c>": "b",
    "<c><t>x</t></c>": None,
    "<extLst><t>x</t></extLst>": None,
    "<c t='inlineStr'><is><rPh><t>x</t></rPh><t>b</t></is><t>x</t></c>": "b",
    "<c t='inlineStr'><is><rPh><is><t>b</t></is></rPh></is></c>": "b",
    f"<c><v>{MANY}</v></c>": "inf",
    f"<c t='s'><v>{MANY}</v></c>": None,
    f"<c r='ZZZ{MANY}'><v>1</v></c>": None,
}
ODD_ROWS = (
    "<row>",
    f"<row r='{MANY}'>",
    "<row r='x'>",
    "<row r='1'>",
    "<row r='-1'>",
    "<row r=''>",
)


def test_odd_cells_of_excel(tmp_path: Path) -> None:
    """A cell is read by what stands inside it, and begins anew; a row that cannot be comes next."""
    for odd, text in ODD_EXCEL.items():
        path = excel(tmp_path, crowd_of_excel(odd))
        assert rows(path) == [("p1", text), ("p2", "yes")], odd[:60]
    for row in ODD_ROWS:
        path = excel(tmp_path, crowd_of_excel(inline("b"), row))
        assert rows(path) == [("p1", "b"), ("p2", "yes")], row[:60]


STRING = "office:value-type='string'"
TIME = "office:value-type='time' office:time-value="
ODD_OPEN = {
    cell("", f"{TIME}'-P999999999DT23H'"): "-P999999999DT23H",
    cell("", f"{TIME}'P999999999DT23H'"): "23999999999:00:00",
    cell("", f"{TIME}'P{MANY}D'"): f"P{MANY}D",
    cell("x", f"{STRING} table:number-columns-repeated='{MANY}'"): "x",
    cell("x", f"{STRING} table:number-columns-repeated='²'"): "x",
    cell("x<table:table-cell/>y"): None,
    cell(f"x<text:s text:c='{MANY}'/>"): "x" + " " * 2**20,
    cell(f"<text:s text:c='{MANY}'/>" * 3): None,
}


def test_odd_cells_of_open_documents(tmp_path: Path) -> None:
    """Spans, numbers of times and cells in cells that cannot be are read by rules, too."""
    for odd, text in ODD_OPEN.items():
        path = open_document(tmp_path, crowd_of_open_document(odd))
        assert rows(path) == [("p1", text), ("p2", "yes")], odd[:80]


def test_a_row_that_comes_often_is_held_once(tmp_path: Path) -> None:
    """How often a row comes takes no memory, and the most that it says is a sheet's last row."""
    path = open_document(tmp_path, crowd_of_open_document(cell("b"), MANY))
    with closing(ods.Ods(path)) as book:
        numbers = [(number, id(cells)) for number, cells in book.rows("S")]
    assert [number for number, _ in numbers] == [*range(1, 2**20 + 3)]
    assert len({found for _, found in numbers}) <= 3
    made = ods._Rows("S")
    made.ours, made.depth, made.cells, made.times = True, 1, {0: "b"}, 2**20
    made.end("table-row")
    assert len(made.made) == 1


def test_whatever_a_cell_raises_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule with a hole makes the cell missing, in the header's piece and behind it."""

    def fail(*_: object) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(xlsx, "read_number", fail)
    monkeypatch.setattr(ods, "read_number", fail)
    number = "office:value-type='float' office:value='7'"
    for path in (
        excel(tmp_path, crowd_of_excel("<c><v>7</v></c>")),
        open_document(tmp_path, crowd_of_open_document(cell("7", number))),
    ):
        assert rows(path) == [("p1", None), ("p2", "yes")]


def test_rows_behind_the_header_do_not_fail_it(tmp_path: Path) -> None:
    """A file that breaks off is found where it does."""
    path = excel(tmp_path, crowd_of_excel("<broken>"))
    with open_source(path, text=TextFormat()) as source:
        assert [*source.columns] == ["id", "a"]
    with pytest.raises(hn.HalfnoiseError):
        rows(path)


@pytest.mark.parametrize("named", [1, 2])
def test_texts_that_break_off_are_told_whoever_names_them(named: int, tmp_path: Path) -> None:
    """Not by the rows that name one behind the break: those before it do not go through either."""
    texts = {"xl/sharedStrings.xml": f"<sst>{'<si><t>b</t></si>' * 999}<si><t>c</t>"}
    path = excel(tmp_path, crowd_of_excel(f"<c t='s'><v>{named * 600}</v></c>"), **texts)
    with open_source(path, text=TextFormat()) as source:
        assert [*source.columns] == ["id", "a"]
    with pytest.raises(hn.DataError, match="check that the file is complete"):
        rows(path)
    whole = {"xl/sharedStrings.xml": f"{texts['xl/sharedStrings.xml']}</si></sst>"}
    path = excel(tmp_path, crowd_of_excel(f"<c t='s'><v>{named * 600}</v></c>"), **whole)
    with closing(xlsx.Xlsx(path)) as book:
        assert [*book.rows("S")] == [*book.rows("S")]
    assert rows(path)[0] == ("p1", "b" if named == 1 else None)


def test_texts_that_are_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are missing, however they are written, and take no more memory than the longest."""
    for module in (plain_cells, xml_parts):
        monkeypatch.setattr(module, "LONGEST", 9)
    shared = {"xl/sharedStrings.xml": f"<sst><si><t>{'x' * 10}</t></si><si><t>b</t></si></sst>"}
    for length, text in ((9, "x" * 9), (10, None)):
        long = "x" * length
        for odd in (inline(long), f"<c t='str'><v>{long}</v></c>"):
            assert rows(excel(tmp_path, crowd_of_excel(odd)))[0] == ("p1", text)
        for odd in (cell(long), cell("", f"{STRING} office:string-value='{long}'")):
            assert rows(open_document(tmp_path, crowd_of_open_document(odd)))[0] == ("p1", text)
    for i, text in enumerate((None, "b")):
        path = excel(tmp_path, crowd_of_excel(f"<c t='s'><v>{i}</v></c>"), **shared)
        assert rows(path)[0] == ("p1", text)
    gathered = xml_parts.Gathered()
    for _ in range(99):
        gathered.add("x")
    assert len(gathered.parts) == 9


def test_parts_that_cannot_be_read_are_found_before(tmp_path: Path) -> None:
    """Also where names are declared, so that no row of names is looked for."""
    crowd, declares = crowd_of_excel(inline("b")), "<!DOCTYPE x [<!ENTITY y 'z'>]>"
    sheet, texts, styles = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"
    for parts in (
        {sheet: ""},
        {sheet: "no XML"},
        {sheet: f"{declares}<worksheet/>"},
        {texts: f"{declares}<sst/>"},
        {styles: f"{declares}<styleSheet/>"},
    ):
        path = excel(tmp_path, crowd, **parts)
        with pytest.raises(hn.HalfnoiseError), open_source(path, text=TextFormat(names=["id"])):
            pass


@pytest.mark.parametrize("kind", [excel, open_document])
def test_files_that_cannot_be_unpacked_are_found_before(kind: Any, tmp_path: Path) -> None:
    """A part behind a password, or packed as sheets are not, is told from the list of parts."""
    path = kind(tmp_path, "")
    content = path.read_bytes()
    listed = content.rindex(b"PK\x01\x02")
    for place, change in ((8, 1), (10, 99)):  # the flags and the method of the last part
        changed = bytearray(content)
        changed[listed + place] = change
        path.write_bytes(changed)
        with (
            pytest.raises(hn.DataError, match="save it anew"),
            open_source(path, text=TextFormat(names=["id"])),
        ):
            pass


def test_a_file_without_sheets(tmp_path: Path) -> None:
    """It is told as such, not as one of which a sheet is to be chosen."""
    for path in (
        excel(tmp_path, "", **{"xl/workbook.xml": "<workbook/>"}),
        zipped(tmp_path / "odd.ods", **{"content.xml": "<a/>"}),
    ):
        for sheet in (None, "S"):
            with (
                pytest.raises(hn.DataError, match="has no sheet with cells; check"),
                open_source(path, text=TextFormat(sheet=sheet)),
            ):
                pass


BOOK, TEXTS, STYLES = "xl/workbook.xml", "xl/sharedStrings.xml", "xl/styles.xml"
LINKS = "xl/_rels/workbook.xml.rels"


def written(path: Path, said: dict[str, str], called: dict[str, str]) -> Path:
    """Write a sheet as Excel does, of which some parts are said to be, or are called, otherwise."""
    with xlsxwriter.Workbook(path) as made:
        day = made.add_format({"num_format": "yyyy-mm-dd"})
        sheet = made.add_worksheet("S")
        sheet.write_row(0, 0, ["id", "seen"])
        sheet.write_row(1, 0, ["p1", 46341], day)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    for old, new in said.items():
        parts = {name: content.replace(old, new) for name, content in parts.items()}
    return zipped(path, **{called.get(name, name): content for name, content in parts.items()})


@pytest.mark.parametrize(
    ("said", "called"),
    [
        ({}, {TEXTS: "xl/SharedStrings.xml", STYLES: "xl/Styles.xml"}),
        ({"sharedStrings.xml": "SharedStrings.xml"}, {}),
        (
            {"workbook.xml": "workbook2.xml"},
            {BOOK: "xl/workbook2.xml", LINKS: "xl/_rels/workbook2.xml.rels"},
        ),
        (
            {"sharedStrings.xml": "texts/1.xml", "styles.xml": "styles3.xml"},
            {TEXTS: "xl/texts/1.xml", STYLES: "xl/styles3.xml"},
        ),
        ({}, {name: name.replace("/", "\\") for name in (BOOK, TEXTS, STYLES, LINKS)}),
    ],
)
def test_parts_are_where_the_file_says(
    said: dict[str, str], called: dict[str, str], tmp_path: Path
) -> None:
    """Some programs call them by other names; no text and no day is lost for it."""
    assert rows(written(tmp_path / "odd.xlsx", said, called)) == [("p1", "2026-11-15")]


@pytest.mark.parametrize("part", [TEXTS, STYLES])
def test_parts_that_are_said_to_be_there_are(part: str, tmp_path: Path) -> None:
    """Without them all texts would be missing, and all days numbers."""
    path = written(tmp_path / "odd.xlsx", {}, {part: "elsewhere.xml"})
    with (
        pytest.raises(hn.DataError),
        open_source(path, text=TextFormat(names=["id", "seen"])),
    ):
        pass
