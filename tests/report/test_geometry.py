import math
from typing import TypeAlias

import pytest

from halfnoise.report.geometry import geometry_rows

Points: TypeAlias = list[tuple[float, float]]
Shapes: TypeAlias = dict[tuple[str, str], Points]


@pytest.fixture(scope="module")
def shapes() -> Shapes:
    """Gather the corners of every shape, by panel and shape."""
    found: Shapes = {}
    for row in geometry_rows():
        key = str(row["panel"]), str(row["shape"])
        found.setdefault(key, []).append((float(row["x"]), float(row["y"])))
    return found


def radii(points: Points, center: float = 0.0) -> list[float]:
    """Return the distances from a point on the diagonal."""
    return [math.hypot(x - center, y - center) for x, y in points]


def test_fig_geometric_intuition_circles(shapes: Shapes) -> None:
    """Standard noise is a circle of radius sqrt(2), around the centre one of half of it."""
    for panel in ("replaced", "added or removed"):
        assert radii(shapes[panel, "standard noise"]) == pytest.approx([math.sqrt(2)] * 240)
    around = radii(shapes["centred", "noise around the centre"], 0.5)
    assert around == pytest.approx([math.sqrt(2) / 2] * 240)
    assert all(x == y for x, y in shapes["centred", "shared noise"])
    assert max(radii(shapes["replaced", "people"])) == pytest.approx(math.sqrt(2))


def test_fig_geometric_intuition_ellipses(shapes: Shapes) -> None:
    """The ellipses have the axes of their covariances; both hold all people, the optimum tightly.

    Squared axes of the paper's (cor:covariance-matrix): B/4 across the diagonal and B/4 + A/2
    along it, with A = 1 + sqrt(2) and B = 2 + sqrt(2). Of the optimum: 2/3 and 2.
    """
    A, B = 1 + math.sqrt(2), 2 + math.sqrt(2)
    people = shapes["correlated", "people"]

    def costs(points: Points, along: float, across: float) -> list[float]:
        return [(x + y) ** 2 / 2 / along + (x - y) ** 2 / 2 / across for x, y in points]

    own = (B / 4 + A / 2, B / 4)
    assert costs(shapes["correlated", "correlated noise"], *own) == pytest.approx([1] * 240)
    assert 0.9 < max(costs(people, *own)) < 1
    best = (2.0, 2 / 3)
    assert costs(shapes["correlated", "exact optimum"], *best) == pytest.approx([1] * 240)
    assert max(costs(people, *best)) == pytest.approx(1)
