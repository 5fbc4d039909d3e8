"""Expressions that users write: each row must be judged by itself.

Users write them with narwhals, or with one of its stable namespaces, whose expressions are kinds of
narwhals' own. There is no public way to ask what an expression looks at, so its private parts are
walked, and whatever is not known to look at one row alone is refused: an unknown part as well. If
the private parts are not those that were known when this was written, everything is refused.
"""

import datetime as dt
import json
from collections.abc import Iterable
from decimal import Decimal
from enum import Enum
from typing import Any

import narwhals as nw
import numpy as np
from narwhals import Expr
from narwhals.dtypes import DType

from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.workload.queries import Query

_PARTS = {
    *("kind", "name", "exprs", "kwargs", "str_as_lit", "allow_multi_output"),
    *("_is_orderable_cached", "_is_elementwise_cached"),
}
_ALONE = {"COL": "col", "LITERAL": "lit"}  # a column by its place may be another one inside
_COMPARED = "eq ne lt le gt ge and or add sub mul truediv floordiv mod pow"
_STEPS = {
    *(f"__{side}{name}__" for name in _COMPARED.split() for side in ("", "r")),
    *("__invert__", "__neg__", "alias", "cast", "abs", "round", "floor", "ceil", "sqrt", "exp"),
    *("log", "sin", "cos", "clip", "clip_lower", "clip_upper", "fill_null", "fill_nan"),
    *("is_null", "is_nan", "is_finite", "is_in", "is_between", "replace_strict", "coalesce"),
    *("when_then", "_is_close_float_promote", "concat_str", "struct.field"),
    *(f"{fold}_horizontal" for fold in ("all", "any", "sum", "min", "max", "mean")),
    *(f"dt.{part}" for part in ("date", "year", "month", "day", "hour", "minute", "second")),
    *(f"dt.{part}" for part in ("millisecond", "microsecond", "nanosecond")),
    *(f"dt.{part}" for part in ("ordinal_day", "weekday", "timestamp", "truncate", "offset_by")),
    *(f"dt.{part}" for part in ("replace_time_zone", "convert_time_zone", "to_string")),
    *(f"dt.total_{unit}s" for unit in ("minute", "second")),
    *(f"dt.total_{unit}seconds" for unit in ("milli", "micro", "nano")),
    *(f"list.{what}" for what in ("len", "contains", "get", "min", "max", "mean", "sum", "median")),
    *(f"str.{what}" for what in ("len_chars", "replace", "replace_all", "strip_chars", "slice")),
    *(f"str.{what}" for what in ("strip_chars_start", "strip_chars_end", "starts_with")),
    *(f"str.{what}" for what in ("ends_with", "contains", "split", "zfill", "pad_start")),
    *(f"str.{what}" for what in ("pad_end", "to_datetime", "to_date", "to_time")),
    *(f"str.to_{case}case" for case in ("upper", "lower", "title")),
}
# Of exactly these types: what is only derived from one may behave in any way.
_PLAIN = {
    *(bool, int, float, str, bytes, Decimal, type(None), range),
    *(dt.date, dt.datetime, dt.time, dt.timedelta),
}


def expressions(queries: Iterable[Query]) -> dict[int, Expr]:
    """Return the expressions that queries read, by id; one that looks at many rows is refused."""
    found = {}
    for query in queries:
        column = query.column
        if isinstance(column, Expr):
            if not _narwhals_is_known():
                raise InvalidParameterError(
                    f"whether the expression of {query.label!r} looks at one row at a time cannot"
                    " be told with this version of narwhals; name columns, or install narwhals 2.28"
                )
            if not _row_by_row(column):
                raise InvalidParameterError(
                    f"the expression of {query.label!r} looks at more than one row at a time; each"
                    " row must be judged by itself, without mean, rank, shift, over and the like,"
                    " and compared with plain values"
                )
            found[id(column)] = column
    return found


def roots(expression: Expr) -> set[str]:
    """Return the names of the columns that an expression reads."""
    found: set[str] = set()
    for node in _walked(expression):
        if node.kind.name == "COL":
            found.update(node.kwargs["names"])
        if not node.str_as_lit:
            found.update(part for part in node.exprs if isinstance(part, str))
    return found


def written(expression: object) -> Any:
    """Return all that an expression is made of, each part with its type, in kinds of JSON.

    Two of which the same is written are the same; what is not known is refused.

    >>> written(nw.col("a") == 1) == written(nw.col("a") == "1")
    False
    """
    if not isinstance(expression, Expr) or not _row_by_row(expression):
        raise NotSupportedError(
            "a request with such an expression cannot be given a name: it could not be told from"
            " others like it, and a name returns the same result; leave the name out, or compare"
            " columns with plain values"
        )
    return _written(expression)


def _written(part: Any) -> Any:
    kind = part if isinstance(part, type) else type(part)
    typed = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(part, Expr):
        nodes: Any = part._nodes  # noqa: SLF001  # there is no public way
        own = ((n, (n.exprs, n.kwargs, n.str_as_lit, n.allow_multi_output)) for n in nodes)
        return [typed, *([n.kind.name, n.name, *map(_written, parts)] for n, parts in own)]
    if kind in (list, tuple):
        return [typed, *map(_written, part)]
    if kind in (dict, set, frozenset):
        pairs = part.items() if kind is dict else part
        return [typed, *sorted(map(_written, pairs), key=json.dumps)]
    if _is_of_numpy(part):
        return [typed, part.dtype.str, part.tobytes().hex()]
    return [typed, repr(part)]  # a plain value, or a type, which show all that they are


def _walked(expression: Expr) -> Iterable[Any]:
    for node in expression._nodes:  # noqa: SLF001  # there is no public way
        yield node
        for part in (*node.exprs, *node.kwargs.values()):
            if isinstance(part, Expr):
                yield from _walked(part)


def _narwhals_is_known() -> bool:
    """Whether narwhals keeps, of a few expressions, what is known to be in them, and no more."""
    try:
        one, other = nw.col("a"), nw.col("b")
        alone = [one > 1, nw.when(one > other).then(1).otherwise(other), one.str.contains("x")]
        many = [one.max() > 1, one + other.mean(), one.shift(1), one.sum().over("b"), nw.len()]
        return (
            all(map(_row_by_row, alone))
            and not any(map(_row_by_row, many))
            and all(roots(expression) == {"a"} for expression in (alone[0], alone[2], many[0]))
            and roots(alone[1]) == roots(many[1]) == {"a", "b"}
        )
    except Exception:  # noqa: BLE001  # whatever is not as it was known
        return False


def _row_by_row(expression: Expr) -> bool:
    nodes = getattr(expression, "_nodes", None)
    return isinstance(nodes, tuple) and bool(nodes) and all(map(_is_alone, nodes))


def _is_alone(node: object) -> bool:
    """Whether a step of an expression looks at one row, and so do all parts that it is made of."""
    parts = getattr(node, "__dict__", {})
    kind, name = getattr(parts.get("kind"), "name", None), parts.get("name")
    if parts.keys() != _PARTS or not isinstance(parts["kind"], Enum):
        return False
    if not isinstance(parts["kwargs"], dict) or type(parts["exprs"]) not in (tuple, list):
        return False
    if not (name in _STEPS if kind == "ELEMENTWISE" else name == _ALONE.get(str(kind))):
        return False
    # Without a format, engines guess one from the first rows and read all others by it.
    guessed = parts["kwargs"].get("format", "") is None
    return not guessed and _is_known(parts["exprs"]) and _is_known(parts["kwargs"])


def _is_known(part: object) -> bool:
    """Whether a part is a plain value or looks at one row: no column whose cells have an order."""
    if isinstance(part, Expr):
        return _row_by_row(part)
    if type(part) is dict:
        return all(_is_known(each) for pair in part.items() for each in pair)
    if type(part) in (list, tuple, set, frozenset):
        return all(map(_is_known, part))  # type: ignore[call-overload]  # one of these
    return type(part) in _PLAIN or _is_of_numpy(part) or _is_type(part)


def _is_of_numpy(part: object) -> bool:
    return isinstance(part, np.generic) and type(part).__module__ == "numpy"


def _is_type(part: object) -> bool:
    kind = part if isinstance(part, type) else type(part)
    return issubclass(kind, DType) and kind.__module__.startswith("narwhals.")
