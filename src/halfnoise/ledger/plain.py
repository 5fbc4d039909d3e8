"""What an entry may hold: text of one line, exact amounts, whole numbers; all else is damage.

A file may come from anybody, with a right chain of hashes: reading it must end, and end well.
"""

import re
from fractions import Fraction
from typing import Any

LONGEST = 200  # letters of a name
DIGITS = 3000  # four times as many as the square of any float64 has
_AMOUNT = re.compile(rf"[0-9]{{1,{DIGITS}}}(/[0-9]{{1,{DIGITS}}})?")
# What ends a line or steers a terminal, and halves of pairs, which none can hold.
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def is_line(found: object) -> bool:
    """Whether it is text that one line can show."""
    return isinstance(found, str) and not _UNFIT.search(found)


def in_a_line(text: str) -> str:
    r"""Return text as one line can show it.

    >>> ascii(in_a_line("a\nb"))
    "'a\\ufffdb'"
    """
    return _UNFIT.sub("\ufffd", text)


def line(found: Any) -> str:
    """Return text of one line."""
    if not is_line(found):
        raise ValueError(found)
    return str(found)


def digits(found: Any) -> str:
    """Return a hash, as letters and digits."""
    return found if type(found) is str and found.isalnum() else line(found)


def lines(found: object) -> tuple[str, ...]:
    """Return several texts of one line each."""
    if not isinstance(found, list):
        raise TypeError(found)
    return tuple(map(line, found))


def amount(found: str) -> Fraction:
    """Return an exact amount of zero or more, as it is written; no power, which may take forever.

    >>> amount("1/16")
    Fraction(1, 16)
    """
    if not _AMOUNT.fullmatch(found):
        raise ValueError(found)
    return Fraction(found)


def times(found: object) -> int:
    """Return how often something is done."""
    if type(found) is not int or found < 1:
        raise ValueError(found)
    return found
