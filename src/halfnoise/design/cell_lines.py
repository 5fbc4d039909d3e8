"""The errors of noise that was found for values by cell and places, from rows and their scales."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from halfnoise.design.cell_tables import in_layers
from halfnoise.design.cells import Cells
from halfnoise.design.cross_errors import CrossErrors, Matrix
from halfnoise.design.spot_errors import SpotErrors
from halfnoise.design.spot_noises import Noises
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.base import Parts, Scales
from halfnoise.workload.sets.residuals import Axes, cells, distance, place_of, within


def errors(fold: Cells, start: int, scales: Scales) -> CrossErrors:
    """Return the errors of all cells, without those of the totals."""
    if fold.shape.deep:
        return _by_part(fold, start, scales)
    size = len(fold.shape.layers)
    noises: list[dict[Axes, float]] = [{} for _ in range(size)]
    mixed = list[tuple[tuple[Axes, ...], Matrix]]()
    for fit, own in fold.each(scales):
        layers, held = (
            [fold.states.place(layer) for _, layer in fit.kind.own],
            np.zeros((size,) * 2),
        )
        held[np.ix_(layers, layers)] = fit.back
        mixed.append((fit.kind.axes, tuple(map(tuple, held.tolist()))))
        for layer, scale in zip(layers, own, strict=True):
            noises[layer] |= dict.fromkeys(fit.kind.axes, scale**2)
    return CrossErrors(
        start,
        fold.shape.levels,
        tuple(map(tuple, noises)),
        tuple(tuple(noise.values()) for noise in noises),
        tuple(map(tuple, fold.states.held.tolist())),
        tuple(fold.shape.tables),
        tuple(mixed),
    )


def _by_part(fold: Cells, start: int, scales: Scales) -> SpotErrors:
    """Return the same part by part."""
    noises = list[Noises]()
    for fit, own in fold.each(scales):
        at = tuple((q, fold.states.place(layer)) for q, layer in fit.kind.own)
        held = tuple(map(tuple, fit.back.tolist()))
        variances = tuple(scale**2 for scale in own)
        noises.append(Noises(fit.kind.axes, fit.kind.spot, at, variances, held))
    nothing = ((),) * len(fold.shape.layers)
    return SpotErrors(
        start,
        fold.shape.levels,
        nothing,
        nothing,
        tuple(map(tuple, fold.states.held.tolist())),
        tuple(fold.shape.tables),
        children=fold.states.spots.tree.children,
        noises=tuple(noises),
    )


def line_parts(fold: Cells, block: TableBlock, scales: Scales, along: Floats) -> Iterator[Parts]:
    """Go through the lines: the standard error of a cell, on average over all places.

    ``along``: how much of each noise of the totals these hold, people last.
    """
    own, deep = _by_part(fold, 0, scales), fold.shape.deep
    every, unit = own.spots.every, np.eye(len(own.loads))
    totals = in_layers(fold.states, along)
    known, apart = dict[tuple[Any, ...], float](), dict[tuple[Any, ...], float]()
    like = {axes: alike[0] for alike, _ in fold.states.asked for axes in alike}

    def alone(axes: Axes, loads: Floats, t: int) -> float:
        if (key := (*loads.tolist(), t, *axes)) not in apart:
            apart[key] = float(distance(own.levels, axes)) * own.alone(axes, loads, t)
        return apart[key]

    def std(loads: Floats, axes: Axes) -> float:
        place = place_of(axes, deep)
        plain, level = axes[len(place) :], place[0] if place else -1
        if (key := (*loads.tolist(), level, *plain)) not in known:
            total, number = 0.0, cells(own.levels, plain)
            for t in own.spots.under(0, level):
                held = loads @ totals[:, t] / every[t].number / number
                varies = float(held @ held)
                for part in within(plain):
                    others = cells(own.levels, (i for i in plain if i not in part))
                    varies += alone(like[part], loads, t) / others**2
                total += every[t].number * varies
            known[key] = math.sqrt(total / sum(every[t].number for t in own.spots.under(0, level)))
        return known[key]

    for table in block.tables:
        kind = 0 if table.value is None else fold.shape.layer_of(table.value)
        asked = {"sum": np.array(own.loads[kind])}
        if table.value is not None and fold.shape.values[table.value].optional:
            asked |= {"answered": unit[kind + 1], "mean": unit[kind]}
        yield {name: [std(loads, table.axes)] for name, loads in asked.items()}
