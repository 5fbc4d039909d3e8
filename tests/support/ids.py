"""People and all the ways to write who they are, as columns of every engine.

``PEOPLE`` maps a kind of column to a maker and to people, each a list of cells that mean the same
person: no two people may be merged, and nobody may be split.
"""

import datetime as dt
import decimal
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from support import engines, one_database

Make = Callable[[Sequence[Any]], Any]
People = list[list[Any]]
D = decimal.Decimal
NOON = dt.datetime(2026, 11, 15, 12)
INVALID = [b"\xff", b"\xfe", b"a\xffb", b"\xc3", b"\xed\xa0\x80"]
IN_IBIS = {"varchar": "string", "hugeint": "decimal(38, 0)", "blob": "binary", "uuid": "uuid"}
WRAPS = 2**58  # so many seconds are a multiple of 2^64 microseconds


def objects(cells: Sequence[Any]) -> pd.DataFrame:
    """Return pandas with a column of objects, as a file with one odd cell gives."""
    return pd.DataFrame({"id": pd.Series(list(cells), dtype=object), "a": True, "i": "x"})


def inferred(cells: Sequence[Any]) -> pd.DataFrame:
    """Return pandas with a column of the type that pandas finds."""
    return pd.DataFrame({"id": pd.Series(list(cells)), "a": True, "i": "x"})


def of_pandas(dtype: Any) -> Make:
    """Return a maker of pandas columns."""
    return lambda cells: pd.DataFrame(
        {"id": pd.Series(list(cells), dtype=dtype), "a": True, "i": "x"}
    )


def with_rest(column: Any) -> pa.Table:
    """Return an Arrow table with a column of ids."""
    size = len(column)
    return pa.table({"id": column, "a": [True] * size, "i": ["x"] * size})


def of_arrow(kind: Any) -> Make:
    """Return a maker of Arrow columns."""
    return lambda cells: with_rest(pa.array(list(cells), kind))


def of_polars(kind: Any) -> Make:
    """Return a maker of Polars columns."""
    return lambda cells: pl.DataFrame(
        {
            "id": pl.Series(list(cells), dtype=kind),
            "a": [True] * len(cells),
            "i": ["x"] * len(cells),
        }
    )


def rows_in_sql(cells: Sequence[Any], kind: str) -> str:
    """Return a query for rows whose ids are texts that are cast."""
    listed = ", ".join("(null)" if cell is None else f"('{cell}')" for cell in cells)
    plain, collate, collation = kind.partition(" collate ")
    cast = f"cast(c as {plain}){collate}{collation}"
    return f"select {cast} as id, true as a, 'x' as i from (values {listed}) t(c)"


def of_duckdb(kind: str) -> Make:
    """Return a maker of relations."""
    return lambda cells: one_database.connect().sql(rows_in_sql(cells, kind))


def of_ibis(kind: str) -> Make:
    """Return a maker of Ibis tables over DuckDB, whose types Ibis is told."""
    schema = {"id": IN_IBIS[kind.partition(" ")[0]], "a": "boolean", "i": "string"}

    def make(cells: Sequence[Any]) -> Any:
        return ibis.duckdb.connect().sql(rows_in_sql(cells, kind), schema=ibis.schema(schema))

    return make


def of_spark(kind: str) -> Make:
    """Return a maker of Spark frames; bytes are written in hex."""
    return lambda cells: engines.spark_session().sql(rows_in_sql(cells, kind))


def bad_text(cells: Sequence[bytes | None], kind: Any = None) -> pa.Array:
    """Return bytes as if they were text, which Arrow does not check."""
    kind = kind or pa.string()
    raw = pa.array(cells, pa.large_binary() if pa.types.is_large_string(kind) else pa.binary())
    return pa.Array.from_buffers(kind, len(raw), raw.buffers(), raw.null_count)


def alone(*cells: Any) -> People:
    """Return people whose ids are written in one way."""
    return [[cell] for cell in cells]


NUMBERS: People = [
    [1, 1.0, D("1.00"), np.int64(1), np.float32(1), D("1e0")],
    [0, -0.0, D("-0"), np.float64(0)],
    [1.5, D("1.50"), np.float16(1.5)],
    [2**70, D(2**70), float(2**70)],
    [2**53 + 1, D(2**53 + 1), np.int64(2**53 + 1)],
    [-7, -7.0],
    [1e308, D(1e308), int(1e308)],
]
MIXED: People = [
    *NUMBERS,
    [True, np.True_],
    ["1", "1"],
    ["1.0"],
    [b"1"],
    [b"\xff"],
    [b"\xfe"],
    ["\ufffd"],
    ["x"],
    [float("inf")],
    [dt.date(2026, 11, 15)],
    [NOON, pd.Timestamp(NOON), np.datetime64(NOON)],
    [NOON.replace(tzinfo=dt.UTC), pd.Timestamp(NOON, tz="UTC").tz_convert("Asia/Tokyo")],
    [uuid.UUID(int=1)],
    [uuid.UUID(int=2)],
]
BYTES = alone(*INVALID, b"a", b"A", b"a ", b"\xef\xbf\xbd")
LONG = alone(D("1" * 50 + ".1"), D("1" * 50 + ".2"), D(1))
FAR = alone(0, 1, WRAPS, -WRAPS, 2**62, -(2**62))
LETTERS = alone("a", "A", "a ", "á", "\uff41", "ss", "ß", "i", "İ")
HUGE = alone(2**100, 2**100 + 1, -1, 0)
UUIDS = alone(uuid.UUID(int=1), uuid.UUID(int=2), uuid.UUID(int=2**127))
MILLIS = alone("2026-11-15 12:00:00.001", "2026-11-15 12:00:00.002")
NANOS = alone("2026-11-15 12:00:00.000000001", "2026-11-15 12:00:00.000000002")
CATEGORIES = pl.Enum([cell for (cell,) in LETTERS])
HEX = alone("FF", "FE", "61FF62", "EFBFBD", "61", "41")

PEOPLE: dict[str, tuple[Make, People]] = {
    "pandas objects": (objects, MIXED),
    "pandas objects of numbers": (objects, NUMBERS),
    "pandas objects of bytes": (objects, BYTES),
    "pandas inferred": (inferred, [[1, 1.0], [2, 2.0], ["x"]]),
    "pandas inferred numbers": (inferred, [[1, 1.0], [2, 2.0]]),
    "pandas categories": (of_pandas("category"), [[1, 1], ["1"], [2.5], [b"1"]]),
    "pandas moments": (of_pandas("datetime64[s]"), FAR),
    "pandas arrow bytes": (of_pandas(pd.ArrowDtype(pa.binary())), BYTES),
    "pandas arrow decimals": (of_pandas(pd.ArrowDtype(pa.decimal256(60, 1))), LONG),
    "pandas text": (of_pandas("str"), LETTERS),
    "arrow decimals": (of_arrow(pa.decimal256(60, 1)), LONG),
    "arrow seconds": (of_arrow(pa.timestamp("s")), FAR),
    "arrow seconds in a zone": (of_arrow(pa.timestamp("s", "Asia/Tokyo")), FAR),
    "arrow milliseconds": (of_arrow(pa.timestamp("ms")), FAR),
    "arrow nanoseconds": (of_arrow(pa.timestamp("ns")), FAR),
    "arrow nanoseconds in a zone": (of_arrow(pa.timestamp("ns", "UTC")), FAR),
    "arrow days": (lambda c: with_rest(pa.array(c, pa.int64()).view(pa.date64())), FAR),
    "pandas short": (of_pandas("float16"), [[1.0], [1.5], [0.0, -0.0]]),
    "arrow short": (of_arrow(pa.float16()), [[1.0], [1.5], [0.0, -0.0]]),
    "arrow bytes": (of_arrow(pa.binary()), BYTES),
    "arrow categories": (of_arrow(pa.dictionary(pa.int8(), pa.string())), LETTERS),
    "arrow uuids": (lambda c: with_rest(pa.array([u.bytes for u in c], pa.uuid())), UUIDS),
    "polars decimals": (of_polars(pl.Decimal(38, 2)), alone(D("1.01"), D("1.02"), D(10**30))),
    "polars bytes": (of_polars(pl.Binary), BYTES),
    "polars categories": (of_polars(pl.Categorical), LETTERS),
    "polars listed": (of_polars(CATEGORIES), LETTERS),
    "polars large": (of_polars(pl.Int128), HUGE),
    "polars moments": (of_polars(pl.Datetime("ms")), FAR),
    "polars fractions": (of_polars(pl.Float64), [[1.0], [0.0, -0.0], [2.0**53]]),
    "duckdb large": (of_duckdb("hugeint"), HUGE),
    "duckdb larger": (of_duckdb("uhugeint"), alone(2**127, 2**127 + 1, 2**128 - 1, 0)),
    "duckdb decimals": (of_duckdb("decimal(38, 2)"), alone(D("1.01"), D("1.02"), D(10**30))),
    "duckdb bytes": (of_duckdb("blob"), alone("\\xFF", "\\xFE", "a", "A", "\\xEF\\xBF\\xBD")),
    "duckdb uuids": (of_duckdb("uuid"), UUIDS),
    "duckdb enum": (of_duckdb("enum('a', 'A', 'a ')"), LETTERS[:3]),
    "duckdb milliseconds": (of_duckdb("timestamp_ms"), MILLIS),
    "duckdb nanoseconds": (of_duckdb("timestamp_ns"), NANOS),
    "duckdb nocase": (of_duckdb("varchar collate nocase"), LETTERS),
    "duckdb noaccent": (of_duckdb("varchar collate noaccent.nocase"), LETTERS),
    "ibis nocase": (of_ibis("varchar collate nocase"), LETTERS),
    "ibis large": (of_ibis("hugeint"), HUGE),
    "ibis bytes": (of_ibis("blob"), alone("\\xFF", "\\xFE", "a", "A")),
    "ibis uuids": (of_ibis("uuid"), UUIDS),
}
"""Columns of every engine but Spark, which takes long to start."""

COLLATIONS = ("UTF8_LCASE", "UTF8_BINARY_RTRIM", "UNICODE_CI_AI")
SPARK: dict[str, tuple[Make, People]] = {
    **{f"spark {name}": (of_spark(f"string collate {name}"), LETTERS) for name in COLLATIONS},
    "spark decimals": (of_spark("decimal(38, 2)"), alone(D("1.01"), D("1.02"), D(10**30))),
    "spark bytes": (of_spark("binary"), LETTERS),
}
