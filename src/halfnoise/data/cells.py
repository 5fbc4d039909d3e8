"""How a cell is read: as a number, as yes, as text or as a day. Total rules: no cell can fail.

A cell that cannot be read as what a query needs is null. Text becomes a number only after a
pattern has shown that every engine can read it, so the cast never fails; NaN is null; infinities
are numbers. Days are compared as ISO text, which sorts as days do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import narwhals as nw
from narwhals.dtypes import DType

from halfnoise.conditions import Literal, Where, as_date, as_number
from halfnoise.errors import InvalidParameterError

# Up to 30 digits, and exponents that cannot leave the range of a float64.
_NUMBER = (
    r"^[+-]?(?:(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,2})?"
    r"|[0-9](?:\.[0-9]{0,30})?[eE](?:[+]?[12][0-9][0-9]|-[12][0-9][0-9])"
    r"|1(?:\.0{0,30})?[eE][+]?30[0-8])$"
)
_INFINITY = r"^[+]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?$"
_MINUS_INFINITY = r"^-[iI][nN][fF](?:[iI][nN][iI][tT][yY])?$"
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_HUGE = 1e308
_YES = ("true", "yes", "y", "t")
_NO = ("false", "no", "n", "f")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A column as a query sees it: its name in the frame, its type, and what counts as missing."""

    name: str
    dtype: DType
    label: str
    missing: tuple[Literal, ...] = ()
    decimal: str = "."

    @property
    def is_text(self) -> bool:
        """Whether it holds text."""
        return self.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)

    @property
    def is_day(self) -> bool:
        """Whether it holds days or moments."""
        return self.dtype in (nw.Date, nw.Datetime)

    def present(self) -> nw.Expr:
        """Whether there is a value that is not one of the codes for missing."""
        there = ~nw.col(self.name).is_null()
        return (
            there & ~any_of([self._matches(code) for code in self.missing])
            if self.missing
            else there
        )

    def number(self) -> nw.Expr:
        """Return the value as a float64; null where there is none."""
        if self.dtype == nw.Boolean:
            value = nw.when(nw.col(self.name)).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
        elif self.dtype.is_numeric():
            value = nw.col(self.name).cast(nw.Float64)
            value = nw.when(~value.is_nan()).then(value)
        elif self.is_text:
            value = self._spelled_number()
        else:
            raise self._wrong_type("numbers")
        return nw.when(self.present()).then(value)

    def day(self) -> nw.Expr:
        """Return the day as ISO text; null where there is none."""
        if self.is_day:
            return nw.col(self.name).dt.to_string("%Y-%m-%d")
        if not self.is_text:
            raise self._wrong_type("days")
        text = self.text()
        return nw.when(text.str.contains(_DAY)).then(text.str.slice(0, 10))

    def text(self) -> nw.Expr:
        """Return the value as text, without spaces around it."""
        return nw.col(self.name).cast(nw.String).str.strip_chars()

    def yes(self, codes: Sequence[Literal]) -> nw.Expr:
        """Whether the cell says yes: true, 1, and as text 1/true/yes/y/t; or one of ``codes``."""
        if codes:
            return is_true(any_of([self._matches(code) for code in codes]) & self.present())
        if self.dtype == nw.Boolean:
            return is_true(nw.col(self.name) & self.present())
        if self.is_text:
            spelled = self.text().str.to_lowercase().is_in(_YES)
            return is_true((spelled | is_true(self._spelled_number() == 1)) & self.present())
        return is_true(self.number() == 1)

    def equals(self, literal: Literal) -> nw.Expr:
        """Whether the cell is ``literal``: as text, or as the number or day that it spells."""
        return is_true(self._matches(literal) & self.present())

    def meets(self, where: Where) -> nw.Expr:
        """Whether the cell meets a condition; a missing cell meets none."""
        if where.word in ("equals", "is_in"):
            return any_of([self.equals(literal) for literal in where.values])
        value, first, last = self._comparable(where)
        holds = {
            "at_least": value >= first,
            "above": value > first,
            "below": value < first,
            "up_to": value <= first,
            "between": (value >= first) & (value <= last),
        }[where.word]
        return is_true(holds & self.present())

    def _comparable(self, where: Where) -> tuple[nw.Expr, nw.Expr, nw.Expr]:
        """Return the cell and the bounds of a condition as numbers, or as days."""
        days = [as_date(literal) for literal in where.values]
        numbers = [as_number(literal) for literal in where.values]
        bounds = [nw.lit(day.isoformat()) for day in days if day is not None]
        if len(bounds) == len(days):
            return self.day(), bounds[0], bounds[-1]
        bounds = [nw.lit(number) for number in numbers if number is not None]
        if len(bounds) == len(numbers):
            return self.number(), bounds[0], bounds[-1]
        raise InvalidParameterError(
            f"the condition {str(where)!r} compares with neither numbers nor days such as"
            " 2026-11-15; for text use equals or is_in"
        )

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
            return same if number is None else same | is_true(self._spelled_number() == number)
        if self.is_day:
            return _never() if day is None else is_true(self.day() == day.isoformat())
        if number is None or not self.dtype.is_numeric():
            return _never()
        return is_true(nw.col(self.name).cast(nw.Float64) == number)

    def _spelled_number(self) -> nw.Expr:
        text = self.text()
        if self.decimal != ".":
            text = text.str.replace_all(self.decimal, ".", literal=True)
        plain = nw.when(text.str.contains(_NUMBER)).then(text).cast(nw.Float64)
        endless = nw.when(text.str.contains(_MINUS_INFINITY)).then(nw.lit(-_HUGE)).otherwise(plain)
        return nw.when(text.str.contains(_INFINITY)).then(nw.lit(_HUGE)).otherwise(endless)

    def _wrong_type(self, wanted: str) -> InvalidParameterError:
        return InvalidParameterError(
            f"the column {self.label!r} holds {self.dtype}, not {wanted}; name a column of {wanted}"
        )


def any_of(conditions: Sequence[nw.Expr]) -> nw.Expr:
    """Whether one of several conditions holds."""
    return reduce(lambda a, b: a | b, conditions)


def is_true(condition: nw.Expr) -> nw.Expr:
    """Read null as false."""
    return nw.when(condition).then(nw.lit(value=True)).otherwise(nw.lit(value=False))


def _never() -> nw.Expr:
    return nw.lit(value=False)
