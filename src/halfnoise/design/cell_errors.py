"""The errors of tables with values by cell that share noises, residual by residual."""

import math
from collections.abc import Iterator

import numpy as np

from halfnoise.design.cells import Cells
from halfnoise.design.cross_errors import CrossErrors
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.base import Parts, Scales
from halfnoise.workload.sets.residuals import Axes, cells, within


def errors(fold: Cells, start: int, scales: Scales) -> CrossErrors:
    """Return the errors of all cells, without those of the totals."""
    every = range(len(fold.shape.layers))
    noises: list[dict[Axes, float]] = [{} for _ in every]
    mixed = list[tuple[tuple[Axes, ...], Floats]]()
    for fit, own in fold.each(scales):
        layers = [*(1 + k for k in fit.kind.own), 0]
        for layer, scale in zip(layers, own, strict=True):
            noises[layer] |= dict.fromkeys(fit.kind.axes, scale**2)
        held = np.zeros((len(every),) * 2)
        held[np.ix_(layers, layers)] = fit.back(fold.states)
        mixed.append((fit.kind.axes, held))
    return CrossErrors(
        start,
        fold.shape.levels,
        tuple(tuple(noise) for noise in noises),
        tuple(tuple(noise.values()) for noise in noises),
        tuple(map(tuple, fold.held.tolist())),
        tuple(fold.shape.tables),
        tuple((axes, tuple(map(tuple, held.tolist()))) for axes, held in mixed),
    )


def line_parts(fold: Cells, block: TableBlock, scales: Scales, along: Floats) -> Iterator[Parts]:
    """Go through the lines: the scales of the independent noises in a cell.

    ``along``: how much of each noise of the totals the layers hold, people last.
    """
    held, size = dict[Axes, tuple[int, Floats]](), len(fold.shape.layers)
    for number, (fit, own) in enumerate(fold.each(scales)):
        layers = [*(1 + k for k in fit.kind.own), 0]
        spread = math.sqrt(fit.kind.rank / fit.kind.cells)
        wide = np.zeros((size, len(own)))
        wide[layers] = fit.back(fold.states) * np.array(own) * spread
        held |= dict.fromkeys(fit.kind.axes, (number, wide))
    held[()] = (-1, along[[-1, *range(size - 1)]])
    known, unit = dict[object, Parts](), np.eye(size)
    for table in block.tables:
        inner = [*within(table.axes)]
        key = (table.value, *(held[axes][0] for axes in inner), len(table.axes))
        if key not in known:
            number = cells(fold.shape.levels, table.axes)
            each = [held[axes][1] * cells(fold.shape.levels, axes) / number for axes in inner]
            noises = np.concatenate(each, axis=1)
            kind = 0 if table.value is None else fold.shape.layer_of(table.value)
            picked = {"sum": fold.held[kind]}
            if kind in fold.leaning:
                picked |= {"answered": unit[kind + 1], "mean": unit[kind]}
            found = {name: np.abs(own @ noises) for name, own in picked.items()}
            known[key] = {name: x[x > 0].tolist() for name, x in found.items()}
        yield known[key]
