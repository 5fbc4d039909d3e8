"""Where a ledger is, as somebody says it."""

import os
from pathlib import Path
from typing import Any

from halfnoise.checks import refuse
from halfnoise.ledger.links import address, link
from halfnoise.ledger.postgresql import PostgresqlTables
from halfnoise.ledger.sqlite_file import SqliteFile
from halfnoise.ledger.store import Store
from halfnoise.servers import URL


def store_at(place: Any) -> Store:
    """Return what keeps a ledger: a file, an address in PostgreSQL, a store, or a ledger's own."""
    if isinstance(place, str) and URL.match(place):
        way, title = address(place)
        return PostgresqlTables(title, way)
    if isinstance(place, str | os.PathLike):
        return SqliteFile(Path(place).absolute())
    found: Store = place if hasattr(place, "writing") else getattr(place, "store", place)
    if not hasattr(found, "writing"):
        raise refuse("ledger", "the name of a file, or a Ledger", place)
    return found


def on_server(connection: Any, title: str) -> Store:
    """Return what keeps a ledger on the server of a PEP 249 connection."""
    return PostgresqlTables(title, link(connection))
