"""Many counts in batches: an engine takes more than twice as long for twice as many columns."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from halfnoise.workload.block import Block
from halfnoise.workload.totals import Totals

_COLUMNS = 400  # of which plans are made in a moment, and scans are still few


def batched(
    blocks: Sequence[Block], *, apart: bool, most: Callable[[Block], int] = lambda _: 0
) -> list[list[Block]]:
    """Return blocks in batches, counts that do not depend on each other cut in pieces.

    ``apart``: whether the groups are the same in all batches, so that they may be read apart.
    ``most``: how many counts of a block are read at once, by themselves, if more than usual.
    """
    pieces = [piece for block in blocks for piece in _cut(block, max(most(block), _COLUMNS))]
    if not apart or sum(len(piece.asked) for piece in pieces) <= _COLUMNS:
        return [list(blocks)]
    batches: list[list[Block]] = [[]]
    for piece in pieces:
        if batches[-1] and sum(len(each.asked) for each in (*batches[-1], piece)) > _COLUMNS:
            batches.append([])
        batches[-1].append(piece)
    return batches


def joined(
    blocks: Sequence[Block], batches: Sequence[Sequence[Block]], parts: Sequence[Totals]
) -> Totals:
    """Return the totals of all blocks from those of the batches, which are of the same people."""
    first, *others = parts
    if not others:
        return first
    pieces = iter([ring for part in parts for ring in part.sums])
    asked = iter([len(piece.asked) for batch in batches for piece in batch])
    sums = []
    for block in blocks:
        own, left = [], len(block.asked)
        while left > 0:
            own.append(next(pieces))
            left -= next(asked)
        sums.append(np.concatenate(own, axis=1))
    return replace(first, sums=tuple(sums))


def are_many(block: Block) -> bool:
    """Whether a block has more counts than are read at once in columns."""
    return len(block.asked) > _COLUMNS


def _cut(block: Block, most: int) -> list[Block]:
    """Cut counts in pieces, unless a person's answers are weighed by their number; no tables."""
    ones, asked = block.shape.ones, block.asked
    if len(asked) <= most or ones is None or ones < block.shape.size:
        return [block]
    starts = range(0, len(asked), most)
    return [replace(block, asked=asked[start : start + most]) for start in starts]
