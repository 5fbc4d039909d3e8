"""Weighted people: what the worst of them costs, what comes back, and how many have room."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.candidates import designs
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.design.threshold import threshold
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Budget
from halfnoise.workload.gathering import weighed
from halfnoise.workload.sets import Box
from halfnoise.workload.totals import Totals
from halfnoise.workload.weights import Weighing
from support import reference, weighted
from support.small_workloads import QUERIES, maker

WEIGHED = [name for name in QUERIES if "variance" not in name]  # which is refused with weights
BOUNDS = [(0.0, 5.0), (0.3, 1.7), (2.0, 1000.1), (0.0, 0.37)]
RULES: dict[str, dict[str, Any]] = {
    "alone": {},
    "heads": {"unweighted_size": True},
    "squares": {"effective_size": True, "size_importance": 1.0},
    "groups": {"groups": 3},
    "heads in groups": {"groups": 2, "max_groups": 2, "unweighted_size": True},
    "two groups": {"groups": 4, "max_groups": 2},
}
CASES = [
    (queries, rule, BOUNDS[(i + j) % len(BOUNDS)])
    for i, queries in enumerate(WEIGHED)
    for j, rule in enumerate(RULES)
    if rule != "two groups" or queries not in ("mixture", "items and mean")
]
WASTE = 1e-3


def grids(workload: hn.Workload, mu: float = 0.8) -> list[CenteredMeasurement]:
    """Return all designs of a workload, on their grids."""
    found = []
    budget = Budget(mu=mu, epsilon=mu)
    for design in designs(workload, budget, known_size=not workload.grouped):
        grid = design.on_grid(workload, mu)
        assert isinstance(grid, CenteredMeasurement)
        found.append(grid)
    return found


@pytest.mark.parametrize(("queries", "rule", "bounds"), CASES)
def test_the_worst_costs_what_is_declared(
    queries: str, rule: str, bounds: tuple[float, float]
) -> None:
    """By exact fractions of what is measured, of all weights: never more, hardly less."""
    workload = maker(queries)(**RULES[rule], weight=hn.Weight("w", bounds=bounds))
    for grid in grids(workload):
        power = 2 if grid.design.noise is Noise.GAUSSIAN else 1
        declared = Fraction(grid.design.loss()) ** power
        cost = weighted.worst(grid, workload)
        assert (1 - Fraction(WASTE)) * declared <= cost <= declared, grid.design.name


TABLES: list[Any] = [
    hn.Table([hn.Choice("c", ["a", "b"]), hn.Bins("g", [0, 1])]),
    hn.Table(["c", hn.Choice("d", ["x"])]),
    hn.Count("yes", by=["c"]),
    hn.Sum("v", bounds=(-1, 4), by=["g"], name="sum"),
    hn.Mean("v", bounds=(-1, 4), by=["c", "d"], name="mean"),
]


@pytest.mark.parametrize("rule", ["alone", "heads", "squares", "groups"])
def test_the_worst_in_tables_costs_what_is_declared(rule: str) -> None:
    """The same for tables and values by cell, of which each person is read by the slow rules."""
    rules = RULES[rule] if rule != "groups" else {"by": "h", "groups": ["a"], "other": None}
    workload = hn.Workload(TABLES, weight=hn.Weight("w", bounds=(0.3, 1.7)), **rules)
    cells = itertools.product(["a", "b", None], [None, 0, 2], ["x", None])
    kinds = itertools.product([*cells], [True, False], [-1, 4, None], [0.3, 0.9, 1.7])
    rows = [
        {"c": c, "g": g, "d": d, "yes": yes, "v": v, "w": w, "h": "a"}
        for (c, g, d), yes, v, w in kinds
    ]
    for grid in grids(workload):
        costs = []
        for row in rows:
            sums, size = reference.totals([row], workload, grid, ())
            ring = tuple(np.array([[x % 2**64 for x in own]], dtype=np.uint64) for own in sums)
            one, people = np.array([1], dtype=np.uint64), np.array([size], dtype=np.uint64)
            totals = Totals(sums=ring, people=people, everyone=people, heads=one)
            costs.append(grid.measure(totals)[0])
        moved = np.concatenate(costs)
        near = ((moved.view(np.int64) / grid.scales[0]) ** 2).sum(axis=1)
        worst = weighted.exact_cost(grid, [moved[[near.argmax()]]])
        declared = Fraction(grid.design.loss()) ** 2
        assert (1 - Fraction(WASTE)) * declared <= worst <= declared


MUTANTS = {
    "everybody weighs one": ("heaviest", property(lambda _: Fraction(1))),
    "bounds are as they are": ("wider", property(lambda _: 0)),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_loss_is_seen(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where weights are forgotten, or products rounded beyond the bounds, somebody costs more."""
    monkeypatch.setattr(Weighing, *MUTANTS[mutant])
    workload = maker("sum around zero")(weight=hn.Weight("w", bounds=(0.3, 1.7)))
    over = [weighted.worst(g, workload) > Fraction(g.design.loss()) ** 2 for g in grids(workload)]
    assert any(over)


ROOM = {"one count": 40, "one sum": 40, "choice": 40, "mean": 32, "items": 32, "mixture": 32}


@pytest.mark.parametrize("queries", ROOM)
@pytest.mark.parametrize("rule", ["alone", "heads", "squares"])
def test_there_is_room_for_many_people(queries: str, rule: str) -> None:
    """Of 2^40 people of the highest weight, or 2^32 of them, totals come back without wrapping."""
    workload = maker(queries)(**RULES[rule], weight=hn.Weight("w", bounds=(0, 4.9)))
    times = 2 ** ROOM[queries]
    for grid in grids(workload):
        weighing = grid.blocks[0].weighing
        for person in list(weighted.people(workload, grid))[::7]:
            w = float(person.weight * weighing.whole / weighing.parts)
            totals = weighted.together(grid, [person], times)
            back = grid.recover(grid.measure(totals), times * w)
            truth = [w * x for part in person.corner for x in part]
            truth += [1.0] if workload.unweighted_size else []
            got = back.estimates[0] / times
            assert got == pytest.approx(truth, rel=1e-5, abs=1e-4)
            assert back.sizes is None or back.sizes[0] / times == pytest.approx(w, abs=1e-9)


def test_whole_weights_are_exact() -> None:
    """Weights of 1, 2 and 2.75 are on the grid, so that a weight of one is one person."""
    for high in (1.0, 5.0, 1000.0):
        weighing = Weighing.of(hn.Weight("w", bounds=(0, high)), 2)
        part = weighing.whole / weighing.parts
        assert all((Fraction(w) / part).denominator == 1 for w in (1, 2, 2.75))
        assert weighing.heaviest == high
        assert weighing.parts / 2 <= weighing.high <= weighing.parts


@pytest.mark.parametrize("high", [8, 0.25])
def test_the_design_is_that_of_people_scaled(high: float) -> None:
    """Every error is the highest weight times that of people without weights, small or large."""
    for queries in WEIGHED:
        alike, heavy = maker(queries)(), maker(queries)(weight=hn.Weight("w", bounds=(0, high)))
        budget = Budget(mu=1.0, epsilon=1.0)
        others = {d.name: d for d in designs(alike, budget, known_size=True)}
        for design in designs(heavy, budget, known_size=True):
            other = others[design.name]
            assert design.query_std == pytest.approx([high * x for x in other.query_std], rel=1e-9)
            assert design.loss() <= 1.0


@pytest.mark.parametrize("bounds", BOUNDS)
def test_the_number_of_people_is_free(bounds: tuple[float, float]) -> None:
    """With heads every other error is as without; that of heads is that of the covariance."""
    for queries in WEIGHED:
        weight = hn.Weight("w", bounds=bounds)
        plain, heads = (maker(queries)(weight=weight, size_importance=1.0, unweighted_size=on)
                        for on in (False, True))  # fmt: skip
        budget = Budget(mu=1.0)
        others = {d.name: d for d in designs(plain, budget)}
        for design in designs(heads, budget):
            if (other := others[design.name]).size_scale is None:
                continue
            assert design.query_std == pytest.approx(other.query_std, rel=1e-9)
            assert design.size_std == pytest.approx(other.size_std, rel=1e-9)
            dense = design.covariance.dense()
            beyond, own = (x**2 for x in design.head_scales)  # type: ignore[attr-defined]
            middle = float(design.weighing.middle)
            assert dense[-2, -2] == pytest.approx(own, rel=1e-9)
            assert dense[-1, -1] == pytest.approx(beyond + middle**2 * own, rel=1e-9)
            assert dense[-1, -2] == pytest.approx(middle * own, rel=1e-9)


def test_a_key_of_one_person_does_not_show() -> None:
    """The threshold hides a group of one person of the highest weight, but for its delta."""
    rules: dict[str, Any] = {"by": "g", "groups": "discover", "discover_delta": 1e-6}
    weight = hn.Weight("w", bounds=(0, 5))
    for heads in (False, True):
        workload = hn.Workload([hn.Count("a")], weight=weight, unweighted_size=heads, **rules)
        (grid, *_) = [g.discovering(1, 1e-6) for g in grids(workload)]
        assert grid.threshold is not None
        person = weighted.Person(((1.0,),), grid.blocks[0].weighing.high)
        (row,) = grid.measure(weighted.together(grid, [person]))
        beyond = grid.threshold.steps - 0.5 - float(row.view(np.int64)[0, -1])
        p = math.erfc(beyond / float(grid.scales[0][-1]) / math.sqrt(2)) / 2
        assert 0.9e-6 <= p <= 1e-6
        step, scale = grid.threshold.step, float(grid.scales[0][-1])
        if not heads:  # of a person who counts once, it would be lower
            lower = threshold(Noise.GAUSSIAN, scale, step, most=1, delta=1e-6)
            assert lower.steps < grid.threshold.steps


def test_sums_of_a_new_kind_are_not_weighted() -> None:
    """What nobody has thought through with weights is refused, not released."""

    class New(Box):
        __slots__ = ()

    block = replace(hn.Workload([hn.Count("a")]).blocks[0], shape=New(1))
    with pytest.raises(hn.NotSupportedError, match="'a' cannot be weighted"):
        weighed([block], hn.Weight("w", bounds=(0, 5)))


def test_what_is_refused() -> None:
    """Bounds, relations and sizes that make no sense are refused with a sentence."""
    for bounds in [(-1, 5), (3, 3), (5, 1), (0, math.inf), (0, 0), "05", (1,)]:
        with pytest.raises(hn.InvalidParameterError, match=r"weight|low|high"):
            hn.Weight("w", bounds=bounds)  # type: ignore[arg-type]
    weight = hn.Weight("w", bounds=(0, 5))
    with pytest.raises(hn.NotSupportedError, match="add-remove alone, got replace"):
        hn.Workload([hn.Count("a")], weight=weight, neighbors=hn.Neighbors.REPLACE)
    for size in ("unweighted_size", "effective_size"):
        with pytest.raises(hn.InvalidParameterError, match="go with a weight"):
            hn.Workload([hn.Count("a")], **{size: True})  # type: ignore[arg-type]
    heads = hn.Workload([hn.Count("a")], weight=weight, unweighted_size=True)
    with pytest.raises(hn.NotSupportedError, match="unweighted size comes with Gaussian"):
        hn.plan(heads, privacy=hn.PureDP(epsilon=1))
    with pytest.raises(hn.InvalidParameterError, match="must be a Weight"):
        hn.Workload([hn.Count("a")], weight="w")  # type: ignore[arg-type]
    named = hn.Count("a", name="sum of squared weights")
    with pytest.raises(hn.InvalidParameterError, match="asked twice"):
        hn.Workload([named], weight=weight, effective_size=True)
    assert replace(heads, weight=hn.Weight("w", bounds=(0, 4))) != heads
