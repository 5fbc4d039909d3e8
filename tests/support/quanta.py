"""What people add in quanta, from what they are: values count from a block's offset."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from halfnoise.workload.block import Block


def in_quanta(corner: Sequence[float], block: Block) -> list[int]:
    """Return what a person at a corner adds to a block that is not of tables.

    Bounds that are not on the grid stand for those around them that are.
    """
    if block.kind == "mean":
        value, answered = corner
        return [_whole(value, block) if answered else 0, int(answered)]
    return [_whole(x, block) for x in corner]


def _whole(value: float, block: Block) -> int:
    ends = block.shape.bounds if block.kind in ("sum", "mean") else None
    value = min(ends or [value], key=lambda end: abs(end - value))
    found = (Fraction(value) - block.offset) / block.quantum
    assert found.denominator == 1
    return int(found)


def out_of_quanta(total: Sequence[int], block: Block, people: int) -> list[Fraction]:
    """Return what totals of so many people in quanta stand for."""
    if block.kind == "mean":
        value, answered = total
        return [value * block.quantum + answered * block.offset, Fraction(answered)]
    return [x * block.quantum + people * block.offset for x in total]


def on_curve(block: Block, most: int) -> Iterator[list[int]]:
    """Go through what people add to a value and its square: nothing, or so many values at most.

    A value between two quanta is squared at the lower one, and moves a total by either.
    """
    assert block.shape.bounds is not None
    low, high = (int(Fraction(bound) / block.quantum) for bound in block.shape.bounds)
    middle, width, by = (low + high) // 2, high - low, 4
    start = int(block.offset / block.quantum)
    while by <= 4 * width:
        by *= 2
    yield [0, 0, 0]
    number = min(most, width + 1)
    for place in sorted({low + i * width // (number - 1) for i in range(number)}):
        square = (2 * (place - middle)) ** 2 // by
        for value in {place, min(place + 1, high)}:
            yield [value - start, 1, square]
