"""Whole numbers in all engines alike: quotients rounded down, and a number in two pieces."""

import narwhals.stable.v2 as nw


def quotient(total: nw.Expr, by: nw.Expr) -> nw.Expr:
    """Divide nonnegative integers in float64, rounding down: exact for totals below 2^53."""
    # No engine's integer division is the same as another's.
    return (total.cast(nw.Float64) / by.cast(nw.Float64)).floor().cast(nw.Int64)


def apart(place: nw.Expr, bits: int) -> tuple[nw.Expr, nw.Expr]:
    """Return the whole number below a place, and the parts of 2^-bits that it is above that."""
    whole = place.floor()
    return whole, ((place - whole) * 2.0**bits).floor()


def clipped(value: nw.Expr, low: float, high: float) -> nw.Expr:
    """Return a value within bounds; none stays none."""
    raised = nw.when(value < low).then(nw.lit(low)).otherwise(value)
    return nw.when(value > high).then(nw.lit(high)).otherwise(raised)
