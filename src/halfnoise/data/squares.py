"""The squared distance of a person's value from the middle of its range, as a whole number."""

from fractions import Fraction

import narwhals.stable.v2 as nw

from halfnoise.workload.block import Block
from halfnoise.workload.sets.squared import Squares


def square(block: Block, nearest: float, place: nw.Expr, given: nw.Expr) -> nw.Expr:
    """Return it on its grid, rounded down; zero where no value is given.

    ``place``: how many quanta the value is above the point nearest to zero. Below 2^53 all is exact
    in float64, also to divide by a power of two.
    """
    low, high = (int(Fraction(bound) / block.quantum) for bound in block.shape.bounds or ())
    start = Fraction(nearest) / block.quantum - Fraction(low + high, 2)
    away = (place.floor().cast(nw.Int64) + int(start)) * 2
    steps = ((away * away).cast(nw.Float64) / float(Squares.of(low, high).by)).floor()
    return nw.when(given).then(steps.cast(nw.Int64)).otherwise(nw.lit(0))
