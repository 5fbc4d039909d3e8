"""How days and moments name groups: by hour, day, week, month, quarter or year, in a time zone.

Total rules, in whole numbers: a day that does not exist, or outside of the years 1 to 9999, is no
key. Moments with a time zone are in UTC, or in the zone that the groups go by. Moments without one,
days, and text that says no offset are taken as what clocks there show; text such as
``2026-11-15T14:30+01:00`` says one.
"""

import datetime as dt
from collections.abc import Callable
from typing import TypeAlias

import narwhals.stable.v2 as nw

from halfnoise.checks import refuse
from halfnoise.data.calendar import date_of, day_number, in_zone, parted, week_of
from halfnoise.data.cells import Cell
from halfnoise.data.logic import is_true
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass, field
from halfnoise.workload.by import SPANS, By
from halfnoise.workload.conditions import Literal
from halfnoise.workload.spans import EVERY, span_key, span_number

Usually: TypeAlias = Callable[[nw.Expr, nw.Expr], nw.Expr]
UTC = ("UTC", "Etc/UTC")
# What follows the day in text; \z is the end in every engine, as $ is not.
_HOUR, _SIXTY = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_TIMED = rf"^[T ]{_HOUR}(?:\z|:{_SIXTY})"
_ONE_DIGIT = rf"^[T ][0-9](?:\z|:{_SIXTY})"
_NOON, _HALF = 12 * 3600, r"^[T ](?:0[1-9]|1[0-2]):[0-9:]+[ \x{00A0}\x{202F}]?"  # of a day
_BEFORE, _AFTER = (rf"{_HALF}{half}\.?[Mm]\.?\z" for half in ("[Aa]", "[Pp]"))
_MINUTES, _SECONDS = rf"^.{{3}}:{_SIXTY}", rf"^.{{6}}:{_SIXTY}"
_OFFSET = rf"(?:[Zz]|[+-]{_HOUR}(?::?{_SIXTY})?)\z"
_AHEAD = rf"^[T ]{_HOUR}:{_SIXTY}(?::{_SIXTY}(?:[.,][0-9]+)?)? ?{_OFFSET}"
_USUAL = rf"^[T ]{_HOUR}:{_SIXTY}:{_SIXTY}(?:\.[0-9]+)?Z?\z"  # nearly all that programs write
_LOCAL = 10**6  # more than any clock is ahead: it is not known, so the clock is that of the zone
# An offset as it may end: its pattern, and where its hours and its minutes begin.
_ENDS = (
    (r"[+-][0-9]{2}:[0-9]{2}\z", -5, -2),
    (r"[+-][0-9]{4}\z", -4, -2),
    (r"[+-][0-9]{2}\z", -2, None),
)


@dataclass(slots=True)
class Span:
    """How the cells of a column name spans of time, made step by step in columns of its own."""

    cell: Cell
    by: By
    aware: bool  # whether it holds moments with a time zone
    steps: list[dict[str, nw.Expr]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.by.every is None and self.cell.dtype != nw.Date:
            column = self.by.column
            raise InvalidParameterError(
                f"the groups by {column!r}, which holds moments, need a span of time; say"
                f" By({column!r}, every='day'), or --by {column}:day ({SPANS})"
            )
        if self.every == "hour" and self.cell.dtype == nw.Date:
            raise self.cell.wrong_type("moments")

    @property
    def every(self) -> str:
        """The span of time."""
        return self.by.every or "day"

    def number(self) -> nw.Expr:
        """Return the span as a number: 2026, 202611, 20261115 or 2026111514; 0 where none is."""
        date, hour = self._written()
        if self.every == "hour":
            return self.column("key", nw.when(date > 0).then(date * 100 + hour).otherwise(0))
        key = date
        if self.every == "week":
            key = week_of(date, self.column)
        elif self.every in ("month", "quarter"):
            key = parted(date, 100)
        elif self.every == "year":
            key = parted(date, 10_000)
        if self.every == "quarter":
            months = self.column("months", key)
            year = parted(months, 100)
            key = year * 100 + parted(months - year * 100 + 2, 3)
        return self.column("key", nw.when(date > 0).then(key).otherwise(nw.lit(0)))

    def column(self, name: str, expression: nw.Expr) -> nw.Expr:
        """Make a column of whole numbers, and return it."""
        made = f"hn_{self.cell.name}_{len(self.steps)}_{name}"
        self.steps.append({made: expression.cast(nw.Int64)})
        return nw.col(made)

    def _written(self) -> tuple[nw.Expr, nw.Expr]:
        """Return the date, 0 where there is none, and the hour that clocks show."""
        reads = self._text if self.cell.is_text else self._typed
        date, second, ahead = reads()
        if ahead is None or self.by.zone is None:
            return date, parted(second, 3600)
        days = day_number(date, self.column)
        there = nw.when((date > 0) & (ahead < _LOCAL)).then(nw.lit(1)).otherwise(nw.lit(0))
        moves = self.column("moves", there)
        known = nw.when(moves == 1).then(ahead).otherwise(nw.lit(0))
        utc = self.column("utc", days * 86_400 + second - known)
        shown = self.column("shown", in_zone(utc, self.by.zone))
        moved = date_of(self.column("day", parted(shown, 86_400)), self.column)
        near = nw.when((moved > 10_000) & (moved < 100_000_000)).then(moved).otherwise(nw.lit(0))
        date = self.column("local", nw.when(moves == 1).then(near).otherwise(date))
        later = nw.when(moves == 1).then(shown - parted(shown, 86_400) * 86_400).otherwise(second)
        return date, parted(later, 3600)

    def _typed(self) -> tuple[nw.Expr, nw.Expr, nw.Expr | None]:
        """Return date and second of a day or a moment, which has an offset of 0 or none."""
        year = (moment := _in_utc(self.cell)).dt.year()
        there = is_true((year >= 1) & (year <= 9999))

        def part(expression: nw.Expr) -> nw.Expr:
            return nw.when(there).then(expression).otherwise(nw.lit(0)).cast(nw.Int64)

        date = part(year) * 10_000 + part(moment.dt.month()) * 100 + part(moment.dt.day())
        second: nw.Expr = nw.lit(0)
        if self.cell.dtype != nw.Date and (self.by.zone is not None or self.every == "hour"):
            second = part(moment.dt.hour()) * 3600 + part(moment.dt.minute()) * 60
            second = second + part(moment.dt.second())
        date = self.column("written", date)
        second = self.column("second", second)
        return date, second, nw.lit(0) if self.aware else None

    def _text(self) -> tuple[nw.Expr, nw.Expr, nw.Expr | None]:
        """Return date and second of text, and what it says that its clocks are ahead of UTC."""
        day = self.cell.day()
        there = ~day.str.starts_with("0000")
        if self.every != "hour" and self.by.zone is None:
            return self._date(day, there), nw.lit(0), None
        rest, usually = self._rest()
        timed = usually(nw.lit(value=True), rest.str.contains(_TIMED))
        date = self._date(day, there & timed if self.every == "hour" else there)
        second = _digits(rest.str.slice(1, 2), timed) * 3600
        second = self.column("clock", second)
        after, before = is_true(rest.str.contains(_AFTER)), is_true(rest.str.contains(_BEFORE))
        half = nw.when(after & (second < _NOON)).then(second + _NOON).otherwise(second)
        half = nw.when(before & (second == _NOON)).then(nw.lit(0)).otherwise(half)
        second = usually(second, half)
        if self.by.zone is None:
            return date, self.column("second", second), None
        for at, more, pattern in ((4, 60, _MINUTES), (7, 1, _SECONDS)):
            own = usually(nw.lit(value=True), timed & rest.str.contains(pattern))
            second = second + _digits(rest.str.slice(at, 2), own) * more
        ahead: nw.Expr = nw.lit(0)
        for ending, hours, minutes in _ENDS:
            own = rest.str.contains(ending)
            ahead = ahead + _digits(rest.str.slice(hours, 2), own) * 3600
            if minutes is not None:
                ahead = ahead + _digits(rest.str.slice(minutes, 2), own) * 60
        ahead = self.column("offset", usually(nw.lit(0), ahead))
        behind = is_true(rest.str.contains(r"-[0-9:]+\z"))
        ahead = usually(ahead, nw.when(behind).then(-ahead).otherwise(ahead))
        says = usually(rest.str.ends_with("Z"), rest.str.contains(_AHEAD))
        ahead = self.column("ahead", nw.when(is_true(says)).then(ahead).otherwise(nw.lit(_LOCAL)))
        return date, self.column("second", second), ahead

    def _date(self, day: nw.Expr, there: nw.Expr) -> nw.Expr:
        digits = day.str.replace_all("-", "", literal=True)
        return self.column("written", _digits(digits, there))

    def _rest(self) -> tuple[nw.Expr, Usually]:
        """Return what follows the day in a text, hours with two digits.

        With it a rule: what is quick where it is written in the usual way, else in full.
        """
        text, rest = self.cell.text(), nw.lit("")
        for form in self.cell.spelling.day_forms:
            is_it = is_true(text.str.contains(form.pattern))
            rest = nw.when(is_it).then(text.str.slice(form.length)).otherwise(rest)
        made = f"hn_{self.cell.name}_{len(self.steps)}_rest"
        self.steps.append({made: rest})
        rest, usual = nw.col(made), is_true(nw.col(made).str.contains(_USUAL))
        if self.cell.branches:
            usual = self.column("usual", nw.when(usual).then(nw.lit(1)).otherwise(nw.lit(0))) == 1

        def usually(quick: nw.Expr, full: nw.Expr) -> nw.Expr:
            return nw.when(usual).then(quick).otherwise(full) if self.cell.branches else full

        short = is_true(rest.str.contains(_ONE_DIGIT))
        full = nw.concat_str([nw.lit(" 0"), rest.str.slice(1)])
        made = f"hn_{self.cell.name}_{len(self.steps)}_rest"
        self.steps.append({made: usually(rest, nw.when(short).then(full).otherwise(rest))})
        return nw.col(made), usually

    def read(self, key: Literal) -> int:
        """Return a listed key as such a number."""
        number = span_number(key, self.every)
        if number is None:
            rule = f"a {self.every} such as {EVERY[self.every]}"
            raise refuse(f"a group by {self.by.column!r}", rule, key)
        return number

    def back(self, number: int) -> Literal:
        """Return such a number as users write it."""
        return span_key(number, self.every)


def _digits(text: nw.Expr, there: nw.Expr) -> nw.Expr:
    """Return text of digits as a number, and 0 where it is not there."""
    return nw.when(is_true(there)).then(text).otherwise(nw.lit("0")).cast(nw.Int64)


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
