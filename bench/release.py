"""The whole command beside the engine's own plain sum, on the same files.

Each is a process of its own, start included, and they take turns; peak memory is what the
operating system says of each.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table as Grid

from bench.processes import Command, in_turns, ours, python

ITEM_ROWS, ITEM_PEOPLE, ITEMS, AT_MOST = 20_000_000, 2_000_000, 1_000, 8


def main() -> None:
    """Print the tables."""
    console = Console()
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        console.print(items(Path(folder)))
        console.print(lists(Path(folder)))


def items(folder: Path) -> Grid:
    """Compare on a long table of people and their items."""
    path = folder / "items.parquet"
    listed = folder / "items.txt"
    listed.write_text("".join(f"item{i}\n" for i in range(ITEMS)))
    draw = f"(random() * {ITEM_PEOPLE})::int as person"
    item = f"'item' || floor(random() * random() * {ITEMS})::int as item"
    with duckdb.connect() as connection:
        connection.execute("set enable_progress_bar = false")
        connection.execute(f"copy (select {draw}, {item} from range({ITEM_ROWS})) to '{path}'")
    query = f"select item, count(distinct person) from '{path}' group by item"
    quiet = "duckdb.execute('set enable_progress_bar = false')"
    plain = f"import duckdb; {quiet}; duckdb.sql('''{query}''').fetchall()"
    ask = [f"--items=item=@{listed}", f"--at-most={AT_MOST}", "--unit=person"]
    rivals = {
        "DuckDB's count(distinct person)": python(plain),
        f"at most {AT_MOST} items": ours("release", str(path), *ask, "--mu=1", "--out=-"),
    }
    title = f"{ITEM_ROWS:,} rows, {ITEM_PEOPLE:,} people, {ITEMS:,} items"
    return _compare(title, rivals, rounds=3)


def lists(folder: Path) -> Grid:
    """Compare choices and bands with many entries on text."""
    path = folder / "codes.csv"
    with duckdb.connect() as connection:
        code = "(random() * 2000)::int"
        codes = f"select {code} as code, {code} as other_code from range(100000)"
        connection.execute(f"copy ({codes}) to '{path}'")
    query = f"select code, count(*) from '{path}' group by code"
    plain = f"import duckdb; duckdb.sql('''{query}''').fetchall()"
    ask = ours("release", str(path), "--row-is-person", "--mu=1", "--out=-")
    rivals = {"DuckDB's group by": python(plain)}
    for entries in (100, 400, 1500):
        listed = ",".join(map(str, range(entries)))
        rivals[f"choice of {entries:,}"] = [*ask, f"--choice=code={listed}"]
        rivals[f"{entries:,} bands"] = [*ask, f"--bins=code={listed}"]
    some = ",".join(map(str, range(400)))
    rivals["400 bands beside a choice of 400"] = [
        *ask,
        f"--choice=code={some}",
        f"--bins=other_code={some}",
    ]
    return _compare("100,000 rows of text", rivals, rounds=3)


def _compare(title: str, rivals: Mapping[str, Command], *, rounds: int) -> Grid:
    taken = in_turns(rivals, rounds)
    base = next(iter(taken.values())).seconds
    grid = Grid("what", "seconds", "more by", "times", "peak MB", title=title)
    for name, took in taken.items():
        if took.failed:
            grid.add_row(name, took.failed)
        else:
            more, times = f"{took.seconds - base:+.2f} s", f"{took.seconds / base:.2f}"
            grid.add_row(name, f"{took.seconds:.2f}", more, times, f"{took.peak / 1e6:.0f}")
    return grid
