"""What a row and a task cost on Spark here: the figures that a larger cluster is worked out from.

Seconds are those of the processor, of Spark's process and ours, so that it matters little who else
uses the machine. Driver and workers are one process here: a task's cost is at most what is said.
"""

import logging
import os
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


def _busy(pid: int) -> float:
    """Return the seconds of the processor that a process has had, as Linux counts them."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _seconds(spark: int, work: Callable[[], object], rounds: int = 3) -> float:
    """Return the least seconds of the processor over some rounds, of Spark's process and ours."""
    took = []
    for _ in range(rounds):
        start = _busy(spark) + time.process_time()
        work()
        took.append(_busy(spark) + time.process_time() - start)
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
        spark = int(session._jvm.java.lang.ProcessHandle.current().pid())  # noqa: SLF001
        frame = session.read.parquet(str(path))
        small = session.createDataFrame([(0,) * (COLUMNS + 1)], frame.columns)
        for what, queries, words in (
            ("one count", 1, {}),
            ("all counts", COLUMNS, {}),
            ("one count by group", 1, {"by": "shop", "groups": list(range(GROUPS))}),
        ):
            say(what)
            start = _seconds(spark, _release(small, queries, **words))
            whole = _seconds(spark, _release(frame, queries, **words))
            facts[what] = max(whole - start, 0.0) / ROWS
        say("tasks")
        context = session.sparkContext
        few = _seconds(spark, context.parallelize(range(CORES), CORES).count)
        many = _seconds(spark, context.parallelize(range(TASKS), TASKS).count)
        facts["task"] = (many - few) / (TASKS - CORES)
        settings = {setting: session.conf.get(setting) for setting in SETTINGS}
        session.stop()
    facts["row"] = facts["one count"]
    facts["query"] = max(facts["all counts"] - facts["one count"], 0.0) / (COLUMNS - 1)
    return tabulated(facts, settings)


def tabulated(facts: dict[str, float], settings: dict[str, str]) -> Part:
    """Return the tables of what was measured."""
    rows = [
        (f"a row, {what}", nanoseconds(facts[what]))
        for what in ("one count", "all counts", "one count by group")
    ]
    rows.append(("a further count of a row", nanoseconds(facts["query"])))
    rows.append(("a task that does nothing", f"{facts['task'] * 1e3:.2f} ms of a core, at most"))
    costs = Sheet(f"what Spark takes on {CORES} cores, {ROWS:,} rows", ("", "measured"), rows)
    told = Sheet("settings of this Spark", ("setting", "default"), [*settings.items()])
    return Part([costs, told], facts)


def nanoseconds(cost: float) -> str:
    """Return what something costs in words, which may be less than the start of a job varies by."""
    return f"{cost * 1e9:.0f} ns of a core" if cost > 0 else "less than could be told"


def main() -> None:
    """Print the tables."""
    for sheet in part().sheets:
        Console(width=130).print(sheet.grid())
