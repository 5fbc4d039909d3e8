import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.candidates import designs
from halfnoise.design.centered import Centered, Size, best_scales
from halfnoise.design.centers import gaussian_centers
from halfnoise.design.design import Design, Setting
from halfnoise.design.two_level import TwoLevel
from halfnoise.noise.law import Noise
from support.brute_force import covariance_cost, exact_cost, people
from support.small_workloads import design_of, designs_of, maker

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
        workload = maker(queries)(by="g", groups="discover", **rule)
        found = list(designs(workload, BUDGET.budget()))
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
        dataclasses.replace(design, level=dataclasses.replace(design.level, most=1)),
        dataclasses.replace(design, level=dataclasses.replace(design.level, groups=2)),
        dataclasses.replace(
            design, level=dataclasses.replace(design.level, center=design.level.center / 2)
        ),
        dataclasses.replace(design, people_std=design.people_std * (1 - 1e-12)),
        dataclasses.replace(design, people_std=2 * design.people_std),
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


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_importance_is_relative_where_sizes_are_measured_anyway(factor: float) -> None:
    """Unlisted groups whose sizes nothing leans on get sizes as good as a query."""
    query = hn.Items("i", ("a", "b", "c"), at_most=1)
    workload = hn.Workload(
        (query,), by="g", groups="discover", importance={"i": factor}, discover_delta=1e-7
    )
    design = design_of(workload)
    assert design.size_std == pytest.approx(math.sqrt(math.sqrt(3) + 1), rel=1e-12)


def test_nothing_depends_on_the_number_of_unlisted_groups() -> None:
    """Groups that are discovered get the design of one table, times sqrt(G)."""
    for most in (1, 3):
        workload = hn.Workload(
            (hn.Counts(4),), by="g", groups="discover", max_groups=most, discover_delta=1e-7
        )
        centers = gaussian_centers(workload.blocks, 0.0)
        setting = Setting(
            workload=hn.Workload((hn.Counts(4),)), noise=Noise.GAUSSIAN, budget=1 / math.sqrt(most)
        )
        alone = best_scales(setting, centers, "", Size.LEANED)
        ours = design_of(workload).covariance.dense()
        np.testing.assert_allclose(ours, alone.covariance.dense(), rtol=1e-12)
