"""Every kind of table that a release takes, made from one PyArrow table."""

import csv
import datetime as dt
import functools
import gzip
import json
import math
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support import binary_sheets, one_database, stored
from support.cluster import free_port, needed
from support.postgres_tables import postgresql
from support.soak import SOAKS

Make = Callable[[pa.Table, Path], Any]


def text(cell: Any) -> str | None:
    """Return a cell as a text file holds it."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, dt.datetime):
        return cell.isoformat(" ")
    return cell.isoformat() if isinstance(cell, dt.date) else repr(cell)


def as_text(table: pa.Table) -> list[dict[str, str | None]]:
    """Return the rows of a table as a text file holds them."""
    return [{name: text(cell) for name, cell in row.items()} for row in table.to_pylist()]


def delimited(ending: str, mark: str) -> Make:
    """Return a writer of text files."""

    def make(table: pa.Table, folder: Path) -> Path:
        path = folder / f"{uuid.uuid4()}{ending}"
        opened = gzip.open if ending.endswith(".gz") else open
        with opened(path, "wt", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=mark)
            writer.writerow(table.column_names)
            writer.writerows(row.values() for row in as_text(table))
        return path

    return make


def json_lines(table: pa.Table, folder: Path) -> Path:
    """Write JSON lines; what JSON has no word for is text."""
    path = folder / f"{uuid.uuid4()}.jsonl"

    def plain(cell: Any) -> Any:
        endless = isinstance(cell, float) and not math.isfinite(cell)
        return text(cell) if endless or isinstance(cell, dt.date) else cell

    with path.open("w", encoding="utf-8") as file:
        for row in table.to_pylist():
            file.write(json.dumps({k: plain(v) for k, v in row.items() if v is not None}) + "\n")
    return path


def parquet(table: pa.Table, folder: Path) -> Path:
    """Write Parquet."""
    path = folder / f"{uuid.uuid4()}.parquet"
    pq.write_table(table, path)
    return path


def in_folders(write: Callable[[pa.Table, Path], Path]) -> Make:
    """Return a writer of a folder with a file for each wave, which its own folder says, if any."""

    def make(table: pa.Table, folder: Path) -> Path:
        whole = folder / str(uuid.uuid4())
        places = {"": [*range(len(table))]}
        if "wave" in table.column_names and len(table):
            places = stored.partitions("wave", table["wave"].to_pylist())
            rest = table.drop_columns(["wave"])
        else:
            rest = table
        for name, rows in places.items():
            (whole / name).mkdir(parents=True)
            write(rest.take(rows), whole / name)
        return whole

    return make


def split_parquet(table: pa.Table, folder: Path) -> str:
    """Write three files and return a glob."""
    name = uuid.uuid4()
    third = len(table) // 3
    for i, part in enumerate((table[:third], table[third : 2 * third], table[2 * third :])):
        pq.write_table(part, folder / f"{name}-{i}.parquet")
    return str(folder / f"{name}-*.parquet")


def objects(table: pa.Table, _: Path) -> pd.DataFrame:
    """Return pandas with every column of mixed objects."""
    return pd.DataFrame(
        {name: pd.Series(table[name].to_pylist(), dtype=object) for name in table.column_names}
    )


def relation(table: pa.Table, _: Path) -> duckdb.DuckDBPyRelation:
    """Return a relation of a connection that stays open as long as it is used."""
    return (duckdb.connect() if SOAKS else one_database.connect()).from_arrow(table)


JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms1g -Xmn500m"


# The same session lets clients of Spark Connect in.
CONNECT = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": str(free_port()),
}


@functools.cache
def spark_session() -> Any:
    """Return the one local session of the run."""
    spark = needed()
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = SparkSession.builder.master("local[1]").appName("halfnoise")
        for key, value in {
            # A short run of small tables: the second compiler and a second collector cost more
            # than they save (62 seconds of the first workloads become 34); so does a small heap.
            "spark.driver.extraJavaOptions": JAVA,
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.adaptive.enabled": "false",
            # Each expression would tell Java from where it is called: several calls for one.
            "spark.python.sql.dataFrameDebugging.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            **(CONNECT if [*spark.glob("jars/spark-connect_*")] else {}),  # since version 4
        }.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@functools.cache
def connect_session() -> Any:
    """Return a client of Spark Connect, of the same server."""
    port = spark_session().conf.get("spark.connect.grpc.binding.port", None)
    if port is None:
        pytest.skip("this version of Spark has no server of Spark Connect")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it doubts pandas 3.0, which nothing here touches
        from pyspark.sql.connect.session import SparkSession

        return SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()


def spark_connect(table: pa.Table, folder: Path) -> Any:
    """Return a frame of Spark Connect."""
    return connect_session().read.parquet(str(parquet(table, folder)))


def spark(table: pa.Table, folder: Path) -> Any:
    """Return a Spark frame."""
    return spark_session().read.parquet(str(parquet(table, folder)))


TYPED: dict[str, Make] = {
    "arrow": lambda table, _: table,
    "duckdb": relation,
    "duckdb-file": stored.duckdb_file,
    "ibis": lambda table, _: ibis.memtable(table),
    "pandas": lambda table, _: table.to_pandas(),
    "pandas-arrow": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas-objects": objects,
    "parquet": parquet,
    "parquet-folder": in_folders(parquet),
    "parquet-split": split_parquet,
    "polars": lambda table, _: pl.from_arrow(table),
    "polars-lazy": lambda table, _: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
    "postgresql": postgresql,
    "spark": spark,
}

TEXT: dict[str, Make] = {
    "csv": delimited(".csv", ","),
    "csv-folder": in_folders(delimited(".csv", ",")),
    "csv-gz": delimited(".csv.gz", ","),
    "jsonl": json_lines,
    "ods": lambda table, folder: stored.ods(table.to_pydict(), folder),
    "sqlite": lambda table, folder: stored.sqlite(table.to_pydict(), folder),
    "tsv": delimited(".tsv", "\t"),
    "xls": lambda table, folder: stored.xls(table.to_pydict(), folder),
    "xlsb": lambda table, folder: binary_sheets.xlsb(table.to_pydict(), folder),
    "xlsx": lambda table, folder: stored.xlsx(table.to_pydict(), folder),
}

ENGINES = TYPED | TEXT
# These hand over the same cells, of the same types, to the same engine as another does (the tests
# of the contract hold them to that), so that from there on what holds for one holds for the other.
LIKE = {
    "csv-folder": "csv",
    "csv-gz": "csv",
    "duckdb": "parquet",
    "duckdb-file": "parquet",
    "ibis": "parquet",
    "pandas-arrow": "arrow",
    "parquet-folder": "parquet",
    "parquet-split": "parquet",
    "polars-lazy": "polars",
    "postgresql": "parquet",
    "tsv": "csv",
}
# Their cells become text when they are read, and from there on all is as in a file of text.
KEPT = ("ods", "sqlite", "xls", "xlsb", "xlsx")
READERS = tuple(n for n in ENGINES if n not in KEPT and (n not in LIKE or SOAKS))
