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
from halfnoise.data.cells import MOST_WHOLE, Cell
from halfnoise.data.logic import is_true
from halfnoise.data.sources.objects import shown
from halfnoise.data.spelling import SPACES, folded
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.conditions import Literal, as_date, as_number
from halfnoise.workload.groups import By

Plain = str | int | float
UTC = ("UTC", "Etc/UTC")
_LEAP = r"^(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29"
_SHORTER = r"^[0-9]{4}-(?:02-(?:29|3[01])|(?:04|06|09|11)-31)"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumn:
    """A column of keys: ``own`` where one is ``there``, else ``nothing``.

    ``read`` turns a listed key into what the column holds, ``back`` that into what users write.
    """

    own: nw.Expr
    there: nw.Expr
    read: Callable[[Literal], Plain]
    back: Callable[[Any], Literal]
    nothing: Plain

    def columns(self, i: int) -> dict[str, nw.Expr]:
        """Return columns without gaps: 1 where there is no key, so that it comes last; the key."""
        absent = nw.when(self.there).then(nw.lit(0)).otherwise(nw.lit(1)).cast(nw.Int64)
        value = nw.when(self.there).then(self.own).otherwise(nw.lit(self.nothing))
        return {f"hn_absent{i}": absent, f"hn_value{i}": value}

    def listed(self, key: Literal | None) -> tuple[int, Plain]:
        """Return a listed key as the columns hold it."""
        return (1, self.nothing) if key is None else (0, self.read(key))


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
    own = nw.col(cell.name).cast(nw.String)
    if listed:
        own, small = cell.code(), cell.text().str.to_lowercase()
        own = nw.when(small.is_in(("true", "false"))).then(small).otherwise(own)

    def read(key: Literal) -> str:
        decimal = cell.spelling.decimal
        text = str(shown(key, decimal) if cell.inferred else key).strip(SPACES)
        if text.lower() in ("true", "false"):
            return text.lower()
        return folded(text) if cell.spelling.ignore_case else text

    def back(text: str) -> Literal:
        return text == "True" if cell.inferred and text in ("True", "False") else text

    return KeyColumn(own=own, there=cell.present(), read=read, back=back, nothing="")


def _days(cell: Cell, by: By) -> KeyColumn:
    every = by.every or "day"
    length = {"day": 10, "month": 7, "year": 4}[every]  # in ISO form
    if by.every is None and cell.dtype != nw.Date:
        raise InvalidParameterError(
            f"the groups by {by.column!r}, which holds moments, need a span of time; say"
            f" By({by.column!r}, every='day'), or --by {by.column}:day (or month, or year)"
        )

    def read(key: Literal) -> Plain:
        text, start = str(key).strip(), "0000-01-01"[length:]
        day = as_date(key) or as_date(text + start)
        # A month or a year may be said by its first day.
        fits = len(text) == length if isinstance(key, str | int) else str(day)[length:] == start
        if day is None or not fits:
            rule = f"a {every} such as {'2026-11-15'[:length]}"
            raise refuse(f"a group by {by.column!r}", rule, key)
        iso = day.isoformat()[:length]
        return iso if cell.is_text else int(iso.replace("-", ""))

    def back(key: str | int) -> Literal:
        digits = str(key).replace("-", "").zfill(8)
        if every == "day":
            return dt.date.fromisoformat(digits)
        return f"{digits[2:6]}-{digits[6:]}" if every == "month" else int(digits)

    own: nw.Expr = nw.lit(0)
    if cell.is_text:
        day = cell.day()
        real = ~day.str.contains(_SHORTER) | day.str.contains(_LEAP)
        there = is_true(real & ~day.str.starts_with("0000"))
        own = day.str.slice(0, length)
    else:
        year = (moment := _in_utc(cell)).dt.year()
        there = is_true((year >= 1) & (year <= 9999))
        for part in (year, moment.dt.month(), moment.dt.day())[: length // 3]:
            own = own * 100 + nw.when(there).then(part).otherwise(nw.lit(0)).cast(nw.Int64)
    nothing = "" if cell.is_text else 0
    return KeyColumn(own=own, there=there, read=read, back=back, nothing=nothing)


def _in_utc(cell: Cell) -> nw.Expr:
    """Return days as they are, and moments as in UTC but for those too far away to have a year."""
    moment = nw.col(cell.name)
    if zone_of(cell) is not None:
        moment = moment.dt.convert_time_zone("UTC")
    if getattr(cell.dtype, "time_unit", None) != "s":
        return moment
    # In whole seconds a year may be more than 32 bits.
    zone = None if cell.dtype.time_zone is None else dt.UTC  # type: ignore[attr-defined]  # a moment
    low, high = dt.datetime(1, 1, 1, tzinfo=zone), dt.datetime(9999, 12, 31, tzinfo=zone)
    return nw.when((moment >= low) & (moment < high + dt.timedelta(hours=23))).then(moment)


def zone_of(cell: Cell) -> str | None:
    """Return the time zone of moments, if they have another one than UTC."""
    zone: str | None = getattr(cell.dtype, "time_zone", None)
    return None if zone in UTC else zone


def _yes_or_no(cell: Cell) -> KeyColumn:
    def read(key: Literal) -> int:
        word = str(key).strip().lower()  # as in text, which one missing cell can make of the column
        if word not in ("true", "false"):
            raise refuse(f"a group by {cell.label!r}", "true or false, as its column holds", key)
        return int(word == "true")

    yes = nw.when(nw.col(cell.name)).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64)
    return KeyColumn(own=yes, there=cell.present(), read=read, back=bool, nothing=0)


def _whole(cell: Cell, *, listed: bool) -> KeyColumn:
    def read(key: Literal) -> int:
        number, text = as_number(key), str(key).strip()
        # Compared as a fraction, as the column is read.
        if number is None or not number.is_integer() or abs(number) >= MOST_WHOLE:
            rule = "a whole number below 2^62, as its column holds whole numbers"
            raise refuse(f"a group by {cell.label!r}", rule, key)
        return int(text) if text.removeprefix("-").isdecimal() else int(number)  # beyond 2^53

    own = nw.col(cell.name)
    if listed:
        # No listed key is that large, so what is larger falls among the others.
        number, small = cell.whole()
        own = nw.when(small).then(number).otherwise(nw.lit(MOST_WHOLE))
    return KeyColumn(own=own, there=cell.present(), read=read, back=int, nothing=0)


def _number(cell: Cell) -> KeyColumn:
    short = cell.dtype == nw.Float32

    def read(key: Literal) -> float:
        number = as_number(key)
        if number is None:
            raise refuse(f"a group by {cell.label!r}", "a number, as its column holds", key)
        return (float(np.float32(number)) if short else number) + 0.0

    def back(number: float) -> Literal:
        if cell.inferred and number.is_integer():
            return int(number)
        return float(str(np.float32(number))) if short else float(number)

    number = nw.col(cell.name).cast(nw.Float64)
    there = is_true(~number.is_nan() & ~number.is_null())
    return KeyColumn(own=number + 0.0, there=there, read=read, back=back, nothing=0.0)
