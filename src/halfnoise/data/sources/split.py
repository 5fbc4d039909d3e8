"""Lines turned into cells by DuckDB: read in parallel, each line split by itself."""

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path

from halfnoise.data.sources.lines import SEPARATOR, Readable
from halfnoise.data.sources.records import LONGEST, WITHIN
from halfnoise.data.sources.source import TextFormat
from halfnoise.values import dataclass

_MISSING = "chr(0)"
# The engine leaves out a mark of UTF-8 at the start of a file. Where the first line is somebody's
# row, it is left out of all lines: whoever comes first, each is read alike.
_BARE = "case when starts_with(line, chr(65279)) then ltrim(line, chr(65279)) else line end"
CELL, PLACE = "hn_cell", "hn_place"  # a cell, and which of the wanted columns it is of
Files = Sequence[Readable]


@dataclass(frozen=True, slots=True)
class Cells:
    """Lines of cells, under a header unless their columns were named; some columns are wanted."""

    names: Sequence[str]
    wanted: Sequence[str]
    text: TextFormat

    def rows(self, files: Files) -> str:
        """Return what reads files: columns of cells, null where there is nothing."""
        places = {name: place for place, name in enumerate(self.names, 1)}
        split = f"from {self._lines(files)} select {self._split()} as cells"
        return _shown(files, {name: f"cells[{places[name]}]" for name in self.wanted}, split)

    def in_rows(self, files: Files) -> str:
        """Return what reads files: a row for each wanted cell, and which of the wanted it is."""
        places = {name: place for place, name in enumerate(self.names, 1)}
        wanted = ", ".join(str(places[name]) for name in self.wanted)
        split = (
            f"from {self._lines(files)} select list_select({self._split()}, [{wanted}]) as cells"
        )
        each = f"unnest(cells) as {CELL}, unnest(range({len(self.wanted)})) as {PLACE}"
        return _shown(files, {CELL: CELL}, f"from ({split}) select {each}", PLACE)

    def _lines(self, files: Files) -> str:
        """Return what reads lines; of those that were rows of several, breaks are breaks again."""
        lines = _lines(files, header=self.text.names is None, skip=self.text.skip)
        if not self.text.quote_newlines:
            return lines
        within = _quoted(WITHIN)
        broken = f"when contains(line, {within}) then replace(line, {within}, chr(10))"
        return f"(from {lines} select case {broken} else line end as line)"

    def _split(self) -> str:
        """Return what splits a line into a list of cells.

        A cell in quotes may hold delimiters, and quotes that are doubled; a quote within a cell
        that does not begin with one is a letter. A quote that is not closed, or closed before the
        cell ends, takes the rest of its line with it. Cells beyond the header are left out.
        """
        delimiter, quote = self.text.delimiter or ",", self.text.quote
        plain = f"string_split(line, {_quoted(delimiter)})"
        return plain if quote is None else _split_by_kind(delimiter, quote, plain)


@dataclass(frozen=True, slots=True)
class Objects:
    """Lines that are JSON objects, from which columns are taken; of other lines all are missing.

    Numbers of JSON have a point, which becomes the ``decimal`` mark that text has.
    """

    names: Mapping[str, str]
    decimal: str

    def rows(self, files: Files) -> str:
        """Return what reads files; each line is parsed once."""
        lines = _lines(files, header=False)
        if not self.names:
            return f"from {lines} select 1"
        pointers = ["/" + name.replace("~", "~0").replace("/", "~1") for name in self.names]
        # In an array a pointer would find a place. What is no JSON is forgiven, and nothing else.
        line = (
            "case when starts_with(line, '{') then line"
            " when json_valid(line) then case when json_type(line) = 'OBJECT' then line end end"
        )
        asked = f"({line}, [{', '.join(map(_quoted, pointers))}])"
        cells, cell = f"try(json_extract_string{asked}) as cells", "cells[{0}]"
        if self.decimal != ".":
            cells += f", try(json_type{asked}) as kinds"
            with_mark = f"replace({cell}, '.', {_quoted(self.decimal)})"
            cell = f"case when kinds[{{0}}] = 'DOUBLE' then {with_mark} else {cell} end"
        named = enumerate(self.names.values(), 1)
        shown = ", ".join(f"{cell.format(i)} as {_name(own)}" for i, own in named)
        return f"from (from {lines} select {cells}) select {shown}"


def _split_by_kind(delimiter: str, quote: str, plain: str) -> str:
    """Return what splits each line in the cheapest way there is for lines of its kind.

    No quote; quotes around all cells, none within; quotes around what needs none; quotes, and
    delimiters, within quotes; and last whatever else there is, as long as it can be told apart.
    """
    q, d = _in_pattern(quote), _in_pattern(delimiter)
    mark, quotes = _quoted(delimiter), _quoted(quote)
    in_quotes, needless, bare = f"{q}[^{q}]*{q}", f"{q}[^{q}{d}]*{q}", f"[^{q}{d}]*"
    proper = f"{q}(?:[^{q}]|{q}{q})*{q}"
    return (
        f"case when not contains(line, {quotes}) then {plain}"
        f" when {_is_all(in_quotes, d)}"
        f" then string_split(line[2:-2], {_quoted(quote + delimiter + quote)})"
        f" when {_is_all(f'(?:{needless}|{bare})', d)}"
        f" then string_split(replace(line, {quotes}, ''), {mark})"
        f" when {_is_all(f'(?:{proper}|{bare})', d)} then {_split_by_pieces(mark, quotes)}"
        f" else {_split_by_patterns(q, d, mark, quotes)} end"
    )


def _is_all(cell: str, delimiter: str) -> str:
    """Return whether a line consists of such cells."""
    return f"regexp_full_match(line, '{cell}(?:{delimiter}{cell})*')"


def _split_by_pieces(mark: str, quote: str) -> str:
    """Return what splits a line in which each quote is doubled, or begins or ends a cell.

    Pieces between quotes lie within them and outside in turn; two quotes are one if nothing lies
    between them. Delimiters within give way, while the line is split, to what no line holds. One
    more at the end lets no piece be empty that ends the line; the cell behind it is left out.
    """
    pieces, aside = f"string_split(line || {mark}, {quote})", _quoted(SEPARATOR)
    piece = (
        f"case when i % 2 = 0 then replace(piece, {mark}, {aside})"
        f" when piece = '' and 1 < i then {quote} else piece end"
    )
    joined = f"array_to_string(list_transform({pieces}, lambda piece, i: {piece}), '')"
    back = f"case when contains(cell, {aside}) then replace(cell, {aside}, {mark}) else cell end"
    return f"list_transform(string_split({joined}, {mark}), lambda cell: {back})"


def _split_by_patterns(q: str, d: str, mark: str, quote: str) -> str:
    """Return what splits any line, up to the first cell that cannot be told from the next."""
    cell = f"(?:{q}(?:[^{q}]|{q}{q})*{q}|[^{q}{d}][^{d}]*|)"
    whole = f"regexp_extract(line || {mark}, '^(?:{cell}{d})*')"
    found = f"regexp_extract_all({whole}, '({cell}){d}', 1)"
    inside = f"replace(cell[2:-2], {quote} || {quote}, {quote})"
    bare = f"case when starts_with(cell, {quote}) then {inside} else cell end"
    return f"list_transform({found}, lambda cell: {bare})"


def _lines(files: Files, *, header: bool, skip: int = 0) -> str:
    """Return what reads the lines of files."""
    paths, line = [file.path for file in files], "{'line': 'VARCHAR'}"
    read = _read_csv(paths, line, header=header, skip=skip)
    return read if header else f"(from {read} select {_BARE} as line)"


def _shown(files: Files, cells: dict[str, str], rows: str, *more: str) -> str:
    """Return columns of cells that are null where there is nothing, or what cannot be read."""
    something = "nullif({0}, '')"
    if any(file.spoiled for file in files):
        something = f"case when {{0}} <> '' and not contains({{0}}, {_MISSING}) then {{0}} end"
    shown = (f"{something.format(cell)} as {_name(name)}" for name, cell in cells.items())
    return f"from ({rows}) select {', '.join([*shown, *more]) or '1'}"


def _read_csv(paths: Sequence[Path], columns: str, *, header: bool, skip: int) -> str:
    options = {
        "columns": columns,
        "delim": _quoted(SEPARATOR),
        "quote": "''",
        "escape": "''",
        "new_line": r"'\n'",
        "compression": "'none'",
        "max_line_size": 4 * LONGEST,  # one byte of another encoding may be three of UTF-8
        # A whole multiple: of other sizes DuckDB 2.0 loses lines between two threads.
        "buffer_size": 8 * LONGEST,
        "header": header,
        "skip": skip,
        "parallel": True,
        "auto_detect": False,
        "strict_mode": False,
        "null_padding": True,
        "ignore_errors": True,
    }
    # DuckDB would read marks such as * and [ as patterns, and ~ at the start as a home.
    listed = ", ".join(_quoted(glob.escape(str(path.absolute()))) for path in paths)
    return f"read_csv([{listed}], {', '.join(f'{k} = {v}' for k, v in options.items())})"


def _name(name: str) -> str:
    return f'"{name}"'  # which ``spelled`` made plain


def _quoted(text: str) -> str:
    parts = ["'" + part.replace("'", "''") + "'" for part in text.split("\0")]
    return parts[0] if len(parts) == 1 else f"({f' || {_MISSING} || '.join(parts)})"


def _in_pattern(mark: str) -> str:
    return f"\\x{{{ord(mark):x}}}"
