"""What the worst person costs, by listing every corner: the slow way that designs must agree with.

Two ways, neither of which uses a design's own ``loss`` or its shapes' views: exactly, from the
centres and scales of what is measured; and from the dense covariance of the estimates alone.
"""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from halfnoise import Neighbors, Workload
from halfnoise.design import Design, Noise
from halfnoise.design.centered import Centered
from halfnoise.design.optimal import OptimalWithoutSize
from halfnoise.shapes import Answered
from halfnoise.workload import Block

Matrix = NDArray[np.floating]
Row = tuple[Fraction, ...]
Coefficients = dict[int, Fraction]


def exact_cost(design: Design, workload: Workload) -> Fraction:
    """Return the exact mu^2 (or epsilon, with Laplace noise) of what a design measures."""
    measured = list(measurements(design))
    rows = [
        tuple(_add_up(coefficients, (*corner, 1.0)) for coefficients, _ in measured)
        for corner in workload.corners()
    ]
    scales = [Fraction(scale) for _, scale in measured]
    power = 2 if design.noise is Noise.GAUSSIAN else 1
    return max(
        # No noise at all is allowed only where nothing can change.
        sum(
            (abs(x / s) ** power for x, s in zip(row, cycle(scales), strict=False) if x), Fraction()
        )
        for row in _moves(rows, workload)
    )


def covariance_cost(design: Design, workload: Workload) -> float:
    """Return mu^2 as the largest  x^T Cov^+ x  over all that one person can change."""
    rows = [tuple(map(Fraction, row)) for row in _estimate_rows(design, workload)]
    moves = np.array([[float(x) for x in row] for row in _moves(rows, workload)])
    dense = design.covariance.dense()
    cov: Matrix = np.kron(np.eye(moves.shape[1] // len(dense)), dense)
    # Units differ from query to query; in standard errors the pseudo-inverse is well conditioned.
    unit: Matrix = np.sqrt(np.where(np.diag(cov) > 0, np.diag(cov), 1.0))
    moves = moves / unit
    cov = cov / np.outer(unit, unit)
    inverse: Matrix = np.linalg.pinv(cov, rcond=1e-11, hermitian=True)
    assert np.allclose(moves @ inverse @ cov, moves, atol=1e-6), "a move that no noise covers"
    return float(np.einsum("ij,jk,ik->i", moves, inverse, moves).max())


def measurements(design: Design) -> Iterator[tuple[Coefficients, float]]:
    """List what is measured, as coefficients on the sums and on n (the last), and its scale."""
    n = sum(block.shape.size for block in design.blocks)
    if isinstance(design, OptimalWithoutSize):
        yield from (
            ({j: (i == j) - Fraction(1, n) for j in range(n)}, design.across) for i in range(n)
        )
        yield dict.fromkeys(range(n), Fraction(1)), design.total_scale
        return
    assert isinstance(design, Centered)
    start = 0
    for block, center, scales in zip(design.blocks, design.centers, design.scales, strict=True):
        c = center or Fraction(0)
        if block.kind == "mean":
            # The value leans on the number who answered, that number on the number of people.
            middle = Fraction(0) if center is None else middle_of(block)
            yield {start: Fraction(1), start + 1: -middle}, scales[0]
            yield {start + 1: Fraction(1), n: -c}, scales[1]
        else:
            yield from (({start + i: Fraction(1), n: -c}, scales[0]) for i in range(block.queries))
        start += block.shape.size
    if design.size_scale is not None:
        yield {n: Fraction(1)}, design.size_scale


def middle_of(block: Block) -> Fraction:
    """Return the middle of the range of a mean."""
    assert isinstance(block.shape, Answered)
    return (Fraction(block.shape.low) + Fraction(block.shape.high)) / 2


def _add_up(coefficients: Coefficients, person: tuple[float, ...]) -> Fraction:
    return sum((a * Fraction(person[i]) for i, a in coefficients.items()), Fraction(0))


def _estimate_rows(design: Design, workload: Workload) -> Iterator[tuple[float, ...]]:
    """Return what one person adds to each estimate, the number of people last."""
    for corner in workload.corners():
        row = np.array(corner)
        if design.size_std is not None:
            row = np.append(row, 1.0)
        elif design.name == "known-size-gaussian":
            assert isinstance(design, Centered)
            row -= _given(design)
        yield tuple(row)


def _given(design: Centered) -> Matrix:
    """Return the part of one person that is added back from a known number of people."""
    given: list[float] = []
    for block, center in zip(design.blocks, design.centers, strict=True):
        c = float(center or 0)
        if block.kind == "mean":
            given += [float(middle_of(block)) * c, c]
        else:
            given += [c] * block.shape.size
    return np.array(given)


def _moves(rows: list[Row], workload: Workload) -> Iterator[Row]:
    """List what changes between neighbouring tables; two groups stand for any number."""
    if workload.neighbors is Neighbors.ADD_REMOVE:
        yield from rows
        return
    for one, other in itertools.product(rows, repeat=2):
        stays = tuple(a - b for a, b in zip(one, other, strict=True))
        if workload.grouped:
            yield (*stays, *(Fraction(0) for _ in stays))
            yield (*one, *(-b for b in other))
        else:
            yield stays
