"""Frames of every kind, made so that no cell can fail to be read."""

import contextlib
import re
import sys
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.checks import refuse
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.files import connect
from halfnoise.data.sources.source import Source, TextFormat, once, spelled
from halfnoise.errors import InvalidParameterError, MissingExtraError

_KINDS = "a path, or a pandas, Polars, PyArrow, DuckDB, PySpark or Ibis table"
_ENGINES = ("pandas", "polars", "duckdb", "spark_like", "ibis")
_OLDEST = {"ibis": "12", "pandas": "3.0", "polars": "1.20", "pyarrow": "16.1", "pyspark": "3.5"}


def from_frame(data: object, text: TextFormat) -> Source:
    """Return a frame as a table that has not been read yet."""
    failed = "the table's columns could not be read; check that the frame can be computed"
    return quietly(lambda: _from_frame(nw.to_native(data, pass_through=True), text), failed)


def _from_frame(data: Any, text: TextFormat) -> Source:
    package = type(data).__module__.partition(".")[0]
    _check_age(package)
    if package == "pandas" and hasattr(data, "columns"):
        once(list(data.columns))
    try:
        frame: Any = None if package == "pyarrow" else nw.from_native(data)
    except TypeError:
        frame = None
    engine = None if frame is None else frame.implementation
    if engine is None or not any(getattr(engine, f"is_{name}")() for name in _ENGINES):
        return _from_arrow(data, text)
    if engine.is_pandas():
        return _from_pandas(data, text)
    if engine.is_spark_like():
        return _from_spark(data, text)
    if engine.is_duckdb():
        return _source(_letter_by_letter(data), text)
    # Ibis has no public way to ask which engine it stands on.
    if engine.is_ibis() and data._find_backend(use_default=True).name == "sqlite":  # noqa: SLF001
        remedy = "duckdb.sql(\"from sqlite_scan('file.db', 'table')\")"
        why = "SQLite keeps no types, so that one cell could change how others are read"
        raise InvalidParameterError(f"{why}; read the table with DuckDB instead: {remedy}")
    return _source(data, text)


def _check_age(package: str) -> None:
    """Refuse an engine older than those that the tests run on: it may read cells otherwise."""
    found = str(getattr(sys.modules.get(package), "__version__", ""))
    oldest = _OLDEST.get(package, "")
    numbers, least = ([int(n) for n in re.findall(r"\d+", text)] for text in (found, oldest))
    if numbers < least:
        raise InvalidParameterError(f"{package} {found} is too old; install {oldest} or newer")


def _from_spark(data: Any, text: TextFormat) -> Source:
    """Give columns names that can be spelled, and valid text: Spark shows all other bytes alike."""
    from pyspark.sql import functions

    own = spelled(list(data.columns))
    frame = data.toDF(*own.values())
    valid = {
        name: functions.decode(functions.encode(functions.col(name), "UTF-8"), "UTF-8")
        for name, kind in frame.dtypes
        if kind == "string"
    }
    return _source(frame.withColumns(valid) if valid else frame, text, own)


def _letter_by_letter(relation: Any) -> Any:
    """Compare text letter by letter, whatever a column's collation: else one key may be two."""
    setting = relation.query("halfnoise_rows", "select current_setting('default_collation')")
    if setting.fetchall()[0][0]:
        said = "the connection's default_collation makes different texts equal; set it to ''"
        raise InvalidParameterError(said)
    names = ['"' + name.replace('"', '""') + '"' for name in relation.columns]
    columns = [
        f'{name} collate "binary" as {name}' if str(kind) == "VARCHAR" else name
        for name, kind in zip(names, relation.types, strict=True)
    ]
    return relation.project(", ".join(columns))


def _source(table: Any, text: TextFormat, names: dict[str, str] | None = None) -> Source:
    """Take a table as it is, but columns of no type, which hold nothing, as text."""
    source = Source.over(table, text, names)
    schema = source.frame.collect_schema()
    unknown = [name for name, dtype in schema.items() if dtype == nw.Unknown]
    own = _own_types(source.frame) if unknown else {}
    nothing = ("null", "void", "null[pyarrow]")
    empty = [name for name in unknown if str(own[name]).lower().strip('"') in nothing]
    if not empty:
        return source
    shown = source.frame.with_columns(nw.col(*empty).cast(nw.String))
    return Source.over(shown.to_native(), text, names)


def _own_types(frame: nw.LazyFrame[Any]) -> Any:
    """Return what an engine calls the types of columns."""
    native, engine = frame.to_native(), frame.implementation
    if engine.is_duckdb():
        return dict(zip(native.columns, native.types, strict=True))
    if engine.is_ibis():
        return native.schema()
    if engine.is_spark_like():
        return {column.name: column.dataType.typeName() for column in native.schema}
    return native.collect_schema() if engine.is_polars() else native.dtypes


def _from_arrow(data: Any, text: TextFormat) -> Source:
    """Read Arrow memory with DuckDB: PyArrow's own casts refuse whole numbers beyond 2^53.

    A stream can be read once, and is.
    """
    refused = refuse("data", _KINDS, type(data).__name__)
    if not hasattr(data, "__arrow_c_stream__"):
        raise refused
    try:
        import pyarrow as pa
        import pyarrow.compute as pc
    except ImportError:
        said = "reading a stream of Arrow memory needs PyArrow: pip install pyarrow"
        raise MissingExtraError(said) from None
    if not isinstance(data, pa.Table):
        try:
            stream = pa.RecordBatchReader.from_stream(data)
        except (pa.ArrowException, TypeError):
            raise refused from None
        data = stream.read_all()
    names = spelled(list(data.column_names))
    columns = []
    for column in data.columns:
        kind, read = column.type, column.type
        if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
            # Beyond the range of microseconds DuckDB would fail; this wraps.
            read = pa.timestamp("us", kind.tz)
        elif pa.types.is_float16(kind) or pa.types.is_decimal256(kind):
            read = pa.float64()
        columns.append(column if read == kind else pc.cast(column, read, safe=False))
    table = pa.table(columns, names=[*names.values()])
    return _source(connect().from_arrow(table), text, names)


def _from_pandas(data: Any, text: TextFormat) -> Source:
    """Turn columns of mixed objects, which any cast could fail on, into text."""
    import pandas as pd

    if not all(isinstance(name, str) for name in data.columns):
        said = "the names of the columns must be text; try frame.rename(columns=str)"
        raise InvalidParameterError(said)
    plain, dtypes = data.reset_index(drop=True), dict(data.dtypes)
    mixed = [name for name, dtype in dtypes.items() if dtype.kind == "O"]
    plain = plain.assign(**{name: _as_text(plain[name]) for name in mixed})
    # Narwhals cannot spell every zone, and a moment is the same in all of them.
    zoned = [name for name, dtype in dtypes.items() if isinstance(dtype, pd.DatetimeTZDtype)]
    plain = plain.assign(**{name: plain[name].dt.tz_convert("UTC") for name in zoned})
    if not any(isinstance(dtype, pd.ArrowDtype) for dtype in dtypes.values()):
        return _source(plain, text)
    import pyarrow as pa

    return _from_arrow(pa.Table.from_pandas(plain, preserve_index=False), text)


def _as_text(column: Any) -> Any:
    """Return each cell's own text: no cell changes how another one is read."""
    import pandas as pd

    if pd.api.types.infer_dtype(column, skipna=True) == "string":
        with contextlib.suppress(UnicodeError):  # half of a surrogate pair
            return column.astype("string")
    return pd.Series(map(_cell_text, column.astype(object)), index=column.index, dtype="string")


def _cell_text(cell: Any) -> str | None:
    try:
        # What is not a number or a time differs from itself; of NA even that cannot be said.
        if cell is None or cell != cell:  # noqa: PLR0124  # as NaN
            return None
        text = cell if isinstance(cell, bytes) else str(cell).encode(errors="replace")
        return text.decode(errors="replace")
    except Exception:  # noqa: BLE001  # an object may do anything
        return None
