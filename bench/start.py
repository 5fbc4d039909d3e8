"""What it takes until anything happens: our import, our help, a release of ten rows."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from bench.jobs import JOBS
from bench.made import Maker
from bench.processes import in_turns, ours, python
from bench.rivals import WIDTH, Most, seconds

ROUNDS = 15


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        ten = Maker(Path(folder)).file("mixed", "csv", 10).whole
        rivals = {
            "python": (python("pass"), Most()),
            "import duckdb": (python("import duckdb"), Most()),
            "import halfnoise": (python("import halfnoise"), Most(seconds=0.1)),
            "halfnoise --help": (ours("--help"), Most(seconds=0.25)),
            "a release of ten rows": (JOBS["eight mixed"].ours(ten), Most(seconds=0.5)),
        }
        rivals = {what: rival for what, rival in rivals.items() if wanted(f"start, {what}")}
        took = in_turns({what: command for what, (command, _) in rivals.items()}, ROUNDS)
    grid = Grid("seconds (of the processor)", "all of it", "at most", "", "peak MB", title="start")
    for what, (_, most) in rivals.items():
        peak = f"{took[what].peak / 1e6:.0f}"
        grid.add_row(what, seconds(took[what]), str(most), most.verdict(took[what]), peak)
    if rivals:
        Console(width=WIDTH).print(grid)
