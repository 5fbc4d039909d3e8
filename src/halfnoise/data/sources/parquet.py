"""Parquet files, in which a cell that DuckDB cannot hold is missing and fails nothing.

All files are read as they are. Where a cell fails, they are read once more, from copies in which
text is bare bytes and a moment in milliseconds a number, and what cannot be read of them is null.
"""

import glob
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.data.sources.arrow_tables import typed
from halfnoise.data.sources.duckdb_relations import readable
from halfnoise.data.sources.folders import Partitions
from halfnoise.data.sources.source import Source, TextFormat
from halfnoise.data.sources.thrift import bare
from halfnoise.errors import InvalidParameterError

_ROWS = "halfnoise_rows"
_MILLISECONDS = ("TIMESTAMP_MILLIS", "MILLIS=MilliSeconds")
# The greatest number and the least but one are without end; others must fit into microseconds.
_MOMENT = (
    "case when {{0}} = 9223372036854775807 then 'infinity'::{0}"
    " when {{0}} = -9223372036854775807 then '-infinity'::{0}"
    " when {{0}} between -9223372022400000 and 9223372036854775 then {1}({{0}} * 1000) end"
)
_BARE = {
    "VARCHAR": "try(decode({0}))",
    "JSON": "try_cast(try(decode({0})) as json)",
    "TIMESTAMP": _MOMENT.format("timestamp", "make_timestamp"),
    "TIMESTAMP WITH TIME ZONE": _MOMENT.format("timestamptz", "make_timestamptz"),
}


def from_parquet(
    connection: Any, paths: list[Path], partitions: Partitions, text: TextFormat, scratch: Path
) -> Source:
    """Read Parquet files whose columns agree, types included: a cast could fail on a row."""
    first = _view(connection, _read(paths[:1]))
    columns, types = first.columns, first.types
    for path in paths[1:]:
        other = _view(connection, _read([path]))
        if (other.columns, other.types) != (columns, types):
            said = f"the columns of {str(path)!r} differ from those of {str(paths[0])!r}"
            raise InvalidParameterError(said)
    partitions.check(columns)
    names = {name: name for name in (*columns, *partitions.names)}
    inside = {name: name.replace('"', '""') for name in names}
    read = partitions.joined(lambda some: _read([paths[i] for i in some]), inside)
    rows = _view(connection, read)

    def mend() -> None:
        kinds = [*zip(columns, map(str, types), strict=True)]
        parts = [_bare(connection, path, kinds, scratch / str(i)) for i, path in enumerate(paths)]
        bare = partitions.joined(lambda some: " union all ".join(parts[i] for i in some), inside)
        _view(connection, bare)

    return typed(nw.from_native(readable(rows, nested=False)).lazy(), text, names, mend=mend)


def _view(connection: Any, rows: str) -> Any:
    """Return rows under a name by which they can be read in another way later."""
    connection.execute(f"create or replace temp view {_ROWS} as {rows}")
    return connection.view(_ROWS)


def _read(paths: Sequence[Path], cells: Sequence[str] = "*") -> str:
    listed = ", ".join(map(_quoted, _named(paths)))
    return f"from read_parquet([{listed}], hive_partitioning = false) select {', '.join(cells)}"


def _bare(connection: Any, path: Path, kinds: Sequence[tuple[str, str]], copy: Path) -> str:
    """Return what reads a copy of a file in which no cell can fail."""
    odd = _odd(connection, path)
    _copy(path, copy, odd)
    shown = []
    for i, (name, kind) in enumerate(kinds):
        cell = _BARE[kind] if i in odd.values() else "{0}"
        shown.append(f"{cell.format(_name(name))} as {_name(name)}")
    return _read([copy], shown)


def _odd(connection: Any, path: Path) -> dict[int, int]:
    """Return which columns can hold what DuckDB cannot, by their place in the schema.

    A column is known by its number: of names that are alike but for case DuckDB changes one.
    """
    asked = "select num_children, type, duckdb_type, converted_type, logical_type"
    (name,) = _named([path])
    elements = connection.execute(f"from parquet_schema({_quoted(name)}) {asked}").fetchall()
    odd, column, within = dict[int, int](), 0, 0
    for place, (children, kind, held, *means) in enumerate(elements[1:], 1):  # after the root
        text = kind == "BYTE_ARRAY" and held in ("VARCHAR", "JSON")
        moment = held in _BARE and any(mark in str(means) for mark in _MILLISECONDS)
        if within:  # another column, whose parts cannot be asked for
            within += (children or 0) - 1
            continue
        if text or moment:
            odd[place] = column
        column, within = column + 1, children or 0
    return odd


def _copy(path: Path, copy: Path, columns: Mapping[int, int]) -> None:
    """Copy a file, and write its footer anew."""
    shutil.copyfile(path, copy)
    with copy.open("r+b") as file:
        file.seek(-8, 2)
        size = int.from_bytes(file.read(4), "little")
        start = file.seek(-8 - size, 2)
        footer = bare(file.read(size), columns.keys())
        file.seek(start)
        file.write(footer + len(footer).to_bytes(4, "little") + b"PAR1")
        file.truncate()


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(paths: Sequence[Path]) -> list[str]:
    """Return paths that DuckDB takes by name: it would read marks such as * and [ as patterns."""
    return [glob.escape(str(path)) for path in paths]
