"""Validators whose keyword is the message: ``positive(mu=mu)``.

Each takes one named value and returns it, clean, or raises one sentence that says what is wrong,
the value, the rule and, where there is one, the remedy.
"""

import functools
import inspect
import math
import numbers
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

from halfnoise.errors import InvalidParameterError

Called = TypeVar("Called", bound=Callable[..., Any])


def refuse(name: str, rule: str, value: object, remedy: str = "") -> InvalidParameterError:
    """Build the one sentence that every refused parameter gets."""
    shown = repr(value) if len(repr(value)) <= 80 else repr(value)[:77] + "..."
    return InvalidParameterError(
        f"{name} must be {rule}, got {shown}" + (f"; {remedy}" if remedy else "")
    )


def finite(remedy: str = "", /, **named: object) -> float:
    """Return a finite number as a float.

    >>> finite(low=3)
    3.0
    """
    ((name, value),) = named.items()
    rule = "a finite number"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise refuse(name, rule, value, remedy)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise refuse(name, rule, value, remedy)
    return number


def positive(remedy: str = "", /, **named: object) -> float:
    """Return a positive finite number as a float.

    >>> positive(mu=-1)
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: mu must be a positive number, got -1
    """
    ((name, value),) = named.items()
    number = finite(remedy, **named)
    if number <= 0:
        raise refuse(name, "a positive number", value, remedy)
    return number


def not_negative(remedy: str = "", /, **named: object) -> float:
    """Return a finite number that is zero or more, as a float."""
    ((name, value),) = named.items()
    number = finite(remedy, **named)
    if number < 0:
        raise refuse(name, "zero or more", value, remedy)
    return number


def fraction(remedy: str = "", /, **named: object) -> float:
    """Return a number strictly between 0 and 1.

    >>> fraction("for pure DP use PureDP(epsilon=...)", delta=1.5)
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: delta must be strictly between 0 and 1, got 1.5; \
for pure DP use PureDP(epsilon=...)
    """
    ((name, value),) = named.items()
    number = finite(remedy, **named)
    if not 0 < number < 1:
        raise refuse(name, "strictly between 0 and 1", value, remedy)
    return number


def whole(remedy: str = "", /, *, least: int = 1, **named: object) -> int:
    """Return a whole number that is at least ``least``.

    >>> whole(queries=100)
    100
    """
    ((name, value),) = named.items()
    rule = f"a whole number of at least {least}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise refuse(name, rule, value, remedy)
    return int(value)


def known_keywords(called: Called) -> Called:
    """Let a function, or a class, refuse a keyword that it does not have, with the nearest one.

    >>> @known_keywords
    ... def count(*, max_groups): ...
    >>> count(max_group=2)
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: there is no keyword 'max_group'; did you mean \
'max_groups'?
    """
    own: Callable[..., Any] = vars(called)["__init__"] if isinstance(called, type) else called
    known: list[str] = []
    for parameter in inspect.signature(called).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            (rules,) = parameter.annotation.__args__  # Unpack of a TypedDict
            known += rules.__annotations__
        else:
            known.append(parameter.name)

    @functools.wraps(own)
    def checked(*positional: Any, **named: Any) -> Any:  # noqa: ANN401
        for name in named:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
                raise InvalidParameterError(f"there is no keyword {name!r}; {hint}")
        return own(*positional, **named)

    if not isinstance(called, type):
        return checked  # type: ignore[return-value]  # it takes what ``called`` takes
    called.__init__ = checked  # type: ignore[misc]  # the same, checked
    return called
