"""Where rows come from: files through DuckDB, frames of every kind through narwhals."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from halfnoise.data.sources.files import open_files
from halfnoise.data.sources.frames import open_frame
from halfnoise.data.sources.source import Source, TextFormat

__all__ = ["Source", "TextFormat", "fetch", "fetch_whole", "open_source"]


@contextlib.contextmanager
def open_source(data: object, *, text: TextFormat) -> Iterator[Source]:
    """Open a path, a list or glob of paths, or a frame; nothing is read but header lines."""
    listed = data if isinstance(data, list | tuple) else [data]
    if listed and all(isinstance(path, str | os.PathLike) for path in listed):
        with open_files(data, text) as source:
            yield source
    else:
        with open_frame(data, text) as source:
            yield source


def fetch_whole(frame: nw.LazyFrame[Any]) -> list[NDArray[np.int64]]:
    """Run what a lazy frame of whole numbers says; return its columns, what is missing as zero."""
    native: Any = frame.to_native()
    if frame.implementation.is_duckdb():
        # Sums are wider than they need to be, and would come as fractions.
        small = ", ".join(f'coalesce("{name}", 0)::bigint as "{name}"' for name in native.columns)
        found = native.project(small).fetchnumpy()
        return [np.asarray(found[name], np.int64) for name in native.columns]
    rows = [[int(value or 0) for value in row] for row in fetch(frame)]
    return [*np.array(rows, dtype=np.int64).reshape(len(rows), len(frame.collect_schema())).T.copy()]


def fetch(frame: nw.LazyFrame[Any]) -> list[tuple[Any, ...]]:
    """Run what a lazy frame says and return its rows."""
    native = frame.to_native()
    if frame.implementation.is_duckdb():
        return list(native.fetchall())
    if frame.implementation.is_spark_like():
        return [tuple(row) for row in native.collect()]
    return list(frame.collect().rows())
