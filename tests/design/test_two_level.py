import dataclasses
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.candidates import designs
from halfnoise.design.centers import gaussian_centers
from halfnoise.design.design import Setting
from halfnoise.design.two_level import TwoLevel, two_level
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Budget
from halfnoise.workload.sets import AtMost
from support.small_workloads import design_of, designs_of, maker


def best_two_level(workload: hn.Workload) -> TwoLevel | None:
    """Return the two-level design that is offered at mu = 1, if there is one."""
    setting = Setting(workload=workload, noise=Noise.GAUSSIAN, budget=1.0)
    return next(TwoLevel.offers(setting), None)


def counts(d: int, m: int, most: int) -> hn.Workload:
    """Return d counts in each of m groups, of which a person may be in several."""
    return hn.Workload((hn.Counts(d),), groups=m, max_groups=most)


@pytest.mark.parametrize(("m", "most"), [(2, 2), (3, 2), (10, 3), (16, 16), (1000, 30)])
def test_formula_of_two_levels(m: int, most: int) -> None:
    """The scales and the total error are those of the formula for T, with w_n = 0."""
    d, interest = 5, 0.3
    workload = hn.Workload((hn.Counts(d),), groups=m, max_groups=most, size_importance=interest)
    design = best_two_level(workload)
    assert design is not None
    c = float(design.level.center)
    assert c == pytest.approx(AtMost(m, most).lone_center(1.0), rel=2**-10)
    spread = most * (1 - 2 * c) + m * c * c
    weight, distance, lean = d, d / 4, d / 4 + interest
    total = (
        math.sqrt(m * weight * most * distance)
        + math.sqrt(m * lean * spread)
        + math.sqrt(m * lean * c * c)
    )
    expected = {
        design.group.scales[0][0]: total * math.sqrt(most * distance / (m * weight)),
        design.group.size_scale: total * math.sqrt(spread / (m * lean)),
        design.people_std: total / math.sqrt(m * lean * c * c),
    }
    for scale, variance in expected.items():
        assert scale is not None
        assert scale**2 == pytest.approx(variance, rel=1e-12)
    assert m * design.total_error(interest) == pytest.approx(total**2, rel=1e-12)


TWO_LEVELS = ["five counts", "counts at most 1 of 4", "counts at most 2 of 5", "choice", "mixture"]


@pytest.mark.parametrize("queries", TWO_LEVELS)
@pytest.mark.parametrize(("m", "most"), [(2, 2), (3, 2), (9, 4), (9, 9)])
def test_no_other_design_of_two_levels_is_better(queries: str, m: int, most: int) -> None:
    """No other scales and no other centre of the groups have less error at the same loss."""
    interest = 0.3
    workload = maker(queries)(groups=m, max_groups=most, size_importance=interest)
    best = best_two_level(workload)
    assert best is not None
    start = [math.log(s) for block in best.group.scales for s in block]
    start += [math.log(best.group.size_scale or 0), math.log(best.people_std)]

    def error(x: np.ndarray) -> float:
        scales = iter(np.exp(x[:-1]))
        group = dataclasses.replace(
            best.group,
            scales=tuple(tuple(float(next(scales)) for _ in b) for b in best.group.scales),
            size_scale=float(next(scales)),
        )
        center = Fraction(float(np.clip(x[-1], 1e-6, 0.5)))
        people_std = float(next(scales))
        level = dataclasses.replace(best.level, center=center)
        tried = dataclasses.replace(best, group=group, level=level, people_std=people_std)
        return tried.total_error(interest) * tried.loss() ** 2

    at = np.array([*start, float(best.level.center)])
    rng = np.random.default_rng(3)
    for spread in (0.3, 0.03, 0.003):
        for _ in range(10):
            assert error(at + spread * rng.normal(size=len(at))) >= error(at) * (1 - 1e-6)


@pytest.mark.parametrize("queries", TWO_LEVELS)
def test_no_other_centres_of_blocks_are_better(queries: str) -> None:
    """Blocks lean more on sizes that cost less: no other centres have less error."""
    workload = maker(queries)(groups=6, max_groups=5)
    best = best_two_level(workload)
    assert best is not None
    error = best.total_error(0.0)
    scaled = gaussian_centers(workload.blocks, 0.0)
    assert two_level(workload, workload.blocks, scaled, 1.0).total_error(0.0) >= error * (1 - 1e-12)
    for i, block in enumerate(workload.blocks):
        for shift in (-0.03, 0.03) if block.kind not in ("choice", "bins") else ():
            centers = list(best.group.centers)
            moved = centers[i]
            assert moved is not None
            centers[i] = max(Fraction(0), moved + Fraction(shift * block.shape.width))
            assert two_level(workload, workload.blocks, centers, 1.0).total_error(0.0) >= error * (
                1 - 1e-9
            )


@pytest.mark.parametrize("d", [1, 2, 4, 9, 100])
@pytest.mark.parametrize("m", [2, 4, 10, 100])
def test_gain_where_people_are_in_all_groups(d: int, m: int) -> None:
    """For d counts in all of m groups the gain is (1 - 1/sqrt(m))/(2(sqrt(d) + 1))."""
    workload = counts(d, m, m)
    scaled, ours = (
        design_of(workload, name).query_std[0]
        for name in ("correlated-gaussian", "two-level-gaussian")
    )
    gain = (1 - 1 / math.sqrt(m)) / (2 * (math.sqrt(d) + 1))
    assert 1 - ours / scaled == pytest.approx(gain, abs=1e-9)


def test_gains_are_as_stated() -> None:
    """The documentation says how much less error two levels have, for counts and for sizes."""
    page = Path(__file__).parents[2] / "docs" / "theory.md"
    row = r"^\| (\d+) \| (\d+) \| (\d+) \| (.*)% \| (.*)% \|$"
    rows = re.findall(row, page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == 10
    for d, m, most, *stated in rows:
        workload = counts(int(d), int(m), int(most))
        scaled, ours = (
            design_of(workload, name) for name in ("correlated-gaussian", "two-level-gaussian")
        )
        assert scaled.size_std is not None
        assert ours.size_std is not None
        ratios = ours.query_std[0] / scaled.query_std[0], ours.size_std / scaled.size_std
        assert [100 - 100 * ratio for ratio in ratios] == pytest.approx(
            [float(each) for each in stated], abs=0.051
        )


def test_what_groups_share() -> None:
    """The sizes of all groups share the noise of the number of all people, and nothing else."""
    design = design_of(counts(3, 4, 3), "two-level-gaussian")
    assert isinstance(design, TwoLevel)
    assert design.size_std is not None
    c, own = float(design.level.center), design.group.size_scale
    assert own is not None
    assert design.common == pytest.approx((c * design.people_std) ** 2, rel=1e-15)
    assert design.size_std**2 == pytest.approx(own**2 + design.common, rel=1e-15)
    assert design.covariance.shared[-1].weight == pytest.approx(design.size_std**2, rel=1e-15)
    assert design.covariance.variance(3) == pytest.approx(design.size_std**2, rel=1e-15)
    for other in designs_of(counts(3, 4, 3)):
        if other.name != design.name:
            assert (other.common, other.people_std) == (0.0, None)


@pytest.mark.parametrize(("m", "most"), [(2, 2), (3, 2), (100, 2), (10**5, 2), (10**5, 10**4)])
def test_centre_of_groups_is_short(m: int, most: int) -> None:
    """The centre of the groups is a binary number with few places, near the best one."""
    design = best_two_level(counts(3, m, most))
    assert design is not None
    assert 2**22 % design.level.center.denominator == 0
    best = AtMost(m, most).lone_center(1.0)
    assert 0 < design.level.center <= Fraction(1, 2)
    assert float(design.level.center) == pytest.approx(best, rel=2**-10, abs=2**-23)


def test_two_levels_only_where_they_help() -> None:
    """Nothing leans on sizes around zero, and not on people of whom each is in a tiny share."""
    around_zero = hn.Workload((hn.Sum("x", bounds=(-1, 1)),), groups=3, max_groups=2)
    for workload, more in (
        (around_zero, ["standard-gaussian-with-size"]),
        (counts(3, 10**8, 2), []),
    ):
        names = [design.name for design in designs(workload, Budget(mu=1.0))]
        assert names == ["standard-gaussian", "correlated-gaussian", *more]
    wanted = dataclasses.replace(around_zero, size_importance=1.0)
    assert design_of(wanted, "two-level-gaussian").size_std is not None
