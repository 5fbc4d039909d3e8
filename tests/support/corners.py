"""The corners of K: everything that one person may add at the extreme, set by set."""

import itertools
from collections.abc import Iterator
from functools import singledispatch

import numpy as np

import halfnoise as hn
from halfnoise.workload.sets import (
    Answered,
    AtMost,
    Box,
    ContributionSet,
    Crossed,
    OneOf,
    Placed,
    Squared,
)
from halfnoise.workload.sets.by_cell import Layer
from halfnoise.workload.sets.residuals import Axes

Corner = tuple[float, ...]
Cell = tuple[int, ...]


def corners(workload: hn.Workload) -> Iterator[Corner]:
    """List the corners of all blocks together, each what one person adds to all sums."""
    for parts in itertools.product(*(list(corners_of(block.shape)) for block in workload.blocks)):
        yield tuple(itertools.chain.from_iterable(parts))


@singledispatch
def corners_of(shape: ContributionSet) -> Iterator[Corner]:
    """List the corners of one set."""
    raise NotImplementedError(type(shape).__name__)


@corners_of.register
def _box(shape: Box) -> Iterator[Corner]:
    """List all combinations of the two ends."""
    return itertools.product((shape.low, shape.high), repeat=shape.size)


@corners_of.register
def _at_most(shape: AtMost) -> Iterator[Corner]:
    """List all rows of zeros and at most ``most`` ones."""
    rows = itertools.product((0.0, 1.0), repeat=shape.size)
    return (row for row in rows if sum(row) <= shape.most)


@corners_of.register
def _one_of(shape: OneOf) -> Iterator[Corner]:
    """List the categories."""
    return (tuple(float(i == chosen) for i in range(shape.size)) for chosen in range(shape.size))


@corners_of.register
def _answered(shape: Answered) -> Iterator[Corner]:
    """List no answer, the lowest and the highest."""
    return iter([(0.0, 0.0), (shape.low, 1.0), (shape.high, 1.0)])


@corners_of.register
def _squared(shape: Squared) -> Iterator[Corner]:
    """List no answer, the lowest, the highest, and the middle."""
    most, middle = float(shape.largest), float(shape.middle)
    return iter([(0, 0, 0), (shape.low, 1, most), (shape.high, 1, most), (middle, 1, 0)])


@corners_of.register
def _crossed(shape: Crossed) -> Iterator[Corner]:
    """List every cell that a person can be in, with the ends of every value, layer by layer."""
    values = shape.values
    ends = [[(v.low, 1.0), (v.high, 1.0), *([(0.0, 0.0)] if v.optional else [])] for v in values]
    for cell, given in itertools.product(_cells(shape), [*itertools.product(*ends)]):
        amounts = {None: 1.0} | {i: pair[0] for i, pair in enumerate(given)}
        row: list[float] = []
        for layer, axes in residuals_of(shape):
            own = np.zeros([shape.levels[axis] for axis in axes])
            amount = amounts[layer.value]
            if layer.answers and layer.value is not None:
                amount = given[layer.value][1]
            own[tuple(cell[axis] for axis in axes)] = amount
            row += own.ravel().tolist()
        yield tuple(row)


def residuals_of(shape: Crossed) -> list[tuple[Layer, Axes]]:
    """List all that is measured, in the order of its scales and of what comes out."""
    return [(layer, axes) for layer in shape.layers for axes in layer.axes]


def _cells(shape: Crossed) -> Iterator[Cell]:
    """List where one person may be, by attribute: in a smallest place and those around it."""
    plain = itertools.product(*map(range, shape.levels[shape.deep :]))
    if not isinstance(shape, Placed):
        return plain
    last = shape.deep - 1
    around = (shape.tree.above(last, level).tolist() for level in range(last + 1))
    places = zip(*around, strict=True)
    return ((*place, *cell) for place, cell in itertools.product(places, [*plain]))
