"""What a row and a task cost on Spark here: the figures that a larger cluster is worked out from.

Seconds are of a core: those of the clock times the two cores of the session.
"""

import logging
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

import halfnoise as hn
from bench.made import copy
from bench.sheet import Part, Sheet
from bench.spark import local_session

CORES = 2
ROWS, COLUMNS, GROUPS = 5_000_000, 20, 10_000
TASKS = 2_000
SETTINGS = (
    "spark.sql.shuffle.partitions",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.codegen.maxFields",
)


def _release(frame: Any, queries: int, **words: Any) -> Callable[[], object]:
    asked = [hn.Count(f"q{i}") for i in range(queries)]
    return lambda: hn.release(
        frame, asked, row_is_person=True, privacy=hn.GaussianDP(mu=1), ledger=None, **words
    )


def _seconds(work: Callable[[], object], rounds: int = 2) -> float:
    """Return the shortest time: what others do on the machine only adds to it."""
    took = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return min(took)


def part(say: Callable[[str], None] = print) -> Part:
    """Measure all, and return the tables."""
    logging.getLogger("halfnoise").setLevel(logging.ERROR)
    facts: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as name:
        path = Path(name) / "people.parquet"
        drawn = ", ".join(f"(random() < 0.3)::int as q{i}" for i in range(COLUMNS))
        shop = f"floor(random() * {GROUPS})::int as shop"
        copy(f"select {shop}, {drawn} from range({ROWS})", path, "(format parquet)")
        session = local_session()
        frame = session.read.parquet(str(path))
        small = session.createDataFrame([(0,) * (COLUMNS + 1)], frame.columns)
        for what, queries, words in (
            ("one count", 1, {}),
            ("all counts", COLUMNS, {}),
            ("one count by group", 1, {"by": "shop", "groups": list(range(GROUPS))}),
        ):
            say(what)
            start = _seconds(_release(small, queries, **words))
            whole = _seconds(_release(frame, queries, **words))
            facts[what] = CORES * max(whole - start, 0.0) / ROWS
        say("tasks")
        context = session.sparkContext
        few = _seconds(context.parallelize(range(CORES), CORES).count)
        many = _seconds(context.parallelize(range(TASKS), TASKS).count)
        facts["task"] = (many - few) / (TASKS - CORES)
        settings = {setting: session.conf.get(setting) for setting in SETTINGS}
        session.stop()
    facts["row"] = facts["one count"]
    facts["query"] = max(facts["all counts"] - facts["one count"], 0.0) / (COLUMNS - 1)
    rows = [
        (f"a row, {what}", f"{facts[what] * 1e9:.0f} ns of a core")
        for what in ("one count", "all counts", "one count by group")
    ]
    rows.append(("a further count of a row", f"{facts['query'] * 1e9:.1f} ns of a core"))
    rows.append(("a task that does nothing", f"{facts['task'] * 1e3:.2f} ms of the driver"))
    costs = Sheet(f"what Spark takes on {CORES} cores, {ROWS:,} rows", ("", "measured"), rows)
    told = Sheet("settings of this Spark", ("setting", "default"), [*settings.items()])
    return Part([costs, told], facts)


def main() -> None:
    """Print the tables."""
    for sheet in part().sheets:
        Console(width=130).print(sheet.grid())
