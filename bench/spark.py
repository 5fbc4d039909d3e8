"""A release from a Spark frame beside Spark's own SQL for the same answer, in one warm session."""

import logging
import shutil
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

import halfnoise as hn
from bench.jobs import JOBS
from bench.made import COUNTS, ITEMS, REGIONS, Maker
from bench.processes import Took
from bench.rivals import WIDTH, Most
from bench.sheet import Part, Sheet
from bench.timing import medians

ROUNDS = 7  # of which the first are slow: the JVM compiles what runs often
ROWS = {"typed": 10_000_000, "text": 1_000_000}  # fewer would tell how long a plan takes to make
CASTS = {"UTINYINT": "int", "VARCHAR": "string"}
MOST = {"typed": Most(times=1.4), "text": Most(times=6)}

ROW: dict[str, Any] = {"row_is_person": True}
PERSON: dict[str, Any] = {"unit": "person"}
REGION, AGE = hn.Choice("region", REGIONS), hn.Bins("age", (0, 18, 65))
TWO = [hn.Count("smoker"), hn.Count("insured")]
_INSURED = "count(*) filter (where insured = 'yes')"

QUERIES: dict[str, list[Any]] = {
    "twenty counts": [hn.Count(q) for q in COUNTS],
    "eight mixed": [
        hn.Count("smoker"),
        hn.Count("age", at_least=65, name="old"),
        hn.Count("seen", at_least="2024-07-01", name="late"),
        hn.Sum("visits", bounds=(0, 20)),
        hn.Mean("amount", bounds=(0, 200)),
        hn.Mean("score", bounds=(0, 10), missing=[-99]),
        REGION,
        AGE,
    ],
    "by a text id": TWO,
    "items": [hn.Items("item", ITEMS)],
    "by region": TWO,
    "a table": [hn.Table([REGION, hn.Choice("insured", ("yes", "no")), AGE])],
}
LINES = [(name, cells) for cells in MOST for name in QUERIES]
WHOSE = dict.fromkeys(QUERIES, ROW) | {"by a text id": PERSON, "items": PERSON}
WHOSE |= {"by region": ROW | {"by": "region", "groups": list(REGIONS)}}
SQL = {name: job.sql for name, job in JOBS.items()} | {
    "by region": f"select region, count(*), sum(smoker), {_INSURED} from {{data}} group by region",
    "a table": "select region, insured, case when age < 18 then 0 when age < 65 then 1 else 2 end "
    "as band, count(*) from {data} group by region, insured, band",
}


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the table, with those lines alone that are wanted."""
    names = [(name, cells) for name, cells in LINES if wanted(f"Spark, {name}, {cells}")]
    if names and shutil.which("java") is None:
        print("Spark needs Java")
    elif names:
        Console(width=WIDTH).print(_grid(names))


def part() -> Part:
    """Return the table of all lines."""
    return Part([Sheet.of(_grid(LINES))])


def _grid(names: Sequence[tuple[str, str]]) -> Grid:
    logging.getLogger("halfnoise").setLevel(logging.ERROR)
    session = local_session()
    grid = Grid("seconds", "Spark", "ours", "times", "at most", "", title="Spark")
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        maker = Maker(Path(folder))
        for name, cells in names:
            grid.add_row(*_row(session, maker, name, cells))
        session.stop()
    return grid


def _row(session: Any, maker: Maker, name: str, cells: str) -> tuple[str, ...]:
    kind = "counts" if name == "twenty counts" else "mixed"
    file = maker.file(kind, "parquet" if cells == "typed" else "csv", ROWS[cells])
    read = session.read.option("header", True)
    frame = (read.parquet if cells == "typed" else read.csv)(str(file.whole))
    casts = (f"cast({column} as {CASTS.get(kind, kind)})" for column, kind in file.types.items())
    frame.selectExpr(*casts).toDF(*file.types).createOrReplaceTempView("people")
    took = medians(
        {
            "Spark": lambda: session.sql(SQL[name].format(data="people")).collect(),
            "ours": lambda: hn.release(
                frame, QUERIES[name], privacy=hn.GaussianDP(mu=1), ledger=None, **WHOSE[name]
            ),
        },
        ROUNDS,
    )
    times = took["ours"] / took["Spark"]
    verdict = MOST[cells].verdict(Took(took["ours"], took["ours"], 0), times)
    shown = (f"{number:.2f}" for number in (took["Spark"], took["ours"], times))
    return f"{name}, {cells}, {file.rows:,} rows", *shown, str(MOST[cells]), verdict


def local_session() -> Any:
    """Return a quiet session of Spark on two cores."""
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = SparkSession.builder.master("local[2]").appName("halfnoise-bench")
        builder = builder.config("spark.ui.enabled", "false")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session
