"""What gets out lies on a grid that no row can move, and what enters does not hang on order.

Noise hides a person only among numbers that are possible with and without them: what is released is
a function of whole numbers, and that function comes from the design alone. And sums must not depend
on the order of rows, on partitions or threads, as sums of fractions do: a person's rows would then
change what those of others add up to.
"""

import functools
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfnoise as hn
from halfnoise import mechanism
from halfnoise.data.contributions import Contribution
from halfnoise.data.sources import connection
from halfnoise.design import candidates
from halfnoise.design.design import Recovered
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.workload.sets import Answered, Crossed, OneOf, Placed
from halfnoise.workload.totals import Totals
from support import engines
from support.loss import exact_totals
from support.measured import grid_for
from support.soak import MORE, SOAKS, tell

q: Any = hn  # what strict types would refuse is tried, too

MU, APPROX = hn.GaussianDP(mu=1), hn.ApproxDP(epsilon=1, delta=1e-6)
SUMS = [q.Sum("x", bounds=(0.1, 19.7)), q.Sum("x", bounds=(-3, 5), name="s"), q.Count("a")]
TABLE = q.Table([q.Choice("c", ["A", "B"]), q.Bins("x", [0, 3, 10], name="x")])
PLACES = q.Nested("c", "a", places=[("A", True), ("A", False), ("B", True)])
WEIGHT = q.Weight("x", bounds=(0, 3))
REPLACE = {"neighbors": hn.Neighbors.REPLACE}
ASKED: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "counts": ([q.Count("a"), q.Count("x", above=2, name="over")], {}),
    "sums": (SUMS, {}),
    "a mean": ([q.Mean("x", bounds=(0.3, 8)), q.Count("a")], {}),
    "a choice": ([q.Choice("c", ["A", "B"]), q.Sum("x", bounds=(0, 7))], {}),
    "items": ([q.Items("c", ["A", "B", "Z"], at_most=1)], {}),
    "tables": ([TABLE, q.Table(["x", q.Choice("a", [True])]), q.Sum("x", bounds=(0, 7))], {}),
    "places": (
        [PLACES, q.Table(["a", q.Bins("x", [0, 3])]), q.Sum("x", bounds=(0, 7), name="s")],
        {},
    ),
    "tables in groups": ([TABLE], {"by": "a", "groups": [True, False]}),
    "weights": (SUMS, {"weight": q.Weight("x", bounds=(0.1, 5.3))}),
    "weighted items": ([q.Items("c", ["A", "B", "Z"], at_most=1)], {"weight": WEIGHT}),
    "weighted tables": ([TABLE, q.Sum("x", bounds=(0, 7))], {"weight": WEIGHT}),
    "laplace": (SUMS, {"privacy": hn.PureDP(epsilon=1)}),
    "groups": (SUMS, {"by": "c", "groups": ["A", "B"]}),
    "two groups": ([q.Count("a")], {"by": "c", "groups": ["A", "B", "Z"], "max_groups": 2}),
    "replaced in groups": (SUMS, REPLACE | {"by": "c", "groups": ["A", "B"]}),
    "groups that are found": (SUMS, {"by": "c", "groups": "discover", "privacy": APPROX}),
}
RELEASES = 2 * min(MORE, 10)


def tables(turn: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a table, and the same with one person more, whose numbers are no round ones."""
    draw = random.Random(turn)
    people = [
        (i, draw.random() < 0.4, draw.uniform(-5, 25), draw.choice("AABZ")) for i in range(90)
    ]
    extra = [(99, True, math.pi * draw.choice([1e-9, 1, 1e9]), "Z") for _ in range(3)]
    made = (
        pl.DataFrame(rows, ["id", "a", "x", "c"], orient="row") for rows in (people, people + extra)
    )
    one, other = made
    return one, other


@dataclass
class Spy:
    """Sees the whole numbers that releases are made of, and what is made of them."""

    seen: list[tuple[CenteredMeasurement, list[Any], float | None, Recovered]] = field(
        default_factory=list
    )

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Stand where whole numbers become estimates."""
        recover = CenteredMeasurement.recover

        def spied(own: CenteredMeasurement, noisy: list[Any], known: Any = None) -> Recovered:
            found = recover(own, noisy, known)
            self.seen.append((own, noisy, known, found))
            return found

        monkeypatch.setattr(CenteredMeasurement, "recover", spied)


def bits(found: Recovered) -> tuple[bytes | None, ...]:
    """Return estimates bit for bit."""
    parts = (found.estimates, found.sizes, found.people)
    return tuple(
        None if each is None else np.asarray(each, dtype=np.float64).tobytes() for each in parts
    )


def strays(grid: CenteredMeasurement, found: Recovered) -> Iterator[str]:
    """Name the numbers that lie on no grid of the design's, by exact arithmetic on what is seen."""
    whole = float(grid.design.weighing.whole)  # in which weighted people are counted
    sizes = None if found.sizes is None else found.sizes / whole
    everybody = None if found.people is None else found.people / whole
    found = replace(found, estimates=found.estimates / whole, sizes=sizes, people=everybody)
    people = 0.0 if found.people is None else found.people
    if grid.everyone is not None and not _is_whole(people, grid.everyone.step):
        yield "all people"
    for row, values in enumerate(found.estimates):
        root = 0.0 if found.sizes is None else float(found.sizes[row])
        if found.sizes is not None and grid.root is not None:
            shared = 0.0 if grid.everyone is None else float(grid.everyone.center) * people
            if not _is_whole(root, grid.root.step, shared):
                yield "a size"
        place = 0
        for channel in grid.channels:
            own = [float(x) for x in values[place : place + channel.shape.size]]
            place += channel.shape.size
            center = float(channel.center or 0)
            if isinstance(channel.shape, OneOf) and channel.center is not None:
                # What was projected has lost its average: differences are whole.
                away = [(x, channel.steps[0], own[0]) for x in own[1:]]
            elif isinstance(channel.shape, Answered):
                middle = 0.0 if channel.center is None else float(channel.shape.middle)
                away = [(own[0], channel.steps[0], middle * own[1])]
                away += [(own[1], channel.steps[1], center * root)]
            elif isinstance(channel.shape, Crossed):
                away = list(_residuals(channel.shape, channel.steps, own))
            else:
                away = [(x, channel.steps[0], center * root) for x in own]
            if not all(_is_whole(*each) for each in away):
                yield type(channel.shape).__name__


def _residuals(
    shape: Crossed, steps: Sequence[Fraction], own: Sequence[float]
) -> Iterator[tuple[float, Fraction, float]]:
    """Yield N times each residual, of people, by exact arithmetic: what was projected is whole."""
    start = 0
    for axes in shape.layers[0].axes:
        levels = [shape.levels[axis] for axis in axes]
        stop = start + math.prod(levels)
        table = np.array([Fraction(x) for x in own[start:stop]], dtype=object).reshape(levels)
        for axis in range(table.ndim):
            table = table * table.shape[axis] - table.sum(axis=axis, keepdims=True)
        far = max(map(abs, own[start:stop])) * (stop - start) ** 2  # how floats round adds up
        for x in table.ravel():
            yield x + Fraction(far), steps[shape.places[0, axes]], far
        start = stop


def _is_whole(x: float, step: Fraction, base: float = 0.0) -> bool:
    """Whether a number lies whole steps above another, but for how floats round their sum."""
    steps = (Fraction(x) - Fraction(base)) / step
    rounding = 4 * Fraction(math.ulp(float(max(abs(x), abs(base))))) / step
    return abs(steps - round(steps)) <= rounding < Fraction(1, 100)


def off_grid(name: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Release a table and its neighbour again and again; return what is not on the one grid."""
    queries, rules = ASKED[name]
    monkeypatch.setattr(candidates, "FITTED", ())  # rows of parts have grids of their own
    options = {"privacy": MU} | rules
    privacy = options.pop("privacy")
    grid = grid_for(hn.plan(hn.Workload(queries, **options), privacy=privacy))
    recover, wrong, spy = CenteredMeasurement.recover, list[str](), Spy()
    spy.watch(monkeypatch)
    for turn in range(RELEASES):
        for table in tables(turn):
            hn.release(table, queries, unit="id", privacy=privacy, **options)
            used, rings, known, found = spy.seen.pop()
            wrong += ["another grid"] * (repr(used) != repr(grid))
            wrong += ["no whole numbers"] * any(ring.dtype != np.uint64 for ring in rings)
            wrong += ["other bits"] * (bits(recover(grid, rings, known)) != bits(found))
            # Levels of places are weighed together: all that can be said of these are their bits.
            weighed = any(isinstance(channel.shape, Placed) for channel in grid.channels)
            wrong += [] if weighed else strays(grid, found)
    return wrong


@pytest.mark.parametrize("name", ASKED)
def test_both_worlds_have_one_grid(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each float of each release is what the design makes of whole numbers, bit for bit.

    Noise reaches every whole number from every other, so what is possible is the same in both.
    """
    assert not off_grid(name, monkeypatch)
    tell(f"grid of {name}", releases=2 * RELEASES, off_the_grid=0)


def _of_fractions(recover: Callable[..., Recovered]) -> Callable[..., Recovered]:
    def broken(own: CenteredMeasurement, noisy: list[Any], known: Any = None) -> Recovered:
        found = recover(own, noisy, known)
        more = 0.1 / 3 * np.arange(1, found.estimates.shape[1] + 1)
        return replace(found, estimates=found.estimates + more * float(own.channels[0].steps[0]))

    return broken


@pytest.mark.parametrize(("asked", "shape"), [("sums", "Box"), ("tables", "Crossed")])
def test_a_sum_of_fractions_is_off_the_grid(
    asked: str, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a sum of the cells themselves would add, a part of a step, is seen in what gets out."""
    monkeypatch.setattr(CenteredMeasurement, "recover", _of_fractions(CenteredMeasurement.recover))
    assert shape in off_grid(asked, monkeypatch)


def test_a_grid_that_depends_on_data_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that the number of people decides on differ from those of the design."""
    noisy = mechanism.noisy

    def moved(plan: Any, measurement: Any, totals: Totals, request: Any) -> Any:
        factor = Fraction(3, 2) if totals.people.sum() % 2 else Fraction(1)
        channels = tuple(
            replace(each, steps=tuple(step * factor for step in each.steps))
            for each in measurement.channels
        )
        return noisy(plan, replace(measurement, channels=channels), totals, request)

    monkeypatch.setattr(mechanism, "noisy", moved)
    monkeypatch.setattr(CenteredMeasurement, "measure", _any_whole_numbers)
    assert {"another grid", "other bits"} <= set(off_grid("sums", monkeypatch))


def _any_whole_numbers(own: CenteredMeasurement, totals: Totals) -> list[Any]:
    width = sum(each.shape.size for each in own.channels) + (own.root is not None)
    return [np.full((len(totals.people), width), 7, dtype=np.uint64)]


# Shuffles: each is a group of one table, with people of its own, so that many are read at once.
SHUFFLES, PEOPLE = 200, 12
THREADS = (1, 2, 4)
WORKLOAD = hn.Workload(
    [
        q.Sum("x", bounds=(-5, 20)),
        q.Count("a"),
        q.Items("c", ["A", "B", "Z"], at_most=1),
        TABLE,
        q.Mean("x", bounds=(-5, 20), by=["c"], name="mean"),
    ],
    by="w",
    groups=[*range(SHUFFLES)],
    other=None,
)
GRID = grid_for(hn.plan(WORKLOAD, privacy=MU))
TEXTS = ("csv", "jsonl")
PARTED = ("arrow", "duckdb", "ibis", "pandas", "pandas-objects", "parquet", "polars", "polars-lazy")


NAMES = ["w", "id", "x", "a", "c"]
DRAW = random.Random(7)
ROWS = [
    (i % PEOPLE, DRAW.choice([0.1, 1 / 3, 1e-9, 7.7]) * DRAW.random(), i % 3 == 0, "ABZY"[i % 4])
    for i in range(PEOPLE * 3 // 2)
]


@functools.cache
def shuffled(seed: int) -> pa.Table:
    """Return the same rows in each group, and all of them in any order and in parts of any size."""
    every = [(w, *row) for w in range(SHUFFLES) for row in ROWS]
    random.Random(seed).shuffle(every)
    table = pa.table(dict(zip(NAMES, map(list, zip(*every, strict=True)), strict=True)))
    cuts = sorted(random.Random(seed).sample(range(1, len(every)), 15))
    bounds = zip([0, *cuts], [*cuts, len(every)], strict=True)
    return pa.concat_tables([table.slice(start, stop - start) for start, stop in bounds])


def made(engine: str, table: pa.Table, folder: Path, threads: int) -> Any:
    """Return a table of an engine, in as many parts, for as many threads."""
    if engine == "duckdb":
        return duckdb.connect(config={"threads": threads}).from_arrow(table)
    if engine == "parquet":
        pq.write_table(table, path := folder / f"{threads}.parquet", row_group_size=499)
        return path
    if engine in TEXTS:
        third = len(table) // 3
        parts = (table[:third], table[third : 2 * third], table[2 * third :])
        return [engines.ENGINES[engine](part, folder) for part in parts]
    return engines.ENGINES[engine](table, folder)


def in_groups(data: Any) -> Any:
    """Return the totals of each group."""
    exact = exact_totals(data, GRID, WORKLOAD, ["w", "id"])
    return np.concatenate([*exact.sums, exact.people[:, None]], axis=1)


@functools.cache
def known() -> Any:
    """Return the totals of one group, whose rows nobody has shuffled (``contract`` proves them)."""
    rows = [(0, *row) for row in ROWS]
    return in_groups(pl.DataFrame(rows, NAMES, orient="row"))[0]


def unlike(data: Any) -> int:
    """Return how many shuffles have other totals than are known."""
    return int((in_groups(data) != known()).any(axis=1).sum())


def limit(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let connections of ours and Arrow use so many threads."""
    connect = connection._connect
    monkeypatch.setattr(connection, "_connect", lambda **config: connect(threads=threads, **config))
    pa.set_cpu_count(threads)


@pytest.fixture
def cpu_count() -> Iterator[None]:
    """Give Arrow its threads back."""
    before = pa.cpu_count()
    yield
    pa.set_cpu_count(before)


@pytest.mark.usefixtures("cpu_count")
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("engine", [*PARTED, *TEXTS])
def test_shuffles_have_the_same_totals(
    engine: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However rows are ordered, split and shared out, the whole numbers are the same."""
    limit(threads, monkeypatch)
    turns = min(MORE, 5)
    for turn in range(turns):
        assert not unlike(made(engine, shuffled(turn), tmp_path, threads))
    tell(f"order in {engine}, {threads} threads", shuffles=SHUFFLES * turns, unlike=0)


@pytest.mark.skipif(not SOAKS, reason="Spark takes as long as all others together")
def test_shuffles_have_the_same_totals_in_spark(tmp_path: Path) -> None:
    """The same in Spark, in as many partitions."""
    for parts in THREADS:
        assert not unlike(engines.spark(shuffled(parts), tmp_path).repartition(parts))


@pytest.mark.skipif(not SOAKS, reason="Polars fixes its threads where a process starts")
@pytest.mark.parametrize("threads", THREADS)
def test_shuffles_have_the_same_totals_by_threads_of_polars(threads: int) -> None:
    """As many threads as Polars starts with."""
    path = [str(Path(__file__).parents[1]), *sys.path]
    env = os.environ | {"POLARS_MAX_THREADS": str(threads), "PYTHONPATH": os.pathsep.join(path)}
    program = (
        "import polars as pl, attack.test_grid_and_order as own\n"
        f"assert pl.thread_pool_size() == {threads}\n"
        "assert not any(own.unlike(pl.from_arrow(own.shuffled(i))) for i in range(5))"
    )
    subprocess.run([sys.executable, "-c", program], env=env, check=True, timeout=300)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "parquet"])
def test_a_sum_of_fractions_is_noticed(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells that are added up as fractions make other totals in another order."""
    import narwhals.stable.v2 as nw

    def added(part: Contribution, place: Any) -> Any:
        column = f"{part.prefix}_all"
        part.rows[column] = place
        part.together.append(nw.col(column).sum())
        return nw.col(column)

    def put(part: Contribution, place: Any, **_: Any) -> None:
        part.person.append(place * 2.0**38)

    monkeypatch.setattr(Contribution, "added", added)
    monkeypatch.setattr(Contribution, "put", put)
    workload = hn.Workload([WORKLOAD.queries[0]], by="w", groups=[*range(SHUFFLES)], other=None)
    grid = grid_for(hn.plan(workload, privacy=MU))
    exact = exact_totals(made(engine, shuffled(1), tmp_path, 2), grid, workload, ["w", "id"])
    assert len({int(total) for total in exact.sums[0][:, 0]}) > 1
