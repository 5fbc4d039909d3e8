"""What is true of rows, put together from expressions."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import narwhals.stable.v2 as nw

FEW = 8  # values that are compared one by one; more are looked up


def among(value: nw.Expr, listed: Sequence[Any]) -> nw.Expr:
    """Whether a value is one of a list, which may be empty."""
    if not listed:
        return never(value)
    if len(listed) > FEW:
        return value.is_in(listed)
    return combined(operator.or_, [value == each for each in listed])  # of lists DuckDB makes joins


def never(value: nw.Expr) -> nw.Expr:
    """Return what holds for no row, but has as many rows as a value."""
    return value.is_null() & nw.lit(value=False)


def combined(two: Callable[[nw.Expr, nw.Expr], nw.Expr], expressions: Sequence[nw.Expr]) -> nw.Expr:
    """Combine many expressions pair by pair: engines limit how deep one may be."""
    layer = list(expressions)
    while len(layer) > 1:
        pairs = [two(a, b) for a, b in zip(layer[::2], layer[1::2], strict=False)]
        layer = pairs + layer[len(pairs) * 2 :]
    return layer[0]


def is_true(condition: nw.Expr) -> nw.Expr:
    """Read null as false."""
    return nw.when(condition).then(nw.lit(value=True)).otherwise(nw.lit(value=False))
