r"""How PostgreSQL hands over the cells of a column, and how they are read again.

Each row is a line of its COPY format: cells between tabs, ``\N`` for none, and what would end a
cell or a line escaped. Nothing of that depends on the server's settings, collations or time zone,
and no cell can fail on either side: days and moments come as whole numbers, in UTC, since its text
for them goes farther than anybody reads; what is too long is missing before it is sent.
"""

from typing import Any

from halfnoise.data.sources.arrow_tables import id_of
from halfnoise.data.sources.duckdb_relations import without_nan
from halfnoise.data.sources.plain_cells import LONGEST
from halfnoise.values import dataclass

_DIGITS = 38  # of a decimal number in DuckDB
_NUMERIC = 1700
_TEXTS = {"bpchar", "citext", "json", "jsonb", "name", "text", "uuid", "varchar"}
_ESCAPES = {"b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_DAY = "{0} - date '2000-01-01'"
_MOMENT = (
    "(({0}::date - date '1970-01-01')::numeric * 86400000000"
    " + extract(epoch from {0}::time) * 1000000)::numeric(30, 0)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A type: what the server sends for a cell, and what DuckDB makes of it, each {0} in SQL."""

    type: str
    sent: str = "{0}"
    read: str = ""
    known_as: str = ""  # what tells people apart, where that is something else

    def columns(self, name: str, text: str) -> dict[str, str]:
        """Return columns by their names, and what they hold of the ``text`` that was sent."""
        read = (self.read or f"try_cast({{0}} as {self.type})").format(text)
        found = {name: f"cast({read} as {self.type})"}
        return found | ({id_of(name): self.known_as.format(text)} if self.known_as else {})


def _endless(sent: str, cell: str = "{0}") -> str:
    """Send what is finite, and the words for what is not: infinity, -infinity."""
    return f"case when isfinite({{0}}) then ({sent.format(cell)})::text else {{0}}::text end"


def _short(sent: str, most: int) -> str:
    return f"case when octet_length({sent}) <= {most} then {sent} end"


def _fractions(kind: str, **more: str) -> Kind:
    return Kind(type=kind, read=without_nan("try_cast({0} as double)"), **more)


def _moments(kind: str, cell: str) -> Kind:
    # Beyond the range of microseconds since 1970, which ends 29 years before the server's own.
    micros = f"nullif(try_cast({{0}} as bigint), {2**63 - 1})"  # of which it makes no moment
    read = f"coalesce(make_timestamp({micros}), try_cast({{0}} as timestamp))"
    return Kind(type=kind, sent=_endless(_MOMENT, cell), read=read)


def _text() -> Kind:
    """Return text: pieces between escaped backslashes, in which all else is escaped by letters."""
    piece = "piece"
    for letter, code in _ESCAPES.items():
        piece = f"replace({piece}, '\\{letter}', chr({code}))"
    pieces = rf"list_transform(string_split({{0}}, '\\'), lambda piece: {piece})"
    whole = rf"array_to_string({pieces}, '\')"
    read = rf"case when contains({{0}}, '\') then {whole} else {{0}} end"
    return Kind(type="VARCHAR", sent=_short("{0}::text", 4 * LONGEST), read=read)


_KINDS = {
    16: Kind(type="BOOLEAN"),
    17: Kind(type="BLOB", sent=f"encode({_short('{0}', LONGEST)}, 'hex')", read="unhex({0})"),
    20: Kind(type="BIGINT"),
    21: Kind(type="SMALLINT"),
    23: Kind(type="INTEGER"),
    700: _fractions("FLOAT", sent="{0}::float8"),
    701: _fractions("DOUBLE"),
    1082: Kind(
        type="DATE",
        sent=_endless(_DAY),
        read="coalesce(date '2000-01-01' + try_cast({0} as integer), try_cast({0} as date))",
    ),
    1114: _moments("TIMESTAMP", "{0}"),
    1184: _moments("TIMESTAMPTZ", "({0} at time zone 'UTC')"),
}
_TEXT = _text()
_LONG = _fractions("DOUBLE", sent="trim_scale({0})", known_as="case when {0} <> 'NaN' then {0} end")
# Of a type that no query takes; nothing of it is sent.
_UNREAD = Kind(type="BIT", sent="null::text", read="null")  # which has no name here either


def kind_of(column: Any, name: str, category: str) -> Kind:
    """Return how a column of a driver's description is read.

    ``name``: that of its type; ``category``: e where that is a list of words.
    """
    if name in _TEXTS or category == "e":
        return _TEXT
    if column.type_code != _NUMERIC:
        return _KINDS.get(column.type_code, _UNREAD)
    digits, behind = column.precision, column.scale
    if digits is None or behind is None or not 0 <= behind <= digits <= _DIGITS:
        return _LONG
    return Kind(type=f"DECIMAL({digits}, {behind})")
