"""How a cell is read: as a number, as yes, as text or as a day. Total rules: no cell can fail.

A cell that cannot be read as what a query needs is null. Text becomes a number only after a
pattern has shown that every engine can read it, so the cast never fails; NaN is null; infinities
are numbers. Days in text are compared as ISO text, which sorts as days do; moments with a time zone
belong to the day that it then is in UTC. What tells people apart is never cast, but where nothing
can be lost; a type whose values an engine might take for each other is refused.
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

from halfnoise.data.spelling import PLAIN, Spelling
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
_NUMBERS_IN_WORDS = {  # true and false: one missing answer can turn a column of them into text
    1.0: ("true",),
    0.0: ("false",),
    -math.inf: ("-inf", "-infinity"),
    math.inf: ("inf", "+inf", "infinity", "+infinity"),
}
_NEVER = nw.lit(value=False)
_EXACT = (nw.Boolean, nw.Date, nw.Datetime, nw.Binary, nw.Decimal)
_WHO = "text, whole numbers, decimals, fractions, bytes, days or moments"

SPACES = " \t\n\r\x0b\x0c"  # stripped around text: the same on every engine
MOST_WHOLE = 2**62  # whole numbers are compared as such below this
Ranked = tuple[nw.Expr, dict[Any, int]]  # a column, and where in a list its values stand
# Ranks of plain values, as text and as numbers, of those that read the same the first; of others.
Plain = tuple[dict[str, int], dict[float, int], list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A column as a query sees it: its name in the frame, its type, and what counts as missing.

    ``inferred``: whether its type is what a frame made of its cells: there a missing one turns
    whole numbers into fractions, or numbers, yes and no into objects, whose text has one spelling.
    """

    name: str
    dtype: DType
    label: str
    missing: tuple[Literal, ...] = ()
    spelling: Spelling = PLAIN
    inferred: bool = False

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
        return nw.when(self.present()).then(self._number())

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

    def who(self) -> nw.Expr:
        """Return who a row is about: null where it does not say, as with NaN and blank text."""
        key = nw.col(self.name)
        if self.dtype.is_float():
            return nw.when(~key.is_nan()).then(key + 0.0)  # -0.0 is 0.0
        if self.is_text:
            return nw.when(self.text() != "").then(key.cast(nw.String))
        if self.dtype.is_integer() or self.dtype in _EXACT:
            return key
        held = f"the unit {self.label!r} holds {self.dtype}, by which people cannot be told apart"
        raise InvalidParameterError(f"{held}; name a column of {_WHO}")

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
        return nw.col(self.name).cast(nw.String).str.strip_chars(SPACES)

    def yes(self, codes: Sequence[Literal]) -> nw.Expr:
        """Whether the cell says yes: true, 1, and as text 1/true/yes/y/t; or one of ``codes``."""
        if codes:
            return is_true(self._is_one_of(codes) & self.present())
        if self.dtype == nw.Boolean:
            return is_true(nw.col(self.name) & self.present())
        if self.is_text:
            word = self.text().str.to_lowercase().is_in(_YES)
            return is_true((word | is_true(self._number() == 1)) & self.present())
        return is_true(self.number() == 1)

    def equals(self, literal: Literal) -> nw.Expr:
        """Whether the cell is ``literal``: as text, or as the number or day that it spells."""
        return is_true(self._matches(literal) & self.present())

    def lookups(self, literals: Sequence[Literal]) -> tuple[dict[str, Ranked], list[int]]:
        """Return how plain values are looked up, as text or as numbers, and which are not plain."""
        (texts, numbers, others), ranked = self._plain(literals), dict[str, Ranked]()
        if texts:
            ranked["text"] = (nw.when(self.present()).then(self.text()), texts)
        if numbers:
            ranks = {number + 0.0: rank for number, rank in numbers.items()}
            ranked["number"] = (self.number() + 0.0, ranks)
        return ranked, others

    def meets(self, where: Where) -> nw.Expr:
        """Whether the cell meets a condition; a missing cell meets none."""
        if where.word in ("equals", "is_in"):
            return is_true(self._is_one_of(where.values) & self.present())
        days = [day for day in map(as_date, where.values) if day is not None]
        if len(days) == len(where.values):
            at_least, up_to, below, above = self._around_days(days[0], days[-1])
        else:
            value = self.number()
            numbers = [number for number in map(as_number, where.values) if number is not None]
            low, high = numbers[0], numbers[-1]
            at_least, up_to, below, above = value >= low, value <= high, value < low, value > high
        holds = {"at_least": at_least, "up_to": up_to, "below": below, "above": above}
        holds["between"] = at_least & up_to
        return is_true(holds[where.word] & self.present())

    def _around_days(self, low: dt.date, high: dt.date) -> tuple[nw.Expr, ...]:
        """Compare moments with the midnights at which days begin and end."""
        after = dt.date.fromordinal(min(high.toordinal() + 1, dt.date.max.toordinal()))
        moment, begin, end = self.day(), self._midnight(low), self._midnight(after)
        return moment >= begin, moment < end, moment < begin, moment >= end

    def _is_on(self, day: dt.date) -> nw.Expr:
        since, until, *_ = self._around_days(day, day)
        return is_true(since & until)

    def _midnight(self, day: dt.date) -> nw.Expr:
        """Return the begin of a day, in UTC where moments have a time zone."""
        if self.dtype == nw.Date:
            return nw.lit(day)
        if not isinstance(self.dtype, nw.Datetime):
            return nw.lit(day.isoformat())
        midnight = dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)
        zone = self.dtype.time_zone and ZoneInfo(self.dtype.time_zone)
        return nw.lit(midnight.astimezone(zone) if zone else midnight.replace(tzinfo=None))

    def _is_one_of(self, literals: Sequence[Literal]) -> nw.Expr:
        """Whether the cell is one of several values; a long list is looked up, not spelled out."""
        texts, numbers, others = self._plain(literals)
        if len(literals) - len(others) < 2:
            return combined(operator.or_, [self._matches(literal) for literal in literals])
        matches = [self._matches(literals[rank]) for rank in others]
        if texts:
            matches.append(is_true(self.text().is_in(list(texts))))
        if numbers:
            matches.append(is_true(self._number().is_in(list(numbers))))
        return combined(operator.or_, matches or [_NEVER])

    def _plain(self, literals: Sequence[Literal]) -> Plain:
        texts, numbers, others = dict[str, int](), dict[float, int](), list[int]()
        listable = self.is_text or self.dtype.is_numeric()
        for rank, literal in enumerate(literals):
            a_word = self.inferred and str(literal).strip().lower() in (*_YES, *_NO)
            is_bool = isinstance(literal, bool)
            if not listable or is_bool or a_word or as_date(literal) is not None:
                others.append(rank)
                continue
            if self.is_text:
                texts.setdefault(str(literal).strip(), rank)
            if (number := as_number(literal)) is not None:
                numbers.setdefault(number, rank)
        return texts, numbers, others

    def _matches(self, literal: Literal) -> nw.Expr:
        number = float(literal) if isinstance(literal, bool) else as_number(literal)
        day, text = as_date(literal), str(literal).strip()
        if self.dtype == nw.Boolean:
            if text.lower() in _YES or number == 1:
                return nw.col(self.name)
            return ~nw.col(self.name) if text.lower() in _NO or number == 0 else _NEVER
        if self.is_text:
            same = is_true(self.text() == text)
            if isinstance(literal, bool):
                same = self.text().str.to_lowercase().is_in(_YES if literal else _NO)
            elif self.inferred and text.lower() in (*_YES, *_NO):
                # Yes and no among objects, as they would be compared in a column of their own.
                same = same | (self.text() == str(text.lower() in _YES))
            if day is not None:
                same = same | self._is_on(day)
            return same if number is None else same | is_true(self._number() == number)
        if self.is_day:
            return _NEVER if day is None else self._is_on(day)
        if not self.dtype.is_numeric():
            raise self.wrong_type("numbers, text or days")
        return _NEVER if number is None else is_true(self._number() == number)

    def _number(self) -> nw.Expr:
        """Return the value as a float64, also where it is a code for missing."""
        if self.dtype == nw.Boolean:
            return nw.when(nw.col(self.name)).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
        if self.dtype.is_numeric():
            plain = nw.col(self.name).cast(nw.Float64)
            return nw.when(~plain.is_nan()).then(plain)
        if not self.is_text:
            raise self.wrong_type("numbers")
        text = self.text()
        if self.spelling.decimal != ".":
            text = text.str.replace_all(".", "_", literal=True)
            text = text.str.replace_all(self.spelling.decimal, ".", literal=True)
        can_be_cast = text.str.contains(_NUMBER) & ~text.str.contains(_NOT_IN_NUMBER)
        number: nw.Expr = nw.when(can_be_cast).then(text).cast(nw.Float64)
        for value, words in _NUMBERS_IN_WORDS.items():
            is_word = text.str.to_lowercase().is_in(words)
            number = nw.when(is_word).then(nw.lit(value)).otherwise(number)
        return number

    def wrong_type(self, wanted: str) -> InvalidParameterError:
        """Say that a column is not of a kind that will do."""
        # Which numbers is not told: pandas makes fractions of whole ones where one is missing.
        kind = "numbers" if self.dtype.is_numeric() else self.dtype
        held = f"the column {self.label!r} holds {kind}, not {wanted}"
        return InvalidParameterError(f"{held}; name a column of {wanted}")


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
