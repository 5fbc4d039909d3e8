"""A release on disk: the file's ending says the format. Values are unrounded.

CSV opens in a spreadsheet: it starts with a byte-order mark, and text that a spreadsheet would
take for a formula is escaped.
"""

import contextlib
import csv
import io
import json
import os
from collections.abc import Callable, Sequence
from glob import glob
from pathlib import Path

from halfnoise.checks import refuse
from halfnoise.errors import DataError, InvalidParameterError
from halfnoise.result import Release

COLUMNS = ("name", "kind", "estimate", "std", "low", "high")


def check_output(path: Path, *, overwrite: bool, inputs: Sequence[str]) -> None:
    """Refuse an output that cannot or must not be written, before anything is spent."""
    if path.suffix.lower() not in FORMATS:
        raise refuse("--out", f"a file ending in {', '.join(FORMATS)}", str(path))
    lines = path.suffix.lower() == ".jsonl"
    check_place("--out", path, overwrite=overwrite or lines, inputs=inputs)


def check_place(flag: str, path: Path, *, overwrite: bool, inputs: Sequence[str]) -> None:
    """Refuse a place where a file cannot or must not be written."""
    if path.is_dir() or not path.parent.is_dir():
        raise refuse(flag, "a file in a folder that exists", str(path))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise refuse(flag, "a file that you may write", str(path))
    if not path.exists():
        return
    named = [Path(name) for each in inputs for name in (each, *glob(each, recursive=True))]  # noqa: PTH207
    if any(each.exists() and path.samefile(each) for each in named):
        raise refuse(flag, "another file than the input", str(path))
    if not overwrite:
        raise InvalidParameterError(
            f"the output {str(path)!r} exists; name another, or say --overwrite"
        )


def write_release(release: Release, path: Path, *, overwrite: bool = False) -> None:
    """Write a release in the format of the file's ending; JSON lines are appended to others."""
    lines = path.suffix.lower() == ".jsonl"
    write_file(path, FORMATS[path.suffix.lower()](release), append=lines and not overwrite)


def write_file(path: Path, content: bytes, *, append: bool = False) -> None:
    """Write a file whole or not at all, or append to it."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        if append:
            with path.open("ab") as lines:
                lines.write(content)
            return
        partial.write_bytes(content)
        os.replace(partial, path)  # noqa: PTH105
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise DataError(
            f"the output {str(path)!r} could not be written; check the folder"
        ) from None


def as_csv(release: Release) -> str:
    """Return the table as CSV."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    for kind, each in release.rows():
        numbers = (each.estimate, each.std, each.low, each.high)
        writer.writerow([_escaped(each.name), kind, *map(repr, numbers)])
    return lines.getvalue()


def as_markdown(release: Release) -> str:
    """Return the table as Markdown."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
    for kind, each in release.rows():
        numbers = (each.estimate, each.std, each.low, each.high)
        name = each.name.replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {name} | {kind} | " + " | ".join(map(repr, numbers)) + " |")
    return "\n".join(lines) + "\n"


def as_json_lines(release: Release) -> str:
    """Return one line of JSON for each estimate, to append to others."""
    found = release.to_dict()
    shared = {"mu": found["guarantee"]["mu"], "level": found["level"]}
    size = (
        []
        if found["size"] is None
        else [{"name": "number of people", "kind": "size"} | found["size"]]
    )
    lines = [json.dumps(each | shared, allow_nan=False) for each in size + found["queries"]]
    return "".join(line + "\n" for line in lines)


def _as_parquet(release: Release) -> bytes:
    """Return the table as Parquet, written by DuckDB."""
    import tempfile

    import duckdb
    import numpy as np

    rows = list(release.rows())
    names = np.array([each.name for _, each in rows], dtype=object)
    kinds = np.array([kind for kind, _ in rows], dtype=object)
    numbers = {
        column: np.array([getattr(each, column) for _, each in rows], dtype=np.float64)
        for column in COLUMNS[2:]
    }
    hn_table = {"name": names, "kind": kinds, **numbers}  # noqa: F841  # found by name
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "release.parquet"
        with duckdb.connect() as connection:
            connection.sql("select * from hn_table").write_parquet(str(target))
        return target.read_bytes()


def _escaped(text: str) -> str:
    # A quote in front keeps a spreadsheet from reading text as a formula.
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


FORMATS: dict[str, Callable[[Release], bytes]] = {
    ".csv": lambda release: as_csv(release).encode("utf-8-sig"),
    ".json": lambda release: release.to_json().encode(),
    ".jsonl": lambda release: as_json_lines(release).encode(),
    ".parquet": _as_parquet,
    ".md": lambda release: as_markdown(release).encode(),
}
"""How each ending is written."""
