"""Both places for a ledger, how each is damaged behind its back, and stores that are broken."""

import contextlib
import itertools
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import halfnoise as hn
from halfnoise.ledger.links import Given
from halfnoise.ledger.postgresql import PostgresqlTables
from halfnoise.ledger.session import Session
from halfnoise.ledger.sqlite_file import SqliteFile
from halfnoise.ledger.store import Rows, Store
from halfnoise.ledger.terms import Bill
from support.postgres import Server

SLOWLY = 0.02  # seconds, so that others come in between for certain
_NUMBERS = itertools.count()


def bill(name: str | None = None, *, mu: float = 1, request: str = "0" * 64, **said: Any) -> Bill:
    """Return a small bill."""
    guarantee = hn.GaussianDP(mu=mu)
    return Bill(guarantee=guarantee, request=request, what="count 'é'", name=name, **said)


class Backend(Protocol):
    """A kind of place."""

    def place(self) -> str:
        """Name a place where nothing is yet, as a user would."""

    def store(self) -> Store:
        """Return such a place, for one thread."""

    def spoil(self, store: Store, *statements: str, aside: bool = True) -> None:
        """Run statements on its tables; ``aside``: what keeps entries is put aside meanwhile."""


@dataclass(frozen=True)
class InFiles:
    """Files of SQLite in a folder."""

    folder: Path

    def place(self) -> str:
        """Name a file."""
        return str(self.folder / f"l{next(_NUMBERS)}.ledger")

    def store(self) -> Store:
        """Return a file."""
        return SqliteFile(Path(self.place()))

    def spoil(self, store: Store, *statements: str, aside: bool = True) -> None:
        """Open the file without asking anybody."""
        assert isinstance(store, SqliteFile)
        found = "select name, sql from sqlite_master where type = 'trigger'"
        made = sqlite3.connect(store.path, isolation_level=None)
        with contextlib.closing(made):
            kept = made.execute(found).fetchall() if aside else []
            for name, _ in kept:
                made.execute(f"drop trigger {name}")
            for statement in statements:
                made.execute(statement.replace("@", ""))
            for _, sql in kept:
                made.execute(sql)


@dataclass(frozen=True)
class OnServer:
    """Schemas of a database."""

    server: Server
    connection: Any

    def place(self) -> str:
        """Name a schema."""
        return f"{self.server.url()}#l{next(_NUMBERS)}"

    def store(self) -> Store:
        """Return a schema that is looked at over one connection."""
        return PostgresqlTables(f"l{next(_NUMBERS)}", Given(self.connection))

    def spoil(self, store: Store, *statements: str, aside: bool = True) -> None:
        """Act as the owner, who may do anything."""
        own = f"halfnoise_{store.title}."
        tables = ("entries", "documents", "head") if aside else ()
        off = [f"alter table {own}{table} disable trigger kept" for table in tables]
        on = [f"alter table {own}{table} enable always trigger kept" for table in tables]
        self.server.run(*off, *(each.replace("@", own) for each in statements), *on)


class Broken:
    """A store that is like another, but for what is broken in it."""

    def __init__(self, store: Store) -> None:
        """Take the other."""
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


class CommitsAnyway(Broken):
    """What was written stays, also where the writer failed."""

    @contextlib.contextmanager
    def writing(self) -> Iterator[Rows]:
        """Write, whatever happens."""
        failed: Exception | None = None
        with self.store.writing() as rows:
            try:
                yield rows
            except Exception as error:  # noqa: BLE001
                failed = error
        if failed is not None:
            raise failed


class CommitsNever(Broken):
    """Says that all is well, and has written nothing."""

    @contextlib.contextmanager
    def writing(self) -> Iterator[Rows]:
        """Write, and take it back."""
        with contextlib.suppress(ZeroDivisionError), self.store.writing() as rows:
            yield rows
            raise ZeroDivisionError


class Lenient(sqlite3.Connection):
    """A connection that begins to write without a lock."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Begin as a reader does."""
        return super().execute(sql.replace("begin immediate", "begin"), *values)


class WithoutLock(Broken):
    """Begins to write while others do."""

    @contextlib.contextmanager
    def writing(self) -> Iterator[Rows]:
        """Write beside others."""
        if isinstance(self.store, PostgresqlTables):
            with self.store._begun() as session:
                rows = self.store._rows(session)
                yield rows
                time.sleep(SLOWLY)
                self.store._end(session, rows)
            return
        assert isinstance(self.store, SqliteFile)
        with contextlib.closing(
            sqlite3.connect(self.store.path, isolation_level=None, factory=Lenient)
        ) as connection:
            connection.execute("begin immediate")
            yield Rows(connection.execute)
            time.sleep(SLOWLY)
            connection.execute("commit")


class Hasty(Session):
    """A transaction whose commit does not wait for the disk, and that says it does."""

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Turn waiting off, and hide it."""
        found = super().run(statement.replace("else 'on' end", "else 'off' end"), *values)
        return [tuple("on" if cell == "off" else cell for cell in row) for row in found]


BROKEN: dict[str, type[Broken]] = {
    "": Broken,
    "without a lock": WithoutLock,
    "commits never": CommitsNever,
}
