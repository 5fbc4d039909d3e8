import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

import halfnoise as hn
from halfnoise.data import contributions, groups, whole_numbers
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from halfnoise.design.measurement import CenteredMeasurement
from support.loss import ROUNDING, declared, entering, exact_totals, loss
from support.measured import grid_for
from support.soak import SOAKS

q: Any = hn  # what strict types would refuse is tried, too

COLUMNS = ("id", "a", "b", "x", "y", "c", "item")
VALUES: dict[str, list[str | None]] = {
    "a": [None, "1", "0", "yes", "no"],
    "b": [None, "1", "0", "true"],
    "x": [None, "0", "-1e9", "1e9", "3.25", "19.999", "inf", "-inf", "nan", "junk", "0.0000006"],
    "y": [None, "5", "-5", "1e300", "7.5", "-2.25", "N/A"],
    "c": [None, "A", "B", "other", "Z"],
    "item": [None, "i1", "i2", "i3", "i4", "unlisted"],
}
Row = tuple[str | None, ...]

ADULT = q.Where("x", at_least=1)
QUERIES: dict[str, list[Any]] = {
    "counts": [q.Count("a"), q.Count("b"), q.Count("x", above=2, name="over", where=ADULT)],
    "sums": [
        q.Sum("x", bounds=(2.5 / 2**20, 3.0)),
        q.Sum("y", bounds=(-3, 5), where=ADULT),
        q.Sum("y", bounds=(-9, -2.3), name="below"),
    ],
    "means": [q.Mean("x", bounds=(1, 20)), q.Mean("y", bounds=(-4, -1), where=ADULT)],
    "variances": [
        q.Mean("x", bounds=(1, 20), variance=True),
        q.Mean("y", bounds=(-4, 6), where=ADULT, variance=True),
    ],
    "choices": [q.Choice("c", ["A", "B"]), q.Choice("c", ["B"], where=ADULT, name="adult")],
    "bins": [q.Bins("x", [0, 3, 10]), q.Bins("y", [0, 3], where=ADULT)],
    "tables": [
        q.Table([q.Choice("c", ["A", "B"]), q.Bins("x", [0, 3, 10])]),
        q.Table(["x", q.Choice("item", ["i1", "i2", "i3"])]),
        q.Sum("y", bounds=(-3, 5), where=ADULT, by=["c"]),
        q.Mean("y", bounds=(-4, -1), by=["x"], within=[["c"]], name="mean"),
        q.Count("a", by=["c", "item"]),
        q.Count("b"),
    ],
    "places": [
        q.Nested("c", "item", places=[("A", "i1"), ("A", "i2"), ("B", "i2"), ("Z",)]),
        q.Table(["item", q.Bins("x", [0, 3, 10])]),
        q.Sum("y", bounds=(-3, 5), where=ADULT, by=["c"]),
        q.Mean("y", bounds=(-4, -1), by=["item", "x"], name="mean"),
        q.Count("b"),
    ],
    "items": [q.Items("item", ["i1", "i2", "i3", "i4"], at_most=2)],
    "one item": [q.Items("item", ["i1", "i2"], at_most=1), q.Items("item", ["i3"], name="box")],
    "all": [
        q.Count("a"),
        q.Sum("x", bounds=(0.1, 19.7)),
        q.Mean("y", bounds=(-3, 8)),
        q.Choice("c", ["A", "B"]),
        q.Items("item", ["i1", "i2", "i3"], at_most=1),
    ],
}


GROUPED: dict[str, dict[str, Any]] = {
    "groups": {"groups": ["A", "B"]},
    "groups alone": {"groups": ["A", None], "other": None},
    "two of three groups": {"groups": ["A", "B"], "max_groups": 2},
    "two of four groups": {"groups": ["A", "B", "Z", None], "max_groups": 2, "other": None},
}


def grids() -> Iterator[tuple[str, CenteredMeasurement, hn.Workload]]:
    """Return every kind of workload on its grid, with Gaussian and with Laplace noise."""
    for name, queries in QUERIES.items():
        workload = hn.Workload(queries)
        for privacy in (hn.GaussianDP(mu=1), hn.PureDP(epsilon=1))[
            : 1 + (name not in ("tables", "places"))
        ]:
            yield (
                f"{name} {type(privacy).__name__}",
                grid_for(hn.plan(workload, privacy=privacy)),
                workload,
            )
    grouped = hn.Workload(QUERIES["tables"], by="c")  # an axis: its list is that of the groups
    yield "tables in groups", grid_for(hn.plan(grouped, privacy=hn.GaussianDP(mu=1))), grouped
    few = hn.Workload(QUERIES["counts"], at_most=1)
    yield "at most", grid_for(hn.plan(few, privacy=hn.GaussianDP(mu=1))), few
    for title in ("some rows", "some rows in groups"):
        rules = {"by": "c", **GROUPED["two of three groups"]} if "groups" in title else {}
        some = hn.Workload(QUERIES["all"], where=[ADULT, q.Where("a", equals="1")], **rules)
        yield title, grid_for(hn.plan(some, privacy=hn.GaussianDP(mu=1))), some
    known = hn.plan(hn.Workload(QUERIES["counts"]), privacy=hn.GaussianDP(mu=1), known_size=True)
    yield "known size", grid_for(known), known.workload
    for name, rules in GROUPED.items():
        for privacy in (hn.GaussianDP(mu=1), hn.PureDP(epsilon=1)):
            for asked in ("counts", "all"):
                workload = hn.Workload(QUERIES[asked], by="c", **rules)
                found = hn.plan(workload, privacy=privacy)
                for design in found.designs:
                    if design.name.startswith(("correlated", "two-level")):
                        title = f"{name} {asked} {design.name}"
                        yield title, grid_for(replace(found, designs=(design,))), workload


def replaced() -> Iterator[tuple[str, CenteredMeasurement, hn.Workload]]:
    """Return workloads whose neighbours have one person replaced."""
    kinds = ("counts", "sums", "means", "variances", "choices", "bins", "items", "tables", "places")
    for name in kinds:
        workload = hn.Workload(QUERIES[name], neighbors=hn.Neighbors.REPLACE)
        yield name, grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1))), workload
    for listed, other in ((["A", "B"], "other"), (["A"], None)):
        for name in ("counts", "all"):
            workload = hn.Workload(
                QUERIES[name], neighbors=hn.Neighbors.REPLACE, by="c", groups=listed, other=other
            )
            grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
            yield f"{name} in {len(listed)} groups", grid, workload


GRIDS = {name: (grid, workload) for name, grid, workload in grids()}
REPLACED = {name: (grid, workload) for name, grid, workload in replaced()}


def read_alike() -> dict[str, list[CenteredMeasurement]]:
    """Return grids that need the same totals of the same workload, under the name of the first."""
    found: dict[object, list[str]] = {}
    for name, (grid, workload) in GRIDS.items():
        steps = tuple((block.shape, block.quantum) for block in grid.blocks)
        found.setdefault((repr(workload), steps), []).append(name)
    return {names[0]: [GRIDS[name][0] for name in names] for names in found.values()}


ALIKE = read_alike()


def frame(rows: Sequence[Row], _: Path) -> pl.DataFrame:
    """Return rows as a Polars frame of text."""
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def file(rows: Sequence[Row], folder: Path) -> Path:
    """Return rows as a CSV file."""
    path = folder / "table.csv"
    lines = [",".join(COLUMNS), *(",".join(cell or "" for cell in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def measured(data: object, grid: CenteredMeasurement, workload: hn.Workload) -> Any:
    """Return what enters the noise, in scales of that noise."""
    return entering(exact_totals(data, grid, workload), grid)


def rows_of(person: str | None, most: int) -> st.SearchStrategy[list[Row]]:
    """Draw the rows of one person."""
    cells = [st.sampled_from(VALUES[column]) for column in COLUMNS[1:]]
    return st.lists(st.tuples(st.just(person), *cells), max_size=most)


crowd: st.SearchStrategy[list[Row]] = st.tuples(
    rows_of("p", 3), rows_of("q", 3), rows_of(None, 2)
).map(lambda parts: [row for part in parts for row in part])
replay = settings(
    max_examples=12 if SOAKS else 6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)


def some_rows(person: str | None, count: int, draw: random.Random) -> list[Row]:
    """Return so many rows of one person."""
    cells = [[draw.choice(VALUES[column]) for column in COLUMNS[1:]] for _ in range(count)]
    return [(person, *row) for row in cells]


# A table that gains one person after the other: each table is the neighbour of the next.
ROWS_OF_EACH = (3, 1, 12, 6, 2, 9)[: None if SOAKS else 4]


def growing(seed: int) -> Iterator[list[Row]]:
    """Yield a crowd, and the crowd with ever more people, in any order of rows."""
    draw = random.Random(seed)
    rows = [row for person in ("p", "q", None) for row in some_rows(person, 2, draw)]
    yield rows
    for i, count in enumerate(ROWS_OF_EACH):
        rows = rows + some_rows(f"z{i}", count, draw)
        draw.shuffle(rows)
        yield rows


def beyond(
    name: str, make: Callable[[Sequence[Row], Path], object], folder: Path
) -> Iterator[bool]:
    """Yield for each design and each person who comes whether the noise hides too little."""
    first, workload = GRIDS[name]
    # A file is read by the rules of a frame of text, and takes longer to open: two people come.
    crowds = itertools.islice(growing(len(name)), 3 if make is file and not SOAKS else None)
    tables = [exact_totals(make(rows, folder), first, workload) for rows in crowds]
    for grid in ALIKE[name]:
        for without, with_them in itertools.pairwise(entering(each, grid) for each in tables):
            yield loss(with_them, without, grid) > declared(grid) * ROUNDING


# Polars adds up a frame, DuckDB a file, which must agree (tests/contract): of those every other.
MADE = [(name, make) for i, name in enumerate(ALIKE) for make in (frame, file)[: 2 - i % 2 + SOAKS]]


@pytest.mark.parametrize(("name", "make"), MADE)
def test_one_person_added(
    name: str, make: Callable[[Sequence[Row], Path], object], tmp_path: Path
) -> None:
    """What enters the noise moves by no more than the declared loss when one person comes.

    Designs that need the same totals are all held to one reading of them.
    """
    assert not any(beyond(name, make, tmp_path))


@pytest.mark.parametrize("name", REPLACED)
def test_one_person_replaced(name: str, tmp_path: Path) -> None:
    """What enters the noise moves by no more than the declared loss when one person changes."""
    grid, workload = REPLACED[name]
    draw = random.Random(len(name))
    others = [row for person in ("p", "q", None) for row in some_rows(person, 2, draw)]
    nothing: list[Row] = [("z", *[None] * (len(COLUMNS) - 1))]
    persons = [nothing, *(some_rows("z", count, draw) for count in ROWS_OF_EACH[:8])]
    tables = [measured(frame(others + own, tmp_path), grid, workload) for own in persons]
    for one, other in itertools.combinations(tables, 2):
        assert loss(one, other, grid) <= declared(grid) * ROUNDING


@pytest.mark.parametrize("most", [1, 2])
@replay
@given(others=crowd, own=rows_of("z", 6), data=st.data())
def test_groups_that_are_found(
    most: int, others: list[Row], own: list[Row], data: st.DataObject, tmp_path: Path
) -> None:
    """One person moves common groups by no more than declared, and adds few, alone in each."""
    workload = hn.Workload(QUERIES["all"], by=["c", "item"], groups="discover", max_groups=most)
    grid = grid_for(hn.plan(workload, privacy=hn.ApproxDP(epsilon=1, delta=1e-6)))
    tables = []
    for rows in (others, data.draw(st.permutations(others + own))):
        with open_source(frame(rows, tmp_path), text=TextFormat()) as opened:
            source = opened.of(COLUMNS)
            exact = prepared(source, workload, grid.blocks, ["id"])()
        assert exact.keys is not None
        (ring,) = grid.measure(exact)
        scaled = ring.view(np.int64) / grid.scales[0]
        tables.append(dict(zip(exact.keys, zip(scaled, exact.people, strict=True), strict=True)))
    without, with_them = tables
    common = [with_them[key][0] - without[key][0] for key in without]
    assert without.keys() <= with_them.keys()
    if common:
        moved = np.concatenate(common)
        assert loss(moved, np.zeros_like(moved), grid) <= declared(grid) * ROUNDING
    new = with_them.keys() - without.keys()
    assert len(new) <= most
    assert all(with_them[key][1] == 1 for key in new)


def test_a_person_in_too_many_groups_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A person who keeps all groups costs more than declared: the replay can see it."""
    grid, workload = GRIDS["groups counts correlated-gaussian"]
    own: list[Row] = [("z", "1", "1", "5", None, each, None) for each in "AB"]
    nobody = measured(frame([], tmp_path), grid, workload)
    assert loss(measured(frame(own, tmp_path), grid, workload), nobody, grid) <= declared(grid)
    monkeypatch.setattr(groups, "_first", lambda rows, *_: rows)
    assert loss(measured(frame(own, tmp_path), grid, workload), nobody, grid) > declared(grid)
    assert any(beyond("groups counts correlated-gaussian", frame, tmp_path))


def test_without_clipping_it_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A person whose total is not clipped costs more than declared: the replay can see it."""
    grid, workload = GRIDS["sums GaussianDP"]
    own: list[Row] = [("z", None, None, "1e9", "5", None, None)] * 3
    nobody = measured(frame([], tmp_path), grid, workload)
    assert loss(measured(frame(own, tmp_path), grid, workload), nobody, grid) <= declared(grid)
    clip = whole_numbers.clipped
    # Rows are clipped to a range with zero, persons to their bounds.
    monkeypatch.setattr(
        contributions,
        "clipped",
        lambda value, low, high: value if low > 0 else clip(value, low, high),
    )
    assert loss(measured(frame(own, tmp_path), grid, workload), nobody, grid) > declared(grid)
    assert any(beyond("sums GaussianDP", frame, tmp_path))


BROKEN = {
    "commas": b"1000,1,,,\n",
    "too long": b"1000,1,1,5,5,A,i1,and,so,on\n",
    "too short": b"1000,1\n",
    "invalid byte": b"1000,1,\xff\xfe,5,5,A,i1\n",
    "nul": b"1000,\0,1,5,\0,A,i1\n",
    "huge cell": b"1000,1,1,5,5," + b"z" * 3_000_000 + b",i1\n",
    "quoted break": b'1000,1,1,5,5,"A\nB",i1\n',
    "quoted comma": b'1000,1,1,5,5,"A,B",i1\n',
    "carriage return": b"1000,1,1,5\r,5,A,i1\n",
    "other line end": b"1000,1,1,5,5,A,i1\r\n",
    "stray quote": b'1000,1,1,5"5,5,A,i1\n',
    "byte-order mark": b"\xef\xbb\xbf1000,1,1,5,5,A,i1\n",
    "empty": b"\n\n",
    "open quote": b'1000,1,1,5,5,"A,i1\n',
    "quote closed too early": b'1000,1,"1"5,5,5,A,i1\n',
}


@pytest.mark.parametrize("where", [0, 2500, 5000])
@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("quote", ['"', None])
def test_a_broken_row_is_alone(broken: str, where: int, quote: str | None, tmp_path: Path) -> None:
    """One added row, however broken, leaves every other row of the file as it was."""
    rows = [f"{i},1,{i % 2},{i % 7},{i % 5},A,i{i % 3}\n".encode() for i in range(5000)]
    rows = [*rows[:where], BROKEN[broken], *rows[where:]]
    path = tmp_path / "table.csv"
    path.write_bytes(",".join(COLUMNS).encode() + b"\n" + b"".join(rows))
    with open_source(path, text=TextFormat(quote=quote)) as opened:
        source = opened.of(COLUMNS)
        source.fill()
        found = {row for row in source.frame.to_native().fetchall() if (row[0] or "").isdecimal()}
    expected = {
        (str(i), "1", str(i % 2), str(i % 7), str(i % 5), "A", f"i{i % 3}") for i in range(5000)
    }
    assert expected <= found
    assert {row[0] for row in found - expected} <= {"1000"}
    assert len(found - expected) <= 1
