"""Expressions that users write: each row must be judged by itself.

Users write them with narwhals, or with one of its stable namespaces, whose expressions are kinds of
narwhals' own. There is no public way to ask what an expression looks at, so its private parts are
walked, and whatever is not known to look at one row alone is refused: an unknown part as well.
"""

import datetime as dt
from collections.abc import Iterable
from enum import Enum
from numbers import Number

from narwhals import Expr
from narwhals.dtypes import DType

from halfnoise.errors import InvalidParameterError
from halfnoise.workload.queries import Query

_ALONE = ("COL", "NTH", "LITERAL", "ELEMENTWISE", "WHEN_THEN")
_PARTS = {"kind", "name", "exprs", "kwargs"}
_PLAIN = (Number, str, bytes, dt.date, dt.time, dt.timedelta, range, DType, type, Enum, type(None))


def expressions(queries: Iterable[Query]) -> dict[int, Expr]:
    """Return the expressions that queries read, by id; one that looks at many rows is refused."""
    found = {}
    for query in queries:
        column = query.column
        if isinstance(column, Expr):
            if not _row_by_row(column):
                raise InvalidParameterError(
                    f"the expression of {query.label!r} looks at more than one row at a time; each"
                    " row must be judged by itself, without mean, rank, shift, over and the like"
                )
            found[id(column)] = column
    return found


def _row_by_row(expression: Expr) -> bool:
    nodes = getattr(expression, "_nodes", None)
    return isinstance(nodes, tuple) and bool(nodes) and all(map(_is_alone, nodes))


def _is_alone(node: object) -> bool:
    """Whether a step of an expression looks at one row, and so do all parts that it is made of."""
    parts = getattr(node, "__dict__", {})
    kind = getattr(parts.get("kind"), "name", None)
    if not (parts.keys() >= _PARTS and kind in _ALONE and isinstance(parts["kwargs"], dict)):
        return False
    # Without a format, engines guess one from the first rows and read all others by it.
    guessed = parts["kwargs"].get("format", "") is None
    return not guessed and all(map(_is_known, parts.values()))


def _is_known(part: object) -> bool:
    """Whether a part is a plain value or looks at one row: no column whose cells have an order."""
    if isinstance(part, Expr):
        return _row_by_row(part)
    if isinstance(part, dict | list | tuple | set | frozenset):
        return all(map(_is_known, part.values() if isinstance(part, dict) else part))
    return isinstance(part, _PLAIN)
