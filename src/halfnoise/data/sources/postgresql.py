"""Tables of PostgreSQL, copied once to a connection of ours: one statement, which sees one moment.

The server hands over cells and does nothing else: it compares no text, casts nothing that could
fail and adds nothing up. So neither its collations decide who is one person, nor do its overflows,
nor its NaN, which it takes for a number larger than all others and equal to itself.
"""

import contextlib
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise import failures
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.arrow_tables import typed
from halfnoise.data.sources.connection import own_connection
from halfnoise.data.sources.databases import chosen
from halfnoise.data.sources.postgresql_cells import Kind, kind_of
from halfnoise.data.sources.room import Room
from halfnoise.data.sources.source import OF_CELLS, OF_LINES, Source, TextFormat, spelled
from halfnoise.errors import (
    DataError,
    HalfnoiseError,
    InvalidParameterError,
    NotSupportedError,
    TryAgainError,
)
from halfnoise.servers import check_address, dial, is_for_later, state
from halfnoise.values import dataclass, field, replace

_OLDEST = 140_000  # PostgreSQL 14, which tells moments in exact numbers
_EXAMPLE = "for example postgresql://host/database"
_CLOSED = ("28", "3D000", "42501", "42P01")
_ROWS = "halfnoise_rows"
_AT_ONCE = 2**22  # bytes of lines that are read at once
_NO_CELL = r"\N"
# A connection does one thing at a time, and threads may share one.
_turns: weakref.WeakKeyDictionary[Any, threading.RLock] = weakref.WeakKeyDictionary()
# What is stored, and what this user may read of it: a view, or a column that is worked out when it
# is read, could fail on a row, and a table elsewhere could change meanwhile.
_TABLES = """
select n.nspname, c.relname, pg_catalog.pg_table_is_visible(c.oid), c.oid
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'm') and n.nspname not in ('pg_catalog', 'information_schema')
  and n.nspname !~ '^pg_t' and pg_catalog.has_any_column_privilege(c.oid, 'select')
order by 1, 2
"""
_COLUMNS = """
select attname from pg_catalog.pg_attribute
where attrelid = %s and attnum > 0 and not attisdropped and attgenerated <> 'v'
  and pg_catalog.has_column_privilege(attrelid, attnum, 'select')
order by attnum
"""
_TYPES = "select oid, typname, typtype::text from pg_catalog.pg_type where oid = any(%s)"


@contextlib.contextmanager
def open_postgresql(url: str, text: TextFormat, room: Room) -> Iterator[Source]:
    """Open a table at an address, in a transaction that sees one moment and writes nothing."""
    parts = check_address("the table", url, _EXAMPLE)
    itself = "a database says itself how it is stored"
    text.check_unused(itself, *OF_LINES, *OF_CELLS, "sheet")
    place = f"postgresql://{parts.get('host', '')}/{parts.get('dbname', '')}"
    with ExitStack() as stack:

        def opened() -> Source:
            connection = stack.enter_context(contextlib.closing(dial(url)))
            connection.execute("set transaction isolation level repeatable read, read only")
            # What a policy hides from this user would be missing without a word.
            connection.execute("set local row_security = off")
            connection.execute("set local idle_in_transaction_session_timeout = 0")
            table = Rows(connection, place)
            tables = table.asked(_TABLES)
            names = {
                (schema, name, oid): [name] * seen + [f"{schema}.{name}"]
                for schema, name, seen, oid in tables
            }
            name, (schema, own, oid) = chosen(names, text.table, place)
            columns = [column for (column,) in table.asked(_COLUMNS, oid)]
            shown = ", ".join(map(_quoted, columns))
            query = f"select {shown} from {_quoted(schema)}.{_quoted(own)}"  # noqa: S608  # names
            return table.source(query, replace(text, table=name), stack, room)

        source = told(opened, place)
        yield replace(source, files=(_where(parts),))


def postgresql_source(
    connection: Any, query: str, text: TextFormat, stack: ExitStack, room: Room
) -> Source:
    """Return what a query finds as a table that has not been read yet."""
    return Rows(connection, "the table").source(query, text, stack, room)


@dataclass(frozen=True, slots=True)
class Rows:
    """What queries find on a connection of psycopg; ``place``: what it is called in messages."""

    connection: Any = field(repr=False)
    place: str

    def __post_init__(self) -> None:
        """Refuse a server on which cells could fail."""
        info = self.connection.info
        if info.server_version < _OLDEST or info.parameter_status("server_encoding") != "UTF8":
            rule = "of a database in UTF8, of PostgreSQL 14 or newer"
            raise NotSupportedError(f"{self.place} must be {rule}; release a copy in such a one")

    def asked(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        from psycopg.rows import tuple_row

        with self.connection.cursor(row_factory=tuple_row) as cursor:
            return list(cursor.execute(query, [*values] or None).fetchall())

    def source(self, query: str, text: TextFormat, stack: ExitStack, room: Room) -> Source:
        """Return what a query finds as a table that has not been read yet."""
        turn = _turns.setdefault(self.connection, threading.RLock())
        with turn:
            kinds = told(lambda: self._kinds(query), self.place)
        names = spelled([*kinds])
        own, _ = stack.enter_context(own_connection(room=room))

        def settle(columns: Collection[str], *, again: bool) -> nw.LazyFrame[Any]:
            del again  # a table of our own stays what it is
            wanted = {column: (names[column], kinds[column]) for column in columns}
            own.execute(f"create or replace temp table {_ROWS} as {_read(wanted)} limit 0")
            with turn:
                told(lambda: self._pour(own, query, wanted), self.place)
            return _lazy(own.table(_ROWS))

        nothing = _read({name: (names[name], kind) for name, kind in kinds.items()})
        return typed(_lazy(own.sql(f"{nothing} limit 0")), text, names, settle=settle)

    def _kinds(self, query: str) -> dict[str, Kind]:
        """Return the columns of what a query finds, by name; no row is read."""
        with self.connection.cursor() as cursor:
            cursor.execute(f"select * from ({query}) as halfnoise_rows limit 0")  # noqa: S608
            found = cursor.description
        codes = [column.type_code for column in found]
        types = {oid: (name, kind) for oid, name, kind in self.asked(_TYPES, codes)}
        if len({column.name for column in found}) < len(found):
            raise InvalidParameterError("a column is there twice; rename one of the two")
        return {column.name: kind_of(column, *types[column.type_code]) for column in found}

    def _pour(self, own: Any, query: str, wanted: Mapping[str, tuple[str, Kind]]) -> None:
        """Copy the cells of some columns; whatever is set for that is undone."""
        cells = [kind.sent.format(_quoted(column)) for column, (_, kind) in wanted.items()]
        shown = ", ".join(cells) or "1"
        copy = f"copy (select {shown} from ({query}) as halfnoise_rows) to stdout"  # noqa: S608
        insert = f"insert into {_ROWS} {_read(wanted, '$1')}"
        with self.connection.transaction(force_rollback=True), self.connection.cursor() as cursor:
            cursor.execute("set transaction read only")
            # To the last digit, as the same text everywhere.
            cursor.execute("set local extra_float_digits = 1; set local datestyle = 'ISO'")
            cursor.execute("set local client_encoding = 'UTF8'")
            with cursor.copy(copy) as blocks:
                for lines in _lines(blocks):
                    own.execute(insert, [lines])


def told(work: Callable[[], Any], place: str) -> Any:
    """Do some work; what goes wrong is told by its kind, without any of the server's words."""

    def tried() -> Any:
        try:
            return work()
        except HalfnoiseError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever the driver raises
            said = _ours(error, place)
        raise said

    return quietly(tried, f"{place} could not be read")


def _ours(error: Exception, place: str) -> HalfnoiseError:
    if is_for_later(error):
        why = "the server cannot be reached, lets this user not in, is busy or was stopped"
        remedy = "check the address and the password (PGPASSWORD, .pgpass), or try again"
        return TryAgainError(f"{place} could not be read: {why}; {remedy}")
    if state(error).startswith(_CLOSED):
        why = "it is not there, this user may not read it, or a policy hides rows of it"
        remedy = "grant select on the table, and release it as somebody who sees all rows"
        return DataError(f"{place} could not be read: {why}; {remedy}")
    return failures.ours(error, f"{place} could not be read: PostgreSQL refused")


def _read(wanted: Mapping[str, tuple[str, Kind]], lines: str = "''") -> str:
    """Return SQL that reads lines as columns."""
    made: dict[str, str] = {}
    for i, (name, kind) in enumerate(wanted.values(), start=1):
        made |= kind.columns(name, f"nullif(cells[{i}], '{_NO_CELL}')")
    shown = ", ".join(f"{sql} as {_quoted(name)}" for name, sql in made.items()) or "1"
    each = f"unnest(string_split({lines}, chr(10)))"
    return f"select {shown} from (select string_split({each}, chr(9)) as cells)"  # noqa: S608


def _lines(blocks: Iterable[Any]) -> Iterator[str]:
    """Yield many lines at once, whole ones, without what ends the last of them."""
    held, size = list[bytes](), 0
    for block in blocks:
        held.append(bytes(block))
        size += len(held[-1])
        if size >= _AT_ONCE and held[-1].endswith(b"\n"):
            yield b"".join(held)[:-1].decode()
            held, size = [], 0
    if held:
        yield b"".join(held)[:-1].decode()


def _where(parts: Mapping[str, Any]) -> str:
    """Return which database it is, whoever asks: a name in a ledger stands for it."""
    place = parts.get("host", ""), parts.get("port", ""), parts.get("dbname", "")
    return "postgresql://{}:{}/{}".format(*place)


def _lazy(relation: Any) -> nw.LazyFrame[Any]:
    frame: nw.LazyFrame[Any] = nw.from_native(relation).lazy()
    return frame


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
