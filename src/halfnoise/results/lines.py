"""The table of a release as lines of text: CSV and Markdown.

A short table is written cell by cell, a long one by DuckDB, byte for byte the same: it spells a
number with as few digits as read it back, as Python does.
"""

import datetime as dt
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfnoise.results.inference import Columns
from halfnoise.text import spelled, tame
from halfnoise.values import dataclass

_MARKS = re.compile('[,;"\n]')  # what is quoted in CSV
# What a spreadsheet takes for a formula begins so, some of them in full width; and where it parts
# cells by another mark than ours, behind that.
FORMULA = tuple("=+-@\t\uff1d\uff0b\uff0d\uff20")
_BEGINS = re.compile(rf'(?:^|(?<=[,;\t\n"]))(?=[{re.escape("".join(FORMULA))}])')
# What Markdown reads as markup, but for emphasis, which is not made inside of a word (over_65), and
# what some of its readers make links of.
_EDGE = r"(?<![^\W_])_|_(?![^\W_])"
_MARKUP = re.compile(rf"[\\`*\[\]<&|~]|{_EDGE}")
_LINK = re.compile(r"https?:(?=//)|www(?=\.)|(?<=\S)(?=@)", re.IGNORECASE)
# Beside line breaks, what is written in another way wherever it stands.
_TURNS = r"\x0b\x0c\x1c-\x1e\x85\u2028-\u202e\u2066-\u2069"
_ODD = re.compile(rf'[,;"\r\t|\\`*\[\]<&~@{_TURNS}]|://|www|{_EDGE}', re.IGNORECASE)
_FEW = 1_000  # so many different numbers are spelled once each
_MANY = 10_000  # so many cells are looked at before all are
_ALIKE = ({str}, {int}, {bool}, {dt.date})  # where what is equal is written alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a line is made of cells, and a cell of text; ``under``: what stands below each title."""

    text: Callable[[str], str]
    start: str = ""
    between: str = ","
    end: str = ""
    under: str = ""
    decimal: str = "."

    def line(self, *cells: str) -> str:
        """Return one line."""
        return f"{self.start}{self.between.join(cells)}{self.end}\n"

    def head(self, columns: Columns) -> bytes:
        """Return the line of titles, and what stands under it."""
        under = self.line(*[self.under] * len(columns)) if self.under else ""
        return (self.line(*map(self.text, columns)) + under).encode()

    def by_cell(self, columns: Columns) -> bytes:
        """Return the rows of a table by column as lines."""
        shown = [
            map(self._number, column.tolist())
            if column.dtype != object
            else self._texts(column.tolist())
            for column in columns.values()
        ]
        return "".join(self.line(*row) for row in zip(*shown, strict=True)).encode()

    def to_engine(self, name: str, column: NDArray[Any]) -> tuple[NDArray[Any], str]:
        """Return a column as DuckDB is given it, and how the text of its cells is said there."""
        if column.dtype == object:
            return self._as_texts(column), name
        few = _few(column)
        if few is None:  # to the engine what is not a number is nothing
            return column, self._in_sql(f"coalesce({name}::varchar, 'nan')")
        # Few numbers are spelled once each, and found by their place.
        places = np.searchsorted(few, column.view(np.int64)).astype(np.int32) + np.int32(1)
        numbers = map(self._number, few.view(np.float64).tolist())
        texts = ", ".join(f"'{number}'" for number in numbers)
        return places, f"[{texts}][{name}]"

    def in_sql(self, cells: Iterable[str]) -> str:
        """Return the line of a row as DuckDB makes it of the texts of its cells."""
        between = f", {literal(self.between)}, "
        return f"concat({literal(self.start)}, {between.join(cells)}, {literal(self.end)})"

    def _as_texts(self, column: NDArray[Any]) -> NDArray[Any]:
        cells = column.tolist()
        texts = self._texts(cells)
        if texts is not cells:
            column = column.copy()
            column[:] = texts
        return column

    def _texts(self, cells: list[Any]) -> list[str]:
        """Return cells as text; those that are texts without an odd mark as they are."""
        kinds = {*map(type, cells)}
        if kinds == {str}:
            often = len({*cells[:_MANY]}) < _MANY / 2  # the same again and again
            if _is_plain({*cells} if often else cells):
                return cells
        if kinds in _ALIKE:
            return [*map({cell: self._text(cell) for cell in {*cells}}.__getitem__, cells)]
        return [*map(self._text, cells)]

    def _text(self, cell: object) -> str:
        if isinstance(cell, float):
            return self._number(cell)
        return self.text(cell) if isinstance(cell, str) else spelled(cell)

    def _number(self, x: float) -> str:
        return repr(x) if self.decimal == "." else repr(x).replace(".", self.decimal)

    def _in_sql(self, number: str) -> str:
        return number if self.decimal == "." else f"replace({number}, '.', '{self.decimal}')"


def _few(column: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return the different numbers of a column as their bits, in order, if there are few."""
    bits = column.view(np.int64)
    for some in (bits[:: max(1, len(bits) // _MANY)], bits):
        found = np.unique(some)
        if len(found) > _FEW:
            return None
    return found


def _is_plain(texts: Collection[str]) -> bool:
    """Whether every layout writes these texts as they are."""
    whole = "\n".join(["", *texts])
    odd = _ODD.search(whole) or any(f"\n{mark}" in whole for mark in FORMULA)
    return not odd and whole.count("\n") == len(texts)


def literal(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def _escaped(text: str) -> str:
    text = text.replace("\r", "\n")  # alone it would not be quoted
    # A quote in front keeps a spreadsheet from reading text as a formula.
    text = _BEGINS.sub("'", text)
    return '"' + text.replace('"', '""') + '"' if _MARKS.search(text) else text


def _inline(text: str) -> str:
    """Return a text on one line that Markdown shows as it is, and nobody takes for markup."""
    return _LINK.sub(r"\g<0>\\", _MARKUP.sub(r"\\\g<0>", tame(text)))


CSV = Layout(text=_escaped)
EXCEL = Layout(text=_escaped, between=";", decimal=",")  # where a comma is the decimal mark
MARKDOWN = Layout(text=_inline, start="| ", between=" | ", end=" |", under="---")
