import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfnoise.data.sources.parquet import _copy, _odd

COLUMNS: dict[str, Any] = {
    "n": pa.array([1, 2, None]),
    "s": pa.array(["a", "ä😀", None]),
    "nested": pa.array([[{"s": "x", "t": [1]}], [], None]),
    "ms": pa.array([0, 10**12, None], pa.int64()).view(pa.timestamp("ms")),
    "b": pa.array([True, False, None]),
    "us": pa.array([0, 10**12, None], pa.int64()).view(pa.timestamp("us", "UTC")),
    "d": pa.array(["x", "y", "x"]).dictionary_encode(),
    **{f"c{i}": pa.array([i, i, i]) for i in range(20)},
    "last": pa.array(["x", "y", "z"], pa.large_string()),
}
ARROW: dict[str, dict[str, Any]] = {
    "1.0": {"version": "1.0"},
    "2.6": {"version": "2.6", "data_page_version": "2.0", "compression": "zstd"},
    "many groups": {"row_group_size": 1, "write_statistics": False, "store_schema": False},
}


def write(writer: str, table: pa.Table, path: Path) -> None:
    """Write a table with one of several writers."""
    if writer == "polars":
        pl.DataFrame(pl.from_arrow(table)).write_parquet(path)
    elif writer == "duckdb":
        duckdb.connect().from_arrow(table).write_parquet(str(path))
    else:
        pq.write_table(table, path, **ARROW[writer])


@pytest.mark.parametrize("writer", [*ARROW, "polars", "duckdb"])
def test_columns_become_bare(writer: str, tmp_path: Path) -> None:
    """Text becomes bytes and milliseconds become numbers, with nothing else changed."""
    path, copy = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write(writer, pa.table(COLUMNS), path)
    connection = duckdb.connect()
    odd = _odd(connection, path)
    assert {[*COLUMNS][i] for i in odd.values()} == {"s", "d", "last", "ms"}
    _copy(path, copy, odd)
    before, after = pq.ParquetFile(path), pq.ParquetFile(copy)
    assert after.metadata.num_rows == 3
    rows = connection.read_parquet(str(copy)).project("* exclude us")
    kinds = dict(zip(rows.columns, map(str, rows.types), strict=True))
    assert [kinds[name] for name in ("s", "d", "last")] == ["BLOB"] * 3
    assert kinds["ms"] == "BIGINT"
    bare = [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]
    for one, other in zip(before.read().to_pylist(), bare, strict=True):
        for name, cell in one.items():
            if name in ("s", "d", "last") and cell is not None:
                assert other[name] == cell.encode()
            elif name == "ms" and cell is not None:
                assert other[name] == round(cell.replace(tzinfo=dt.UTC).timestamp() * 1000)
            elif name != "us":
                assert other[name] == cell
