"""Where rows come from: files through DuckDB, frames of every kind through narwhals.

Nothing about a text file is learned from its rows: delimiter, quote, encoding and decimal mark are
declared, column names come from the header line. Every text cell stays text until a query reads it.
"""

import contextlib
import csv
import glob
import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import narwhals as nw
from narwhals.dtypes import DType

from halfnoise.checks import refuse
from halfnoise.errors import DataError, InvalidParameterError

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_JSON = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat:
    """What a text file looks like, as declared; None means what its ending suggests."""

    delimiter: str | None = None
    quote: str | None = '"'
    encoding: str = "utf-8"
    decimal: str = "."

    def __post_init__(self) -> None:
        """Refuse marks that are not one character and encodings that do not exist."""
        for name in ("delimiter", "quote", "decimal"):
            mark = getattr(self, name)
            if mark is not None and (not isinstance(mark, str) or len(mark) != 1):
                raise refuse(name, "one character", mark)
        try:
            "".encode(self.encoding)
        except LookupError:
            raise refuse("encoding", "the name of a text encoding", self.encoding) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table that has not been read yet: a lazy frame, and its columns with their types.

    ``names`` are the columns' names inside the frame, which engines can spell.
    """

    frame: nw.LazyFrame[Any]
    dtypes: Mapping[str, DType]
    names: Mapping[str, str]
    text: TextFormat = field(default_factory=TextFormat)
    open_ended: bool = False

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that the table does not have, with the nearest ones it has."""
        for column in columns:
            if column not in self.dtypes:
                known = list(self.dtypes)
                near = get_close_matches(column, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                listed = ", ".join(map(repr, known[:20])) + (", ..." if len(known) > 20 else "")
                raise InvalidParameterError(
                    f"there is no column {column!r}{hint} The table has {listed}"
                    if hint
                    else f"there is no column {column!r}; the table has {listed}"
                )


@contextlib.contextmanager
def open_source(data: object, *, text: TextFormat, columns: Sequence[str]) -> Iterator[Source]:
    """Open a path, a list or glob of paths, or a frame; nothing is read but header lines.

    ``columns`` are those that will be needed: JSON lines have no header to tell.
    """
    if isinstance(data, str | os.PathLike) or _is_path_list(data):
        with _open_files(_paths(data), text, columns) as source:
            yield source
    else:
        yield _from_frame(data, text)


def fetch(frame: nw.LazyFrame[Any]) -> list[tuple[Any, ...]]:
    """Run what a lazy frame says and return its rows; no engine's message gets out."""
    try:
        native = frame.to_native()
        if frame.implementation.is_duckdb():
            return list(native.fetchall())
        if frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect():
            return [tuple(row) for row in native.collect()]
        return list(frame.collect().rows())
    except Exception:  # noqa: BLE001
        # Whatever an engine says may quote cells, so nothing of it is passed on.
        raise DataError(
            "the table could not be read to the end; check that every file is complete and of the"
            " format that its name says, and that an expression of yours cannot fail on a row"
        ) from None


def _is_path_list(data: object) -> bool:
    return (
        isinstance(data, list | tuple)
        and bool(data)
        and all(isinstance(path, str | os.PathLike) for path in data)
    )


def _paths(data: Any) -> list[Path]:  # noqa: ANN401
    listed = [data] if isinstance(data, str | os.PathLike) else list(data)
    found: list[Path] = []
    for each in (str(os.fspath(path)) for path in listed):
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
        if path.stat().st_size == 0:
            raise InvalidParameterError(
                f"the file {str(path)!r} is empty: it has not even a header"
            )
    if len({_ending(path) for path in found}) > 1:
        raise InvalidParameterError("several files must be of one format; release them one by one")
    return found


def _ending(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


@contextlib.contextmanager
def _open_files(paths: list[Path], text: TextFormat, columns: Sequence[str]) -> Iterator[Source]:
    import duckdb

    ending = _ending(paths[0])
    with tempfile.TemporaryDirectory(prefix="halfnoise-") as scratch:
        connection = duckdb.connect(
            config={
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "temp_directory": scratch,
            }
        )
        try:
            if ending == ".parquet":
                relation = _read(lambda: connection.read_parquet([*map(str, paths)]), paths)
                names = relation.columns
            elif ending in _JSON:
                utf8 = _as_utf8(paths, text.encoding, scratch)
                names = list(dict.fromkeys(columns))
                relation = connection.read_json(
                    utf8,  # type: ignore[arg-type]  # a list works, its stub does not say so
                    columns=dict.fromkeys(names, "VARCHAR"),
                    format="newline_delimited",
                    ignore_errors=True,
                )
            elif ending in _DELIMITERS:
                text = _declared(text, ending)
                names = _header(paths, text)
                relation = _read_csv(
                    connection, _as_utf8(paths, text.encoding, scratch), names, text
                )
            else:
                raise refuse(
                    "the file",
                    "CSV, TSV, JSON lines or Parquet by its ending",
                    str(paths[0]),
                    "rename it, for example to .csv",
                )
            frame = nw.from_native(relation)
            dtypes = dict(frame.collect_schema())
            same = {name: name for name in dtypes}
            yield Source(frame=frame, dtypes=dtypes, names=same, text=text)
        finally:
            connection.close()


def _read(read: Any, paths: list[Path]) -> Any:  # noqa: ANN401
    try:
        return read()
    except Exception:  # noqa: BLE001
        named = ", ".join(repr(str(path)) for path in paths[:3])
        raise DataError(
            f"{named} could not be read as {_ending(paths[0])[1:]}; check that the file is complete"
        ) from None


def _declared(text: TextFormat, ending: str) -> TextFormat:
    if text.delimiter is not None:
        return text
    return TextFormat(
        delimiter=_DELIMITERS[ending],
        quote=text.quote,
        encoding=text.encoding,
        decimal=text.decimal,
    )


def _read_csv(connection: Any, paths: list[str], names: list[str], text: TextFormat) -> Any:  # noqa: ANN401
    """Read text with everything declared: short rows are padded, broken ones passed over."""
    quote = text.quote or ""
    return connection.read_csv(
        paths,
        columns=dict.fromkeys(names, "VARCHAR"),
        header=True,
        delimiter=text.delimiter,
        quotechar=quote,
        escapechar=quote,
        auto_detect=False,
        null_padding=True,
        ignore_errors=True,
        strict_mode=False,
        # In parallel, one quoted line break would fail the whole file.
        parallel=not quote,
    )


def _header(paths: list[Path], text: TextFormat) -> list[str]:
    """Return the columns' names from the header lines, which must agree."""
    headers = [_header_line(path, text) for path in paths]
    names = headers[0]
    for path, other in zip(paths, headers, strict=True):
        if other != names:
            raise InvalidParameterError(
                f"the header of {str(path)!r} differs from that of {str(paths[0])!r}"
            )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidParameterError(f"the column {twice!r} is there twice; rename one of the two")
    if len(names) == 1:
        for mark in {",", ";", "\t", "|"} - {text.delimiter}:
            if mark in names[0]:
                raise InvalidParameterError(
                    f"the header is one column containing {mark!r}; try --delimiter {mark!r}"
                )
    return names


def _header_line(path: Path, text: TextFormat) -> list[str]:
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    marks: dict[str, Any] = {"quotechar": text.quote} if text.quote else {"quoting": csv.QUOTE_NONE}
    try:
        with opened(
            path, "rt", encoding=_signed(text.encoding), errors="replace", newline=""
        ) as lines:
            return next(csv.reader(lines, delimiter=text.delimiter or ",", **marks))
    except StopIteration:
        raise InvalidParameterError(f"the file {str(path)!r} has no header line") from None
    except (OSError, EOFError, csv.Error):
        raise DataError(
            f"the header of {str(path)!r} could not be read; check that the file is complete"
        ) from None


def _signed(encoding: str) -> str:
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def _as_utf8(paths: list[Path], encoding: str, scratch: str) -> list[str]:
    """Return the files in UTF-8, copied to a private folder where they are in another encoding."""
    if _signed(encoding) == "utf-8-sig":
        return [*map(str, paths)]
    copies = []
    for i, path in enumerate(paths):
        opened = gzip.open if path.name.lower().endswith(".gz") else open
        copy = Path(scratch) / f"{i}{_ending(path)}"
        with (
            opened(path, "rt", encoding=encoding, errors="replace", newline="") as source,
            copy.open("w", encoding="utf-8", newline="") as target,
        ):
            shutil.copyfileobj(source, target)
        copies.append(str(copy))
    return copies


def _from_frame(data: object, text: TextFormat) -> Source:
    try:
        frame = nw.from_native(_plain(data))
        dtypes = dict(frame.collect_schema())
    except TypeError:
        raise refuse(
            "data",
            "a path, or a pandas, Polars, PyArrow, DuckDB, PySpark or Ibis table",
            type(data).__name__,
        ) from None
    except Exception:  # noqa: BLE001
        raise DataError(
            "the table's columns could not be read; are two of the same name?"
        ) from None
    frame = frame.lazy()
    names = {name: name for name in dtypes}
    if frame.implementation.is_spark_like():
        # Spark reads dots and backticks in names as its own; positions have none.
        names = {name: f"c{i}" for i, name in enumerate(dtypes)}
        frame = nw.from_native(frame.to_native().toDF(*names.values()))
    return Source(frame=frame, dtypes=dtypes, names=names, text=text)


def _plain(data: Any) -> Any:  # noqa: ANN401
    """Return a frame whose cells cannot fail to be read."""
    package = type(data).__module__.partition(".")[0]
    if package == "pyarrow":
        # Its own casts refuse whole numbers beyond 2^53; DuckDB reads the same memory.
        import duckdb

        return duckdb.connect().from_arrow(data)
    if package == "pandas" and hasattr(data, "dtypes"):
        mixed = [name for name, dtype in data.dtypes.items() if dtype.kind == "O"]
        return data.assign(**{name: data[name].astype("string") for name in mixed})
    return data
