"""Sheets of Excel, .xlsx and .xlsm: each row by itself, as it stands in the file.

A formula is the value that was stored with it; an error is missing. A number is a day, a moment or
a time where the format of its cell shows one.
"""

import datetime as dt
import math
import posixpath
import re
from collections.abc import Generator, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from string import digits

from halfnoise.data.sources.plain_cells import WHOLE, Plain, or_missing, read_number
from halfnoise.data.sources.xml_parts import (
    Attributes,
    Elements,
    Gathered,
    Numbered,
    begins,
    counted,
    each,
    read,
    stored,
    unzipped,
    whole,
)

Row = tuple[int, Mapping[int, Plain]]  # its number, from 1, and its cells by column, from 0
WIDEST, LAST_ROW = 2**14, 2**20  # columns and rows that a sheet can have
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LETTERS = re.compile(r"[A-Z]{1,3}")
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
# Formats that are known by number: those that show days, those that show the clock, and spans.
_DAYS = {*range(14, 18), *range(27, 32), *range(34, 37), *range(50, 59)}
_CLOCKS, _DURATIONS = {*range(18, 23), 32, 33, 45, 47}, {46}
_LAST = 2_958_466  # the day after 9999-12-31
_NEEDED = ("sharedStrings", "styles")  # without these, cells would be read as others
_DAY = 86_400_000  # milliseconds
_FROM_1900 = dt.date(1899, 12, 30).toordinal()


class Xlsx:
    """A file of sheets, of which nothing is read but what is asked for."""

    def __init__(self, path: Path) -> None:
        """Open the file."""
        self._archive = unzipped(path)
        self._listed = self._texts()

    def close(self) -> None:
        """Close the file, and the list of texts, which may be read in part."""
        self._listed.close()
        self._archive.close()

    @cached_property
    def sheets(self) -> dict[str, str]:
        """The parts that hold the sheets, by the sheets' names."""
        kinds = {own: (kind, part) for own, kind, part in self._links(self._book)}
        listed = [
            (found["name"], kinds[found.get("r:id") or found["id"]])
            for found in self._all(self._book, "sheet")
        ]
        return {name: part for name, (kind, part) in listed if kind == "worksheet"}

    def begin(self, sheet: str) -> None:
        """Refuse a sheet with a part that is missing or no XML."""
        said = [part for _, kind, part in self._links(self._book) if kind in _NEEDED]
        for part in (self.sheets[sheet], *self._kept(), *said):
            begins(self._archive, part)
        _ = self.styles, self.zero

    def rows(self, sheet: str) -> Iterator[Row]:
        """Yield the rows of a sheet that hold anything."""
        yield from read(self._archive, self.sheets[sheet], _Rows(self))
        self.strings.finish()

    @cached_property
    def _book(self) -> str:
        """The part that lists the sheets: some programs call it workbook2.xml."""
        own = [part for _, kind, part in self._links("") if kind == "officeDocument"]
        return own[0] if own else "xl/workbook.xml"

    def _part(self, kind: str) -> str:
        """Return where texts or styles are: as the book says, or else as most call it."""
        said = [part for _, own, part in self._links(self._book) if own == kind]
        return said[0] if said else f"xl/{kind}.xml"

    def _links(self, part: str) -> list[tuple[str, str, str]]:
        """Return what a part refers to: what it calls it, of which kind it is, and where."""
        folder, name = posixpath.split(part)
        found = self._all(f"{folder}/_rels/{name}.rels".lstrip("/"), "Relationship")
        targets = [posixpath.normpath(posixpath.join("/", folder, f["Target"]))[1:] for f in found]
        kinds = [posixpath.basename(each["Type"]) for each in found]
        return [*zip([each["Id"] for each in found], kinds, targets, strict=True)]

    @cached_property
    def strings(self) -> Numbered:
        """Texts that cells name by number."""
        return Numbered(self._listed)

    def _texts(self) -> Generator[str, None, None]:
        for part in self._kept():
            yield from read(self._archive, part, _Texts())

    def _kept(self) -> list[str]:
        """Return the part of texts, where there is one."""
        part = self._part("sharedStrings")
        return [] if stored(self._archive, part) is None else [part]

    @cached_property
    def styles(self) -> dict[str, str]:
        """What some styles show of a number, by their own: ``day``, ``clock`` or ``duration``."""
        styles = self._part("styles")
        own = {f["numFmtId"]: f.get("formatCode", "") for f in self._all(styles, "numFmt")}
        found = whole(self._archive, styles, _Styles())
        shown = (_shows(number, own.get(number)) for number in found)
        return {str(i): shows for i, shows in enumerate(shown) if shows}

    @cached_property
    def zero(self) -> int:
        """The day from which days are counted, as that of Python."""
        from_1904 = [found.get("date1904") for found in self._all(self._book, "workbookPr")]
        late = from_1904[:1] in (["1"], ["true"])
        return dt.date(1904, 1, 1).toordinal() if late else _FROM_1900

    def _all(self, part: str, wanted: str) -> list[Attributes]:
        found = each(lambda name, attributes: attributes if name == wanted else None)
        return whole(self._archive, part, found)


class _Texts(Elements):
    """Makes a text of each ``si``, without how its letters sound."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: Gathered | None = None
        self.inside, self.sounds = False, False

    def begin(self, name: str, attributes: Attributes) -> None:
        del attributes
        self.inside = name == "t"
        self.sounds |= name == "rPh"
        if name == "si":
            self.parts, self.sounds = Gathered(), False

    def text(self, text: str) -> None:
        if self.inside and self.parts is not None and not self.sounds:
            self.parts.add(text)

    def end(self, name: str) -> None:
        self.inside = False
        if name == "rPh":
            self.sounds = False
        elif name == "si" and self.parts is not None:
            self.made.append(_unescaped(str(self.parts)))
            self.parts = None


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
    """Makes a row of each ``row``; a cell or row that does not say where it is comes next.

    So does a row with a number that is none, or was before.
    """

    def __init__(self, book: Xlsx) -> None:
        super().__init__()
        self.book, self.styles, self.places = book, book.styles, _Places()
        self.number, self.column = 0, -1
        self.cells: dict[int, Plain] = {}
        self.cell: Attributes = {}
        self.texts: _Texts | None = None  # those that stand in the cell itself
        self.value, self.inside = Gathered(), False

    def begin(self, name: str, attributes: Attributes) -> None:
        if name == "v":
            self.inside = True
        elif name == "c":
            self.cell, self.value, self.texts = attributes, Gathered(), None
            place = self.places[attributes.get("r", "").rstrip(digits)]
            self.column = self.column + 1 if place is None else place
        elif name == "row":
            said = counted(attributes.get("r", ""), LAST_ROW + 1) or 0
            self.number = max(self.number + 1, said if said <= LAST_ROW else 0)
            self.cells, self.column, self.texts = {}, -1, None
        elif name == "is":
            self.texts = _Texts()
            self.texts.begin("si", attributes)
        elif self.texts is not None:
            self.texts.begin(name, attributes)

    def text(self, text: str) -> None:
        if self.inside:
            self.value.add(text)
        elif self.texts is not None:
            self.texts.text(text)

    def end(self, name: str) -> None:
        if name == "v":
            self.inside = False
        elif name == "c":
            if self.column < WIDEST:
                self.cells[self.column] = or_missing(self._read)
        elif name == "row":
            self.made.append((self.number, self.cells))
        elif self.texts is not None:
            self.texts.end("si" if name == "is" else name)

    def _read(self) -> Plain:
        """Return what a cell holds."""
        kind, value = self.cell.get("t", "n"), str(self.value)
        if kind == "inlineStr":
            found = self.texts.made if self.texts is not None else []
            return found[0] if found else None
        if kind == "s":
            return self.book.strings.at(int(value)) if WHOLE.fullmatch(value) else None
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


def _moment(number: float, shows: str, zero: int) -> Plain:
    """Return what a number shows as a time; itself, where that is none."""
    if not (-_LAST if shows == "duration" else 0) <= number < _LAST:
        return number
    if shows == "duration":
        return dt.timedelta(milliseconds=round(number * _DAY))
    day = math.floor(number)
    rest = min(round((number - day) * _DAY), _DAY - 1)  # what is rounded stays in its day
    # The first sixty days of 1900 are counted as if it had had a 29th of February.
    place = zero + day + (zero == _FROM_1900 and day < 60)
    if place > dt.date.max.toordinal():
        return number
    date = dt.date.fromordinal(place)
    moment = dt.datetime.combine(date, dt.time()) + dt.timedelta(milliseconds=rest)
    if number < 1:
        return moment.time()
    return moment if rest or shows == "clock" else date  # which shows midnight, too


def _shows(number: str, code: str | None) -> str:
    """Return what a format makes of numbers, by its number, or by its code where it has one."""
    if code is None:
        known = int(number) if WHOLE.fullmatch(number) else -1
        clock = "clock" if known in _CLOCKS else "day" * (known in _DAYS)
        return "duration" if known in _DURATIONS else clock
    shown = _NOT_SHOWN.sub("", code.partition(";")[0]).lower()
    if shown == "general":
        return ""
    if "[" in shown:
        return "duration"
    return "clock" if {*"hs"} & {*shown} else "day" * bool({*"dmy"} & {*shown})


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
