"""Frames of every kind, made so that no cell can fail to be read."""

import contextlib
import re
import sys
from typing import Any

import narwhals.stable.v2 as nw
from narwhals.dtypes import DType

from halfnoise.checks import refuse
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.files import connect
from halfnoise.data.sources.source import Source, TextFormat, once, spelled
from halfnoise.errors import InvalidParameterError

_KINDS = "a path, or a pandas, Polars, PyArrow, DuckDB, PySpark or Ibis table"
_OLDEST = {"ibis": "12", "pandas": "3.0", "polars": "1.20", "pyarrow": "16.1", "pyspark": "3.5"}


def from_frame(data: object, text: TextFormat) -> Source:
    """Return a frame as a table that has not been read yet."""
    return quietly(
        lambda: _from_frame(nw.to_native(data, pass_through=True), text),
        "the table's columns could not be read; check that the frame can be computed",
    )


def _from_frame(data: Any, text: TextFormat) -> Source:  # noqa: ANN401
    package = type(data).__module__.partition(".")[0]
    _check_age(package)
    if package == "pyarrow":
        return _from_arrow(data, text)
    if package == "pandas" and hasattr(data, "columns"):
        once(list(data.columns))
    try:
        frame: Any = nw.from_native(data)
    except TypeError:
        frame = None
    if frame is None or not _promised(frame.implementation):
        raise refuse("data", _KINDS, type(data).__name__)
    if frame.implementation.is_pandas():
        return _from_pandas(data, text)
    if frame.implementation.is_spark_like():
        return _from_spark(data, text)
    if frame.implementation.is_duckdb():
        return _source(nw.from_native(_letter_by_letter(data)), text)
    if frame.implementation.is_ibis() and data._find_backend(use_default=True).name == "sqlite":  # noqa: SLF001
        raise InvalidParameterError(
            "SQLite keeps no types, so that one cell could change how others are read; read the"
            " table with DuckDB instead: duckdb.sql(\"from sqlite_scan('file.db', 'table')\")"
        )
    return _source(frame, text)


def _check_age(package: str) -> None:
    """Refuse an engine older than those that the tests run on: it may read cells otherwise."""
    oldest = _OLDEST.get(package)
    found = str(getattr(sys.modules.get(package), "__version__", ""))
    if oldest and _numbers(found) < _numbers(oldest):
        raise InvalidParameterError(f"{package} {found} is too old; install {oldest} or newer")


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _from_spark(data: Any, text: TextFormat) -> Source:  # noqa: ANN401
    """Give columns names that can be spelled, and text that is valid.

    Spark keeps bytes that are no text apart, and shows them all alike.
    """
    from pyspark.sql import functions

    names = list(data.columns)
    once(names)
    own = spelled(names)
    frame = data.toDF(*own.values())
    texts = [name for name, kind in frame.dtypes if kind == "string"]
    valid = {
        name: functions.decode(functions.encode(functions.col(name), "UTF-8"), "UTF-8")
        for name in texts
    }
    return _source(nw.from_native(frame.withColumns(valid) if valid else frame), text, own)


def _letter_by_letter(relation: Any) -> Any:  # noqa: ANN401
    """Compare text letter by letter, whatever a column's collation: else one key may be two."""
    setting = relation.query("halfnoise_rows", "select current_setting('default_collation')")
    if setting.fetchall()[0][0]:
        raise InvalidParameterError(
            "the connection's default_collation makes different texts equal; set it to ''"
        )
    columns = [
        f'{name} collate "binary" as {name}' if str(kind) == "VARCHAR" else name
        for name, kind in zip(
            ('"' + each.replace('"', '""') + '"' for each in relation.columns),
            relation.types,
            strict=True,
        )
    ]
    return relation.project(", ".join(columns))


def _promised(kind: nw.Implementation) -> bool:
    return (
        kind.is_pandas()
        or kind.is_polars()
        or kind.is_duckdb()
        or kind.is_spark_like()
        or kind.is_ibis()
    )


def _source(frame: Any, text: TextFormat, names: dict[str, str] | None = None) -> Source:  # noqa: ANN401
    """Take a frame as it is, but columns of no type, which hold nothing, as text."""
    lazy = frame.lazy()
    empty = [name for name, dtype in lazy.collect_schema().items() if _is_empty(lazy, name, dtype)]
    if empty:
        lazy = lazy.with_columns(**{name: nw.col(name).cast(nw.String) for name in empty})
    inside = dict(lazy.collect_schema())
    names = names or {name: name for name in inside}
    dtypes = {name: inside[own] for name, own in names.items()}
    return Source(frame=lazy, dtypes=dtypes, names=names, text=text)


def _is_empty(frame: nw.LazyFrame[Any], name: str, dtype: DType) -> bool:
    """Whether a column has the type of a column of nothing but nulls."""
    if dtype != nw.Unknown:
        return False
    native = frame.to_native()
    if frame.implementation.is_duckdb():
        own = dict(zip(native.columns, native.types, strict=True))[name]
    elif frame.implementation.is_polars():
        own = native.collect_schema()[name]
    elif frame.implementation.is_ibis():
        own = native.schema()[name]
    elif frame.implementation.is_spark_like():
        own = native.schema[name].dataType.typeName()
    else:
        own = native.dtypes[name]
    return str(own).lower().strip('"') in ("null", "void", "null[pyarrow]")


def _from_arrow(data: Any, text: TextFormat) -> Source:  # noqa: ANN401
    """Read PyArrow's memory with DuckDB: its own casts refuse whole numbers beyond 2^53."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if not isinstance(data, pa.Table):
        raise refuse("data", _KINDS, type(data).__name__, "read it into a table first")
    names = list(data.column_names)
    once(names)
    columns = []
    for column in data.columns:
        kind, read = column.type, column.type
        if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
            # Beyond the range of microseconds DuckDB would fail; this wraps.
            read = pa.timestamp("us", kind.tz)
        elif pa.types.is_float16(kind) or pa.types.is_decimal256(kind):
            read = pa.float64()
        columns.append(column if read == kind else pc.cast(column, read, safe=False))
    table = pa.table(columns, names=[*spelled(names).values()])
    return _source(nw.from_native(connect().from_arrow(table)), text, spelled(names))


def _from_pandas(data: Any, text: TextFormat) -> Source:  # noqa: ANN401
    """Turn columns of mixed objects, which any cast could fail on, into text."""
    import pandas as pd

    names = list(data.columns)
    if not all(isinstance(name, str) for name in names):
        raise InvalidParameterError(
            "the names of the columns must be text; try frame.rename(columns=str)"
        )
    dtypes = dict(data.dtypes)
    arrow = any(isinstance(dtype, pd.ArrowDtype) for dtype in dtypes.values())
    plain = data.reset_index(drop=True)
    mixed = [name for name, dtype in dtypes.items() if dtype.kind == "O"]
    plain = plain.assign(**{name: _as_text(plain[name]) for name in mixed})
    # Narwhals cannot spell every zone, and a moment is the same in all of them.
    zoned = [name for name, dtype in dtypes.items() if isinstance(dtype, pd.DatetimeTZDtype)]
    plain = plain.assign(**{name: plain[name].dt.tz_convert("UTC") for name in zoned})
    if arrow:
        import pyarrow as pa

        return _from_arrow(pa.Table.from_pandas(plain, preserve_index=False), text)
    return _source(nw.from_native(plain), text)


def _as_text(column: Any) -> Any:  # noqa: ANN401
    """Return each cell's own text: no cell changes how another one is read."""
    import pandas as pd

    if pd.api.types.infer_dtype(column, skipna=True) == "string":
        with contextlib.suppress(UnicodeError):  # half of a surrogate pair
            return column.astype("string")
    cells = map(_cell_text, column.astype(object))
    return pd.Series(cells, index=column.index, dtype="string")


def _cell_text(cell: Any) -> str | None:  # noqa: ANN401
    import pandas as pd

    try:
        if cell is None or cell is pd.NA or cell is pd.NaT or cell != cell:  # noqa: PLR0124
            return None
        text = cell if isinstance(cell, bytes) else str(cell).encode(errors="replace")
        return text.decode(errors="replace")
    except Exception:  # noqa: BLE001
        return None
