"""Designs: which noise to add to what. Pure; no design ever sees data."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from halfnoise.design.centered import Center, Centered, best_scales
from halfnoise.design.centers import (
    gaussian_centers,
    known_size_centers,
    laplace_centers,
    public_size_centers,
)
from halfnoise.design.design import Design
from halfnoise.design.optimum import applies, optimal_without_size
from halfnoise.design.two_level import best_two_level
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Budget, Neighbors
from halfnoise.workload.workload import Workload

__all__ = ["Design", "Noise", "designs"]


def designs(workload: Workload, budget: Budget, *, known_size: bool = False) -> Iterator[Design]:
    """List every design that applies to a workload, each at the whole budget.

    The number of people can be measured, and leaned on, where it is private: when people are added
    or removed, or when they may change group. Of a group it can always be measured, and is where
    groups are discovered; then nothing depends on how many there are.

    >>> from halfnoise.workload.numbers import Counts
    >>> [design.name for design in designs(Workload([Counts(9)]), Budget(mu=1.0))]
    ['standard-gaussian', 'correlated-gaussian', 'optimal-gaussian-without-size']
    """
    blocks, interest, grouping = workload.blocks, workload.size_importance, workload.grouping
    add_remove = workload.neighbors is Neighbors.ADD_REMOVE
    unlisted = grouping is not None and grouping.discovers
    leans = workload.touched > 0
    as_they_are = (None,) * len(blocks) if leans else public_size_centers(blocks)
    best = partial(best_scales, workload, always=unlisted)
    if budget.mu is not None:
        gaussian = partial(best, noise=Noise.GAUSSIAN, budget=budget.mu)
        yield gaussian(as_they_are, name="standard-gaussian", measure_size=unlisted)
        if leans:
            centers = gaussian_centers(blocks, interest)
            yield from _leaning(workload, gaussian, centers, Noise.GAUSSIAN)
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
        laplace = partial(best, noise=Noise.LAPLACE, budget=budget.epsilon)
        yield laplace(as_they_are, name="standard-laplace", measure_size=unlisted)
        if leans:
            yield from _leaning(workload, laplace, laplace_centers(blocks, interest), Noise.LAPLACE)


def _leaning(
    workload: Workload, best: Callable[..., Centered], centers: Sequence[Center], noise: Noise
) -> Iterator[Centered]:
    """List the design that leans on the number of people and, for groups, one that gives it.

    Where leaning does not pay, the number of people of a group is one more query.
    """
    design = best(centers, name=f"correlated-{noise.value}", measure_size=True)
    yield design
    if workload.grouped and design.size_scale is None:
        name = f"standard-{noise.value}-with-size"
        yield best(centers, name=name, measure_size=True, always=True)
