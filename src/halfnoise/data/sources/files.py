"""Files, read by DuckDB, which spills to disk when they exceed memory.

Nothing about a text file is learned from its rows: delimiter, quote, encoding and decimal mark are
declared, column names come from the header line. Every text cell stays text until a query reads it.
Short rows are padded and broken ones passed over, so that no row changes how another one is read.
"""

import contextlib
import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from halfnoise.checks import refuse
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.connection import own_connection
from halfnoise.data.sources.source import Source, TextFormat, spelled
from halfnoise.data.sources.texts import TextFiles
from halfnoise.errors import InvalidParameterError

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_JSON = (".jsonl", ".ndjson")


@contextlib.contextmanager
def open_files(data: object, text: TextFormat) -> Iterator[Source]:
    """Open one or several files of one format; nothing is read but header lines."""
    paths = _paths(data)
    kind = _ending(paths[0])
    named = ", ".join(repr(str(path)) for path in paths[:3])
    failed = f"{named} could not be read as {kind[1:]}; check that the file is complete"
    with contextlib.ExitStack() as stack:
        connection, folder = stack.enter_context(own_connection())
        if kind == ".parquet":
            yield Source.over(quietly(lambda: _parquet(connection, paths), failed), text)
        elif kind in _JSON or kind in _DELIMITERS:
            text = replace(text, delimiter=text.delimiter or _DELIMITERS.get(kind))
            files = TextFiles(paths=paths, text=text, failed=failed, scratch=folder, stack=stack)
            yield (_objects if kind in _JSON else _table)(connection, files)
        else:
            rule = "CSV, TSV, JSON lines or Parquet by its ending"
            raise refuse("the file", rule, str(paths[0]), "rename it, for example to .csv")


def _paths(data: Any) -> list[Path]:
    listed = [data] if isinstance(data, str | os.PathLike) else list(data)
    found: list[Path] = []
    for name in map(os.fsdecode, listed):
        if "://" in name:
            raise refuse("the file", "on this machine", name, "download it first")
        paths = [name] if Path(name).exists() else sorted(glob.glob(name, recursive=True))
        if not paths:
            raise InvalidParameterError(f"there is no file {name!r}; check the path")
        found += map(Path, paths)
    for path in found:
        if path.is_dir():
            raise InvalidParameterError(f"{str(path)!r} is a folder, not a file; name its files")
        if not os.access(path, os.R_OK):
            raise InvalidParameterError(f"the file {str(path)!r} may not be read by you")
        if path.stat().st_size == 0 and _ending(path) not in _JSON:
            said = f"the file {str(path)!r} is empty: it has not even a header"
            raise InvalidParameterError(said)
    if len({path.resolve() for path in found}) < len(found):
        raise InvalidParameterError("a file is named twice; name each one once")
    if len({_ending(path) for path in found}) > 1:
        raise InvalidParameterError("several files must be of one format; release them one by one")
    return found


def _ending(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _parquet(connection: Any, paths: list[Path]) -> Any:
    """Read Parquet files whose columns agree, types included: a cast could fail on a row."""
    read = partial(connection.read_parquet, hive_partitioning=False)
    first = read(_named(paths[:1]))
    for path in paths[1:]:
        other = read(_named([path]))
        if (other.columns, other.types) != (first.columns, first.types):
            said = f"the columns of {str(path)!r} differ from those of {str(paths[0])!r}"
            raise InvalidParameterError(said)
    return first if len(paths) == 1 else read(_named(paths))


def _named(paths: Sequence[Path]) -> list[str]:
    """Return paths that DuckDB takes by name: it would read marks such as * and [ as patterns."""
    return [glob.escape(str(path)) for path in paths]


def _table(connection: Any, files: TextFiles) -> Source:
    """Read lines of cells under a header."""
    names = spelled(files.header())
    rows = _lines(connection, files, [*names.values()])
    return replace(Source.over(rows, files.text, names), fill=files.fill)


def _objects(connection: Any, files: TextFiles) -> Source:
    """Read one JSON object from each line: columns are what is asked of it.

    Lines come from the same reader as other text, since one overlong line would fail DuckDB's own
    for JSON.
    """
    lines = _lines(connection, files)
    # The line itself becomes null, so that nothing is extracted from it whatever DuckDB does first.
    valid = "case when json_valid(line) then case when json_type(line) = 'OBJECT' then line end end"
    objects = lines.project(f"{valid} as line").filter("line is not null")

    def extract(columns: Sequence[str]) -> Source:
        names = spelled([*dict.fromkeys(columns)])
        cells = quietly(lambda: _cells(objects, names), files.failed)
        return replace(Source.over(cells, files.text, names), fill=files.fill)

    return replace(Source.over(objects, files.text, {}), extract=extract)


def _cells(objects: Any, names: dict[str, str]) -> Any:
    import duckdb

    line, cells = duckdb.ColumnExpression("line"), []
    for name, own in names.items():
        pointer = duckdb.ConstantExpression("/" + name.replace("~", "~0").replace("/", "~1"))
        cells.append(duckdb.FunctionExpression("json_extract_string", line, pointer).alias(own))
    return objects.select(*cells)


def _lines(connection: Any, files: TextFiles, names: Sequence[str] = ()) -> Any:
    """Read lines under a header, or whole ones; short ones are padded, broken ones passed over."""
    # The delimiter of whole lines is a mark that JSON forbids.
    text = files.text if names else TextFormat(delimiter="\x1e", quote=None)
    quote = text.quote or ""
    marks = {"delimiter": text.delimiter, "quotechar": quote, "escapechar": quote}
    marks["compression"] = "gzip" if files.zipped else "none"
    columns = dict.fromkeys(names or ["line"], "VARCHAR")
    rules = dict.fromkeys(("null_padding", "ignore_errors"), True)
    rules |= {"header": bool(names), "auto_detect": False, "strict_mode": False}
    # In parallel, one quoted line break would fail the whole file.
    rules["parallel"] = not quote
    read = partial(connection.read_csv, columns=columns, **marks, **rules)
    return quietly(lambda: read(_named(files.readable)), files.failed)
