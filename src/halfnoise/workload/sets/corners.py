"""The corners of tables: every cell that a person can be in, with the ends of every value."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from halfnoise.workload.sets.by_cell import ByCell, Layer
from halfnoise.workload.sets.residuals import Axes, Levels


def corners(
    levels: Levels,
    cells: Iterable[Sequence[int]],
    residuals: Sequence[tuple[Layer, Axes]],
    values: Sequence[ByCell],
) -> Iterator[tuple[float, ...]]:
    """List what one person may add to all tables, layer by layer."""
    ends = [[(v.low, 1.0), (v.high, 1.0), *([(0.0, 0.0)] if v.optional else [])] for v in values]
    for cell, given in itertools.product(cells, [*itertools.product(*ends)]):
        amounts = {None: 1.0} | {i: pair[0] for i, pair in enumerate(given)}
        row: list[float] = []
        for layer, axes in residuals:
            own = np.zeros([levels[axis] for axis in axes])
            amount = amounts[layer.value]
            if layer.answers and layer.value is not None:
                amount = given[layer.value][1]
            own[tuple(cell[axis] for axis in axes)] = amount
            row += own.ravel().tolist()
        yield tuple(row)
