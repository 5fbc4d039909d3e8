import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from halfnoise import Count, InvalidParameterError, PureDP, Workload
from halfnoise.results.inference import Floats
from halfnoise.results.release import GroupedRelease
from halfnoise.results.render import DISCOVERED, FOUND, SELECTED
from halfnoise.workload.question import SIZE
from support.grouped import COMMON, made, two_level

LEVEL = norm.ppf(0.975)


def everything(release: GroupedRelease) -> Floats:
    """Build the covariance of all estimates of all groups, group by group."""
    one, groups = release.errors.covariance.dense(), len(release)
    root = one[:, -1] / one[-1, -1]
    together = release.common * np.outer(root, root)
    return np.kron(np.eye(groups), one - together) + np.kron(np.ones((groups, groups)), together)


def weights(release: GroupedRelease, parts: dict[int, dict[int, float]]) -> Floats:
    """Return weights of all estimates of all groups, from some by group and place."""
    found = np.zeros(release.values.shape)
    for group, each in parts.items():
        for place, weight in each.items():
            found[group, place] = weight
    return found.ravel()


def std(release: GroupedRelease, parts: dict[int, dict[int, float]]) -> float:
    """Return the standard error of a weighted sum of estimates, by the full matrix."""
    w = weights(release, parts)
    return math.sqrt(max(0.0, float(w @ everything(release) @ w)))


@pytest.mark.parametrize("common", [0.0, COMMON, 1.0])
def test_differences_are_those_of_the_full_matrix(common: float) -> None:
    """What two groups have in common cancels, and nothing else does."""
    release = two_level(common=common)
    for place, name in enumerate([*release.names, SIZE]):
        found = release.difference(name, 3, 1)
        expected = std(release, {3: {place: 1.0}, 1: {place: -1.0}})
        assert found.std == pytest.approx(expected, rel=1e-9)
        assert found.estimate == release.values[3, place] - release.values[1, place]
        assert found.high - found.estimate == pytest.approx(LEVEL * found.std)
        assert found.estimate - found.low == pytest.approx(LEVEL * found.std)
    assert found.name == "number of people, 3 - 1"


def test_a_group_less_itself_is_nothing() -> None:
    """The difference of a group with itself is zero, and certain."""
    found = two_level().difference("smoker", 2, 2)
    assert (found.estimate, found.std, found.low, found.high) == (0, 0, 0, 0)


def test_differences_of_means_and_shares() -> None:
    """They lie between the intervals of the two, apart by the root of the squared distances."""
    release = made()
    for share, name in ((False, "age"), (True, "smoker")):
        one, other = (
            release[key].share(name) if share else release[key].mean(name)
            for key in ("north", "south")
        )
        found = release.difference(name, "north", "south", share=share)
        assert found.estimate == one.estimate - other.estimate
        assert found.std == pytest.approx(math.hypot(one.std, other.std))
        down, up = found.estimate - found.low, found.high - found.estimate
        assert down == pytest.approx(
            math.hypot(one.estimate - one.low, other.high - other.estimate)
        )
        assert up == pytest.approx(math.hypot(one.high - one.estimate, other.estimate - other.low))
        same = release.difference(name, "south", "south", share=share)
        assert (same.estimate, same.std, same.low, same.high) == (0, 0, 0, 0)
    assert release.difference("age sum", "north", "south").std > 0
    for unknown in (("smokers", "north", "south"), ("smoker", "north", "west")):
        with pytest.raises(InvalidParameterError, match="must be one of"):
            release.difference(*unknown)


@pytest.mark.parametrize("common", [0.0, COMMON, 1.0])
@pytest.mark.parametrize("groups", [None, [2], [0, 3], [1, 2, 3]])
def test_totals_are_those_of_the_full_matrix(common: float, groups: list[int] | None) -> None:
    """Values add up; so do the groups' own noises, and the one in common adds up as one."""
    release = two_level(common=common)
    total, members = release.total(groups), groups or range(4)
    names = [*release.names, SIZE]
    for place, name in enumerate(names):
        found = total.linear({name: 1.0})
        assert found.estimate == pytest.approx(release.values[list(members), place].sum())
        expected = std(release, {group: {place: 1.0} for group in members})
        assert found.std == pytest.approx(expected, rel=1e-9)
    for place, (a, b) in enumerate(pairwise(names)):
        expected = std(release, {group: {place: 1.0, place + 1: -2.5} for group in members})
        assert total.linear({a: 1.0, b: -2.5}).std == pytest.approx(expected, rel=1e-9)


def test_ratios_of_totals_are_fiellers() -> None:
    """An end of the interval of a share, a mean or a ratio of a total solves Fieller's equation."""
    release = two_level()
    total, names = release.total(), [*release.names, SIZE]
    for found, a, b in (
        (total.share("gout"), "gout", SIZE),
        (total.mean("visits"), "visits", SIZE),
        (total["age"], "age sum", "age answered"),
        (total.ratio("smoker", "gout"), "smoker", "gout"),
    ):
        top, bottom = names.index(a), names.index(b)
        x, y = total.values[top], total.values[bottom]
        assert found.estimate == pytest.approx(x / y)
        for r in (found.low, found.high):
            error = std(release, {group: {top: 1.0, bottom: -r} for group in range(4)})
            assert abs(x - r * y) == pytest.approx(LEVEL * error, rel=1e-6)


def test_a_total_with_its_size_known() -> None:
    """Knowing how many there are in all groups takes the noise of their numbers from the total."""
    release = two_level()
    known = release.total().with_known_size(4000)
    dense, root = everything(release), len(release.names)
    sizes = weights(release, {group: {root: 1.0} for group in range(4)})
    for place, name in enumerate(release.names):
        w = weights(release, {group: {place: 1.0} for group in range(4)})
        shared = (w @ dense @ sizes) ** 2 / (sizes @ dense @ sizes)
        assert known.linear({name: 1.0}).std == pytest.approx(math.sqrt(w @ dense @ w - shared))


@pytest.mark.parametrize("groups", [[], ["north", "north"], "north", 3, [("north",), "north"]])
def test_a_total_is_of_different_groups(groups: Any) -> None:
    """No group, one group twice and what is no list are refused."""
    with pytest.raises(InvalidParameterError, match="groups must be"):
        made().total(groups)
    with pytest.raises(InvalidParameterError, match="at least one group"):
        made((), discovered=True).total()


def test_totals_of_laplace_noise() -> None:
    """A total of k groups has k independent noises of each scale, which are no Laplace noise."""
    release = made(workload=Workload([Count("a")]), privacy=PureDP(epsilon=0.5))
    (scale,) = release.errors.parts({0: 1.0})
    one, total = release["north"]["a"], release.total()["a"]
    assert one.high - one.estimate == pytest.approx(scale * math.log(20))
    assert total.std == pytest.approx(math.sqrt(3) * one.std)
    x = (total.high - total.estimate) / scale
    # The sum of three such noises goes on for one, two or three exponential steps.
    tail = math.exp(-x) * (3 + 3 * (1 + x) + 2 * (1 + x + x**2 / 2)) / 8
    assert tail == pytest.approx(0.05)
    two = release.difference("a", "north", "south")
    x = (two.high - two.estimate) / scale
    assert math.exp(-x) * (1 + x / 2) == pytest.approx(0.05)


def test_remarks_go_with_totals() -> None:
    """A total says how its groups came about, and that people in several count in each."""
    one = Workload([Count("a")])
    plain, found = made(workload=one), made(workload=one, discovered=True)
    overlap = "A person may be in up to 3 groups, and counts once in each of them."
    assert plain.notes() == plain.total().notes() == plain["north"].notes() == []
    assert (found.notes(), found["north"].notes()) == ([DISCOVERED], [FOUND])
    assert found.total().notes() == [SELECTED]
    assert replace(found, most=3).total(["north"]).notes() == [SELECTED, overlap]
    assert replace(plain, most=3).notes() == [overlap]
    for said in (DISCOVERED, FOUND, SELECTED):
        assert "biased upward" in said
    assert SELECTED in repr(found.total())
    assert SELECTED in found.total()._repr_html_()


@pytest.mark.parametrize("common", [0.0, 0.9])
def test_all_groups_hold_at_once(common: float) -> None:
    """In 90% of 20,000 draws of all noises all intervals hold, or more with noise in common."""
    release = two_level(6, common=common)
    dense = everything(release)
    draws = np.random.default_rng(7).multivariate_normal(np.zeros(len(dense)), dense, 20_000)
    worst = np.max(np.abs(draws) / np.sqrt(np.diagonal(dense)), axis=1)

    def held(level: float) -> float:
        return float((worst <= norm.ppf((1 + level) / 2)).mean())

    # The share of 20,000 draws is off by less than 1%, and means are not among them.
    assert 0.89 <= held(release.intervals(level=0.9, simultaneous=True).level) <= 0.96
    assert held(0.9) < 0.6
