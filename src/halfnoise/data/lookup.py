"""A list of ours as a table of the same engine: a million names are joined, not spelled out."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

PLACE = "hn_place"
"""The column that says where in the list a row stands."""


def lookup(frame: nw.LazyFrame[Any], columns: Mapping[str, Sequence[Any]]) -> nw.LazyFrame[Any]:
    """Return columns of text, whole numbers or fractions, none missing, and each row's place."""
    found: nw.LazyFrame[Any] = nw.from_native(_native(frame, columns)).lazy()
    return found


def _native(frame: nw.LazyFrame[Any], columns: Mapping[str, Sequence[Any]]) -> Any:  # noqa: ANN401
    native: Any = frame.to_native()
    kind = frame.implementation
    length = len(next(iter(columns.values())))
    if kind.is_duckdb():
        dtypes = {str: object, int: np.int64, float: np.float64}
        halfnoise_listed = {  # noqa: F841  # DuckDB finds it by its name in this function
            **{name: np.array(c, dtype=dtypes[type(c[0])]) for name, c in columns.items()},
            PLACE: np.arange(length, dtype=np.int32),
        }
        return native.query("halfnoise_rows", "select * from halfnoise_listed")
    if kind.is_spark_like():
        kinds = {str: "string", int: "bigint", float: "double"}
        names = [f"{name} {kinds[type(column[0])]}" for name, column in columns.items()]
        rows = list(zip(*columns.values(), range(length), strict=True))
        return native.sparkSession.createDataFrame(rows, ", ".join([*names, f"{PLACE} int"]))
    table = {name: list(column) for name, column in columns.items()} | {PLACE: list(range(length))}
    if kind.is_ibis():
        import ibis

        return ibis.memtable(table)
    return nw.from_dict(table, backend=kind).to_native()
