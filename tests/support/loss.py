"""What a table costs its neighbour: the exact vectors that enter the noise, compared."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.noise.law import Noise
from halfnoise.workload.totals import Totals
from support.measured import grid_for

ROUNDING = 1 + 1e-9  # of differences in floating point


def exact_totals(
    data: object, grid: CenteredMeasurement, workload: hn.Workload, unit: Sequence[str] = ("id",)
) -> Totals:
    """Return the totals of a table."""
    with open_source(data, text=TextFormat()) as source:
        return prepared(source, workload, grid.blocks, list(unit))()


def entering(exact: Totals, grid: CenteredMeasurement) -> Any:
    """Return what enters the noise of a grid, in scales of that noise."""
    rings = grid.measure(exact)
    in_scales = [
        ring.view(np.int64) / scales for ring, scales in zip(rings, grid.scales, strict=True)
    ]
    return np.concatenate([each.ravel() for each in in_scales])


def loss(one: Any, other: Any, grid: CenteredMeasurement) -> float:
    """Return what a difference costs under the noise that is added."""
    if grid.design.noise is Noise.GAUSSIAN:
        return float(np.sqrt(np.sum((one - other) ** 2)))
    return float(np.sum(np.abs(one - other)))


def declared(grid: CenteredMeasurement) -> float:
    """Return the loss that the design declares."""
    guarantee = grid.design.guarantee
    return guarantee.epsilon if isinstance(guarantee, hn.PureDP) else guarantee.mu


class Scale:
    """A workload with its noise: it weighs two tables, and counts the people of one."""

    def __init__(self, queries: Sequence[Any], privacy: Any = None, **rules: Any) -> None:
        """Plan the release of some queries."""
        self.workload = hn.Workload(queries, **rules)
        self.grid = grid_for(hn.plan(self.workload, privacy=privacy or hn.GaussianDP(mu=1)))

    def totals(self, data: object) -> Totals:
        """Return the exact totals of a table with the unit ``id``, or those that it is given."""
        if isinstance(data, Totals):
            return data
        return exact_totals(data, self.grid, self.workload)

    def people(self, data: object) -> int:
        """Return how many people there are."""
        return int(self.totals(data).everyone[0])

    def excess(self, one: object, other: object) -> float:
        """Return what a neighbour costs, in parts of what is declared: up to one is promised."""
        here, there = (entering(self.totals(data), self.grid) for data in (one, other))
        return loss(here, there, self.grid) / (declared(self.grid) * ROUNDING)
