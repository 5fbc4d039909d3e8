"""End to end: twenty counts of a million rows, from a file to numbers, beside everyone else.

Time and memory are of whole processes and of all that they start, medians over turns.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from bench.made import copy
from bench.peers.answers import program
from bench.peers.environments import ready, versions
from bench.processes import ROUNDS, Command, Took, in_turns, ours, python
from bench.sheet import Part, Sheet, held

ROWS, COLUMNS = 1_000_000, 20
ROWS_OF_ONE = 3  # on average
WIDE, WIDE_ROWS, WIDE_SECONDS = 1_000, 100_000, 10.0
OPENDP, DUCKDB, OURS = "OpenDP's Polars API", "DuckDB's plain sum", "halfnoise"
FASTER, SLOWER, MEGABYTES = 4.0, 0.7, 200.0

NAMES = [f"q{i}" for i in range(COLUMNS)]


def make(folder: Path, rows: int = ROWS) -> dict[str, Path]:
    """Write the same people as Parquet and as CSV."""
    drawn = ", ".join(f"random() < {(i + 1) / 25} as {name}" for i, name in enumerate(NAMES))
    person = f"floor(random() * {rows / ROWS_OF_ONE})::bigint as person"
    files = {"Parquet": folder / "people.parquet", "CSV": folder / "people.csv"}
    copy(f"select {person}, {drawn} from range({rows})", files["Parquet"], "(format parquet)")
    columns = ", ".join(f"{name}::int as {name}" for name in NAMES)
    copy(f"select person, {columns} from '{files['Parquet']}'", files["CSV"], "(format csv)")
    return files


def rivals(path: Path, by: str, rows: int = ROWS) -> dict[str, Command]:
    """Return the commands of all who do the job, in the order of the table."""
    told = "--row-is-person" if by == "row" else "--unit=person"
    budget = ("--epsilon=1", "--delta=1e-6", "--no-ledger", "--out=-")
    found: dict[str, Command] = {
        OURS: ours("release", str(path), *(f"--count={name}" for name in NAMES), told, *budget),
        DUCKDB: _duckdb(path, by),
        "Polars' plain sum": _polars(path, by),
    }
    for name, peer in ((OPENDP, "opendp"), ("diffprivlib", "diffprivlib")):
        there = ready(peer)
        words = ("release", str(path), by, str(rows))
        found[name] = [there.python or "false", str(program(peer)), *words]
    return found


def _duckdb(path: Path, by: str) -> Command:
    sums = ", ".join(f"sum({name}::int)" for name in NAMES)
    most = ", ".join(f"max({name}::int) as {name}" for name in NAMES)
    rows = f"(select {most} from '{path}' group by person)" if by == "person" else f"'{path}'"
    return python(f"import duckdb\nduckdb.sql({f'select {sums} from {rows}'!r}).fetchall()")


def _polars(path: Path, by: str) -> Command:
    scan = "scan_parquet" if path.suffix == ".parquet" else "scan_csv"
    each = ".group_by('person').agg(pl.all().max())" if by == "person" else ""
    sums = f".select(pl.col({NAMES!r}).cast(pl.Int64).sum())"
    return python(f"import polars as pl\npl.{scan}({str(path)!r}){each}{sums}.collect()")


def part(say: Callable[[str], None] = print) -> Part:
    """Measure all, and return the tables."""
    sheets, facts = list[Sheet](), dict[str, float]()
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as name:
        files = make(Path(name))
        for format_, path in files.items():
            for by in ("row", "person"):
                say(f"{format_}, by {by}")
                took = in_turns(rivals(path, by), ROUNDS)
                sheets.append(_compared(f"{ROWS:,} x {COLUMNS}, {format_}, by {by}", took))
                if format_ == "Parquet":
                    facts |= {f"{who}, by {by}": each.seconds for who, each in took.items()}
                    facts |= {f"{who}, by {by}, busy": each.busy for who, each in took.items()}
                    facts[f"peak by {by}"] = took[OURS].peak / 1e6
        say(f"{WIDE:,} columns")
        facts["wide"] = _wide(Path(name)).seconds
    sheets.append(_asked(facts))
    pinned = versions("opendp") | versions("diffprivlib")
    return Part(sheets, facts, pinned)


def _compared(title: str, took: dict[str, Took]) -> Sheet:
    base = took[DUCKDB].seconds
    rows = [
        (who, each.failed, "", "", "")
        if each.failed
        else (
            who,
            f"{each.seconds:.2f}",
            f"{each.busy:.2f}",
            f"{each.seconds / base:.2f}",
            f"{each.peak / 1e6:.0f}",
        )
        for who, each in took.items()
    ]
    columns = ("who", "seconds", "of the processor", "times DuckDB", "peak MB")
    note = ""
    if title.endswith("person"):
        note = "OpenDP keeps one row of each person; all others take the largest of each column."
    return Sheet(title, columns, rows, note)


def _wide(folder: Path) -> Took:
    """Return what a release of many columns takes, planning included."""
    path = folder / "wide.parquet"
    drawn = ", ".join(f"(random() < 0.3)::utinyint as q{i}" for i in range(WIDE))
    copy(f"select {drawn} from range({WIDE_ROWS})", path, "(format parquet)")
    asked = [f"--count=q{i}" for i in range(WIDE)]
    words = ("--row-is-person", "--mu=1", "--no-ledger", "--out=-")
    return in_turns({OURS: ours("release", str(path), *asked, *words)}, 3)[OURS]


def _asked(facts: dict[str, float]) -> Sheet:
    mine = facts[f"{OURS}, by row"]
    faster = facts[f"{OPENDP}, by row"] / mine
    slower = mine - facts[f"{DUCKDB}, by row"]
    peak, wide = facts["peak by row"], facts["wide"]
    busy = facts[f"{OURS}, by row, busy"]
    times, more = facts[f"{OPENDP}, by row, busy"] / busy, busy - facts[f"{DUCKDB}, by row, busy"]
    rows = [
        (
            "times faster than OpenDP",
            f"{faster:.1f} ({times:.1f})",
            f"at least {FASTER:g}",
            held(faster >= FASTER),
        ),
        (
            "seconds above DuckDB",
            f"{slower:.2f} ({more:.2f})",
            f"at most {SLOWER:g}",
            held(slower <= SLOWER),
        ),
        ("peak MB", f"{peak:.0f}", f"at most {MEGABYTES:g}", held(peak <= MEGABYTES)),
        (
            f"seconds for {WIDE:,} columns x {WIDE_ROWS:,} rows",
            f"{wide:.2f}",
            f"under {WIDE_SECONDS:g}",
            held(wide < WIDE_SECONDS),
        ),
    ]
    columns = ("in brackets: in seconds of the processor", "measured", "asked", "")
    return Sheet("what is asked, Parquet by row", columns, rows)


def main() -> None:
    """Print the tables."""
    for sheet in part().sheets:
        Console(width=130).print(sheet.grid())
