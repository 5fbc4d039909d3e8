"""How a ledger gets at a connection to PostgreSQL: one that is open, or one for each look."""

import contextlib
import functools
import inspect
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NoReturn, TypeAlias

from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError, TryAgainError
from halfnoise.ledger.session import ours
from halfnoise.servers import check_address, dial
from halfnoise.values import dataclass, field

PATIENCE = 30.0  # seconds to wait for other threads
_EXAMPLE = "for example postgresql://host/database#survey"
Link: TypeAlias = Callable[[str], AbstractContextManager[Any]]  # by the ledger's name in messages


class Given:
    """A connection that somebody opened, and closes: for one thread at a time, in one process."""

    def __init__(self, connection: Any) -> None:
        """Refuse what is no PEP 249 connection."""
        needed = [getattr(connection, name, None) for name in ("cursor", "commit", "rollback")]
        if not all(map(callable, needed)) or any(map(inspect.iscoroutinefunction, needed)):
            rule = "an open PEP 249 connection, or a function that opens one"
            # Its words may hold an address.
            raise refuse("connection", rule, type(connection), "for example psycopg.connect(...)")
        self._connection, self._owner, self._lock = connection, os.getpid(), threading.Lock()

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[Any]:
        """Lend the connection."""
        if self._owner != os.getpid():
            why = f"the connection of the ledger {name!r} belongs to the process that opened it"
            raise InvalidParameterError(f"{why}; open one in this process")
        if not self._lock.acquire(timeout=PATIENCE):
            raise TryAgainError(f"the ledger {name!r} is in use by another thread; try again")
        try:
            yield self._connection
        finally:
            self._lock.release()

    def __reduce__(self) -> NoReturn:
        remedy = f"name the ledger by its address, {_EXAMPLE}, or give a function that connects"
        raise TypeError(f"an open connection cannot be pickled; {remedy}")


@dataclass(frozen=True, slots=True)
class Dialled:
    """A connection that is opened for each look, and closed."""

    connect: Callable[[], Any] = field(repr=False)

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[Any]:
        """Open a connection, and close it."""
        try:
            connection = self.connect()
        except Exception as error:  # noqa: BLE001  # of any driver
            raise ours(error, name) from None
        try:
            yield connection
        finally:
            with contextlib.suppress(Exception):  # it may be gone
                connection.close()


def link(connection: Any) -> Link:
    """Return the way to a connection: itself, or what opens one."""
    return Dialled(connection) if callable(connection) else Given(connection)


def address(url: str) -> tuple[Link, str]:
    """Return the way to what an address names, and the name of the ledger there."""
    where, _, title = url.rpartition("#")
    if not where:
        rule = "an address that ends in the ledger's name"
        raise InvalidParameterError(f"the ledger must be {rule}; {_EXAMPLE}")
    check_address("the ledger", where, _EXAMPLE)
    return Dialled(functools.partial(dial, where)), title
