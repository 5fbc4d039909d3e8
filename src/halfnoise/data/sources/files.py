"""Files, read by DuckDB, which spills to disk when they exceed memory.

Nothing about a text file is learned from its rows: delimiter, quote, encoding and decimal mark are
declared, column names come from the header line or are declared too. Every line is a row
(``lines``), and every text cell stays text until a query reads it.
"""

import contextlib
import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.checks import is_text, refuse
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.connection import own_connection
from halfnoise.data.sources.parquet import from_parquet
from halfnoise.data.sources.source import OF_CELLS, Source, TextFormat, spelled
from halfnoise.data.sources.split import Cells, Files, Objects
from halfnoise.data.sources.texts import TextFiles
from halfnoise.errors import DataError, InvalidParameterError, TryAgainError

_DELIMITERS = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_ROWS = "halfnoise_rows"
_JSON = (".jsonl", ".ndjson")


@contextlib.contextmanager
def open_files(data: object, text: TextFormat) -> Iterator[Source]:
    """Open one or several files of one format; nothing is read but header lines."""
    paths = _paths(data, bare=text.names is not None)
    kind = _ending(paths[0])
    _check_options(text, kind)
    named = ", ".join(repr(str(path)) for path in paths[:3])
    failed = f"{named} could not be read as {kind[1:]}; check that the file is complete"
    unchanged = _unchanged(paths)
    with contextlib.ExitStack() as stack:
        # A filter on a cell would be moved before the split, which would then be done for it alone.
        unwanted = () if kind == ".parquet" else ("filter_pushdown",)
        connection, folder = stack.enter_context(own_connection(*unwanted))
        if kind == ".parquet":
            found = quietly(lambda: from_parquet(connection, paths, text, folder), failed)
        elif kind in _JSON or kind in _DELIMITERS:
            by_ending = None if kind in _JSON else _DELIMITERS[kind] or text.comma
            text = replace(text, delimiter=text.delimiter or by_ending)
            files = TextFiles(paths=paths, text=text, failed=failed, scratch=folder, stack=stack)
            found = (_objects if kind in _JSON else _table)(connection, files)
        else:
            rule = "CSV, TSV, JSON lines or Parquet by its ending"
            raise refuse("the file", rule, str(paths[0]), "rename it, for example to .csv")
        yield replace(found, unchanged=unchanged, files=tuple(sorted(map(os.path.realpath, paths))))


def _check_options(text: TextFormat, kind: str) -> None:
    """Refuse what was said about text where it would not be looked at."""
    if kind == ".parquet":
        text.check_unused("a file says itself how it is written", *OF_CELLS, "encoding")
    if kind in _JSON:
        text.check_unused("each line names its columns", *OF_CELLS)
        text.check_order()


def _unchanged(paths: Sequence[Path]) -> Callable[[], None]:
    """Return what refuses files that were written to since: each look at them may differ."""

    def stamps() -> list[tuple[int, int, int]]:
        found = [path.stat() for path in paths]
        return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in found]

    before = stamps()

    def check() -> None:
        if stamps() != before:
            said = "a file changed while it was read; release a copy that nobody writes to"
            raise TryAgainError(said)

    return check


def _paths(data: Any, *, bare: bool) -> list[Path]:
    listed = [data] if isinstance(data, str | os.PathLike) else list(data)
    found: list[Path] = []
    for name in map(os.fsdecode, listed):
        if "://" in name:
            raise refuse("the file", "on this machine", name, "download it first")
        # No name fails it: not one that is too long, nor one behind a folder that is closed.
        there = os.path.exists(name)  # noqa: PTH110
        paths = [name] if there else sorted(glob.glob(name, recursive=True))
        if not paths:
            raise InvalidParameterError(f"there is no file {name!r}; check the path")
        found += map(Path, paths)
    for path in found:
        _check_file(path, bare=bare)
    if len({path.resolve() for path in found}) < len(found):
        raise InvalidParameterError("a file is named twice; name each one once")
    if len({_ending(path) for path in found}) > 1:
        raise InvalidParameterError("several files must be of one format; release them one by one")
    return found


def _check_file(path: Path, *, bare: bool) -> None:
    """Refuse what cannot be read, before anything is charged for it."""
    if not is_text(str(path)):  # which DuckDB cannot open
        raise refuse("the file", "named in UTF-8", ascii(str(path)), "rename it")
    if path.is_dir():
        raise InvalidParameterError(f"{str(path)!r} is a folder, not a file; name its files")
    if not os.access(path, os.R_OK):
        raise DataError(f"the file {str(path)!r} may not be read by you")
    if path.stat().st_size == 0 and not bare and _ending(path) not in _JSON:
        raise DataError(f"the file {str(path)!r} is empty: it has not even a header")


def _ending(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _table(connection: Any, files: TextFiles) -> Source:
    """Read lines of cells under a header, or under names that were declared."""
    text = files.text
    names = spelled(files.header() if text.names is None else text.names)
    counted = not text.quote_newlines and files.are_ended()
    everything = [*names.values()]

    def narrow(columns: Sequence[str]) -> Source:
        own = {column: names[column] for column in columns}
        return _later(connection, files, own, Cells(everything, [*own.values()], text).rows)

    dtypes = dict.fromkeys(names, nw.String())
    table = replace(narrow([]), names=names, dtypes=dtypes, narrow=narrow, counted=counted)
    return replace(table, from_header=text.names is None)


def _objects(connection: Any, files: TextFiles) -> Source:
    """Read one JSON object from each line: columns are what is asked of it."""
    counted = files.are_ended()

    def extract(columns: Sequence[str]) -> Source:
        names = spelled([*dict.fromkeys(columns)])
        return replace(_later(connection, files, names, Objects(names).rows), counted=counted)

    return replace(extract([]), extract=extract)


def _later(
    connection: Any, files: TextFiles, names: dict[str, str], rows: Callable[[Files], str]
) -> Source:
    """Return a table of text that has no rows before it is filled, with what ``rows`` then says."""
    view = f"{_ROWS}{next(files.numbers)}"
    shown = ", ".join(f'null::varchar as "{own}"' for own in names.values()) or "1"
    connection.execute(f"create temp view {view} as select {shown} limit 0")

    def fill() -> None:
        filled = f"create or replace temp view {view} as {rows(files.readable())}"
        quietly(lambda: connection.execute(filled), files.failed)

    return replace(Source.over(connection.view(view), files.text, names), fill=fill)
