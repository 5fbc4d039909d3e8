"""Arrow memory, read by DuckDB: PyArrow's own casts refuse whole numbers beyond 2^53.

Every column becomes one that DuckDB can read whatever is in it: text that is not valid and moments
far out are missing. What tells people apart is kept as it is, beside it.
"""

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from halfnoise.checks import installed, refuse
from halfnoise.data.sources.connection import own_connection
from halfnoise.data.sources.room import Room
from halfnoise.data.sources.source import Source, TextFormat, spelled

KINDS = "a path, or a pandas, Polars, PyArrow, DuckDB, PySpark or Ibis table"
_MICROSECONDS = {"s": 10**6, "ms": 10**3}
_FARTHEST = 2**63 - 1


def arrow_source(data: Any, text: TextFormat, stack: ExitStack, room: Room) -> Source:
    """Return Arrow memory as a table; a stream can be read once, and is."""
    refused = refuse("data", KINDS, type(data).__name__)
    if not hasattr(data, "__arrow_c_stream__"):
        raise refused
    pa = installed("pyarrow")
    if not isinstance(data, pa.Table):
        try:
            stream = pa.RecordBatchReader.from_stream(data)
        except (pa.ArrowException, TypeError):
            raise refused from None
        data = stream.read_all()
    names = spelled(list(data.column_names))
    data = data.rename_columns([*names.values()])
    connection, _ = stack.enter_context(own_connection(room=room))

    def settle(columns: Collection[str], *, again: bool) -> nw.LazyFrame[Any]:
        del again  # memory stays what it is
        return in_duckdb(connection, data.select([names[column] for column in columns]))

    return typed(in_duckdb(connection, data.slice(0, 0)), text, names, settle=settle)


def typed(
    frame: nw.LazyFrame[Any], text: TextFormat, names: Mapping[str, str], **more: Any
) -> Source:
    """Return a table whose columns are told apart by ``hn_id_`` and their names, where there is."""
    inside = frame.collect_schema()
    ids = {name: id_of(own) for name, own in names.items() if id_of(own) in inside}
    return replace(Source.over(frame.to_native(), text, names), ids=ids, **more)


def id_of(own: str) -> str:
    """Return the name of the column that tells people apart."""
    return f"hn_id_{own}"


def in_duckdb(connection: Any, table: Any) -> nw.LazyFrame[Any]:
    """Return a table as DuckDB can read it, with what tells people apart beside it."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        cells, ids = _readable(_unpacked(column))
        columns[name] = cells
        if ids is not None:
            columns[id_of(name)] = ids
    read = connection.from_arrow(pa.table(columns))
    frame: nw.LazyFrame[Any] = nw.from_native(read).lazy()
    return frame


def _unpacked(column: Any) -> Any:
    """Return a column without what is only a way to store it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
    elif pa.types.is_dictionary(kind):
        decoded = [chunk.dictionary_decode() for chunk in column.chunks]
        column = pa.chunked_array(decoded, kind.value_type)
    elif pa.types.is_run_end_encoded(kind):
        decoded = [pc.run_end_decode(chunk) for chunk in column.chunks]
        column = pa.chunked_array(decoded, kind.value_type)
    return column if column.type == kind else _unpacked(column)


def _readable(column: Any) -> tuple[Any, Any]:
    """Return cells that cannot fail, and what tells people apart where that is something else."""
    import pyarrow as pa

    kind, types = column.type, pa.types
    if types.is_decimal256(kind) or (types.is_decimal(kind) and kind.scale < 0):
        return column.cast(pa.float64(), safe=False), column.cast(pa.string())
    if types.is_date64(kind) or (types.is_timestamp(kind) and kind.unit != "us"):
        return _moments(column)
    if types.is_null(kind):  # it holds nothing, which is as good as text
        column = column.cast(pa.string())
    elif types.is_float16(kind):
        column = column.cast(pa.float32())
    elif types.is_nested(kind) and not _is_plain(kind):
        column = pa.nulls(len(column))  # of no type: no query takes it
    elif types.is_string_view(kind) and not all(map(_is_valid, column.chunks)):
        # Views cannot be taken apart; their bytes can, and are text again if they can be.
        large = pa.large_string()
        chunks = [chunk.cast(pa.large_binary()).view(large) for chunk in column.chunks]
        column = valid(pa.chunked_array(chunks, large))
    elif types.is_nested(kind) or _is_text(kind):
        column = valid(column)
    return column, None


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_it(kind) for is_it in text)


def _is_plain(kind: Any) -> bool:
    """Whether no cell of a nested column can fail: what it holds is read as it is."""
    import pyarrow as pa

    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_struct(kind):
        return all(_is_plain(kind.field(i).type) for i in range(kind.num_fields))
    plain = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_date32, _is_text)
    return kind in (pa.float32(), pa.float64()) or any(is_it(kind) for is_it in plain)


def _moments(column: Any) -> tuple[Any, Any]:
    """Return moments, or days, in microseconds, rounded down, and the numbers that are stored.

    Moments beyond the range of microseconds are missing.
    """
    import pyarrow as pa

    is_day, kind = pa.types.is_date64(column.type), column.type
    unit, zone = ("ms", None) if is_day else (kind.unit, kind.tz)
    stored = pa.chunked_array([chunk.view(pa.int64()) for chunk in column.chunks], pa.int64())
    chunks = []
    for chunk in stored.chunks:
        value = chunk.fill_null(0).to_numpy(zero_copy_only=False)
        missing = chunk.is_null().to_numpy(zero_copy_only=False)
        if unit == "ns":
            micros = value // 1000
        else:
            most = _FARTHEST // _MICROSECONDS[unit]
            missing = missing | (value > most) | (value < -most)
            micros = np.where(missing, 0, value) * _MICROSECONDS[unit]
        chunks.append(pa.array(micros, pa.int64(), mask=missing).cast(pa.timestamp("us", zone)))
    moments = pa.chunked_array(chunks, pa.timestamp("us", zone))
    return (moments.cast(pa.date32(), safe=False) if is_day else moments), stored


def valid(column: Any) -> Any:
    """Return a column in which what is not valid, such as bytes that are no text, is missing."""
    import pyarrow as pa

    chunks = []
    for chunk in column.chunks:
        if not _is_valid(chunk):
            there = [i if _is_valid(chunk.slice(i, 1)) else None for i in range(len(chunk))]
            chunk = chunk.take(pa.array(there, pa.int64()))  # noqa: PLW2901  # the same, cleaned
        chunks.append(chunk)
    return pa.chunked_array(chunks, column.type)


def _is_valid(array: Any) -> bool:
    import pyarrow as pa

    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
