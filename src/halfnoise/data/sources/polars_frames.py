"""Frames of Polars: those in memory as they are, lazy ones computed once if they are read twice."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.data.sources.source import Source, TextFormat
from halfnoise.errors import InvalidParameterError

_SCAN = re.compile(r"^\s*(?:\w+ )*SCAN\b", re.MULTILINE)


def polars_source(data: Any, text: TextFormat) -> Source:
    """Return a frame as a table; refuse one that reads files, where one row could fail."""
    import polars as pl

    if isinstance(data, pl.DataFrame):
        return _source(data, text)
    if _SCAN.search(data.explain(optimized=False)):
        why = "a LazyFrame that reads files fails where one row cannot be read"
        raise InvalidParameterError(f"{why}; give the path of the files, or frame.collect()")
    source = _source(data, text)

    def settle(columns: Collection[str], *, again: bool) -> nw.LazyFrame[Any]:
        if not again:
            return source.frame
        lazy: nw.LazyFrame[Any] = source.frame.select(*columns).collect().lazy()
        return lazy

    return replace(source, settle=settle)


def _source(data: Any, text: TextFormat) -> Source:
    """Return a table whose columns of no type, which hold nothing, are text."""
    import polars as pl

    empty = [name for name, dtype in data.collect_schema().items() if dtype == pl.Null]
    return Source.over(data.with_columns(pl.col(empty).cast(pl.String)) if empty else data, text)
