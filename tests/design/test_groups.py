import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

import halfnoise as hn
from brute_force import covariance_cost, exact_cost, people
from halfnoise.design import Design, designs
from halfnoise.design.centered import Centered, best_scales
from halfnoise.design.centers import at_most_center, gaussian_centers
from halfnoise.design.noise import Noise
from halfnoise.design.two_level import TwoLevel, best_two_level, two_level
from halfnoise.privacy import Budget
from workloads import design_of, designs_of, maker

REPLACE = hn.Neighbors.REPLACE
BUDGET = hn.ApproxDP(epsilon=0.7, delta=1e-5)
LISTED = [(1, None), (2, None), (2, "other"), (3, None), (3, "other")]
"""How many groups there are, and the name of all others among them."""


def counts(
    d: int,
    m: int,
    most: int = 1,
    other: str | None = None,
    neighbors: hn.Neighbors = hn.Neighbors.ADD_REMOVE,
) -> hn.Workload:
    """Return d counts in each of m groups, that of all others among them."""
    listed = [f"g{i}" for i in range(m if other is None else m - 1)]
    return hn.Workload(
        (hn.Counts(d),), groups=listed, other=other, max_groups=most, neighbors=neighbors
    )


def costs_its_budget(design: Design, workload: hn.Workload) -> bool:
    """Whether every neighbour, listed, costs what the design says, and the worst its budget."""
    gaussian = design.noise is Noise.GAUSSIAN
    budget, power = (BUDGET.mu, 2) if gaussian else (BUDGET.epsilon, 1)
    loss = design.loss()
    exact = exact_cost(design, workload)
    return (
        budget * (1 - 1e-12) <= loss <= budget
        and Fraction(math.nextafter(loss, 0)) ** power <= exact <= Fraction(loss) ** power
        and (not gaussian or math.isclose(covariance_cost(design, workload), loss**2, rel_tol=1e-8))
    )


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize(("m", "other"), LISTED)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_added_people_cost_the_budget(d: int, m: int, other: str | None, most: int) -> None:
    """Over all people in up to two of three groups, at all corners, the worst costs the budget."""
    workload = counts(d, m, most, other)
    found = designs_of(workload, BUDGET)
    assert ("two-level-gaussian" in {design.name for design in found}) == (1 < most <= m)
    for design in found:
        assert costs_its_budget(design, workload)


@pytest.mark.parametrize(("m", "other"), LISTED)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_replaced_people_cost_the_budget(d: int, m: int, other: str | None) -> None:
    """The same over all pairs of people of whom one takes the other's place."""
    workload = counts(d, m, 1, other, REPLACE)
    for design in designs_of(workload, BUDGET):
        assert costs_its_budget(design, workload)


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("queries", ["five counts", "counts at most 1 of 4", "mean", "one sum"])
def test_unlisted_groups_cost_the_budget(queries: str, most: int) -> None:
    """So do all designs for groups that are not listed, which all measure the sizes of groups."""
    rules = [{"max_groups": most}] + ([{"neighbors": REPLACE}] if most == 1 else [])
    for rule in rules:
        workload = maker(queries)(by="g", groups="discover", **rule)  # type: ignore[arg-type]
        found = designs_of(workload, BUDGET)
        assert [design.name for design in found] == [
            f"{kind}-{noise}"
            for noise in ("gaussian", "laplace")
            for kind in ("standard", "correlated")
        ]
        for design in found:
            assert design.size_scale is not None
            assert costs_its_budget(design, workload)


def test_everybody_is_listed() -> None:
    """People are in up to two groups at any corner, and in none only where others are left out."""
    assert len(list(people(counts(2, 3, 2)))) == 1 + 3 * 4 + 3 * 16
    assert len(list(people(counts(2, 3, 2, "other")))) == 3 * 4 + 3 * 16
    assert len(list(people(counts(2, 3)))) == 1 + 3 * 4


def two_level_of(workload: hn.Workload) -> TwoLevel:
    """Return the two-level design at the budget of these tests."""
    design = design_of(workload, "two-level-gaussian", BUDGET)
    assert isinstance(design, TwoLevel)
    return design


def test_wrong_losses_are_found() -> None:
    """A design that forgets a group, a part of A or the centre does not pass."""
    workload = counts(2, 3, 2)
    design = two_level_of(workload)
    assert costs_its_budget(design, workload)
    wrong = [
        dataclasses.replace(design, most=1),
        dataclasses.replace(design, groups=2),
        dataclasses.replace(design, center=design.center / 2),
        dataclasses.replace(design, people_scale=design.people_scale * (1 - 1e-12)),
        dataclasses.replace(design, people_scale=2 * design.people_scale),
        dataclasses.replace(design, group=design.group.stretched(1 - 1e-12)),
    ]
    for each in wrong:
        assert not costs_its_budget(each, workload)
    for name in ("standard-gaussian", "correlated-gaussian", "correlated-laplace"):
        scaled = design_of(workload, name, BUDGET)
        assert isinstance(scaled, Centered)
        assert costs_its_budget(scaled, workload)
        assert not costs_its_budget(dataclasses.replace(scaled, touched=1), workload)
        assert not costs_its_budget(design_of(counts(2, 3), name, BUDGET), workload)


def test_wrong_losses_of_replacement_are_found() -> None:
    """Who forgets that a person leaves one group and enters another does not pass."""
    for m, right in ((3, 2), (1, 1)):
        workload = counts(3, m, neighbors=REPLACE)
        design = design_of(workload, "correlated-gaussian", BUDGET)
        assert isinstance(design, Centered)
        assert (design.touched, costs_its_budget(design, workload)) == (right, True)
        assert design.size_scale is not None
        less = dataclasses.replace(design, size_scale=design.size_scale * 0.999)
        for wrong in (less, dataclasses.replace(less, touched=right - 1)):
            assert not costs_its_budget(wrong, workload)


@pytest.mark.parametrize("most", [2, 3, 7])
def test_several_groups_scale_the_noise(most: int) -> None:
    """Noise for G groups is sqrt(G) times that for one, Laplace noise G times."""
    for design in designs_of(counts(4, 10, most), BUDGET):
        if design.name != "two-level-gaussian":
            alone = design_of(counts(4, 10), design.name, BUDGET)
            factor = most if design.noise is Noise.LAPLACE else math.sqrt(most)
            assert design.query_std[0] == pytest.approx(factor * alone.query_std[0], rel=1e-12)


@pytest.mark.parametrize(("m", "most"), [(2, 2), (3, 2), (10, 3), (16, 16), (1000, 30)])
def test_formula_of_two_levels(m: int, most: int) -> None:
    """The scales and the total error are those of the formula for T, with w_n = 0."""
    d, interest = 5, 0.3
    workload = hn.Workload((hn.Counts(d),), groups=m, max_groups=most, size_importance=interest)
    design = best_two_level(workload, 1.0)
    assert design is not None
    c = float(design.center)
    assert c == pytest.approx(at_most_center(m, most), rel=2**-10)
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
        design.people_scale: total / math.sqrt(m * lean * c * c),
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
    best = best_two_level(workload, 1.0)
    assert best is not None
    start = [math.log(s) for block in best.group.scales for s in block]
    start += [math.log(best.group.size_scale or 0), math.log(best.people_scale)]

    def error(x: np.ndarray) -> float:
        scales = iter(np.exp(x[:-1]))
        group = dataclasses.replace(
            best.group,
            scales=tuple(tuple(float(next(scales)) for _ in b) for b in best.group.scales),
            size_scale=float(next(scales)),
        )
        center = Fraction(float(np.clip(x[-1], 1e-6, 0.5)))
        people_scale = float(next(scales))
        tried = dataclasses.replace(best, group=group, center=center, people_scale=people_scale)
        return tried.total_error(interest) * tried.loss() ** 2

    at = np.array([*start, float(best.center)])
    rng = np.random.default_rng(3)
    for spread in (0.3, 0.03, 0.003):
        for _ in range(10):
            assert error(at + spread * rng.normal(size=len(at))) >= error(at) * (1 - 1e-6)


@pytest.mark.parametrize("queries", TWO_LEVELS)
def test_no_other_centres_of_blocks_are_better(queries: str) -> None:
    """Blocks lean more on sizes that cost less: no other centres have less error."""
    workload = maker(queries)(groups=6, max_groups=5)
    best = best_two_level(workload, 1.0)
    assert best is not None
    error = best.total_error(0.0)
    scaled = gaussian_centers(workload.blocks, 0.0)
    assert two_level(workload, scaled, 1.0).total_error(0.0) >= error * (1 - 1e-12)
    for i, block in enumerate(workload.blocks):
        for shift in (-0.03, 0.03) if block.kind not in ("choice", "bins") else ():
            centers = list(best.group.centers)
            moved = centers[i]
            assert moved is not None
            centers[i] = max(Fraction(0), moved + Fraction(shift * block.shape.width))
            assert two_level(workload, centers, 1.0).total_error(0.0) >= error * (1 - 1e-9)


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


def test_what_groups_share() -> None:
    """The sizes of all groups share the noise of the number of all people, and nothing else."""
    design = two_level_of(counts(3, 4, 3))
    assert design.size_std is not None
    c, own = float(design.center), design.group.size_scale
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
    design = best_two_level(hn.Workload((hn.Counts(3),), groups=m, max_groups=most), 1.0)
    assert design is not None
    assert 2**22 % design.center.denominator == 0
    best = at_most_center(m, most)
    assert 0 < design.center <= Fraction(1, 2)
    assert float(design.center) == pytest.approx(best, rel=2**-10, abs=2**-23)


def test_two_levels_only_where_they_help() -> None:
    """Nothing leans on sizes around zero, and not on people of whom each is in a tiny share."""
    around_zero = hn.Workload((hn.Sum("x", bounds=(-1, 1)),), groups=3, max_groups=2)
    tiny = hn.Workload((hn.Counts(3),), groups=10**8, max_groups=2)
    for workload in (around_zero, tiny):
        names = [design.name for design in designs(workload, Budget(mu=1.0))]
        assert names == ["standard-gaussian", "correlated-gaussian"]
    wanted = dataclasses.replace(around_zero, size_importance=1.0)
    assert design_of(wanted, "two-level-gaussian").size_std is not None


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_importance_is_relative_where_sizes_are_measured_anyway(factor: float) -> None:
    """Unlisted groups whose sizes nothing leans on get sizes as good as a query."""
    query = hn.Items("i", ("a", "b", "c"), at_most=1)
    workload = hn.Workload((query,), by="g", groups="discover", importance={"i": factor})
    design = design_of(workload)
    assert design.size_std == pytest.approx(math.sqrt(math.sqrt(3) + 1), rel=1e-12)


def test_nothing_depends_on_the_number_of_unlisted_groups() -> None:
    """Groups that are discovered get the design of one table, times sqrt(G)."""
    for most in (1, 3):
        workload = hn.Workload((hn.Counts(4),), by="g", groups="discover", max_groups=most)
        centers = gaussian_centers(workload.blocks, 0.0)
        alone = best_scales(
            hn.Workload((hn.Counts(4),)),
            centers,
            name="",
            noise=Noise.GAUSSIAN,
            budget=1 / math.sqrt(most),
            measure_size=True,
        )
        ours = design_of(workload).covariance.dense()
        np.testing.assert_allclose(ours, alone.covariance.dense(), rtol=1e-12)
