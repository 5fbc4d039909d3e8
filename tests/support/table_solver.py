"""The least error of tables under any Gaussian noise, however correlated, by a convex solver."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import halfnoise as hn
from halfnoise.workload.block import Block
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.sets import Answered, Squared
from support.convex import cp, least_error
from support.corners import corners_of

Vector = NDArray[np.floating]
CURVE = 9


def people(workload: hn.Workload) -> list[Vector]:
    """List what everybody adds to all sums, the number of people last; or what changes move."""
    parts = (list(_people_of(block)) for block in workload.blocks)
    rows = [np.array((*itertools.chain(*each), 1.0)) for each in itertools.product(*parts)]
    if workload.neighbors is hn.Neighbors.ADD_REMOVE:
        return rows
    return [one - other for one, other in itertools.permutations(rows, 2)]


def _people_of(block: Block) -> Iterator[tuple[float, ...]]:
    """Go through corners; values with their squares lie on a curve, of which there are points."""
    if not isinstance(shape := block.shape, Squared):
        yield from corners_of(block.shape)
        return
    middle, half = float(shape.middle), shape.width / 2
    yield (0.0, 0.0, 0.0)
    yield from ((middle + half * t, 1.0, (half * t) ** 2) for t in np.linspace(-1, 1, CURVE))


def goals(workload: hn.Workload) -> Iterator[list[Vector]]:
    """Go through the lines: what each weighs, as rows in what people add, each at weight one."""
    unit, start = np.eye(workload.size + 1), 0
    for block in workload.blocks:
        yield from _of_block(block, unit[start : start + block.shape.size])
        start += block.shape.size
    if workload.size_importance:
        yield [unit[-1]]


def _of_block(block: Block, unit: Vector) -> Iterator[list[Vector]]:
    if not isinstance(block, TableBlock):
        if isinstance(shape := block.shape, Squared):
            value, answered, square = unit
            squares = (square - float(shape.largest / 2) * answered) / shape.width
            yield [value - float(shape.middle) * answered, shape.width * answered, squares]
            return
        if isinstance(shape, Answered):
            value, answered = unit
            yield [value - float(shape.middle) * answered, shape.width * answered]
            return
        yield list(unit)
        return
    at, places = 0, dict[tuple[int, tuple[int, ...]], int]()
    for place, layer in enumerate(block.shape.layers):
        for axes in layer.axes:
            places[place, axes] = at
            at += math.prod(block.shape.levels[axis] for axis in axes)
    for table in block.tables:
        kind = 0 if table.value is None else block.shape.layer_of(table.value)
        number = math.prod(block.shape.levels[axis] for axis in table.axes)
        own = unit[places[kind, table.axes] :][:number]
        if table.value is None or not block.shape.values[table.value].optional:
            yield list(own)
            continue
        value = block.shape.values[table.value]
        answered = unit[places[kind + 1, table.axes] :][: len(own)]
        yield [*(own - float(value.middle) * answered), *(float(2 * value.half) * answered)]


def least_total(workload: hn.Workload) -> float:
    """Return the least sum of squared errors at mu = 1, each times its importance."""
    weights = [line.importance for line in workload.lines] + [workload.size_importance]
    wanted = [w**0.5 * row for w, rows in zip(weights, goals(workload)) for row in rows]  # noqa: B905
    return least_error(people(workload), wanted)


def least_largest(workload: hn.Workload) -> float:
    """Return the least of the largest mean squared error of a line at mu = 1."""
    rows, sets = np.array(people(workload)), [np.array(rows) for rows in goals(workload)]
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    basis = directions[sizes > 1e-9 * sizes[0]]
    rows = np.unique((rows @ basis.T).round(12), axis=0)
    information = cp.Variable((len(basis), len(basis)), PSD=True)
    costs = [cp.quad_form(row, information) <= 1 for row in rows if row.any()]
    weights = [line.goal / line.queries for line in workload.lines]
    weights += [workload.size_importance] * (workload.size_importance > 0)
    largest = [
        weight * cp.matrix_frac((own @ basis.T).T, information)
        for weight, own in zip(weights, sets, strict=True)
        if weight
    ]
    programme = cp.Problem(cp.Minimize(cp.maximum(*largest)), costs)
    return float(programme.solve(solver=cp.CLARABEL))
