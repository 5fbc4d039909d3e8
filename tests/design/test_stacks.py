"""Blocks in stacks: what everybody costs, the average, and what is seen are those of each block."""

import numpy as np
import pytest

from halfnoise.design.programme import Goals, Programme
from halfnoise.design.stacks import Stacks
from halfnoise.workload.grid import Floats

KINDS = 7
SHAPES = [(3,), (2, 3), (1, 1), (3, 3), (2, 3), (1, 1), (3,), (3, 3), (2, 2)]


def any_programme(*, given: bool = False) -> Programme:
    """Return blocks of rows, of several rows and of squares, some of them of one size."""
    rng = np.random.default_rng(5)
    moved = [rng.normal(size=(KINDS, *shape)) for shape in SHAPES]
    moved = [x if not whole(x) else x @ x.mT for x in moved]
    sizes = [shape[-1] - (given and not place) for place, shape in enumerate(SHAPES)]
    roots = [rng.normal(size=(2, n, n)) for n in sizes]
    goals = Goals([x @ x.mT for x in roots], rng.uniform(size=(2, 4)))
    return Programme(
        moved=moved,
        weights=[each.sum(axis=0) for each in goals.weights],
        distances=rng.uniform(size=(KINDS, 4)),
        line_weights=goals.line_weights.sum(axis=0),
        goals=goals,
        given=given,
    )


def whole(moved: Floats) -> bool:
    """Whether P is there itself."""
    return moved.ndim == 3 and moved.shape[1] == moved.shape[2]


def squares(moved: Floats) -> Floats:
    """Return P of everybody."""
    rows = moved[:, None] if moved.ndim == 2 else moved
    return moved if whole(moved) else np.einsum("kri,krj->kij", rows, rows)


@pytest.mark.parametrize("given", [False, True])
def test_stacks_are_their_blocks(*, given: bool) -> None:
    """Each block comes back where it was; alone is only the one of which people are given."""
    programme, rng = any_programme(given=given), np.random.default_rng(6)
    stacks, prices = Stacks.of(programme), rng.uniform(size=KINDS)
    assert len(stacks.every) == (6 if given else 5)
    assert sorted(stacks.sizes) == sorted(map(len, programme.weights))
    matrices = [x @ x.T for x in (rng.normal(size=(s[-1], s[-1])) for s in SHAPES)]
    stacked = [np.stack([matrices[place] for place in each.places]) for each in stacks.every]
    for back, own in zip(stacks.apart(stacked), matrices, strict=True):
        assert np.array_equal(back, own)
    lines = rng.uniform(size=4)
    cost = programme.distances @ lines
    for moved, matrix in zip(programme.moved, matrices, strict=True):
        cost += np.einsum("kij,ij->k", squares(moved), matrix)
    assert stacks.costs(stacked, lines) == pytest.approx(cost)
    chosen = np.array([0, 3, 5])
    assert stacks.chosen(chosen).costs(stacked, lines) == pytest.approx(cost[chosen])
    for stack, views in zip(stacks.every, stacked, strict=True):
        i, j = np.triu_indices(views.shape[1])
        seen = stack.seen(views, i, j)
        for k, place in enumerate(stack.places):
            every = squares(programme.moved[place])
            mean = np.einsum("k,kij->ij", prices, every)
            assert stack.average(prices)[k] == pytest.approx(mean)
            assert stack.last[k] == pytest.approx(every[:, :, -1].T)
            assert stack.weights[k] == pytest.approx(programme.every.weights[place])
            away = views[k] @ every @ views[k].T
            assert seen[k] == pytest.approx(away[:, i, j].T)
