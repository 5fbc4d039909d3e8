"""What a text says: without spaces, as a number, as a day. Total rules: no text can fail.

Text becomes a number only after a pattern has shown that every engine can read it, so the cast
never fails. Days are ISO text, which sorts as days do. An engine that computes a branch only where
its condition holds is first asked whether a cell is written in the usual way, which costs little;
only the rest goes through the full rules. Where a cell is usual, both say the same.
"""

import math
from collections.abc import Sequence

import narwhals.stable.v2 as nw

from halfnoise.data.sources.encodings import MISSING
from halfnoise.data.spelling import (
    LAST,
    LEAP,
    ODD_CASE,
    SHORTER,
    SPACES,
    DayForm,
    Spelling,
    as_class,
)
from halfnoise.values import dataclass

# \z is the end in every engine; in some, $ also holds before a last line break.
# Up to 30 digits, and exponents that cannot leave the range of a float64.
_NUMBER = (
    r"^[+-]?(?:(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,2})?"
    r"|[0-9](?:\.[0-9]{0,30})?[eE](?:[+]?[12][0-9][0-9]|-[12][0-9][0-9])"
    r"|1(?:\.0{0,30})?[eE][+]?30[0-8])\z"
)
_DIGITS = r"^-?[0-9]{{1,15}}(?:{0}[0-9]{{1,15}})?\z"
_ENDS = r"(?:[T ][^\x00]*)?\z"
_VISIBLE = "!"  # all spaces sort before it
# True and false: one missing answer can turn a column of them into text.
_WORDS = r"^(?:[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)\z"
_AS_NUMBERS = {"true": "1", "false": "0", "inity": "", "+": ""}  # what becomes what in such a word
SAID = frozenset({1.0, 0.0, math.inf, -math.inf})  # the numbers that words stand for
NUMBERS_IN_WORDS = ("true", "false", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A column of text; ``branches``: the engine computes a branch only where it is needed."""

    raw: nw.Expr
    spelling: Spelling
    branches: bool = False

    def text(self) -> nw.Expr:
        """Return the text without spaces around it."""
        visible = (self.raw >= _VISIBLE) & (self.raw.str.slice(-1) >= _VISIBLE)
        return self._usually(visible, self.raw, self._stripped)

    @property
    def _stripped(self) -> nw.Expr:
        return self.raw.str.strip_chars(SPACES)

    def is_readable(self) -> nw.Expr:
        """Whether all of it could be read: NUL stands for what could not."""
        return ~self.raw.str.contains(MISSING, literal=True)

    def is_something(self) -> nw.Expr:
        """Whether there is more than spaces."""
        return self._usually(self.raw >= _VISIBLE, nw.lit(value=True), self._stripped != "")

    def is_word(self, words: Sequence[str]) -> nw.Expr:
        """Whether it is one of some words, which are in small letters, in any case."""
        if all(word.isascii() and "i" not in word for word in words):  # whose odd letter is İ
            return self._stripped.str.to_lowercase().is_in(words)
        return _lowered(self._stripped).is_in(words)

    def code(self) -> nw.Expr:
        """Return the text as codes are compared: perhaps in small letters and without spaces."""
        if not self.spelling.ignore_case:
            return self.text()
        text = self.raw
        for space in SPACES:
            text = text.str.replace_all(space, "", literal=True)
        return _lowered(text)

    def number(self) -> nw.Expr:
        """Return the number that is written, as a float64; null where there is none."""
        word, nothing = self._stripped.str.to_lowercase(), nw.lit(None, dtype=nw.String)
        for part, digit in _AS_NUMBERS.items():
            word = word.str.replace_all(part, digit, literal=True)
        is_word = self._stripped.str.contains(_WORDS)
        return self._in_digits(nw.when(is_word).then(word).otherwise(nothing)).cast(nw.Float64)

    def digits(self) -> nw.Expr:
        """Return the number that is written in digits, as a float64; null where there is none."""
        return self._in_digits(nw.lit(None, dtype=nw.String)).cast(nw.Float64)

    def _in_digits(self, otherwise: nw.Expr) -> nw.Expr:
        """Return what every engine can cast, or something else where there is no such number."""
        text = self._with_point(self._without_thousands(self._stripped))
        found = nw.when(text.str.contains(_NUMBER)).then(text).otherwise(otherwise)
        usual = self.raw.str.contains(_DIGITS.format(as_class(self.spelling.decimal)))
        return self._usually(usual, self._with_point(self.raw), found)

    def day(self) -> nw.Expr:
        """Return the day that is written, or with which a moment begins, in ISO form; or null."""
        *forms, usual = self.spelling.day_forms  # the last one has two digits for day and month
        text, day = self._stripped, nw.lit(None, dtype=nw.String)
        for form in (*forms, usual):
            is_it = text.str.contains(form.pattern + _ENDS)
            day = nw.when(is_it).then(_iso(text, form)).otherwise(day)
        is_usual = self.raw.str.contains(usual.pattern + _ENDS)
        return self._existing(self._usually(is_usual, _iso(self.raw, usual), day))

    def _existing(self, day: nw.Expr) -> nw.Expr:
        """Return a day in ISO form where its month has so many; else null."""
        there = nw.when(~day.str.contains(SHORTER) | day.str.contains(LEAP)).then(day)
        return self._usually(day.str.slice(8, 2) < LAST, day, there)

    def _usually(self, usual: nw.Expr, quick: nw.Expr, full: nw.Expr) -> nw.Expr:
        return nw.when(usual).then(quick).otherwise(full) if self.branches else full

    def _without_thousands(self, text: nw.Expr) -> nw.Expr:
        """Return a text without marks between thousands; null where they are in wrong places."""
        mark, grouped = self.spelling.thousands, self.spelling.grouped
        if mark is None or grouped is None:
            return text
        bare = nw.when(~text.str.contains(mark, literal=True)).then(text)
        parted = text.str.replace_all(mark, "", literal=True)
        return nw.when(text.str.contains(grouped)).then(parted).otherwise(bare)

    def _with_point(self, text: nw.Expr) -> nw.Expr:
        """Return a text whose decimal mark is a point, and in which a point is none."""
        if self.spelling.decimal == ".":
            return text
        text = text.str.replace_all(".", "_", literal=True)
        return text.str.replace_all(self.spelling.decimal, ".", literal=True)


def _lowered(text: nw.Expr) -> nw.Expr:
    """Return a text in small letters, but where engines do not agree on them."""
    odd = text.str.contains(ODD_CASE)
    return nw.when(odd).then(text).otherwise(text.str.to_lowercase())


def _iso(text: nw.Expr, form: DayForm) -> nw.Expr:
    if form.is_iso:
        return text.str.slice(0, 10)
    parts = [text.str.slice(form.year, 4)]
    for at, digits in (form.month, form.day):
        parts += [nw.lit("-" if digits == 2 else "-0"), text.str.slice(at, digits)]
    return nw.concat_str(*parts)
