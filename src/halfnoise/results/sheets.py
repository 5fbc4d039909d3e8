"""A release as an Excel workbook: estimates, margins of tables, shares, tables as one reads them.

Numbers are numbers with all their digits, shown as their errors allow; only tables as one reads
them are rounded, together, so that they add up and say what pages say. Text is text, never a
formula. The same release gives the same bytes.
"""

import datetime as dt
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from halfnoise.checks import installed
from halfnoise.results import render
from halfnoise.results.between import Lines, Side
from halfnoise.results.comparing import lines_of
from halfnoise.results.inference import NUMBERS, Columns, Floats
from halfnoise.results.lines import FORMULA
from halfnoise.results.release import GroupedRelease, Release, Released, template_of
from halfnoise.results.reliability import LEFT_OUT, RELATIVE, Reliability, beside, said
from halfnoise.results.shown import kinds, places
from halfnoise.results.table import of_people, width
from halfnoise.results.tabled import Cells
from halfnoise.results.wide import DASH
from halfnoise.scratch import own_folder
from halfnoise.text import spelled
from halfnoise.values import dataclass, field, replace

TITLES = {"std": "standard error", RELATIVE: "relative standard error"}
MOST_ROWS = 2**20 - 1  # of a sheet, below its titles
MOST_TABLES = 50  # so many are laid out; the estimates list all of them
LONGEST = 32_767  # letters in a cell
WIDEST = 60
_MADE = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)  # the same bytes at any time
_DAYS = (dt.date(1900, 3, 1), dt.date(9999, 12, 31))  # which a sheet counts as we do
OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
    "default_date_format": "yyyy-mm-dd",
}


@dataclass(slots=True)
class Book:
    """A workbook on its way: its formats are made once each."""

    book: Any
    formats: dict[tuple[str, bool, bool], Any] = field(default_factory=dict)

    def format(self, number: str = "", *, bold: bool = False, quoted: bool = False) -> Any:
        """Return how a cell is shown; ``quoted``: as text, also once somebody edits it."""
        key = (number, bold, quoted)
        if key not in self.formats:
            said: dict[str, Any] = {"bold": bold, "quote_prefix": quoted}
            said |= {"num_format": number} if number else {}
            self.formats[key] = self.book.add_format(said)
        return self.formats[key]

    def sheet(self, name: str, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write a sheet below its titles, which stay in sight; and others where it is full."""
        number, left = 1, iter(rows)
        while True:
            page = self.book.add_worksheet(name if number == 1 else f"{name} {number}")
            page.freeze_panes(1, 0)
            widths = [self._width(title) for title in titles]
            for at, title in enumerate(titles):
                self._write(page, 0, at, title, bold=True)
            written = 0
            for line in islice(left, MOST_ROWS):
                written += 1
                for at, cell in enumerate(line):
                    self._write(page, written, at, cell)
                    widths[at] = max(widths[at], self._width(cell))
            for at, wide in enumerate(widths):
                page.set_column(at, at, min(WIDEST, wide))
            number += 1
            if written < MOST_ROWS:
                return

    def _write(self, page: Any, row: int, at: int, cell: Any, *, bold: bool = False) -> None:
        """Write a cell: a number with its format, a day, yes or no, or text."""
        number, plain = cell if isinstance(cell, tuple) else ("", cell)
        if isinstance(plain, bool):
            page.write_boolean(row, at, plain)
        elif isinstance(plain, float | int) and math.isfinite(plain) and abs(plain) < 2**53:
            page.write_number(row, at, plain, self.format(number, bold=bold))
        elif type(plain) is dt.date and _DAYS[0] <= plain <= _DAYS[1]:
            page.write_datetime(row, at, dt.datetime.combine(plain, dt.time()))
        elif plain not in (None, ""):
            text = _text(plain)
            quoted = text.startswith(FORMULA)
            page.write_string(row, at, text, self.format(bold=bold, quoted=quoted))

    @staticmethod
    def _width(cell: Any) -> int:
        plain = cell[1] if isinstance(cell, tuple) else cell
        return 12 if isinstance(plain, float) else len(_text(plain)) + 2


def _text(value: Any) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return spelled(value)[:LONGEST]


def as_sheets(release: Released) -> bytes:
    """Return a release as a workbook."""
    writer, whole = installed("xlsxwriter", "XlsxWriter"), io.BytesIO()
    with own_folder() as folder:
        made = writer.Workbook(whole, {**OPTIONS, "tmpdir": str(folder)})
        made.set_properties({"created": _MADE.replace(tzinfo=None)})
        book = Book(made)
        _estimates(book, release)
        _laid_out(book, release)
        _shares(book, release)
        book.sheet("notes", ["notes"], ([line] for line in render.beside(release)))
        made.close()
    return whole.getvalue()


def _estimates(book: Book, release: Released) -> None:
    """Write what was asked for, and the margins of tables that came with it."""
    columns, template = release.columns(), template_of(release)
    asked = np.array([True] * template.has_size + [*_asked(template)])
    every = np.tile(asked, len(columns["name"]) // max(1, len(asked)))
    for name, some in (("estimates", every), ("margins", ~every)):
        if name == "estimates" or some.any():
            own = {title: each[some] for title, each in columns.items()}
            _listed(book, name, own, release)


def _asked(release: Release) -> Iterator[bool]:
    """Say of each row of a group whether somebody asked for it."""
    for question in release.questions:
        yield from [question.asked] * width(question)


def _listed(book: Book, name: str, columns: Columns, release: Released) -> None:
    """Write a table by column, one row for each estimate."""
    shown = beside(columns, Reliability.of(release.facts))
    titles = [TITLES.get(title, title) for title in shown]
    own, errors = kinds(columns), columns["std"].tolist()
    known = {
        pair: (_way(*pair, ones=release.rounded_values), _error(*pair))
        for pair in {*zip(own, errors, strict=True)}
    }
    ways = [known[pair] for pair in zip(own, errors, strict=True)]
    cells = [_column(title, each.tolist(), ways) for title, each in shown.items()]
    book.sheet(name, titles, zip(*cells, strict=True))


def _way(kind: str, std: float, *, ones: bool) -> str:
    """Return the number format of a number, as its error allows; shares are in per cent."""
    if kind == "share":
        return f"{_format(places(100 * std) or 0)}%"
    return _format(places(std, kind, ones=ones))


def _error(kind: str, std: float) -> str:
    """Return the number format of a standard error: three digits."""
    size, unit = (100 * std, "%") if kind == "share" else (std, "")
    return _format(2 - math.floor(math.log10(size)) if 0 < size < math.inf else 0) + unit


def _column(title: str, cells: list[Any], ways: list[tuple[str, str]]) -> list[Any]:
    if title == RELATIVE:
        return [("0.0%", x) if x < math.inf else said(x) for x in cells]
    if title in NUMBERS:
        return [(way[title == "std"], cell) for way, cell in zip(ways, cells, strict=True)]
    return cells


def _format(at: int | None) -> str:
    """Return the number format that shows so many places behind the point.

    >>> _format(2), _format(0), _format(-2), _format(None)
    ('#,##0.00', '#,##0', '#,##0', 'General')
    """
    if at is None:
        return "General"
    return "#,##0." + "0" * min(at, 15) if at > 0 else "#,##0"


def _shares(book: Book, release: Released) -> None:
    """Write counts as shares of all people, where their number is known or measured."""
    template = template_of(release)
    asked = replace(template, questions=tuple(q for q in template.questions if q.asked))
    if not template.has_size:
        return
    values = np.atleast_2d(release.values)
    names, found = list[str](), []
    for lines in lines_of(asked, shares=True, size=template.questions[-1].stop):
        if lines.kind == "share":
            names += lines.names
            found.append(_of_people(template, values, lines))
    if not found:
        return
    numbers = np.concatenate(found, axis=2)
    table: Columns = {"name": np.tile(np.array(names, dtype=object), len(values))}
    table["kind"] = np.full(numbers[0].size, "share", dtype=object)
    table |= {title: each.ravel() for title, each in zip(NUMBERS, numbers, strict=True)}
    if isinstance(release, GroupedRelease):
        table = release.keyed(table, release.group_keys)
    _listed(book, "shares", table, release)


def _of_people(release: Release, values: Floats, lines: Lines) -> Floats:
    """Return shares by group and name."""
    if release.sampling is not None:  # whose error hangs on each number
        each = (of_people(release, values, place, (0.0, 1.0)) for place in lines.top.tolist())
        return np.stack([*each], axis=2)
    numbers = Side(lines=lines, values=values, errors=release.errors).numbers(release.level)
    numbers[[0, 2, 3]] = np.clip(numbers[[0, 2, 3]], 0.0, 1.0)
    return numbers


def _laid_out(book: Book, release: Released) -> None:
    """Write tables as one reads them, each on a sheet of its own."""
    for place, (heading, table) in enumerate(islice(render.tables(release), MOST_TABLES), start=1):
        wide = table.wide()
        head = f"{heading}{wide.title}"
        rows = zip(wide.lines, _grid(table, release), strict=True)
        titles = [*wide.heads, *wide.titles]
        lines = ([*heads, *_told(texts, cells)] for (heads, texts), cells in rows)
        below = ([text] for text in ("", head, *wide.below))
        book.sheet(f"table {place}", titles, chain(lines, below))


def _told(texts: Sequence[str], cells: list[Any]) -> Iterator[Any]:
    """Go through the cells of a row, with a dash where nobody can tell."""
    for text, cell in zip(texts, cells, strict=True):
        yield DASH if text == DASH else cell


def _grid(table: Cells, release: Released) -> Iterator[list[Any]]:
    """Go through the rows of a table with its totals; marks are in the formats of numbers."""
    x, std, marks = table.laid_out(Reliability.of(release.facts))
    at = None if table.kind == "mean" else table.places
    x = x if at is None else table.together(at)
    for row in zip(x.tolist(), std.tolist(), marks.tolist(), strict=True):
        yield [
            LEFT_OUT if mark == LEFT_OUT else (_marked(error, mark, at), number)
            for number, error, mark in zip(*row, strict=True)
        ]


def _marked(std: float, mark: str, at: int | None) -> str:
    way = _format(places(std) if at is None else at)
    return f'{way}" {mark}"' if mark else way
