"""Many groups: what noise and inference take beside reading, and how much memory all of it needs.

One process makes the release; its peak memory is what the operating system says of it.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
from rich.console import Console
from rich.table import Table as Grid

ROWS, GROUPS, COUNTS = 10_000_000, 100_000, 20


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        path = Path(folder) / "answers.parquet"
        chances = ", ".join(f"random() < {(i + 1) / 25} as q{i}" for i in range(COUNTS))
        with duckdb.connect() as connection:
            connection.execute("set enable_progress_bar = false")
            group = f"(random() * {GROUPS})::int as shop"
            connection.execute(
                f"copy (select range as person, {group}, {chances} from range({ROWS})) to '{path}'"
            )
        grid = Grid(
            "groups",
            "reading",
            "noise",
            "inference",
            "both / NumPy's normal",
            "peak MB",
            title=f"{ROWS:,} rows, {GROUPS:,} groups, {COUNTS} counts",
        )
        grid.add_row("DuckDB's own", f"{_plain(path):.2f} s", "", "", "", "")
        for kind in ("listed", "discover", "by person"):
            done = subprocess.run(
                [sys.executable, "-m", "bench.groups", str(path), kind],
                capture_output=True,
                check=True,
            )
            took = json.loads(done.stdout)
            both = (took["noise"] + took["inference"]) / took["normal"]
            cells = [f"{took[name]:.2f} s" for name in ("reading", "noise", "inference")]
            grid.add_row(kind, *cells, f"{both:.1f}", f"{took['peak'] / 1e6:.0f}")
        Console().print(grid)


def _plain(path: Path) -> float:
    """Return how long DuckDB takes to add up the same by group."""
    sums = ", ".join(f"sum(q{i}::int)" for i in range(COUNTS))
    with duckdb.connect() as connection:
        connection.execute("set enable_progress_bar = false")
        start = time.perf_counter()
        connection.execute(f"select shop, {sums}, count(*) from '{path}' group by shop").fetchall()
        return time.perf_counter() - start


def run(path: str, kind: str) -> None:
    """Make the release and print how long each part took, and the peak memory."""
    import halfnoise as hn

    took: dict[str, float] = {}

    @contextmanager
    def step(name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        took[name] = time.perf_counter() - start

    found = hn.release(
        path,
        [hn.Count(f"q{i}") for i in range(COUNTS)],
        by="shop",
        groups="discover" if kind == "discover" else list(range(GROUPS)),
        unit="person" if kind == "by person" else None,
        row_is_person=kind != "by person",
        privacy=hn.ApproxDP(epsilon=1, delta=1e-6),
        ledger=None,  # each is about other people
        step=step,
    )
    start = time.perf_counter()
    columns = found.columns()
    took["inference"] = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    start = time.perf_counter()
    np.random.default_rng().normal(size=len(columns["estimate"]))
    took["normal"] = time.perf_counter() - start
    took = {
        name.replace("adding up", "reading").replace("adding ", ""): s for name, s in took.items()
    }
    print(json.dumps(took | {"peak": peak}))


if __name__ == "__main__":
    run(*sys.argv[1:])
