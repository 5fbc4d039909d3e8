"""Places inside places: all levels at once, beside DuckDB, which counts in the smallest alone."""

import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.made import ROWS, copy
from bench.processes import Command
from bench.rivals import Match, Most, table
from bench.tables import theirs

PEOPLE = min(1_000_000, ROWS)
MANY, FEW = (50, 60, 25), (2, 2, 2)  # states, counties in each, tracts in each of these
NAME = "75,000 tracts in 3,000 counties in 50 states, by sex"


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the table, if it is wanted."""
    if not wanted(f"places, {NAME}"):
        return
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        table("places", [_match(Path(folder))])


def _match(folder: Path) -> Match:
    path, ten = folder / "people.parquet", folder / "ten.parquet"
    make(MANY, PEOPLE, path)
    make(FEW, 10, ten)
    return Match(
        what=NAME,
        ours=_ours(MANY, path),
        start=_ours(FEW, ten),
        theirs=theirs([counted(path)]),
        their_start=theirs(["select 1"]),
        most=Most(times=8, megabytes=1000),
    )


def make(sizes: Sequence[int], rows: int, path: Path) -> None:
    """Write so many people in places, any as likely as another."""
    state, county, tract = (f"floor(random() * {size})::int" for size in sizes)
    parts = f"'s' || {state} as state, 'c' || {county} as county, 't' || {tract} as tract"
    sex = "case when random() < 0.5 then 'f' else 'm' end as sex"
    copy(f"select {parts}, {sex} from range({rows})", path, "(format parquet)")


def counted(path: Path) -> str:
    """Return DuckDB's query for the smallest places."""
    by = "state, county, tract, sex"
    return f"select {by}, count(*) from '{path}' group by {by}"


def asked(sizes: Sequence[int]) -> list[Any]:
    """Return all places, and a table by the smallest."""
    import halfnoise as hn

    named = ([f"{mark}{i}" for i in range(n)] for mark, n in zip("sct", sizes, strict=True))
    places: Iterator[tuple[str, ...]] = itertools.product(*named)
    nested = hn.Nested("state", "county", "tract", places=[*places])
    return [nested, hn.Table(["tract", hn.Choice("sex", ["f", "m"])])]


def _ours(sizes: Sequence[int], path: Path) -> Command:
    return [sys.executable, "-m", "bench.places", json.dumps(sizes), str(path)]


def carry_out(sizes: Sequence[int], path: str) -> None:
    """Make a release."""
    import halfnoise as hn

    mu = hn.GaussianDP(mu=1)
    hn.release(path, asked(sizes), row_is_person=True, privacy=mu, ledger=None)


if __name__ == "__main__":
    carry_out(json.loads(sys.argv[1]), sys.argv[2])
