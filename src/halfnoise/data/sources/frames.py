"""Frames of every kind, each read by its engine so that no cell can fail to be read."""

import contextlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.data.quiet import quietly
from halfnoise.data.sources import duckdb_relations, spark_frames
from halfnoise.data.sources.duckdb_relations import Rule
from halfnoise.data.sources.room import Room
from halfnoise.data.sources.source import OF_CELLS, OF_LINES, PLACES, Source, TextFormat, once
from halfnoise.errors import InvalidParameterError

_WIDE = 4  # times as many columns as are needed
_OLDEST = {"ibis": "12", "pandas": "3.0", "polars": "1.20", "pyarrow": "18", "pyspark": "3.5"}


@contextlib.contextmanager
def open_frame(data: object, text: TextFormat, room: Room) -> Iterator[Source]:
    """Open a frame as a table that has not been read yet."""
    unused = (*OF_LINES, *OF_CELLS, *PLACES)
    text.check_unused("a table says itself how it is stored", *unused)
    failed = "the table's columns could not be read; check that the frame can be computed"
    native = nw.to_native(data, pass_through=True)
    with ExitStack() as stack:
        yield quietly(lambda: _from_frame(native, text, stack, room), failed)


def plain_text(frame: nw.LazyFrame[Any], among: Sequence[str]) -> nw.LazyFrame[Any]:
    """Let some columns, which an expression may have made, be compared letter by letter."""
    native: Any = frame.to_native()
    if frame.implementation.is_duckdb():
        native = duckdb_relations.plain_text(native, among)
    elif frame.implementation.is_spark_like():
        native = spark_frames.plain_text(native, among)
    plain: nw.LazyFrame[Any] = nw.from_native(native).lazy()
    return plain


def as_text(frame: nw.LazyFrame[Any], stored: Mapping[str, str]) -> nw.LazyFrame[Any]:
    """Return rows that also have columns of text, each of what another holds as it is stored."""
    made = spark_frames.as_text(frame.to_native(), stored)
    found: nw.LazyFrame[Any] = nw.from_native(made).lazy()
    return found


def narrowed(source: Source, columns: Sequence[str]) -> nw.LazyFrame[Any]:
    """Return the rows of some columns, and what tells people apart in them, of a wide table."""
    names = [source.names[column] for column in columns]
    names = [*dict.fromkeys([*names, *(source.ids[c] for c in columns if c in source.ids)])]
    if not names or source.is_narrowed or len(names) * _WIDE > len(source.names):
        return source.frame
    return renamed(source.frame, {name: name for name in names})


def renamed(frame: nw.LazyFrame[Any], columns: Mapping[str, str | nw.Expr]) -> nw.LazyFrame[Any]:
    """Return columns, or what is made of some, under other names."""
    names = {other: name for other, name in columns.items() if isinstance(name, str)}
    if not frame.implementation.is_duckdb() or len(names) < len(columns):
        return frame.select(**columns)
    # Spelled out: expressions would each be compared with all names of the table.
    selected = duckdb_relations.renamed(frame.to_native(), names)
    found: nw.LazyFrame[Any] = nw.from_native(selected).lazy()
    return found


def with_each(
    frame: nw.LazyFrame[Any], columns: Mapping[str, str], rule: Rule
) -> nw.LazyFrame[Any]:
    """Return a frame with a column more for each of some: what one rule makes of them."""
    if not frame.implementation.is_duckdb():
        return frame.with_columns(**{other: rule(name) for other, name in columns.items()})
    made = duckdb_relations.with_each(frame.to_native(), columns, rule)
    found: nw.LazyFrame[Any] = nw.from_native(made).lazy()
    return found


def summed(frame: nw.LazyFrame[Any], asked: Sequence[tuple[str, Rule]]) -> nw.LazyFrame[Any]:
    """Return one row of DuckDB's: what a rule makes of each column, added up, and their number."""
    row = duckdb_relations.summed(frame.to_native(), asked)
    found: nw.LazyFrame[Any] = nw.from_native(row).lazy()
    return found


def added_up(
    frame: nw.LazyFrame[Any], group: str, sums: Sequence[str], alone: nw.Expr
) -> nw.LazyFrame[Any]:
    """Return sums by group, of DuckDB perhaps in parts: few rows are not ``alone`` in theirs."""
    if not frame.implementation.is_duckdb():
        return frame.group_by(group).agg(nw.col(*sums).sum())
    made = duckdb_relations.added_up(frame.to_native(), group, sums, alone)
    found: nw.LazyFrame[Any] = nw.from_native(made).lazy()
    return found


def _from_frame(data: Any, text: TextFormat, stack: ExitStack, room: Room) -> Source:
    package = type(data).__module__.partition(".")[0]
    _check_age(package)
    if package == "ibis" and hasattr(data, "get_backend") and hasattr(data, "columns"):
        from halfnoise.data.sources.ibis_tables import below

        found = below(data, text, stack, room)
        return found if isinstance(found, Source) else _from_frame(found, text, stack, room)
    if package == "pandas" and hasattr(data, "columns"):
        once(list(data.columns))
    try:
        engine: Any = None if package == "pyarrow" else nw.from_native(data).implementation
    except TypeError:
        engine = None
    if engine is not None and engine.is_pandas():
        from halfnoise.data.sources.pandas_frames import pandas_source

        return pandas_source(data, text, stack, room)
    if engine is not None and engine.is_polars():
        from halfnoise.data.sources.polars_frames import polars_source

        room.check_unused("Polars")
        return polars_source(data, text)
    if engine is not None and engine.is_spark_like():
        room.check_unused("Spark")
        return spark_frames.spark_source(data, text, stack)
    if engine is not None and engine.is_duckdb():
        return duckdb_relations.duckdb_source(data, text, stack, room)
    from halfnoise.data.sources.arrow_tables import arrow_source

    return arrow_source(data, text, stack, room)


def _check_age(package: str) -> None:
    """Refuse an engine older than those that the tests run on: it may read cells otherwise."""
    found = str(getattr(sys.modules.get(package), "__version__", ""))
    oldest = _OLDEST.get(package, "")
    numbers, least = ([int(n) for n in re.findall(r"\d+", text)] for text in (found, oldest))
    if numbers < least:
        raise InvalidParameterError(f"{package} {found} is too old; install {oldest} or newer")
