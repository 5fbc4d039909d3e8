"""A tiny table of people who do not exist, as each engine has it: what a self-test reads."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROWS: list[dict[str, Any]] = [
    {"person": "ann", "smoker": "yes", "visits": 3, "region": "north"},
    {"person": "ann", "smoker": "no", "visits": 4, "region": "north"},
    {"person": "ben", "smoker": "no", "visits": 99, "region": "süd"},
    {"person": "cat", "smoker": None, "visits": None, "region": None},
    {"person": None, "smoker": "yes", "visits": 1, "region": "north"},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def _csv(folder: Path) -> Path:
    cells = [[("" if cell is None else str(cell)) for cell in row.values()] for row in ROWS]
    path = folder / "made-up.csv"
    path.write_text("\n".join(map(",".join, [list(COLUMNS), *cells])) + "\n", encoding="utf-8")
    return path


def _json_lines(folder: Path) -> Path:
    path = folder / "made-up.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def _parquet(folder: Path) -> Path:
    path = folder / "made-up.parquet"
    _duckdb(folder).write_parquet(str(path))
    return path


def _duckdb(folder: Path) -> Any:
    import duckdb

    _csv(folder)
    types = dict.fromkeys(COLUMNS, "VARCHAR") | {"visits": "BIGINT"}
    return duckdb.connect().read_csv(str(folder / "made-up.csv"), header=True, dtype=types)


def _pandas(_: Path) -> Any:
    import pandas as pd

    return pd.DataFrame(COLUMNS)


def _polars(_: Path) -> Any:
    import polars as pl

    return pl.DataFrame(COLUMNS)


def _pyarrow(_: Path) -> Any:
    import pyarrow as pa

    return pa.table(COLUMNS)


def _ibis(folder: Path) -> Any:
    import ibis

    return ibis.duckdb.connect().read_parquet(str(_parquet(folder)))


def _pyspark(_: Path) -> Any:
    from pyspark.sql import SparkSession

    local = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    # Spelled out: rows from Python would need Python, and this version of it, on Spark's workers.
    cells = [["null" if cell is None else repr(cell) for cell in row.values()] for row in ROWS]
    values, names = ", ".join(f"({', '.join(row)})" for row in cells), ", ".join(COLUMNS)
    with _unheard():
        session = local.getOrCreate()
    return session.sql(f"select * from values {values} as made_up({names})")  # noqa: S608  # ours


@contextlib.contextmanager
def _unheard() -> Iterator[None]:
    """Let programs that are started meanwhile say nothing on standard error, for good."""
    before, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


# Each kind of table: the package that reads it, and how it is made.
KINDS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "CSV files": ("duckdb", _csv),
    "JSON lines": ("duckdb", _json_lines),
    "Parquet files": ("duckdb", _parquet),
    "DuckDB": ("duckdb", _duckdb),
    "Ibis": ("ibis", _ibis),
    "pandas": ("pandas", _pandas),
    "Polars": ("polars", _polars),
    "PyArrow": ("pyarrow", _pyarrow),
    "Spark": ("pyspark", _pyspark),
}
