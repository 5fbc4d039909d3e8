"""Intervals of weighted releases cover the truth, from rows on; short ones do not."""

import functools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.mechanism import noisy
from halfnoise.request import Request
from halfnoise.workload.totals import Totals
from halfnoise.workload.weights import HEADS, SQUARES
from support.loss import exact_totals
from support.measured import grid_for
from support.moments import covers
from support.replay import RELEASES, shortened

LEVEL, SHORT, FEWER = 0.95, 0.92, 3000
RNG = np.random.default_rng(3)
PEOPLE = pl.DataFrame(
    {
        "id": np.arange(400),
        "w": RNG.gamma(2.0, 1.0, 400),
        "smoker": RNG.random(400) < 0.3,
        "x": RNG.uniform(0, 30, 400),
        "c": RNG.choice(["A", "B", "C"], 400),
    }
)
WORKLOAD = hn.Workload(
    [
        hn.Count("smoker"),
        hn.Sum("x", bounds=(0, 20)),
        hn.Mean("x", bounds=(0, 20), name="m"),
        hn.Choice("c", ["A", "B"]),
    ],
    weight=hn.Weight("w", bounds=(0.1, 4)),
    unweighted_size=True,
    effective_size=True,
)


def truth() -> dict[str, float]:
    """Return what is estimated, by other means: weights and values clipped, in floating point."""
    w, x = PEOPLE["w"].to_numpy().clip(0.1, 4), PEOPLE["x"].to_numpy().clip(0, 20)
    smoker, c = PEOPLE["smoker"].to_numpy(), PEOPLE["c"].to_numpy()
    found = {"number of people": w.sum(), HEADS: 400.0, SQUARES: (w**2).sum()}
    found |= {"smoker": w[smoker].sum(), "x": (w * x).sum(), "m": (w * x).sum() / w.sum()}
    found |= {f"c={each}": w[c == each].sum() for each in "AB"}
    found["effective sample size"] = w.sum() ** 2 / (w**2).sum()
    return {name: float(value) for name, value in found.items()}


@functools.cache
def releases() -> tuple[hn.Release, np.ndarray]:
    """Return a release, and the values of many others of the same table."""
    plan = hn.plan(WORKLOAD, privacy=hn.GaussianDP(mu=2))
    grid = grid_for(plan)
    exact = exact_totals(PEOPLE, grid, WORKLOAD)
    one = noisy(plan, grid, exact, Request(workload=WORKLOAD, unit=("id",)))
    assert isinstance(one, hn.Release)
    assert exact.heads is not None
    rows = Totals(
        sums=tuple(np.repeat(each, RELEASES, axis=0) for each in exact.sums),
        people=np.repeat(exact.people, RELEASES),
        everyone=exact.everyone,
        heads=np.repeat(exact.heads, RELEASES),
    )
    (measured,) = grid.measure(rows)
    noise = grid.design.noise.draw(np.broadcast_to(grid.scales[0], measured.shape))
    back = grid.recover([measured + noise.view(np.uint64)])
    assert back.sizes is not None
    return one, np.column_stack([back.estimates, back.sizes])


@pytest.mark.parametrize("name", ["number of people", HEADS, SQUARES, "smoker", "x", "c=B"])
def test_intervals_cover(name: str) -> None:
    """Of 20,000 intervals 95% hold the true value; with margins 8% short too few do."""
    one, values = releases()
    place = -1 if name == "number of people" else one.names.index(name)
    margin = (one[name].high - one[name].low) / 2
    errors = np.abs(values[:, place] - truth()[name])
    assert covers(int((errors <= margin).sum()), RELEASES, LEVEL)
    assert not covers(int((errors <= SHORT * margin).sum()), RELEASES, LEVEL)


@pytest.mark.parametrize("name", ["m", "effective sample size", HEADS])
def test_ratios_cover(name: str) -> None:
    """Means, and the effective sample size, are held at least as often; with short errors less.

    So is the number of people where the sum of weights is known.
    """
    one, values = releases()
    said = {1.0: one.errors, 0.6: shortened(one.errors, 0.6)}
    for short, errors in said.items():
        hits = 0
        for row in values[:FEWER]:
            release = replace(one, values=row, errors=errors)
            if name == HEADS:
                release = release.with_known_size(truth()["number of people"])
            found = release.effective_size if "effective" in name else release[name]
            assert found is not None
            hits += found.low <= truth()[name] <= found.high
        assert covers(hits, FEWER, LEVEL, most=1.0 if "effective" in name else None) == (short == 1)
