"""Tables of Ibis: taken apart, and read by the engine below (docs/engines.md)."""

from contextlib import ExitStack
from typing import Any

from halfnoise.data.sources.postgresql import postgresql_source
from halfnoise.data.sources.room import Room
from halfnoise.data.sources.source import Source, TextFormat
from halfnoise.errors import InvalidParameterError

_VETTED = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "pyspark": "PySpark"}


def below(table: Any, text: TextFormat, stack: ExitStack, room: Room) -> Any:
    """Return the relation, frame or source that a table stands for; refuse what is not vetted."""
    backend = table.get_backend()
    if backend.name not in _VETTED:
        why = (
            f"how {backend.name} compares text, tells time and overflows is not known to halfnoise"
        )
        remedy = "to_pyarrow() of the table, or another way to read it with them, will do"
        known = " and ".join([", ".join([*_VETTED.values()][:-1]), [*_VETTED.values()][-1]])
        raise InvalidParameterError(f"{why}; of Ibis it reads {known} ({remedy})")
    # There is no public way to let an engine know tables in memory and functions of one's own.
    backend._run_pre_execute_hooks(table)  # noqa: SLF001
    query = backend.compile(table)
    if backend.name == "postgres":
        found: Source = postgresql_source(backend.con, query, text, stack, room)
        return found
    return backend.con.sql(query) if backend.name == "duckdb" else backend.raw_sql(query)
