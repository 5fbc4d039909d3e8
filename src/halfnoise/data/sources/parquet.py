"""Parquet files, in which a cell that DuckDB cannot hold is missing and fails nothing.

All files are read as they are. Where a cell fails, they are read once more, from copies in which
text is bare bytes and a moment in milliseconds a number, and what cannot be read of them is null.
"""

import glob
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.data.sources.arrow_tables import typed
from halfnoise.data.sources.duckdb_relations import check_names, readable, readable_cells
from halfnoise.data.sources.folders import Partitions
from halfnoise.data.sources.source import Source, TextFormat
from halfnoise.data.sources.thrift import bare
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass, field, replace

# What is raised where a cell fails DuckDB: the last, where its words hold a cell that is no text.
_OF_A_CELL = ("ConversionException", "InvalidInputException", "UnicodeDecodeError")
_ROWS = "halfnoise_rows"
_MANY = 4_000  # columns; of more, plans take much longer than in step with their number
_LEAST = 16  # bytes at the end of a file that say what there is about a column; they are more
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_PLAIN = {*_WHOLE, *(f"U{kind}" for kind in _WHOLE), "BOOLEAN", "FLOAT", "DOUBLE"}
_PLAIN |= {"VARCHAR", "DATE"}
_ROOM = 2**25  # bytes of files, of which as many more are held as they are packed
_FILE = "file_index"  # what DuckDB calls the place of a row's file among those that it reads
_MILLISECONDS = ("TIMESTAMP_MILLIS", "MILLIS=MilliSeconds")
# The greatest number and the least but one are without end; others must fit into microseconds.
_MOMENT = (
    "case when {{0}} = 9223372036854775807 then 'infinity'::{0}"
    " when {{0}} = -9223372036854775807 then '-infinity'::{0}"
    " when {{0}} between -9223372022400000 and 9223372036854775 then {1}({{0}} * 1000) end"
)
_BARE = {
    "VARCHAR": "try(decode({0}))",
    "JSON": "try_cast(try(decode({0})) as json)",
    "TIMESTAMP": _MOMENT.format("timestamp", "make_timestamp"),
    "TIMESTAMP WITH TIME ZONE": _MOMENT.format("timestamptz", "make_timestamptz"),
}


def from_parquet(
    connection: Any, paths: list[Path], partitions: Partitions, text: TextFormat, scratch: Path
) -> Source:
    """Read Parquet files whose columns agree, types included: a cast could fail on a row."""
    # What files say of themselves is read once; that they stay as they are is looked after.
    connection.execute("set parquet_metadata_cache = true")
    told = _told(connection, paths[0])
    first = None if told else connection.sql(_read(paths[:1]))
    kinds = told if first is None else _kinds(first)
    for path in paths[1:]:
        own = _told(connection, path) if told else _kinds(connection.sql(_read([path])))
        if [*own.items()] != [*kinds.items()]:
            said = f"the columns of {str(path)!r} differ from those of {str(paths[0])!r}"
            pairs = zip_longest(own.items(), kinds.items())
            both = next(pair for pair in pairs if pair[0] != pair[1])
            here, there = (f"{e[0]!r} ({e[1][:40]})" if e else "no column" for e in both)
            remedy = "write all with the same columns, of the same types and in the same order"
            raise InvalidParameterError(f"{said}: {here} in the place of {there}; {remedy}")
    partitions.check([*kinds])
    views = _Views(connection, paths, partitions, kinds, scratch)

    def narrow(wanted: Sequence[str]) -> Source:
        return typed(views.of(wanted), text, {name: name for name in wanted})

    if first is None:
        table = _known(connection, kinds, text)
    else:
        known = _lazy(readable(first, nested=False))
        table = typed(known, text, {name: name for name in kinds})
    more = dict.fromkeys(partitions.names, nw.String())
    names, dtypes = {**table.names, **{name: name for name in more}}, {**table.dtypes, **more}
    return replace(
        table,
        names=names,
        dtypes=dtypes,
        narrow=narrow,
        mend=views.after,
        at_once=_at_once(paths, len(kinds)),
    )


@dataclass(frozen=True, slots=True)
class _Views:
    """Rows under names by which they can be read in another way later, by some of the columns.

    What makes cells readable is said there too: each question more has its price.
    """

    connection: Any
    paths: Sequence[Path]
    partitions: Partitions
    kinds: Mapping[str, str]
    scratch: Path
    wanted: dict[str, list[str]] = field(default_factory=dict)

    def of(self, columns: Iterable[str]) -> nw.LazyFrame[Any]:
        """Return the rows of some columns."""
        view = f"{_ROWS}{len(self.wanted)}"
        self.wanted[view] = [*columns]
        self._show(view, self._as_they_are(self.wanted[view]))
        return _lazy(self.connection.view(view))

    def after(self, error: Exception) -> Callable[[], None] | None:
        """Return what makes the rows readable after an error, if a cell failed them."""
        return self.mend if type(error).__name__ in _OF_A_CELL else None

    def mend(self) -> None:
        """Read copies of the files, in which no cell can fail."""
        copies = []
        for i, path in enumerate(self.paths):
            odd, copy = _odd(self.connection, path), self.scratch / str(i)
            _copy(path, copy, odd)
            bare = {name for place, name in enumerate(self.kinds) if place in odd.values()}
            copies.append((copy, bare))
        for view, wanted in self.wanted.items():
            own = self._own(wanted)

            def bare_rows(some: list[int], own: list[str] = own) -> str:
                return " union all ".join(self._bare(*copies[i], own) for i in some)

            self._show(view, self.partitions.joined(bare_rows, _inside(wanted)))

    def _own(self, wanted: Sequence[str]) -> list[str]:
        """Return those columns that are in the files themselves."""
        return [name for name in wanted if name in self.kinds]

    def _as_they_are(self, wanted: Sequence[str]) -> str:
        """Return what reads all files at once, each row beside what folders say of its file.

        One look at all of them: of several, each would hold its people in memory apart.
        """
        own = [*map(_name, self._own(wanted))]
        if _FILE in map(str.casefold, self.kinds):  # a column of that name hides it
            return self.partitions.joined(
                lambda some: _read([self.paths[i] for i in some], own), _inside(wanted)
            )
        said = self.partitions.by_file(f"{_FILE}::bigint + 1", _inside(wanted))
        return _read(self.paths, [*own, *said])

    def _bare(self, copy: Path, bare: Collection[str], own: Sequence[str]) -> str:
        cells = {name: _BARE[self.kinds[name]] if name in bare else "{0}" for name in own}
        return _read([copy], (f"{c.format(_name(n))} as {_name(n)}" for n, c in cells.items()))

    def _show(self, view: str, rows: str) -> None:
        """Let a view show rows."""
        kinds = {name: self.kinds.get(name, "VARCHAR") for name in self.wanted[view]}
        cells = readable_cells(kinds, nested=False)
        shown = f"from ({rows}) select {', '.join(cells) or '1'}"
        self.connection.execute(f"create or replace temp view {view} as {shown}")


def _kinds(bound: Any) -> dict[str, str]:
    """Return the columns of a file with their types, as DuckDB binds them."""
    return dict(zip(bound.columns, map(str, bound.types), strict=True))


def _may_have_many(path: Path) -> bool:
    """Whether what a file says of itself is so long that it may have very many columns."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 8))
        return int.from_bytes(file.read(4), "little") > _LEAST * _MANY


def _told(connection: Any, path: Path) -> dict[str, str]:
    """Return very many columns with their types as the file says them; nothing where they are few.

    To bind them takes longer than in step with their number. Nothing as well where DuckDB would
    call one in another way, or where one is not plain.
    """
    if not _may_have_many(path):
        return {}
    asked = "select name, duckdb_type, num_children, repetition_type"
    (name,) = _named([path])
    _, *told = connection.execute(f"from parquet_schema({_quoted(name)}) {asked}").fetchall()
    kinds = {str(column): str(kind) for column, kind, *_ in told}
    apart = len({*map(str.casefold, kinds)}) == len(told) and "" not in kinds
    flat = all(not children and often != "REPEATED" for *_, children, often in told)
    return kinds if len(told) > _MANY and apart and flat and {*kinds.values()} <= _PLAIN else {}


def _known(connection: Any, kinds: Mapping[str, str], text: TextFormat) -> Source:
    """Return a table without rows that knows very many columns, each type looked at once."""
    check_names(kinds)
    own = {kind: f"kind{i}" for i, kind in enumerate(dict.fromkeys(kinds.values()))}
    nothing = ", ".join(f"cast(null as {kind}) as {name}" for kind, name in own.items())
    frame = _lazy(readable(connection.sql(f"select {nothing} where false"), nested=False))
    each = typed(frame, text, {name: name for name in own.values()})
    dtypes = {column: each.dtypes[own[kind]] for column, kind in kinds.items()}
    return replace(each, names={column: column for column in kinds}, dtypes=dtypes)


def _lazy(relation: Any) -> nw.LazyFrame[Any]:
    frame: nw.LazyFrame[Any] = nw.from_native(relation).lazy()
    return frame


def _at_once(paths: Sequence[Path], columns: int) -> int:
    """Return how many columns are read at once: for each plan DuckDB looks at all of a file."""
    each = sum(path.stat().st_size for path in paths) // max(1, columns)
    return min(_MANY, _ROOM // max(1, each))


def _inside(wanted: Iterable[str]) -> dict[str, str]:
    return {name: name.replace('"', '""') for name in wanted}


def _read(paths: Sequence[Path], cells: Iterable[str] = "*") -> str:
    listed = ", ".join(map(_quoted, _named(paths)))
    shown = ", ".join(cells) or "1"
    return f"from read_parquet([{listed}], hive_partitioning = false) select {shown}"


def _odd(connection: Any, path: Path) -> dict[int, int]:
    """Return which columns can hold what DuckDB cannot, by their place in the schema.

    A column is known by its number: of names that are alike but for case DuckDB changes one.
    """
    asked = "select num_children, type, duckdb_type, converted_type, logical_type"
    (name,) = _named([path])
    elements = connection.execute(f"from parquet_schema({_quoted(name)}) {asked}").fetchall()
    odd, column, within = dict[int, int](), 0, 0
    for place, (children, kind, held, *means) in enumerate(elements[1:], 1):  # after the root
        text = kind == "BYTE_ARRAY" and held in ("VARCHAR", "JSON")
        moment = held in _BARE and any(mark in str(means) for mark in _MILLISECONDS)
        if within:  # another column, whose parts cannot be asked for
            within += (children or 0) - 1
            continue
        if text or moment:
            odd[place] = column
        column, within = column + 1, children or 0
    return odd


def _copy(path: Path, copy: Path, columns: Mapping[int, int]) -> None:
    """Copy a file, and write its footer anew."""
    shutil.copyfile(path, copy)
    with copy.open("r+b") as file:
        file.seek(-8, 2)
        size = int.from_bytes(file.read(4), "little")
        start = file.seek(-8 - size, 2)
        footer = bare(file.read(size), columns.keys())
        file.seek(start)
        file.write(footer + len(footer).to_bytes(4, "little") + b"PAR1")
        file.truncate()


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(paths: Sequence[Path]) -> list[str]:
    """Return paths that DuckDB takes by name: it would read marks such as * and [ as patterns."""
    return [glob.escape(str(path.absolute())) for path in paths]
