from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import hypothesis.strategies as st
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

import halfnoise as hn
from halfnoise.data.columns import Columns
from halfnoise.data.contributions import Contribution
from halfnoise.data.sources import TextFormat, open_source
from halfnoise.data.spelling import Spelling
from halfnoise.data.whole_numbers import quotient
from halfnoise.design.measurement import CenteredMeasurement
from support import engines
from support.loss import exact_totals
from support.measured import grid_for
from support.nasty import found
from support.nasty_cells import cells as nasty_cells
from support.quanta import out_of_quanta

q: Any = hn  # what strict types would refuse is tried, too


def placed(query: Any) -> tuple[hn.Workload, CenteredMeasurement]:
    """Return one query on its grid."""
    workload = hn.Workload([query])
    return workload, grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))


def person(query: Any, values: list[Any], **others: list[Any]) -> list[Fraction]:
    """Return what one person adds, in the query's own measure."""
    workload, grid = placed(query)
    frame = pl.DataFrame({"id": [7] * len(values), "x": values, **others}, strict=False)
    (sums,), people = found(frame, workload, grid, ["id"])
    assert people == 1
    return out_of_quanta(sums, grid.blocks[0], people)


@pytest.mark.parametrize("low", [0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5])
@pytest.mark.parametrize("value", [-1e9, 0.0, 1e9])
def test_bounds_between_two_points_of_the_grid(low: float, value: float) -> None:
    """Bounds between points of the grid lie within those that the design was made for."""
    query = q.Sum("x", bounds=(low / 2**21, 3.0))
    _, grid = placed(query)
    shape: Any = grid.blocks[0].shape
    (total,) = person(query, [value])
    assert grid.blocks[0].quantum == Fraction(1, 2**21)
    assert shape.low < query.bounds[0]
    assert Fraction(shape.low) <= total <= Fraction(shape.high)


@settings(deadline=None, max_examples=60)
@given(
    far=st.floats(-1000, 1000),
    width=st.floats(1e-3, 1e6),
    values=st.lists(st.none() | st.floats(), min_size=1, max_size=5),
)
def test_sums_and_means_stay_in_their_range(
    far: float, width: float, values: list[float | None]
) -> None:
    """No rows take a person's sum or mean out of the range that the design was made for."""
    low = far * width
    for query in (q.Sum("x", bounds=(low, low + width)), q.Mean("x", bounds=(low, low + width))):
        shape: Any = placed(query)[1].blocks[0].shape
        total, *answered = person(query, [*values, None])
        if answered == [0]:
            assert total == 0
        else:
            assert Fraction(shape.low) <= total <= Fraction(shape.high)


@settings(deadline=None, max_examples=12)
@given(
    far=st.floats(-100, 100),
    width=st.floats(1e-3, 1e6),
    value=st.none() | st.floats(),
    meets=st.sampled_from([0, 1, None]),
)
def test_a_row_that_is_a_person(
    far: float, width: float, value: float | None, meets: int | None
) -> None:
    """Whoever has one row adds the same whether an id says so or all rows are people."""
    own: dict[str, Any] = {"where": q.Where("w", equals=1)}
    low = far * width
    bounds = (low, low + width)
    queries = [kind("x", bounds=bounds, **where) for kind in (q.Sum, q.Mean) for where in ({}, own)]
    edges = [low, low + width / 2, low + width]
    queries += [q.Bins("x", edges), q.Bins("x", edges, **own)]
    frame = pl.DataFrame(
        {"id": [7], "x": [value], "w": [meets]},
        schema={"id": pl.Int64, "x": pl.Float64, "w": pl.Int64},
    )
    for query in queries:
        workload, grid = placed(query)
        assert found(frame, workload, grid, ["id"]) == found(frame, workload, grid, [])


def test_sums() -> None:
    """Rows add up, a person's total is clipped, and without a value it is the point nearest 0."""
    assert person(q.Sum("x", bounds=(0, 20)), [3, 4, None]) == [7]
    assert person(q.Sum("x", bounds=(0, 20)), [30, -10]) == [20]
    assert person(q.Sum("x", bounds=(2, 20)), ["junk"]) == [2]
    assert person(q.Sum("x", bounds=(-9, -2)), [None]) == [-2]
    assert person(q.Sum("x", bounds=(-9, 9)), ["nan"]) == [0]


def test_sums_with_a_condition() -> None:
    """Who does not meet the condition adds nothing; who does without a value, the nearest to 0."""
    query = q.Sum("x", bounds=(2, 20), where=q.Where("w", equals=1))
    assert person(query, [5, 6], w=[1, 0]) == [5]
    assert person(query, [5, 6], w=[0, 0]) == [0]
    assert person(query, [None, 6], w=[1, 0]) == [2]


def test_means() -> None:
    """A person's mean is over the values given, each clipped; without one the person is not in."""
    assert person(q.Mean("x", bounds=(0, 10)), [3, 5, None]) == [4, 1]
    assert person(q.Mean("x", bounds=(0, 10)), [100, 0])[0] == 5
    assert person(q.Mean("x", bounds=(0, 10)), [None]) == [0, 0]


def test_choices() -> None:
    """The first listed category that any row names counts, whatever the order of rows."""
    query = q.Choice("x", ["A", "B"])
    assert person(query, ["B", "A", None]) == [1, 0, 0]
    assert person(query, ["Z", "B"]) == [0, 1, 0]
    assert person(query, ["Z", None]) == [0, 0, 1]
    assert person(q.Choice("x", ["other", "B"]), ["other", "B"]) == [0, 1]


def test_at_most() -> None:
    """Who says yes to more than allowed counts as a fraction for each, never above the limit."""
    queries = [q.Count(f"x{i}") for i in range(5)]
    workload = hn.Workload(queries, at_most=2)
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    frame = pl.DataFrame({f"x{i}": [True] for i in range(5)})
    (sums,), _ = found(frame, workload, grid, ())
    assert sums == [2 * 2**16 // 5] * 5


@pytest.mark.parametrize("alone", [True, False])
def test_of_many_at_most_some(*, alone: bool) -> None:
    """How many of them somebody has is made once: said for each, a hundred took half a minute."""
    workload = hn.Workload([q.Count(f"x{i}") for i in range(100)], at_most=2)
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    frame = pl.DataFrame({f"x{i}": [True] for i in range(100)})
    with open_source(frame, text=TextFormat()) as source:
        columns = Columns.of(source, workload, grid.blocks, ())
        part = Contribution(grid.blocks[0], columns, "hn", alone=alone)
    assert max(len(repr(own)) for own in part.person) < 200


@pytest.mark.parametrize("codes", [("E11", "2024-02-01", 2, "ja"), (True,)])
def test_listed_codes_of_many_columns_are_said_once(codes: tuple[Any, ...]) -> None:
    """Said for each, four hundred took half a minute and 2 GB; what they say is the same."""
    cells = nasty_cells(Spelling(), 1)
    frame = pa.table({f"x{i}": pa.array([*cells[i:], *cells[:i]], pa.string()) for i in range(30)})
    few, many = (
        hn.Workload([q.Count(f"x{i}", is_in=codes, missing="-99") for i in range(number)])
        for number in (3, 30)
    )
    grid = grid_for(hn.plan(many, privacy=hn.GaussianDP(mu=1)))
    with open_source(frame, text=TextFormat()) as source:
        columns = Columns.of(source, many, grid.blocks, ())
        part = Contribution(grid.blocks[0], columns, "hn", alone=True)
    assert max(len(repr(own)) for own in part.person) < 200
    (said,), _ = found(frame, few, grid_for(hn.plan(few, privacy=hn.GaussianDP(mu=1))), ())
    (alike,), _ = found(frame, many, grid, ())
    assert 0 < said[0] == said[2] == alike[0] == alike[29]


@pytest.mark.parametrize("word", ["true", "is_in"])
def test_many_numbers_are_looked_for_in_many_columns(word: str) -> None:
    """In parts: DuckDB holds such a list for each row, and ran out of memory in all of them."""
    frame = pl.DataFrame({f"x{i}": [1, 20, None] for i in range(900)})
    workload = hn.Workload([q.Count(name, **{word: [*range(1, 15)]}) for name in frame.columns])
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    with duckdb.connect() as engine:
        assert found(engine.from_arrow(frame.to_arrow()), workload, grid, ())[0] == [[1] * 900]


@settings(deadline=None)
@given(total=st.integers(0, 2**53 - 1), by=st.integers(1, 2**31))
def test_quotients(total: int, by: int) -> None:
    """Quotients of whole numbers below 2^53 are rounded down exactly."""
    frame = nw.from_native(pl.DataFrame({"a": [total], "b": [by]}))
    assert frame.select(quotient(nw.col("a"), nw.col("b"))).rows() == [(total // by,)]


WHOLE = [0, 1, -1, 7, 19, 20, 21, -40, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), None]
ALL_ON_GRID = {(0, 20): True, (-3, 4): True, (100, 1000): True, (0.5, 2.25): True, (0, 0.3): False}


@pytest.mark.parametrize("bounds", ALL_ON_GRID)
@pytest.mark.parametrize("engine", [name for name in engines.TYPED if name in engines.READERS])
def test_whole_numbers_have_no_parts(
    engine: str, bounds: tuple[float, float], tmp_path: Path
) -> None:
    """Columns of them add up to what the same values add up to as fractions, with fewer sums."""
    asked: list[Any] = [
        q.Sum("x", bounds=bounds),
        q.Sum("x", bounds=bounds, where=q.Where("x", at_least=2), name="some"),
        q.Mean("x", bounds=bounds, missing=[7], name="mean"),
    ]
    by_cell = [
        q.Choice("c", ["a"]),
        q.Sum("x", bounds=bounds, by=["c"], name="sums"),
        q.Mean("x", bounds=bounds, by=["c"], name="means"),
    ]
    workload = hn.Workload(asked + by_cell)
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    cells = pa.array((["a", "b", None] * 5)[: len(WHOLE)])
    whole = pa.table({"x": pa.array(WHOLE, pa.int64()), "c": cells})
    real = whole.cast(pa.schema([("x", "float64"), ("c", "string")]), safe=False)
    exact, other = (
        exact_totals(engines.TYPED[engine](table, _made(tmp_path / name)), grid, workload, ())
        for name, table in {"whole": whole, "real": real}.items()
    )
    assert all(map(np.array_equal, exact.sums, other.sums))
    for table, has_parts in ((whole, not ALL_ON_GRID[bounds]), (real, True)):
        with open_source(table, text=TextFormat()) as source:
            columns = Columns.of(source, workload, grid.blocks, [])
            read = Contribution(grid.blocks[0], columns, "hn0", alone=True)
        assert read.in_parts is has_parts


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int32(), pa.uint64()], ids=str)
@pytest.mark.parametrize("engine", ["arrow", "pandas", "parquet", "polars"])
def test_whole_numbers_of_every_width(engine: str, kind: Any, tmp_path: Path) -> None:
    """The least and the greatest of a type count as they do as fractions."""
    bits, signed = kind.bit_width, pa.types.is_signed_integer(kind)
    ends = [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] if signed else [0, 2**bits - 1]
    cells = [*ends, 1, 5, None]
    workload = hn.Workload([q.Sum("x", bounds=(-7, 9)), q.Mean("x", bounds=(0, 3), name="mean")])
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    exact, other = (
        exact_totals(engines.TYPED[engine](table, _made(tmp_path / name)), grid, workload, ())
        for name, table in {
            "whole": pa.table({"x": pa.array(cells, kind)}),
            "real": pa.table({"x": pa.array([x if x is None else float(x) for x in cells])}),
        }.items()
    )
    assert all(map(np.array_equal, exact.sums, other.sums))
