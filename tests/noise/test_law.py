"""How far sums of noises reach: Laplace noises, and a Gaussian one beside them."""

import numpy as np
import pytest
from scipy import integrate, stats

from halfnoise.noise.law import Noise, margin_of


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("b", "g"), [(1, 1), (1, 0.1), (0.1, 1), (3, 0.01), (1, 10), (1e-9, 1)])
def test_a_gaussian_beside_laplace_noise(b: float, g: float, level: float) -> None:
    """The margin leaves out what an integral over both says that it does."""
    margin = margin_of([b], level, normal=g)

    def beyond(z: float) -> float:
        return float(stats.norm.pdf(z, scale=g) * stats.laplace.sf(margin - z, scale=b))

    points = [margin] if margin < 12 * g else None
    tail, _ = integrate.quad(beyond, -12 * g, 12 * g, points=points, limit=500)
    assert 2 * tail == pytest.approx(1 - level, rel=1e-9)


def test_either_noise_alone_is_as_it_was() -> None:
    """Without a Gaussian it is the Laplace noises' margin, without those the Gaussian's."""
    assert margin_of([1.0, 2.0], 0.9) == Noise.LAPLACE.margin([1.0, 2.0], 0.9)
    assert margin_of([], 0.9, normal=3.0) == Noise.GAUSSIAN.margin([3.0], 0.9)
    assert margin_of([0.0], 0.9, normal=0.0) == 0


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("many", "small"), [(1, 0.3), (100, 0.01), (300, 0.01), (1000, 0.003), (10_000, 0.01)]
)
def test_a_large_noise_beside_many_small_ones(many: int, small: float, level: float) -> None:
    """The margin leaves out what their characteristic function says that it does."""
    margin = margin_of([1.0] + [small] * many, level)
    t = np.linspace(1e-9, 400 / max(1.0, small * many**0.5), 2_000_001)
    phi = np.exp(-np.log1p(t**2) - many * np.log1p((small * t) ** 2))
    tail = 0.5 - np.trapezoid(np.sin(t * margin) / t * phi, t) / np.pi
    assert 2 * tail == pytest.approx(1 - level, rel=1e-4)
