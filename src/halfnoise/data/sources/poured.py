"""Rows of text that no engine reads by itself, poured into a connection of ours when needed."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.data.quiet import quietly
from halfnoise.data.sources.plain_cells import LONGEST
from halfnoise.data.sources.source import Source, TextFormat

Texts = Iterable[Sequence[str | None]]
_ROWS = "halfnoise_rows"
_AT_ONCE = 4096  # rows that are held in memory; the engine spills others to disk
_TEXT_AT_ONCE = 2 * LONGEST  # characters of them, but for the last row


def poured(
    connection: Any,
    text: TextFormat,
    names: Mapping[str, str],
    rows: Callable[[Sequence[str]], Texts],
    failed: str,
) -> Source:
    """Return a table of text whose ``rows``, those of some columns, are read when needed.

    ``failed`` is said where they cannot be read.
    """

    def shown(columns: Collection[str]) -> str:
        return ", ".join(f'null::varchar as "{names[column]}"' for column in columns) or "1"

    def settle(columns: Collection[str], *, again: bool) -> nw.LazyFrame[Any]:
        del again  # a table of our own stays what it is
        wanted = [*columns]
        connection.execute(
            f"create or replace temp table {_ROWS} as select {shown(wanted)} limit 0"
        )
        quietly(lambda: _pour(connection, rows(wanted), len(wanted)), failed)
        frame: nw.LazyFrame[Any] = nw.from_native(connection.table(_ROWS)).lazy()
        return frame

    types = connection.sql(f"select {shown(names)} limit 0")
    return replace(Source.over(types, text, names), settle=settle, nulled=True)


def _pour(connection: Any, rows: Texts, width: int) -> None:
    """Insert rows, many at once: as text in JSON, of which DuckDB guesses no type."""
    cells = ", ".join(f"row[{i}]" for i in range(1, width + 1)) or "1"
    unpacked = """select unnest(from_json($1, '[["VARCHAR"]]')) as row"""
    insert = f"insert into {_ROWS} from ({unpacked}) select {cells}"
    for some in _batches(rows):
        connection.execute(insert, [json.dumps(some, ensure_ascii=False)])


def _batches(rows: Texts) -> Iterator[list[Sequence[str | None]]]:
    """Yield some rows after others: as many as fit; cells too long together are missing."""
    some: list[Sequence[str | None]] = []
    held = 0
    for row in rows:
        length = sum(len(cell) for cell in row if cell)
        fits = length <= LONGEST
        some.append(row if fits else [None] * len(row))
        held += length if fits else 0
        if len(some) >= _AT_ONCE or held >= _TEXT_AT_ONCE:
            yield some
            some, held = [], 0
    if some:
        yield some
