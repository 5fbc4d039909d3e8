"""Two releases compared: intervals of differences and ratios hold as often as they say.

Each of many groups is one pair of releases of the same truth, and the library's own code compares
them. Gaussian and Laplace noise and one of each, many people and few, several levels.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise import mechanism
from halfnoise.design.covariance import Covariance
from halfnoise.noise.law import Noise
from halfnoise.request import Request
from halfnoise.results import between
from halfnoise.results.comparison import Comparison
from halfnoise.results.release import GroupedRelease
from support.fixed_workloads import Floats
from support.measured import grid_for
from support.moments import covers
from support.replay import errors

PAIRS = 20_000
FEW = 1_000  # with Laplace noise, pair by pair
GAUSSIAN, LAPLACE = hn.GaussianDP(mu=1), hn.PureDP(epsilon=1)
QUERIES: list[Any] = [
    hn.Count("a"),
    hn.Choice("c", ["x", "y"]),
    hn.Sum("s", bounds=(-2, 6)),
    hn.Mean("m", bounds=(2, 9)),
]


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Many releases of one truth, each a group, and that truth by name."""

    release: GroupedRelease
    truth: Floats

    def of(self, name: str) -> float:
        """Return the true value of a name; of a mean, what is divided by what."""
        question = next(each for each in self.release.questions if each.find(name))
        row = question.find(name)
        assert row is not None
        bottom = 1.0 if row.limits is None else self.truth[row.below]
        return float(self.truth[row.place] / bottom)


def drawn(privacy: Any, people: float, share: float, number: int) -> Drawn:
    """Draw releases of so many people, of whom a share says yes."""
    found = hn.plan(hn.Workload(QUERIES, size_importance=1), privacy=privacy)
    grid = grid_for(found)
    template = mechanism._template(found, grid, Request(workload=found.workload))
    # a, c=x, c=y, c=other, s, the sum of m and who answered, people
    parts = [share, 0.5, 0.3, 0.2, 1.5, 0.6 * (2 + 7 * share), 0.6, 1.0]
    truth = people * np.array(parts)
    if grid.design.noise is Noise.LAPLACE:
        noise = errors(grid, 1000, number)
    else:
        axes, directions = np.linalg.eigh(grid.design.covariance.dense())
        normal = np.random.default_rng().normal(size=(number, len(truth)))
        noise = normal @ (directions * np.sqrt(np.maximum(axes, 0.0))).T
    keys = tuple((i,) for i in range(number))
    values = truth + noise
    release = GroupedRelease(template=template, by=(hn.By("g"),), group_keys=keys, values=values)
    return Drawn(release=release, truth=truth)


def held(found: Comparison, name: str, truth: tuple[float, float]) -> tuple[int, int]:
    """Count the intervals that hold the true difference, and the true ratio."""
    own, table = found.table["name"] == name, found.columns()
    counted = []
    for low, high, true in (
        ("low", "high", truth[0] - truth[1]),
        ("ratio_low", "ratio_high", truth[0] / truth[1]),
    ):
        ends = table[low][own], table[high][own]
        counted.append(int(((ends[0] <= true + 1e-9) & (true - 1e-9 <= ends[1])).sum()))
    return counted[0], counted[1]


NAMES = ("a", "c=x", "s", "m", "m answered", "number of people")


def names_that_fail(later: Drawn, earlier: Drawn, level: float, room: float) -> list[str]:
    """Return the names whose intervals hold too rarely, or much more often than they say."""
    number = len(later.release)
    found = later.release.compare(earlier.release, level=level)
    failing = []
    for name in NAMES:
        truth = (
            (float(later.truth[-1]), float(earlier.truth[-1]))
            if name == "number of people"
            else (later.of(name), earlier.of(name))
        )
        hits = held(found, name, truth)
        failing += [name for each in hits if not covers(each, number, level, most=level + room)]
    return failing


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_gaussian_releases(level: float) -> None:
    """Sums are covered exactly, means nearly so, differences and ratios alike."""
    later, earlier = drawn(GAUSSIAN, 400, 0.4, PAIRS), drawn(GAUSSIAN, 250, 0.3, PAIRS)
    assert not names_that_fail(later, earlier, level, 0.01)


@pytest.mark.parametrize(
    ("after", "before", "level"),
    [
        (LAPLACE, LAPLACE, 0.5),
        (LAPLACE, LAPLACE, 0.95),
        (GAUSSIAN, LAPLACE, 0.5),
        (LAPLACE, GAUSSIAN, 0.95),
    ],
)
def test_laplace_noise(after: Any, before: Any, level: float) -> None:
    """How far two noises of any kind reach together is taken into account."""
    later, earlier = drawn(after, 900, 0.4, FEW), drawn(before, 700, 0.3, FEW)
    assert not names_that_fail(later, earlier, level, 0.02)


def test_few_people() -> None:
    """Where the earlier number may be nothing, the interval of a ratio is all there is."""
    later, earlier = drawn(GAUSSIAN, 30, 0.4, PAIRS), drawn(GAUSSIAN, 8, 0.3, PAIRS)
    found = later.release.compare(earlier.release)
    assert not names_that_fail(later, earlier, 0.95, 0.05)
    assert np.isinf(found.table["ratio_high"]).mean() > 0.3


def test_the_noise_of_one_release_alone_is_seen() -> None:
    """The same test rejects intervals that forget the earlier release's noise."""
    later, earlier = drawn(GAUSSIAN, 400, 0.4, PAIRS), drawn(GAUSSIAN, 250, 0.3, PAIRS)
    own = earlier.release.errors.covariance
    less = replace(
        own,
        variances=tuple(replace(run, value=run.value / 1e6) for run in own.variances),
        shared=tuple(replace(term, weight=term.weight / 1e6) for term in own.shared),
    )
    assert {*_with(earlier, less, later)} == {*NAMES}


def test_a_covariance_forgotten_is_seen() -> None:
    """The same test rejects means whose sum and number are taken for independent."""
    later, earlier = drawn(GAUSSIAN, 400, 0.9, PAIRS), drawn(GAUSSIAN, 250, 0.8, PAIRS)
    own = earlier.release.errors.covariance
    run = type(own.variances[0])
    each = tuple(run(i, i + 1, float(v)) for i, v in enumerate(own.diagonal()))
    without = replace(own, variances=each, shared=(replace(own.shared[-1], weight=1e-9),))
    assert "m" in _with(earlier, without, later)


def _with(earlier: Drawn, covariance: Covariance, later: Drawn) -> list[str]:
    wrong = replace(earlier.release.errors, covariance=covariance)
    template = replace(earlier.release.template, errors=wrong)
    broken = replace(earlier, release=replace(earlier.release, template=template))
    return names_that_fail(later, broken, 0.95, 0.01)


def test_a_reach_forgotten_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same test rejects Laplace noises whose margins are squared and added."""
    later, earlier = drawn(LAPLACE, 900, 0.4, PAIRS), drawn(LAPLACE, 700, 0.3, PAIRS)
    monkeypatch.setattr(between.Two, "_reach", lambda *_: 1.0)
    assert names_that_fail(later, earlier, 0.5, 0.02)
