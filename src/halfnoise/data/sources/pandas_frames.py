"""Frames of pandas, whose columns of objects become text, and beside it what tells people apart."""

from collections.abc import Callable, Collection
from contextlib import ExitStack
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.data.sources.arrow_tables import id_of, in_duckdb, typed, valid
from halfnoise.data.sources.connection import own_connection
from halfnoise.data.sources.objects import identity, shown
from halfnoise.data.sources.source import Source, TextFormat, spelled
from halfnoise.errors import InvalidParameterError


def pandas_source(data: Any, text: TextFormat, stack: ExitStack) -> Source:
    """Return a frame as a table whose rows are looked at when they are needed."""
    import pandas as pd

    if not all(isinstance(name, str) for name in data.columns):
        said = "the names of the columns must be text; try frame.rename(columns=str)"
        raise InvalidParameterError(said)
    plain = data.reset_index(drop=True)
    in_arrow = any(isinstance(dtype, pd.ArrowDtype) for dtype in data.dtypes)
    connection = stack.enter_context(own_connection())[0] if in_arrow else None
    names = list(data.columns)
    inside = spelled(names) if in_arrow else {name: name for name in names}

    def read(columns: Collection[str], rows: Any) -> nw.LazyFrame[Any]:
        made: dict[str, Any] = {}
        for name in columns:
            cells, ids = _readable(rows[name])
            made[inside[name]] = cells
            if ids is not None:
                made[id_of(inside[name])] = ids
        frame = pd.DataFrame(made, index=rows.index)
        if connection is None:
            lazy: nw.LazyFrame[Any] = nw.from_native(frame).lazy()
            return lazy
        import pyarrow as pa

        return in_duckdb(connection, pa.Table.from_pandas(frame, preserve_index=False))

    def settle(columns: Collection[str] | None, *, again: bool) -> nw.LazyFrame[Any]:
        del again  # memory stays what it is
        return read(names if columns is None else columns, plain)

    return typed(read(names, plain.head(0)), text, inside, settle=settle)


def _readable(column: Any) -> tuple[Any, Any]:
    """Return cells that cannot fail, and what tells people apart where that is something else."""
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.ArrowDtype) or dtype.kind != "O":
        # Narwhals cannot spell every zone, and a moment is the same in all of them.
        zoned = isinstance(dtype, pd.DatetimeTZDtype)
        return column.dt.tz_convert("UTC") if zoned else column, None
    if isinstance(dtype, pd.StringDtype):
        return _text(column), None
    if isinstance(dtype, pd.CategoricalDtype):
        return _of_categories(column, shown), _of_categories(column, identity)
    if not pd.api.types.is_object_dtype(dtype):
        return _strings(map(shown, column.astype(object)), column.index), column
    alike = _of_one_type(column)
    if alike is not None:
        return alike, alike
    return _strings(map(shown, column), column.index), _strings(map(identity, column), column.index)


def _of_one_type(column: Any) -> Any:
    """Return objects that are all text, or all whole numbers, as text, which is quick; or None."""
    import pandas as pd

    kinds = {"string": "string", "integer": "Int64"}
    kind = kinds.get(pd.api.types.infer_dtype(column, skipna=True))
    if kind is None:
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
