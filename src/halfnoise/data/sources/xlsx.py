"""Sheets of Excel, .xlsx and .xlsm: each row by itself, as it stands in the file.

A formula is the value that was stored with it; an error is missing. A number is a day, a moment or
a time where the format of its cell shows one.
"""

import datetime as dt
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from string import digits

from halfnoise.data.sources.plain_cells import Plain
from halfnoise.data.sources.xml_parts import Attributes, Elements, each, parsed, whole

Row = tuple[int, Mapping[int, Plain]]  # its number, from 1, and its cells by column, from 0
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LETTERS = re.compile(r"[A-Z]{1,3}")
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
_TIMES, _DURATIONS = {*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)}, {46}
_LAST = 2_958_466  # the day after 9999-12-31
_DAY = 86_400_000  # milliseconds
_FROM_1900 = dt.date(1899, 12, 30).toordinal()


class Xlsx:
    """A file of sheets, of which nothing is read but what is asked for."""

    def __init__(self, path: Path) -> None:
        """Open the file."""
        self._archive = zipfile.ZipFile(path)

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    @cached_property
    def sheets(self) -> dict[str, str]:
        """The parts that hold the sheets, by the sheets' names."""
        kinds = {
            found["Id"]: (found["Type"], found["Target"])
            for found in self._all("xl/_rels/workbook.xml.rels", "Relationship")
        }
        listed = [
            (found["name"], kinds[found.get("r:id") or found["id"]])
            for found in self._all(_BOOK, "sheet")
        ]
        return {
            name: posixpath.normpath(posixpath.join("/xl", target))[1:]
            for name, (kind, target) in listed
            if kind.endswith("/worksheet")
        }

    def rows(self, sheet: str) -> Iterator[Row]:
        """Yield the rows of a sheet that hold anything."""
        with self._archive.open(self.sheets[sheet]) as file:
            yield from parsed(file, _Rows(self))  # type: ignore[arg-type]

    @cached_property
    def strings(self) -> "_Strings":
        """Texts that cells name by number."""
        return _Strings(self._texts())

    def _texts(self) -> Iterator[str]:
        if _TEXTS in self._archive.namelist():
            with self._archive.open(_TEXTS) as file:
                yield from parsed(file, _Texts())  # type: ignore[arg-type]

    @cached_property
    def styles(self) -> dict[str, str]:
        """What some styles show of a number, by their own: ``time`` or ``duration``."""
        own = {f["numFmtId"]: f.get("formatCode", "") for f in self._all(_STYLES, "numFmt")}
        found = whole(self._archive, _STYLES, _Styles())
        shown = (_shows(number, own.get(number)) for number in found)
        return {str(i): shows for i, shows in enumerate(shown) if shows}

    @cached_property
    def zero(self) -> int:
        """The day from which days are counted, as that of Python."""
        from_1904 = [found.get("date1904") for found in self._all(_BOOK, "workbookPr")]
        late = from_1904[:1] in (["1"], ["true"])
        return dt.date(1904, 1, 1).toordinal() if late else _FROM_1900

    def _all(self, part: str, wanted: str) -> list[Attributes]:
        found = each(lambda name, attributes: attributes if name == wanted else None)
        return whole(self._archive, part, found)


_BOOK, _STYLES, _TEXTS = "xl/workbook.xml", "xl/styles.xml", "xl/sharedStrings.xml"


class _Strings:
    """Texts by number, read from the file as far as somebody asked."""

    def __init__(self, coming: Iterator[str]) -> None:
        self.coming, self.read = coming, list[str]()

    def at(self, number: int) -> str | None:
        """Return a text; None where there is none."""
        while len(self.read) <= number:
            text = next(self.coming, None)
            if text is None:
                return None
            self.read.append(text)
        return self.read[number] if number >= 0 else None


class _Texts(Elements):
    """Makes a text of each ``si``, without how its letters sound."""

    def __init__(self) -> None:
        super().__init__()
        self.parts, self.inside, self.sounds = list[str](), False, False

    def begin(self, name: str, attributes: Attributes) -> None:
        del attributes
        self.inside = name == "t"
        self.sounds |= name == "rPh"

    def text(self, text: str) -> None:
        if self.inside and not self.sounds:
            self.parts.append(text)

    def end(self, name: str) -> None:
        self.inside = False
        if name == "rPh":
            self.sounds = False
        elif name == "si":
            self.made.append(_unescaped("".join(self.parts)))
            self.parts = []


class _Styles(Elements):
    """Makes the number of a format of each style that cells name."""

    inside = False

    def begin(self, name: str, attributes: Attributes) -> None:
        if name == "cellXfs":
            self.inside = True
        elif name == "xf" and self.inside:
            self.made.append(attributes.get("numFmtId", "0"))

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self.inside = False


class _Rows(Elements):
    """Makes a row of each ``row``; a cell or row that does not say where it is comes next."""

    def __init__(self, book: Xlsx) -> None:
        super().__init__()
        self.book, self.styles, self.places = book, book.styles, _Places()
        self.number, self.column = 0, -1
        self.cells: dict[int, Plain] = {}
        self.cell: Attributes = {}
        self.texts = _Texts()  # those that stand in the cell itself
        self.value, self.inside = "", False

    def begin(self, name: str, attributes: Attributes) -> None:
        if name == "v":
            self.inside = True
        elif name == "c":
            self.cell, self.value = attributes, ""
            place = self.places[attributes.get("r", "").rstrip(digits)]
            self.column = self.column + 1 if place is None else place
        elif name == "row":
            self.number = int(attributes.get("r", self.number + 1))
            self.cells, self.column = {}, -1
        else:
            self.texts.begin(name, attributes)

    def text(self, text: str) -> None:
        if self.inside:
            self.value += text
        else:
            self.texts.text(text)

    def end(self, name: str) -> None:
        if name == "v":
            self.inside = False
        elif name == "c":
            self.cells[self.column] = self._read()
        elif name == "row":
            self.made.append((self.number, self.cells))
        else:
            self.texts.end("si" if name == "is" else name)

    def _read(self) -> Plain:
        """Return what a cell holds."""
        kind, value = self.cell.get("t", "n"), self.value
        if kind == "inlineStr":
            found, self.texts.made = self.texts.made, []
            return found[0] if found else None
        if kind == "s":
            return self.book.strings.at(int(value)) if _WHOLE.fullmatch(value) else None
        if kind == "str":
            return _unescaped(value)
        if kind == "d":
            return value.replace("T", " ")
        if kind == "b":
            return {"1": True, "0": False, "true": True, "false": False}.get(value)
        return None if kind == "e" else self._number(value)

    def _number(self, value: str) -> Plain:
        number = read_number(value)
        shows = self.styles.get(self.cell.get("s", "0"))
        return number if number is None or shows is None else _moment(number, shows, self.book.zero)


def read_number(value: str) -> int | float | None:
    """Return a number as it is written, a whole one with all its digits; None if it is none.

    >>> read_number("12345678901234567890"), read_number("2.50"), read_number("two")
    (12345678901234567890, 2.5, None)
    """
    try:
        return int(value) if _WHOLE.fullmatch(value) else float(value)
    except ValueError:
        return None


def _moment(number: float, shows: str, zero: int) -> Plain:
    """Return what a number shows as a time; itself, where that is none."""
    if not (-_LAST if shows == "duration" else 0) <= number < _LAST:
        return number
    milliseconds = round(number * _DAY)
    if shows == "duration":
        return dt.timedelta(milliseconds=milliseconds)
    day, rest = divmod(milliseconds, _DAY)
    # The first sixty days of 1900 are counted as if it had had a 29th of February.
    place = zero + day + (zero == _FROM_1900 and day < 60)
    if place > dt.date.max.toordinal():
        return number
    date = dt.date.fromordinal(place)
    moment = dt.datetime.combine(date, dt.time()) + dt.timedelta(milliseconds=rest)
    if number < 1:
        return moment.time()
    return moment if rest else date


def _shows(number: str, code: str | None) -> str:
    """Return what a format makes of numbers, by its number, or by its code where it has one."""
    if code is None:
        known = int(number) if _WHOLE.fullmatch(number) else -1
        return "duration" if known in _DURATIONS else "time" * (known in _TIMES)
    shown = _NOT_SHOWN.sub("", code.partition(";")[0]).lower()
    if shown == "general":
        return ""
    if "[" in shown:
        return "duration"
    return "time" * any(letter in shown for letter in "dmyhs")


class _Places(dict[str, int | None]):
    """The places of columns from 0: A, B, ..., Z, AA; None for what is no column."""

    def __missing__(self, letters: str) -> int | None:
        place = 0
        for letter in letters if _LETTERS.fullmatch(letters) else "":
            place = place * 26 + ord(letter) - 64
        self[letters] = place - 1 if place else None
        return self[letters]


def _unescaped(text: str) -> str:
    """Return text in which a character that XML cannot hold was written as _x000D_."""
    if "_x" not in text:
        return text
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
