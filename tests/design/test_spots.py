"""Noise that is found for places inside places: least, within its loss, exact, and as it says."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design import cells, duality, goals
from halfnoise.design.cell_parts import CellPart
from halfnoise.design.cell_states import CellStates
from halfnoise.design.cells import Cells
from halfnoise.design.covariance import Covariance
from halfnoise.design.fitted import Fitted
from halfnoise.design.spot_errors import SpotErrors
from halfnoise.workload.sets.placed import Placed
from halfnoise.workload.sets.spots import Spots
from halfnoise.workload.sets.tree import Tree
from halfnoise.workload.totals import Totals
from support.any_workload import any_queries
from support.levels import MU
from support.measured import noise_by_noise
from support.moments import covers
from support.quadratic import quadratic_form
from support.soak import MORE, SOAKS
from support.table_people import costs, everybody
from support.table_releases import releases

NEAR = 1.005  # of the squared error of the best noise there is
HALF, DEAREST = 0.9, 0.99  # of the bound of all, that of half of them, and of the dearest
SHORT = 1e-3  # of what is declared
NUMBER = 100_000 if SOAKS else 20_000
REPLACE = hn.Neighbors.REPLACE
MODES: list[dict[str, Any]] = [{}, {"known_size": True}, {"neighbors": REPLACE}]
MODES.append({"objective": "largest"})


def in_any_places(seed: int) -> list[Any]:
    """Return tables and values by the places of a small tree, and now and then anything beside."""
    rng = random.Random(seed)
    deep = rng.choice([2, 2, 3])
    names, many = ["s", "c", "t"][:deep], {2: (5, 4), 3: (3, 3, 2)}[deep]
    places = list[tuple[str, ...]]([()])
    for level, most in zip(names, many, strict=True):
        places = [(*path, f"{level}{i}") for path in places for i in range(rng.randint(1, most))]
    axes: list[Any] = [hn.Choice("a", ["x", "y"]), hn.Bins("b", [0, 3])]
    axes = axes[: rng.randint(0, 2)]
    queries: list[Any] = [hn.Table([hn.Nested(*names, places=[*places, ("z",) * deep]), *axes])]
    for i in range(rng.randint(1, 2)):
        by = [rng.choice(names), *(axis.label for axis in axes if rng.random() < 0.5)]
        low = rng.choice([0.0, -3.7, 1000.0])
        bounds = (low, low + 10 ** rng.uniform(-1, 2))
        kinds = [hn.Count(f"v{i}", by=by), hn.Sum(f"v{i}", bounds=bounds, by=by)]
        queries.append(rng.choice([*kinds, hn.Mean(f"v{i}", bounds=bounds, by=by)]))
    return queries + (any_queries(rng, 1) if rng.random() < 0.3 else [])


def planned(queries: Any, mode: dict[str, Any]) -> hn.Plan:
    """Plan a workload of queries."""
    own = {name: rule for name, rule in mode.items() if name != "known_size"}
    return hn.plan(hn.Workload(queries, **own), privacy=MU, known_size="known_size" in mode)


def spotted(plan: hn.Plan) -> bool:
    """Whether the noise was found in parts of places."""
    design = plan.chosen
    return isinstance(design, Fitted) and any(
        isinstance(fold, Cells) for fold in design.rows.people.folds
    )


@pytest.mark.parametrize("seed", range(20 * MORE))
def test_any_values_by_places(seed: int) -> None:
    """They have the least error; all neighbours that can be listed cost what is declared."""
    for mode in MODES:
        plan = planned(in_any_places(seed), mode)
        bound = plan.least_error_bound
        assert bound is not None
        shapes = [block.shape for block in plan.workload.blocks]
        several = [CellStates(shape) for shape in shapes if isinstance(shape, Placed)]
        few = sum(states.number(leaves=False) for states in several) <= 2**12
        if mode != MODES[2] or (few and len(shapes) == 1):
            assert 1 - 1e-6 <= plan.chosen.error(plan.workload) / bound <= NEAR
        found, declared = costs(plan, 500), Fraction(plan.measurement.design.loss()) ** 2
        assert max(found.each) <= declared
        assert max(found.each) >= declared * (1 - SHORT) or not found.complete


def by_some(seed: int, patch: pytest.MonkeyPatch, part: int) -> float:
    """Return the bound that a part of all changes gives, in parts of that of all."""
    queries, mode = in_any_places(seed), MODES[2]
    bound = planned(queries, mode).least_error_bound
    shapes = [block.shape for block in hn.Workload(queries, **mode).blocks]
    (states,) = (CellStates(shape) for shape in shapes if isinstance(shape, Placed))
    numbers = sum(2 * len(part.own) for part in states.parts)
    kinds = states.number(leaves=False)
    patch.setattr(cells, "MOST_NUMBERS", numbers * (kinds - 1))
    patch.setattr(cells, "MOST_FOR_SOME", numbers * (kinds // part))
    some = planned(queries, mode)
    assert not spotted(some)
    assert some.least_error_bound
    assert bound
    return some.least_error_bound / bound


@pytest.mark.parametrize("seed", range(12 * MORE))
def test_some_of_too_many_bound_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their bound is below the one of all, to how near that is, and not far."""
    assert HALF <= by_some(seed, monkeypatch, 2) <= NEAR


@pytest.mark.parametrize("seed", range(6 * MORE))
def test_the_dearest_are_added(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a few at first, and the dearest of all, the bound is nearly that of all."""
    monkeypatch.setattr(duality, "SOME", 0)
    monkeypatch.setattr(duality, "FEWEST", 3)
    monkeypatch.setattr(duality, "MANY", 4)
    assert DEAREST <= by_some(seed, monkeypatch, 1) <= NEAR


def test_changes_that_are_alike_say_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of some sees it."""
    monkeypatch.setattr(cells, "spread", lambda number, most: np.arange(min(number, most, 3)))
    assert by_some(0, monkeypatch, 2) < HALF


def test_a_few_to_which_none_are_added_say_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the dearest sees it."""
    monkeypatch.setattr(duality, "AGAIN", 0)
    with pytest.raises(AssertionError):
        test_the_dearest_are_added(0, monkeypatch)


REPLACED: dict[str, Any] = {"neighbors": REPLACE, "objective": "largest"}


@pytest.mark.parametrize("seed", [0, 1, 4, 10, 26])
def test_the_largest_error_where_people_are_replaced(seed: int) -> None:
    """It is the least there is, and nobody costs more than is declared."""
    plan = planned(in_any_places(seed), REPLACED)
    assert plan.least_error_bound
    assert plan.chosen.error(plan.workload) <= NEAR * plan.least_error_bound
    found, declared = costs(plan, 500), Fraction(plan.measurement.design.loss()) ** 2
    assert max(found.each) <= declared


def test_rounding_is_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test sees noise that is not looked for, as a weight seems too little to tell."""
    monkeypatch.setattr(goals, "NOTHING", 0.0)
    with pytest.raises(AssertionError):
        test_the_largest_error_where_people_are_replaced(0)


PLACES = [("A", "x"), ("A", "y"), ("A", "z"), ("B", "x"), ("B", "y"), ("C", "x")]
NESTED, SEX = hn.Nested("s", "c", places=PLACES), hn.Choice("sex", ["f"])
MIXED = [
    hn.Table([NESTED, SEX]),
    hn.Mean("m", bounds=(2, 9), by=["c"]),
    hn.Sum("v", bounds=(10, 12), by=["s", "sex"]),
    hn.Count("k", by=["c"]),
    hn.Items("i", ["p", "q"], at_most=1),
]


@pytest.mark.parametrize("mode", MODES)
def test_errors_are_those_of_what_is_measured(mode: dict[str, Any]) -> None:
    """Entries, blocks, weighted sums, cells beside their margins, and products agree."""
    plan = planned(MIXED[:-1] if "neighbors" in mode else MIXED, mode)
    assert spotted(plan)
    covariance, dense = plan.measurement.design.covariance, noise_by_noise(plan)
    tables, rng = covariance.tables, np.random.default_rng(1)
    assert isinstance(tables, SpotErrors)
    assert Covariance.from_dict(covariance.to_dict()) == covariance
    assert covariance.dense() == pytest.approx(dense, rel=1e-9, abs=1e-9)
    assert covariance.diagonal() == pytest.approx(np.diag(dense))
    for i, j in rng.integers(0, len(dense), (200, 2)).tolist():
        assert covariance.between(i, j) == pytest.approx(dense[i, j], abs=1e-9)
    for _, axes, start, stop in tables.tables:
        shape, own = [tables.levels[axis] for axis in axes], dense[start:stop, start:stop]
        weights, inside = rng.normal(size=shape), np.zeros(shape)
        assert covariance.weighted(start, weights) == pytest.approx(
            weights.ravel() @ own @ weights.ravel(), abs=1e-9
        )
        chosen = [sorted(rng.choice(n, rng.integers(1, n), replace=False).tolist()) for n in shape]
        inside[np.ix_(*chosen) if shape else ()] = 1.0
        expected = inside.ravel() @ own @ inside.ravel()
        assert covariance.block(start, start, chosen) == pytest.approx(expected, abs=1e-9)
        for _, margin, other, _ in tables.tables:
            place = {axis for axis in margin if axis < tables.deep}
            coarser = not place or (axes and axes[0] < tables.deep and min(place) <= axes[0])
            if coarser and {*margin} - place <= {*axes}:
                by_place, around = covariance.matched(start, other), covariance.around(start, other)
                many, inner = (stop - start) // len(by_place), tables.places(other)[1]
                rows = start + many * np.arange(len(by_place))
                assert by_place == pytest.approx(dense[rows, other + inner * around], abs=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_without_noise_everything_comes_back(mode: dict[str, Any]) -> None:
    """What is measured of people says all tables exactly, and all levels add up."""
    plan = planned(MIXED[:-1], mode)
    ready, (block,) = plan.measurement, plan.measurement.blocks
    people, _ = everybody((block,), 60, random.Random(1))
    each = zip(*(row[0] for row in people), strict=True)
    total = np.array([[sum(own) % 2**64 for own in each]], dtype=np.uint64)
    size = np.array([len(people)], dtype=np.uint64)
    totals = Totals(sums=(total,), people=size, everyone=size)
    found = ready.recover(ready.measure(totals), float(len(people))).estimates[0]
    shape, start, at = block.shape, 0, 0
    assert isinstance(shape, Placed)
    sums = dict[Any, Any]()
    for k, layer in enumerate(shape.layers):
        for axes in layer.axes:
            number = int(np.prod([shape.levels[axis] for axis in axes]))
            own = total[0, at : at + number].view(np.int64)
            sums[k, axes], at = own.astype(float), at + number
    sums[0, ()] = np.array([float(len(people))])
    for k, axes in shape.tables:
        layer, own = shape.layers[k], sums[k, axes]
        if layer.value is not None and not layer.answers:
            value = shape.values[layer.value]
            whom = sums[k + 1 if value.optional else 0, axes]
            more = value.middle if value.optional else value.offset
            own = own * float(value.quantum) + float(more) * whom
        assert found[start : start + len(own)] == pytest.approx(own, abs=1e-6)
        start += len(own)


def uncovered(mode: dict[str, Any]) -> list[str]:
    """List estimates whose errors are within 95% of what is said too seldom, or too often."""
    found = releases(planned(MIXED[:-1], mode), NUMBER)
    draws, bad = np.random.default_rng(3), list[str]()
    for kind, by in found.block.shape.tables:
        own = found.cells(kind, *by)
        weights = np.zeros(len(found.truth))
        weights[own] = draws.normal(size=own.stop - own.start)
        for name, each in (("cell", found.at(own.start)), ("sum", weights)):
            if quadratic_form(found.covariance, each) > 1e-12:
                held = int((abs(found.error_of(each)) <= 1.959963984540054).sum())
                bad += [] if covers(held, NUMBER, 0.95) else [f"{name} {kind} {by}"]
    return bad


@pytest.mark.parametrize("mode", MODES)
def test_intervals_cover(mode: dict[str, Any]) -> None:
    """Of cells and weighted sums of all tables 95% hold."""
    assert uncovered(mode) == []


def test_intervals_that_are_too_short_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test rejects errors that are a tenth smaller than they are."""
    own = SpotErrors.held
    monkeypatch.setattr(SpotErrors, "held", lambda errors, *said: 0.9 * own(errors, *said))
    assert uncovered({})


def half_charged(fold: Cells, own: Any = Cells.charged_to) -> Any:
    """Charge half of what is moved."""
    return own(fold) / 2


MUTANTS: list[tuple[type, str, Any, Any]] = [
    (Cells, "charged_to", half_charged, test_any_values_by_places),
    (CellStates, "shared", lambda *_: Fraction(1, 8), test_any_values_by_places),
    (SpotErrors, "_apart_in", lambda *_: 1.0, test_errors_are_those_of_what_is_measured),
    (CellStates, "leans", [[]] * 6, test_without_noise_everything_comes_back),
    (CellPart, "projected", lambda _, noisy: noisy, test_errors_are_those_of_what_is_measured),
]


@pytest.mark.parametrize(("of", "name", "mutant", "test"), MUTANTS)
def test_mistakes_are_seen(
    of: type, name: str, mutant: Any, test: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each test rejects places that are farther apart, or share more, than they do."""
    monkeypatch.setattr(of, name, mutant)
    tried = range(4) if test is test_any_values_by_places else (MODES[0], MODES[2])

    def all_tried() -> None:
        for each in tried:
            test(each)

    with pytest.raises((AssertionError, KeyError)):
        all_tried()


def test_too_many_kinds_stay_with_closed_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where kinds of places are too many to be listed, a plan says how far a closed form is off."""
    assert spotted(plan := planned(MIXED, {}))
    monkeypatch.setattr(cells, "MOST_SPOTS", 1)
    other = planned(MIXED, {})
    assert not spotted(other)
    assert other.chosen.error(other.workload) > 1.01 * plan.chosen.error(plan.workload)


def test_kinds_of_places() -> None:
    """Each place is of a kind, and kinds are counted level by level."""
    spots = Spots(Tree(((3,), (2, 1, 2), (1, 1, 3, 1, 1))))
    assert [each.tolist() for each in spots.kinds] == [
        [1, 2, 1],
        [3, 3, 4, 3, 3],
        [5, 5, 6, 6, 6, 5, 5],
    ]
    assert [spot.number for spot in spots.every] == [len(each) for each in spots.places]
    assert [spot.each for spot in spots.every] == [1, 2, 1, 2, 1, 1, 3]
    assert spots.under(1, 2) == [5]


def test_roots_of_what_two_share_are_numbers() -> None:
    """Where two changes share as much as they are apart, rounding leaves no root of less than 0."""
    places = [("a", "a", "a", "a"), ("a", "a", "a", "b"), ("a", "a", "b"), ("a", "b", "a", "a")]
    places += [("a", "b", "a", "b"), ("a", "b", "a", "c"), ("b",), ("c",)]
    plain: list[Any] = [hn.Choice("x", ["a"]), hn.Choice("y", ["a", "b", "c", "d"])]
    queries: list[Any] = [
        hn.Table([hn.Nested(*"stuv", places=places), *plain]),
        hn.Count("c", by=["s"]),
    ]
    for block in hn.Workload(queries, neighbors=REPLACE).blocks:
        fold = Cells.of(block.shape, 2**20, leaves=False)  # type: ignore[arg-type]
        assert fold is not None
        assert all(np.isfinite(matrix).all() for matrix in fold.matrices())


@pytest.mark.parametrize("most", range(5))
def test_some_of_too_many_are_at_least_one(most: int) -> None:
    """Where others leave room for hardly any changes of place, some are listed, or none is told."""
    places = hn.Nested("s", "t", places=[("A", "a"), ("A", "b"), ("B", "a")])
    (block,) = hn.Workload([places, hn.Count("c", by=["s"])], neighbors=REPLACE).blocks
    fold = Cells.of(block.shape, most, leaves=False, some=True)  # type: ignore[arg-type]
    assert (fold is None) == (most < 2)
    assert fold is None or 1 <= len(fold.across) <= most
