"""Who is who: no engine, type or odd cell may split one person in two, or take two for one."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import halfnoise as hn
from support import engines
from support.ids import INVALID, PEOPLE, SPARK, People, inferred, objects
from support.loss import Scale
from support.soak import SOAKS

q: Any = hn  # queries also take lists and expressions, which their annotations do not say

# Read in one scan where the rows are, and as a snapshot that is joined with itself by ids.
ONCE = Scale([q.Count("a")])
AGAIN = Scale([q.Count("a"), q.Items("i", ["x"])], by="i", groups=["x", "y"], max_groups=1)


def written(people: People) -> list[Any]:
    """Return the cells of all rows: each person in every way, and each way once more."""
    cells = [cell for ways in people for cell in ways]
    return [*cells, *reversed(cells)]


@pytest.mark.parametrize("kind", PEOPLE)
def test_people_are_neither_split_nor_merged(kind: str) -> None:
    """Each way to write an id means one person and no other; one more costs what is declared."""
    make, people = PEOPLE[kind]
    everybody = AGAIN.totals(make(written(people)))
    assert int(everybody.everyone[0]) == len(people)
    assert ONCE.people(make(written(people))) == len(people)
    assert AGAIN.excess(make(written(people[:-1])), everybody) <= 1


def test_people_of_spark() -> None:
    """The same for Spark, whatever a column's collation."""
    for kind, (make, people) in SPARK.items():
        assert ONCE.people(make(written(people))) == len(people), kind
    make, people = SPARK["spark UTF8_LCASE"]
    assert AGAIN.people(make(written(people))) == len(people)


def test_one_odd_id_changes_nobody_else() -> None:
    """One person whose id is text turns a column of numbers into objects, and costs one person."""
    cells: list[Any] = [*range(1000), *map(float, range(1000))]
    for make in (inferred, objects):
        without = ONCE.totals(make(cells))
        for odd in ("x", b"\xff", True, None, dt.date(2026, 1, 1), object()):
            assert ONCE.excess(without, make([*cells, odd])) <= 1, odd


def test_one_odd_cell_changes_no_other() -> None:
    """The same for groups, categories, tables and sums: a number stays so beside any object."""
    scale = Scale(
        [
            q.Choice("c", [1, 2, 2.5]),
            q.Sum("c", bounds=(0, 9)),
            q.Count("t", at_least="2026-11-15"),
        ],
        by="c",
        groups=[1, 2.0],
    )
    table = Scale([q.Table([q.Choice("c", [1, 2, 2.5]), q.Choice("id", [1, 6])])])
    zone = [pd.Timestamp("2026-11-14T20:00Z").tz_convert("Asia/Tokyo")] * 6
    odds = ["x", b"\xff", object(), 2.0, True]
    for cells, some in (
        ([1, 2, 1, 2, 2, 1], odds),
        ([1.0, 2.0, 2.5, 1e-300, 1.5e308, -0.0], odds if SOAKS else odds[:1]),
        ([np.nan, 1, 2, 1, 2, 2], odds if SOAKS else odds[:1]),
    ):
        rest = {"id": range(6), "t": zone}
        numbers = scale.totals(pd.DataFrame({"c": cells, **rest}))
        for odd in some:
            more = pd.DataFrame(
                {"c": [*cells, odd], "id": range(7), "t": pd.Series([*zone, odd], dtype=object)}
            )
            assert scale.excess(numbers, more) <= 1, odd
            assert table.excess(pd.DataFrame({"c": cells, **rest}), more) <= 1, odd


REFUSED: dict[str, Any] = {
    "polars objects": pl.DataFrame({"id": pl.Series([object()], dtype=pl.Object)}),
    "polars lists": pl.DataFrame({"id": [[1]]}),
    "polars structs": pl.DataFrame({"id": [{"a": 1}]}),
    "polars times": pl.DataFrame({"id": [dt.time(1)]}),
    "polars spans": pl.DataFrame({"id": [dt.timedelta(1)]}),
    "pandas spans": pd.DataFrame({"id": [pd.Timedelta(1)]}),
    "pandas periods": pd.DataFrame({"id": pd.period_range("2026", periods=1)}),
    "pandas intervals": pd.DataFrame({"id": [pd.Interval(0, 1)]}),
    "pandas categories of periods": pd.DataFrame(
        {"id": pd.Series(pd.period_range("2026", periods=1)).astype("category")}
    ),
    "pandas complex": pd.DataFrame({"id": [1j]}),
    "arrow spans": pa.table({"id": pa.array([1], pa.duration("s"))}),
    "arrow times": pa.table({"id": pa.array([1], pa.time32("s"))}),
    "arrow lists": pa.table({"id": [["a"]]}),
    "arrow maps": pa.table({"id": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8()))}),
    **{
        f"duckdb {kind}": duckdb.sql(f"select cast({cell} as {kind}) as id")
        for kind, cell in {
            "interval": "'30 days'",
            "timetz": "'12:00:00+01'",
            "bit": "'101'",
            "struct(a varchar)": "{'a': 'x'}",
            "varchar[]": "['a']",
            "map(varchar, int)": "map{'a': 1}",
        }.items()
    },
}


@pytest.mark.parametrize("kind", REFUSED)
def test_other_types_tell_nobody_apart(kind: str) -> None:
    """A unit of a type that engines compare in their own ways is refused, before a row is read."""
    queries = [q.Count(nw.lit(value=True), name="n")]
    with pytest.raises(hn.InvalidParameterError, match="the unit 'id' holds"):
        hn.release(REFUSED[kind], queries, unit="id", privacy=hn.GaussianDP(mu=1))


def test_ids_that_are_no_text_in_spark() -> None:
    """Bytes that are no text name nobody, and never somebody else."""
    session = engines.spark_session()

    def frame(cells: Sequence[bytes]) -> Any:
        listed = ", ".join(f"(unhex('{cell.hex()}'))" for cell in cells)
        return session.sql(f"select cast(c as string) id, true a, 'x' i from values {listed} t(c)")

    valid = [b"\xef\xbf\xbd", b"a", b"A"]
    for scale in (ONCE, AGAIN):
        assert scale.people(frame([*valid, *INVALID, *valid])) == 3
