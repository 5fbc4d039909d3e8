"""Ours beside a rival, each beyond its start, and beside what is asked of us.

Both are processes of their own that take turns; what they take for ten rows is their start. Seconds
of the processor stand in brackets: they tell more where others use the machine as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from bench.processes import PATIENCE, Command, Took, in_turns, python

WIDTH = 130  # characters: a line for each match
SHORTEST = 0.05  # seconds of a rival below which a ratio says nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Most:
    """What is asked of us: at most so many times the rival, so many seconds, so much memory."""

    times: float | None = None
    seconds: float | None = None
    megabytes: float | None = None

    def __str__(self) -> str:
        parts = {"times": self.times, "s": self.seconds, "MB": self.megabytes}
        return ", ".join(f"{most:g} {unit}" for unit, most in parts.items() if most is not None)

    def verdict(self, took: Took, times: float = float("inf")) -> str:
        """Say whether it holds."""
        found = (times, self.times), (took.seconds, self.seconds), (took.peak / 1e6, self.megabytes)
        asked = [(value, most) for value, most in found if most is not None]
        held = not took.failed and all(value <= most for value, most in asked)
        return ("ok" if held else "OVER") if asked else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One question: the commands of both, and of their starts; and what is asked of us."""

    what: str
    ours: Command
    start: Command
    theirs: Command
    their_start: Command
    most: Most = Most()
    patience: int = PATIENCE


def table(title: str, matches: Iterable[Match], *, rival: str = "DuckDB") -> None:
    """Run the matches and print a table of them."""
    Console(width=WIDTH).print(grid_of(title, matches, rival=rival))


def grid_of(title: str, matches: Iterable[Match], *, rival: str = "DuckDB") -> Grid:
    """Run the matches and return a table of them."""
    columns = (rival, "ours", "times", "at most", "", "peak MB")
    grid = Grid("seconds (of the processor)", *columns, title=title)
    for match in matches:
        grid.add_row(match.what, *_row(match))
    return grid


def duckdb_runs(query: str | Path) -> list[str]:
    """Return the command in which DuckDB runs a query, or one in a file, and fetches the answer."""
    quiet = "duckdb.execute('set enable_progress_bar = false')"
    said = repr(query) if isinstance(query, str) else f"open({str(query)!r}).read()"
    return python(f"import duckdb\n{quiet}\nduckdb.execute({said}).fetchall()")


def seconds(took: Took) -> str:
    """Return how long it took in words, or why it gave nothing."""
    return took.failed or f"{took.seconds:.2f} ({took.busy:.2f})"


def _row(match: Match) -> tuple[str, ...]:
    took = in_turns(
        {
            "start": match.start,
            "their start": match.their_start,
            "theirs": match.theirs,
            "ours": match.ours,
        },
        patience=match.patience,
    )
    mine, theirs = took["ours"].beyond(took["start"]), took["theirs"].beyond(took["their start"])
    times, shown = float("inf"), ""
    if theirs.seconds < SHORTEST and match.most.times is not None:
        shown, verdict = "too short to tell", ""
    else:
        if not (mine.failed or theirs.failed):
            times = mine.seconds / theirs.seconds
            shown = f"{times:.2f} ({mine.busy / theirs.busy:.2f})"
        verdict = match.most.verdict(mine, times)
    most, peak = str(match.most), f"{mine.peak / 1e6:.0f}"
    return seconds(theirs), seconds(mine), shown, most, verdict, peak
