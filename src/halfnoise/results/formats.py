"""A release for other programs: files, whose ending says the format, and frames.

CSV opens in a spreadsheet: it starts with a byte-order mark, and text that a spreadsheet would
take for a formula is escaped.
"""

import codecs
import datetime as dt
import json
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halfnoise import files
from halfnoise.checks import installed, refuse
from halfnoise.errors import AGAIN, DataError, InvalidParameterError, TryAgainError
from halfnoise.privacy.words import implied
from halfnoise.results import document, render, table
from halfnoise.results.comparison import Comparison
from halfnoise.results.inference import NUMBERS, Columns
from halfnoise.results.lines import CSV, EXCEL, MARKDOWN, Layout, literal
from halfnoise.results.published import MANY
from halfnoise.results.release import GroupedRelease, Released
from halfnoise.results.reliability import Reliability, beside, for_eyes
from halfnoise.results.sampling import BOTH, NOISE, caption
from halfnoise.results.shown import texts
from halfnoise.scratch import own_folder
from halfnoise.text import spelled
from halfnoise.values import dataclass, replace

# What shows releases is found from here.
__all__ = ["document", "render", "table"]
SHEETS = ".xlsx"
_VERY_MANY = 2**22  # lines
COVERS = "covers"  # what says what intervals cover


@dataclass(frozen=True, slots=True)
class Output:
    """A file to be written, named by the option ``flag``."""

    flag: str
    path: Path
    overwrite: bool = False
    excel: bool = False  # for a spreadsheet where the comma is the decimal mark

    def check(
        self, inputs: Sequence[str], *, a_release: bool = True, again: Released | None = None
    ) -> None:
        """Refuse what cannot or must not be written, before anything is spent.

        ``again``: what is to be written, where it is known; the very same may be there.
        """
        path, ending = self.path, self.path.suffix.lower()
        if a_release:
            self._check_format(ending)
        appended = a_release and ending == ".jsonl" and not self.overwrite
        if rule := self._obstacle(replaced=not appended):
            raise refuse(self.flag, rule, str(path))
        if path.exists() and files.is_among(path.stat(), inputs):
            raise refuse(self.flag, "another file than the input", str(path))
        if files.is_inside(path, inputs):
            raise refuse(self.flag, "outside of the folder with the data", str(path))
        if path.is_file() and files.is_database(path):
            raise refuse(self.flag, "another file than a ledger or another database", str(path))
        if path.is_symlink() and appended:
            raise refuse(self.flag, "a file, not a link to one", str(path), "name that file")
        if os.path.lexists(path) and not (self.overwrite or appended):
            if again is not None and self._is(self._content(again)):
                return
            why = f"the output {str(path)!r} exists" + (
                " and is another" if again is not None else ""
            )
            raise InvalidParameterError(f"{why}; name another, or say --overwrite")

    def _check_format(self, ending: str) -> None:
        """Refuse what no release is written as, or not here."""
        if ending not in FORMATS:
            raise refuse(self.flag, f"a file ending in {', '.join(FORMATS)}", str(self.path))
        if self.excel and ending != ".csv":
            raise refuse(self.flag, "a file ending in .csv with --excel", str(self.path))
        if ending == SHEETS:
            installed("xlsxwriter", "XlsxWriter")

    def _obstacle(self, *, replaced: bool) -> str:
        """Say what it must be to be written, or ``replaced`` by a new one, if it cannot."""
        path, folder = self.path, self.path.parent
        try:
            path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            pass
        except (OSError, ValueError):
            return "a name that the system allows, in a folder that you may enter"
        there = path.exists()
        if (there and not path.is_file()) or not folder.is_dir():
            return "a file in a folder that exists"
        if there and not os.access(path, os.W_OK):
            return "a file that you may write"
        if replaced or not there:
            if not os.access(folder, os.W_OK | os.X_OK):
                return "a file in a folder that you may write to"
            # In a sticky folder, such as /tmp, nobody replaces what belongs to others.
            shared = folder.stat()
            if os.path.lexists(path) and shared.st_mode & stat.S_ISVTX and hasattr(os, "geteuid"):
                owners = (0, path.lstat().st_uid, shared.st_uid)
                return "" if os.geteuid() in owners else "a file that is yours to replace"
        return ""

    def write(self, release: Released, *, once: bool = False) -> bytes:
        """Write a release in the format of the ending, and return what was written.

        JSON lines are appended to others. ``once``: where the very same is there, it is left alone.
        """
        ending = self.path.suffix.lower()
        append, content = ending == ".jsonl" and not self.overwrite, self._content(release)
        self.write_bytes(content, append=append, once=once)
        return content

    def _content(self, release: Released) -> bytes:
        if self.excel:
            return as_lines(with_reliability(release), EXCEL, mark=codecs.BOM_UTF8)
        return FORMATS[self.path.suffix.lower()](release)

    def write_bytes(self, content: bytes, *, append: bool = False, once: bool = False) -> None:
        """Write a file, or append to it, whole or not at all, and for its owner alone."""
        try:
            if append:
                files.append(self.path, content, once=once)
            elif not (once and self._is(content)):
                files.write_whole(self.path, content, new=not self.overwrite)
        except OSError as error:
            why = f"the output {str(self.path)!r} could not be written"
            if isinstance(error, FileExistsError):
                if once and self._is(content):  # by another release of the same moment
                    return
                raise DataError(f"{why}: by now there is another file; name another") from None
            if error.errno in AGAIN:
                raise TryAgainError(f"{why}: the disk is full or busy; try again") from None
            raise DataError(f"{why}; check the folder") from None

    def _is(self, content: bytes) -> bool:
        return self.path.is_file() and self.path.read_bytes() == content


def as_csv(release: Released, *, excel: bool = False) -> bytes:
    """Return the table as CSV; ``excel``: for where the comma is the decimal mark."""
    return as_lines(with_reliability(release), EXCEL if excel else CSV)


def with_reliability(release: Released) -> Columns:
    """Return the table by column with relative standard errors and marks."""
    return _told(release, beside(release.columns(), Reliability.of(release.facts)))


def _told(release: Released, columns: Columns) -> Columns:
    """Return the same; where intervals cover more than the noise, the last column says it."""
    if release.sampling is None:
        return columns
    title, taken = COVERS, {each.casefold() for each in columns}
    while title in taken:
        title += " (interval)"
    covered = np.where(columns["kind"] == "size", NOISE, BOTH).astype(object)
    return columns | {title: covered}


def as_markdown(release: Released) -> str:
    """Return the release as Markdown: a list of estimates, then tables as one reads them."""
    columns, rule = release.columns(tables=False), Reliability.of(release.facts)
    listed = for_eyes(texts(columns, ones=release.rounded_values), columns, rule)
    blocks = [as_lines(listed, MARKDOWN).decode()]
    for heading, each in render.tables(release):
        wide = each.wide()
        titled = replace(wide, title=f"{heading}{wide.title}")
        blocks.append(titled.markdown(MARKDOWN.text))
    below = (*rule.told(), caption(release.sampling, weighted="weight" in release.facts))
    return "\n".join([*blocks, *(f"{MARKDOWN.text(line)}\n" for line in below)])


def as_lines(columns: Columns, layout: Layout, *, mark: bytes = b"") -> bytes:
    """Return a table by column as lines of text, its titles first, behind a byte-order mark."""
    head = mark + layout.head(columns)
    if len(next(iter(columns.values()))) <= MANY:
        return head + layout.by_cell(columns)
    with own_folder() as folder:
        target = folder / "lines"
        _write(columns, layout, head, target)
        del columns  # nobody may need them, and the lines are as long again
        return target.read_bytes()


def _write(columns: Columns, layout: Layout, head: bytes, target: Path) -> None:
    """Let DuckDB write the rows of a table by column as lines, behind a head."""
    import duckdb

    given = {f"c{i}": layout.to_engine(f"c{i}", e) for i, e in enumerate(columns.values())}
    hn_table = {name: column for name, (column, _) in given.items()}  # noqa: F841  # DuckDB does
    line = layout.in_sql(text for _, text in given.values())
    title = head.decode().removesuffix("\n").replace('"', '""')
    rows = f'select {line} as "{title}" from hn_table'  # noqa: S608  # literals of ours
    plainly = "format csv, header true, delimiter '', quote '', escape ''"
    # Of very many, by one thread: others hold lines until it is their turn.
    rules: dict[str, Any] = {"threads": 1} if len(next(iter(columns.values()))) > _VERY_MANY else {}
    with duckdb.connect(config=rules) as engine:
        engine.execute(f"copy ({rows}) to {literal(str(target))} ({plainly})")


def as_json_lines(release: Released) -> str:
    """Return one line of JSON for each estimate, to append to others."""
    guarantee = implied(release.guarantee, release.privacy)
    said = ("mu", "epsilon", "delta", "pure_epsilon", "discover_delta")
    shared = {name: guarantee[name] for name in said if name in guarantee}
    shared |= {"level": release.level}
    rows = document.rows(release)
    if release.sampling is not None:
        rows = [row | {COVERS: NOISE if row["kind"] == "size" else BOTH} for row in rows]
    keys: list[dict[str, Any]] = [{}]
    if isinstance(release, GroupedRelease):
        keys = [{"key": document.key_dict(release, key)} for key in release.group_keys]
    each = len(rows) // max(1, len(keys))
    encode = json.JSONEncoder(allow_nan=False).encode
    return "".join(encode(keys[i // each] | row | shared) + "\n" for i, row in enumerate(rows))


def frame(release: Released, library: str) -> Any:
    """Return the table as a frame of a library that is installed."""
    columns = {
        title: table.one_type(each.tolist()) if each.dtype == object else each
        for title, each in _told(release, release.columns()).items()
    }
    if library == "pandas":  # which would make fractions of whole numbers with gaps
        columns |= {name: np.array(each, object) for name, each in columns.items() if None in each}
    return installed(library).DataFrame(columns)


def _as_parquet(release: Released) -> bytes:
    with own_folder() as folder:
        target = folder / "release.parquet"
        relation(release).write_parquet(str(target))
        return target.read_bytes()


def _as_sheets(release: Released) -> bytes:
    from halfnoise.results.sheets import as_sheets

    return as_sheets(release)


def relation(release: Released) -> Any:
    """Return the table as DuckDB has it, each column of keys with its type."""
    import duckdb

    hn_table = dict(_told(release, release.columns()))
    titles, picked = [*hn_table], list[str]()
    keys = titles.index(table.COLUMNS[0])
    for title in (*titles[:keys], *titles[keys + len(table.COLUMNS) :]):
        values = table.one_type(hn_table[title].tolist())
        if {*map(type, values)} != {str}:
            text = [None if value is None else spelled(value) for value in values]
            hn_table[title] = np.array(text, dtype=object)
        name = '"' + title.replace('"', '""') + '"'
        picked.append(f"{name}::{_type(values)} as {name}")
    # Where there is no group, nothing says that these are text. Names of columns are quoted above.
    own = ["name::varchar as name", "kind::varchar as kind", *NUMBERS]
    picked[keys:keys] = own
    return duckdb.connect().sql(f"select {', '.join(picked)} from hn_table")  # noqa: S608  # names are quoted


def _type(values: list[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    kind = kinds.pop() if kinds else str
    if kind is int and any(value is not None and abs(value) >= 2**63 for value in values):
        kind = str
    return {bool: "boolean", int: "bigint", float: "double", dt.date: "date"}.get(kind, "varchar")


# How each ending of a comparison is written.
COMPARED: dict[str, Callable[[Comparison], bytes]] = {
    ".csv": lambda found: as_lines(found.columns(), CSV, mark=codecs.BOM_UTF8),
    ".json": lambda found: found.to_json().encode(),
    ".md": lambda found: found.wide().markdown(MARKDOWN.text).encode(),
}

# How each ending is written.
FORMATS: dict[str, Callable[[Released], bytes]] = {
    ".csv": lambda release: as_lines(with_reliability(release), CSV, mark=codecs.BOM_UTF8),
    ".json": lambda release: release.to_json().encode(),
    ".jsonl": lambda release: as_json_lines(release).encode(),
    ".parquet": _as_parquet,
    ".md": lambda release: as_markdown(release).encode(),
    SHEETS: _as_sheets,
    ".html": lambda release: release.to_html().encode(),
}
