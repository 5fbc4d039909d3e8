"""The text of a cell that has a type of its own in a place where columns have none.

Sheets and SQLite files hold a number beside a text in one column. Each cell becomes the text that a
text file would hold, by itself, so that no cell changes how others are read, and from there on
all is as in text files. A person is who the text says: 1, 1.0 and "1" are one, the text "1.0" is
another.
"""

import datetime as dt
import math
import re
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LONGEST = 2**21  # characters of a cell, and of a row's cells together
WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_DIGITS = 29  # a number with more is a fraction to whoever reads text
Plain = str | int | float | dt.date | dt.time | dt.timedelta | None


def as_text(cell: Plain, decimal: str = ".") -> str | None:
    """Return a cell's text; None where there is none, and of one too long.

    ``decimal``: the declared decimal mark.

    >>> [as_text(cell) for cell in (7, 7.0, 0.1, True, "", dt.date(2026, 11, 15), None)]
    ['7', '7', '0.1', 'true', None, '2026-11-15', None]
    >>> as_text(2.5, ","), as_text(dt.timedelta(days=1, hours=3)), as_text(dt.time(9, 30))
    ('2,5', '27:00:00', '09:30:00')
    """
    if isinstance(cell, str):
        told = 0 < len(cell) <= LONGEST and "\0" not in cell and _is_whole(cell)
        return cell if told else None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int):
        return str(cell) if abs(cell) < 10**_DIGITS else _fraction(cell, decimal)
    if isinstance(cell, float):
        return _fraction(cell, decimal)
    if isinstance(cell, dt.timedelta):
        seconds = round(cell.total_seconds())
        minutes = abs(seconds) // 60
        return f"{'-' * (seconds < 0)}{minutes // 60:02}:{minutes % 60:02}:{abs(seconds) % 60:02}"
    return None if cell is None else str(cell)


def or_missing(read: Callable[[], T]) -> T | None:
    """Return what is read of a cell; None where its content makes that fail, however it does.

    >>> or_missing(lambda: int("7")), or_missing(lambda: int("seven"))
    (7, None)
    """
    try:
        return read()
    except Exception:  # noqa: BLE001  # a cell that fails would be told from others
        return None


def read_number(value: str) -> int | float | None:
    """Return a number as it is written, a whole one with all its digits; None if it is none.

    >>> read_number("12345678901234567890"), read_number("2.50"), read_number("two")
    (12345678901234567890, 2.5, None)
    """
    try:
        return int(value) if WHOLE.fullmatch(value) else float(value)
    except ValueError:
        return None


def _is_whole(text: str) -> bool:
    """Whether text holds no half of a surrogate pair."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _fraction(number: float, decimal: str) -> str | None:
    try:
        value = float(number)
    except OverflowError:
        return "-inf" if number < 0 else "inf"
    if math.isnan(value):
        return None
    if math.isfinite(value) and value.is_integer() and abs(value) < 10**_DIGITS:
        return str(int(value))
    return repr(value).replace(".", decimal)
