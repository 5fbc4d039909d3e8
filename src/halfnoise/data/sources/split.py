"""Lines turned into cells by DuckDB: read in parallel, each line split by itself."""

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halfnoise.data.sources.lines import LONGEST, SEPARATOR, Readable
from halfnoise.data.sources.source import TextFormat

_MISSING = "chr(0)"
Files = Sequence[Readable]


@dataclass(frozen=True, slots=True)
class Cells:
    """Lines of cells, under a header unless their columns were named."""

    names: Sequence[str]
    text: TextFormat

    def rows(self, files: Files) -> str:
        """Return what reads files."""
        header = self.text.names is None
        if self.text.quote_newlines:
            return self._spanning(files, header=header)
        found = self._split(_lines(files, header=header, skip=self.text.skip))
        return _shown(files, {name: f"cells[{i}]" for i, name in enumerate(self.names, 1)}, found)

    def _split(self, lines: str) -> str:
        """Return what splits lines into lists of cells.

        A cell in quotes may hold delimiters, and quotes that are doubled; a quote within a cell
        that does not begin with one is a letter. A quote that is not closed, or closed before the
        cell ends, takes the rest of its line with it. Cells beyond the header are left out.
        """
        text = self.text
        mark = _quoted(text.delimiter or ",")
        split = f"from {lines} select string_split(line, {mark}) as cells"
        if text.quote:
            q, d = _in_pattern(text.quote), _in_pattern(text.delimiter or ",")
            quote, doubled = _quoted(text.quote), _quoted(text.quote * 2)
            simple = f"(?:{q}[^{q}{d}]*{q}|[^{q}{d}]*)"
            cell = f"(?:{q}(?:[^{q}]|{q}{q})*{q}|[^{q}{d}][^{d}]*|)"
            kind = (
                f"case when not contains(line, {quote}) then 0"
                f" when regexp_full_match(line, '{simple}(?:{d}{simple})*') then 1 else 2 end"
            )
            whole = f"regexp_extract(line || {mark}, '^(?:{cell}{d})*')"
            found = f"regexp_extract_all({whole}, '({cell}){d}', 1)"
            inside = f"replace(cell[2:-2], {doubled}, {quote})"
            bare = f"case when starts_with(cell, {quote}) then {inside} else cell end"
            split = (
                f"from (from {lines} select line, {kind} as kind)"
                f" select case kind when 0 then string_split(line, {mark})"
                f" when 1 then string_split(replace(line, {quote}, ''), {mark})"
                f" else list_transform({found}, lambda cell: {bare}) end as cells"
            )
        return split

    def _spanning(self, files: Files, *, header: bool) -> str:
        """Return what reads a table in which quotes span lines, one line after the other."""
        names, text = self.names, self.text
        columns = "{" + ", ".join(f"'{name}': 'VARCHAR'" for name in names) + "}"
        mark = text.delimiter or ","
        parts = [
            _read_csv([file.path], columns, mark, text.quote, header=header, zipped=file.zipped)
            for file in files
        ]
        return _shown(files, {name: _name(name) for name in names}, f"from {_all(parts)}")


@dataclass(frozen=True, slots=True)
class Objects:
    """Lines that are JSON objects, from which columns are taken; of other lines all are missing."""

    names: Mapping[str, str]

    def rows(self, files: Files) -> str:
        """Return what reads files."""
        # The line itself becomes null: nothing is extracted from it, whatever DuckDB does first.
        valid = (
            f"case when not contains(line, {_MISSING}) then case when json_valid(line) then"
            " case when json_type(line) = 'OBJECT' then line end end end"
        )
        pointers = {
            own: "/" + name.replace("~", "~0").replace("/", "~1")
            for name, own in self.names.items()
        }
        shown = (
            f"json_extract_string(line, {_quoted(pointer)}) as {_name(own)}"
            for own, pointer in pointers.items()
        )
        lines = _lines(files, header=False)
        return f"from (from {lines} select {valid} as line) select {', '.join(shown) or '1'}"


def _lines(files: Files, *, header: bool, skip: int = 0) -> str:
    """Return what reads the lines of files, those that are zipped beside those that are not."""
    parts = []
    for zipped in (False, True):
        if some := [file.path for file in files if file.zipped == zipped]:
            columns = "{'line': 'VARCHAR'}"
            how: Any = {"header": header, "skip": skip, "zipped": zipped}
            parts.append(_read_csv(some, columns, SEPARATOR, None, **how))
    return _all(parts)


def _all(parts: Sequence[str]) -> str:
    return f"({' union all '.join(f'from {part}' for part in parts)})"


def _shown(files: Files, cells: dict[str, str], rows: str) -> str:
    """Return columns of cells that are null where there is nothing, or what cannot be read."""
    something = "nullif({0}, '')"
    if any(file.copied for file in files):
        something = f"case when {{0}} <> '' and not contains({{0}}, {_MISSING}) then {{0}} end"
    shown = (f"{something.format(cell)} as {_name(name)}" for name, cell in cells.items())
    return f"from ({rows}) select {', '.join(shown)}"


def _read_csv(
    paths: Sequence[Path],
    columns: str,
    mark: str,
    quote: str | None,
    *,
    header: bool,
    zipped: bool,
    skip: int = 0,
) -> str:
    # In parallel, one quoted line break would fail the whole file.
    options = {
        "columns": columns,
        "delim": _quoted(mark),
        "quote": _quoted(quote or ""),
        "escape": _quoted(quote or ""),
        "new_line": r"'\n'",
        "compression": "'gzip'" if zipped else "'none'",
        "max_line_size": 4 * LONGEST,  # one byte of another encoding may be three of UTF-8
        # A whole multiple: of other sizes DuckDB 2.0 loses lines between two threads.
        "buffer_size": 16 * LONGEST,
        "header": header,
        "skip": skip,
        "parallel": not quote,
        "auto_detect": False,
        "strict_mode": False,
        "null_padding": True,
        "ignore_errors": True,
    }
    # DuckDB would read marks such as * and [ as patterns.
    listed = ", ".join(_quoted(glob.escape(str(path))) for path in paths)
    return f"read_csv([{listed}], {', '.join(f'{k} = {v}' for k, v in options.items())})"


def _name(name: str) -> str:
    return f'"{name}"'  # which ``spelled`` made plain


def _quoted(text: str) -> str:
    parts = ["'" + part.replace("'", "''") + "'" for part in text.split("\0")]
    return parts[0] if len(parts) == 1 else f"({f' || {_MISSING} || '.join(parts)})"


def _in_pattern(mark: str) -> str:
    return f"\\x{{{ord(mark):x}}}"
