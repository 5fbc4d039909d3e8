"""Sheets: .xlsx, .xlsm, .ods, .xls and .xlsb, in which every cell becomes text by itself.

A row is one that holds anything from the first named column to the last: where a sheet ends is
decided by its cells, and so no cell decides whether rows of others are there.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Protocol

from halfnoise.checks import unknown
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.ods import Ods
from halfnoise.data.sources.plain_cells import Plain, as_text
from halfnoise.data.sources.poured import poured
from halfnoise.data.sources.source import Source, TextFormat, spelled
from halfnoise.data.sources.texts import alike, told_apart
from halfnoise.data.sources.xls import Xls
from halfnoise.data.sources.xlsx import Row, Xlsx
from halfnoise.errors import DataError, InvalidParameterError
from halfnoise.values import dataclass, replace

_LOCKED = (
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # what .xls files, and those with passwords, begin with
)


class Book(Protocol):
    """A file of sheets."""

    @property
    def sheets(self) -> Mapping[str, str]:
        """The sheets by name."""

    def begin(self, sheet: str) -> None:
        """Refuse a sheet that cannot be read, as far as can be told without its rows."""

    def rows(self, sheet: str) -> Iterator[Row]:
        """Yield the rows of a sheet that hold anything."""

    def close(self) -> None:
        """Close the file."""


BOOKS: dict[str, type[Book]] = {".xlsx": Xlsx, ".xlsm": Xlsx, ".ods": Ods}
BOOKS |= {".xls": Xls, ".xlsb": Xls}


def sheet_source(
    connection: Any, paths: Sequence[Path], text: TextFormat, stack: ExitStack, failed: str
) -> Source:
    """Return sheets of files, one of each, as a table that has not been read yet."""
    sheets = quietly(lambda: [_sheet(path, text, stack) for path in paths], failed)
    if text.names is None:
        headers = [quietly(each.header, failed) for each in sheets]
        alike(headers, paths)
        names = told_apart([name or "" for name in headers[0]])
        starts = [each.start for each in headers]
    else:
        names, starts = [*text.names], [0] * len(sheets)
    inside = spelled(names)

    def rows(columns: Sequence[str]) -> Iterator[list[str | None]]:
        places = [names.index(column) for column in columns]
        for sheet, start in zip(sheets, starts, strict=True):
            every = range(start, start + len(names))
            yield from sheet.texts(every, [start + place for place in places])

    source = poured(connection, _settled(text, sheets), inside, rows, failed)
    return replace(source, from_header=text.names is None, counted=False)


class _Names(list[str | None]):
    """The cells of a row of names, which could be a person's: no traceback shows them.

    ``start``: the column of the first.
    """

    __slots__ = ("start",)

    def __init__(self, cells: Sequence[str | None], start: int) -> None:
        super().__init__(cells)
        self.start = start

    def __repr__(self) -> str:
        return f"{len(self)} cells"


@dataclass(frozen=True, slots=True)
class _Sheet:
    """One sheet of a file, and what was said of it."""

    path: Path
    book: Book
    name: str
    text: TextFormat

    def header(self) -> _Names:
        """Return the names of the columns, from the first that has one to the last."""
        first = self.text.skip + 1
        for number, cells in self.book.rows(self.name):
            if number >= first:
                found = self._shown(cells) if number == first else {}
                break
        else:
            found = {}
        if not found:
            said = f"row {first} of the sheet {self.name!r} in {str(self.path)!r} is empty"
            raise DataError(f"{said}; say with --header-row which one holds the names")
        return _Names([found.get(i) for i in range(min(found), max(found) + 1)], min(found))

    def texts(self, columns: range, wanted: Sequence[int]) -> Iterator[list[str | None]]:
        """Yield the texts of some columns in each row that holds anything in any of them."""
        before, decimal = self.text.skip + (self.text.names is None), self.text.decimal
        others = {*columns} - {*wanted}
        for number, cells in self.book.rows(self.name):
            if number > before:
                texts = [as_text(cells.get(i), decimal) for i in wanted]
                there = any(texts) or any(as_text(cells[i]) for i in cells if i in others)
                if there:
                    yield texts

    def _shown(self, cells: Mapping[int, Plain]) -> dict[int, str]:
        shown = {i: as_text(cell, self.text.decimal) for i, cell in cells.items()}
        return {i: text for i, text in shown.items() if text is not None}


def _sheet(path: Path, text: TextFormat, stack: ExitStack) -> _Sheet:
    """Open a file, and find the sheet in it."""
    kind = BOOKS[path.suffix.lower()]
    if kind is not Xls:
        with path.open("rb") as file:
            if file.read(len(_LOCKED)) == _LOCKED:
                said = f"the file {str(path)!r} has a password, or is an .xls file by another name"
                raise DataError(f"{said}; save it without one, or rename it")
    book: Book = stack.enter_context(closing(kind(path)))  # type: ignore[call-arg]
    name = _chosen([*book.sheets], text.sheet, path)
    book.begin(name)
    return _Sheet(path, book, name, text)


def _chosen(names: Sequence[str], wanted: str | int | None, path: Path) -> str:
    """Return the sheet that is meant: by its name, or else by its number from 1."""
    if not names:
        said = f"the file {str(path)!r} has no sheet with cells; check that the file is complete"
        raise DataError(said)
    if wanted is None and len(names) > 1:
        listed = f"the sheets of {str(path)!r}: {', '.join(map(repr, names[:20]))}"
        raise InvalidParameterError(
            f"the file {str(path)!r} has several sheets; say which one, --sheet NAME; {listed}"
        )
    if wanted is None or wanted in names:
        return names[0] if wanted is None else str(wanted)
    number = int(wanted) if str(wanted).isdecimal() else 0
    if not 1 <= number <= len(names):
        raise unknown("sheet", wanted, names)
    return names[number - 1]


def _settled(text: TextFormat, sheets: Sequence[_Sheet]) -> TextFormat:
    """Return what was said with the sheet by its name, however it was said."""
    names = {each.name for each in sheets}
    return replace(text, sheet=names.pop()) if len(names) == 1 else text
