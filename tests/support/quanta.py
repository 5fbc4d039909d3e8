"""What people add in quanta, from what they are: values count from a block's offset."""

from collections.abc import Sequence
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
