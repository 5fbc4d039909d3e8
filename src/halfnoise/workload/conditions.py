"""Conditions on a person's answer: ``age at least 65``, ``sex is F``, ``day between ... and ...``.

It says what must hold; reading cells is another room's work.
"""

import datetime as dt
import math
from collections.abc import Collection, Sequence
from typing import Literal as Only
from typing import Self, TypeAlias

from halfnoise.checks import (
    check_column,
    check_literals,
    check_told,
    comparable,
    known_keywords,
    refuse,
)
from halfnoise.errors import InvalidParameterError
from halfnoise.values import KW_ONLY, dataclass, replace

Literal: TypeAlias = str | float | bool | dt.date  # what a cell is compared with
WORDS = ("at_least", "above", "below", "up_to", "between", "equals", "is_in")


class Coded:
    """What reads cells of which some hold codes for no answer."""

    __slots__ = ()
    missing: Literal | Collection[Literal]

    @property
    def codes(self) -> tuple[Literal, ...]:
        """The codes for no answer."""
        return check_literals("missing", self.missing)

    def coded(self, codes: Collection[Literal]) -> Self:
        """Return the same with further codes for no answer."""
        more = (*self.codes, *codes)
        return replace(self, missing=more) if codes else self  # type: ignore[type-var]  # its heirs are dataclasses


@known_keywords
@dataclass(frozen=True, slots=True)
class Where(Coded):
    """One condition on ``column``; exactly one of the words must be given.

    >>> Where("age", at_least=65).word
    'at_least'
    >>> Where("age")
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: a condition on 'age' needs one of at_least, above, \
below, up_to, between, equals, is_in, got none
    """

    column: str
    _: KW_ONLY
    at_least: Literal | None = None
    above: Literal | None = None
    below: Literal | None = None
    up_to: Literal | None = None
    between: tuple[Literal, Literal] | None = None
    equals: Literal | None = None
    is_in: Sequence[Literal] | None = None
    missing: Literal | Collection[Literal] = ()

    def __post_init__(self) -> None:
        check_column(self.column)
        given = [word for word in WORDS if getattr(self, word) is not None]
        if len(given) != 1:
            rule = f"a condition on {self.column!r} needs one of {', '.join(WORDS)}"
            raise InvalidParameterError(f"{rule}, got {' and '.join(given) or 'none'}")
        for name in ("between", "is_in", "missing"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, check_literals(name, value))
        if not self.values:
            raise refuse(self.word, "given at least one value", self.values)
        if self.between is not None and len(self.between) != 2:
            raise refuse("between", "a lowest and a highest value", self.between)
        for literal in self.values:
            if not comparable(literal):
                raise refuse(self.word, "text, a number or a date", literal)
        if self.word in ("equals", "is_in"):
            check_told(self.word, self.values)
        else:
            self._check_order()

    @classmethod
    def several(cls, where: object) -> "tuple[Where, ...]":
        """Return conditions that must hold together; one alone will do."""
        found = (where,) if isinstance(where, cls) else where
        if not isinstance(found, tuple | list) or not all(isinstance(each, cls) for each in found):
            example = 'for example Where("age", at_least=18)'
            raise refuse("where", "a Where, or several", where, example)
        return tuple(found)

    @property
    def word(self) -> str:
        """Which condition it is."""
        return next(word for word in WORDS if getattr(self, word) is not None)

    @property
    def values(self) -> tuple[Literal, ...]:
        """What cells are compared with."""
        value = getattr(self, self.word)
        return value if isinstance(value, tuple) else (value,)

    @property
    def compares(self) -> Only["number", "day"] | None:
        """What is compared by size, if that is asked."""
        if self.word in ("equals", "is_in"):
            return None
        return "number" if None in map(as_date, self.values) else "day"

    def _check_order(self) -> None:
        days = [day for day in map(as_date, self.values) if day is not None]
        numbers = [number for number in map(as_number, self.values) if number is not None]
        if len(self.values) not in (len(days), len(numbers)):
            neither = f"{str(self)!r} compares with neither numbers nor days such as 2026-11-15"
            remedy = "write a day so, or as --dates says, and for text use equals or is_in"
            raise InvalidParameterError(f"the condition {neither}; {remedy}")
        if days != sorted(days) or numbers != sorted(numbers):
            raise refuse(self.word, "a lowest and a highest value, in this order", self.between)

    def __str__(self) -> str:
        words = self.word.replace("_", " ").replace("equals", "is")
        joint = " and " if self.word == "between" else ", "
        return f"{self.column} {words} {joint.join(map(str, self.values))}"


def as_number(literal: Literal) -> float | None:
    """Return the number that a value is or spells, if it does.

    >>> as_number("65"), as_number(True), as_number("1_0"), as_number("nan"), as_number("\u0663")
    (65.0, None, None, None, None)
    """
    text = str(literal)
    if isinstance(literal, bool | dt.date) or "_" in text or not text.isascii():
        return None  # digits of other scripts are text in a cell, too
    try:
        number = float(literal)
    except (OverflowError, TypeError, ValueError):
        return None
    return None if math.isnan(number) else number


def as_date(literal: Literal) -> dt.date | None:
    """Return the day that a value is or spells in ISO form, if it does."""
    if isinstance(literal, dt.date):
        return literal.date() if isinstance(literal, dt.datetime) else literal
    try:
        return dt.date.fromisoformat(str(literal)) if len(str(literal)) == 10 else None
    except ValueError:
        return None
