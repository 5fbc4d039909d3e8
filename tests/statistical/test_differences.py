"""Differences of means and shares between groups: their intervals hold as often as they say.

Groups near opposite bounds, groups that share noise, few people and Laplace noise, at several
levels. Values come in bulk from the distribution of a release, and its own code compares them.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise import mechanism
from halfnoise.noise.law import Noise
from halfnoise.planning.plan import Plan
from halfnoise.request import Request
from halfnoise.results import inference
from halfnoise.results.release import GroupedRelease
from support.fixed_workloads import Floats
from support.measured import closed, grid_for
from support.moments import covers
from support.replay import errors
from support.together import promised

PAIRS = 40_000
QUERIES: list[Any] = [hn.Count("a"), hn.Count("b"), hn.Mean("m", bounds=(2, 9))]
NAMES = [("a", True), ("m", False)]
GAUSSIAN, LAPLACE = hn.GaussianDP(mu=1), hn.PureDP(epsilon=1)


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Many releases of two groups: what they share, the values of each group, and the truth."""

    release: GroupedRelease
    values: tuple[Floats, Floats]
    shares: tuple[float, float]

    def held(self, name: str, *, share: bool, level: float, common: float | None = None) -> int:
        """Count the intervals of a difference that hold the truth."""
        release = self.release
        pair, (low, high) = release.template.fraction_of(name, share=share)
        shared = release._shared
        if common is not None:
            shared = tuple(replace(term, weight=common * term.weight) for term in shared)
        found = inference.apart(self.values, release.errors, pair, level, shared)
        ends = np.clip(found[2:], low - high, high - low)
        truth = (high - low) * (self.shares[0] - self.shares[1])
        # A bound that is the truth is not missed by a rounding of its last digit.
        return int(((ends[0] <= truth + 1e-9) & (truth - 1e-9 <= ends[1])).sum())


def pairs(
    privacy: Any, people: tuple[int, int], shares: tuple[float, float], **rules: Any
) -> Pairs:
    """Return releases of two groups, in which so many of so many people say yes."""
    rules = {"groups": ["x", "y"], "other": None, "size_importance": 1} | rules
    fitted = rules.pop("fitted", False)
    found = hn.plan(hn.Workload(QUERIES, by="g", **rules), privacy=privacy)
    found = found if fitted else closed(found)
    assert (found.chosen.name == "fitted-gaussian") == fitted
    truth = np.array([_truth(n, share) for n, share in zip(people, shares, strict=True)])
    noise = np.swapaxes(_noise(found), 0, 1)
    grid, grouping = grid_for(found), found.workload.grouping
    assert grouping is not None
    template = mechanism._template(found, grid, Request(workload=found.workload))
    release = GroupedRelease(
        template=template,
        by=grouping.by,
        group_keys=grouping.released,
        values=truth,
        common=grid.design.common,
        between=grid.design.between,
    )
    values = (truth[0] + noise[0], truth[1] + noise[1])
    return Pairs(release=release, values=values, shares=shares)


def _truth(people: int, share: float) -> list[float]:
    """Return the totals of a group whose mean among the answered 60% lies where its share does."""
    answered = 0.6 * people
    return [share * people, people / 2, answered * (2 + 7 * share), answered, people]


def _noise(found: Plan) -> Floats:
    """Return the errors of two groups in each of many releases."""
    grid = grid_for(found)
    if grid.design.noise is Noise.LAPLACE:  # groups are independent
        drawn = errors(grid, 1000, 2 * PAIRS)
        return drawn.reshape(PAIRS, 2, -1)
    width = grid.design.covariance.size
    joint = promised(grid, 2).dense()[: 2 * width, : 2 * width]
    axes, directions = np.linalg.eigh(joint)
    normal = np.random.default_rng().normal(size=(PAIRS, 2 * width))
    drawn = normal @ (directions * np.sqrt(np.maximum(axes, 0.0))).T
    return np.asarray(drawn.reshape(PAIRS, 2, width))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("shares", [(0.0, 1.0), (1.0, 0.0), (0.02, 0.97)])
def test_groups_near_opposite_bounds(shares: tuple[float, float], level: float) -> None:
    """Where one group says no and the other yes, the difference is covered all the same."""
    table = pairs(GAUSSIAN, (300, 500), shares)
    for name, share in NAMES:
        assert covers(table.held(name, share=share, level=level), PAIRS, level, most=1.0)


@pytest.mark.parametrize("rules", [{}, {"max_groups": 2}])
def test_a_release_says_the_same(rules: dict[str, Any]) -> None:
    """What a release by group says of two groups holds as often: 300 of them, one by one."""
    table = pairs(GAUSSIAN, (300, 500), (0.0, 1.0), **rules)
    for name, share in NAMES:
        hits, truth = 0, -1.0 if share else -7.0
        for values in np.stack(table.values, axis=1)[:300]:
            one = replace(table.release, values=values.copy())
            found = one.difference(name, "x", "y", share=share)
            assert truth <= found.low <= found.estimate <= found.high <= -truth
            hits += found.low <= truth + 1e-9
        assert covers(hits, 300, 0.95, most=1.0)


def test_ratios_clipped_too_soon_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same test rejects ratios that were moved to their bounds before they are compared."""
    table, own = pairs(GAUSSIAN, (300, 500), (0.0, 1.0)), inference.ratios

    def clipped(values: Floats, errors: Any, pair: Any, level: float) -> Floats:
        return own(values, errors, pair, level, (0.0, 1.0) if pair[0] == 0 else (2.0, 9.0))

    monkeypatch.setattr(inference, "ratios", clipped)
    for name, share in NAMES:
        assert not covers(table.held(name, share=share, level=0.95), PAIRS, 0.95, most=1.0)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize(
    ("people", "shares"), [((300, 500), (0.02, 0.98)), ((900, 400), (0.3, 0.4))]
)
@pytest.mark.parametrize("fitted", [False, True])
def test_groups_that_share_noise(
    people: tuple[int, int], shares: tuple[float, float], level: float, *, fitted: bool
) -> None:
    """What groups share counts: towards the difference, or, for like shares, against it."""
    table = pairs(GAUSSIAN, people, shares, max_groups=2, fitted=fitted)
    assert bool(table.release.between) == fitted
    assert (table.release.common > 0) != fitted
    for name, share in NAMES:
        assert covers(table.held(name, share=share, level=level), PAIRS, level, most=level + 0.015)


def test_shared_noise_forgotten_is_seen() -> None:
    """The same test rejects groups that are taken for independent."""
    table = pairs(GAUSSIAN, (300, 500), (0.02, 0.98), max_groups=2)
    hits = table.held("a", share=True, level=0.9, common=0.0)
    assert not covers(hits, PAIRS, 0.9, most=0.915)
    wrong = table.held("a", share=True, level=0.9, common=-1.0)
    assert not covers(wrong, PAIRS, 0.9, most=0.915)


@pytest.mark.parametrize("people", [(1000, 1000), (60, 60)])
@pytest.mark.parametrize("max_groups", [1, 2])
def test_like_groups(people: tuple[int, int], max_groups: int) -> None:
    """Equal groups, many people or few: covered; intervals a fifth too short are not."""
    table = pairs(GAUSSIAN, people, (0.5, 0.5), max_groups=max_groups)
    for name, share in NAMES:
        assert covers(table.held(name, share=share, level=0.95), PAIRS, 0.95, most=1.0)
        less = table.held(name, share=share, level=0.883)  # 0.8 of the reach of 95%
        assert not covers(less, PAIRS, 0.95, most=1.0)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_laplace_noise(level: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two Laplace noises together reach as far as they do, not as two normal ones would."""
    table, own = pairs(LAPLACE, (100_000, 100_000), (0.3, 0.4)), inference._together
    pair, _ = table.release.template.fraction_of("a", share=True)
    few = (table.values[0][:20], table.values[1][:20])
    reach = own(few, table.release.errors, pair, level)
    # With so many people it is the same in all releases: worked out for twenty, it serves them all.
    assert np.ptp(reach) < 1e-3
    monkeypatch.setattr(inference, "_together", lambda *_: float(np.mean(reach)))
    assert covers(table.held("a", share=True, level=level), PAIRS, level)
    monkeypatch.setattr(inference, "_together", lambda *_: 1.0)
    normal = table.held("a", share=True, level=level)
    assert level > 0.9 or not covers(normal, PAIRS, level)
