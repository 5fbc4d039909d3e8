"""How the estimates of all groups of one release vary together."""

import numpy as np

from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.design import Measurement


def promised(grid: Measurement, groups: int) -> Covariance:
    """Return how all estimates of all groups, and the number of all people, vary together.

    By the formulas of the theory: one group's own covariance without what groups share, once for
    each group, and the noise of all people, which reaches a group's size by its centre c'. What is
    between any two groups otherwise is added once for all, and taken once from each.
    """
    one = grid.design.covariance
    *others, root = one.shared
    width = one.size
    people = grid.design.people_std
    variances, shared = [], []
    for group in range(groups):
        at = group * width
        variances += [_moved(run, at) for run in one.variances]
        own = [*others, Shared(root.weight - grid.design.common, root.loadings)]
        shared += [Shared(s.weight, tuple(_moved(run, at) for run in s.loadings)) for s in own]
    for term in grid.design.between:
        there = [
            tuple(_moved(run, group * width) for run in term.loadings) for group in range(groups)
        ]
        shared += [Shared(-term.weight, own) for own in there]
        shared.append(Shared(term.weight, tuple(run for own in there for run in own)))
    if people is None:
        return Covariance(groups * width, tuple(variances), tuple(shared))
    lean = np.sqrt(grid.design.common) / people
    runs = [
        Run(run.start + group * width, run.stop + group * width, run.value * lean)
        for group in range(groups)
        for run in root.loadings
    ]
    runs.append(Run(groups * width, groups * width + 1, 1.0))
    shared.append(Shared(people**2, tuple(runs)))
    return Covariance(groups * width + 1, tuple(variances), tuple(shared))


def _moved(run: Run, by: int) -> Run:
    return Run(run.start + by, run.stop + by, run.value)
