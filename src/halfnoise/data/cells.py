"""How a cell is read: as a number, as yes, as text or as a day. Total rules: no cell can fail.

A cell that cannot be read as what a query needs is null. Text becomes a number only after a
pattern has shown that every engine can read it, so the cast never fails; NaN is null; infinities
are numbers. Days in text are compared as ISO text, which sorts as days do; moments with a time zone
belong to the day that it then is in UTC.
"""

import datetime as dt
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import narwhals.stable.v2 as nw
from narwhals.dtypes import DType

from halfnoise.errors import InvalidParameterError
from halfnoise.workload.conditions import Literal, Where, as_date, as_number

# Up to 30 digits, and exponents that cannot leave the range of a float64.
_NUMBER = (
    r"^[+-]?(?:(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,2})?"
    r"|[0-9](?:\.[0-9]{0,30})?[eE](?:[+]?[12][0-9][0-9]|-[12][0-9][0-9])"
    r"|1(?:\.0{0,30})?[eE][+]?30[0-8])$"
)
_NOT_IN_NUMBER = r"[^0-9eE.+-]"  # in some engines $ also holds before a last line break
_DAY = r"^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_MOMENT = r"^[0-9-]{10}[T ]"
_YES = ("true", "yes", "y", "t")
_NO = ("false", "no", "n", "f")

SPACES = " \t\n\r\x0b\x0c"
"""What is stripped around text: the same on every engine."""

MOST_WHOLE = 2**62
"""Whole numbers are compared as such below this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A column as a query sees it: its name in the frame, its type, and what counts as missing."""

    name: str
    dtype: DType
    label: str
    missing: tuple[Literal, ...] = ()
    decimal: str = "."
    spaces: str | None = SPACES

    @property
    def is_text(self) -> bool:
        """Whether it holds text."""
        return self.dtype in (nw.String, nw.Categorical, nw.Enum)

    @property
    def is_day(self) -> bool:
        """Whether it holds days or moments."""
        return self.dtype in (nw.Date, nw.Datetime)

    def present(self) -> nw.Expr:
        """Whether there is a value that is not one of the codes for missing."""
        there = ~nw.col(self.name).is_null()
        return there & ~self._is_one_of(self.missing) if self.missing else there

    def number(self) -> nw.Expr:
        """Return the value as a float64; null where there is none."""
        if self.dtype == nw.Boolean:
            value = nw.when(nw.col(self.name)).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
        elif self.dtype.is_numeric():
            value = self._plain_number()
        elif self.is_text:
            value = self._spelled_number()
        else:
            raise self.wrong_type("numbers")
        return nw.when(self.present()).then(value)

    def whole(self) -> tuple[nw.Expr, nw.Expr]:
        """Return the value as an int64, and whether it is a whole number that small."""
        if not self.dtype.is_numeric():
            raise self.wrong_type("text or whole numbers")
        number = self.number()
        most = float(MOST_WHOLE if self.dtype.is_integer() else 2**53)
        small = is_true((number > -most) & (number < most))
        if self.dtype.is_integer():
            return nw.when(small).then(nw.col(self.name)).otherwise(0).cast(nw.Int64), small
        value = nw.when(small).then(number).otherwise(0.0)
        return value.floor().cast(nw.Int64), small & is_true(value == value.floor())

    def day(self) -> nw.Expr:
        """Return what says the day, to be compared with ``_midnight``; null where there is none."""
        if self.is_day:
            return nw.col(self.name)
        if not self.is_text:
            raise self.wrong_type("days")
        text = self.text()
        ends = (text.str.len_chars() == 10) | text.str.contains(_MOMENT)
        return nw.when(text.str.contains(_DAY) & ends).then(text.str.slice(0, 10))

    def text(self) -> nw.Expr:
        """Return the value as text, without spaces around it."""
        return nw.col(self.name).cast(nw.String).str.strip_chars(self.spaces)

    def yes(self, codes: Sequence[Literal]) -> nw.Expr:
        """Whether the cell says yes: true, 1, and as text 1/true/yes/y/t; or one of ``codes``."""
        if codes:
            return is_true(self._is_one_of(codes) & self.present())
        if self.dtype == nw.Boolean:
            return is_true(nw.col(self.name) & self.present())
        if self.is_text:
            spelled = self.text().str.to_lowercase().is_in(_YES)
            return is_true((spelled | is_true(self._spelled_number() == 1)) & self.present())
        return is_true(self.number() == 1)

    def equals(self, literal: Literal) -> nw.Expr:
        """Whether the cell is ``literal``: as text, or as the number or day that it spells."""
        return is_true(self._matches(literal) & self.present())

    def lookups(
        self, literals: Sequence[Literal]
    ) -> tuple[dict[str, tuple[nw.Expr, dict[Any, int]]], list[int]]:
        """Return how plain values are looked up, as text and as numbers, and which are not plain.

        The first of values that read the same counts.
        """
        if not (self.is_text or self.dtype.is_numeric()):
            return {}, list(range(len(literals)))
        texts: dict[Any, int] = {}
        numbers: dict[Any, int] = {}
        others = []
        for rank, each in enumerate(literals):
            if isinstance(each, bool) or as_date(each) is not None:
                others.append(rank)
                continue
            texts.setdefault(str(each).strip(), rank)
            if (number := as_number(each)) is not None:
                numbers.setdefault(number + 0.0, rank)
        found: dict[str, tuple[nw.Expr, dict[Any, int]]] = {}
        if self.is_text and texts:
            found["text"] = (nw.when(self.present()).then(self.text()), texts)
        if numbers:
            found["number"] = (self.number() + 0.0, numbers)
        return found, others

    def meets(self, where: Where) -> nw.Expr:
        """Whether the cell meets a condition; a missing cell meets none."""
        if where.word in ("equals", "is_in"):
            return is_true(self._is_one_of(where.values) & self.present())
        days = [day for literal in where.values if (day := as_date(literal)) is not None]
        numbers = [n for literal in where.values if (n := as_number(literal)) is not None]
        if len(days) == len(where.values):
            holds = self._day_holds(where.word, days[0], days[-1])
        elif len(numbers) == len(where.values):
            holds = self._number_holds(where.word, numbers[0], numbers[-1])
        else:
            raise InvalidParameterError(
                f"the condition {str(where)!r} compares with neither numbers nor days such as"
                " 2026-11-15; for text use equals or is_in"
            )
        return is_true(holds & self.present())

    def _number_holds(self, word: str, first: float, last: float) -> nw.Expr:
        value = self.number()
        return {
            "at_least": value >= first,
            "above": value > first,
            "below": value < first,
            "up_to": value <= first,
            "between": (value >= first) & (value <= last),
        }[word]

    def _day_holds(self, word: str, first: dt.date, last: dt.date) -> nw.Expr:
        """Compare moments with the midnights at which days begin and end."""
        moment = self.day()
        begin, end = self._midnight(first), self._midnight(_day_after(last))
        return {
            "at_least": moment >= begin,
            "above": moment >= end,
            "below": moment < begin,
            "up_to": moment < end,
            "between": (moment >= begin) & (moment < end),
        }[word]

    def _midnight(self, day: dt.date) -> nw.Expr:
        """Return the begin of a day, in UTC where moments have a time zone."""
        if self.dtype == nw.Date:
            return nw.lit(day)
        if not isinstance(self.dtype, nw.Datetime):
            return nw.lit(day.isoformat())
        if self.dtype.time_zone is None:
            return nw.lit(dt.datetime(day.year, day.month, day.day))  # noqa: DTZ001
        moment = dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)
        return nw.lit(moment.astimezone(ZoneInfo(self.dtype.time_zone)))

    def _is_one_of(self, literals: Sequence[Literal]) -> nw.Expr:
        """Whether the cell is one of several values; a long list is looked up, not spelled out."""
        plain = [not isinstance(each, bool) and as_date(each) is None for each in literals]
        listed = [each for each, is_plain in zip(literals, plain, strict=True) if is_plain]
        if len(listed) < 2 or not (self.is_text or self.dtype.is_numeric()):
            return any_of([self._matches(each) for each in literals])
        found = [
            self._matches(each)
            for each, is_plain in zip(literals, plain, strict=True)
            if not is_plain
        ]
        if self.is_text:
            found.append(is_true(self.text().is_in([str(each).strip() for each in listed])))
        if numbers := [number for each in listed if (number := as_number(each)) is not None]:
            value = self._spelled_number() if self.is_text else self._plain_number()
            found.append(is_true(value.is_in(numbers)))
        return any_of(found) if found else _never()

    def _matches(self, literal: Literal) -> nw.Expr:
        number, day = as_number(literal), as_date(literal)
        spelled = str(literal).strip()
        if self.dtype == nw.Boolean:
            if spelled.lower() in _YES or number == 1:
                return nw.col(self.name)
            return ~nw.col(self.name) if spelled.lower() in _NO or number == 0 else _never()
        if self.is_text:
            same = is_true(self.text() == spelled)
            if isinstance(literal, bool):
                same = self.text().str.to_lowercase().is_in(_YES if literal else _NO)
                number = float(literal)
            if day is not None:
                same = same | is_true(self._day_holds("between", day, day))
            return same if number is None else same | is_true(self._spelled_number() == number)
        if self.is_day:
            return _never() if day is None else is_true(self._day_holds("between", day, day))
        if not self.dtype.is_numeric():
            raise self.wrong_type("numbers, text or days")
        if isinstance(literal, bool):
            number = float(literal)
        return _never() if number is None else is_true(self._plain_number() == number)

    def _plain_number(self) -> nw.Expr:
        value = nw.col(self.name).cast(nw.Float64)
        return nw.when(~value.is_nan()).then(value)

    def _spelled_number(self) -> nw.Expr:
        text = self.text()
        if self.decimal != ".":
            text = text.str.replace_all(".", "_", literal=True)
            text = text.str.replace_all(self.decimal, ".", literal=True)
        plain = text.str.contains(_NUMBER) & ~text.str.contains(_NOT_IN_NUMBER)
        small = text.str.to_lowercase()
        below = small.is_in(("-inf", "-infinity"))
        above = small.is_in(("inf", "+inf", "infinity", "+infinity"))
        number: nw.Expr = nw.when(plain).then(text).cast(nw.Float64)
        # As in a column of true and false, which one missing answer can turn into text.
        number = nw.when(small == "true").then(nw.lit(1.0)).otherwise(number)
        number = nw.when(small == "false").then(nw.lit(0.0)).otherwise(number)
        number = nw.when(below).then(nw.lit(-math.inf)).otherwise(number)
        return nw.when(above).then(nw.lit(math.inf)).otherwise(number)

    def wrong_type(self, wanted: str) -> InvalidParameterError:
        """Say that a column is not of a kind that will do."""
        return InvalidParameterError(
            f"the column {self.label!r} holds {self.dtype}, not {wanted}; name a column of {wanted}"
        )


def any_of(conditions: Sequence[nw.Expr]) -> nw.Expr:
    """Whether one of several conditions holds."""
    return combined(operator.or_, conditions)


def combined(two: Callable[[nw.Expr, nw.Expr], nw.Expr], expressions: Sequence[nw.Expr]) -> nw.Expr:
    """Combine many expressions pair by pair: engines limit how deep one may be."""
    layer = list(expressions)
    while len(layer) > 1:
        pairs = [two(a, b) for a, b in zip(layer[::2], layer[1::2], strict=False)]
        layer = pairs + layer[len(pairs) * 2 :]
    return layer[0]


def is_true(condition: nw.Expr) -> nw.Expr:
    """Read null as false."""
    return nw.when(condition).then(nw.lit(value=True)).otherwise(nw.lit(value=False))


def _day_after(day: dt.date) -> dt.date:
    return dt.date.fromordinal(min(day.toordinal() + 1, dt.date.max.toordinal()))


def _never() -> nw.Expr:
    return nw.lit(value=False)
