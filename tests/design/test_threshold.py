"""The threshold of discovered groups: p1 for the noise that is drawn, half a step included."""

import math
from fractions import Fraction
from statistics import NormalDist

import pytest

from halfnoise.design.threshold import threshold
from halfnoise.noise.law import Noise

CASES = [(2.0**20, Fraction(1, 2**20)), (3.0, Fraction(1)), (1500.7, Fraction(1, 4))]


def own_key(noise: Noise, scale: float, steps: int) -> float:
    """Return how likely noise of this scale is at least so many steps after rounding."""
    x = (steps - 0.5) / scale
    return math.erfc(x / math.sqrt(2)) / 2 if noise is Noise.GAUSSIAN else math.exp(-x) / 2


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize(("scale", "step"), CASES)
@pytest.mark.parametrize("most", [1, 2, 7])
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-7, 1e-12])
def test_the_lowest_that_is_private(
    noise: Noise, scale: float, step: Fraction, most: int, delta: float
) -> None:
    """At the threshold up to G own keys show with at most delta, and one step lower with more."""
    found = threshold(noise, scale, step, most=most, delta=delta)
    person = int(1 / step)
    shows = [
        -math.expm1(most * math.log1p(-own_key(noise, scale, found.steps - person - lower)))
        for lower in (0, 1)
    ]
    assert found.delta == pytest.approx(shows[0], rel=1e-9)
    assert found.delta <= delta
    assert shows[1] > delta * (1 - 1e-9) or found.steps == person + 1
    assert found.size == found.steps * step


def test_the_half_step_counts() -> None:
    """On a grid of whole people the formula without it is a whole person too low."""
    found = threshold(Noise.GAUSSIAN, 3.0, Fraction(1), most=1, delta=0.05)
    without = math.ceil(1 + 3.0 * NormalDist().inv_cdf(1 - 0.05))
    assert found.steps == without + 1
    assert own_key(Noise.GAUSSIAN, 3.0, without - 1) > 0.05
