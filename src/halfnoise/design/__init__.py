"""Designs: which noise to add to what. Pure; no design ever sees data."""

from collections.abc import Iterator
from functools import partial

from halfnoise.design.centered import best_scales, discovers
from halfnoise.design.centers import (
    gaussian_centers,
    known_size_centers,
    laplace_centers,
    public_size_centers,
)
from halfnoise.design.contract import Design
from halfnoise.design.noise import Noise
from halfnoise.design.optimal import applies, optimal_without_size
from halfnoise.design.two_level import best_two_level
from halfnoise.privacy import Budget, Neighbors
from halfnoise.workload import Workload

__all__ = ["Design", "Noise", "designs"]


def designs(workload: Workload, budget: Budget, *, known_size: bool = False) -> Iterator[Design]:
    """List every design that applies to a workload, each at the whole budget.

    The number of people can be measured, and leaned on, where it is private: when people are added
    or removed, or when they may change group. It is always measured where groups are discovered,
    and nothing depends on how many there are.

    >>> from halfnoise.queries import Counts
    >>> [design.name for design in designs(Workload([Counts(9)]), Budget(mu=1.0))]
    ['standard-gaussian', 'correlated-gaussian', 'optimal-gaussian-without-size']
    """
    blocks, interest, grouping = workload.blocks, workload.size_importance, workload.grouping
    add_remove = workload.neighbors is Neighbors.ADD_REMOVE
    unlisted = discovers(workload)
    leans = workload.touched > 0
    as_they_are = (None,) * len(blocks) if leans else public_size_centers(blocks)
    if budget.mu is not None:
        gaussian = partial(best_scales, workload, noise=Noise.GAUSSIAN, budget=budget.mu)
        yield gaussian(as_they_are, name="standard-gaussian", measure_size=unlisted)
        if leans:
            centers = gaussian_centers(blocks, interest)
            yield gaussian(centers, name="correlated-gaussian", measure_size=True)
        if add_remove and workload.touched > 1 and not unlisted:
            two_level = best_two_level(workload, budget.mu)
            if two_level is not None:
                yield two_level
        if add_remove and known_size and grouping is None:
            centers = known_size_centers(blocks)
            name = "known-size-gaussian"
            yield gaussian(centers, name=name, measure_size=False, size_is_given=True)
        if add_remove and workload.touched == 1 and not unlisted and applies(blocks, interest):
            yield optimal_without_size(blocks[0], budget.mu)
    if budget.epsilon is not None:
        laplace = partial(best_scales, workload, noise=Noise.LAPLACE, budget=budget.epsilon)
        yield laplace(as_they_are, name="standard-laplace", measure_size=unlisted)
        if leans:
            chosen = laplace_centers(blocks, interest)
            yield laplace(chosen, name="correlated-laplace", measure_size=True)
