"""How often a person counts: weights as whole parts, and what is multiplied with them.

A weight is below 2^21 parts and a value, seen from its middle, at most 2^22 halves of a quantum, so
that products stay below 2^53, where float64 is exact, and sums of 2^40 people below 2^63.
"""

import narwhals.stable.v2 as nw

from halfnoise.data.cells import Cell
from halfnoise.workload.block import Block
from halfnoise.workload.weights import Weighing

WEIGHT = "hn_weight"  # the column that holds it, of a row or, where its rows are one, of a person


def kept(weighing: Weighing) -> list[str]:
    """Return the columns that go with a row: the weight, if there is one."""
    return [WEIGHT] if weighing.bits else []


def together(weighing: Weighing) -> list[nw.Expr]:
    """Return what makes the weights of a person's rows one: the largest, in whatever order."""
    return [nw.col(name).max() for name in kept(weighing)]


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


def multiplied(value: nw.Expr, block: Block) -> nw.Expr:
    """Return a person's value times their weight, rounded half up; from the middle, if so said."""
    weighing = block.weighing
    if not weighing.bits:
        return value
    if block.centred:
        low, high = block.shape.ends(weighing.quantum)
        value = value * 2 - int((low + high) / block.quantum)
    product = (value * nw.col(WEIGHT)).cast(nw.Float64)
    return (product * float(weighing.quantum) + 0.5).floor().cast(nw.Int64)


def itself(block: Block) -> nw.Expr:
    """Return a person's weight as a value, in quanta of the block."""
    weighing = block.weighing
    ratio = float(weighing.quantum * weighing.whole / block.quantum)
    return (nw.col(WEIGHT).cast(nw.Float64) * ratio + 0.5).floor().cast(nw.Int64)
