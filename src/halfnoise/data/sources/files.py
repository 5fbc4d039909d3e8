"""Files, read by DuckDB, which spills to disk when they exceed memory.

Nothing about a text file is learned from its rows: delimiter, quote, encoding and decimal mark are
declared, column names come from the header line. Every text cell stays text until a query reads it.
Short rows are padded and broken ones passed over, so that no row changes how another one is read.
"""

import contextlib
import csv
import glob
import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.checks import refuse
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.source import Source, TextFormat, once, spelled
from halfnoise.errors import DataError, InvalidParameterError

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_JSON = (".jsonl", ".ndjson")
_BYTES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


@contextlib.contextmanager
def open_files(data: object, text: TextFormat, columns: Sequence[str]) -> Iterator[Source]:
    """Open one or several files of one format; nothing is read but header lines."""
    paths = _paths(data)
    with tempfile.TemporaryDirectory(prefix="halfnoise-") as scratch:
        connection = connect(temp_directory=scratch)
        try:
            _limit_memory(connection)
            yield _source(connection, paths, text, columns, scratch)
        finally:
            connection.close()


def connect(**config: Any) -> Any:  # noqa: ANN401
    """Return a connection of our own that loads nothing, shows no progress and lives in UTC."""
    import duckdb

    quiet = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    connection = duckdb.connect(config=quiet | config)
    connection.execute("set enable_progress_bar = false")
    connection.execute("set TimeZone = 'UTC'")
    return connection


def _limit_memory(connection: Any) -> None:  # noqa: ANN401
    """Let DuckDB hold half a GB for each thread, one at least, unless it would hold less.

    Beyond that it spills to disk and is hardly slower.
    """
    threads, limit = connection.execute(
        "select current_setting('threads'), current_setting('memory_limit')"
    ).fetchone()
    amount, _, unit = limit.partition(" ")
    wanted = max(2, int(threads)) * 10**9 // 2
    if wanted < float(amount) * _BYTES.get(unit, 1):
        connection.execute(f"set memory_limit = '{wanted}B'")


def _source(
    connection: Any,  # noqa: ANN401
    paths: list[Path],
    text: TextFormat,
    columns: Sequence[str],
    scratch: str,
) -> Source:
    ending = _ending(paths[0])
    failed = (
        f"{', '.join(repr(str(path)) for path in paths[:3])} could not be read as {ending[1:]};"
        " check that the file is complete"
    )
    if ending == ".parquet":
        relation = quietly(lambda: _parquet(connection, paths), failed)
        names = {name: name for name in relation.columns}
    elif ending in _JSON:
        names = spelled([*dict.fromkeys(columns)])
        utf8 = quietly(lambda: _as_utf8(paths, text.encoding, scratch), failed)
        relation = quietly(lambda: _json(connection, utf8, names), failed)
    elif ending in _DELIMITERS:
        text = replace(text, delimiter=text.delimiter or _DELIMITERS[ending])
        names = spelled(_header(paths, text))
        utf8 = quietly(lambda: _as_utf8(paths, text.encoding, scratch), failed)
        relation = quietly(
            lambda: _lines(connection, utf8, list(names.values()), text, header=True), failed
        )
    else:
        raise refuse(
            "the file",
            "CSV, TSV, JSON lines or Parquet by its ending",
            str(paths[0]),
            "rename it, for example to .csv",
        )
    frame = nw.from_native(relation)
    inside = dict(frame.collect_schema())
    dtypes = {name: inside[own] for name, own in names.items()}
    headless = ending in _JSON
    return Source(frame=frame, dtypes=dtypes, names=names, text=text, headless=headless)


def _paths(data: Any) -> list[Path]:  # noqa: ANN401
    listed = [data] if isinstance(data, str | os.PathLike) else list(data)
    found: list[Path] = []
    for each in (os.fsdecode(path) for path in listed):
        if "://" in each:
            raise refuse("the file", "on this machine", each, "download it first")
        paths = [each] if Path(each).exists() else sorted(glob.glob(each, recursive=True))  # noqa: PTH207
        if not paths:
            raise InvalidParameterError(f"there is no file {each!r}; check the path")
        found += map(Path, paths)
    for path in found:
        if path.is_dir():
            raise InvalidParameterError(f"{str(path)!r} is a folder, not a file; name its files")
        if not os.access(path, os.R_OK):
            raise InvalidParameterError(f"the file {str(path)!r} may not be read by you")
        if path.stat().st_size == 0 and _ending(path) not in _JSON:
            raise InvalidParameterError(
                f"the file {str(path)!r} is empty: it has not even a header"
            )
    if len({path.resolve() for path in found}) < len(found):
        raise InvalidParameterError("a file is named twice; name each one once")
    if len({_ending(path) for path in found}) > 1:
        raise InvalidParameterError("several files must be of one format; release them one by one")
    return found


def _ending(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _zipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _parquet(connection: Any, paths: list[Path]) -> Any:  # noqa: ANN401
    """Read Parquet files whose columns agree, types included: a cast could fail on a row."""

    def read(each: list[Path]) -> Any:  # noqa: ANN401
        return connection.read_parquet(_named(each), hive_partitioning=False)

    first = read(paths[:1])
    for path in paths[1:]:
        other = read([path])
        if (other.columns, other.types) != (first.columns, first.types):
            raise InvalidParameterError(
                f"the columns of {str(path)!r} differ from those of {str(paths[0])!r}"
            )
    return read(paths)


def _named(paths: Sequence[str | Path]) -> list[str]:
    """Return paths that DuckDB takes by name: it would read marks such as * and [ as patterns."""
    return [glob.escape(str(path)) for path in paths]


def _lines(
    connection: Any,  # noqa: ANN401
    paths: list[str],
    names: list[str],
    text: TextFormat,
    *,
    header: bool,
) -> Any:  # noqa: ANN401
    """Read lines with everything declared: short ones are padded, broken ones passed over."""
    quote = text.quote or ""
    return connection.read_csv(
        _named(paths),
        columns=dict.fromkeys(names, "VARCHAR"),
        header=header,
        delimiter=text.delimiter,
        quotechar=quote,
        escapechar=quote,
        compression="gzip" if paths[0].lower().endswith(".gz") else "none",
        auto_detect=False,
        null_padding=True,
        ignore_errors=True,
        strict_mode=False,
        # In parallel, one quoted line break would fail the whole file.
        parallel=not quote,
    )


def _json(connection: Any, paths: list[str], names: dict[str, str]) -> Any:  # noqa: ANN401
    """Read one object from each line.

    Lines come from the same reader as other text, since one overlong line would fail DuckDB's own
    for JSON. The delimiter is a mark that JSON forbids.
    """
    import duckdb

    whole = TextFormat(delimiter="\x1e", quote=None)
    lines = _lines(connection, paths, ["line"], whole, header=False)
    # The line itself becomes null, so that nothing is extracted from it whatever DuckDB does first.
    valid = "case when json_valid(line) then case when json_type(line) = 'OBJECT' then line end end"
    objects = lines.project(f"{valid} as line").filter("line is not null")
    line = duckdb.ColumnExpression("line")
    cells = []
    for name, own in names.items():
        pointer = "/" + name.replace("~", "~0").replace("/", "~1")
        cell = duckdb.FunctionExpression(
            "json_extract_string", line, duckdb.ConstantExpression(pointer)
        )
        cells.append(cell.alias(own))
    return objects.select(*cells)


def _header(paths: list[Path], text: TextFormat) -> list[str]:
    """Return the columns' names from the header lines, which must agree."""
    headers = [_header_line(path, text) for path in paths]
    names = headers[0]
    for path, other in zip(paths, headers, strict=True):
        if other != names:
            raise InvalidParameterError(
                f"the header of {str(path)!r} differs from that of {str(paths[0])!r}"
            )
    if len(names) == 1:
        for mark in (",", ";", "\t", "|"):
            if mark != text.delimiter and mark in names[0]:
                raise InvalidParameterError(
                    f"the header is one column containing {mark!r}; try --delimiter {mark!r}"
                )
    once(names)
    return names


def _header_line(path: Path, text: TextFormat) -> list[str]:
    opened = gzip.open if _zipped(path) else open

    def first() -> list[str]:
        with opened(
            path, "rt", encoding=_signed(text.encoding), errors="replace", newline=""
        ) as lines:
            return next(csv.reader(lines, **text.marks), [])

    names = quietly(
        first, f"the header of {str(path)!r} could not be read; check that the file is complete"
    )
    if not names:
        raise DataError(f"the file {str(path)!r} has no header line")
    return names


def _signed(encoding: str) -> str:
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def _as_utf8(paths: list[Path], encoding: str, scratch: str) -> list[str]:
    """Return the files in UTF-8, copied to a private folder where they are in another encoding."""
    zipped = {_zipped(path) for path in paths}
    if _signed(encoding) == "utf-8-sig" and len(zipped) == 1:
        return [*map(str, paths)]
    copies = []
    for i, path in enumerate(paths):
        opened = gzip.open if _zipped(path) else open
        copy = Path(scratch) / f"{i}{_ending(path)}"
        with (
            opened(path, "rt", encoding=_signed(encoding), errors="replace", newline="") as source,
            copy.open("w", encoding="utf-8", errors="replace", newline="") as target,
        ):
            shutil.copyfileobj(source, target)
        copies.append(str(copy))
    return copies
