"""Tables by up to three of several attributes: beside DuckDB's own, and what each part takes.

DuckDB counts the tables that are no margin of others, each with a statement of its own: that takes
it less than one statement with grouping sets, and less than counting all attributes at once.
"""

import itertools
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from rich.console import Console
from rich.table import Table as Grid

from bench.made import ROWS, copy
from bench.processes import Command, python
from bench.rivals import Match, Most, table

if TYPE_CHECKING:
    import halfnoise as hn

WAYS = 3
TEN = (10,) * 10
EIGHT = (100, 60, 50, 45, 40, 36, 30, 20)
HUNDRED = (10,) * 100
PEOPLE, FEWER = min(1_000_000, ROWS), min(200_000, ROWS)
PARTS = {  # what is asked of each part, in seconds
    "planning": ("planning", TEN, 0.2),
    "noise and tables": ("adding noise", TEN, 0.2),
    "planning a hundred": ("planning", HUNDRED, 5.0),
}


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the tables, with those lines alone that are wanted."""
    names = [name for name in MATCHES if wanted(f"tables, {name}")]

    def matches() -> Iterator[Match]:
        for name in names:
            with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
                levels, rows, most = MATCHES[name]
                yield _match(name, Path(folder), levels, rows, most)

    if names:
        table("tables", matches())
    if parts := [name for name in PARTS if wanted(f"tables, {name}")]:
        Console().print(_parts(parts))


def _named(levels: Sequence[int]) -> str:
    tables = sum(math.comb(len(levels), ways) for ways in range(1, WAYS + 1))
    number = sum(math.prod(levels[axis] for axis in axes) for axes in _tables(levels))
    return f"{tables:,} tables by {len(levels)} attributes, {number / 1e6:.1f} million cells"


def _tables(levels: Sequence[int], least: int = 1) -> Iterator[tuple[int, ...]]:
    for ways in range(least, WAYS + 1):
        yield from itertools.combinations(range(len(levels)), ways)


MATCHES: dict[str, tuple[Sequence[int], int, Most]] = {
    _named(TEN): (TEN, PEOPLE, Most(times=2.5)),
    _named(EIGHT): (EIGHT, FEWER, Most(megabytes=1000)),
}


def _match(what: str, folder: Path, levels: Sequence[int], rows: int, most: Most) -> Match:
    path, ten = folder / "people.parquet", folder / "ten.parquet"
    make(levels, rows, path)
    make(levels, 10, ten)
    return Match(
        what=what,
        ours=_ours("release", levels, path),
        start=_ours("release", (2,), ten),
        theirs=theirs(largest(levels, path)),
        their_start=theirs(["select 1"]),
        most=most,
    )


def make(levels: Sequence[int], rows: int, path: Path) -> None:
    """Write so many people with attributes of so many categories, any as likely as another."""
    drawn = (f"'c' || floor(random() * {v})::int as a{i}" for i, v in enumerate(levels))
    copy(f"select {', '.join(drawn)} from range({rows})", path, "(format parquet)")


def largest(levels: Sequence[int], path: Path) -> list[str]:
    """Return DuckDB's queries for the tables that are no margin of others."""
    named = [", ".join(f"a{axis}" for axis in axes) for axes in _tables(levels, WAYS)]
    return [f"select {names}, count(*) from '{path}' group by {names}" for names in named]


def _ours(part: str, levels: Sequence[int], path: Path | None = None) -> Command:
    given = [] if path is None else [str(path)]
    return [sys.executable, "-m", "bench.tables", part, json.dumps(levels), *given]


def theirs(queries: Sequence[str]) -> Command:
    """Return a process in which DuckDB runs some queries."""
    return python(f"""
import duckdb
duckdb.execute("set enable_progress_bar = false")
for query in {[*queries]}:
    duckdb.execute(query).fetchnumpy()
""")


def _parts(names: Sequence[str]) -> Grid:
    columns = ("of", "seconds (of the processor)", "at most", "")
    grid = Grid("part", *columns, title="tables: parts")
    for name in names:
        part, levels, most = PARTS[name]
        done = subprocess.run(_ours(part, levels), capture_output=True, check=True)
        seconds, busy = json.loads(done.stdout)
        held = "ok" if seconds <= most else "OVER"
        grid.add_row(name, _named(levels), f"{seconds:.3f} ({busy:.3f})", f"{most:g} s", held)
    return grid


def asked(levels: Sequence[int]) -> "list[hn.Table]":
    """Return all tables by up to three attributes of so many categories, the last one other."""
    import halfnoise as hn

    axes = [hn.Choice(f"a{i}", [f"c{j}" for j in range(v - 1)]) for i, v in enumerate(levels)]
    return [hn.Table([axes[axis] for axis in table]) for table in _tables(levels)]


def carry_out(part: str, levels: Sequence[int], path: str | None = None) -> None:
    """Make a release, or one part of it, and print how many seconds that part took."""
    import halfnoise as hn

    queries, mu = asked(levels), hn.GaussianDP(mu=1)
    if path is not None:
        hn.release(path, queries, row_is_person=True, privacy=mu, ledger=None)
        return
    took: dict[str, tuple[float, float]] = {}

    @contextmanager
    def step(name: str) -> Iterator[None]:
        start, busy = time.perf_counter(), time.process_time()
        yield
        took[name] = time.perf_counter() - start, time.process_time() - busy

    if part == "planning":
        with step(part):
            hn.plan(hn.Workload(queries), privacy=mu)
    else:
        people = pl.DataFrame({f"a{i}": ["c0"] for i in range(len(levels))})
        hn.release(people, queries, row_is_person=True, privacy=mu, ledger=None, step=step)
    print(json.dumps(took[part]))


if __name__ == "__main__":
    carry_out(sys.argv[1], json.loads(sys.argv[2]), *sys.argv[3:])
