"""Cells that cannot be read are missing: never an error, and never another row's business."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfnoise as hn
from support import engines
from support.ids import INVALID, bad_text
from support.loss import Scale, entering, exact_totals

q: Any = hn  # queries also take lists and expressions, which their annotations do not say

TEXT = Scale(
    [
        q.Count("t", equals="a"),
        q.Choice("t", ["a", "\ufffd"], name="c"),
        q.Sum("t", bounds=(0, 1), name="s"),
        q.Count("t", at_least="2026-01-01", name="day"),
        q.Items("t", ["a", "b", "\ufffd"], at_most=1, name="i"),
    ],
    by="t",
    groups=["a", "\ufffd", None],
)
SHORT = Scale([q.Choice("t", ["a", "\ufffd"])], by="t", groups=["a", "\ufffd", None])
TABLE = Scale([q.Table([q.Choice("t", ["a", "\ufffd"]), q.Choice("id", [0, 5])])])
GOOD = [b"a", b"b", b"\xef\xbf\xbd", b"a", None]


def ids(cells: list[Any]) -> list[int]:
    """Return whom rows are about: the first five about one each, the others about one person."""
    return [min(i, 5) for i in range(len(cells))]


def backed(cells: list[bytes | None]) -> pd.DataFrame:
    """Return pandas with its own text over Arrow memory."""
    stored = pa.chunked_array([bad_text(cells, pa.large_string())])
    text = pd.array(stored, dtype=pd.StringDtype("pyarrow", na_value=np.nan))
    return pd.DataFrame({"id": ids(cells), "t": text})


def on_arrow(cells: list[bytes | None]) -> pa.Table:
    """Return Arrow memory of several chunks."""
    chunks = [bad_text(cells[:2]), bad_text(cells[2:])]
    return pa.table({"id": ids(cells), "t": pa.chunked_array(chunks)})


def of_arrow_dtype(cells: list[bytes | None]) -> pd.DataFrame:
    """Return pandas with columns of Arrow."""
    text = pd.Series(pd.arrays.ArrowExtensionArray(on_arrow(cells)["t"]))
    return pd.DataFrame({"id": pd.Series(ids(cells), dtype="int64[pyarrow]"), "t": text})


def in_categories(cells: list[bytes | None]) -> pa.Table:
    """Return Arrow memory in which a list of all texts is shared by all rows."""
    listed = sorted({cell for cell in cells if cell is not None})
    at = [None if cell is None else listed.index(cell) for cell in cells]
    column = pa.DictionaryArray.from_arrays(pa.array(at, pa.int8()), bad_text(listed), safe=False)
    return pa.table({"id": ids(cells), "t": column})


def as_objects(cells: list[bytes | None]) -> pd.DataFrame:
    """Return pandas objects: bytes, and what Python makes of them where it may not fail."""
    kept = [None if c is None else c.decode(errors="surrogateescape") for c in cells]
    return pd.DataFrame({"id": ids(cells), "t": pd.Series(kept, dtype=object)})


def as_bytes(cells: list[bytes | None]) -> pd.DataFrame:
    """Return pandas objects that are bytes."""
    return pd.DataFrame({"id": ids(cells), "t": pd.Series(cells, dtype=object)})


def on_spark(cells: list[bytes | None]) -> Any:
    """Return a frame of Spark."""
    stored = ["null" if cell is None else f"unhex('{cell.hex()}')" for cell in cells]
    rows = ", ".join(f"({i}, {cell})" for i, cell in zip(ids(cells), stored, strict=True))
    return engines.spark_session().sql(
        f"select id, cast(b as string) as t from values {rows} t(id, b)"
    )


WRITTEN: dict[str, Callable[[list[bytes | None]], Any]] = {
    "arrow": on_arrow,
    "arrow categories": in_categories,
    "pandas": backed,
    "pandas arrow": of_arrow_dtype,
    "pandas objects": as_objects,
    "pandas bytes": as_bytes,
    "spark": on_spark,
}


@pytest.mark.parametrize("engine", WRITTEN)
def test_bytes_that_are_no_text_are_missing(engine: str) -> None:
    """They count as a missing cell does, in queries, in a table, as a key and as an item."""
    make = WRITTEN[engine]
    for scale in (SHORT if engine == "spark" else TEXT, TABLE):
        missing, bad = (scale.totals(make([*GOOD, *more])) for more in ([None], INVALID))
        assert list(entering(bad, scale.grid)) == list(entering(missing, scale.grid))


@pytest.mark.parametrize("engine", [name for name in WRITTEN if name != "pandas bytes"])
def test_bytes_that_are_no_text_name_nobody(engine: str) -> None:
    """As a unit they are a missing id."""
    people = Scale([q.Count("id", at_least=0, name="n")])

    def number(data: Any) -> int:
        return int(exact_totals(data, people.grid, people.workload, ["t"]).everyone[0])

    make = WRITTEN[engine]
    assert number(make([*GOOD, *GOOD, *INVALID])) == number(make(GOOD)) == 3


FAR = [2**62, -(2**62), 2**63 - 1, -(2**63), 2**60]
DAYS = Scale(
    [q.Count("t", at_least="2026-11-15"), q.Count("t", below="0002-01-01", name="before")],
    by=q.By("t", every="month"),
    groups=["1970-01", None],
)


def moments(unit: str, zone: str | None = None) -> Callable[[list[int | None]], pa.Table]:
    """Return a maker of moments from what is stored of them."""

    def make(cells: list[int | None]) -> pa.Table:
        column = pa.array(cells, pa.int64()).view(pa.timestamp(unit, zone))
        return pa.table({"id": ids(cells), "t": column})

    return make


def relation(unit: str, zone: str | None = None) -> Callable[[list[int | None]], Any]:
    """Return a maker of relations over moments."""
    make = moments(unit, zone)
    return lambda cells: duckdb.connect().from_arrow(make(cells))


def over_ibis(cells: list[int | None]) -> Any:
    """Return a table of Ibis over moments in milliseconds."""
    backend = ibis.duckdb.connect()
    backend.con.register("far", moments("ms")(cells))
    schema = ibis.schema({"id": "int64", "t": "timestamp(3)"})
    return backend.sql("select * from far", schema=schema)


def on_pandas(unit: str) -> Callable[[list[int | None]], Any]:
    """Return a maker of pandas columns."""

    def make(cells: list[int | None]) -> pd.DataFrame:
        stored = np.array([-(2**63) if cell is None else cell for cell in cells])
        return pd.DataFrame({"id": ids(cells), "t": stored.view(f"M8[{unit}]")})

    return make


def on_polars(unit: Any) -> Callable[[list[int | None]], Any]:
    """Return a maker of Polars columns."""
    return lambda cells: pl.DataFrame(
        {"id": ids(cells), "t": pl.Series(cells, dtype=pl.Int64).cast(pl.Datetime(unit))}
    )


def on_days(cells: list[int | None]) -> pa.Table:
    """Return days in milliseconds."""
    column = pa.array(cells, pa.int64()).view(pa.date64())
    return pa.table({"id": ids(cells), "t": column})


MOMENTS: dict[str, Callable[[list[int | None]], Any]] = {
    **{f"arrow {unit}": moments(unit) for unit in ("s", "ms", "us", "ns")},
    **{f"arrow {unit} in a zone": moments(unit, "Asia/Tokyo") for unit in ("s", "ms", "us", "ns")},
    "arrow days": on_days,
    **{f"duckdb {unit}": relation(unit) for unit in ("s", "ms", "us", "ns")},
    "duckdb us in a zone": relation("us", "UTC"),
    "ibis ms": over_ibis,
    **{f"pandas {unit}": on_pandas(unit) for unit in ("s", "ms", "us", "ns")},
    **{f"polars {unit}": on_polars(unit) for unit in ("ms", "us", "ns")},
}


@pytest.mark.parametrize("engine", MOMENTS)
def test_moments_far_out_fail_nothing(engine: str) -> None:
    """Nobody else's row changes, and a person with such a moment costs what one person does."""
    make = MOMENTS[engine]
    people = Scale([q.Count("id", at_least=0, name="n"), q.Items("id", [0, 1], name="i")])
    assert DAYS.excess(make([0, 1, None, 1, 0]), make([0, 1, None, 1, 0, *FAR])) <= 1
    own = exact_totals(make([0, 0, 86400, *FAR]), people.grid, people.workload, ["t"])
    # The lowest number of all is what pandas calls no time.
    assert int(own.everyone[0]) == 2 + len(FAR) - engine.startswith("pandas")


def test_lazy_frames_of_files_are_refused(tmp_path: Path) -> None:
    """One row that is no text would fail them; what is in memory is read, and so is a path."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": [1], "t": ["a"]}), path)
    (tmp_path / "t.csv").write_text("id,t\n1,a\n")
    scans = [
        pl.scan_parquet(path),
        pl.scan_parquet(path).filter(pl.col("id") > 0),
        pl.concat([pl.DataFrame({"id": [1], "t": ["a"]}).lazy(), pl.scan_parquet(path)]),
        pl.scan_csv(tmp_path / "t.csv"),
    ]
    for scan in scans:
        with pytest.raises(hn.InvalidParameterError, match="give the path of the files"):
            TEXT.totals(scan)
    named = pl.DataFrame({"id": [1], "t": ["a"], "Parquet SCAN [x]": [1]}).lazy()
    assert TEXT.people(named) == 1
    assert TEXT.people(scans[0].collect()) == 1


def test_far_days_of_spark_fail_nothing() -> None:
    """The farthest moments that Spark can hold are compared as they are."""
    session = engines.spark_session()
    zone = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        rows = ", ".join(f"({i}, {x})" for i, x in enumerate([0, *FAR[:4]]))
        far = session.sql(f"select id, timestamp_micros(x) as t from values {rows} t(id, x)")
        assert DAYS.people(far) == 1 + 4
    finally:
        session.conf.set("spark.sql.session.timeZone", zone)
