"""Validators whose keyword is the message: ``positive(mu=mu)``.

Each takes one named value and returns it, clean, or raises one sentence that says what is wrong,
the value, the rule and, where there is one, the remedy.

>>> fraction("for pure DP use PureDP(epsilon=...)", delta=1.5)
Traceback (most recent call last):
halfnoise.errors.InvalidParameterError: delta must be strictly between 0 and 1, got 1.5; for pure \
DP use PureDP(epsilon=...)
"""

import contextlib
import datetime as dt
import functools
import importlib
import inspect
import math
import numbers
import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, TypeGuard, TypeVar

from halfnoise.errors import InvalidParameterError, MissingExtraError, UnknownNameError

Called = TypeVar("Called", bound=Callable[..., Any])
Read = TypeVar("Read", int, float)
Named = TypeVar("Named", bound=Hashable)

# Stripped around text: the same on every engine.
SPACES = " \t\n\r\x0b\x0c"
# What the command has as an option of its own, and Python says in another place.
_ELSEWHERE = dict.fromkeys(("epsilon", "delta"), "say privacy=ApproxDP(epsilon=1, delta=1e-6)")
_ELSEWHERE |= {"mu": "say privacy=GaussianDP(mu=1)", "rho": "say privacy=ConcentratedDP(rho=0.5)"}
_ELSEWHERE |= {"missing": 'say it of each query: Count("smoker", missing=[-99])'}
_WRITTEN = (str, bytes, numbers.Number, dt.date, dt.time, dt.timedelta, os.PathLike, Enum, type)


def refuse(name: str, rule: str, value: object, remedy: str = "") -> InvalidParameterError:
    """Build the one sentence that every refused parameter gets."""
    advice = f"; {remedy}" if remedy else ""
    return InvalidParameterError(f"{name} must be {rule}, got {shown(value)}{advice}")


def shown(value: object) -> str:
    """Return what somebody wrote, cut short; of a frame or an array, which hold rows, the type.

    >>> shown("a" * 90), shown(["smoker", 1]), shown(range(3)), shown([0.5] * 1000)
    ("'aaa...", "['smoker', 1]", 'range(...)', 'list(...)')
    """
    text = repr(value) if _is_written(value) else f"{type(value).__name__}(...)"
    return text if len(text) <= 80 else text[:77] + "..."


def _is_written(value: object) -> bool:
    """Whether a person writes such a value out: a word, a number, a few of them, one of ours."""
    if type(value) in (list, tuple, set, frozenset, dict):
        parts: Any = [*value, *value.values()] if isinstance(value, dict) else value
        return len(parts) <= 20 and all(map(_is_written, parts))
    ours = type(value).__module__.partition(".")[0] == "halfnoise"
    return ours or value is None or isinstance(value, _WRITTEN)


def of_several(values: object, one: object) -> object:
    """Return what is shown of one of several: itself, unless they are a column of a frame."""
    return one if isinstance(values, Sequence) else values


def unknown(name: str, value: object, known: Sequence[object]) -> UnknownNameError:
    """Build the sentence for what is not among the known: it lists some, and names the nearest."""
    listed = ", ".join(map(repr, known[:10]))
    listed += f" and {len(known) - 10:,} more" if len(known) > 10 else ""
    # To compare with very many would take long.
    remedy = meant(str(value), map(str, known[:10_000]))
    rule = f"one of {listed}" if known else "found first: there is none"
    return UnknownNameError(str(refuse(name, rule, value, remedy)))


def meant(name: str, known: Iterable[str]) -> str:
    """Ask whether the nearest of some names was meant, if any is near.

    >>> meant("smokes", ["smoker", "visits"]), meant("a", ["visits"])
    ("did you mean 'smoker'?", '')
    """
    near = get_close_matches(name, [*known], n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def _number(rule: str, holds: Callable[[float], bool]) -> Callable[..., float]:
    """Return a validator that takes a finite number of which something holds, as a float."""

    def check(remedy: str = "", /, **named: object) -> float:
        ((name, value),) = named.items()
        number = float(value) if isinstance(value, float) else math.nan
        if math.isnan(number) and isinstance(value, numbers.Real) and not isinstance(value, bool):
            with contextlib.suppress(OverflowError):
                number = float(value)
        if not math.isfinite(number):
            raise refuse(name, "a finite number", value, remedy)
        if not holds(number):
            raise refuse(name, rule, value, remedy)
        return number

    return check


finite = _number("a finite number", math.isfinite)
positive = _number("a positive number", lambda x: x > 0)
not_negative = _number("zero or more", lambda x: x >= 0)
_in_reason = _number("between 1e-50 and 1e50", lambda x: 1e-50 <= x <= 1e50)
fraction = _number("strictly between 0 and 1", lambda x: 0 < x < 1)


def weighs(**named: object) -> float:
    """Return how much something counts: a positive number, and none beyond all proportion."""
    weight = dict.fromkeys(named, positive(**named))
    return _in_reason("importances count relative to others", **weight)


def whole(remedy: str = "", /, *, least: int = 1, **named: object) -> int:
    """Return a whole number that is at least ``least``."""
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise refuse(name, f"a whole number of at least {least}", value, remedy)
    return int(value)


def yes_or_no(**named: object) -> bool:
    """Return what is True or False; "no" would be neither, and pass for yes."""
    ((name, value),) = named.items()
    if not isinstance(value, bool):
        raise refuse(name, "True or False", value)
    return value


def known_keywords(called: Called) -> Called:
    """Let a function, or a class, refuse a keyword that it does not have, with the nearest one.

    >>> @known_keywords
    ... def count(*, max_groups): ...
    >>> count(max_group=2)
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: there is no keyword 'max_group'; did you mean \
'max_groups'?
    """
    is_class = isinstance(called, type)
    own: Callable[..., Any] = called.__init__ if is_class else called
    names, stop = own.__code__.co_varnames, own.__code__.co_argcount
    stop += own.__code__.co_kwonlyargcount
    known = [*names[is_class:stop]]
    if own.__code__.co_flags & inspect.CO_VARKEYWORDS:
        (rules,) = own.__annotations__[names[stop]].__args__  # Unpack of a TypedDict
        known += rules.__annotations__

    @functools.wraps(own)
    def checked(*positional: Any, **named: Any) -> Any:
        for name in named:
            if name not in known:
                hint = meant(name, known) or f"known are {', '.join(known)}"
                hint = _ELSEWHERE.get(name, hint)
                raise InvalidParameterError(f"there is no keyword {name!r}; {hint}")
        return own(*positional, **named)

    if not isinstance(called, type):
        return checked  # type: ignore[return-value]  # it takes what ``called`` takes
    called.__init__ = checked  # type: ignore[misc]  # the same, checked
    return called


def installed(name: str, known_as: str = "") -> Any:
    """Return an optional package, or say how to get it; ``known_as``: its name where it is got."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        hint = known_as or name.replace("_", "-")
        why = f"this needs the package {hint}, which is not installed; run pip install {hint}"
        raise MissingExtraError(why) from error


def check_column(column: object) -> None:
    """Refuse a column without a name."""
    if not is_name(column):
        remedy = "for example 'age', or an expression, nw.col('age') > 64"
        raise refuse("column", "a column's name", column, remedy)


def check_literals(name: str, values: object) -> tuple[str | float | bool | dt.date, ...]:
    """Return several values to compare with; one alone will do."""
    values = (values,) if isinstance(values, str | int | float | dt.date) else values
    if not isinstance(values, tuple | list | set | frozenset):
        raise refuse(name, "a list", values)
    for value in values:
        if not (is_text(value) or isinstance(value, int | float | dt.date)):
            raise refuse(name, "text, numbers or dates", value)
    return tuple(values)


def _reader(kind: Callable[[str], Read], rule: str) -> Callable[[str, str], Read]:
    """Return what reads the text behind a flag, or refuses it."""

    def read(flag: str, text: str) -> Read:
        try:
            return kind(text)
        except ValueError:
            remedy = "write a decimal point and no other mark, as in 0.95 or 20000"
            raise refuse(flag, rule, text, remedy if set(text) & {*",%'_ "} else "") from None

    return read


number, whole_number = _reader(float, "a number"), _reader(int, "a whole number")


def level_of(level: object) -> float:
    """Return a level of margins of error."""
    return fraction("for 95% say 0.95", level=level)


def said_twice(values: Sequence[Named]) -> Named | None:
    """Return the first of some values that is there more than once, if any is.

    >>> said_twice(["a", "b", "c", "b"]), said_twice("abc")
    ('b', None)
    """
    if len(set(values)) == len(values):
        return None
    return next(value for value, times in Counter(values).items() if times > 1)


def comparable(value: object) -> bool:
    """Whether cells can be compared with it: text, a number that is one, or a date."""
    if isinstance(value, int | float | dt.date):
        return bool(value == value)  # noqa: PLR0124  # not NaN
    return is_text(value)


def check_told(name: str, values: Iterable[object]) -> None:
    """Refuse text that no cell says: empty, or with NUL, which stands for what is unreadable.

    >>> check_told("a category", ["A", ""])
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: a category must be what a cell can say, got ''; ...
    """
    texts = [value for value in values if isinstance(value, str)]
    if all(map(str.strip, texts)) and "\0" not in "".join(texts):  # of very many at once
        return
    for text in texts:
        if not text.strip(SPACES) or "\0" in text:
            remedy = "empty text is missing, and so is what holds NUL"
            raise refuse(name, "what a cell can say", text, remedy)


def is_name(value: object) -> TypeGuard[str]:
    """Whether something can be called so."""
    return is_text(value) and value != ""


def is_text(value: object) -> TypeGuard[str]:
    r"""Whether it is text that can be written: no half of a surrogate pair, which none can hold.

    A word of the command that is not in the terminal's encoding has such halves.

    >>> is_text("half"), is_text("\ud83d")
    (True, False)
    """
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_at_most(most: object, size: int) -> int | None:
    """Return a limit between 1 and the number of queries it limits, or None."""
    limit = None if most is None else whole(f"there are {size} to choose from", at_most=most)
    if limit is not None and limit > size:
        raise refuse("at_most", f"at most {size}", most, "leave it out where there is no limit")
    return limit
