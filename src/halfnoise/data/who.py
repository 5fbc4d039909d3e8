"""Whom a row is about. What tells people apart is never cast, but where nothing can be lost.

A type whose values an engine might take for each other is refused.
"""

import narwhals.stable.v2 as nw

from halfnoise.data.cells import Cell
from halfnoise.errors import InvalidParameterError

_EXACT = (nw.Boolean, nw.Date, nw.Datetime, nw.Binary, nw.Decimal)
_KINDS = "text, whole numbers, decimals, fractions, bytes, days or moments"


def who(cell: Cell) -> nw.Expr:
    """Return who a row is about, where it ``says_who``; null with NaN."""
    key = nw.col(cell.name)
    if cell.dtype.is_float():
        return nw.when(~key.is_nan()).then(key + 0.0)  # -0.0 is 0.0
    if cell.is_text:
        return cell.written.raw
    if cell.dtype.is_integer() or cell.dtype in _EXACT:
        return key
    kind = type(cell.dtype).__name__  # not what is inside, which may be of rows
    why = f"holds {kind}, by which people cannot be told apart; name a column of {_KINDS}"
    raise InvalidParameterError(f"the unit {cell.label!r} {why}")


def says_who(cell: Cell) -> nw.Expr:
    """Whether a cell that holds ``who`` is somebody: not so where it is null, blank or unreadable.

    Rows are left out by this alone: what is made null first is made twice by some engines.
    """
    if not cell.is_text:
        return ~nw.col(cell.name).is_null()
    there = cell.written.is_something()
    return there if cell.nulled else there & cell.written.is_readable()
