from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from halfnoise import GaussianDP, plan
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.noise.law import Noise
from halfnoise.workload.sets import AtMost, OneOf
from support.fixed_workloads import KINDS, Floats, every_case, grid_of_kind
from support.measured import grid_for
from support.moments import agree
from support.replay import RELEASES, errors
from support.soak import SOAKS

PEOPLE = 1000
# Enough to see a spread 1.5% short by 11 standard errors, where 6 make an alarm: squares of Laplace
# noise vary more.
DRAWS = {Noise.GAUSSIAN: 280_000, Noise.LAPLACE: 700_000}

LEAST = 10_000  # with fewer, averages are too skewed (support.moments)

Replay = Callable[[CenteredMeasurement, int], Floats]


def rows_of(grid: CenteredMeasurement) -> int:
    """Return how many releases hold enough draws: of noises that add up, all but one count."""
    noises = np.linalg.matrix_rank(grid.design.covariance.dense(), hermitian=True)
    return DRAWS[grid.design.noise] // int(noises)


def as_promised(grid: CenteredMeasurement, found: Floats) -> bool:
    """Whether all estimates err as the design says."""
    return agree(found, grid.design.covariance, grid.design.noise)


def seen(grid: CenteredMeasurement, faulty: Replay) -> bool:
    """Whether the same test rejects releases with a fault."""
    return not as_promised(grid, faulty(grid, rows_of(grid)))


def quiet_root(grid: CenteredMeasurement, rows: int) -> Floats:
    """Forget the noise on the number of people, or on the total."""
    return errors(grid, PEOPLE, rows, root=0)


def centre_off(grid: CenteredMeasurement, rows: int) -> Floats:
    """Come back by a centre that is off by two per cent."""
    first, *others = grid.channels
    assert first.center is not None
    moved = replace(first, center=first.center * Fraction(51, 50))
    return errors(grid, PEOPLE, rows, back=replace(grid, channels=(moved, *others)))


def unprojected(grid: CenteredMeasurement, rows: int) -> Floats:
    """Leave categories as they come, without projecting them onto their sum."""
    blocks = [
        replace(b, shape=AtMost(b.shape.size, 1)) if isinstance(b.shape, OneOf) else b
        for b in grid.channels
    ]
    return errors(grid, PEOPLE, rows, back=replace(grid, channels=tuple(blocks)))


EVERY = list(every_case())
CENTRED = [
    (kind, d, design)
    for kind, d, design in EVERY
    if d in (4, 16) and design in ("correlated-gaussian", "known-size-gaussian")
]
LEANS = [case for case in CENTRED if case[2] == "correlated-gaussian"]
TOGETHER = [case for case in CENTRED if case[0] in ("choice", "choices", "bins")]


@pytest.mark.parametrize(
    ("kind", "d", "design"), [case for case in EVERY if case[1] in (1, 4, 9, 100)]
)
def test_errors_have_the_promised_covariance(kind: str, d: int, design: str) -> None:
    """Estimates and size are right on average and vary together as promised; 1.5% less is seen."""
    grid = grid_of_kind(kind, d, design)
    found = errors(grid, PEOPLE, max(RELEASES if SOAKS else LEAST, rows_of(grid)))
    assert as_promised(grid, found)
    assert not as_promised(grid, 0.985 * found)


@pytest.mark.parametrize(
    ("kind", "d", "known"),
    [("means", 4, False), ("mixture", 4, False), ("at_most", 4, True), ("items", 9, True)],
)
def test_errors_of_what_is_fitted(kind: str, d: int, *, known: bool) -> None:
    """So do those of fitted designs; without the noise of the last row they would not."""
    found = plan(KINDS[kind](d), privacy=GaussianDP(mu=1), known_size=known)
    assert found.chosen.name == "fitted-gaussian"
    grid = grid_for(found)
    rows = max(RELEASES if SOAKS else LEAST, rows_of(grid))
    one = errors(grid, PEOPLE, rows)
    assert as_promised(grid, one)
    assert not as_promised(grid, 0.985 * one)
    assert not as_promised(grid, errors(grid, PEOPLE, rows, root=0))


@pytest.mark.parametrize(("kind", "d", "design"), LEANS)
def test_a_root_without_noise_is_seen(kind: str, d: int, design: str) -> None:
    """The same test rejects a release that shows the true number of people."""
    grid = grid_of_kind(kind, d, design)
    assert seen(grid, quiet_root)


@pytest.mark.parametrize(("kind", "d", "design"), CENTRED)
def test_a_centre_off_is_seen(kind: str, d: int, design: str) -> None:
    """The same test rejects estimates that come back by another centre than they left by."""
    assert seen(grid_of_kind(kind, d, design), centre_off)


@pytest.mark.parametrize(("kind", "d", "design"), TOGETHER)
def test_a_missing_projection_is_seen(kind: str, d: int, design: str) -> None:
    """The same test rejects categories that do not add up to the number of people."""
    assert seen(grid_of_kind(kind, d, design), unprojected)


@pytest.mark.parametrize("d", [2, 9])
def test_a_total_without_noise_is_seen(d: int) -> None:
    """The same test rejects the optimum without size where its total shows."""
    grid = grid_of_kind("counts", d, "optimal-gaussian-without-size")
    assert seen(grid, quiet_root)
    assert seen(grid, unprojected)
