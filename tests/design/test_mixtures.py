"""Mixtures of everything: within half a per cent of their bounds, planned whatever weighs what."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design import allocation, cells, certificate, duality
from halfnoise.design.duality import solve
from halfnoise.design.people import People, Size
from halfnoise.design.programme import Programme
from halfnoise.design.stacks import Stacks
from halfnoise.workload.sets import Placed, chains, folds
from support.any_workload import any_queries
from support.levels import MU
from support.measured import noise_by_noise
from support.soak import MORE
from support.table_people import costs
from support.table_workloads import drawn

NEAR = 1.005  # of the squared error of the best noise there is
SHORT = 1e-3  # of what is declared: what is lost to rounding, shares of places above all
REPLACE = hn.Neighbors.REPLACE


def above(workload: hn.Workload, **rules: Any) -> float:
    """Return the squared error of what is chosen, which fits a grid, relative to its bound."""
    plan = hn.plan(workload, privacy=MU, **rules)
    assert plan.measurement
    assert plan.least_error_bound is not None
    return plan.chosen.error(workload) / plan.least_error_bound


@pytest.mark.parametrize("turn", range(12 * MORE))
def test_tables_with_anything_beside(turn: int) -> None:
    """Four mixtures of tables, values by cell and all else, in groups or not, by either goal."""
    for seed in range(4 * turn, 4 * turn + 4):
        workload = drawn(seed)
        queries = (*workload.queries, *any_queries(random.Random(seed), 2))
        workload = replace(workload, queries=queries)
        assert 1 <= above(workload) <= NEAR, seed
        if seed % 2 and any(getattr(block, "values", ()) for block in workload.blocks):
            assert 1 <= above(replace(workload, objective="largest")) <= NEAR, seed


@pytest.mark.parametrize("deep", [3, 5])
def test_places_that_hardly_weigh_anything(deep: int) -> None:
    """Places have shares of those whose number is known, also where the finest hardly weigh."""
    levels = [f"l{i}" for i in range(deep)]
    places = hn.Nested(*levels, places=[("x",) * deep, ("y",) * deep])
    importance = dict.fromkeys(levels[1:], 1e-12) | {"l0": 1e12}
    assert above(hn.Workload([places], importance=importance), known_size=True) <= 1.002


@pytest.mark.parametrize("rules", [{}, {"objective": "largest"}, {"neighbors": REPLACE}])
def test_values_by_places_of_one_level(rules: dict[str, Any]) -> None:
    """They share noise with people, as values by choices do."""
    tables = hn.Table([hn.Nested("a", places=[("x",), ("y",), ("z",)]), hn.Choice("sex", ["f"])])
    values = (hn.Mean("v", bounds=(0, 1), by=["a", "sex"]), hn.Sum("w", bounds=(4, 9), by=["a"]))
    workload = hn.Workload([tables, *values], **rules)
    assert 1 <= above(workload) <= 1.001
    found = costs(hn.plan(workload, privacy=MU))
    assert 1 - SHORT <= max(found.each) <= 1


def test_sums_that_hardly_weigh_anything() -> None:
    """Of eleven unlike sums, weighed four orders of magnitude apart, what is chosen is near."""
    for seed in range(6):
        chance = random.Random(seed)
        lows = [chance.uniform(-3, 3) for _ in range(11)]
        sums = [hn.Sum(f"x{i}", bounds=(x, x + chance.uniform(1, 5))) for i, x in enumerate(lows)]
        weights = {each.label: 10 ** chance.uniform(-2, 2) for each in sums}
        workload = hn.Workload(sums, importance=weights)
        assert above(workload) <= 1.004
        plan = hn.plan(workload, privacy=MU)
        least = min(design.error(workload) for design in plan.designs)
        assert plan.chosen.error(workload) <= 1.0021 * least
        assert least <= 1.003 * (plan.least_error_bound or 0.0)  # of rows that are short


GROUPED = [
    ([hn.Counts(4), hn.Sum("x", bounds=(-6.6, -6.5)), hn.Sum("y", bounds=(1000, 1003.1))], 4),
    ([hn.Sum("x", bounds=(1000, 1004.3)), hn.Bins("b", [0, 3]), hn.Sum("y", bounds=(-4, 21))], 5),
]


@pytest.mark.parametrize(("queries", "groups"), GROUPED)
def test_rows_of_groups_have_a_place_on_the_grid(queries: Any, groups: int) -> None:
    """What groups are apart is multiplied with their number, and rows of it are short enough."""
    workload = hn.Workload(queries, groups=groups, neighbors=REPLACE, size_importance=0.1)
    assert above(workload) <= NEAR


ITEMS = hn.Items("i", list("abcdefgh"), at_most=3)
COUNT, CHOICE = hn.Count("k"), hn.Choice("c", ["u", "v"])
TABLE = hn.Table([hn.Choice("a", ["x", "y"]), hn.Choice("b", list("pqrs"))])
FAR: list[tuple[list[Any], dict[str, Any]]] = [
    ([COUNT, CHOICE, ITEMS], {"groups": 2}),
    ([CHOICE, ITEMS], {"neighbors": REPLACE}),
    ([CHOICE, ITEMS], {}),
    ([COUNT, ITEMS], {"groups": 2, "max_groups": 2}),
    ([COUNT, TABLE], {}),
]


@pytest.mark.parametrize("privacy", [MU, hn.PureDP(epsilon=1)], ids=["Gaussian", "Laplace"])
@pytest.mark.parametrize(("queries", "rules"), FAR)
def test_any_importances_are_planned(queries: Any, rules: dict[str, Any], privacy: Any) -> None:
    """What weighs 24 orders of magnitude less than the rest is measured, and costs that little."""
    if TABLE in queries and privacy is not MU:
        return
    for last, size in itertools.product((1e-12, 1e12), (0.0, 1e-12, 1e12)):
        labels = [query.label for query in queries]
        weights = dict.fromkeys(labels, 1 / last) | {labels[-1]: last}
        workload = hn.Workload(queries, importance=weights, size_importance=size, **rules)
        plan = hn.plan(workload, privacy=privacy)
        assert plan.measurement
        if privacy is MU:
            bound = certificate.least_error(workload, 1.0)
            assert bound is not None
            assert plan.chosen.error(workload) <= NEAR * bound


def test_what_weighs_nothing_has_no_place_on_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test sees budgets of which nothing is left for it."""
    monkeypatch.setattr(allocation, "LEAST_PART", dict.fromkeys(allocation.LEAST_PART, 0.0))
    with pytest.raises(hn.InvalidParameterError, match="importances that differ less"):
        test_any_importances_are_planned(*FAR[0], MU)


def many() -> Programme:
    """Return a programme with more kinds of people than are priced at once."""
    sums = [hn.Sum(f"x{i}", bounds=(i / 3, 1 + i)) for i in range(10)]
    weights = {each.label: 4.0 ** (i % 5) for i, each in enumerate(sums)}
    people = People.of(hn.Workload(sums, importance=weights).blocks, Size.UNUSED)
    assert people is not None
    return people.programme


def test_nobody_costs_more_than_those_who_are_priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many kinds of people some are priced in the end, and all keep to the promise."""
    programme = many()
    found = solve(programme)
    matrices = [each[None] for each in found.matrices]
    assert Stacks.of(programme).costs(matrices, found.lines).max() <= 1 + 1e-9
    assert found.bound <= found.error <= found.bound * (1 + duality.CLOSE)
    monkeypatch.setattr(duality, "FEW", 2**40)
    every = solve(programme)
    assert found.bound == pytest.approx(every.bound, rel=2 * duality.CLOSE)
    assert found.error >= every.bound


def test_some_rounds_alone_are_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test sees prices that are left where they are after some rounds."""
    monkeypatch.setattr(duality, "MOST_TURNS", 0)
    with pytest.raises(AssertionError):
        test_nobody_costs_more_than_those_who_are_priced(monkeypatch)


@pytest.mark.parametrize(("d", "most"), [(1, 1), (2, 1), (2, 2), (5, 2), (6, 6), (7, 7), (9, 4)])
def test_who_is_left_out_is_never_the_dearest(d: int, most: int) -> None:
    """Changes that are not listed cost no more than those that are, whatever noise there is."""
    every = [folds._swaps(d, most, more) for more in range(-most, most + 1)]
    kept, draws = folds._dearest(every), np.random.default_rng(1)
    assert len(kept) < len(every) or most < d
    all_, some = (np.array([[float(x) for x in each] for each in own]) for own in (every, kept))
    for rate, shift, across in draws.exponential(size=(200, 3)) * [1, 5, 1]:
        cost = [rate * (own[:, 0] + shift) ** 2 + across * own[:, 1] for own in (all_, some)]
        assert cost[1].max() == pytest.approx(cost[0].max(), rel=1e-12)


PLACES = hn.Nested("s", "c", places=[("A", "x"), ("A", "y"), ("A", "z"), ("B", "x")])
SEX, FEW = hn.Choice("sex", ["f"]), hn.Items("i", list("abc"), at_most=1)
BESIDE: list[list[Any]] = [
    [PLACES, FEW],
    [PLACES, hn.Table(["c", SEX]), FEW, hn.Mean("m", bounds=(0, 5))],
    [PLACES, hn.Items("i", list("abcde"), at_most=2), hn.Sum("x", bounds=(2, 9))],
    [PLACES, FEW, hn.Sum("v", bounds=(0, 10), by=["s"])],
]


RELATIONS: list[dict[str, Any]] = [{}, {"known_size": True}, {"neighbors": REPLACE}]


@pytest.fixture(params=["with shares", "without"])
def shares(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    """Return whether places have shares of all people; without, they tell how many there are.

    Kinds of places are too many to find noise for each.
    """
    monkeypatch.setattr(cells, "MOST_SPOTS", 0)
    caches = (chains._chain, folds._listed)  # what equal sets are made of
    if request.param == "without":
        for name in ("LARGE_BITS", "PEOPLE_BITS", "VALUE_BITS"):
            monkeypatch.setattr(chains, name, 0)
    for cache in caches:
        cache.cache_clear()
    yield request.param == "with shares"
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize("rules", RELATIONS)
@pytest.mark.parametrize("queries", BESIDE)
def test_places_beside_items(queries: Any, rules: dict[str, Any], *, shares: bool) -> None:
    """Items share noise there as everywhere, everybody keeps to the loss, and errors are exact."""
    own: dict[str, Any] = {name: rule for name, rule in rules.items() if name != "known_size"}
    workload, size = hn.Workload(queries, **own), bool(rules.get("known_size"))
    by_cell = any(getattr(block.shape, "values", ()) for block in workload.blocks)
    if shares:  # closed forms are 7% above, and more
        assert above(workload, known_size=size) <= (1.015 if by_cell else NEAR)
    plan = hn.plan(workload, privacy=MU, known_size=size)
    assert plan.chosen.name == "fitted-gaussian"
    found, declared = costs(plan, 4000), Fraction(plan.measurement.design.loss()) ** 2
    assert max(found.each) <= declared
    assert max(found.each) >= declared * (1 - SHORT) or not found.complete
    covariance, dense = plan.measurement.design.covariance, noise_by_noise(plan)
    assert covariance.dense() == pytest.approx(dense, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("shares", ["without"], indirect=True)
def test_what_places_say_of_all_people_is_heard(
    *, shares: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test sees it if that is left out."""
    monkeypatch.setattr(Placed, "tells", lambda _, __, ___, root: (0.0, np.zeros_like(root)))
    with pytest.raises(AssertionError):
        test_places_beside_items(BESIDE[0], {}, shares=shares)


@pytest.mark.parametrize("seed", range(24 * MORE))
def test_any_places_with_anything_beside(seed: int) -> None:
    """Trees of any kind, tables by their levels, and all else, are near the best in all modes."""
    rng = random.Random(seed)
    places = [
        (f"s{i}", f"c{j}") for i in range(rng.randint(2, 9)) for j in range(rng.randint(1, 7))
    ]
    rules: dict[str, Any] = {"neighbors": REPLACE} if seed % 3 == 2 else {}
    queries: list[Any] = [hn.Nested("s", "c", places=places), *any_queries(rng, 2)]
    workload = hn.Workload(queries, **rules)
    assert 1 - 1e-6 <= above(workload, known_size=seed % 3 == 1) <= NEAR


@pytest.mark.parametrize("importance", [10.0, 19.0, 1000.0])
def test_shares_that_are_too_short_are_left_to_coarser_places(importance: float) -> None:
    """Where one state has 199 counties, and the others one: what all of them come to is uneven."""
    places = [*(("s", f"c{i}") for i in range(199)), ("t",)]
    workload = hn.Workload([hn.Nested("s", "c", places=places)], importance={"s": importance})
    assert above(workload, known_size=True) <= 1.07


@pytest.mark.parametrize("size", [1e9, 1e12, 1e18])
def test_goals_are_measured_in_a_way_that_has_a_grid(size: float) -> None:
    """With the weights of goals that come out alike shares of places may be too long for one."""
    queries: list[Any] = [PLACES, hn.Sum("v", bounds=(1, 3), by=["s"]), hn.Count("y")]
    workload = hn.Workload(queries, size_importance=size, objective="largest")
    plan = hn.plan(workload, privacy=hn.GaussianDP(mu=0.01))
    assert plan.measurement.design.loss() <= 0.01


def test_levels_are_weighed_by_what_they_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where people are replaced, scales of levels follow from estimates, and are near the best."""
    queries: list[Any] = [PLACES, hn.Table(["c", SEX]), hn.Sum("v", bounds=(0, 9), by=["s"])]
    workload = hn.Workload(queries, neighbors=REPLACE)
    assert above(workload) <= 1.001
    monkeypatch.setattr(cells, "MOST_SPOTS", 0)  # as if kinds of places were too many
    near = above(workload)
    assert near <= 1.015
    monkeypatch.setattr(Placed, "pooling", None)
    assert above(workload) > near + 0.005
