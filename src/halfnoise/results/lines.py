"""The table of a release as lines of text: CSV and Markdown.

A short table is written cell by cell, a long one by DuckDB, byte for byte the same: it spells a
number with as few digits as read it back, as Python does.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from halfnoise.results.published import Columns
from halfnoise.text import spelled

_MARKS = re.compile('[,"\n]')  # what is quoted in CSV
_FORMULA = ("=", "+", "-", "@", "\t")  # what a spreadsheet takes for one begins so
_ODD = ',"\r|'  # beside line breaks, what is written in another way wherever it stands
_ALIKE = ({str}, {int}, {bool}, {dt.date})  # where what is equal is written alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a line is made of cells, and a cell of text; ``under``: what stands below each title."""

    text: Callable[[str], str]
    start: str = ""
    between: str = ","
    end: str = ""
    under: str = ""

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
            map(repr, column.tolist()) if column.dtype != object else self._texts(column.tolist())
            for column in columns.values()
        ]
        return "".join(self.line(*row) for row in zip(*shown, strict=True)).encode()

    def as_texts(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column of objects as the texts that are written; numbers as they are."""
        if column.dtype != object:
            return column
        cells = column.tolist()
        texts = self._texts(cells)
        if texts is not cells:
            column = column.copy()
            column[:] = texts
        return column

    def in_sql(self, names: Iterable[str]) -> str:
        """Return the line of a row as DuckDB makes it of columns that hold texts and numbers."""
        between = f", {literal(self.between)}, "
        # To the engine what is not a number is nothing.
        cells = between.join(f"coalesce({name}::varchar, 'nan')" for name in names)
        return f"concat({literal(self.start)}, {cells}, {literal(self.end)})"

    def _texts(self, cells: list[Any]) -> list[str]:
        """Return cells as text; those that are texts without an odd mark as they are."""
        kinds = {*map(type, cells)}
        if kinds == {str} and _is_plain(cells):
            return cells
        if kinds in _ALIKE:
            return [*map({cell: self._text(cell) for cell in {*cells}}.__getitem__, cells)]
        return [*map(self._text, cells)]

    def _text(self, cell: object) -> str:
        return self.text(cell) if isinstance(cell, str) else spelled(cell)


def _is_plain(texts: list[str]) -> bool:
    """Whether every layout writes these texts as they are."""
    whole = "\n".join(["", *texts])
    odd = any(mark in whole for mark in _ODD) or any(f"\n{mark}" in whole for mark in _FORMULA)
    return not odd and whole.count("\n") == len(texts)


def literal(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def _escaped(text: str) -> str:
    text = text.replace("\r", "\n")  # alone it would not be quoted
    # A quote in front keeps a spreadsheet from reading text as a formula.
    text = f"'{text}" if text.startswith(_FORMULA) else text
    return '"' + text.replace('"', '""') + '"' if _MARKS.search(text) else text


def _inline(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("\r", " ")


CSV = Layout(text=_escaped)
MARKDOWN = Layout(text=_inline, start="| ", between=" | ", end=" |", under="---")
