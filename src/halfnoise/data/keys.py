"""How a cell names a group. Total rules: every cell has a key, and a missing one is a key too.

Text is compared as text, numbers as numbers; -0.0 is 0.0, and NaN is missing. Days and moments go
by day, month or year, also where they are text in ISO form; text that is no day is missing.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from halfnoise.checks import refuse
from halfnoise.data.cells import MOST_WHOLE, SPACES, Cell, is_true
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.conditions import Literal, as_date, as_number
from halfnoise.workload.groups import By

Plain = str | int | float
UTC = ("UTC", "Etc/UTC")
_LENGTH = {"day": 10, "month": 7, "year": 4}
_LEAP = r"^(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29"
_SHORTER = r"^[0-9]{4}-(?:02-(?:29|3[01])|(?:04|06|09|11)-31)"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumn:
    """A column of keys: its value, which is never missing, and whether there is one.

    ``nothing`` is the value where there is none. ``read`` turns a listed value into what the column
    holds; ``back`` turns that into what a user would write.
    """

    value: nw.Expr
    there: nw.Expr
    read: Callable[[Literal], Plain]
    back: Callable[[Any], Literal]
    nothing: Plain

    @property
    def absent(self) -> nw.Expr:
        """1 where there is no value, else 0: in this order what is missing comes last."""
        return nw.when(self.there).then(nw.lit(0)).otherwise(nw.lit(1)).cast(nw.Int64)

    def listed(self, key: Literal | None) -> tuple[int, Plain]:
        """Return a listed key as the columns ``absent`` and ``value`` hold it."""
        return (1, self.nothing) if key is None else (0, self.read(key))

    def found(self, absent: Any, value: Any) -> Literal | None:  # noqa: ANN401
        """Return a key that was found as a user would write it."""
        return None if absent else self.back(value)


def key_column(cell: Cell, by: By, *, listed: bool) -> KeyColumn:
    """Return how a column's cells name groups, by the column's type."""
    if cell.is_text and by.every is None:
        return _text(cell, listed=listed)
    if cell.is_text or cell.is_day:
        return _days(cell, by)
    if by.every is not None:
        raise cell.wrong_type("days")
    if cell.dtype == nw.Boolean:
        return _yes_or_no(cell)
    if cell.dtype.is_integer():
        return _whole(cell, listed=listed)
    if cell.dtype.is_numeric():
        return _number(cell)
    raise cell.wrong_type("text, numbers, days, or yes and no")


def _text(cell: Cell, *, listed: bool) -> KeyColumn:
    """Take text as it is; listed keys without spaces around it, and true and false in any case."""
    there = ~nw.col(cell.name).is_null()
    own = nw.col(cell.name).cast(nw.String)
    if listed:
        own, small = cell.text(), cell.text().str.to_lowercase()
        own = nw.when(small.is_in(("true", "false"))).then(small).otherwise(own)

    def read(key: Literal) -> str:
        text = str(key).strip(SPACES)
        return text.lower() if text.lower() in ("true", "false") else text

    value = nw.when(there).then(own).otherwise(nw.lit(""))
    return KeyColumn(value=value, there=there, read=read, back=str, nothing="")


def _days(cell: Cell, by: By) -> KeyColumn:
    every = by.every or "day"
    if by.every is None and cell.dtype != nw.Date:
        raise InvalidParameterError(
            f"the groups by {by.column!r}, which holds moments, need a span of time; say"
            f" By({by.column!r}, every='day'), or --by {by.column}:day (or month, or year)"
        )

    def read(key: Literal) -> str:
        return _iso(key, by.column, every)

    def back(text: str) -> Literal:
        if every == "day":
            return dt.date.fromisoformat(text)
        return text if every == "month" else int(text)

    if cell.is_text:
        day = cell.day()
        real = ~day.str.contains(_SHORTER) | day.str.contains(_LEAP)
        there = is_true(real & ~day.str.starts_with("0000"))
        value = nw.when(there).then(day.str.slice(0, _LENGTH[every])).otherwise(nw.lit(""))
        return KeyColumn(value=value, there=there, read=read, back=back, nothing="")
    moment = _within_reach(cell, _in_utc(cell))
    year = moment.dt.year()
    there = is_true((year >= 1) & (year <= 9999))
    parts = (year, moment.dt.month(), moment.dt.day())[: len(_LENGTH) - list(_LENGTH).index(every)]
    number: nw.Expr = nw.lit(0)
    for part in parts:
        number = number * 100 + nw.when(there).then(part).otherwise(nw.lit(0)).cast(nw.Int64)
    return KeyColumn(
        value=number,
        there=there,
        read=lambda key: int(read(key).replace("-", "")),
        back=lambda number: back(_dashed(f"{number:0{2 + 2 * len(parts)}d}")),
        nothing=0,
    )


def _in_utc(cell: Cell) -> nw.Expr:
    """Return days as they are, and moments with a time zone as they are in UTC."""
    column = nw.col(cell.name)
    return column if zone_of(cell) is None else column.dt.convert_time_zone("UTC")


def _within_reach(cell: Cell, moment: nw.Expr) -> nw.Expr:
    """Leave out moments in whole seconds so far away that their year is more than 32 bits."""
    if getattr(cell.dtype, "time_unit", None) != "s":
        return moment
    zone = None if cell.dtype.time_zone is None else dt.UTC  # type: ignore[attr-defined]
    low, high = dt.datetime(1, 1, 1, tzinfo=zone), dt.datetime(9999, 12, 31, tzinfo=zone)
    return nw.when((moment >= low) & (moment < high + dt.timedelta(hours=23))).then(moment)


def zone_of(cell: Cell) -> str | None:
    """Return the time zone of moments, if they have another one than UTC."""
    zone: str | None = getattr(cell.dtype, "time_zone", None)
    return None if zone in UTC else zone


def _iso(key: Literal, column: str, every: str) -> str:
    """Return a listed day, month or year in ISO form."""
    length = _LENGTH[every]
    text = str(key).strip()
    day = as_date(key) or as_date((text + "-01-01"[length - 10 :]) if length < 10 else text)
    spelled = isinstance(key, str | int)
    # A month or a year may be said by its first day.
    first = spelled or day is None or day.isoformat()[length:] == "-01-01"[length - 10 :]
    if day is None or (spelled and len(text) != length) or (every != "day" and not first):
        example = "2026-11-15"[:length]
        raise refuse(f"a group by {column!r}", f"a {every} such as {example}", key)
    return day.isoformat()[:length]


def _dashed(digits: str) -> str:
    """Return the digits of a day, a month or a year in ISO form.

    >>> [_dashed(digits) for digits in ("20261115", "202611", "2026")]
    ['2026-11-15', '2026-11', '2026']
    """
    return "-".join(part for part in (digits[:4], digits[4:6], digits[6:]) if part)


def _yes_or_no(cell: Cell) -> KeyColumn:
    words = {"true": 1, "false": 0}  # as in text, which one missing cell can make of such a column

    def read(key: Literal) -> int:
        spelled = str(key).strip().lower()
        if spelled not in words:
            raise refuse(f"a group by {cell.label!r}", "true or false, as its column holds", key)
        return words[spelled]

    there = ~nw.col(cell.name).is_null()
    yes = nw.when(nw.col(cell.name)).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64)
    return KeyColumn(value=yes, there=there, read=read, back=bool, nothing=0)


def _whole(cell: Cell, *, listed: bool) -> KeyColumn:
    def read(key: Literal) -> int:
        number = as_number(key)
        whole = None if number is None or not number.is_integer() else _exactly(key)
        if whole is None or abs(float(whole)) >= MOST_WHOLE:  # as the column is read
            rule = "a whole number below 2^62, as its column holds whole numbers"
            raise refuse(f"a group by {cell.label!r}", rule, key)
        return whole

    there = ~nw.col(cell.name).is_null()
    if listed:
        # No listed key is that large, so what is larger falls among the others.
        number, small = cell.whole()
        value = nw.when(small | ~there).then(number).otherwise(nw.lit(MOST_WHOLE))
    else:
        value = nw.when(there).then(nw.col(cell.name)).otherwise(nw.lit(0))
    return KeyColumn(value=value, there=there, read=read, back=int, nothing=0)


def _exactly(key: Literal) -> int:
    """Return the whole number that text spells, also beyond 2^53."""
    text = str(key).strip()
    return int(text) if text.removeprefix("-").isdecimal() else int(float(text))


def _number(cell: Cell) -> KeyColumn:
    def read(key: Literal) -> float:
        number = as_number(key)
        if number is None:
            raise refuse(f"a group by {cell.label!r}", "a number, as its column holds", key)
        return (float(np.float32(number)) if short else number) + 0.0

    short = cell.dtype == nw.Float32
    number = nw.col(cell.name).cast(nw.Float64)
    there = is_true(~number.is_nan() & ~number.is_null())
    value = nw.when(there).then(number + 0.0).otherwise(nw.lit(0.0))

    def back(number: float) -> float:
        return float(str(np.float32(number))) if short else float(number)

    return KeyColumn(value=value, there=there, read=read, back=back, nothing=0.0)
