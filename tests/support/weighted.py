"""People of any weight, as whole numbers in which a design measures them: no rows are read."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.noise.law import Noise
from halfnoise.workload.block import Block
from halfnoise.workload.totals import Totals
from halfnoise.workload.workload import Workload
from support.corners import corners_of

Corner = tuple[tuple[float, ...], ...]  # block by block


@dataclass(frozen=True)
class Person:
    """Somebody at a corner of K, of so many parts of a weight; values are rounded up or down."""

    corner: Corner
    weight: int
    up: bool = False


def people(workload: Workload, grid: CenteredMeasurement) -> Iterator[Person]:
    """List people at all corners of K, of the lowest, the highest and other weights."""
    weighing = grid.blocks[0].weighing
    low, high = weighing.low, weighing.high
    weights = sorted({low, (low + high) // 2, high - 1, high})
    corners = itertools.product(*(list(corners_of(block.shape)) for block in workload.blocks))
    for corner, weight, up in itertools.product(corners, weights, (False, True)):
        yield Person(corner, weight, up)


def adds(block: Block, corner: Sequence[float], person: Person) -> list[int]:
    """Return what somebody adds to the total of a block, where its rounding is as said."""
    part = Fraction(person.weight, 1 << block.weighing.bits)

    def value(x: float) -> int:
        exact = (Fraction(x) - block.offset) / block.quantum * part
        return math.ceil(exact) if person.up else math.floor(exact)

    if block.kind == "sum":
        return [value(x) for x in corner]
    if block.kind == "mean":
        return [value(corner[0]) if corner[1] else 0, int(corner[1]) * person.weight]
    return [int(x) * person.weight for x in corner]


def together(grid: CenteredMeasurement, rows: Iterable[Person], times: int = 1) -> Totals:
    """Return totals in which each row is of one person alone, so many times."""
    found = list(rows)

    def ring(numbers: list[list[int]]) -> np.ndarray:
        return np.array([[x * times % 2**64 for x in row] for row in numbers], dtype=np.uint64)

    sums = tuple(
        ring([adds(block, person.corner[i], person) for person in found])
        for i, block in enumerate(grid.blocks)
    )
    weights = ring([[person.weight] for person in found])[:, 0]
    heads = np.full(len(found), times, dtype=np.uint64)
    everyone = weights[:1]
    return Totals(sums=sums, people=weights, everyone=everyone, heads=heads)


def exact_cost(grid: CenteredMeasurement, rings: Sequence[np.ndarray]) -> Fraction:
    """Return what a move in whole steps costs exactly: mu^2, or epsilon with Laplace noise."""
    p = 2 if grid.design.noise is Noise.GAUSSIAN else 1
    total = Fraction(0)
    for ring, scales in zip(rings, grid.scales, strict=True):
        for row in ring.view(np.int64):
            for x, scale in zip(row.tolist(), scales.tolist(), strict=True):
                total += (abs(x) / Fraction(scale)) ** p
    return total


def worst(grid: CenteredMeasurement, workload: Workload) -> Fraction:
    """Return what the worst person costs, exactly, among all at corners.

    In several groups: the same in each, up to as many as one may be in, and in none.
    """
    everybody = list(people(workload, grid))
    if grid.everyone is not None:
        return max(exact_cost(grid, grid.measure(each)) for each in _in_groups(grid, workload))
    (rows,) = grid.measure(together(grid, everybody))
    (scales,) = grid.scales
    p = 2 if grid.design.noise is Noise.GAUSSIAN else 1
    near = ((np.abs(rows.view(np.int64)) / scales) ** p).sum(axis=1)
    dearest = np.flatnonzero(near >= near.max() * (1 - 1e-9))
    return workload.touched * max(exact_cost(grid, [rows[i : i + 1]]) for i in dearest)


def _in_groups(grid: CenteredMeasurement, workload: Workload) -> Iterator[Totals]:
    grouping = workload.grouping
    assert grouping is not None
    assert grouping.number is not None
    for person in people(workload, grid):
        one = together(grid, [person])
        for most in range(grouping.most + 1):
            there = np.arange(grouping.number) < most

            def rows(ring: np.ndarray, there: np.ndarray = there) -> np.ndarray:
                return np.where(there[:, None], ring, np.uint64(0))

            sums = tuple(rows(each) for each in one.sums)
            sizes = rows(one.people[:, None])[:, 0]
            yield Totals(sums=sums, people=sizes, everyone=one.people)
