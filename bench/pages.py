"""A large page from a kept release: 1,000 groups with 20 numbers each, charts and all."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

import halfnoise as hn
from bench.processes import in_turns, ours
from bench.rivals import WIDTH, Most, seconds

GROUPS, NUMBERS, PEOPLE = 1_000, 20, 50
MOST, MOST_MEGABYTES = Most(seconds=3), 3.0
MONTHS = [f"{year}-{month:02d}" for year in range(1940, 2024) for month in range(1, 13)]


def kept(folder: Path, keys: list[str], every: str | None) -> Path:
    """Write a release of people who do not exist, the number of people among the numbers."""
    import polars as pl

    rows = len(keys) * PEOPLE
    table = {f"q{i}": [k % (i + 2) == 0 for k in range(rows)] for i in range(NUMBERS - 1)}
    frame = pl.DataFrame({"key": keys * PEOPLE} | table)
    release = hn.release(
        frame,
        [hn.Count(name) for name in table],
        by=hn.By("key", every=every),
        groups=keys,
        other=None,
        row_is_person=True,
        privacy=hn.ApproxDP(epsilon=1, delta=1e-6),
    )
    path = folder / f"{every or 'groups'}.json"
    path.write_text(release.to_json(), encoding="utf-8")
    return path


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the table."""
    grid = Grid(
        *("seconds (of the processor)", "all of it", "at most", "", "MB", "at most", ""),
        title=f"a page of {GROUPS:,} groups x {NUMBERS} numbers, and its charts",
    )
    names = [f"shop {i}" for i in range(GROUPS)]
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        for what, keys, every in (("shops", names, None), ("months", MONTHS[:GROUPS], "month")):
            if not wanted(f"pages, {what}"):
                continue
            page = Path(folder) / f"{what}.html"
            source = str(kept(Path(folder), keys, every))
            command = ours("report", source, "--out", str(page), "--overwrite")
            took, size = in_turns({what: command})[what], page.stat().st_size / 1e6
            held = "ok" if size <= MOST_MEGABYTES else "OVER"
            bars = (f"{size:.2f}", f"{MOST_MEGABYTES:g}", held)
            grid.add_row(what, seconds(took), str(MOST), MOST.verdict(took), *bars)
    if grid.row_count:
        Console(width=WIDTH).print(grid)
