"""Tables of any kind: the same rows as columns of every type, in every engine.

A column is of a kind: a type, the people whom its cells can name, each in one or more ways, and
cells that name nobody. Rows are handed to a maker column by column.
"""

import datetime as dt
import decimal
import json
import random
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from support import binary_sheets, engines, postgres_tables, stored
from support.ids import BYTES, INVALID, LETTERS, LONG, MIXED, UUIDS, People, alone, bad_text

D = decimal.Decimal


@dataclass(frozen=True)
class Kind:
    """A kind of column: its Arrow type, or None for any objects; people, and cells of nobody."""

    type: Any
    people: People
    nobody: tuple[Any, ...] = (None,)

    @property
    def cells(self) -> list[Any]:
        """All cells that it may hold."""
        return [cell for ways in self.people for cell in ways] + [*self.nobody]


Columns = Mapping[str, tuple[Kind, Sequence[Any]]]
Make = Callable[[Columns, Path], Any]

DAY = 20_772  # 2026-11-15
SECONDS = [DAY * 86400 + s for s in (-1, 0, 1, 43_200)]
FAR = (0, 1, -1, 2**58, -(2**58), 2**62, 2**63 - 1, -(2**63) + 1)


def moments(unit: str, zone: str | None = None) -> Kind:
    """Return moments, near and far out."""
    each = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    near = [second * each for second in SECONDS]
    return Kind(pa.timestamp(unit, zone), alone(*dict.fromkeys([*near, *FAR])))


WHOLE = alone(0, 1, -1, 2, 3, 7, 10, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63))
FRACTIONS: People = [[0.0, -0.0], [1.0], [0.5], [3.25], [1e308], [-1e-308], [2.0**53], [19.99]]
INFINITE = (None, float("nan"))
TEXT = [*LETTERS, *alone("1", "1.0", "yes", "3.25", "-7", "2026-11-15", "NULL", "x" * 300)]
SHORT = alone(D("1.01"), D("1.02"), D("-0.5"), D(0), D(10**20), D(7))
PLAIN: People = [[1, 1.0, "1"], [0, -0.0, "0"], ["1.0"], [2.5, "2.5"], [2**53 + 1], [2**53]]
PLAIN += [
    *LETTERS,
    *alone(1e22, -1e-308, 1e308, -7, "2026-11-15", "#N/A", "a\nb", "=1+1"),
    ["true"],
]
DAYS = alone(*(dt.date(2026, 11, 14) + dt.timedelta(i) for i in range(4)), dt.date(1, 1, 1))

KINDS: dict[str, Kind] = {
    "whole": Kind(pa.int64(), WHOLE),
    "small": Kind(pa.uint8(), alone(*range(0, 256, 20))),
    "large": Kind(pa.uint64(), alone(0, 1, 2**63, 2**64 - 1, 2**53 + 1, 2**53)),
    "fractions": Kind(pa.float64(), [*FRACTIONS, [float("inf")], [-float("inf")]], INFINITE),
    "short fractions": Kind(pa.float32(), [[0.0, -0.0], *alone(1.0, 0.5, 3.25, 20.0)], INFINITE),
    "decimals": Kind(pa.decimal128(38, 2), SHORT),
    "long decimals": Kind(pa.decimal256(60, 1), [*LONG, *alone(D("0.5"), D(7), D(-3))]),
    "text": Kind(pa.string(), TEXT, (None, "", "  ")),
    "large text": Kind(pa.large_string(), TEXT, (None, "")),
    "categories": Kind(pa.dictionary(pa.int8(), pa.string()), LETTERS),
    "bytes": Kind(pa.binary(), BYTES),
    "bad text": Kind(
        pa.string(), alone(*(cell.encode() for (cell,) in TEXT)), (None, b"", *INVALID)
    ),
    "uuids": Kind(pa.uuid(), alone(*(each.bytes for (each,) in UUIDS), bytes(16))),
    "yes and no": Kind(pa.bool_(), alone(True, False)),
    "days": Kind(pa.date32(), DAYS),
    "seconds": moments("s"),
    "seconds in Tokyo": moments("s", "Asia/Tokyo"),
    "milliseconds": moments("ms"),
    # Beyond the range of microseconds a file's moment is missing: it names nobody, but that two
    # are without end.
    "milliseconds in a file": Kind(
        pa.timestamp("ms"),
        alone(*FAR[:3], *(s * 1000 for s in SECONDS), *FAR[-2:]),
        (None, *FAR[3:-2]),
    ),
    "microseconds": moments("us", "UTC"),
    "nanoseconds": moments("ns"),
    "numbers and a text": Kind(None, [[1, 1.0], [2, 2.0], [2.5], [D(3), 3], ["x"], [b"y"]]),
    "objects": Kind(None, MIXED, (None, float("nan"), pd.NA, pd.NaT, object(), "", ())),
    # Of sheets and SQLite, where the text of a cell says who it is.
    "plain cells": Kind(None, PLAIN, (None, "", "  ", b"1", b"\xff", float("nan"))),
}
NUMBERS = [name for name in KINDS if "fraction" in name or "decimal" in name]
NUMBERS += ["whole", "small", "large"]
TEXTS = ["text", "large text", "categories"]
MOMENTS = ["days", "seconds", "seconds in Tokyo", "milliseconds", "milliseconds in a file"]
MOMENTS += ["microseconds", "nanoseconds"]


def column(kind: Kind, cells: Sequence[Any]) -> Any:
    """Return cells as an Arrow column."""
    if kind is KINDS["bad text"]:
        return bad_text(cells)
    return pa.array(list(cells), kind.type)


def arrow(columns: Columns, _: Path) -> pa.Table:
    """Return Arrow memory."""
    return pa.table({name: column(kind, cells) for name, (kind, cells) in columns.items()})


def parquet(columns: Columns, folder: Path) -> Path:
    """Return a Parquet file."""
    path = folder / "table.parquet"
    pq.write_table(arrow(columns, folder), path)
    return path


def objects(columns: Columns, _: Path) -> pd.DataFrame:
    """Return pandas with columns of objects."""
    made = {n: pd.Series(list(cells), dtype=object) for n, (_, cells) in columns.items()}
    return pd.DataFrame(made)


def inferred(columns: Columns, _: Path) -> pd.DataFrame:
    """Return pandas with columns of the types that pandas finds for the cells that are there."""
    return pd.DataFrame({n: pd.Series(list(cells)) for n, (_, cells) in columns.items()})


def in_pandas(columns: Columns, _: Path) -> pd.DataFrame:
    """Return pandas with columns of Arrow."""
    table = arrow(columns, _)
    return pd.DataFrame(
        {name: pd.Series(pd.arrays.ArrowExtensionArray(table[name])) for name in table.column_names}
    )


def plain_pandas(columns: Columns, _: Path) -> pd.DataFrame:
    """Return pandas with columns of the types that it makes of Arrow's."""
    frame: pd.DataFrame = arrow(columns, _).to_pandas()
    return frame


def relation(*settings: str, collation: str = "") -> Make:
    """Return a maker of DuckDB relations, of a connection with settings and a collation."""

    def make(columns: Columns, folder: Path) -> Any:
        connection = duckdb.connect()
        for setting in settings:
            connection.execute(setting)
        return connection.from_arrow(arrow(columns, folder)).query("t", in_sql(columns, collation))

    return make


def in_sql(columns: Columns, collation: str) -> str:
    """Return a query for rows with a collation on text; some of them come and go, if marked."""
    shown = [
        f'"{name}" collate {collation} as "{name}"'
        if collation and kind.type in (pa.string(), pa.large_string())
        else f'"{name}"'
        for name, (kind, _) in columns.items()
    ]
    restless = " where not restless or random() < 0.5" if "restless" in columns else ""
    return f"select {', '.join(shown)} from t{restless}"


def in_ibis(columns: Columns, folder: Path, collation: str = "nocase") -> Any:
    """Return a table of Ibis over DuckDB."""
    connection = ibis.duckdb.connect()
    table = arrow(columns, folder)
    connection.con.from_arrow(table).create("t")
    schema = ibis.Schema.from_pyarrow(table.schema)
    return connection.sql(in_sql(columns, collation), schema=schema)


def lazy(columns: Columns, folder: Path) -> pl.LazyFrame:
    """Return a lazy frame of Polars in which some rows come and go, if marked."""
    frame = in_polars(columns, folder)

    def some(rows: pl.DataFrame) -> pl.DataFrame:
        if "restless" not in columns:
            return rows
        kept = [not each or random.random() < 0.5 for each in rows["restless"]]
        return rows.filter(pl.Series(kept, dtype=pl.Boolean))

    return frame.lazy().map_batches(some)


def in_polars(columns: Columns, folder: Path) -> pl.DataFrame:
    """Return a frame of Polars."""
    found = pl.from_arrow(arrow(columns, folder))
    assert isinstance(found, pl.DataFrame)
    return found


def in_spark(columns: Columns, folder: Path, collation: str = "UTF8_LCASE") -> Any:
    """Return a frame of Spark with a collation on text; some rows come and go, if marked."""
    session = engines.spark_session()
    session.read.parquet(str(parquet(columns, folder))).createOrReplaceTempView("any_table")
    shown = [
        f"`{name}` collate {collation} as `{name}`" if kind.type == pa.string() else f"`{name}`"
        for name, (kind, _) in columns.items()
    ]
    drawn = "pmod(hash(reflect('java.util.UUID', 'randomUUID')), 2) = 0"
    restless = f" where not restless or {drawn}" if "restless" in columns else ""
    return session.sql(f"select {', '.join(shown)} from any_table{restless}")


def in_postgresql(columns: Columns, folder: Path) -> Any:
    """Return a table of Ibis over PostgreSQL with a loose collation; some rows come and go."""
    name = postgres_tables.stored(arrow(columns, folder), postgres_tables.LOOSE)
    table = postgres_tables.connection().table(name)
    if "restless" not in columns:
        return table
    return table.filter(~table.restless | (ibis.random() < 0.5))


def lines(columns: Columns) -> list[dict[str, str]]:
    """Return rows of text, which cannot hold what ends a cell or a line."""
    cells = {
        name: ["" if cell is None else str(cell) for cell in found]
        for name, (_, found) in columns.items()
    }
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def csv(encoding: str = "utf-8", quote: str = '"') -> Make:
    """Return a maker of CSV files; what the encoding cannot hold becomes a question mark."""

    def make(columns: Columns, folder: Path) -> Path:
        path = folder / "table.csv"
        rows = [
            ",".join(f"{quote}{cell}{quote}" if " " in cell else cell for cell in row.values())
            for row in lines(columns)
        ]
        text = "\n".join([",".join(columns), *rows]) + "\n"
        path.write_bytes(text.encode(encoding, "replace"))
        return path

    return make


def json_lines(columns: Columns, folder: Path) -> Path:
    """Return a file of JSON lines."""
    path = folder / "table.jsonl"
    rows = (json.dumps(row, ensure_ascii=False) for row in lines(columns))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def in_folders(write: Make) -> Make:
    """Return a maker of folders that say the column c, where it is text, beside a file in each."""

    def make(columns: Columns, folder: Path) -> Path:
        whole = folder / str(uuid.uuid4())
        kind, cells = columns["c"]
        is_text = kind in (KINDS["text"], KINDS["large text"])
        places = stored.partitions("c", cells) if is_text else {"": [*range(len(cells))]}
        for name, rows in (places or {"c=": []}).items():
            (whole / name).mkdir(parents=True)
            some = {n: (k, [each[i] for i in rows]) for n, (k, each) in columns.items()}
            write({n: one for n, one in some.items() if n != "c" or not is_text}, whole / name)
        return whole

    return make


def in_rows(columns: Columns) -> dict[str, list[Any]]:
    """Return columns of cells, in whatever kind."""
    return {name: [*cells] for name, (_, cells) in columns.items()}


IN_FILES = ["text", *(n for n, kind in KINDS.items() if kind.type is not None and n != "text")]
ARROW = [name for name in IN_FILES if "in a file" not in name]
VALID = [name for name in ARROW if name != "bad text"]
# Types that pandas and Polars do not hold themselves, or hold in other ranges.
IN_PANDAS = ["small", "fractions", "text", "yes and no", "seconds", "milliseconds", "nanoseconds"]
IN_POLARS = [n for n in VALID if n not in ("long decimals", "uuids", "seconds", "seconds in Tokyo")]
NOT_IN_PARQUET = ("long decimals", "seconds", "seconds in Tokyo", "milliseconds")
# What DuckDB reads of Arrow by itself, and what Spark reads of Parquet.
IN_DUCKDB = ["text", "whole", "small", "large", "fractions", "short fractions", "decimals"]
IN_DUCKDB += ["large text", "categories", "bytes", "yes and no", "days", "microseconds"]
IN_SPARK = ["text", "whole", "fractions", "decimals", "bytes", "yes and no", "bad text"]
# The loose collation is of text; so far out as Arrow's its moments do not go.
IN_POSTGRESQL = [name for name in IN_DUCKDB if name != "microseconds"] + ["long decimals", "uuids"]

TOKYO = "set TimeZone = 'Asia/Tokyo'"
TABLES: dict[str, tuple[Make, list[str]]] = {
    "arrow": (arrow, ARROW),
    "arrow stream": (lambda columns, _: arrow(columns, _).to_reader(), ARROW),
    "parquet": (parquet, [name for name in IN_FILES if name not in NOT_IN_PARQUET]),
    "parquet in folders": (in_folders(parquet), ["text", "whole", "days"]),
    "pandas": (plain_pandas, IN_PANDAS),
    "pandas of arrow": (in_pandas, [name for name in ARROW if name != "uuids"]),
    "pandas objects": (objects, ["objects"]),
    "pandas inferred": (inferred, ["numbers and a text", "fractions", "text", "yes and no"]),
    "polars": (in_polars, IN_POLARS),
    "polars lazy": (lazy, IN_POLARS),
    "duckdb": (relation(), IN_DUCKDB),
    "duckdb nocase": (relation(collation="nocase"), IN_DUCKDB),
    "duckdb in Tokyo": (relation(TOKYO, "set default_collation = 'noaccent'"), IN_DUCKDB),
    "ibis": (in_ibis, IN_DUCKDB),
    "csv": (csv(), ["text"]),
    "csv in folders": (in_folders(csv()), ["text"]),
    "csv in utf-16": (csv("utf-16"), ["text"]),
    "csv in latin-1": (csv("latin-1"), ["text"]),
    "json lines": (json_lines, ["text"]),
    "xlsx": (lambda columns, folder: stored.xlsx(in_rows(columns), folder), ["plain cells"]),
    "xls": (lambda columns, folder: stored.xls(in_rows(columns), folder), ["plain cells"]),
    "xlsb": (lambda columns, folder: binary_sheets.xlsb(in_rows(columns), folder), ["plain cells"]),
    "ods": (lambda columns, folder: stored.ods(in_rows(columns), folder), ["plain cells"]),
    "sqlite": (lambda columns, folder: stored.sqlite(in_rows(columns), folder), ["plain cells"]),
    "duckdb file": (
        lambda columns, folder: stored.duckdb_file(arrow(columns, folder), folder),
        IN_DUCKDB,
    ),
    "postgresql": (in_postgresql, IN_POSTGRESQL),
    "spark": (in_spark, IN_SPARK),
}
IN_TEXT = ["csv", "csv in folders", "csv in utf-16", "csv in latin-1", "json lines"]
IN_TEXT += ["xlsx", "xls", "xlsb", "ods", "sqlite"]
RESTLESS = (
    *("duckdb", "duckdb nocase", "duckdb in Tokyo", "ibis", "polars lazy"),
    *("postgresql", "spark"),
)
ENCODINGS = {"csv in utf-16": "utf-16", "csv in latin-1": "latin-1"}
