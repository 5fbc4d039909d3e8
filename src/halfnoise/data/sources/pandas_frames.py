"""Frames of pandas, handed to DuckDB as Arrow memory, in which no cell changes a column's type.

Columns of objects become text, and beside it what tells people apart.
"""

from collections.abc import Callable, Collection
from contextlib import ExitStack
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from halfnoise.checks import installed
from halfnoise.data.sources.arrow_tables import id_of, in_duckdb, typed, valid
from halfnoise.data.sources.connection import own_connection
from halfnoise.data.sources.objects import identity, shown
from halfnoise.data.sources.room import Room
from halfnoise.data.sources.source import Source, TextFormat, spelled
from halfnoise.errors import InvalidParameterError

_ALIKE = {"string": "string", "integer": "Int64", "boolean": "boolean"}


def pandas_source(data: Any, text: TextFormat, stack: ExitStack, room: Room) -> Source:
    """Return a frame as a table whose rows are looked at when they are needed."""
    if not all(isinstance(name, str) for name in data.columns):
        said = "the names of the columns must be text; try frame.rename(columns=str)"
        raise InvalidParameterError(said)
    pa = installed("pyarrow")
    connection, _ = stack.enter_context(own_connection(room=room))
    names, as_text = spelled(list(data.columns)), partial(shown, decimal=text.decimal)

    def read(columns: Collection[str], rows: Any) -> nw.LazyFrame[Any]:
        made: dict[str, Any] = {}
        for name in columns:
            cells, ids = _readable(rows[name], as_text)
            made[names[name]] = _in_arrow(cells)
            if ids is not None:
                made[id_of(names[name])] = _in_arrow(ids)
        return in_duckdb(connection, pa.table(made))

    def settle(columns: Collection[str], *, again: bool) -> nw.LazyFrame[Any]:
        del again  # memory stays what it is
        return read(columns, data)

    inferred = {name for name in names if _is_inferred(data[name].dtype)}
    return typed(read(names, data.head(0)), text, names, settle=settle, inferred=inferred)


def _is_inferred(dtype: Any) -> bool:
    """Whether one cell more could have given a column another type."""
    import pandas as pd

    return isinstance(dtype, pd.CategoricalDtype) or (
        isinstance(dtype, np.dtype) and dtype.kind in "fO"
    )


def _in_arrow(column: Any) -> Any:
    """Return a column in Arrow; one of a type that Arrow lacks as one that no query takes."""
    import pandas as pd
    import pyarrow as pa

    try:
        kind = pa.array(column.head(0), from_pandas=True).type
    except (pa.ArrowException, TypeError, ValueError):
        kind = None
    if kind is None or isinstance(column.dtype, pd.PeriodDtype | pd.IntervalDtype):
        nothing = pa.struct([(str(column.dtype), pa.int8())])
        return pa.chunked_array([pa.nulls(len(column), nothing)])
    found = pa.array(column, type=kind, from_pandas=True)
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _readable(column: Any, as_text: Callable[[Any], str | None]) -> tuple[Any, Any]:
    """Return cells that cannot fail, and what tells people apart where that is something else."""
    import pandas as pd

    column = _unpacked(column)
    dtype = column.dtype
    if isinstance(dtype, pd.ArrowDtype) or dtype.kind != "O":
        return column, None
    if isinstance(dtype, pd.StringDtype):
        return _text(column), None
    if isinstance(dtype, pd.CategoricalDtype):
        return _of_categories(column, as_text), _of_categories(column, identity)
    if not pd.api.types.is_object_dtype(dtype):
        return _strings(map(as_text, column.astype(object)), column.index), column
    alike = _of_one_type(column)
    if alike is not None:
        return alike, alike
    return _strings(map(as_text, column), column.index), _strings(
        map(identity, column), column.index
    )


def _unpacked(column: Any) -> Any:
    """Return a column without what is only a way to store it."""
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.SparseDtype):
        # What pandas makes dense it also gives a type by its cells, if they are objects.
        return pd.Series(np.asarray(column), index=column.index, dtype=dtype.subtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        # DuckDB cannot spell every zone, and a moment is the same in all of them.
        return column.dt.tz_convert("UTC")
    held = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else None
    if isinstance(held, pd.PeriodDtype | pd.IntervalDtype):
        return column.astype(held)
    return column


def _of_one_type(column: Any) -> Any:
    """Return objects that are all text, whole numbers or yes and no, as text, quickly; or None."""
    import pandas as pd

    kind = _ALIKE.get(pd.api.types.infer_dtype(column, skipna=True))
    # What is only derived from text or numbers may show itself in any way.
    if kind is None or len({*map(type, column)} & {str, int, bool}) != 1:
        return None
    try:
        return column.astype(kind).astype("string")
    except (TypeError, ValueError, OverflowError):  # half of a surrogate pair, or beyond 64 bits
        return None


def _strings(cells: Any, index: Any) -> Any:
    import pandas as pd

    return pd.Series(list(cells), index=index, dtype="string")


def _text(column: Any) -> Any:
    """Return text in which what is not valid is missing, however it is stored."""
    if column.dtype.storage == "pyarrow":
        import pyarrow as pa

        stored = column.array.__arrow_array__()
        stored = stored if isinstance(stored, pa.ChunkedArray) else pa.chunked_array([stored])
        clean = valid(stored)
        if all(one is other for one, other in zip(clean.chunks, stored.chunks, strict=True)):
            return column.astype("string")
        return _strings(clean.to_pylist(), column.index)
    return _strings(map(shown, column.astype(object)), column.index)


def _of_categories(column: Any, rule: Callable[[Any], str | None]) -> Any:
    """Return what a rule says of each cell, asking it once for each category."""
    import pandas as pd

    said = [*map(rule, column.cat.categories.astype(object)), None]  # of no category: -1
    return pd.Series(pd.array(said, dtype="string").take(column.cat.codes), index=column.index)
