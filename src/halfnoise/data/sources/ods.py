"""Sheets of OpenDocument, .ods: each row by itself, as it stands in the file."""

import datetime as dt
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from halfnoise.data.sources.plain_cells import Plain, or_missing, read_number
from halfnoise.data.sources.xlsx import LAST_ROW, WIDEST, Row
from halfnoise.data.sources.xml_parts import (
    Attributes,
    Elements,
    Gathered,
    counted,
    each,
    parsed,
    unzipped,
    whole,
)
from halfnoise.errors import DataError

_CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"
_DURATION = re.compile(r"(-?)P(?:([0-9]+)D)?T?(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9.,]+)S)?")
_CELLS = ("table-cell", "covered-table-cell")
_SPACES = 2**20


class Ods:
    """A file of sheets, of which nothing is read but what is asked for."""

    def __init__(self, path: Path) -> None:
        """Open the file; refuse one behind a password."""
        self._archive = unzipped(path)
        locked = each(lambda name, _: name if name == "encryption-data" else None)
        if whole(self._archive, _MANIFEST, locked):
            raise DataError(f"the file {str(path)!r} has a password; save it without one")

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    @cached_property
    def sheets(self) -> dict[str, str]:
        """The sheets' names."""
        with self._archive.open(_CONTENT) as file:
            found = parsed(file, _Names())  # type: ignore[arg-type]
            return {name: name for name in found}

    def begin(self, sheet: str) -> None:
        """Do nothing: to find the sheets, all was read."""

    def rows(self, sheet: str) -> Iterator[Row]:
        """Yield the rows of a sheet that hold anything."""
        with self._archive.open(_CONTENT) as file:
            for row in parsed(file, _Rows(sheet)):  # type: ignore[arg-type]
                if row is None:
                    return
                number, cells, times = row
                for i in range(times):
                    yield number + i, cells


class _Names(Elements):
    """Makes the name of each sheet, not of tables inside cells."""

    depth = 0

    def begin(self, name: str, attributes: Attributes) -> None:
        if name == "table":
            self.depth += 1
            if self.depth == 1:
                self.made.append(attributes.get("name", ""))

    def end(self, name: str) -> None:
        self.depth -= name == "table"


class _Rows(Elements):
    """Makes the rows of one sheet, each with its number and how often it comes; None at its end."""

    def __init__(self, sheet: str) -> None:
        super().__init__()
        self.sheet, self.depth, self.ours = sheet, 0, False
        self.number, self.column, self.times = 0, 0, 1
        self.cells: dict[int, Plain] = {}
        self.cell: Attributes = {}
        self.shown, self.lines, self.paragraph, self.aside = Gathered(), 0, False, 0

    def begin(self, name: str, attributes: Attributes) -> None:
        if name == "table":
            self.depth += 1
            self.ours |= self.depth == 1 and attributes.get("name", "") == self.sheet
        if not self.ours or self.depth > 1:
            return
        if name == "table-row":
            self.cells, self.column = {}, 0
            self.times = _times(attributes, "number-rows-repeated", LAST_ROW)
        elif name in _CELLS:
            self.cell, self.shown, self.lines, self.paragraph = attributes, Gathered(), 0, False
        elif name == "annotation":
            self.aside += 1
        elif name == "p" and not self.aside:
            self.paragraph = True
            self.text("\n" * (self.lines > 0))
            self.lines += 1
        elif self.paragraph:
            spaces = _times(attributes, "c", _SPACES) if name == "s" else 0
            self.text({"s": " " * spaces, "tab": "\t", "line-break": "\n"}.get(name, ""))

    def text(self, text: str) -> None:
        if self.paragraph and not self.aside:
            self.shown.add(text)

    def end(self, name: str) -> None:
        if name == "table":
            self.depth -= 1
            if self.ours and not self.depth:
                self.ours = False
                self.made.append(None)
        if not self.ours or self.depth > 1:
            return
        if name == "table-row":
            self._repeat()
        elif name in _CELLS:
            self._take()
        elif name == "annotation":
            self.aside -= 1
        elif name == "p":
            self.paragraph = False

    def _repeat(self) -> None:
        """Make a row; rows of nothing only move those after them."""
        if self.cells:
            self.made.append((self.number + 1, self.cells, self.times))
        self.number += self.times

    def _take(self) -> None:
        times = _times(self.cell, "number-columns-repeated", WIDEST)
        found = or_missing(self._read)
        if found is not None:
            last = min(self.column + times, WIDEST)
            self.cells |= dict.fromkeys(range(self.column, last), found)
        self.column += times

    def _read(self) -> Plain:
        """Return what a cell holds."""
        kind, cell = self.cell.get("value-type"), self.cell
        if kind is None or cell.get("calcext:value-type") == "error":
            return None
        if kind in ("float", "percentage", "currency"):
            return read_number(cell.get("value", ""))
        if kind == "boolean":
            return {"true": True, "false": False}.get(cell.get("boolean-value", ""))
        if kind == "date":
            return cell.get("date-value", "").replace("T", " ")
        if kind == "time":
            return _duration(cell.get("time-value", ""))
        return cell.get("string-value", str(self.shown)) or None


def _times(attributes: Attributes, name: str, most: int) -> int:
    said = counted(attributes.get(name, "1"), most)
    return 1 if said is None else said


def _duration(said: str) -> Plain:
    """Return a time of the day or a span of time; what cannot be read as one stays as it is."""
    found = _DURATION.fullmatch(said)
    if found is None:
        return said
    sign, *parts = found.groups()
    try:
        days, hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in parts)
        span = dt.timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        span = -span if sign else span
    except (ValueError, OverflowError):
        return said
    return span
