"""Files, read by DuckDB, which spills to disk when they exceed memory.

Nothing about a text file is learned from its rows: delimiter, quote, encoding and decimal mark are
declared, column names come from the header line. Every text cell stays text until a query reads it.
Short rows are padded and broken ones passed over, so that no row changes how another one is read.
"""

import contextlib
import glob
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw

from halfnoise.checks import refuse
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.source import Source, TextFormat, ready, spelled
from halfnoise.data.sources.texts import TextFiles, ending, is_zipped
from halfnoise.errors import InvalidParameterError

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_JSON = (".jsonl", ".ndjson")
_BYTES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


@contextlib.contextmanager
def open_files(data: object, text: TextFormat) -> Iterator[Source]:
    """Open one or several files of one format; nothing is read but header lines."""
    paths = _paths(data)
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="halfnoise-"))
        connection = stack.enter_context(contextlib.closing(connect(temp_directory=scratch)))
        _limit_memory(connection)
        yield _source(connection, paths, text, Path(scratch), stack)


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
    scratch: Path,
    stack: contextlib.ExitStack,
) -> Source:
    kind = ending(paths[0])
    failed = (
        f"{', '.join(repr(str(path)) for path in paths[:3])} could not be read as {kind[1:]};"
        " check that the file is complete"
    )
    if kind == ".parquet":
        relation = quietly(lambda: _parquet(connection, paths), failed)
        return _of_relation(relation, {name: name for name in relation.columns}, text)
    if kind not in (*_JSON, *_DELIMITERS):
        rule, remedy = "CSV, TSV, JSON lines or Parquet by its ending", "rename it, for example to"
        raise refuse("the file", rule, str(paths[0]), f"{remedy} .csv")
    text = replace(text, delimiter=text.delimiter or _DELIMITERS.get(kind))
    files = TextFiles(paths=paths, text=text, scratch=scratch, stack=stack)
    if kind in _JSON:
        readable, fill = files.readable(failed)
        rows = quietly(lambda: _objects(connection, readable), failed)

        def extract(columns: Sequence[str]) -> Source:
            names = spelled([*dict.fromkeys(columns)])
            return _of_relation(quietly(lambda: _json(rows, names), failed), names, text, fill)

        return replace(_of_relation(rows, {}, text), extract=extract)
    names = spelled(files.header())
    readable, fill = files.readable(failed)
    rows = quietly(lambda: _lines(connection, readable, list(names.values()), text), failed)
    return _of_relation(rows, names, text, fill)


def _of_relation(
    relation: Any,  # noqa: ANN401
    names: dict[str, str],
    text: TextFormat,
    prepare: Callable[[], None] = ready,
) -> Source:
    frame = nw.from_native(relation)
    inside = dict(frame.collect_schema())
    dtypes = {name: inside[own] for name, own in names.items()}
    return Source(frame=frame, dtypes=dtypes, names=names, text=text, prepare=prepare)


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
        if path.stat().st_size == 0 and ending(path) not in _JSON:
            raise InvalidParameterError(
                f"the file {str(path)!r} is empty: it has not even a header"
            )
    if len({path.resolve() for path in found}) < len(found):
        raise InvalidParameterError("a file is named twice; name each one once")
    if len({ending(path) for path in found}) > 1:
        raise InvalidParameterError("several files must be of one format; release them one by one")
    return found


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
    return first if len(paths) == 1 else read(paths)


def _named(paths: Sequence[Path]) -> list[str]:
    """Return paths that DuckDB takes by name: it would read marks such as * and [ as patterns."""
    return [glob.escape(str(path)) for path in paths]


def _lines(
    connection: Any,  # noqa: ANN401
    paths: Sequence[Path],
    names: list[str],
    text: TextFormat,
    *,
    header: bool = True,
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
        compression="gzip" if is_zipped(paths[0]) else "none",
        auto_detect=False,
        null_padding=True,
        ignore_errors=True,
        strict_mode=False,
        # In parallel, one quoted line break would fail the whole file.
        parallel=not quote,
    )


def _objects(connection: Any, paths: Sequence[Path]) -> Any:  # noqa: ANN401
    """Read lines that are JSON objects.

    They come from the same reader as other text, since one overlong line would fail DuckDB's own
    for JSON. The delimiter is a mark that JSON forbids.
    """
    whole = TextFormat(delimiter="\x1e", quote=None)
    lines = _lines(connection, paths, ["line"], whole, header=False)
    # The line itself becomes null, so that nothing is extracted from it whatever DuckDB does first.
    valid = "case when json_valid(line) then case when json_type(line) = 'OBJECT' then line end end"
    return lines.project(f"{valid} as line").filter("line is not null")


def _json(objects: Any, names: dict[str, str]) -> Any:  # noqa: ANN401
    """Take some columns from objects."""
    import duckdb

    line = duckdb.ColumnExpression("line")
    cells = []
    for name, own in names.items():
        pointer = "/" + name.replace("~", "~0").replace("/", "~1")
        cell = duckdb.FunctionExpression(
            "json_extract_string", line, duckdb.ConstantExpression(pointer)
        )
        cells.append(cell.alias(own))
    return objects.select(*cells)
