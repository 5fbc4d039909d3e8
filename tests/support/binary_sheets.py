"""Sheets of .xlsb, put together from the records that are in them: nothing else writes such files.

A record is its number, the length of what it holds, and that (MS-XLSB, 2.1.4).
"""

import struct
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support import stored

_RELATED = "http://schemas.openxmlformats.org/{}/2006/relationships"
_KINDS = "http://schemas.openxmlformats.org/package/2006/content-types"
_END_BOOK, _SHEET, _END_SHEETS, _SIZE = 0x84, 0x9C, 0x90, 0x94
_ROWS, _END_ROWS, _ROW = 0x91, 0x92, 0x00
_ERROR, _YES_OR_NO, _NUMBER, _TEXT = 0x03, 0x04, 0x05, 0x06
_STYLES, _STYLE = 0x269, 0x2F
GENERAL, DAY, MOMENT, SPAN = 0, 14, 22, 46  # formats of numbers, which every reader knows


def xlsb(columns: Mapping[str, Sequence[Any]], folder: Path, **sheets: Any) -> Path:
    """Write a binary workbook: days and whole numbers beyond 2^53, which it rounds, are text."""
    return book({"Table": stored.rows_of(columns)} | sheets, folder)


def book(sheets: Mapping[str, Sequence[Sequence[Any]]], folder: Path) -> Path:
    """Write sheets of rows; a pair is a number and its format."""
    path = folder / f"{uuid.uuid4()}.xlsb"
    listed = b"".join(
        _record(_SHEET, struct.pack("<II", 0, i) + _wide(f"r{i}") + _wide(name))
        for i, name in enumerate(sheets, 1)
    )
    target = '<Relationship Id="r{0}" Type="{1}/worksheet" Target="worksheets/sheet{0}.bin"/>'
    inner = _RELATED.format("officeDocument")
    related = "".join(target.format(i, inner) for i in range(1, len(sheets) + 1))
    styles = (struct.pack("<HHIIHH", 0, kind, 0, 0, 0, 0) for kind in (GENERAL, DAY, MOMENT, SPAN))
    kinds = b"".join(_record(_STYLE, style) for style in styles)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{_KINDS}"/>')
        archive.writestr("xl/workbook.bin", listed + _record(_END_SHEETS) + _record(_END_BOOK))
        archive.writestr("xl/styles.bin", _record(_STYLES, struct.pack("<I", 4)) + kinds)
        archive.writestr(
            "xl/_rels/workbook.bin.rels",
            f'<Relationships xmlns="{_RELATED.format("package")}">{related}</Relationships>',
        )
        for i, rows in enumerate(sheets.values(), 1):
            archive.writestr(f"xl/worksheets/sheet{i}.bin", _sheet(rows))
    return path


def _sheet(rows: Sequence[Sequence[Any]]) -> bytes:
    wide = max(map(len, rows), default=0)
    size = struct.pack("<IIII", 0, max(len(rows), 1) - 1, 0, max(wide, 1) - 1)
    found = [_record(_SIZE, size), _record(_ROWS)]
    for i, row in enumerate(rows):
        found.append(_record(_ROW, struct.pack("<I", i)))
        found += [_cell(j, cell) for j, cell in enumerate(row)]
    return b"".join([*found, _record(_END_ROWS)])


def _cell(column: int, cell: Any) -> bytes:
    style = GENERAL
    if isinstance(cell, tuple):
        cell, kind = cell
        style = (GENERAL, DAY, MOMENT, SPAN).index(kind)
    if not isinstance(cell, str):
        cell = stored.in_sheet(cell)
    if cell is None:
        return b""
    if isinstance(cell, bytes):
        number, held = _ERROR, cell
    elif isinstance(cell, bool):
        number, held = _YES_OR_NO, struct.pack("<B", cell)
    elif isinstance(cell, int | float):
        number, held = _NUMBER, struct.pack("<d", cell)
    else:
        number, held = _TEXT, _wide(str(cell))
    return _record(number, struct.pack("<II", column, style) + held)


def _wide(text: str) -> bytes:
    found = text.encode("utf-16-le", "surrogatepass")
    return struct.pack("<I", len(found) // 2) + found


def _record(number: int, held: bytes = b"") -> bytes:
    return b"".join(map(_sevens, (number, len(held)))) + held


def _sevens(number: int) -> bytes:
    """Return a whole number, seven bits in a byte, the lowest first."""
    more = number >> 7
    return bytes([number & 127 | (more > 0) << 7]) + (_sevens(more) if more else b"")
