"""Files in which people keep tables: sheets, databases, folders, made of columns of plain cells."""

import datetime as dt
import math
import sqlite3
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import duckdb
import openpyxl
import pyarrow as pa
import xlwt
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, WriteOnlyCell

Columns = Mapping[str, Sequence[Any]]
LONGEST_NAME = 255  # bytes of a folder's name
OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns:"


def rows_of(columns: Columns) -> list[tuple[Any, ...]]:
    """Return the header and the rows."""
    return [tuple(columns), *zip(*columns.values(), strict=True)]


def in_sheet(cell: Any) -> Any:
    """Return a cell as a sheet can hold it: what it has no number for is text.

    Nor has who writes it for whole numbers beyond 2^53.
    """
    if isinstance(cell, int) and abs(cell) > 2**53:
        return str(cell)
    if isinstance(cell, float) and not math.isfinite(cell):
        return None if math.isnan(cell) else str(cell)
    if isinstance(cell, str):
        return ILLEGAL_CHARACTERS_RE.sub(lambda found: f"_x{ord(found[0]):04X}_", cell)
    if isinstance(cell, dt.datetime) and cell.tzinfo is not None:
        return cell.isoformat(" ")
    return None if isinstance(cell, bytes) else cell


def as_cell(sheet: Any, cell: Any) -> Any:
    """Return text that is written as such, also where it looks like a formula or an error."""
    if not isinstance(cell, str):
        return cell
    made = WriteOnlyCell(sheet, cell)
    made.data_type = "s"
    return made


def xlsx(columns: Columns, folder: Path, **sheets: Columns) -> Path:
    """Write a workbook of Excel, with the table on the first sheet and others on more."""
    path = folder / f"{uuid.uuid4()}.xlsx"
    book = openpyxl.Workbook(write_only=True)
    for name, table in {"Table": columns, **sheets}.items():
        sheet = book.create_sheet(name)
        for row in rows_of(table):
            sheet.append([as_cell(sheet, in_sheet(cell)) for cell in row])
    book.save(path)
    return path


def xls(columns: Columns, folder: Path) -> Path:
    """Write a sheet of old Excel: days and whole numbers beyond 2^53, which it rounds, are text."""
    path = folder / f"{uuid.uuid4()}.xls"
    book = xlwt.Workbook(encoding="utf-8")
    sheet = book.add_sheet("Table")
    for i, row in enumerate(rows_of(columns)):
        for j, cell in enumerate(row):
            as_is = cell if isinstance(cell, str) else in_sheet(cell)
            sheet.write(i, j, str(cell) if isinstance(cell, dt.date) else as_is)
    book.save(str(path))
    return path


def ods_cell(cell: Any) -> str:
    """Return a cell as OpenDocument writes it; what XML cannot hold is left out."""
    if cell is None:
        return "<table:table-cell/>"
    kind, value = "string", ""
    if isinstance(cell, bool):
        kind, value = "boolean", f" office:boolean-value='{str(cell).lower()}'"
    elif isinstance(cell, int | float):
        kind, value = "float", f" office:value='{cell!r}'"
    elif isinstance(cell, dt.date):
        kind, value = "date", f" office:date-value='{cell.isoformat()}'"
    text = ILLEGAL_CHARACTERS_RE.sub("", str(cell))
    lines = "".join(f"<text:p>{escape(line)}</text:p>" for line in text.split("\n"))
    return f"<table:table-cell office:value-type='{kind}'{value}>{lines}</table:table-cell>"


def ods(columns: Columns, folder: Path, **sheets: Columns) -> Path:
    """Write a spreadsheet of OpenDocument."""
    path = folder / f"{uuid.uuid4()}.ods"
    names = " ".join(f"xmlns:{name}='{OPEN_DOCUMENT}{name}:1.0'" for name in ("office", "table"))
    tables = []
    for name, table in {"Table": columns, **sheets}.items():
        made = (f"<table:table-row>{''.join(map(ods_cell, row))}</table:table-row>" for row in
                ([in_sheet(c) if isinstance(c, float | bytes | dt.datetime) else c for c in row]
                 for row in rows_of(table)))  # fmt: skip
        tables.append(f"<table:table table:name={quoteattr(name)}>{''.join(made)}</table:table>")
    body = f"<office:body><office:spreadsheet>{''.join(tables)}</office:spreadsheet></office:body>"
    text = f"xmlns:text='{OPEN_DOCUMENT}text:1.0'"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        content = f"<office:document-content {names} {text}>{body}</office:document-content>"
        archive.writestr("content.xml", content)
    return path


def sqlite(columns: Columns, folder: Path) -> Path:
    """Write a table of SQLite whose columns have no type."""
    path = folder / f"{uuid.uuid4()}.sqlite"
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    database = sqlite3.connect(path)
    database.execute(f"create table visits ({names})")
    marks = ", ".join("?" * len(columns))
    _, *rows = rows_of(columns)
    made = ([str(c) if isinstance(c, dt.date) else c for c in row] for row in rows)
    database.executemany(f"insert into visits values ({marks})", made)
    database.commit()
    database.close()
    return path


def duckdb_file(table: pa.Table, folder: Path) -> Path:
    """Write a table of DuckDB, beside a view, which is no table."""
    path = folder / f"{uuid.uuid4()}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.from_arrow(table).create("visits")
        connection.execute("create view other as select 1 as a")
    return path


def partitions(column: str, cells: Sequence[str | None]) -> dict[str, list[int]]:
    """Return names of folders that say what a column holds, and the places of the rows in each.

    What is too long for a name is missing.
    """
    places: dict[str, list[int]] = {}
    for place, cell in enumerate(cells):
        name = f"{quote(column, safe='')}={quote(cell or '', safe='')}"
        said = name if len(name) <= LONGEST_NAME else f"{column}=__HIVE_DEFAULT_PARTITION__"
        places.setdefault(said, []).append(place)
    return places
