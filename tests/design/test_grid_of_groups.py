import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from halfnoise import Items, Workload
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.design.two_level import CENTER_BITS, TwoLevel, two_level
from halfnoise.workload.grid import REACH_BITS, Ring
from halfnoise.workload.totals import Totals
from support.fixed_workloads import KINDS, fixed, grid_of

TWO_LEVELS = [(kind, d) for kind in KINDS for d in (1, 4, 9) if (kind, d) != ("at_most", 1)]
IN_GROUPS = (5, 12_345, 0, 10**9)
EVERYONE = 10**9 + 7


def two_level_grid(
    kind: str, d: int, groups: int = 4, most: int = 3, mu: float = 1.0
) -> CenteredMeasurement:
    """Put the two-level design of a workload in groups on its grid."""
    workload = replace(KINDS[kind](d), groups=groups, max_groups=most)
    return grid_of(workload, "two-level-gaussian", mu=mu)


def in_groups(grid: CenteredMeasurement, *people: int) -> tuple[tuple[Ring, ...], Ring, np.ndarray]:
    """Return the sums and sizes of groups with so many people, and what the sums stand for."""
    found = [fixed(grid, number) for number in people]
    sums = tuple(map(np.concatenate, zip(*(totals.sums for totals, _ in found), strict=True)))
    sizes = np.concatenate([totals.people for totals, _ in found])
    return sums, sizes, np.array([truth[:-1] for _, truth in found])


def ring(*numbers: int) -> Ring:
    """Return integers modulo 2^64."""
    return np.array([number % 2**64 for number in numbers], dtype=np.uint64)


@pytest.mark.parametrize(("kind", "d"), TWO_LEVELS)
def test_without_noise_all_groups_come_back(kind: str, d: int) -> None:
    """Two levels give back the sums of each group, and the sizes and all people exactly."""
    grid = two_level_grid(kind, d)
    sums, sizes, truth = in_groups(grid, *IN_GROUPS)
    back = grid.recover(grid.measure(Totals(sums=sums, people=sizes, everyone=ring(EVERYONE))))
    assert back.estimates == pytest.approx(truth, rel=1e-12, abs=1e-9)
    assert back.sizes is not None
    assert back.sizes.tolist() == list(IN_GROUPS)
    assert back.people == EVERYONE


@pytest.mark.parametrize(("groups", "most"), [(2, 2), (3, 2), (4, 3), (1000, 2), (10**6, 3)])
def test_what_two_levels_measure_is_exact(groups: int, most: int) -> None:
    """Sizes are measured as  n_g - c' n  in steps, as exact fractions say, modulo 2^64."""
    grid = two_level_grid("counts", 4, groups, most)
    design, everyone = grid.design, grid.everyone
    assert isinstance(design, TwoLevel)
    assert everyone is not None
    assert grid.root is not None
    assert everyone.center == design.level.center
    sums, sizes, _ = in_groups(grid, *IN_GROUPS)
    rows, (total,) = grid.measure(Totals(sums=sums, people=sizes, everyone=ring(EVERYONE)))
    expected = [(n - design.level.center * EVERYONE) / grid.root.step for n in IN_GROUPS]
    assert all(x.denominator == 1 for x in expected)
    assert rows[:, -1].tolist() == [int(x) % 2**64 for x in expected]
    assert total.tolist() == [EVERYONE / everyone.step]


@pytest.mark.parametrize(("kind", "d"), TWO_LEVELS)
def test_two_levels_add_up_modulo_2_to_the_64(kind: str, d: int) -> None:
    """However people are split, what is measured adds up, wrapped or not."""
    grid = two_level_grid(kind, d)
    sums, sizes, _ = in_groups(grid, *IN_GROUPS)
    rng = np.random.default_rng(7)
    part = tuple(rng.integers(0, 2**64, x.shape, dtype=np.uint64) for x in sums)
    some, few = (rng.integers(0, 2**64, n, dtype=np.uint64) for n in (len(sizes), 1))
    rest = tuple(x - y for x, y in zip(sums, part, strict=True))
    whole = grid.measure(Totals(sums=sums, people=sizes, everyone=ring(EVERYONE)))
    one = grid.measure(Totals(sums=part, people=some, everyone=few))
    other = grid.measure(Totals(sums=rest, people=sizes - some, everyone=ring(EVERYONE) - few))
    for all_of_it, a, b in zip(whole, one, other, strict=True):
        assert np.array_equal(a + b, all_of_it)


@pytest.mark.parametrize(("groups", "most"), [(2, 2), (7, 3), (10**6, 2)])
def test_scales_of_two_levels(groups: int, most: int) -> None:
    """What is drawn is at least what was proved, for sizes and all people too."""
    for mu in (0.01, 1.0, 30.0):
        grid = two_level_grid("mixture", 4, groups, most, mu)
        design, everyone = grid.design, grid.everyone
        assert isinstance(design, TwoLevel)
        assert everyone is not None
        assert grid.root is not None
        assert mu * (1 - 1e-9) <= design.loss() <= mu
        rows, total = grid.scales
        proved = {
            Fraction(rows[-1]) * grid.root.step: design.group.size_scale,
            Fraction(total[0]) * everyone.step: design.people_std,
            Fraction(rows[0]) * grid.channels[0].steps[0]: design.group.scales[0][0],
        }
        for drawn, scale in proved.items():
            assert scale is not None
            assert Fraction(scale) <= drawn <= Fraction(scale) * (1 + Fraction(1, 2**50))
        assert min(rows.min(), total.min()) >= 2**10
        assert max(rows.max(), total.max()) <= 2**36
        sums, sizes, _ = in_groups(grid, 1, 2)
        measured = grid.measure(Totals(sums=sums, people=sizes, everyone=ring(3)))
        assert [each.shape for each in measured] == [(2, len(rows)), (1, len(total))]


@pytest.mark.parametrize("mu", [0.001, 1.0, 100.0])
def test_two_levels_have_room_for_many_people(mu: float) -> None:
    """Sizes and totals of 2^40 people come back, also of nobody in one of very many groups."""
    assert CENTER_BITS <= REACH_BITS
    people = 2**40
    for groups, most in ((4, 3), (10**6, 2)):
        grid = two_level_grid("counts", 9, groups, most, mu)
        sums, sizes, truth = in_groups(grid, people, 0)
        back = grid.recover(grid.measure(Totals(sums=sums, people=sizes, everyone=ring(people))))
        assert np.allclose(back.estimates, truth, rtol=1e-9, atol=1e-3 * math.sqrt(people))
        assert back.sizes is not None
        assert np.allclose(back.sizes, [people, 0], rtol=1e-9, atol=1)
        assert back.people == people


def test_centres_that_vanish_on_the_grid() -> None:
    """Where the centres are zero on the grid, sizes are measured all the same."""
    workload = Workload([Items("x", tuple(range(9)), at_most=1)], groups=9, max_groups=2)
    centers = (Fraction(0),)
    design = two_level(workload, workload.blocks, centers, 1.0)
    assert design.loss() <= 1
    assert design.group.size_scale is not None
    grid = design.on_grid(workload, 1.0)
    assert grid.design.size_scale == pytest.approx(design.size_scale)
