"""A plan made ready for data: its chosen design on the grid, and what groups found must reach."""

from dataclasses import replace

from halfnoise.design.grid import on_grid
from halfnoise.design.measurement import OnGrid
from halfnoise.design.threshold import threshold
from halfnoise.noise.law import Noise
from halfnoise.planning.plan import Plan
from halfnoise.planning.spending import Discovery, spendable


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


def discovery_of(found: Plan) -> Discovery | None:
    """Return what a plan asks of groups to be discovered; None where they are listed."""
    if found.workload.grouping is None or not found.workload.grouping.discovers:
        return None
    grid = grid_for(found)
    assert grid.threshold is not None  # noqa: S101
    limit, design = grid.threshold, grid.design
    # Noise is symmetric: as much below as above.
    below = design.noise.margin([design.size_scale or 0.0], 0.9)
    return Discovery(threshold=limit.size, usual=limit.size + below, delta=limit.delta)
