"""Tables of Ibis: taken apart, and read by the engine below (docs/engines.md)."""

from typing import Any

from halfnoise.errors import InvalidParameterError

_VETTED = "DuckDB and PySpark"


def below(table: Any) -> Any:
    """Return the relation or frame that a table stands for; refuse engines that are not vetted."""
    backend = table.get_backend()
    if backend.name not in ("duckdb", "pyspark"):
        why = (
            f"how {backend.name} compares text, tells time and overflows is not known to halfnoise"
        )
        remedy = "to_pyarrow() of the table, or another way to read it with them, will do"
        raise InvalidParameterError(f"{why}; of Ibis it reads {_VETTED} ({remedy})")
    # There is no public way to let an engine know tables in memory and functions of one's own.
    backend._run_pre_execute_hooks(table)  # noqa: SLF001
    query = backend.compile(table)
    return backend.con.sql(query) if backend.name == "duckdb" else backend.raw_sql(query)
