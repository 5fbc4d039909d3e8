"""Groups: how estimates of all groups vary together, and how often a key of one person shows."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import halfnoise as hn
from halfnoise import mechanism
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.design.threshold import Threshold, threshold
from halfnoise.noise import rounded_gaussian, rounded_laplace
from halfnoise.noise.law import Noise
from halfnoise.planning.plan import Plan
from halfnoise.request import Request
from halfnoise.workload.totals import Totals
from support.fixed_workloads import Floats, fixed
from support.measured import closed, grid_for
from support.moments import agree
from support.rate import FALSE_ALARM
from support.together import promised

RELEASES, GROUPS, PEOPLE = 4000, 3, 1000
QUERIES: list[Any] = [
    hn.Count("a"),
    hn.Count("b"),
    hn.Mean("m", bounds=(2, 9)),
    hn.Choice("c", ["u", "v"]),
]
CASES: dict[str, dict[str, Any]] = {
    "added": {},
    "replaced": {"neighbors": hn.Neighbors.REPLACE},
    "two levels": {"max_groups": 3},
    "scaled": {"max_groups": 2},
    "fitted": {"max_groups": 2},
    "fitted, replaced": {"neighbors": hn.Neighbors.REPLACE},
}
Draw = Callable[[Plan, CenteredMeasurement], Floats]


def planned(case: str) -> tuple[Plan, CenteredMeasurement]:
    """Return the plan of a case with its most telling design, and its grid."""
    workload = hn.Workload(
        QUERIES, by="g", groups=["x", "y", "z"], other=None, size_importance=0.1, **CASES[case]
    )
    found = hn.plan(workload, privacy=hn.GaussianDP(mu=1))
    if case == "scaled":
        kept = tuple(each for each in found.designs if each.name != "two-level-gaussian")
        found = replace(found, designs=kept)
    if "fitted" not in case:
        found = closed(found)
    names = {"two levels": "two-level", "fitted": "fitted", "fitted, replaced": "fitted"}
    assert found.chosen.name == f"{names.get(case, 'correlated')}-gaussian"
    return found, grid_for(found)


def repeated(
    plan: Plan, grid: CenteredMeasurement, totals: Totals, count: int
) -> Iterator[hn.GroupedRelease]:
    """Carry out a release so many times; what it says beside its values is worked out once."""
    request = Request(workload=plan.workload, row_is_person=True)
    template = mechanism._template(plan, grid, request)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mechanism, "_template", lambda *_: template)
        for _ in range(count):
            one = mechanism.noisy(plan, grid, totals, request)
            assert isinstance(one, hn.GroupedRelease)
            yield one


def released(found: Plan, grid: CenteredMeasurement, releases: int = RELEASES) -> Floats:
    """Return the errors of whole releases, all groups of one in a row, and of all people last."""
    totals, truth = fixed(grid, PEOPLE, GROUPS)
    everyone = np.array([2 * PEOPLE], dtype=np.uint64)
    exact = Totals(sums=totals.sums, people=totals.people, everyone=everyone)
    errors = []
    for one in repeated(found, grid, exact, releases):
        people = [] if one.size is None else [one.size.estimate - 2 * PEOPLE]
        errors.append(np.concatenate([(one.values - truth).ravel(), people]))
    return np.array(errors)


def as_promised(errors: Floats, grid: CenteredMeasurement) -> bool:
    """Whether errors within and across groups are those of the promise."""
    return agree(errors, promised(grid, GROUPS), Noise.GAUSSIAN)


@pytest.mark.parametrize("case", CASES)
def test_errors_within_and_across_groups(case: str) -> None:
    """All groups of a release vary as promised, alone and together; faults are seen."""
    found, grid = planned(case)
    errors = released(found, grid)
    assert as_promised(errors, grid)
    assert not as_promised(errors * 0.96, grid)
    width = grid.design.covariance.size
    # One group's noise given to another: they would vary together more than they may.
    copied = errors.copy()
    copied[:, width - 1] += 0.2 * errors[:, 2 * width - 1]
    assert not as_promised(copied, grid)
    # The groups of one release put together from several: what they share is lost.
    mixed = errors.copy()
    mixed[:, :width] = np.roll(errors[:, :width], 1, axis=0)
    assert as_promised(mixed, grid) == (case in ("added", "replaced", "scaled"))


def test_all_people_without_noise_are_seen() -> None:
    """The same test rejects two levels that show the true number of all people."""
    found, grid = planned("two levels")
    assert grid.everyone is not None
    silent = replace(grid, everyone=replace(grid.everyone, scale=1e-3))
    assert not as_promised(released(found, silent, RELEASES // 4), grid)


def test_the_listing_of_the_paper_is_seen() -> None:
    """The same test rejects the listing's noise on sizes, where people are replaced: twice ours."""
    found, grid = planned("replaced")
    assert grid.root is not None
    printed = replace(grid, root=replace(grid.root, scale=2 * grid.root.scale))
    assert not as_promised(released(found, printed, RELEASES // 4), grid)


DRAWS = 200_000


def too_often(limit: Threshold, noise: Noise, scale: float, p1: float) -> bool:
    """Whether one person's key shows more often than p1, in 200,000 draws."""
    draw = rounded_gaussian if noise is Noise.GAUSSIAN else rounded_laplace
    person = int(1 / limit.step)
    sizes = np.uint64(person) + np.asarray(draw(scale, DRAWS)).view(np.uint64)
    return bool(binom.sf(len(limit.passed(sizes)) - 1, DRAWS, p1) < FALSE_ALARM)


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("delta", [0.05, 1e-3])
@pytest.mark.parametrize(("scale", "step"), [(3.0, Fraction(1)), (2.0**20, Fraction(1, 2**18))])
def test_a_key_of_one_person_shows_no_more_often_than_stated(
    noise: Noise, delta: float, scale: float, step: Fraction
) -> None:
    """The threshold holds for the noise as it is drawn; one step lower it is at its limit."""
    limit = threshold(noise, scale, step, most=1, delta=delta)
    assert not too_often(limit, noise, scale, limit.delta)
    assert too_often(limit, noise, scale, limit.delta / 3)


def test_without_the_half_step_it_shows_too_often() -> None:
    """On a grid of whole people the formula without the half step is rejected."""
    limit = threshold(Noise.GAUSSIAN, 3.0, Fraction(1), most=1, delta=0.05)
    mutant = replace(limit, steps=limit.steps - 1)
    assert not too_often(limit, Noise.GAUSSIAN, 3.0, 0.05)
    assert too_often(mutant, Noise.GAUSSIAN, 3.0, 0.05)


@pytest.mark.parametrize("budget", [hn.GaussianDP(mu=1), hn.PureDP(epsilon=1)])
def test_keys_in_a_release(budget: hn.GaussianDP | hn.PureDP) -> None:
    """Of 200,000 keys of one person each no more show than stated; a large group always does."""
    keys = [*range(DRAWS), *[-1] * 10_000]
    table = pl.DataFrame({"key": keys, "a": [True] * len(keys)})
    found = hn.release(
        table,
        [hn.Count("a")],
        row_is_person=True,
        by="key",
        groups="discover",
        discover_delta=1e-3,
        privacy=budget,
    )
    assert isinstance(found.guarantee, hn.DiscoveryDP)
    assert next(iter(found)) == -1
    large = found[-1]["a"]
    assert abs(large.estimate - 10_000) < 25 * large.std
    shown = len(found) - 1
    p1 = found.guarantee.delta
    assert p1 <= 1e-3
    assert binom.sf(shown - 1, DRAWS, p1) >= FALSE_ALARM
    assert binom.cdf(shown, DRAWS, p1) >= FALSE_ALARM  # they do show, as often as they may
