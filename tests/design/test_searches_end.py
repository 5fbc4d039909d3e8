"""Every search ends: none leans on a tolerance that floats may be too coarse to reach."""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from halfnoise import (
    Bins,
    Choice,
    Count,
    Counts,
    GaussianDP,
    InvalidParameterError,
    Items,
    Mean,
    Neighbors,
    Sum,
    Workload,
    plan,
)
from halfnoise.design import allocation, centers, goals, largest
from halfnoise.design.candidates import designs
from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.design import Design
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Budget
from halfnoise.results.inference import Errors
from halfnoise.results.together import simultaneous_level
from support.table_workloads import drawn

WORKLOADS, TABLES = 1200, 60
# A search in a search, for a few blocks.
MOST_CALLS = 10_000


class Limit:
    """Counts the calls of a function, and raises where there are too many."""

    def __init__(self, called: Callable[..., Any], most: int) -> None:
        """Take the place of a function, for so many calls."""
        self.called, self.most, self.calls = called, most, 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call it once more."""
        self.calls += 1
        assert self.calls <= self.most
        return self.called(*args, **named)


def _amount(draw: random.Random, low: float, high: float) -> float:
    return float(10 ** draw.uniform(low, high))


def _queries(draw: random.Random) -> Iterator[Any]:
    if draw.random() < 0.7:
        yield Counts(draw.randint(1, 9))
    if draw.random() < 0.3:
        yield Count("c")
    for name in ("s", "m"):
        if draw.random() < 0.4:
            low = draw.choice([0.0, -1.0, 1.0]) * _amount(draw, -8, 8)
            bounds = (low, low + max(_amount(draw, -8, 8), abs(low) * 1e-3))
            yield Sum(name, bounds=bounds) if name == "s" else Mean(name, bounds=bounds)
    if draw.random() < 0.3:
        yield Items("i", tuple("abcdefg"), at_most=draw.randint(1, 7))
    if draw.random() < 0.2:
        yield Choice("x", tuple("abc")[: draw.randint(1, 3)])
    if draw.random() < 0.2:
        yield Bins("y", (0, 1, 2))


def workloads(seed: int, count: int) -> Iterator[Workload]:
    """List random workloads of every kind, with importances over many orders of magnitude."""
    draw = random.Random(seed)
    while count:
        queries = list(_queries(draw))
        if not queries:
            continue
        count -= 1
        rules: dict[str, Any] = {}
        counted = sum(q.shape.size for q in queries if q.kind == "count")
        if counted and draw.random() < 0.5:
            rules["at_most"] = draw.randint(1, counted)
        elif draw.random() < 0.5:
            rules["importance"] = {q.label: _amount(draw, -50, 50) for q in queries}
        if draw.random() < 0.7:
            rules["size_importance"] = _amount(draw, *draw.choice([(-50, 50), (-3, 12)]))
        if draw.random() < 0.3:
            rules |= {"groups": draw.randint(1, 30)}
            rules["max_groups"] = draw.randint(1, rules["groups"])
        elif draw.random() < 0.2:
            rules["neighbors"] = Neighbors.REPLACE
        yield Workload(queries, **rules)


NAMED = Workload([Counts(5)], at_most=2, size_importance=1e9)


def test_every_plan_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,200 random workloads, and one that once took for ever, are planned in counted steps.

    Searches are cut short for the sake of time: what they find is worse, and as private.
    """
    monkeypatch.setattr(centers, "STEPS", 3)
    own, stretch = centers.block_cost, Design.loss
    draw = random.Random(3)
    for workload in [NAMED, *workloads(10, WORKLOADS)]:
        costs, losses = Limit(own, MOST_CALLS), Limit(stretch, 100)
        monkeypatch.setattr(centers, "block_cost", costs)
        monkeypatch.setattr(Design, "loss", lambda design, count=losses: count(design))
        budget = Budget(mu=_amount(draw, -9, 9))
        known = workload.grouping is None
        for design in designs(workload, budget, known_size=known):
            amount = design.noise.amount(budget)
            assert amount is not None
            assert design.loss() <= amount


def test_every_plan_of_tables_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables and values by cell with importances from 1e-12 to 1e12, and the least largest error.

    What the cheapest get of the budget may be too little to be drawn: that is refused, at once.
    """
    own, stretch, weighed = allocation._balanced, Design.loss, goals.weighed
    planned = 0
    for seed in range(TABLES):
        draw, workload = random.Random(seed), drawn(seed)
        workload = replace(
            workload,
            importance={query.label: _amount(draw, -12, 12) for query in workload.queries},
            size_importance=_amount(draw, -12, 12),
            objective=draw.choice(["total", "largest"]),
        )
        # The designs and their rounds, of which each weighs kinds of people a few times.
        searches, losses, rounds = Limit(own, 300), Limit(stretch, 800), Limit(weighed, 300)
        monkeypatch.setattr(allocation, "_balanced", searches)
        monkeypatch.setattr(largest, "weighed", rounds)
        monkeypatch.setattr(Design, "loss", lambda design, count=losses: count(design))
        try:
            design = plan(workload, privacy=GaussianDP(mu=0.7)).measurement.design
        except InvalidParameterError as error:
            assert "importances that differ less" in str(error)  # noqa: PT017
        else:
            planned += 1
            assert 0.7 * (1 - 1e-9) <= design.loss() <= 0.7
    assert planned > 0.8 * TABLES


def test_a_search_without_an_end_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds that go on until floats are exact are too many."""
    for name, value in {
        "CLOSE": 0,
        "CLOSE_ENOUGH": 0,
        "ROUGH": 0,
        "MOST_ROUNDS": 999,
        "PATIENCE": 999,
    }.items():
        monkeypatch.setattr(largest, name, value)
    with pytest.raises(AssertionError):
        test_every_plan_of_tables_ends(monkeypatch)


def test_a_search_that_goes_round_in_circles_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of goals are moved no more where that has brought nothing for long."""
    workload = Workload([Count("a"), Mean("b", bounds=(0, 1))], objective="largest")
    first, *_ = designs(workload, Budget(mu=1.0))
    rounds = Limit(lambda _: first, 100)
    monkeypatch.setattr(largest, "CLOSE_ENOUGH", 0.0)
    swung = [[1.0, 1.1], [1.1, 1.0]]  # what weighs more gets more, and then the other
    monkeypatch.setattr(type(first), "errors", lambda *_: swung[rounds.calls % 2])
    assert largest.least_largest(first, rounds, workload, None) is first
    assert largest.PATIENCE < rounds.calls < largest.MOST_ROUNDS


def test_a_search_that_narrows_to_nothing_ends() -> None:
    """A search takes a set number of steps, also between neighbouring floats or at one."""
    for low, high in ((1e16, 1e16 + 2), (1.0, 1.0), (0.0, 5e-324), (31622.7766, 31622.7767)):
        limit = Limit(lambda x, low=low: (x - low) ** 2, 100)
        assert low <= centers._minimize(limit, low, high) <= high


CONVEX: dict[str, tuple[Callable[[float], float], float, int]] = {
    "smooth": (lambda x: math.exp(x) - 2 * x, math.log(2), 15),
    "parabola": (lambda x: 3 * (x - 0.6) ** 2 + 7, 0.6, 10),
    "steep on one side": (lambda x: x + 1e-6 / x if x else math.inf, 1e-3, 40),
    "bent": (lambda x: abs(x - 0.3) + x * x / 10, 0.3, centers.STEPS + 5),
    "flat": (lambda x: max(x, 0.7), 0.0, centers.STEPS + 5),
    "falling": (lambda x: 1 / (x + 1), 1.0, centers.STEPS + 5),
}


@pytest.mark.parametrize("name", CONVEX)
def test_a_search_finds_where_a_convex_function_is_least(name: str) -> None:
    """It comes as near as floats can tell, in a few steps where a parabola fits."""
    f, least, most = CONVEX[name]
    found = centers._minimize(Limit(f, most), 0.0, 1.0)
    assert found == pytest.approx(least, abs=3e-8)


def test_a_search_without_parabolas_takes_more_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Golden section alone finds the same, but not in so few steps."""
    monkeypatch.setattr(centers, "_lowest", lambda *_: math.inf)
    f, least, most = CONVEX["smooth"]
    assert centers._minimize(f, 0.0, 1.0) == pytest.approx(least, abs=3e-8)
    with pytest.raises(AssertionError):
        centers._minimize(Limit(f, most), 0.0, 1.0)


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("level", [1e-12, 0.5, 1 - 1e-9, 1 - 2**-53, 1.0])
@pytest.mark.parametrize("queries", [1, 2, 1000])
def test_levels_that_floats_cannot_tell_from_one(noise: Noise, level: float, queries: int) -> None:
    """Intervals that hold together are found at every level, up to the highest that there is."""
    runs = (Run(0, queries, 4.0),)
    size = Shared(1.0, (Run(0, queries, 0.5), Run(queries, queries + 1, 1.0)))
    errors = Errors(noise, Covariance(queries + 1, runs, (size,)))
    each = simultaneous_level(errors, queries, 1, level)
    assert min(level, 1 - 2**-53) * (1 - 1e-5) <= each < 1
    assert 0 <= errors.margin({0: 1.0}, each) < 1e3
