"""A plan made ready for data: its chosen design on the grid, and what groups found must reach."""

from dataclasses import replace

from halfnoise.design import Noise
from halfnoise.design.grid import on_grid
from halfnoise.design.on_grid import OnGrid
from halfnoise.design.threshold import threshold
from halfnoise.discovery import spendable
from halfnoise.planning import Plan


def grid_for(found: Plan) -> OnGrid:
    """Return the chosen design of a plan on its grid."""
    grouping = found.workload.grouping
    budget, delta = spendable(found.privacy, grouping, found.releases)
    gaussian = found.chosen.noise is Noise.GAUSSIAN
    amount = budget.mu if gaussian else budget.epsilon
    assert amount is not None  # noqa: S101
    grid = on_grid(found.workload, found.chosen, amount)
    if delta is None:
        return grid
    assert grouping is not None  # noqa: S101
    assert grid.root_scale is not None  # noqa: S101
    assert grid.root_step is not None  # noqa: S101
    limit = threshold(
        grid.design.noise, grid.root_scale, grid.root_step, most=grouping.most, delta=delta
    )
    return replace(grid, threshold=limit)
