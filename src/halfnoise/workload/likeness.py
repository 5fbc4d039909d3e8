"""Sums that are alike but for their units: gathered, they have fewer kinds of people together.

A sum of values around m, up to r away, is r times a sum of values around m/r, up to one away. With
the same m/r, and if squared errors weigh as much in units of r, sums may be permuted: noise that is
averaged over that has no more error.
"""

from collections.abc import Sequence
from dataclasses import replace

from halfnoise.workload.block import Block
from halfnoise.workload.sets import Box

DIGITS = 9  # to which they agree


def gathered(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], list[int]]:
    """Return one block in the place of all that are alike, and for each block which that is."""
    like: dict[object, list[Block]] = {}
    for place, block in enumerate(blocks):
        like.setdefault(_key(block) or place, []).append(block)
    found = (_together(alike) if len(alike) > 1 else alike[0] for alike in like.values())
    keys = [*like]
    return (*found,), [keys.index(_key(block) or i) for i, block in enumerate(blocks)]


def _key(block: Block) -> tuple[str, str] | None:
    """Return in what boxes agree that are alike; None for others."""
    if not isinstance(shape := block.shape, Box):
        return None
    half = shape.width / 2
    numbers = (float(shape.midpoint) / half, block.importance * half**2)
    one, other = (f"{x:.{DIGITS}g}" for x in numbers)
    return one, other


def _together(blocks: Sequence[Block]) -> Block:
    first, size = blocks[0], sum(block.shape.size for block in blocks)
    half = first.shape.width / 2
    middle = float(first.shape.midpoint) / half
    shape = Box(size, middle - 1, middle + 1)
    return replace(first, shape=shape, importance=first.importance * half**2)
