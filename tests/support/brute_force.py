"""What the worst person costs, by listing every corner: the slow way that designs must agree with.

Two ways, neither of which uses a design's own ``loss`` or its shapes' views: exactly, from the
centres and scales of what is measured; and from the dense covariance of the estimates alone.

Where there are groups every person is listed: in any of the groups that one may be in, at any
corner in each, and outside all of them where people elsewhere are left out.
"""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from halfnoise import Neighbors, Workload
from halfnoise.design.centered import Centered
from halfnoise.design.design import Design
from halfnoise.design.optimum import OptimalWithoutSize
from halfnoise.design.two_level import TwoLevel
from halfnoise.noise.law import Noise
from halfnoise.workload.block import Block
from halfnoise.workload.sets import Answered, Squared
from support.corners import corners

SEEN = Fraction(27, 32)  # of the largest square, from where squares are seen
Matrix = NDArray[np.floating]
Person = tuple[tuple[float, ...] | None, ...]
"""For each group, what somebody adds there; None where they are not in it."""

Row = tuple[Fraction, ...]
Whole = tuple[int, ...]
Coefficients = dict[int, Fraction]


def exact_cost(design: Design, workload: Workload) -> Fraction:
    """Return the exact mu^2 (or epsilon, with Laplace noise) of what a design measures."""
    everyone = [] if design.people_std is None else [(Fraction(1), Fraction(design.people_std))]
    measured = [(coefficients, Fraction(scale)) for coefficients, scale in measurements(design)]

    @cache
    def in_group(corner: tuple[float, ...] | None) -> Row:
        sums = (*corner, 1, 1) if corner else (*[0] * workload.size, 0, 1)
        moved = [(_add_up(coefficients, sums), scale) for coefficients, scale in measured]
        # No noise at all is allowed only where nothing can change.
        return tuple(x / scale if x else Fraction() for x, scale in moved)

    total = tuple(x / scale for x, scale in everyone)
    rows = [(*chain.from_iterable(map(in_group, each)), *total) for each in people(workload)]
    power = 2 if design.noise is Noise.GAUSSIAN else 1
    # Over one denominator everything is a whole number.
    one = math.lcm(*(x.denominator for x in set(chain.from_iterable(rows))))
    whole = [tuple(x.numerator * (one // x.denominator) for x in row) for row in rows]
    most = max(sum(abs(x) ** power for x in row) for row in _moves(whole, workload))
    return Fraction(most, one**power)


def covariance_cost(design: Design, workload: Workload) -> float:
    """Return mu^2 as the largest  x^T Cov^+ x  over all that one person can change."""
    moves = np.array([_estimate_row(design, person) for person in people(workload)])
    if workload.neighbors is not Neighbors.ADD_REMOVE:
        one, other = np.triu_indices(len(moves), 1)
        moves = moves[one] - moves[other]
    cov = joint_covariance(design, len(next(people(workload))))
    # Units differ from query to query; in standard errors the pseudo-inverse is well conditioned.
    unit: Matrix = np.sqrt(np.where(np.diag(cov) > 0, np.diag(cov), 1.0))
    moves = moves / unit
    cov = cov / np.outer(unit, unit)
    inverse: Matrix = np.linalg.pinv(cov, rcond=1e-11, hermitian=True)
    assert np.allclose(moves @ inverse @ cov, moves, atol=1e-6), "a move that no noise covers"
    return float(np.einsum("ij,jk,ik->i", moves, inverse, moves).max())


def joint_covariance(design: Design, groups: int) -> Matrix:
    """Return the covariance of all groups' estimates, the number of all people last."""
    dense = design.covariance.dense()
    if design.people_std is None:
        return np.asarray(np.kron(np.eye(groups), dense))
    # Estimates of a group lean on its size as that leans on the number of all people.
    lean = dense[-1] / dense[-1, -1]
    shared = design.common * np.outer(lean, lean)
    cov = np.kron(np.eye(groups), dense - shared) + np.kron(np.ones((groups, groups)), shared)
    border = design.common**0.5 * design.people_std * np.tile(lean, groups)
    corner = np.array([[design.people_std**2]])
    return np.block([[cov, border[:, None]], [border[None, :], corner]])


def people(workload: Workload) -> Iterator[Person]:
    """List everybody who could be in the table; unlisted groups are one more than one can be in."""
    own = list(corners(workload))
    grouping = workload.grouping
    if grouping is None:
        yield from ((corner,) for corner in own)
        return
    groups = range(grouping.number or grouping.most + 1)
    fewest = 0 if grouping.other is None and not grouping.discovers else 1
    for number in range(fewest, grouping.most + 1):
        for chosen in itertools.combinations(groups, number):
            for there in itertools.product(own, repeat=number):
                at = dict(zip(chosen, there, strict=True))
                yield tuple(at.get(group) for group in groups)


def measurements(design: Design) -> Iterator[tuple[Coefficients, float]]:
    """List what is measured in a group, and its scale.

    Coefficients are on the sums, then on the people in the group, then on all people.
    """
    n = sum(block.shape.size for block in design.blocks)
    if isinstance(design, OptimalWithoutSize):
        yield from (
            ({j: (i == j) - Fraction(1, n) for j in range(n)}, design.across) for i in range(n)
        )
        yield dict.fromkeys(range(n), Fraction(1)), design.total_scale
        return
    if isinstance(design, TwoLevel):
        *others, (size, scale) = measurements(design.group)
        yield from others
        yield size | {n + 1: -design.level.center}, scale
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
            if isinstance(block.shape, Squared):
                seen = Fraction(0) if center is None else SEEN * block.shape.largest
                yield {start + 2: Fraction(1), start + 1: -seen}, scales[2]
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


def _estimate_row(design: Design, person: Person) -> list[float]:
    """Return what somebody adds to each estimate: in each group its size last, then all people."""
    row: list[float] = []
    for corner in person:
        own = np.array(corner or [0.0] * sum(block.shape.size for block in design.blocks))
        if design.size_std is not None:
            own = np.append(own, float(corner is not None))
        elif design.size_is_given:
            assert isinstance(design, Centered)
            own = own - _given(design)
        row += list(own)
    return row if design.people_std is None else [*row, 1.0]


def _given(design: Centered) -> Matrix:
    """Return the part of one person that is added back from a known number of people."""
    given: list[float] = []
    for block, center in zip(design.blocks, design.centers, strict=True):
        c = float(center or 0)
        if block.kind == "mean":
            given += [float(middle_of(block)) * c, c]
            if isinstance(block.shape, Squared):
                given.append(float(SEEN * block.shape.largest) * c)
        else:
            given += [c] * block.shape.size
    return np.array(given)


def _moves(rows: list[Whole], workload: Workload) -> Iterator[Whole]:
    """List what changes between neighbouring tables."""
    if workload.neighbors is Neighbors.ADD_REMOVE:
        yield from rows
        return
    for one, other in itertools.combinations(rows, 2):
        yield tuple(a - b for a, b in zip(one, other, strict=True))
