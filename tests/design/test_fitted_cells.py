"""Values by cell with noise that mixes them: what is measured, what it costs, and what is kept."""

import itertools
import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.candidates import designs
from halfnoise.design.cell_rows import CellRows
from halfnoise.design.cells import Cells
from halfnoise.design.covariance import Covariance
from halfnoise.design.fitted import Fitted
from halfnoise.design.triangle import Row
from halfnoise.privacy.definitions import Budget
from halfnoise.workload import crossing
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.sets import ByCell
from halfnoise.workload.totals import Totals
from support.any_workload import any_workload, enumerated
from support.levels import MU, axes, tables
from support.soak import MORE
from support.table_people import corners, costs, moved, squares
from support.table_releases import in_units
from support.table_workloads import drawn

REPLACE = hn.Neighbors.REPLACE
WASTE = Fraction(1, 10**4)
A, B = axes((2, 3))
LIGHT = hn.Table([A, B], importance=0.01)
MEAN, SUM = hn.Mean("m", bounds=(3, 9), by=["a0"]), hn.Sum("s", bounds=(0, 2), by=["a0", "a1"])


def fitted(queries: Any, **rules: Any) -> hn.Plan:
    """Return a plan whose design is fitted."""
    plan = hn.plan(hn.Workload(queries, **rules), privacy=MU)
    assert isinstance(plan.chosen, Fitted)
    return plan


def folds(design: Any) -> list[Cells]:
    """Return the folded tables of a design."""
    return [fold for fold in design.rows.people.folds if isinstance(fold, Cells)]


@pytest.mark.parametrize("rules", [{}, {"neighbors": REPLACE}])
@pytest.mark.parametrize("kind", [0, 1])
def test_a_part_more_is_seen(kind: int, rules: dict[str, Any]) -> None:
    """Whoever holds a little more of people in a residual than was reckoned with costs more."""
    plan = fitted([LIGHT, SUM, hn.Count("c", by=["a0"])], **rules)
    ready, declared = plan.measurement, Fraction(plan.measurement.design.loss()) ** 2
    assert max(costs(plan).each) <= declared
    across = ready.across  # type: ignore[attr-defined]
    (fold,) = folds(ready.design)
    fit = fold.fits[kind]
    *parts, people = fit.rows[0].parts
    more = people + Fraction(1, 4)
    more = more if abs(more) > 1 / 4 else more - Fraction(1, 2)
    wrong = replace(fit, rows=(Row((*parts, more)), *fit.rows[1:]))
    other = replace(fold, fits=(*fold.fits[:kind], wrong, *fold.fits[kind + 1 :]))
    people = replace(across.people, folds=(other,))
    changed = replace(ready, across=replace(across, people=people))  # type: ignore[type-var]
    object.__setattr__(plan, "measurement", changed)
    assert max(costs(plan).each) > declared


ONE = hn.Table([A], importance=0.01)
HALF = hn.Sum("s", bounds=(0, 2), by=["a0"])
IN_GROUPS: list[tuple[Any, dict[str, Any]]] = [
    ([ONE, hn.Count("c", by=["a0"])], {"groups": 2, "max_groups": 2}),
    ([ONE, HALF], {"groups": 3, "max_groups": 2}),
    ([ONE, hn.Mean("m", bounds=(3, 9), by=["a0"])], {"groups": 2, "max_groups": 2}),
    ([ONE, HALF], {"groups": 2, "neighbors": REPLACE}),
    ([ONE, hn.Count("c", by=["a0"]), hn.Count("d")], {"groups": 2, "neighbors": REPLACE}),
    ([ONE, HALF], {"groups": 1, "other": None, "neighbors": REPLACE}),
    ([ONE, HALF, hn.Count("c", by=["a0"])], {"groups": 3}),
]


@pytest.mark.parametrize(("queries", "rules"), IN_GROUPS)
def test_everybody_in_groups_costs_what_is_declared(queries: Any, rules: dict[str, Any]) -> None:
    """Everybody in all groups that they may be in: none costs more, and the dearest as much."""
    workload = hn.Workload(queries, **rules)
    plan = hn.plan(workload, privacy=MU)
    assert plan.chosen.name == "fitted-gaussian"
    declared = Fraction(plan.measurement.design.loss()) ** 2
    assert declared * (1 - WASTE) <= enumerated(workload, plan.measurement) <= declared <= 1


@pytest.mark.parametrize(("queries", "rules"), IN_GROUPS)
def test_a_smaller_scale_is_seen(queries: Any, rules: dict[str, Any]) -> None:
    """If residuals had a hundredth less noise than they have, somebody would cost more."""
    workload = hn.Workload(queries, **rules)
    ready = hn.plan(workload, privacy=MU).measurement
    (channel,) = (each for each in ready.across.channels if each)  # type: ignore[attr-defined]
    wrong = replace(channel, scales=tuple(0.99 * scale for scale in channel.scales))
    channels = [wrong if each else None for each in ready.across.channels]  # type: ignore[attr-defined]
    across = replace(ready.across, channels=tuple(channels))  # type: ignore[attr-defined]
    declared = Fraction(ready.design.loss()) ** 2
    assert enumerated(workload, replace(ready, across=across)) > declared  # type: ignore[type-var]


@pytest.mark.parametrize(("queries", "rules"), IN_GROUPS)
def test_groups_come_back(queries: Any, rules: dict[str, Any]) -> None:
    """Without noise all cells of all groups come back, and their sizes."""
    ready, rng = hn.plan(hn.Workload(queries, **rules), privacy=MU).measurement, random.Random(1)
    people = [[rng.choice(own) for own in map(list, map(corners, ready.blocks))] for _ in range(90)]
    number, sums = rules["groups"], list[Any]()
    for place in range(len(ready.blocks)):
        rows = np.array([person[place] for person in people], dtype=object)
        sums.append([rows[group::number].sum(axis=0) for group in range(number)])
    rings = [np.array([[x % 2**64 for x in row] for row in own], np.uint64) for own in sums]
    sizes = np.array([len(people[group::number]) for group in range(number)], np.uint64)
    totals = Totals(sums=tuple(rings), people=sizes, everyone=np.array([90], np.uint64))
    back = ready.recover(ready.measure(totals))
    for group in range(number):
        truth = [in_units(b, list(own[group]), 90 // number) for b, own in zip(ready.blocks, sums)]  # noqa: B905
        assert np.allclose(back.estimates[group], [x for own in truth for x in own], atol=1e-6)
    assert back.sizes is None or np.allclose(back.sizes, 90 // number)


def rounded_apart(bits: int, monkeypatch: pytest.MonkeyPatch, **rules: Any) -> float:
    """Return the most that somebody costs, in parts of what is declared, where tables round apart.

    Values lie between whole numbers of large quanta, and each table rounds them up or down as it
    likes, which its residual alone depends on.
    """
    monkeypatch.setattr(crossing, "LEAST_TABLE_BITS", bits)
    monkeypatch.setattr(crossing, "TABLE_BITS", 0)
    plan = fitted([LIGHT, SUM], **rules)
    ready, worst = plan.measurement, Fraction(0)
    (block,), (fold,) = ready.blocks, folds(ready.design)
    assert isinstance(block, TableBlock)
    own, scales = block.shape.values[0], np.asarray(ready.scales[0])
    most = int(Fraction(own.high) / own.quantum - own.offset / own.quantum)
    sizes = [len(fit.rows) * fit.kind.cells for fit in fold.fits for _ in fit.kind.axes]
    stops = np.cumsum(sizes)  # and the totals
    people = [*itertools.product(itertools.product(range(2), range(3)), (-most, most - 1))]
    for (cell, low), (other, high) in itertools.product(people[:2], people):
        found = []
        for x, y in itertools.product((low, low + 1), (high, high + 1)):
            rows = [[_person(block, cell, x)], [_person(block, other, y)]]
            steps = moved(ready, rows)  # type: ignore[arg-type]
            change = steps[1:] - steps[:1] if rules else steps[:1]
            parts = np.split(change, stops, axis=1)
            each = zip(parts, np.split(scales, stops), strict=True)
            found.append([squares(part, scale)[0] for part, scale in each])
        worst = max(worst, sum(map(max, zip(*found, strict=True)), Fraction(0)))
    return float(worst / Fraction(ready.design.loss()) ** 2)


def _person(block: TableBlock, cell: tuple[int, ...], amount: int) -> list[int]:
    row, levels = list[int](), block.shape.levels
    for layer in block.shape.layers:
        for by in layer.axes:
            table = np.zeros([levels[axis] for axis in by], dtype=object)
            table[tuple(cell[axis] for axis in by)] = 1 if layer.value is None else amount
            row += table.ravel().tolist()
    return row


@pytest.mark.parametrize("rules", [{}, {"neighbors": REPLACE}])
def test_tables_that_round_apart_cost_no_more_than_declared(
    rules: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However each table rounds the total that somebody enters or leaves."""
    assert rounded_apart(3, monkeypatch, **rules) <= 1


def test_without_what_rounding_adds_somebody_costs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a value were taken to move all tables alike, a change could cost more than declared."""
    on = ByCell.on
    alike = lambda own, quantum: replace(on(own, quantum), more=Fraction(0))  # noqa: E731
    monkeypatch.setattr(ByCell, "on", alike)
    assert rounded_apart(3, monkeypatch, neighbors=REPLACE) > 1


@pytest.mark.parametrize("turn", range(10 * MORE))
def test_errors_are_those_of_the_covariance(turn: int) -> None:
    """What a plan says of each line is what the covariance says, also read back from JSON."""
    chance, seen = random.Random(turn), 0
    for number in range(12):
        known = chance.random() < 0.3
        workload = drawn(12 * turn + number) if number % 2 else any_workload(chance)
        for design in designs(workload, Budget(mu=1.0), known_size=known and not workload.grouped):
            if design.name != "fitted-gaussian":
                continue
            kept = json.loads(json.dumps(design.covariance.to_dict()))
            covariance, start, seen = Covariance.from_dict(kept), 0, seen + 1
            assert covariance == design.covariance
            assert np.allclose(covariance.diagonal(), covariance.dense().diagonal())
            stds = iter(design.query_std)
            for block in design.blocks:
                if not isinstance(block, TableBlock):
                    assert next(stds) ** 2 == pytest.approx(covariance.variance(start))
                else:
                    places = _starts(block, start)
                    for table in block.tables:
                        at = places[table.value, table.axes]
                        assert next(stds) ** 2 == pytest.approx(covariance.variance(at))
                start += block.shape.size
    assert seen


def _starts(block: TableBlock, start: int) -> dict[Any, int]:
    """Return where the cells of all tables start, by value and axes."""
    found = dict[Any, int]()
    for kind, by in block.shape.tables:
        layer = block.shape.layers[kind]
        if not layer.answers:
            found[layer.value, by] = start
        start += math.prod(block.shape.levels[axis] for axis in by)
    return found


@pytest.mark.parametrize("least", [1e-12, 1e-6, 1e-3])
@pytest.mark.parametrize("rules", [{}, {"neighbors": REPLACE}])
def test_planning_ends_for_any_importance(least: float, rules: dict[str, Any]) -> None:
    """Importances from 1e-12 to 1e12 are planned, and everybody costs what is declared."""
    queries = [*tables((2, 3), (2,)), MEAN, SUM, hn.Count("c", by=["a1"])]
    labels = [query.label for query in queries]
    for turn in range(len(labels)):
        weights = [least if i == turn else 1 / least for i in range(len(labels))]
        importance = dict(zip(labels, weights, strict=True))
        workload = hn.Workload(queries, importance=importance, **rules)
        try:
            plan = hn.plan(workload, privacy=MU)
        except hn.InvalidParameterError:  # no grid has room for 24 orders of magnitude
            assert least < 1e-11
            continue
        assert math.isfinite(plan.chosen.error(plan.workload))
        if turn == 1:
            assert max(costs(plan, 60).each) <= Fraction(plan.measurement.design.loss()) ** 2


@pytest.mark.parametrize("rules", [{}, {"neighbors": hn.Neighbors.REPLACE}])
@pytest.mark.parametrize("mu", [1, 0.01])
@pytest.mark.parametrize("unit", [1e-30, 1e-12, 1e-6, 1.0, 1e12])
def test_values_of_any_unit_have_a_grid_of_their_own(
    unit: float, mu: float, rules: dict[str, Any]
) -> None:
    """Noise on who answered, which is in people, says nothing of what values are counted in."""
    queries: list[Any] = [hn.Table([hn.Choice("k", ["a", "b"])])]
    queries += [hn.Mean("v", bounds=(0, unit), by=["k"]), hn.Sum("u", bounds=(0, unit), by=["k"])]
    workload = hn.Workload(queries, **rules)
    plan = hn.plan(workload, privacy=hn.GaussianDP(mu=mu))
    assert plan.chosen.name == "fitted-gaussian"
    assert plan.measurement.design.error(workload) <= 1.0001 * plan.chosen.error(workload)


def test_what_is_not_kept_is_refused() -> None:
    """A covariance whose shares of noises are not those of its layers is refused."""
    stored = fitted([LIGHT, SUM]).chosen.covariance.to_dict()
    for wrong in ([[[[0]], [[1.0]]]], [[[[7]], stored["tables"]["mixed"][0][1]]]):
        with pytest.raises(hn.InvalidParameterError):
            Covariance.from_dict(stored | {"tables": stored["tables"] | {"mixed": wrong}})


def test_values_of_a_mean_share_no_noise() -> None:
    """Values from the middle are as likely on either side: nothing of them is in other rows."""
    plan = fitted([hn.Table([A], importance=0.001), MEAN, hn.Mean("n", bounds=(0, 1), by=["a0"])])
    for fold in folds(plan.chosen):
        for fit in fold.fits:
            assert isinstance(fit, CellRows)
            layers = [layer for _, layer in fit.kind.own]
            assert layers[-1] == fold.states.people
            for k, row in zip(layers, fit.rows, strict=True):
                held = {j for j, part in zip(layers, row.parts, strict=True) if part} - {k}
                assert not held & {*fold.states.signed}
                assert k not in fold.states.signed or (not held and not row.people)
