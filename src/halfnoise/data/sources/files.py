"""Files, read by DuckDB, which spills to disk when they exceed memory.

Nothing about a text file is learned from its rows: delimiter, quote, encoding and decimal mark are
declared, column names come from the header line or are declared too. Every line is a row
(``lines``), and every text cell stays text until a query reads it.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.checks import refuse
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.connection import own_connection
from halfnoise.data.sources.folders import Partitions, listed
from halfnoise.data.sources.progress import Progress
from halfnoise.data.sources.room import Room
from halfnoise.data.sources.source import OF_CELLS, OF_LINES, PLACES, Source, TextFormat, spelled
from halfnoise.data.sources.split import CELL, PLACE, Cells, Files, Objects
from halfnoise.data.sources.texts import TextFiles
from halfnoise.errors import DataError, InvalidParameterError, TryAgainError

_DELIMITERS = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_ROWS = "halfnoise_rows"
_JSON = (".jsonl", ".ndjson")
_REMEDIES = dict.fromkeys(
    (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z"), "unpack it first; of text alone, .gz is read"
) | {".json": "with one object to a line, rename it to .jsonl; jq -c '.[]' makes lines of a list"}
BOOKS = (".xlsx", ".xlsm", ".ods", ".xls", ".xlsb")
_DATABASES = (".duckdb", ".ddb", ".db", ".db3", ".sqlite", ".sqlite3")
_KNOWN = (*_DELIMITERS, *_JSON, ".parquet", *BOOKS, *_DATABASES)


@contextlib.contextmanager
def open_files(data: object, text: TextFormat, room: Room) -> Iterator[Source]:
    """Open one or several files of one format; nothing is read but header lines."""
    paths, partitions = _paths(data, bare=text.names is not None)
    kind = ending_of(paths[0])
    _check_options(text, kind)
    named = ", ".join(repr(str(path)) for path in paths[:3])
    failed = f"{named} could not be read as {kind[1:]}"
    failed += "; check that the file is complete, and of that format"
    unchanged = _unchanged(paths)
    with contextlib.ExitStack() as stack:
        # A filter on a cell would be moved before the split, which would then be done for it alone.
        split = kind in _JSON or kind in _DELIMITERS
        without = ["filter_pushdown"] * split
        connection, folder = stack.enter_context(own_connection(*without, room=room))
        if kind == ".parquet":
            from halfnoise.data.sources.parquet import from_parquet

            given = (paths, partitions, text, folder)
            found = quietly(lambda: from_parquet(connection, *given), failed)
            found = replace(found, narrow=partial(_quietly_narrowed, found, failed))
        elif kind in BOOKS:
            from halfnoise.data.sources.sheets import sheet_source

            found = sheet_source(connection, paths, text, stack, failed)
        elif kind in _DATABASES:
            from halfnoise.data.sources.databases import database_source

            found = database_source(connection, paths, text, stack, failed)
        else:
            by_ending = None if kind in _JSON else _DELIMITERS[kind] or text.comma
            text = replace(text, delimiter=text.delimiter or by_ending)
            files = TextFiles(paths=paths, text=text, failed=failed, scratch=folder, stack=stack)
            found = (_objects if kind in _JSON else _table)(connection, files, partitions)
        real = tuple(sorted(map(os.path.realpath, paths)))
        yield replace(found, unchanged=unchanged, files=real, progress=Progress.of(connection))


def _quietly_narrowed(table: Source, failed: str, columns: Sequence[str]) -> Source:
    """Return a table with some columns; a file may be gone by then."""
    narrow = table.narrow
    assert narrow is not None  # noqa: S101  # who asks has one
    return quietly(lambda: narrow(columns), failed)


def _check_options(text: TextFormat, kind: str) -> None:
    """Refuse what was said about text where it would not be looked at."""
    text.check_unused(*unused(kind))
    if kind in _JSON:
        text.check_order()


def unused(kind: str) -> tuple[str, ...]:
    """Return why some words about text are not looked at in files of an ending, and those words.

    >>> unused(".csv")
    ('a file is one table', 'sheet', 'table')
    """
    itself = "a file says itself how it is written"
    if kind == ".parquet":
        return (itself, *OF_LINES, *OF_CELLS, *PLACES)
    if kind in BOOKS:
        return (itself, *OF_LINES, "table")
    if kind in _DATABASES:
        return (itself, *OF_LINES, *OF_CELLS, "sheet")
    if kind in _JSON:
        others = {*OF_LINES, *OF_CELLS, *PLACES} - {"encoding"}
        return ("each line names its columns", *sorted(others))
    return ("a file is one table", *PLACES)


def _unchanged(paths: Sequence[Path]) -> Callable[[], None]:
    """Return what refuses files that were written to since: each look at them may differ."""

    def stamps() -> list[tuple[int, int, int] | None]:
        there = [path.stat() if path.exists() else None for path in paths]
        return [each and (each.st_ino, each.st_size, each.st_mtime_ns) for each in there]

    before = stamps()

    def check() -> None:
        if stamps() != before:
            said = "a file changed while it was read; release a copy that nobody writes to"
            raise TryAgainError(said)

    return check


def _paths(data: Any, *, bare: bool) -> tuple[list[Path], Partitions]:
    found, partitions = listed(data)
    endings = {ending_of(path): path for path in found}
    for ending, path in endings.items():
        if ending not in _KNOWN:
            rule = "CSV, TSV, JSON lines, Parquet, a sheet or a database by its ending"
            remedy = "save it as one of these, or rename it if it is one, for example to .csv"
            raise refuse("the file", rule, str(path), _REMEDIES.get(ending, remedy))
    if len(endings) > 1:
        said = f"several files must be of one format, got {' and '.join(sorted(endings))}"
        raise InvalidParameterError(f"{said}; release those of one kind by their names")
    for path in found:
        _check_file(path, bare=bare)
    own = [path.stat() for path in found]  # the same under every name that leads to it
    if len({(each.st_dev, each.st_ino) for each in own}) < len(found):
        said = "a file is named twice, perhaps by a link to it; name each one once"
        raise InvalidParameterError(said)
    if partitions.names and not {*endings} <= {*_DELIMITERS, *_JSON, ".parquet"}:
        said = "folders that say columns hold CSV, TSV, JSON lines or Parquet files"
        raise InvalidParameterError(f"{said}; name the files, one by one")
    return found, partitions


def _check_file(path: Path, *, bare: bool) -> None:
    """Refuse what cannot be read, before anything is charged for it."""
    if path.is_symlink() and not path.exists():
        raise DataError(f"the link {str(path)!r} leads nowhere; remove it, or mend it")
    if not os.access(path, os.R_OK):
        said = f"the file {str(path)!r} may not be read by you"
        raise DataError(f"{said}; ask its owner, or release a copy")
    if not path.is_file():  # a pipe is read but once, and waits for who writes to it
        raise DataError(f"{str(path)!r} is no file, but a pipe or a device; save what it holds")
    if path.stat().st_size == 0 and not bare and ending_of(path) not in _JSON:
        said = f"the file {str(path)!r} is empty: it has not even a header"
        raise DataError(f"{said}; export it again, or leave it out")


def ending_of(path: Path) -> str:
    """Return the ending that says of which format a file is, zipped or not."""
    name = path.name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    return ending if ending in _DELIMITERS or ending in _JSON else Path(name).suffix


def _table(connection: Any, files: TextFiles, partitions: Partitions) -> Source:
    """Read lines of cells under a header, or under names that were declared."""
    text = files.text
    header = [*(files.header() if text.names is None else text.names)]
    partitions.check(header)
    names = spelled([*header, *partitions.names])
    counted = not text.quote_newlines and files.are_ended()
    inside = [names[name] for name in header]

    def narrow(columns: Sequence[str]) -> Source:
        own = {column: names[column] for column in columns}
        wanted = [inner for name, inner in own.items() if name not in partitions.names]
        read = Cells(inside, wanted, text).rows
        return _later(connection, files, own, partitions, read)

    def in_rows(columns: Sequence[str]) -> Source:
        read = Cells(inside, [names[column] for column in columns], text).in_rows
        own = {CELL: CELL, PLACE: PLACE}
        return replace(_later(connection, files, own, partitions, read), nulled=True)

    dtypes = dict.fromkeys(names, nw.String())
    table = replace(narrow([]), names=names, dtypes=dtypes, narrow=narrow, counted=counted)
    apart = None if partitions.names else in_rows
    return replace(table, from_header=text.names is None, nulled=True, in_rows=apart)


def _objects(connection: Any, files: TextFiles, partitions: Partitions) -> Source:
    """Read one JSON object from each line: columns are what is asked of it."""
    counted = files.are_ended()

    def extract(columns: Sequence[str]) -> Source:
        names = spelled([*dict.fromkeys(columns)])
        own = {name: inside for name, inside in names.items() if name not in partitions.names}
        source = _later(connection, files, names, partitions, Objects(own, files.text.decimal).rows)
        return replace(source, counted=counted)

    return replace(extract([]), extract=extract)


def _later(
    connection: Any,
    files: TextFiles,
    names: dict[str, str],
    partitions: Partitions,
    rows: Callable[[Files], str],
) -> Source:
    """Return a table of text that has no rows before it is filled, with what ``rows`` then says.

    With one of them, all are filled that were made of these files before.
    """
    view = f"{_ROWS}{next(files.numbers)}"
    kinds = {PLACE: "bigint"}
    shown = ", ".join(f'null::{kinds.get(n, "varchar")} as "{n}"' for n in names.values()) or "1"
    connection.execute(f"create temp view {view} as select {shown} limit 0")

    def reading(found: Files) -> str:
        read = partitions.joined(lambda places: rows([found[i] for i in places]), names)
        own = ", ".join(f'"{name}"' for name in names.values()) or "1"
        return f"from ({read}) select {own}"

    def fill() -> None:
        found = files.readable()
        while files.waiting:
            waiting, its_rows = files.waiting.popitem()
            filled = f"create or replace temp view {waiting} as {its_rows(found)}"
            quietly(partial(connection.execute, filled), files.failed)

    files.waiting[view] = reading
    table = Source.over(connection.view(view), files.text, names)
    return replace(table, fill=fill, check_whole=files.check_whole)
