"""The least error of any Gaussian noise, found by a convex solver that knows none of our formulas.

With information matrix M (the inverse of the covariance) a person x costs  x^T M x,  and the error
of an estimate l is  l^T M^-1 l.  So: minimise  sum of l^T M^-1 l  subject to  x^T M x <= 1  for
all corners x. Both are convex in M.
"""

import functools
from collections.abc import Iterable
from itertools import chain
from typing import Any

import cvxpy
import numpy as np
from numpy.typing import NDArray

from halfnoise import Workload
from halfnoise.workload.sets import Answered
from support.brute_force import people
from support.corners import corners
from support.small_workloads import design_of

Vector = NDArray[np.floating]

cp: Any = cvxpy
"""Its own annotations leave out most of what it offers."""


def least_error(people: Iterable[object], estimates: Iterable[object]) -> float:
    """Return the least total variance at mu = 1 of ``estimates``, linear in what ``people`` add.

    Directions in which no person can differ from another need no noise, so the programme lives in
    the space that people span.
    """
    rows, wanted = np.array(list(people)), np.array(list(estimates))
    unit: Vector = np.maximum(abs(rows).max(axis=0), 1e-300)
    rows, wanted = rows / unit, wanted * unit
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    basis = directions[sizes > 1e-9 * sizes[0]]
    rows, wanted = rows @ basis.T, wanted @ basis.T
    rows = np.unique(rows.round(12), axis=0)
    information = cp.Variable((len(basis), len(basis)), PSD=True)
    costs = [cp.quad_form(row, information) <= 1 for row in rows if row.any()]
    programme = cp.Problem(cp.Minimize(cp.matrix_frac(wanted.T, information)), costs)
    return float(programme.solve(solver=cp.CLARABEL))


def least_error_of(workload: Workload) -> float:
    """Return the least error of a workload when the number of people is measured too."""
    people = [(*corner, 1.0) for corner in corners(workload)]
    return least_error(people, _estimates(workload))


def least_error_without_size(workload: Workload) -> float:
    """Return the least error of a workload when the number of people is not measured."""
    return least_error(corners(workload), [row[:-1] for row in _estimates(workload)])


def error_of(workload: Workload, name: str = "correlated-gaussian") -> float:
    """Return the total error of a design at mu = 1, from its covariance."""
    dense = design_of(workload, name).covariance.dense()
    rows = np.array(_estimates(workload))[:, : len(dense)]
    return float(np.einsum("ij,jk,ik->", rows, dense, rows))


def _estimates(workload: Workload) -> list[Vector]:
    """List what the importances weigh, each times the root of its importance; n is last."""
    rows = []
    position = np.eye(workload.size + 1)
    start = 0
    for block in workload.blocks:
        weight = block.importance**0.5
        if isinstance(shape := block.shape, Answered):
            value, answered = position[start], position[start + 1]
            rows.append(weight * (value - (shape.low + shape.high) / 2 * answered))
            rows.append(weight * shape.width * answered)
        else:
            rows += [weight * position[start + i] for i in range(shape.size)]
        start += block.shape.size
    if workload.size_importance:
        rows.append(workload.size_importance**0.5 * position[-1])
    return rows


def least_error_at_known_size(workload: Workload) -> float:
    """Return the least error when the number of people is given, over all centres as well.

    With b = M c a person costs  (x-c)^T M (x-c) = x^T M x - 2 b^T x + b^T M^-1 b.
    """
    rows = np.array(list(corners(workload)))
    wanted = np.array(_estimates(workload))[:, :-1]
    unit: Vector = abs(rows).max(axis=0)
    rows, wanted = rows / unit, wanted * unit
    # People differ from each other only within this space.
    _, sizes, directions = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    basis = directions[sizes > 1e-9 * sizes[0]]
    rows, wanted = (rows - rows.mean(axis=0)) @ basis.T, wanted @ basis.T
    information = cp.Variable((len(basis), len(basis)), PSD=True)
    pull = cp.Variable(len(basis))
    shift = cp.matrix_frac(pull, information)
    costs = [cp.quad_form(row, information) - 2 * pull @ row + shift <= 1 for row in rows]
    programme = cp.Problem(cp.Minimize(cp.matrix_frac(wanted.T, information)), costs)
    return float(programme.solve(solver=cp.CLARABEL))


def least_error_of_change(workload: Workload) -> float:
    """Return the least error when people change their answers, or also their group.

    Every group gets the same noise independently; who changes group costs twice what a person does.
    """
    ends = [np.array(corner) for corner in corners(workload)]
    changes = [one - other for one in ends for other in ends]
    if not workload.grouped:
        return least_error(changes, [row[:-1] for row in _estimates(workload)])
    moved = [2**0.5 * np.append(corner, 1.0) for corner in ends]
    return least_error([*(np.append(x, 0.0) for x in changes), *moved], _estimates(workload))


def least_error_in_groups(workload: Workload) -> float:
    """Return the least error of one group's estimates where a person may be in several.

    Any noise on the sums and sizes of all groups, however correlated, and on the number of all
    people is allowed, and the error is the mean over the groups.
    """
    rows = []
    for person in people(workload):
        own = [(*corner, 1.0) if corner else (0.0,) * (workload.size + 1) for corner in person]
        rows.append([*chain.from_iterable(own), 1.0])
    wanted = np.array(_estimates(workload))
    groups = len(next(people(workload)))
    everywhere = np.kron(np.eye(groups), wanted) / groups**0.5
    return least_error(rows, np.hstack([everywhere, np.zeros((len(everywhere), 1))]))


def least_error_of_two_levels(d: int, groups: int, most: int, center: float) -> float:
    """Return the least error of d counts in one of several groups around a centre of the groups.

    The three inverse variances u, v, w of h, k and n are left to the solver.
    """
    programme, errors, costs = _two_levels()
    errors.value = np.array([d, d / 4, d / 4 * center**2])
    costs.value = np.array([most * d / 4, most * (1 - center) ** 2 + (groups - most) * center**2])
    return float(programme.solve(solver=cp.CLARABEL))


@functools.cache
def _two_levels() -> tuple[cp.Problem, cp.Parameter, cp.Parameter]:
    """Return the programme, prepared once, and what its errors and its costs are multiplied by."""
    u, v, w = cp.Variable(pos=True), cp.Variable(pos=True), cp.Variable(pos=True)
    errors, costs = cp.Parameter(3, nonneg=True), cp.Parameter(2, nonneg=True)
    error = errors @ cp.hstack([cp.inv_pos(u), cp.inv_pos(v), cp.inv_pos(w)])
    spent = costs[0] * u + costs[1] * v + w
    return cp.Problem(cp.Minimize(error), [spent <= 1]), errors, costs
