"""A transaction on a PEP 249 connection to PostgreSQL, whichever driver it is of.

A driver's errors are told by their SQLSTATE; none of its words, no address and no password gets
into a message.
"""

import contextlib
import secrets
from collections.abc import Mapping
from typing import Any

from halfnoise import failures
from halfnoise.errors import (
    DataError,
    HalfnoiseError,
    InvalidParameterError,
    NotSupportedError,
    TryAgainError,
)
from halfnoise.ledger.entries import damaged
from halfnoise.servers import is_for_later, state

OLDEST = 120_000  # PostgreSQL 12
WAIT, IDLE = "30s", "60s"  # for other writers; until the server gives up on a writer that hangs
_CLOSED = ("25006", "28", "3D000", "42501")
_BROKEN = ("XX001", "XX002")
_INSIDE = ("25001", "25P02")  # somebody's transaction
_OPEN = (1, 2, 3)  # as libpq counts: at work, in a transaction, in one that failed
_MARK = "halfnoise.mark"
# Each needs a transaction of its own from its very beginning: whatever level the connection has,
# one of the two statements changes it, which the server refuses after any query.
_WRITE = ("serializable", "read committed")
_READ = ("serializable", "repeatable read, read only")
_SET = f"""
select set_config('{_MARK}', %s, true) as mark,
  set_config('search_path', 'pg_catalog', true) as path,
  set_config('lock_timeout', '{WAIT}', true) as wait,
  set_config('idle_in_transaction_session_timeout', '{IDLE}', true) as idle,
  set_config('synchronous_commit', case current_setting('synchronous_commit')
    when 'remote_apply' then 'remote_apply' else 'on' end, true) as level
"""
_SETTINGS = ("synchronous_commit", "fsync", "full_page_writes")
_FOUND = (_MARK, "server_version_num", "server_encoding", "client_encoding", *_SETTINGS)
_GET = "select " + ", ".join(
    f"current_setting('{name}', true) as s{i}" for i, name in enumerate(_FOUND)
)


class Session:
    """One transaction, to be left by ``commit`` or without."""

    def __init__(self, connection: Any, name: str) -> None:
        """Take a connection; ``name``: what the ledger is called in messages."""
        self._connection, self._name = connection, name
        self._mark, self._own = secrets.token_hex(8), False

    def begin(self, *, read: bool) -> None:
        """Start a transaction in which a commit lasts, or refuse to; nothing of others is touched.

        What is set lasts for the transaction alone. Where it is gone with the next statement, each
        statement is a transaction of its own, and nothing could be written whole.
        """
        if _is_inside(self._connection):
            raise self._inside()
        for level in _READ if read else _WRITE:
            self.run(f"set transaction isolation level {level}")
        self._own = True
        self.run(_SET, self._mark)
        ((mark, version, *encodings, level, fsync, pages),) = self.run(_GET)
        if mark != self._mark:
            why = "its connection commits each statement by itself"
            raise InvalidParameterError(f"{self._said(why)}; turn autocommit off")
        if int(version or 0) < OLDEST:
            raise NotSupportedError(self._said("its server is older than PostgreSQL 12"))
        if encodings != ["UTF8", "UTF8"]:
            remedy = "make a database in UTF8, and connect with client_encoding UTF8"
            raise NotSupportedError(f"{self._said('its text is not in UTF8')}; {remedy}")
        if not read and (level not in ("on", "remote_apply") or (fsync, pages) != ("on", "on")):
            why = "its server may lose what it committed"
            rule = "fsync, full_page_writes and synchronous_commit must be on"
            raise NotSupportedError(f"{self._said(why)}; {rule}")

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement and return the rows that it finds, as plain values."""
        try:
            cursor = self._connection.cursor()
            try:
                cursor.execute(statement, values)
                found = cursor.fetchall() if cursor.description else []
            finally:
                with contextlib.suppress(Exception):
                    cursor.close()
        except Exception as error:  # noqa: BLE001  # of any driver
            raise self._inside() if state(error) in _INSIDE else ours(error, self._name) from None
        return [_plain(row) for row in found]

    def commit(self) -> None:
        """Commit, if this is still the transaction that was begun."""
        ((mark,),) = self.run(f"select current_setting('{_MARK}', true) as mark")
        if mark != self._mark:
            raise self.lost()
        try:
            self._connection.commit()
        except Exception as error:  # noqa: BLE001  # of any driver
            raise ours(error, self._name) from None

    def leave(self) -> None:
        """Give up what is not committed; where that fails the server does so by itself."""
        if self._own:
            with contextlib.suppress(Exception):
                self._connection.rollback()

    def lost(self) -> HalfnoiseError:
        """Build the sentence for a transaction that somebody else ended."""
        why = "something else ended its transaction, so nothing may have been written"
        return DataError(f"{self._said(why)}; give the ledger a connection of its own")

    def _inside(self) -> HalfnoiseError:
        why = "its connection is inside a transaction that is not the ledger's"
        remedy = "commit or roll back first, or give the ledger a connection of its own"
        return InvalidParameterError(f"{self._said(why)}; {remedy}")

    def _said(self, why: str) -> str:
        return f"the ledger {self._name!r} cannot be used: {why}"


def _is_inside(connection: Any) -> bool:
    """Whether a driver says that a transaction is open; to ask the server would disturb it."""
    known = getattr(getattr(connection, "info", None), "transaction_status", None)
    return known in _OPEN or getattr(connection, "_in_transaction", False) is True


def _plain(row: Any) -> tuple[Any, ...]:
    """Return a row, as drivers and their settings have it, as a tuple."""
    return tuple(map(_cell, row.values() if isinstance(row, Mapping) else row))


def _cell(found: Any) -> Any:
    """Return bytes as bytes: some drivers lend their memory, or give PostgreSQL's digits."""
    if isinstance(found, str) and found.startswith("\\x"):  # no text of ours starts so
        with contextlib.suppress(ValueError):
            return bytes.fromhex(found[2:])
    return bytes(found) if isinstance(found, memoryview | bytearray) else found


def ours(error: Exception, name: str) -> HalfnoiseError:
    """Return what a driver's error means for a ledger."""
    known = state(error)
    if is_for_later(error):
        why = "the server cannot be reached, is busy or was stopped"
        stands = "what was charged may stand, and the same --name goes on with it"
        return TryAgainError(f"the ledger {name!r} could not be used: {why}; try again; {stands}")
    if known.startswith(_CLOSED):
        why = "this user lacks a right that it needs, or the server takes no writes"
        remedy = "see docs/ledger-postgresql.md for the rights"
        return DataError(f"the ledger {name!r} could not be used: {why}; {remedy}")
    if known.startswith(_BROKEN):
        return damaged("PostgreSQL finds its pages out of order")
    return failures.ours(error, f"the ledger {name!r} could not be used: PostgreSQL refused")
