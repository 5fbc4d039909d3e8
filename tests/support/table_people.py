"""Everybody whom tables can be about, and what each costs: from what is really measured.

Exact totals of one person are measured as those of a whole table are, and what that moves is taken
in whole steps and divided by the scales of the noise as rational numbers. No formula is used.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import halfnoise as hn
from halfnoise.design.group_measurement import GroupMeasurement
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.workload.block import Block
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Ring
from halfnoise.workload.sets import Squared
from halfnoise.workload.totals import Totals
from support.corners import corners_of
from support.measured import closed
from support.quanta import in_quanta, on_curve

FEW = 9  # values that stand for all of a curve
Matrix = np.ndarray[Any, Any]
Person = Sequence[Sequence[int]]  # what is added to each block, in its quanta


class Costs(NamedTuple):
    """The mu^2 of neighbours, and whether all of them are among these."""

    each: list[Fraction]
    complete: bool


def corners(block: Block) -> Iterator[list[int]]:
    """List what persons at the ends of everything add to a block, in its quanta."""
    if isinstance(block.shape, Squared):
        yield from on_curve(block, FEW)
        return
    if not isinstance(block, TableBlock):
        yield from (in_quanta(corner, block) for corner in corners_of(block.shape))
        return
    levels, values = block.shape.levels, block.shape.values
    # What rounding may make of values at the ends, in a change, is a little more.
    none = (Fraction(0), 0)
    ends = [
        [(v.middle - v.half, 1), (v.middle + v.half, 1), *([none] if v.optional else [])]
        for v in values
    ]
    for cell in cells_of(block):
        for given in itertools.product(*ends):
            row: list[int] = []
            for layer in block.shape.layers:
                amount = 1
                if layer.value is not None:
                    (low, answered), own = given[layer.value], values[layer.value]
                    amount = int((low - own.offset) / own.quantum) if answered else 0
                    amount = answered if layer.answers else amount
                for axes in layer.axes:
                    table = np.zeros([levels[axis] for axis in axes], dtype=object)
                    table[tuple(cell[axis] for axis in axes)] = amount
                    row += table.ravel().tolist()
            yield row


def cells_of(block: TableBlock) -> Iterator[tuple[int, ...]]:
    """List where a person may be: in one category of each, in the places around one place."""
    nested, levels = block.nested, block.shape.levels
    if nested is None:
        yield from itertools.product(*map(range, levels))
        return
    for path in nested.levels[-1].paths:
        around = [level.paths.index(path[: i + 1]) for i, level in enumerate(nested.levels)]
        for cell in itertools.product(*map(range, levels[len(around) :])):
            yield (*around, *cell)


def everybody(
    blocks: tuple[Block, ...], most: int, rng: random.Random
) -> tuple[list[Person], bool]:
    """List people, and whether these are all; so many at random if there are more."""
    each = [list(corners(block)) for block in blocks]
    number = int(np.prod([len(own) for own in each], dtype=object))
    if number <= most:
        return [list(parts) for parts in itertools.product(*each)], True
    return [[rng.choice(own) for own in each] for _ in range(most)], False


def measured(plan: hn.Plan) -> Any:
    """Return what a plan measures; where groups share noise, by a closed form."""
    found = plan.measurement
    return closed(plan).measurement if isinstance(found, GroupMeasurement) else found


def moved(measurement: CenteredMeasurement, rows: Sequence[Person], everyone: int = 1) -> Matrix:
    """Return what persons move, in steps, each row as that of a group of its own.

    Somebody who is all zeros is not there. The number of all people comes last, if it is measured.
    """

    def totals(rows: Sequence[Person], number: int) -> Totals:
        there = np.array([any(map(any, row)) for row in rows], dtype=np.uint64)
        sums = tuple(
            np.array([[x % 2**64 for x in row[i]] for row in rows], dtype=np.uint64)
            for i in range(len(rows[0]))
        )
        return Totals(sums=sums, people=there, everyone=np.array([number], dtype=np.uint64))

    nobody = [[[0] * len(part) for part in rows[0]]] * len(rows)
    with_them = measurement.measure(totals(rows, everyone))
    without = measurement.measure(totals(nobody, 0))
    parts: list[Ring] = [one - other for one, other in zip(with_them, without, strict=True)]
    wide = [np.broadcast_to(part, (len(rows), part.shape[1])) for part in parts]
    return np.concatenate(wide, axis=1).view(np.int64).astype(object)


def squares(rows: Matrix, scales: Matrix) -> list[Fraction]:
    """Return the squared length of each row in scales of the noise, exactly."""
    kinds, place = np.unique(scales, return_inverse=True)
    by_scale = np.zeros((len(rows), len(kinds)), dtype=object)
    for column, kind in enumerate(place.tolist()):
        by_scale[:, kind] += rows[:, column] ** 2
    rates = [1 / Fraction(float(scale)) ** 2 for scale in kinds]
    each = [tuple(row) for row in by_scale.tolist()]
    found = {
        row: sum((x * rate for x, rate in zip(row, rates, strict=True)), Fraction(0))
        for row in set(each)
    }
    return [found[row] for row in each]


def costs(plan: hn.Plan, most: int = 400, seed: int = 1) -> Costs:
    """Return mu^2 of everybody: of coming or going, or of a change, in or out of groups."""
    measurement, workload = measured(plan), plan.workload
    replaced = workload.neighbors is hn.Neighbors.REPLACE
    most = min(most, 120) if replaced else most
    people, complete = everybody(measurement.blocks, most, random.Random(seed))
    if getattr(measurement, "everyone", None) is not None:
        return Costs([*_in_several(plan, people)], complete)
    rows, scales = moved(measurement, people), measurement.scales[0]
    found: list[Fraction] = []
    if workload.touched:  # who changes group leaves one and enters another
        found += [workload.touched * cost for cost in squares(rows, scales)]
    if replaced:
        one, other = np.triu_indices(len(rows), 1)
        found += squares(rows[one] - rows[other], scales)
    return Costs(found, complete)


def _in_several(plan: hn.Plan, people: list[Person]) -> Iterator[Fraction]:
    """Go through what people cost in none, one or several groups, with the same answers in all."""
    measurement, grouping = measured(plan), plan.workload.grouping
    assert grouping is not None
    assert grouping.number is not None
    own, everyone = (np.asarray(scales) for scales in measurement.scales)
    for person in people:
        nobody = [[0] * len(part) for part in person]
        for number in range(grouping.most + 1):
            rows = [person] * number + [nobody] * (grouping.number - number)
            steps = moved(measurement, rows)
            total = sum(squares(steps[:, :-1], own), Fraction(0))
            yield total + squares(steps[:1, -1:], everyone)[0]
