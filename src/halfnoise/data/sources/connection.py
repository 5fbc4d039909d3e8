"""A DuckDB connection of our own: it loads nothing, lives in UTC and spills where only we look."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from halfnoise.data.sources.room import FOR_A_THREAD, Room
from halfnoise.scratch import own_folder

# Progress can be asked for (``progress``), and is never printed.
QUIET = (
    "set enable_progress_bar = true; set enable_progress_bar_print = false; set TimeZone = 'UTC'"
)
_BYTES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


@contextlib.contextmanager
def own_connection(*without: str, room: Room) -> Iterator[tuple[Any, Path]]:
    """Open a connection whose memory is limited, and a folder; both are gone afterwards.

    ``without``: those of DuckDB's optimizers that are not wanted.
    """
    with (
        own_folder(room.scratch) as scratch,
        contextlib.closing(_connect(temp_directory=str(scratch))) as connection,
    ):
        # With hundreds of sums and a long list it takes seconds to plan, and never helps ours.
        _disable(connection, "partial_aggregate_pushdown", *without)
        _limit_memory(connection, room.memory)
        yield connection, scratch


def _connect(**config: Any) -> Any:
    """Return a connection of our own that loads nothing, prints nothing and lives in UTC."""
    import duckdb

    quiet = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    connection = duckdb.connect(config=quiet | config)
    connection.execute(QUIET)
    return connection


def _disable(connection: Any, *optimizers: str) -> None:
    """Let DuckDB do without some of its optimizers, those that it knows."""
    known = {name for (name,) in connection.execute("from duckdb_optimizers()").fetchall()}
    unwanted = ",".join(name for name in optimizers if name in known)
    connection.execute(f"set disabled_optimizers = '{unwanted}'")


def _limit_memory(connection: Any, memory: int | None = None) -> None:
    """Let DuckDB hold half a GB for each thread, one at least; beyond that it spills to disk.

    Where it may hold less than its threads want, there are fewer.
    """
    settings = "select current_setting('threads'), current_setting('memory_limit')"
    # Fetched to the end: a connection with a result that is left open reads nothing else.
    ((threads, limit),) = connection.execute(settings).fetchall()
    amount, _, unit = limit.partition(" ")
    wanted = memory or max(2, int(threads)) * 10**9 // 2
    if memory or wanted < float(amount) * _BYTES.get(unit, 1):
        connection.execute(f"set memory_limit = '{wanted}B'")
    if (fewer := max(1, wanted // FOR_A_THREAD)) < int(threads):
        connection.execute(f"set threads = {fewer}")
