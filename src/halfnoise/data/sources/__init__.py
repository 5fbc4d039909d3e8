"""Where rows come from: files through DuckDB, frames of every kind through narwhals.

What reads a kind of table is imported when such a table is opened; here, in ``files`` and in
``frames``.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from halfnoise.data.sources.files import open_files
from halfnoise.data.sources.frames import open_frame
from halfnoise.data.sources.room import Room
from halfnoise.data.sources.source import Source, TextFormat
from halfnoise.errors import InvalidParameterError
from halfnoise.servers import URL

__all__ = ["Room", "Source", "TextFormat", "comes_in_rows", "fetch", "fetch_columns", "open_source"]
_USUAL = Room()
_PLAIN = {"VARCHAR", "BIGINT"}  # what DuckDB hands over whole as it is


@contextlib.contextmanager
def open_source(
    data: object, *, text: TextFormat, spark: str | None = None, room: Room = _USUAL
) -> Iterator[Source]:
    """Open a path, paths, an address of PostgreSQL or a frame; nothing is read but header lines.

    ``spark``: the master by whose workers files are read. ``room``: what DuckDB may take here.
    """
    listed = data if isinstance(data, list | tuple) else [data]
    if spark is not None:
        from halfnoise.data.sources.spark_files import open_with_spark

        room.check_unused("Spark")
        with open_with_spark([*map(str, listed)], spark, text) as source:
            yield source
    elif any(isinstance(each, str) and URL.match(each) for each in listed):
        if len(listed) > 1:
            raise InvalidParameterError("of databases one is released at a time; name one of them")
        from halfnoise.data.sources.postgresql import open_postgresql

        with open_postgresql(str(listed[0]), text, room) as source:
            yield source
    elif listed and all(isinstance(path, str | os.PathLike) for path in listed):
        with open_files(data, text, room) as source:
            yield source
    else:
        with open_frame(data, text, room) as source:
            yield source


def fetch_columns(
    frame: nw.LazyFrame[Any], names: int, rows: list[tuple[Any, ...]] | None = None
) -> tuple[list[tuple[Any, ...]], list[NDArray[np.int64]]]:
    """Run what a lazy frame says; return what its first columns name, and the others by column.

    Those are whole numbers, and what is missing there is zero. ``rows``: where it was run already.
    """
    native: Any = frame.to_native()
    if frame.implementation.is_duckdb() and {*map(str, native.types[:names])} <= _PLAIN:
        # Sums are wider than they need to be, and would come as fractions.
        titles = [f'"{name}"' for name in native.columns]
        small = [f"coalesce({title}, 0)::bigint as {title}" for title in titles[names:]]
        found = native.project(", ".join([*titles[:names], *small])).fetchnumpy()
        columns = [found[name] for name in native.columns]
        named = [*zip(*(column.tolist() for column in columns[:names]), strict=True)]
        return named, [np.asarray(column, np.int64) for column in columns[names:]]
    if names or comes_in_rows(frame):
        rows, width = fetch(frame) if rows is None else rows, len(frame.collect_schema())
        whole = [[int(row[i] or 0) for row in rows] for i in range(names, width)]
        return [row[:names] for row in rows], [np.array(column, np.int64) for column in whole]
    table = frame.with_columns(nw.all().fill_null(0).cast(nw.Int64)).collect()
    return [], [table[name].to_numpy() for name in table.columns]


def comes_in_rows(frame: nw.LazyFrame[Any]) -> bool:
    """Whether an engine hands over rows one by one, so that few are better."""
    return bool(frame.implementation.is_spark_like())


def fetch(frame: nw.LazyFrame[Any]) -> list[tuple[Any, ...]]:
    """Run what a lazy frame says and return its rows."""
    native = frame.to_native()
    if frame.implementation.is_duckdb():
        return list(native.fetchall())
    if frame.implementation.is_spark_like():
        return [tuple(row) for row in native.collect()]
    return list(frame.collect().rows())
