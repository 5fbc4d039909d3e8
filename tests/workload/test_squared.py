import math
from fractions import Fraction

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.privacy.definitions import Privacy
from halfnoise.workload.sets import squared
from halfnoise.workload.sets.squared import Squared, Squares

BOUNDS = [(0.0, 200_000.0), (-50.0, -40.0), (-1e-9, 3e-9), (0.1, 1e25)]


def placed(bounds: tuple[float, float], privacy: Privacy) -> Squared:
    """Return the set of a mean with its variance, on the grid."""
    plan = hn.plan([hn.Mean("x", bounds=bounds, variance=True)], privacy=privacy)
    shape = plan.measurement.blocks[0].shape
    assert isinstance(shape, Squared)
    return shape


@pytest.mark.parametrize("bounds", BOUNDS)
def test_squares_are_on_a_grid_of_their_own(bounds: tuple[float, float]) -> None:
    """The largest square is at most a quarter of the squared width, and hardly less."""
    shape = placed(bounds, hn.GaussianDP(mu=0.3))
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


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("changes", [False, True])
def test_corners_hold_the_curve(p: int, *, changes: bool) -> None:
    """However value and square are charged, nobody, and no two, on the coarsest grid cost more.

    They cost hardly more than anybody can.
    """
    shape = Squared(-3.0, 5.0).on(Fraction(8, 2**10))
    grid, quantum = Squares.of(-384, 640), 8 / 2**10
    values = np.arange(-384, 641)
    squares = (2 * values - 256) ** 2 // grid.by * float(shape.step)
    if changes:
        far = np.abs(np.subtract.outer(values, values)) + 1  # rounded with a total
        far = np.minimum(far, 1024)
        square = np.abs(np.subtract.outer(squares, squares))
    else:
        far, square = np.abs(values - 128) + 1, np.abs(squares - float(shape.seen(Fraction(0))))
        far = np.minimum(far, 512)
    view = shape.view(Fraction(1, 2), p)
    cases = [(a, c) for a, b, c in view.change.near(()) if bool(b) != changes and (a or c)]
    for rate in 10.0 ** np.linspace(-4, 4, 33):
        most = float(((far * quantum) ** p + rate * square**p).max())
        declared = max(float(a) + rate * float(c) for a, c in cases)
        assert most <= declared <= 1.06 * most


@pytest.mark.parametrize("p", [1, 2])
def test_corners_are_as_near_as_they_can_be(p: int) -> None:
    """Before values are rounded to a grid, corners are a thousandth farther out than the curve."""
    shape, t = Squared(-1.0, 1.0), np.linspace(0, 1, 2001)
    curves = {
        False: (t**p, abs(t**2 - 27 / 32) ** p),
        True: ((2 * t) ** p, (2 * t * (2 - 2 * t)) ** p),
    }
    for changes, (far, square) in curves.items():
        corners = shape.changing(p) if changes else shape.leaving(p)
        for rate in 10.0 ** np.linspace(-4, 4, 33):
            most = float((far + rate * square).max())
            declared = max(float(a) + rate * float(b) ** p for a, b in corners)
            assert most * (1 - 1e-9) <= declared <= 1.004 * most, (changes, rate)


def test_fewer_tangents_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test rejects points of the curve in the place of where tangents meet."""
    points = [(1 + Fraction(i, 4),) * 2 for i in range(5)]
    monkeypatch.setattr(
        squared, "around_from", lambda first: [(u - 1 + first,) * 2 for u, _ in points]
    )
    with pytest.raises(AssertionError):
        test_corners_are_as_near_as_they_can_be(1)


def test_the_set_is_refused_by_cell_and_for_other_words() -> None:
    """A variance is that of a mean of all; what is no yes or no is refused."""
    with pytest.raises(hn.InvalidParameterError, match="not by cell"):
        hn.Mean("x", bounds=(0, 1), by=["sex"], variance=True)
    with pytest.raises(hn.InvalidParameterError, match="True or False"):
        hn.Mean("x", bounds=(0, 1), variance="yes")  # type: ignore[arg-type]


def test_the_mean_has_hardly_more_noise() -> None:
    """The mean pays nothing for its variance with Gaussian noise, 7% with Laplace noise."""
    for privacy, more in ((hn.GaussianDP(mu=1), 0.987), (hn.PureDP(epsilon=1), 1.067)):
        plain, measured = (
            hn.plan([hn.Mean("x", bounds=(0, 9), variance=v)], privacy=privacy).margins[0]
            for v in (False, True)
        )
        assert measured / plain == pytest.approx(more, abs=0.001)
        assert math.isfinite(measured)
