"""Past this machine, on paper: what a release costs on a cluster, and what breaks first.

Workers add up, which a simulation of their tasks times; the driver gets each cell and draws noise
for it, which is worked out from what a cell costs here, in time and in memory.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from bench.cluster import Cluster, chance_given_up, simulate
from bench.costs import nanoseconds
from bench.sheet import Part, Sheet

GIB = 2**30
MOST = 200_000  # tasks of a stage that somebody would set
PARTITION = 128 * 2**20  # bytes: spark.sql.files.maxPartitionBytes
RESULT = GIB  # bytes: spark.driver.maxResultSize
DRIVER = 64 * GIB  # bytes of a large driver
LARGEST_TABLE = 2**27  # cells of a table, which halfnoise refuses beyond
BATCH = 400  # columns that are read at once
BYTES = 1.0  # of a yes/no answer in Parquet, at most
CELL_SENT = 8  # bytes of a total as it is sent, at least
CORES = 1_000
MACHINE = 16  # cores of a machine, with a network of 10 Gbit/s and a disk of 2 TB: assumed
NETWORK, DISK = CORES / MACHINE * 1.25e9, CORES / MACHINE * 2e12


@dataclass(frozen=True, slots=True)
class Costs:
    """What was measured: seconds of a core, seconds and bytes of the driver."""

    row: float
    query: float
    grouped: float
    launch: float
    cell: float
    held: float

    @classmethod
    def of(cls, spark: Mapping[str, float], slopes: Mapping[str, float]) -> "Costs":
        """Return the costs from what the benches found; a group of the sweep has two cells."""
        further, near = (f"groups, listed: {10**i}: " for i in (6, 5))
        cells = 2 * (10**6 - 10**5)
        return cls(
            row=spark["row"],
            query=spark["query"],
            grouped=max(spark["one count by group"] - spark["one count"], 0.0),
            launch=spark["task"],
            cell=(slopes[f"{further}seconds"] - slopes[f"{near}seconds"]) / cells,
            held=(slopes[f"{further}megabytes"] - slopes[f"{near}megabytes"]) * 1e6 / cells,
        )


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a release is."""

    rows: int
    groups: int
    queries: int

    @property
    def cells(self) -> int:
        """Return the numbers that are released: the counts and the people of each group."""
        return self.groups * (self.queries + 1)

    @property
    def scans(self) -> int:
        """Return how often the table is read, each time some columns of it."""
        return math.ceil(self.queries / BATCH)

    @property
    def tasks(self) -> int:
        """Return the tasks of one scan; of very large ones partitions are larger."""
        columns = min(self.queries, BATCH) + 1
        return min(MOST, max(1, math.ceil(self.rows * columns * BYTES / PARTITION)))

    @property
    def partial(self) -> int:
        """Return the rows that one scan hands on: one for each group that a task meets."""
        return min(self.rows, self.tasks * self.groups)

    @property
    def shuffled(self) -> int:
        """Return the bytes of these rows: eight for each number."""
        return self.partial * 8 * (min(self.queries, BATCH) + 2)

    def seconds(self, costs: Costs) -> float:
        """Return the seconds of a core that a task of one scan takes."""
        grouped = costs.grouped if self.groups > 1 else 0.0
        one = costs.row + grouped + costs.query * (min(self.queries, BATCH) - 1)
        return self.rows * one / self.tasks

    def takes(self, costs: Costs, cluster: Cluster) -> float:
        """Return the seconds of all scans: adding up, handing on, and adding up again."""
        reduced = max(200, math.ceil(self.shuffled / PARTITION)) if self.groups > 1 else 1
        again = self.partial * (costs.grouped + costs.query * min(self.queries, BATCH))
        one = simulate(self.tasks, self.seconds(costs), cluster).seconds
        one += self.shuffled / NETWORK
        one += simulate(min(reduced, MOST), again / min(reduced, MOST), cluster).seconds
        return one * self.scans


SHAPES = (
    Shape(10**9, 1, 20),
    Shape(10**10, 10**4, 100),
    Shape(10**12, 1, 20),
    Shape(10**12, 10**6, 20),
    Shape(10**12, 10**6, 100),
    Shape(10**12, 10**3, 10**5),
    Shape(10**12, 10**6, 10**5),
)
WEATHER = {
    "nothing goes wrong": Cluster(),
    "1 task of 100 takes 10 times as long": Cluster(straggling=0.01),
    "the same, second copies started": Cluster(straggling=0.01, late=3.0),
    "and 1 of 1,000 fails": Cluster(straggling=0.01, failing=0.001),
    "and 1 of 20 fails": Cluster(straggling=0.01, failing=0.05),
}


def broken(shape: Shape, costs: Costs, seconds: float) -> list[str]:
    """Return what does not hold a release for which workers take so many seconds."""
    limits = {
        "the cluster's disks": shape.shuffled > DISK,
        "a month": seconds > 30 * 86_400,
        "driver's memory": shape.cells * costs.held > DRIVER,
        "a day of the driver": shape.cells * costs.cell > 86_400,
        "maxResultSize, 1 GiB unless raised": shape.cells * CELL_SENT > RESULT,
    }
    return [name for name, breaks in limits.items() if breaks]


def limits(costs: Costs) -> list[tuple[str, float]]:
    """Return how many cells each limit allows, the narrowest first."""
    found = {
        "`spark.driver.maxResultSize`, 1 GiB unless raised, 8 bytes a cell": RESULT / CELL_SENT,
        "a table of halfnoise: 2^27 cells": float(LARGEST_TABLE),
        "an hour of the driver": 3600 / costs.cell,
        f"the memory of a driver with {DRIVER // GIB} GiB": DRIVER / costs.held,
        "a day of the driver": 86_400 / costs.cell,
    }
    return sorted(found.items(), key=lambda each: each[1])


def part(costs: Costs) -> Part:
    """Return the tables; the same costs give the same ones."""
    return Part([_measured(costs), _limits(costs), _shapes(costs), _weather(costs), _slices(costs)])


def _measured(costs: Costs) -> Sheet:
    rows = [
        ("a row, with its first count", nanoseconds(costs.row)),
        ("a further count of a row", nanoseconds(costs.query)),
        ("a row, by group, on top", nanoseconds(costs.grouped)),
        ("a task, handed out", f"{costs.launch * 1e3:.2f} ms of the driver, at most"),
        ("a cell: fetched, noise, written", f"{costs.cell * 1e6:.2f} µs of the driver"),
        ("a cell, held", f"{costs.held:.0f} bytes of the driver"),
    ]
    return Sheet("what was measured here", ("", "costs"), rows)


def _limits(costs: Costs) -> Sheet:
    rows = [
        (name, _power(cells), f"{cells / 101:,.0f}", f"{cells / (10**5 + 1):,.0f}")
        for name, cells in limits(costs)
    ]
    columns = ("what allows no more", "cells", "groups of 100 queries", "groups of 100,000 queries")
    return Sheet("what breaks first, and where", columns, rows)


def _shapes(costs: Costs) -> Sheet:
    rows = []
    for shape in SHAPES:
        cluster = Cluster(cores=CORES, launch=costs.launch, straggling=0.01, failing=0.001)
        seconds = shape.takes(costs, cluster)
        rows.append(
            (
                " x ".join(map(_power, (shape.rows, shape.groups, shape.queries))),
                f"{shape.tasks:,} x {shape.scans:,}",
                _span(seconds),
                f"{shape.shuffled * shape.scans / 1e12:,.3g} TB",
                _power(shape.cells),
                f"{shape.cells * costs.held / GIB:,.3g} GiB",
                _span(shape.cells * costs.cell),
                "; ".join(broken(shape, costs, seconds)) or "nothing",
            )
        )
    columns = (
        "rows x groups x queries",
        "tasks x scans",
        f"on {CORES:,} cores",
        "shuffled",
        "cells",
        "driver holds",
        "driver takes",
        "what breaks",
    )
    return Sheet("what releases cost", columns, rows)


def _weather(costs: Costs) -> Sheet:
    shape, rows = Shape(10**12, 10**6, 20), []
    for name, weather in WEATHER.items():
        cluster = Cluster(
            cores=CORES,
            launch=costs.launch,
            straggling=weather.straggling,
            failing=weather.failing,
            late=weather.late,
        )
        run = simulate(shape.tasks, shape.seconds(costs), cluster)
        ended = "given up" if run.given_up else _span(run.seconds)
        given_up = chance_given_up(shape.tasks, cluster)
        rows.append((name, ended, f"{run.failures:,}", f"{run.copies:,}", f"{given_up:.1%}"))
    columns = (
        "one scan of 10^12 rows, 10^6 groups, 20 queries",
        "takes",
        "tasks run again",
        "second copies",
        "chance that the job is given up",
    )
    return Sheet("stragglers and retries", columns, rows)


def _slices(costs: Costs) -> Sheet:
    """Work out the release that is too large in slices of groups that a driver holds."""
    rows = []
    for queries in (20, 100, 10**3, 10**5):
        most = int(min(DRIVER / costs.held, 3600 / costs.cell))
        groups = max(most // (queries + 1), 0)
        slices = math.ceil(10**6 / groups) if groups else 0
        took = _span(10**6 * (queries + 1) * costs.cell)
        rows.append((_power(queries), f"{groups:,}", f"{slices:,}", took))
    columns = (
        "queries",
        "groups in an hour of a driver",
        "slices for 10^6 groups",
        "drivers' time in all",
    )
    return Sheet("in slices of groups", columns, rows)


def _power(number: float) -> str:
    exponent = round(math.log10(number), 1)
    return f"10^{exponent:g}" if number >= 10**4 else f"{number:,.0f}"


def _span(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.3g} {unit}"
    return f"{seconds:.3g} s"
