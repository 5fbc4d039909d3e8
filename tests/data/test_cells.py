import datetime as dt
import decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.data.cells import Cell
from halfnoise.data.spelling import Spelling
from support import engines
from support.measured import grid_for
from support.nasty import found
from support.quanta import out_of_quanta

q: Any = hn  # what strict types would refuse is tried, too


class Mute:
    """An object without text."""

    def __str__(self) -> str:
        """Fail."""
        raise ValueError


def ask(data: Any, query: Any, people: int | None = None) -> list[Fraction]:
    """Return the totals of one query, each row a person."""
    workload = hn.Workload([query])
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    sums: list[int] = found(data, workload, grid, ())[0][0]
    return out_of_quanta(sums, grid.blocks[0], len(data) if people is None else people)


def column(values: list[Any], dtype: Any = None) -> pl.DataFrame:
    """Return a Polars frame of one column."""
    return pl.DataFrame({"x": pl.Series(values, dtype=dtype)})


ODD: dict[str, Any] = {
    "all null": column([None, None]),
    "unsigned": column([2**64 - 1, 1], pl.UInt64),
    "128 bits": column([2**126, -(2**126), 1], pl.Int128),
    "decimal": column([decimal.Decimal(10**20), decimal.Decimal(1)]),
    "single": column([float("nan"), float("inf"), 1], pl.Float32),
    "long text": column(["a" * 1_000_000, "1", "9" * 5000, "1e99999", "\0"]),
    "category": column(["a", "1", None], pl.Categorical),
    "arrow null": pa.table({"x": pa.nulls(3)}),
    "arrow half": pa.table({"x": pa.array([np.float16(1), None], pa.float16())}),
    "arrow decimal": pa.table({"x": pa.array([decimal.Decimal(1)], pa.decimal256(76, 0))}),
    "arrow hundreds": pa.table({"x": pa.array([decimal.Decimal(100)], pa.decimal128(5, -2))}),
    "arrow dictionary": pa.table({"x": pa.array(["a", "1"]).dictionary_encode()}),
    "pandas objects": pd.DataFrame(
        {
            "x": pd.Series(
                [
                    *(1, "1", 1.0, True, None, float("nan"), b"\xff", decimal.Decimal("sNaN"), [1]),
                    *(Mute(), np.array([1, 2]), pd.NaT, pd.NA, "\ud800", 10**400, 1j, {"a": 1}),
                ],
                dtype=object,
            )
        }
    ),
    "pandas surrogate": pd.DataFrame({"x": pd.Series(["1", "\ud800"], dtype=object)}),
    "pandas nullable": pd.DataFrame({"x": pd.Series([1, None, 2**63 - 1], dtype="Int64")}),
    "pandas unsigned": pd.DataFrame({"x": pd.Series([1, 2**64 - 1], dtype="uint64")}),
    "pandas arrow": pd.DataFrame(
        {"x": pd.Series([1, None, -(2**63)], dtype=pd.ArrowDtype(pa.int64()))}
    ),
    "pandas category": pd.DataFrame({"x": pd.Series([1, None, "a"], dtype="category")}),
    "pandas period": pd.DataFrame({"x": pd.period_range("2026-01", periods=2, freq="M")}),
}


@pytest.mark.parametrize("odd", ODD)
def test_no_cell_can_fail(odd: str) -> None:
    """Cells of odd types and sizes are read, as null if need be, and every query has its total."""
    none = dict.fromkeys(("all null", "arrow null", "arrow hundreds", "pandas period"), 0)
    ones = (none | {"pandas objects": 4}).get(odd, 1)
    assert ask(ODD[odd], q.Count("x")) == [ones]
    assert ask(ODD[odd], q.Count("x", equals=1)) == [ones]
    assert ask(ODD[odd], q.Items("x", [1, 2], at_most=1))[1] == 0
    assert ask(ODD[odd], q.Sum("x", bounds=(0, 10)))[0] >= 0
    assert sum(ask(ODD[odd], q.Bins("x", [0, 5]))) == len(ODD[odd])


@pytest.mark.parametrize("kind", ["utinyint", "bigint", "ubigint", "hugeint", "uhugeint"])
def test_no_whole_number_can_fail_where_many_are_looked_for(kind: str) -> None:
    """However large it is: one person's would else end the release of all."""
    bits = {"utinyint": 8, "bigint": 63, "ubigint": 64, "hugeint": 127, "uhugeint": 128}[kind]
    table = duckdb.sql(f"select unnest(['5', '{2**bits - 1}']::{kind}[]) as x")
    listed = [*range(1, 30)]
    assert ask(table, q.Count("x", is_in=listed)) == [1]
    assert ask(table, q.Count("x", true=listed, missing=[*range(30, 60)])) == [1]
    assert ask(table, q.Choice("x", listed))[4::25] == [1, 1]
    assert ask(table, q.Items("x", listed, at_most=1))[4] == 1


@pytest.mark.parametrize(
    "odd",
    [
        column([dt.timedelta(1)]),
        column([dt.time(1)]),
        column([b"\xff"]),
        column([[1]]),
        column([{"a": 1}]),
        pd.DataFrame({"x": pd.to_timedelta([1])}),
        pd.DataFrame({"x": [1j]}),
    ],
)
def test_other_types_are_refused(odd: Any) -> None:
    """A column of a type that no query reads is refused by its type, before any row is read."""
    for query in (
        q.Count("x"),
        q.Sum("x", bounds=(0, 1)),
        q.Choice("x", ["a"]),
        q.Items("x", ["1"]),
        q.Count("x", at_least="2026-01-01"),
    ):
        with pytest.raises(hn.InvalidParameterError, match="the column 'x' holds"):
            ask(odd, query)


MIDNIGHT = dt.datetime(2026, 11, 15, tzinfo=dt.UTC)
MOMENTS: dict[str, Any] = {
    "far days": column([2**31 - 1, -(2**31), 20772], pl.Int32).select(pl.col("x").cast(pl.Date)),
    "far moments": column([2**63 - 1, -(2**63)]).select(pl.col("x").cast(pl.Datetime("ms"))),
    "time zone": column([MIDNIGHT]).select(pl.col("x").dt.convert_time_zone("Asia/Tokyo")),
    "pandas zone": pd.DataFrame({"x": [pd.Timestamp(MIDNIGHT).tz_convert("Asia/Tokyo")]}),
    "pandas far": pd.DataFrame({"x": np.array([2**60, 0], "datetime64[s]")}),
    "arrow zone": pa.table({"x": pa.array([MIDNIGHT], pa.timestamp("ms", "Asia/Tokyo"))}),
    "arrow far": pa.table({"x": pa.array([2**60, 0], pa.timestamp("s"))}),
}


@pytest.mark.parametrize("kind", MOMENTS)
def test_days_and_moments(kind: str) -> None:
    """Days and moments out of range cannot fail, and those with a time zone count in UTC."""
    since = ask(MOMENTS[kind], q.Count("x", at_least="2026-11-15", name="since"))
    before = ask(MOMENTS[kind], q.Count("x", below="2026-11-15", name="before"))
    far = kind in ("arrow far", "pandas far")  # beyond the range of microseconds, hence missing
    assert since[0] + before[0] == len(MOMENTS[kind]) - far
    if "zone" in kind:
        assert since == [1]
        assert ask(MOMENTS[kind], q.Count("x", equals=MIDNIGHT.date(), name="on")) == [1]
        assert ask(MOMENTS[kind], q.Count("x", above="2026-11-15", name="after")) == [0]


# Objects of pandas, Spark and PostgreSQL have no nanoseconds.
NANOSECONDS = sorted({*engines.TYPED} - {"pandas-objects", "spark", "postgresql"})


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("engine", NANOSECONDS)
def test_a_day_lasts_to_its_last_nanosecond(engine: str, zone: str | None, tmp_path: Path) -> None:
    """A moment in nanoseconds is of the day in which it is, and not of the next by rounding."""
    midnight, day = 1_794_700_800 * 10**9, 86_400 * 10**9  # 2026-11-15
    stored = [-(day + 1), -1, 0, 1, 499, 500, day - 501, day - 500, day - 1, day, -1]
    moments = pa.array([midnight + x for x in stored], pa.int64()).view(pa.timestamp("ns", zone))
    table = pa.table({"x": moments, "y": moments, "one": ["1"] * len(moments)})
    data = engines.TYPED[engine](table, tmp_path)
    for words, count in (({"equals": "2026-11-15"}, 7), ({"below": "2026-11-15"}, 3)):
        assert ask(data, q.Count("x", name="x", **words), len(moments)) == [count]
    days: Any = {"by": hn.By("y", every="day"), "groups": ["2026-11-15", "2026-11-14"]}
    found = hn.release(data, [hn.Count("one")], unit="x", privacy=hn.GaussianDP(mu=1e6), **days)
    assert [round(each["one"].estimate) for _, each in found.items()] == [7, 1, 2]


def test_last_day_there_is() -> None:
    """The last day of the calendar can be compared with, though none comes after it."""
    assert ask(column([dt.date(2026, 1, 1)]), q.Count("x", up_to="9999-12-31")) == [1]


def test_conditions_that_compare_with_nothing() -> None:
    """Text cannot be more or less; numbers beyond all range and NaN are text too."""
    for literal in ("F", 10**400, "nan"):
        with pytest.raises(hn.InvalidParameterError, match="neither numbers nor days"):
            ask(column(["1"]), q.Count("x", at_least=literal))
    assert ask(column([float("nan"), 1.0]), q.Count("x", equals="nan")) == [0]


def test_codes_that_are_no_values() -> None:
    """A code that is neither text nor a number nor a day is refused where it is given."""
    for codes in ({"true": (None,)}, {"missing": [["a"]]}, {"is_in": (None,)}):
        with pytest.raises(hn.InvalidParameterError, match="text, numbers or dates"):
            q.Count("x", **codes)


def test_decimal_comma() -> None:
    """With a decimal comma, a point in a number makes it no number, not another one."""
    cell = Cell(name="x", dtype=nw.String(), label="x", spelling=Spelling(decimal=","))
    frame = nw.from_native(column(["1,5", "1.234", "1.234,5", "7", ",5"]))
    assert frame.select(n=cell.number())["n"].to_list() == [1.5, None, None, 7.0, 0.5]


def test_yes_and_no() -> None:
    """True and false match numbers, text and flags alike."""
    for values in ([1, 0, 2], [True, False, None], ["yes", "No", "2"], ["1", "0", "x"]):
        assert ask(column(values), q.Count("x", equals=True)) == [1]
        assert ask(column(values), q.Choice("x", [True, False])) == [1, 1, 1]


@pytest.mark.parametrize("many", [2, 13, 60])
@pytest.mark.parametrize("listed", ["words", "numbers"])
def test_lists_of_another_type_are_all_other(many: int, listed: str) -> None:
    """Words on a column of numbers, or numbers on one of days, however many: all are other."""
    data = column([1, 2, 3]) if listed == "words" else column([dt.date(2026, 1, 1)] * 3)
    values = [f"k{i}" for i in range(many)] if listed == "words" else list(range(many))
    for table in (data, data.to_arrow(), data.lazy()):
        workload = hn.Workload([q.Choice("x", values)])
        grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
        assert found(table, workload, grid, ())[0][0] == [*[0] * many, 3]


WORDS = ["true", " FALSE", "Inf", "+infinity", "-inF", "-Infinity ", "trueish", "info", "1", "-99"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "true 1"),
        (0, " FALSE"),
        ("inf", "Inf +infinity"),
        ("-inf", "-inF -Infinity "),
        (-99, "-99"),
    ],
)
def test_numbers_in_words(number: Any, words: str) -> None:
    """What a word stands for is found in text as the number that it is, in any case."""
    cell = Cell(name="x", dtype=nw.String(), label="x")
    frame = nw.from_native(column(WORDS))
    found = frame.select(x=cell.is_one_of((number,)))["x"].to_list()
    assert [w for w, is_it in zip(WORDS, found, strict=True) if is_it] == [
        w for w in WORDS if w.strip() in words.split()
    ]


@pytest.mark.parametrize("many", [0, 90])
@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_listed_values_are_what_cells_say(make: Any, many: int) -> None:
    """Only the six spaces of ASCII are none of a value, and digits of other scripts no numbers."""
    cells = ["\xa0A", "A", " A\t", "\u0663", "3", "3.0", "\uff13", "\x85B", "B"]
    listed = ["\xa0A", "\u0663", "3 ", "\x85B", *map(str, range(100, 100 + many))]
    data = make({"a": cells})
    counts = ask(data, hn.Choice("a", listed))
    assert counts[:4] + counts[-1:] == [1, 1, 2, 1, 4]
    for value, count in {"\xa0A": 1, "A\n": 2, "\u0663": 1, "3": 2}.items():
        assert ask(data, hn.Count("a", equals=value)) == [count]
        assert ask(data, hn.Count("a", true=[value, *listed[4:]])) == [count]
    left = {value: ask(data, hn.Choice("a", ["A", "3"], missing=[value])) for value in listed[:4]}
    assert [each[:2] for each in left.values()] == [[2, 2], [2, 2], [2, 0], [2, 2]]


@pytest.mark.parametrize(
    "listed",
    [["01", "1"], ["x", " x"], [1, "1.0"], ["1.50", "1.5"], [True, "1"], ["inf", "Infinity"]],
)
def test_categories_that_read_the_same_are_refused(listed: list[Any]) -> None:
    """One of them would get the answers of both; by items, each is its own text."""
    data = pl.DataFrame({"a": [str(each).strip() for each in listed], "b": [1, 2]})
    with pytest.raises(hn.InvalidParameterError, match=r"the categories .* are the same; list one"):
        ask(data, hn.Choice("a", listed))
    with pytest.raises(hn.InvalidParameterError, match=r"the categories .* are the same; list one"):
        ask(data, hn.Table([hn.Choice("a", listed), hn.Bins("b", [0])]))
    assert ask(pl.DataFrame({"a": ["01", "1", "1"]}), hn.Items("a", ["01", "1"])) == [1, 2]
