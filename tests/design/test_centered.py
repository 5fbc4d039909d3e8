import dataclasses
from fractions import Fraction

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.allocation import size_weight
from halfnoise.design.centered import Centered, Size, best_scales
from halfnoise.design.centers import gaussian_centers
from halfnoise.design.design import Setting
from halfnoise.noise.law import Noise
from halfnoise.workload.sets import AtMost
from support.small_workloads import QUERIES, RELATIONS, design_of, designs_of, maker

PRIVACY = hn.ApproxDP(epsilon=1, delta=1e-3)


def shaken(design: Centered, rng: np.random.Generator, spread: float) -> Centered:
    """Return a design with other scales, at the same loss."""
    old = design.loss()
    scales = tuple(
        tuple(s * float(np.exp(spread * rng.normal())) for s in block) for block in design.scales
    )
    size_scale = design.size_scale
    if size_scale is not None:
        size_scale *= float(np.exp(spread * rng.normal()))
    other = dataclasses.replace(design, scales=scales, size_scale=size_scale)
    return other.stretched(other.loss() / old)


@pytest.mark.parametrize("relation", [each for each in RELATIONS if each != "replace in groups"])
@pytest.mark.parametrize("queries", QUERIES)
def test_no_other_scales_are_better(queries: str, relation: str) -> None:
    """For the centres chosen, no other scales of the same loss have less error."""
    workload = maker(queries)(**RELATIONS[relation], size_importance=0.3)
    rng = np.random.default_rng(4)
    for design in designs_of(workload, PRIVACY):
        if isinstance(design, Centered):
            error = design.total_error(workload.size_importance)
            for spread in (0.3, 0.03, 0.003):
                other = shaken(design, rng, spread)
                assert other.total_error(workload.size_importance) >= error * (1 - 1e-11)


@pytest.mark.parametrize("queries", QUERIES)
def test_scales_are_nearly_the_best_where_people_change_group(queries: str) -> None:
    """Where two constraints bind at once the split is simple, and within two per cent."""
    workload = maker(queries)(**RELATIONS["replace in groups"])
    rng = np.random.default_rng(4)
    for design in hn.plan(workload, privacy=PRIVACY).designs:
        assert isinstance(design, Centered)
        # Where nothing leans on the number of people, it is as good as one full-range query.
        weight = size_weight(workload.blocks) if design.name.endswith("with-size") else 0.0
        error = design.total_error(weight)
        for spread in (0.3, 0.1, 0.03) * 4:
            assert shaken(design, rng, spread).total_error(weight) >= error * 0.98


@pytest.mark.parametrize("queries", QUERIES)
@pytest.mark.parametrize("interest", [0.0, 0.3])
def test_no_other_centres_are_better(queries: str, interest: float) -> None:
    """With Gaussian noise no other centres have less error than the ones found."""
    workload = maker(queries)(size_importance=interest)
    centers = gaussian_centers(workload.blocks, interest)
    rng = np.random.default_rng(6)
    setting = Setting(workload=workload, noise=Noise.GAUSSIAN, budget=1.0)

    def error(tried: list[Fraction]) -> float:
        return best_scales(setting, tried, "", Size.LEANED).total_error(interest)

    best = error(list(centers))
    for spread in (0.1, 0.01, 0.001):
        # Categories stay where they are: their centres must sum to one.
        moved = [
            c
            if block.kind in ("choice", "bins")
            else max(Fraction(0), c + Fraction(spread * block.shape.width * float(rng.normal())))
            if c >= 0
            else c + Fraction(spread * block.shape.width * float(rng.normal()))
            for block, c in zip(workload.blocks, centers, strict=True)
        ]
        assert error(moved) >= best * (1 - 1e-8)


@pytest.mark.parametrize(("d", "k"), [(d, k) for d in (1, 2, 5, 12) for k in range(1, d + 1)])
def test_centre_of_at_most_k(d: int, k: int) -> None:
    """The closed form of the centre is where the error, tried on a fine grid, is least."""
    workload = hn.Workload((hn.Items("i", tuple(range(d)), at_most=k),))
    center = AtMost(d, k).lone_center(1.0)

    def error(c: float) -> float:
        farthest = max(k * (1 - c) ** 2 + (d - k) * c**2, d * c**2)
        return float((d * farthest) ** 0.5 + d**0.5 * c)

    assert error(center) <= min(error(c) for c in np.linspace(0, 1, 2001)) + 1e-12
    (found,) = gaussian_centers(workload.blocks, 0.0)
    assert float(found) == pytest.approx(center, abs=1e-9)


def test_at_most_one_is_not_centred() -> None:
    """At most one of several leans on nobody: the centre is exactly zero."""
    assert AtMost(5, 1).lone_center(1.0) == 0
    assert AtMost(1, 1).lone_center(1.0) == 0.5


@pytest.mark.parametrize(("d", "k"), [(2, 1), (5, 2), (8, 4), (5, 3), (6, 6)])
def test_at_most_k_at_known_size(d: int, k: int) -> None:
    """With the size given, each of at most k counts has variance k - k^2/d, from d/2 on d/4."""
    workload = hn.Workload((hn.Counts(d),), at_most=k)
    design = design_of(workload, "known-size-gaussian")
    expected = k - k * k / d if 2 * k <= d else d / 4
    assert design.query_std[0] ** 2 == pytest.approx(expected, rel=1e-12)


def test_alike_is_who_weighs_alike() -> None:
    """Means have one centre if they weigh the same in their units, and each its own if not."""

    def centers(*ranges: tuple[float, float]) -> list[float]:
        means = [hn.Mean(f"m{i}", bounds=bounds) for i, bounds in enumerate(ranges)]
        units = [high - low for low, high in ranges]
        weights = {f"m{i}": w / units[i] ** 2 for i, w in enumerate((1.0, 50.0, 50.0))}
        workload = hn.Workload([*means, hn.Count("a")], importance=weights)
        return [float(c) for c in gaussian_centers(workload.blocks, 0.3)]

    one = centers((0, 1), (0, 1), (0, 1))
    assert one == pytest.approx(centers((0, 3), (-8, 0), (3, 7)), rel=1e-9)
    # What weighs more by nothing that matters is looked for by itself.
    alone = [float(c) for c in _alone((1.0, 50.0, 50.0001))]
    assert one == pytest.approx(alone, rel=1e-5)
    assert one[2] == one[3] != pytest.approx(one[1], rel=1e-2)


def _alone(weights: tuple[float, ...]) -> tuple[Fraction, ...]:
    importance = {f"m{i}": weight for i, weight in enumerate(weights)}
    means = [hn.Mean(name, bounds=(0, 1)) for name in importance]
    workload = hn.Workload([*means, hn.Count("a")], importance=importance)
    return gaussian_centers(workload.blocks, 0.3)
