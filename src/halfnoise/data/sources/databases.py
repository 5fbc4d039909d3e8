"""Files of databases: tables of DuckDB with their types, tables of SQLite as text.

Only tables are read. A view, or a column that is worked out from others, could do anything: open
another file, or fail on a row.
"""

import itertools
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import narwhals.stable.v2 as nw

from halfnoise.checks import refuse, unknown
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.arrow_tables import typed
from halfnoise.data.sources.duckdb_relations import readable
from halfnoise.data.sources.plain_cells import LONGEST, Plain, as_text
from halfnoise.data.sources.poured import poured
from halfnoise.data.sources.source import Source, TextFormat, spelled
from halfnoise.errors import DataError, InvalidParameterError, TryAgainError

_MAIN = "main"
Which = TypeVar("Which", bound=tuple[Any, ...])
_TABLES = "select schema_name, table_name from duckdb_tables() where database_name = 'halfnoise_db'"
_COLUMNS = (
    "select column_name from duckdb_columns() where database_name = 'halfnoise_db'"
    " and schema_name = $1 and table_name = $2 and not is_generated order by column_index"
)
_IN_SQLITE = "select name from sqlite_master where type = 'table' and rootpage > 0 order by name"
_OWN = 0, 3  # columns of SQLite that are stored


def database_source(
    connection: Any, paths: Sequence[Path], text: TextFormat, stack: ExitStack, failed: str
) -> Source:
    """Return a table of a database as one that has not been read yet."""
    path, *others = paths
    if others:
        raise InvalidParameterError("of databases one is released at a time; name one file")
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"SQLite format 3\0"):
        return quietly(lambda: _of_sqlite(connection, path, text, stack, failed), failed)
    if start[8:12] == b"DUCK":
        return quietly(lambda: _of_duckdb(connection, path, text), failed)
    rule = "a database of DuckDB or SQLite, as its name says"
    raise refuse("the file", rule, str(path), "check that it is complete, or rename it")


def _of_duckdb(connection: Any, path: Path, text: TextFormat) -> Source:
    """Attach a file, after which the connection opens no other."""
    attach = f"attach {_quoted(str(path.absolute()), mark=chr(39))} as halfnoise_db (read_only)"
    try:
        quietly(lambda: connection.execute(attach), f"{str(path)!r} could not be opened")
    except TryAgainError:
        said = f"the database {str(path)!r} is open elsewhere, where it may be written to"
        raise TryAgainError(f"{said}; close it there, or release a copy") from None
    connection.execute("set enable_external_access = false")
    tables = connection.execute(_TABLES).fetchall()
    name, table = chosen(_names(tables), text.table, str(path))
    columns = [c for (c,) in connection.execute(_COLUMNS, [*table]).fetchall()]
    if not columns:
        raise DataError(f"the table {name!r} of {str(path)!r} has no column of its own")
    own = ".".join(map(_quoted, ("halfnoise_db", *table)))
    rows = connection.sql(f"from {own} select {', '.join(map(_quoted, columns))}")
    frame: nw.LazyFrame[Any] = nw.from_native(readable(rows)).lazy()
    return typed(frame, replace(text, table=name), {column: column for column in columns})


def _of_sqlite(
    connection: Any, path: Path, text: TextFormat, stack: ExitStack, failed: str
) -> Source:
    """Open a file to be read alone; all rows are those of one moment."""
    address = path.resolve().as_uri() + "?mode=ro"
    database = stack.enter_context(closing(sqlite3.connect(address, uri=True)))
    database.text_factory = _decoded
    tables = [str(name) for (name,) in _asked(database, _IN_SQLITE)]
    own = [(_MAIN, each) for each in tables if not each.startswith("sqlite_")]
    if not own and list(_asked(database, "pragma journal_mode")) == [("wal",)]:
        said = f"{str(path)!r} has no table, and may be a copy without what was written last"
        raise DataError(f"{said}; copy {path.name}-wal too, or close it where it is written to")
    name, (_, table) = chosen(_names(own), text.table, str(path))
    about = _asked(database, f"pragma table_xinfo({_quoted(table)})")
    names = spelled([column for _, column, *_, hidden in about if hidden in _OWN])

    def rows(columns: Sequence[str]) -> Iterator[list[str | None]]:
        shown = ", ".join(_short(_quoted(column)) for column in columns) or "1"
        query = f"select {shown} from {_quoted(table)}"  # noqa: S608  # of names in quotes
        for row in _asked(database, query):
            yield [as_text(cell, text.decimal) for cell in row]

    return poured(connection, replace(text, table=name), names, rows, failed)


def _asked(database: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """Yield what a query finds; where somebody writes, the same may work later."""
    try:
        yield from database.execute(query)
    except sqlite3.OperationalError as error:
        if not str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_BUSY"):
            raise
    else:
        return
    raise TryAgainError("somebody writes to the database; try again, or release a copy")


def _short(cell: str) -> str:
    """Return SQL that finds a cell, but no blob and no text that is too long to be fetched."""
    bytes_of = f"length(cast({cell} as blob))"  # at most four of each character
    return f"case when typeof({cell}) <> 'blob' and {bytes_of} <= {4 * LONGEST} then {cell} end"


def _decoded(text: bytes) -> Plain:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def chosen(
    names: Mapping[Which, Sequence[str]], wanted: str | None, place: str
) -> tuple[str, Which]:
    """Return the table that is meant, by what each can be called, and a name no other one has."""
    shown = [own[0] for own in names.values()]
    if wanted is None and len(names) != 1:
        some = f"tables {', '.join(map(repr, shown[:20]))}" if names else "no table"
        raise InvalidParameterError(f"{place!r} has {some}; say which one, --file-table NAME")
    meant = [table for table, own in names.items() if wanted is None or wanted in own]
    if not meant:
        said = unknown("table", wanted, shown)
        raise InvalidParameterError(f"{said}; a view is no table: store what it shows in one")
    if len(meant) > 1:
        both = " and ".join(".".join(map(_quoted, table[:2])) for table in sorted(meant))
        two = f"two tables that can be meant by {wanted!r}, {both}"
        raise InvalidParameterError(f"{place!r} has {two}; rename one of them")
    times = Counter(itertools.chain.from_iterable(names.values()))
    return next(name for name in names[meant[0]] if times[name] == 1), meant[0]


def _names(tables: Iterable[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
    """Return what each table can be called."""
    return {(s, table): [table] * (s == _MAIN) + [f"{s}.{table}"] for s, table in tables}


def _quoted(name: str, mark: str = '"') -> str:
    return mark + name.replace(mark, mark * 2) + mark
