import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.centered import Centered
from halfnoise.privacy.definitions import Privacy
from halfnoise.workload.sets.squared import Squared, Squares

BOUNDS = [(0.0, 200_000.0), (-50.0, -40.0), (-1e-9, 3e-9), (0.1, 1e25)]
ADDED = hn.Neighbors.ADD_REMOVE
PRIVACY: list[Privacy] = [hn.GaussianDP(mu=0.3), hn.PureDP(epsilon=2)]


def placed(
    bounds: tuple[float, float], privacy: Privacy, neighbors: hn.Neighbors = ADDED
) -> tuple[Squared, Centered]:
    """Return the set and the design of a mean with its variance, on the grid."""
    queries = [hn.Mean("x", bounds=bounds, variance=True)]
    ready = hn.plan(queries, privacy=privacy, neighbors=neighbors).measurement
    shape, design = ready.blocks[0].shape, ready.design
    assert isinstance(shape, Squared)
    assert isinstance(design, Centered)
    return shape, design


@pytest.mark.parametrize("bounds", BOUNDS)
def test_squares_are_on_a_grid_of_their_own(bounds: tuple[float, float]) -> None:
    """The largest square is at most a quarter of the squared width, and hardly less."""
    shape, _ = placed(bounds, PRIVACY[0])
    quarter = (Fraction(shape.high) - Fraction(shape.low)) ** 2 / 4
    assert quarter * (1 - Fraction(1, 128)) < shape.largest <= quarter


@pytest.mark.parametrize("width", [2**10, 2**10 + 1, 12345, 2**21 - 1, 2**21, 2**22])
def test_no_square_leaves_the_set(width: int) -> None:
    """Rounded down, squares are between none and the most, which both occur; sums have room."""
    for low in (-width // 2, -width, 17):
        grid = Squares.of(low, low + width)
        ends = [(2 * v - 2 * low - width) ** 2 // grid.by for v in (low, low + width)]
        assert ends == [grid.most, grid.most]
        assert (width % 2) ** 2 // grid.by == 0
        assert width / 16 <= grid.most <= width / 4
        assert grid.most < 2**21


@pytest.mark.parametrize("privacy", PRIVACY)
@pytest.mark.parametrize("bounds", BOUNDS[:2])
def test_no_two_people_cost_more(bounds: tuple[float, float], privacy: Privacy) -> None:
    """Where one is replaced by another, no two values, or none, differ by more than is declared.

    It is declared for stairs above what they can: for at most a sixth more.
    """
    shape, design = placed(bounds, privacy, neighbors=hn.Neighbors.REPLACE)
    p = design.noise.p
    (scales,) = design.scales
    low, high = shape.low, shape.high
    middle, half = (low + high) / 2, float(shape.largest) / 2
    people = [(0.0, 0.0, 0.0)]
    for x in np.linspace(low, high, 201):
        square = min((x - middle) ** 2, 2 * half)
        people += [(x - middle, 1.0, square - half)]
    costs = []
    for one, other in itertools.combinations(people, 2):
        away = [abs(a - b) for a, b in zip(one, other, strict=True)]
        costs.append(sum((a / s) ** p for a, s in zip(away, scales, strict=True)))
    most = max(costs) ** (1 / p)
    assert most <= design.loss() * (1 + 1e-9)
    assert most >= design.loss() / 1.17


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("center", [None, Fraction(1, 2)])
def test_changes_are_below_the_stairs(p: int, center: Fraction | None) -> None:
    """However value and square are charged, no two values on the coarsest grid cost more."""
    shape = Squared(-3.0, 5.0).on(Fraction(8, 2**10))
    grid, quantum = Squares.of(-384, 640), 8 / 2**10
    values = np.arange(-384, 641)
    squares = (2 * values - 256) ** 2 // grid.by * (float(shape.largest) / grid.most)
    apart = np.abs(np.subtract.outer(values, values))[values >= 128] + 2  # rounded with a total
    apart = np.minimum(apart, 1024) * quantum
    squares_apart = np.abs(np.subtract.outer(squares, squares))[values >= 128]
    cases = shape.view(center, p).change.near(())
    for rate in 10.0 ** np.linspace(-4, 4, 17):
        most = float((apart**p + rate * squares_apart**p).max())
        declared = max(float(a) + rate * float(c) for a, b, c in cases if not b)
        assert most <= declared <= 1.3 * most


def test_the_set_is_refused_by_cell_and_for_other_words() -> None:
    """A variance is that of a mean of all; what is no yes or no is refused."""
    with pytest.raises(hn.InvalidParameterError, match="not by cell"):
        hn.Mean("x", bounds=(0, 1), by=["sex"], variance=True)
    with pytest.raises(hn.InvalidParameterError, match="True or False"):
        hn.Mean("x", bounds=(0, 1), variance="yes")  # type: ignore[arg-type]


def test_the_mean_has_hardly_more_noise() -> None:
    """The mean pays 4% for its variance with Gaussian noise, 15% with Laplace noise."""
    for privacy, more in ((hn.GaussianDP(mu=1), 1.041), (hn.PureDP(epsilon=1), 1.154)):
        plain, measured = (
            hn.plan([hn.Mean("x", bounds=(0, 9), variance=v)], privacy=privacy).margins[0]
            for v in (False, True)
        )
        assert measured / plain == pytest.approx(more, abs=0.001)
        assert math.isfinite(measured)
