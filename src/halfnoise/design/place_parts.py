"""Trees of too many kinds of places in parts, each of which bounds the errors in it from below.

Noise that keeps its promise to everybody keeps it to those in some places. What is wanted there has
at least the error that is the least for these people alone; of what is wanted of all people, or of
a place that lies in several parts, each part is charged with a share, as many as smallest places
are in it. Shares add up to one, so that the least errors of all parts add up to a bound.
"""

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from halfnoise.values import replace
from halfnoise.workload.sets.by_cell import Wanted
from halfnoise.workload.sets.placed import Placed
from halfnoise.workload.sets.residuals import inside, place_of
from halfnoise.workload.sets.tree import Tree

MOST_INSIDE = 48  # places with others inside, in a part

Span: TypeAlias = tuple[int, int]  # from, up to: places of one level


def parts(shape: Placed) -> Iterator[tuple[Placed, float]]:
    """Go through the parts, each with its share of what is not by place."""
    tree = shape.tree
    inside = [_under(tree, level, range(level, shape.deep - 1)) for level in range(shape.deep)]
    smallest = [_under(tree, level, [shape.deep - 1]) for level in range(shape.deep)]
    for path, (first, last) in _cut(tree, inside, (), (0, tree.sizes[0])):
        here = smallest[len(path)][first:last].sum()
        whole = [tree.sizes[-1], *(smallest[level][at] for level, at in enumerate(path))]
        shares = [float(here / each) for each in whole]
        yield _part(shape, len(path), (first, last), shares), shares[0]


def average(shape: Placed, together: float) -> float:
    """Return at most what the squares of all that an average person adds weigh.

    ``together``: what the squares of the chances to be in each part add up to.
    """
    found = _squares(shape, shape.wanted, together)
    for value in shape.values:
        far = max(abs(value.low), abs(value.high))
        if value.optional:  # the value from its middle, and who answers, over its whole range
            far = math.sqrt(5) * float(value.half)
        found += far**2 * _squares(shape, value.wanted, together)
    return found


def _squares(shape: Placed, wanted: Sequence[Wanted], together: float) -> float:
    """Add up weights times chances to be in each cell, squared: in all cells of a place alike."""
    found = 0.0
    for axes, weight in wanted:
        place = place_of(axes, shape.deep)
        found += weight * (together if place else 1.0) / inside(shape.levels, axes, shape.deep)
    return found


def _under(tree: Tree, level: int, counted: Sequence[int]) -> np.ndarray:
    """Return how many places of some levels are in each place of one, itself among them."""
    found = np.zeros(tree.sizes[level], dtype=int)
    for each in counted:
        np.add.at(found, tree.above(each, level), 1)
    return found


def _cut(
    tree: Tree, inside: Sequence[np.ndarray], path: tuple[int, ...], span: Span
) -> Iterator[tuple[tuple[int, ...], Span]]:
    """Go through runs of places that are small enough together; ``path``: the places around."""
    level, first = len(path), span[0]
    own, total = inside[level], 0
    for at in range(*span):
        if total + own[at] > MOST_INSIDE and at > first:
            yield path, (first, at)
            first, total = at, 0
        if own[at] > MOST_INSIDE:  # by itself, as the run before it has ended
            start = int(tree.starts[level + 1][at])
            within = (start, start + tree.children[level + 1][at])
            yield from _cut(tree, inside, (*path, at), within)
            first = at + 1
        else:
            total += own[at]
    if first < span[1]:
        yield path, (first, span[1])


def _part(shape: Placed, level: int, span: Span, shares: Sequence[float]) -> Placed:
    """Return the set of people in some places of a level; ``shares``: of what is around them."""
    low, high = span
    children: list[tuple[int, ...]] = [*[(1,)] * level, (high - low,)]
    for each in range(level + 1, shape.deep):
        within = shape.tree.children[each][low:high]
        low = int(shape.tree.starts[each][low])
        high = low + sum(within)
        children.append(within)
    tree = Tree(tuple(children))

    def shared(wanted: Sequence[Wanted]) -> tuple[Wanted, ...]:
        by = (place_of(axes, shape.deep) for axes, _ in wanted)
        own = [(*shares, *[1.0] * shape.deep)[at[0] + 1 if at else 0] for at in by]
        return tuple(Wanted(axes, w * x) for (axes, w), x in zip(wanted, own, strict=True))

    values = tuple(replace(value, wanted=shared(value.wanted)) for value in shape.values)
    levels = (*tree.sizes, *shape.levels[shape.deep :])
    return replace(shape, levels=levels, wanted=shared(shape.wanted), values=values, tree=tree)
