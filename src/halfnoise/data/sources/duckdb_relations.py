"""Relations of DuckDB: read where they are if once is enough, else copied to a connection of ours.

Where they are, text is compared letter by letter whatever a column's collation. A connection that
compares otherwise by default, or that lives in another time zone, is not computed on at all.
"""

import re
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.data.sources.arrow_tables import id_of, typed
from halfnoise.data.sources.connection import own_connection
from halfnoise.data.sources.room import Room
from halfnoise.data.sources.source import Source, TextFormat, once
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass

Rule = Callable[[str], nw.Expr]  # what is made of a column, by its name
_AS_TEXT = ('"NULL"', "JSON", "UUID")
# Moments that fail far out, or beside what is. DuckDB rounds nanoseconds, perhaps to the next day.
_DOWN = "epoch_ns({0}) // 1000 - (epoch_ns({0}) % 1000 < 0)::int"
_OTHER = {
    "TIMESTAMP_S": ("try_cast({0} as timestamp)", "{0}"),
    "TIMESTAMP_MS": ("try_cast({0} as timestamp)", "{0}"),
    "TIMESTAMP_NS": (f"coalesce(make_timestamp({_DOWN}), try_cast({{0}} as timestamp))", "{0}"),
    "TIMESTAMPTZ_NS": (
        f"coalesce(make_timestamptz({_DOWN}), try_cast({{0}} as timestamptz))",
        "{0} at time zone 'UTC'",
    ),
}
_LARGE = ("HUGEINT", "UHUGEINT", "BIGNUM")  # Arrow has no whole numbers of that size
_WITHIN = re.compile(r"STRUCT|MAP|UNION|VARIANT|\[")
_FRACTIONS = re.compile("FLOAT|DOUBLE")
_QUOTED = re.compile("'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")  # labels of an ENUM, names of fields
_ONE = "halfnoise_one_column"
_ALL = "halfnoise_all_columns"
_LONG = 200  # letters of a rule, beyond which each mention of it has its price
_SAID = re.compile('AS "?halfnoise_from"?, (.*) AS "?halfnoise_to"?\\s+FROM', re.DOTALL)
_UTC = ("UTC", "Etc/UTC")
_SETTINGS = "select current_setting('default_collation'), current_setting('TimeZone')"


def duckdb_source(relation: Any, text: TextFormat, stack: ExitStack, room: Room) -> Source:
    """Return a relation as a table that has not been read yet."""
    _check_case(relation.columns)
    names = {name: name for name in relation.columns}
    rows = readable(relation)
    kinds = dict(zip(rows.columns, map(str, rows.types), strict=True))
    connection, _ = stack.enter_context(own_connection(room=room))
    nothing = ", ".join(f"cast(null as {kind}) as {_quoted(n)}" for n, kind in kinds.items())
    types = connection.sql(f"select {nothing} where false")

    def settle(columns: Collection[str], *, again: bool) -> nw.LazyFrame[Any]:
        if not again and _is_plain(relation):
            return _lazy(rows)
        inside = [n for name in columns for n in (name, id_of(name)) if n in kinds]
        return _lazy(_copied(rows, {name: kinds[name] for name in inside}, connection))

    return typed(_lazy(types), text, names, settle=settle)


def readable(relation: Any, *, nested: bool = True) -> Any:
    """Return a relation in which no cell can fail, with what tells people apart beside it.

    ``nested``: whether cells within cells cannot fail either; else no query takes them.
    """
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    check_names(kinds)
    own = [_quoted(name) for name in kinds]
    cells = readable_cells(kinds, nested=nested)
    return relation if cells == own else relation.project(", ".join(cells))


def check_names(names: Iterable[str]) -> None:
    """Refuse names that only columns of ours may have."""
    for name in names:
        if name.casefold().startswith(id_of("")):
            said = f"the column {name!r} is called as only halfnoise's own may be"
            raise InvalidParameterError(f"{said}; rename it")


def readable_cells(kinds: Mapping[str, str], *, nested: bool = True) -> list[str]:
    """Return the same as SQL says it, of columns by their names and types."""
    own = [_Column(name, kind, nested) for name, kind in kinds.items()]
    return [cells for column in own for cells in column.read]


@dataclass(frozen=True, slots=True)
class _Column:
    """A column by its name, and what DuckDB calls its type."""

    name: str
    kind: str
    nested: bool

    @property
    def unread(self) -> bool:
        """Whether no query may take it: NaN within another type cannot be kept apart."""
        within = _QUOTED.sub("", self.kind)
        return bool(_FRACTIONS.search(within) or (not self.nested and _WITHIN.search(within)))

    @property
    def read(self) -> list[str]:
        """How its cells are read, and what tells people apart where that is something else."""
        own, cells = _quoted(self.name), _quoted(self.name)
        if self.kind in ("FLOAT", "DOUBLE"):
            cells = without_nan(own)
        elif self.unread:
            cells = "null::bit"  # of a type without a name here
        elif self.kind == "VARCHAR":
            cells = f'{own} collate "binary"'
        elif self.kind in _AS_TEXT or self.kind.startswith("ENUM("):
            cells = f'cast({own} as varchar) collate "binary"'
        elif self.kind in _OTHER:
            shown, ids = (said.replace("{0}", own) for said in _OTHER[self.kind])
            return [f"{shown} as {own}", f"{ids} as {_quoted(id_of(self.name))}"]
        return [own if cells == own else f"{cells} as {own}"]


def without_nan(number: str) -> str:
    """Return a number that is null where it is NaN.

    DuckDB takes NaN for the largest number and, where a file says what the largest one is, isnan()
    for false: Parquet leaves NaN out of that.
    """
    return f"case when isfinite({number}) or isinf({number}) then {number} end"


def renamed(relation: Any, columns: Mapping[str, str]) -> Any:
    """Return columns under other names."""
    pairs = (f"{_quoted(name)} as {_quoted(other)}" for other, name in columns.items())
    return relation.project(", ".join(pairs))


def with_each(relation: Any, columns: Mapping[str, str], rule: Rule) -> Any:
    """Return a relation with a column more for each of some: what one rule makes of them.

    It is made once, and said of the others in its words: to make an expression takes longer than
    to compute it. A long one is said once, of all of them as a list, and planned but once.
    """
    one = relation.project(f"{_quoted(next(iter(columns.values())))} as {_ONE}")
    said = _words(one, rule)
    if said is None:  # a version that writes in another way
        return _lazy(relation).with_columns(**{o: rule(n) for o, n in columns.items()}).to_native()
    if len(said) > _LONG:
        listed = ", ".join(map(_quoted, columns.values()))
        each = f"list_transform([{listed}], lambda {_ONE}: {said}) as {_ALL}"
        made = (f"{_ALL}[{i}] as {_quoted(o)}" for i, o in enumerate(columns, 1))
        shown = ", ".join([f"* exclude ({_ALL})", *made])
        return relation.project(f"*, {each}").project(shown)
    parts = re.split(f'"?{_ONE}"?', said)
    made = (f"{_quoted(n).join(parts)} as {_quoted(o)}" for o, n in columns.items())
    return relation.project(", ".join(["*", *made]))


def summed(relation: Any, asked: Sequence[tuple[str, Rule]]) -> Any:
    """Return one row: what a rule makes of each column, added up, and how many rows there are.

    Each rule is made once, where there is no other column, and said of all that it is for.
    """
    import duckdb

    kinds = dict(zip(relation.columns, relation.types, strict=True))
    first = {rule: column for column, rule in reversed(asked)}
    said = dict[Rule, str | None]()
    with duckdb.connect() as engine:
        for rule, column in first.items():
            said[rule] = _words(engine.sql(f"select cast(null as {kinds[column]}) as {_ONE}"), rule)
    if None in said.values():  # a version that writes in another way
        made = {f"s{i}": rule(column).sum() for i, (column, rule) in enumerate(asked)}
        return _lazy(relation).select(**made, people=nw.len()).to_native()
    parts = {rule: re.split(f'"?{_ONE}"?', str(words)) for rule, words in said.items()}
    each = (_quoted(column).join(parts[rule]) for column, rule in asked)
    sums = (f"sum({words}) as s{i}" for i, words in enumerate(each))
    return relation.aggregate(", ".join([*sums, "count() as people"]))


def added_up(relation: Any, group: str, sums: Sequence[str], alone: nw.Expr) -> Any:
    """Return sums by group, perhaps in parts; a row that is ``alone`` is one of them as it is."""
    marked = _lazy(relation).with_columns(halfnoise_alone=alone).to_native()
    own, added = ", ".join(sums), ", ".join(f"sum({name})::bigint as {name}" for name in sums)
    # By a name that nothing else has: what is read may stand under any other.
    name = f"halfnoise_{secrets.token_hex(8)}"
    rows = f"with {name}_once as materialized (from {name}) from {name}_once"
    as_it_is = f"select {group}, {own} where halfnoise_alone"
    rest = f"from {name}_once select {group}, {added} where halfnoise_alone is not true"
    return marked.query(name, f"{rows} {as_it_is} union all {rest} group by all")


def _words(one: Any, rule: Rule) -> str | None:
    """Return what DuckDB says for a rule on a column, which has a name of ours."""
    made = _lazy(one).select(halfnoise_from=nw.lit(0), halfnoise_to=rule(_ONE))
    said = _SAID.search(made.to_native().sql_query())
    return None if said is None else said[1]


def plain_text(relation: Any, among: Sequence[str]) -> Any:
    """Return a relation some of whose columns are compared letter by letter."""
    columns = []
    for name, kind in zip(relation.columns, map(str, relation.types), strict=True):
        own = _quoted(name)
        compared = f'{own} collate "binary" as {own}'
        columns.append(compared if kind == "VARCHAR" and name in among else own)
    return relation.project(", ".join(columns))


def _check_case(names: Sequence[str]) -> None:
    """Refuse names that DuckDB takes for one."""
    once(names)
    name, count = Counter(map(str.casefold, names)).most_common(1)[0]
    if count > 1:
        said = f"DuckDB takes two columns for one, {name!r} in whatever case"
        raise InvalidParameterError(f"{said}; rename one of the two")


def _is_plain(relation: Any) -> bool:
    """Whether a relation's connection compares text letter by letter, and lives in UTC."""
    ((collation, zone),) = relation.query("halfnoise_rows", _SETTINGS).fetchall()
    return not collation and zone in _UTC


def _copied(relation: Any, kinds: dict[str, str], connection: Any) -> Any:
    """Copy columns by way of Arrow: read once, they stay what they are."""
    sent = (
        f"cast({_quoted(n)} as varchar) as {_quoted(n)}" if kind in _LARGE else _quoted(n)
        for n, kind in kinds.items()
    )
    stream = relation.project(", ".join(sent)).__arrow_c_stream__()
    connection.execute("drop table if exists halfnoise_copy")
    connection.from_arrow(stream).create("halfnoise_copy")
    back = (f"cast({_quoted(n)} as {kind}) as {_quoted(n)}" for n, kind in kinds.items())
    return connection.table("halfnoise_copy").project(", ".join(back))


def _lazy(relation: Any) -> nw.LazyFrame[Any]:
    frame: nw.LazyFrame[Any] = nw.from_native(relation).lazy()
    return frame


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
