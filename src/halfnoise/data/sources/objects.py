"""Cells that may be any object of Python: their text, and whom they name.

No cell changes how another one is read, and a number is the same number in whatever type it comes:
pandas turns whole numbers into fractions where one is missing, and into objects where one is text.
"""

import datetime as dt
import math
import numbers
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from halfnoise.data.spelling import SPACES

_NUMBERS = (int, float, Decimal, numbers.Real)  # the last one is slow to ask for
_DIGITS = 29  # more are read as a fraction
_LARGEST, _SMALLEST = 1e300, 1e-290  # beyond these no text is read as a number
_MOST_DIGITS = 5000


def shown(cell: Any, decimal: str = ".") -> str | None:
    """Return a cell's text, in which a number has the ``decimal`` mark; None where there is none.

    >>> [shown(cell) for cell in (1, 1.0, Decimal("1.00"), np.int64(1), True, "1.0", b"a", None)]
    ['1', '1', '1', '1', 'True', '1.0', 'a', None]
    >>> shown(1.5, ","), shown("1.5", ",")
    ('1,5', '1.5')
    """
    return _total(lambda own: _shown(own, decimal), cell)


def identity(cell: Any) -> str | None:
    """Return what tells a person from all others; None where a cell names nobody.

    Numbers are equal if their values are. Text, bytes, numbers, yes and no, days and moments are
    never equal to each other; any other object names nobody.

    >>> len({identity(cell) for cell in (1, 1.0, -0.0 + 1, Decimal("1.00"), np.float32(1))})
    1
    >>> len({identity(cell) for cell in (1, True, "1", b"1", 1.5, dt.date(1, 1, 1))})
    6
    >>> identity(" "), identity(float("nan")), identity(object())
    (None, None, None)
    """
    return _total(_identity, cell)


def _total(rule: Callable[[Any], str | None], cell: Any) -> str | None:
    try:
        # What is not a number or a time differs from itself; of NA even that cannot be said.
        if cell is None or cell != cell:  # noqa: PLR0124  # as NaN
            return None
        text = rule(cell)
        if text is None or text.isascii():
            return text
        return text.encode().decode()  # half of a surrogate pair is no text
    except (Exception, SystemExit):  # noqa: BLE001  # an object may do anything
        return None


def _shown(cell: Any, decimal: str) -> str | None:
    if isinstance(cell, bytes | bytearray):
        cell = bytes(cell).decode()
    if isinstance(cell, str):
        return str.__str__(cell)  # also where what is derived from text shows itself otherwise
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, _NUMBERS):
        return _spelled(cell).replace(".", decimal)
    if isinstance(cell, dt.datetime) and cell.tzinfo is not None:
        return str(cell.astimezone(dt.UTC))
    return str(cell)


def _spelled(number: Any) -> str:
    """Return a number as text that is read as this number, be its type what it may."""
    if not isinstance(number, int | np.integer):
        fraction = float(number)
        size = abs(fraction)
        if math.isinf(size) and not isinstance(number, Decimal):
            return str(fraction)
        if size > _LARGEST or 0 < size < _SMALLEST:
            return ("-" if fraction < 0 else "") + ("1e308" if size > 1 else "1e-290")
        if number != int(number) or size >= 10**_DIGITS:
            return repr(fraction)
    whole = int(number)
    if abs(whole) < 10**_DIGITS:
        return str(whole)
    return _spelled(float(whole)) if abs(whole) < _LARGEST else f"{'-' * (whole < 0)}1e308"


def _identity(cell: Any) -> str | None:
    if isinstance(cell, str):
        text = str.__str__(cell)
        return f"t{text}" if text.strip(SPACES) else None
    if isinstance(cell, bytes | bytearray):
        return f"x{bytes(cell).hex()}"
    if isinstance(cell, bool | np.bool_):
        return f"b{int(cell)}"
    if isinstance(cell, _NUMBERS):
        return f"n{_exactly(cell)}"
    if isinstance(cell, dt.date | np.datetime64):
        return _when(cell)
    return f"u{cell.hex}" if isinstance(cell, UUID) else None


def _exactly(number: Any) -> str:
    """Return a number's exact value: whole, or in lowest terms."""
    if isinstance(number, int | np.integer):
        return f"{int(number):x}"
    if abs(number) == math.inf:
        return str(float(number))
    if isinstance(number, Decimal) and abs(number.adjusted()) > _MOST_DIGITS:
        raise OverflowError  # it names nobody
    above, below = number.as_integer_ratio()
    return f"{above:x}" if below == 1 else f"{above:x}/{below:x}"


def _when(cell: Any) -> str:
    """Return a day, or a moment: one with a time zone as it is in UTC."""
    import pandas as pd

    moment = pd.Timestamp(cell) if isinstance(cell, np.datetime64) else cell
    if not isinstance(moment, dt.datetime):
        return f"d{moment.isoformat()}"
    if moment.tzinfo is None:
        return f"m{moment.isoformat()}"
    return f"z{moment.astimezone(dt.UTC).isoformat()}"
