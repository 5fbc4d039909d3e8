"""Tables of PostgreSQL, made from Arrow, and read by way of Ibis."""

import functools
import uuid
from typing import Any

import ibis
import pyarrow as pa

from support.postgres import shared

# Case and accents do not count in it, and two texts are equal that differ in bytes.
LOOSE = "halfnoise_loose"
_TYPES = {
    pa.bool_(): "boolean",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint64(): "numeric(20, 0)",
    pa.float64(): "double precision",
    pa.float32(): "real",
    pa.string(): "text",
    pa.large_string(): "text",
    pa.dictionary(pa.int8(), pa.string()): "text",
    pa.binary(): "bytea",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", "UTC"): "timestamptz",
    pa.decimal128(38, 2): "numeric(38, 2)",
    pa.decimal256(60, 1): "numeric",
    pa.uuid(): "uuid",
}


@functools.cache
def connection() -> Any:
    """Return the one connection of Ibis, to a database where text may be compared loosely."""
    how = "provider = icu, locale = 'und-u-ks-level1', deterministic = false"
    shared().run(f"create collation {LOOSE} ({how})")
    return ibis.connect(shared().url())


def stored(table: pa.Table, collation: str = "") -> str:
    """Store a table and return its name."""
    name = f"t{uuid.uuid4().hex}"
    own = connection().con
    kinds = [_TYPES[kind] for kind in table.schema.types]
    kinds = [
        f"{kind} collate {collation}" if collation and kind == "text" else kind for kind in kinds
    ]
    made = (f"{quoted(n)} {kind}" for n, kind in zip(table.column_names, kinds, strict=True))
    own.execute(f"create unlogged table {name} ({', '.join(made)})")
    cells = (column.to_pylist() for column in table.columns)
    with own.cursor() as cursor, cursor.copy(f"copy {name} from stdin") as copy:
        for row in zip(*cells, strict=True):
            copy.write_row(row)
    return name


def postgresql(table: pa.Table, _: object = None, collation: str = "") -> Any:
    """Return a table of Ibis over PostgreSQL."""
    return connection().table(stored(table, collation))


def quoted(name: str) -> str:
    """Return a name in quotes."""
    return '"' + name.replace('"', '""') + '"'
