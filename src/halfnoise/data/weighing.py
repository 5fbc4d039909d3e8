"""How often a person counts: weights as whole parts, and what is multiplied with them.

A weight is at most 2^21 parts and a value at most 2^22 quanta and 2^22 parts of one, so that their
products stay below 2^44 and, where rounding down in float64 is exact, 2^53. Sums of 2^40 people
stay below 2^63: what is added up is at most 2^22 quanta and 2^23 parts of one, or 2^21 of a weight.
"""

import narwhals.stable.v2 as nw

from halfnoise.data.cells import Cell
from halfnoise.workload.block import Block
from halfnoise.workload.grid import PART_BITS
from halfnoise.workload.weights import Weighing

WEIGHT = "hn_weight"  # the column that holds it, of a row or, where its rows are one, of a person


def kept(weighing: Weighing) -> list[str]:
    """Return the columns that go with a row: the weight, if there is one.

    Of a person's rows the largest counts, in whatever order they come.
    """
    return [WEIGHT] if weighing.bits else []


def in_parts(cell: Cell, weighing: Weighing) -> nw.Expr:
    """Return the weight that a cell says, clipped, rounded half up; the lowest where it says none.

    What lies beyond the bounds is compared with them, so that no cell can overflow.
    """
    low, high = float(weighing.lightest), float(weighing.heaviest)
    number = cell.number()
    inside = ~number.is_null() & (number > low) & (number < high)
    safe = nw.when(inside).then(number).otherwise(nw.lit(low))
    parts = (safe * float(weighing.parts / weighing.whole) + 0.5).floor().cast(nw.Int64)
    return nw.when(number >= high).then(nw.lit(weighing.high)).otherwise(parts).cast(nw.Int64)


def size(weighing: Weighing) -> nw.Expr:
    """Return what one person adds to the size."""
    return nw.col(WEIGHT) if weighing.bits else nw.lit(1)


def counted(person: nw.Expr, weighing: Weighing) -> nw.Expr:
    """Return what somebody adds who is counted once, or not at all."""
    return person.cast(nw.Int64) * nw.col(WEIGHT) if weighing.bits else person


def whole_item(block: Block) -> nw.Expr:
    """Return what an item counts, in quanta, of a person who does not have too many: M."""
    return nw.col(WEIGHT) if block.weighing.bits else nw.lit(block.quantum.denominator)


def multiplied(whole: nw.Expr, parts: nw.Expr, weighing: Weighing) -> tuple[nw.Expr, nw.Expr]:
    """Return a person's value times their weight: whole quanta and, rounded down, parts of one."""
    if not weighing.bits:
        return whole, parts
    product = whole * nw.col(WEIGHT)
    quanta = _shifted(product, weighing)
    rest = (product - quanta * 2**weighing.bits) * 2**PART_BITS
    return quanta, _shifted(rest + parts * nw.col(WEIGHT), weighing)


def itself(weighing: Weighing) -> nw.Expr:
    """Return a person's weight as a value, which is exact."""
    return nw.col(WEIGHT).cast(nw.Float64) * float(weighing.whole / weighing.parts)


def _shifted(product: nw.Expr, weighing: Weighing) -> nw.Expr:
    """Divide whole numbers below 2^53 by those of a whole weight, rounding down: exact."""
    return (product.cast(nw.Float64) * float(weighing.quantum)).floor().cast(nw.Int64)
