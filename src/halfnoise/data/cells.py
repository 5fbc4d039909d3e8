"""How a cell is read: as a number, as yes, as text or as a day. Total rules: no cell can fail.

A cell that cannot be read as what a query needs is null; text is read by ``written``. NaN is null;
infinities are numbers. Days in text are compared as ISO text; moments with a time zone belong to
the day that it then is in UTC.
"""

import datetime as dt
import operator
from collections.abc import Collection, Sequence
from typing import Any

import narwhals.stable.v2 as nw
from narwhals.dtypes import DType

from halfnoise.data.codes import are_found_by_number, days_among, is_its_number, numbers_among
from halfnoise.data.logic import FEW, among, combined, is_true, never
from halfnoise.data.midnights import around
from halfnoise.data.spelling import NO, PLAIN, SPACES, YES, Spelling, folded
from halfnoise.data.usual import Usual
from halfnoise.data.written import SAID, Written
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass, replace
from halfnoise.workload.conditions import Literal, Where, as_date, as_number

_SMALL = 128  # whole numbers below it can be in a column of any type of them

MOST_WHOLE = 2**62  # whole numbers are compared as such below this
Ranked = tuple[nw.Expr, dict[Any, int]]  # a column, and where in a list its values stand
Plain = tuple[dict[str, int], dict[float, int], list[int]]  # ranks as text, as numbers, of others


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A column as a query sees it: its name in the frame, its type, and what counts as missing.

    ``inferred``: whether its type is what a frame made of its cells: there a missing one turns
    whole numbers into fractions, or numbers, yes and no into objects, whose text has one spelling.
    ``branches``: whether the engine computes a branch only where its condition holds. ``made``: as
    what else its text is in the frame, made once for all queries: "number" or "day". ``nulled``:
    whether text that is empty, or could not be read, is null already. ``stored``: the column, if
    any, that holds bytes also where they are no text: then they are compared, and no more.
    """

    name: str
    dtype: DType
    label: str
    missing: tuple[Literal, ...] = ()
    spelling: Spelling = PLAIN
    inferred: bool = False
    branches: bool = False
    made: Collection[str] = ()
    nulled: bool = False
    stored: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether it holds text."""
        return self.dtype in (nw.String, nw.Categorical, nw.Enum)

    @property
    def is_day(self) -> bool:
        """Whether it holds days or moments."""
        return self.dtype in (nw.Date, nw.Datetime)

    def present(self, own: "Cell | None" = None) -> nw.Expr:
        """Whether there is a value that is not one of the codes for missing, as ``own`` reads."""
        there = ~nw.col(self.name).is_null()
        return there & ~is_true((own or self).is_any(self.missing)) if self.missing else there

    def said(self) -> "tuple[nw.Expr, Cell]":
        """Return text, null where it is empty or could not be read, and the cell that holds it."""
        raw = self.written.raw
        text = nw.when((raw != "") & self.written.is_readable()).then(raw)
        return text, replace(self, dtype=nw.String(), nulled=True)

    def number(self) -> nw.Expr:
        """Return the value as a float64; null where there is none."""
        odd = self.inferred or not are_found_by_number(self.missing, self.spelling)
        if self.dtype == nw.Boolean or (self.is_text and self.missing and odd):
            return nw.when(self.present()).then(self._number())
        number, codes = self._number(), numbers_among(self.missing)
        return nw.when(~among(number, codes)).then(number) if codes else number

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
        """Return what says the day, to be compared with ``midnights``; null where there is none."""
        if self.is_day:
            return nw.col(self.name)
        if not self.is_text:
            raise self.wrong_type("days")
        return nw.col(self.made_as("day")) if "day" in self.made else self.written.day()

    def text(self) -> nw.Expr:
        """Return the value as text, without spaces around it."""
        return self.written.text()

    def code(self) -> nw.Expr:
        """Return the value as text in the way in which codes are compared."""
        return self.written.code()

    def as_code(self, literal: Literal) -> str:
        """Return a value that somebody lists as ``code`` returns it."""
        text = str(literal).strip(SPACES)
        return folded(text) if self.spelling.ignore_case else text

    def made_as(self, kind: str) -> str:
        """Return the name of the column that holds the text as something else."""
        return f"{self.name}_{kind}"

    def read_as(self, kind: str) -> nw.Expr:
        """Return the text as a "number", also where it is a code for missing, or as a "day"."""
        return self.written.number() if kind == "number" else self.written.day()

    @property
    def written(self) -> Written:
        """What its text says."""
        raw = nw.col(self.name) if self.dtype == nw.String else nw.col(self.name).cast(nw.String)
        return Written(raw=raw, spelling=self.spelling, branches=self.branches)

    @property
    def knows_usual(self) -> bool:
        """Whether it pays, and is right, to look for usual answers first."""
        return self.is_text and self.branches and not self.inferred

    def yes(self, codes: Sequence[Literal]) -> nw.Expr:
        """Whether the cell says yes: true, 1, and as text 1/true/yes/y/t; or one of ``codes``.

        Null may stand for no: what adds up leaves it out, which is quicker than to ask for it.
        """
        return self._is_one_of(codes or (True,))

    def is_one_of(self, values: Sequence[Literal]) -> nw.Expr:
        """Whether the cell is one of several values, and none of the codes for missing."""
        return is_true(self._is_one_of(values))

    def _is_one_of(self, values: Sequence[Literal]) -> nw.Expr:
        own = self._as_stored
        found = own.is_any(values)
        found = nw.when(self.present(own)).then(found) if self.missing or own != self else found
        if not self.knows_usual:
            return found
        usual, raw = Usual(values, self.missing, self.spelling), nw.col(own.name)
        for words, is_it in reversed(usual.judged_words):
            found = nw.when(among(raw, words)).then(nw.lit(is_it)).otherwise(found)
        is_letter = raw.str.len_chars() == 1 if usual.are_all_letters else among(raw, usual.letters)
        found = nw.when(is_letter).then(among(raw, usual.found(usual.letters))).otherwise(found)
        for digit in usual.digits:
            found = nw.when(raw == digit).then(nw.lit(bool(usual.found([digit])))).otherwise(found)
        return found

    @property
    def _as_stored(self) -> "Cell":
        """The same as it is stored: to be asked only where it is text, or a usual answer."""
        return self if self.made else replace(self, name=self.stored or self.name)

    def rank(self, values: Sequence[Literal]) -> nw.Expr | None:
        """Return which of a few values the cell is, and the first if several; their number if none.

        None where they are too many.
        """
        if len(values) > FEW:
            return None
        rank = nowhere = nw.lit(len(values))
        own = self._as_stored
        for place in reversed(range(len(values))):
            is_it = own.is_any(values[place : place + 1])
            rank = nw.when(is_it).then(nw.lit(place)).otherwise(rank)
        rank = nw.when(self.present(own)).then(rank).otherwise(nowhere)
        if self.knows_usual:
            for text, place in Usual(values, self.missing, self.spelling).ranks().items():
                rank = nw.when(nw.col(own.name) == text).then(nw.lit(place)).otherwise(rank)
        return rank

    def lookups(self, literals: Sequence[Literal]) -> tuple[dict[str, Ranked], list[int]]:
        """Return how plain values are looked up, as text or as numbers, and which are not plain."""
        (texts, numbers, others), ranked = self._plain(literals), dict[str, Ranked]()
        if texts:
            ranked["text"] = (nw.when(self.present()).then(self.code()), texts)
        if numbers:
            ranks = {number + 0.0: rank for number, rank in numbers.items()}
            ranked["number"] = (self.number() + 0.0, ranks)
        return ranked, others

    def meets(self, where: Where) -> nw.Expr:
        """Whether the cell meets a condition; a missing cell meets none."""
        if where.word in ("equals", "is_in"):
            return self.is_one_of(where.values)
        days = [day for day in map(as_date, where.values) if day is not None]
        if where.compares == "day":
            at_least, up_to, below, above = around(self.day(), self.dtype, days[0], days[-1])
        else:
            value = self.number()
            numbers = [number for number in map(as_number, where.values) if number is not None]
            low, high = numbers[0], numbers[-1]
            at_least, up_to, below, above = value >= low, value <= high, value < low, value > high
        holds = {"at_least": at_least, "up_to": up_to, "below": below, "above": above}
        holds["between"] = at_least & up_to
        held, codes = holds[where.word], list[Literal]()
        if where.compares == "day":
            codes = days_among(self.missing, self.spelling)
        # A number is null where it is a code for missing; a day must be asked.
        return is_true(held & ~is_true(self.is_any(codes)) if codes else held)

    def _is_on(self, day: dt.date) -> nw.Expr:
        since, until, *_ = around(self.day(), self.dtype, day, day)
        return since & until

    def is_any(self, literals: Sequence[Literal]) -> nw.Expr:
        """Whether the cell is one of several values, or null where it is not."""
        texts, numbers, others = self._plain(literals)
        matches = [self._matches(literals[rank]) for rank in others]
        words = [text for text in texts if not is_its_number(text, self.spelling)]
        if words:
            matches.append(among(self.code(), words))
        if numbers:
            matches.append(self._is_number(list(numbers)))
        return combined(operator.or_, matches or [never(nw.col(self.name))])

    def _is_number(self, numbers: Sequence[float]) -> nw.Expr:
        """Whether the cell is one of some numbers; small ones are in every type what they are."""
        # To look for many of them in 128 bits without a sign, DuckDB would make 64 of these.
        is_whole = self.dtype.is_integer() and self.dtype != nw.UInt128
        if is_whole and all(number in range(_SMALL) for number in numbers):
            return among(nw.col(self.name), [*map(int, numbers)])
        if self.is_text and "number" not in self.made and SAID.isdisjoint(numbers):
            return among(self.written.digits(), numbers)
        return among(self._number(), numbers)

    def _plain(self, literals: Sequence[Literal]) -> Plain:
        texts, numbers, others = dict[str, int](), dict[float, int](), list[int]()
        listable = self.is_text or self.dtype.is_numeric()
        for rank, literal in enumerate(literals):
            a_word = self.inferred and str(literal).strip(SPACES).lower() in (*YES, *NO)
            is_bool = isinstance(literal, bool)
            if not listable or is_bool or a_word or as_date(literal) is not None:
                others.append(rank)
                continue
            if self.is_text:
                texts.setdefault(self.as_code(literal), rank)
            if (number := as_number(literal)) is not None:
                numbers.setdefault(number, rank)
        return texts, numbers, others

    def _matches(self, literal: Literal) -> nw.Expr:
        """Whether the cell is a value that is not plain: yes or no, or a day."""
        number = float(literal) if isinstance(literal, bool) else as_number(literal)
        day, text = as_date(literal), str(literal).strip(SPACES)
        if self.dtype == nw.Boolean:
            if text.lower() in YES or number == 1:
                return nw.col(self.name)
            is_no = text.lower() in NO or number == 0
            return ~nw.col(self.name) if is_no else never(nw.col(self.name))
        if self.is_text:
            if isinstance(literal, bool):
                words = self.spelling.yes_words if literal else self.spelling.no_words
                return self.written.is_word(words) | (self.written.digits() == number)
            same = self.code() == self.as_code(literal)
            if self.inferred and text.lower() in (*YES, *NO):
                # Yes and no among objects, as they would be compared in a column of their own.
                same = same | (self.text() == str(text.lower() in YES))
            if day is not None:
                same = same | self._is_on(day)
            return same if number is None else same | (self._number() == number)
        if not (self.is_day or self.dtype.is_numeric()):
            raise self.wrong_type("numbers, text or days")
        if self.is_day:
            return never(nw.col(self.name)) if day is None else self._is_on(day)
        return never(nw.col(self.name)) if number is None else self._is_number([number])

    def _number(self) -> nw.Expr:
        """Return the value as a float64, also where it is a code for missing."""
        if self.dtype == nw.Boolean:
            return nw.when(nw.col(self.name)).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
        if self.dtype.is_numeric():
            plain = nw.col(self.name).cast(nw.Float64)
            return nw.when(~plain.is_nan()).then(plain) if self.dtype.is_float() else plain
        if not self.is_text:
            raise self.wrong_type("numbers")
        return nw.col(self.made_as("number")) if "number" in self.made else self.written.number()

    def wrong_type(self, wanted: str) -> InvalidParameterError:
        """Say that a column is not of a kind that will do."""
        # Which numbers is not told: pandas makes fractions of whole ones where one is missing; nor
        # what is inside: a frame makes names and categories of lists and structs from its rows.
        kind = "numbers" if self.dtype.is_numeric() else type(self.dtype).__name__
        held = f"the column {self.label!r} holds {kind}, not {wanted}; name a column of {wanted}"
        return InvalidParameterError(held)
