"""A table of results: printed on a terminal, kept as JSON, written into a page."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table as Grid


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of words: its title, its columns, its rows, and what has to be said about them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def grid(self) -> Grid:
        """Return the table for a terminal."""
        grid = Grid(*self.columns, title=self.title, caption=self.note or None)
        for row in self.rows:
            grid.add_row(*row)
        return grid

    @classmethod
    def of(cls, grid: Grid) -> "Sheet":
        """Return the table that a terminal shows."""
        columns = [[str(cell) for cell in column.cells] for column in grid.columns]
        rows = list(zip(*columns, strict=True))
        return cls(str(grid.title), [str(column.header) for column in grid.columns], rows)

    def markdown(self) -> str:
        """Return the table for a page; numbers stand to the right."""
        ruled = ["---", *("---:" for _ in self.columns[1:])]
        lines = (self.columns, ruled, *self.rows)
        table = "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)
        return "\n\n".join(filter(None, (f"**{self.title}**", table, self.note)))


@dataclass(frozen=True, slots=True)
class Part:
    """What one bench found: tables for readers, and numbers that others work with."""

    sheets: Sequence[Sheet]
    facts: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        sheets = [
            {
                "title": sheet.title,
                "columns": [*sheet.columns],
                "rows": [[*row] for row in sheet.rows],
                "note": sheet.note,
            }
            for sheet in self.sheets
        ]
        return {"sheets": sheets, "facts": self.facts, "versions": self.versions}

    @classmethod
    def read(cls, plain: dict[str, Any]) -> "Part":
        """Return what JSON says."""
        sheets = [Sheet(**sheet) for sheet in plain["sheets"]]
        return cls(sheets, plain["facts"], plain["versions"])


def held(holds: bool) -> str:  # noqa: FBT001
    """Say whether what is asked holds."""
    return "ok" if holds else "OVER"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
