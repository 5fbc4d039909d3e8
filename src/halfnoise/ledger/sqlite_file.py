"""A ledger in a file of SQLite: for its owner alone, and on disk before anything goes on.

What is committed stands in the write-ahead log first. Before a charge counts it is moved into the
file itself and the log is emptied, so that nothing is lost with a log that is deleted, and nothing
is taken back by one that is damaged after a crash.
"""

import contextlib
import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from halfnoise import files
from halfnoise.errors import AGAIN, DataError, HalfnoiseError, TryAgainError
from halfnoise.ledger.entries import Row, damaged
from halfnoise.ledger.one_name import check_one_name
from halfnoise.ledger.plain import LONGEST, in_a_line
from halfnoise.ledger.store import Rows, none_at
from halfnoise.values import dataclass

T = TypeVar("T")
PATIENCE = 30.0  # seconds to wait for others
AT_ONCE = 0.2  # seconds of it inside SQLite, where no signal is heard
OURS = 0x686E6C67  # in the head of the file: this is a ledger
FULL = 2
ENDING = ".ledger"
_MAGIC = b"SQLite format 3\0"
# As SQLite keeps the text of statements, letter by letter.
_TABLES = (
    "CREATE TABLE entries (entry integer primary key, body text not null, hash text not null)",
    "CREATE TABLE documents (hash text primary key, content blob not null)",
    "CREATE TABLE head (entry integer not null, hash text not null)",
)
# Entries are only ever added.
_KEPT = tuple(
    f"CREATE TRIGGER {table}_{verb} before {verb} on {table}"
    f" begin select raise(abort, 'a ledger is only added to'); end"
    for table in ("entries", "documents")
    for verb in ("update", "delete")
)
SCHEMA = (*_TABLES, *_KEPT)
_OTHERS = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_LATER = (*_OTHERS, "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_NOMEM", "SQLITE_INTERRUPT")
MAY_STAND = "what was charged may stand, and the same --name goes on with it"
_CLOSED = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A ledger in a file."""

    path: Path

    @property
    def name(self) -> str:
        """The file's name, as short as it is from here, and as a line can show it."""
        return in_a_line(self._near)

    @property
    def _near(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            return str(self.path.relative_to(Path.cwd()))
        return str(self.path)

    @property
    def title(self) -> str:
        """The same without folder and ending, in letters that all can read."""
        named = self.path.name.removesuffix(ENDING) or self.path.name
        return "".join(x if x.isprintable() else "\ufffd" for x in named)[:LONGEST]

    @property
    def files(self) -> tuple[str, ...]:
        """The file, its log and what its readers share."""
        return self._near, f"{self._near}-wal", f"{self._near}-shm"

    def exists(self) -> bool:
        """Whether something is there, be it only the log of a ledger that was taken away."""
        return os.path.lexists(self.path) or os.path.lexists(f"{self.path}-wal")

    def create(self, first: Row) -> None:
        """Write the file whole, under a name that nothing had."""
        made = sqlite3.connect(":memory:", isolation_level=None)
        with contextlib.closing(made):
            made.execute(f"pragma application_id = {OURS}")
            for statement in SCHEMA:
                made.execute(statement)
            made.execute("insert into head values (0, '')")
            Rows(made.execute).append(first)
            content = bytearray(made.serialize())
        # With a log from the start: many at once would get into each other's way at the change.
        content[18:20] = 2, 2
        try:
            with contextlib.suppress(FileNotFoundError):
                os.lstat(f"{self.path}-journal")  # SQLite asks for it, so there must be such names
            files.write_whole(self.path, bytes(content), new=True)
        except FileExistsError:
            raise
        except (OSError, ValueError) as error:
            raise self._not_made(error) from None

    def check_folder(self) -> None:
        """Refuse a folder in which no ledger can be made."""
        if not os.access(self.path.parent, os.W_OK | os.X_OK):
            raise self._not_made(PermissionError(errno.EACCES, ""))

    def _not_made(self, error: Exception) -> DataError:
        why, known = f"the ledger {self.name!r} could not be made", getattr(error, "errno", None)
        if known in AGAIN:
            return TryAgainError(f"{why}: the disk is full or busy; try again")
        said = "you may not write there"
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            said = "there is no such folder"
        elif known in (None, errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL):
            said = "no file there can have such a name, or such a long one"
        remedy = "name another place (--ledger FILE), or say --no-ledger"
        return DataError(f"{why}: {said}; {remedy}")

    @contextlib.contextmanager
    def reading(self) -> Iterator[Rows]:
        """Look at one state of it, also where it may not be written to."""
        with self._open(read=True) as connection:
            connection.execute("begin")
            yield Rows(connection.execute)
            connection.execute("rollback")

    @contextlib.contextmanager
    def writing(self) -> Iterator[Rows]:
        """Write alone, and have it in the file itself when this ends."""
        with self._open() as connection:
            _patiently(lambda: connection.execute("begin immediate"))
            try:
                yield Rows(connection.execute)
            except BaseException:
                if connection.in_transaction:  # else SQLite did so itself, as on a full disk
                    connection.execute("rollback")
                raise
            try:
                connection.execute("commit")
                _checkpoint(connection)
            except sqlite3.Error as error:
                raise self._ours(error, MAY_STAND) from None

    def check(self) -> None:
        """Have SQLite look through the whole file."""
        with self._open(read=True) as connection:
            found = connection.execute("pragma integrity_check(1)").fetchone()
            if found != ("ok",):
                raise damaged("SQLite finds its pages out of order")

    @contextlib.contextmanager
    def _open(self, *, read: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            self._check_place()
            opened = _patiently(lambda: self._connected(read=read))
            with contextlib.closing(opened) as connection:
                yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter where its words are none
            raise self._ours(error, read=read) from None
        except OSError:
            raise self._closed(read=True) from None

    def _check_place(self) -> None:
        """Refuse what is no file, or not the only name of one."""
        if not self.exists():
            raise none_at(self.name)
        if not self.path.is_file():
            raise DataError(
                f"there is {_there(self.path)} at {self.name!r}, and no ledger; stop releasing, and"
                " put the ledger back, or name it (--ledger FILE)"
            )
        if not self.path.stat().st_size:
            raise self._other("the file is empty")
        check_one_name(self.path, self.name)

    def _connected(self, *, read: bool) -> sqlite3.Connection:
        """Open it as it must be: what is committed is on disk, whatever happens next."""
        where = quote(os.fsencode(self.path.absolute()))
        real = Path(os.path.realpath(self.path))
        # Where nothing may be written SQLite must not try: its log would be one that nobody can
        # write to, also later. What counts is in the file itself.
        alone = not all(os.access(each, os.W_OK) for each in (real, real.parent))
        if alone and not read:
            raise self._closed(read=False)
        how = "mode=ro&immutable=1" if alone else "mode=rw"
        found = sqlite3.connect(
            f"file:{where}?{how}", uri=True, timeout=min(AT_ONCE, PATIENCE), isolation_level=None
        )
        try:
            for setting in ("trusted_schema = off", "cell_size_check = on", "fullfsync = on"):
                found.execute(f"pragma {setting}")
            self._check(found)  # before anything is written: what is not ours stays as it is
            if not alone:
                self._settle(found)
        except BaseException:
            found.close()
            raise
        return found

    def _settle(self, connection: sqlite3.Connection) -> None:
        """Set what makes a commit last, and see that it is set."""
        (mode,) = connection.execute("pragma journal_mode = wal").fetchone()
        connection.execute("pragma synchronous = full")
        (level,) = connection.execute("pragma synchronous").fetchone()
        if (mode, level) != ("wal", FULL):
            said = "the file system cannot keep what is committed; put the ledger elsewhere"
            raise DataError(f"the ledger {self.name!r} cannot be kept safely: {said}")

    def _closed(self, *, read: bool) -> DataError:
        why = f"the ledger {self.name!r} may not be {'read' if read else 'written to'} by you"
        return DataError(f"{why}; check the file and its folder")

    def _ours(
        self, error: Exception, stands: str = "nothing was charged by this", *, read: bool = False
    ) -> HalfnoiseError:
        kind = getattr(error, "sqlite_errorname", "")
        if kind.startswith(_LATER):
            why = f"could not be {'read' if read else 'written'}"
            busy = "it is locked by others, or the disk is full"
            return TryAgainError(f"the ledger {self.name!r} {why}: {busy}; {stands}; try again")
        if kind.startswith(_CLOSED):
            return self._closed(read=read)
        how = f"{self.name!r} is no sound file of SQLite ({kind or 'SQLITE_ERROR'})"
        if kind != "SQLITE_NOTADB":
            return damaged(how)
        with self.path.open("rb") as file:  # nobody has a lock on it that closing could give up
            return self._other(how, file.read(72))

    def _check(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is not made as ours are."""
        (own,) = connection.execute("pragma application_id").fetchone()
        found = connection.execute("select sql from sqlite_master where sql is not null").fetchall()
        if own != OURS:
            raise self._other("the file is not one that halfnoise made")
        if sorted(sql for (sql,) in found) != sorted(SCHEMA):
            raise damaged("its tables are not as halfnoise made them")

    def _other(self, how: str, head: bytes = b"") -> DataError:
        """Tell a ledger that is damaged, by its name or its head, from a file of another kind."""
        if self.path.suffix == ENDING or (head[:16], head[68:]) == (_MAGIC, OURS.to_bytes(4)):
            return damaged(how)
        remedy = f"name the ledger itself, as {self.name}{ENDING}"
        return DataError(f"{self.name!r} is no ledger, but a file of another kind; {remedy}")


def _patiently(work: Callable[[], T]) -> T:
    """Do something as soon as others let go of the file; a signal is heard meanwhile."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorname", "").startswith(_OTHERS)
            if not busy or time.monotonic() > until:
                raise
        time.sleep(0.001)


def _there(path: Path) -> str:
    """Say what is in the place of a file."""
    if path.is_dir():
        return "a folder"
    if path.is_symlink():
        return "a link that leads to no file"
    return "something that is no file" if os.path.lexists(path) else "only the log of a ledger"


def _checkpoint(connection: sqlite3.Connection) -> None:
    """Move what is committed into the file itself, and onto the disk."""
    until = time.monotonic() + PATIENCE
    while True:
        busy, _, _ = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        if not busy:
            return
        if time.monotonic() > until:
            raise TryAgainError(
                "the ledger is busy: the charge stands, but is not yet safely on disk; try again,"
                " the same --name goes on with it"
            )
        time.sleep(0.001)
