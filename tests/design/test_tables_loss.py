import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.centered import Centered
from halfnoise.workload import crossing
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.sets import ByCell, Crossed
from support.corners import residuals_of
from support.levels import MU as ONE
from support.levels import tables
from support.measured import closed
from support.soak import MORE, tell
from support.table_people import costs, measured, moved, squares
from support.table_workloads import drawn

MU = hn.GaussianDP(mu=0.7)
CLOSE = Fraction(1, 10**9)
APART = Fraction(1, 10**4)  # where values that tables round apart cost something by themselves
MANY = 200 if MORE == 1 else max(300, 60 * MORE)
REPLACE = hn.Neighbors.REPLACE


def test_everybody_costs_no_more_than_declared_and_somebody_that() -> None:
    """Whatever is asked: everybody listed, in rationals, from what is measured in whole steps."""
    kinds, least, complete = set[str](), Fraction(1), 0
    for seed in range(MANY):
        workload = drawn(seed)
        known = seed % 3 == 0 and not workload.grouped
        plan = hn.plan(workload, privacy=MU, known_size=known)
        declared = Fraction(measured(plan).design.loss()) ** 2
        assert MU.mu**2 * (1 - CLOSE) < declared, seed
        found = costs(plan, most=100 if workload.touched > 2 else 400)
        assert max(found.each) <= declared, seed
        if found.complete:
            complete += 1
            least = min(least, max(found.each) / declared)
            close = APART if plan.chosen.name == "fitted-gaussian" else CLOSE
            assert max(found.each) >= declared * (1 - close), seed
            kinds.add(f"{workload.neighbors.value} {workload.touched} {plan.chosen.name}")
    assert len(kinds) >= 5
    assert complete > 0.9 * MANY
    tell("loss of tables", workloads=complete, kinds=sorted(kinds), least=float(least))


@pytest.mark.parametrize("rules", [{}, {"neighbors": REPLACE}])
def test_everybody_costs_the_same(rules: dict[str, Any]) -> None:
    """Of tables with sums and counts by cell, each with its own noise, everybody costs the same."""
    values = [hn.Sum("s", bounds=(-2, 5), by=["a0"]), hn.Count("c", by=["a0", "a1"])]
    plan = hn.plan(hn.Workload([*tables((2, 3), (1, 2)), *values], **rules), privacy=ONE)
    found = costs(closed(plan))
    assert found.complete
    spread = max(found.each) / min(found.each) - 1
    assert spread < CLOSE if not rules else spread > 0.1


@pytest.mark.parametrize(
    ("levels", "orders"), [((2,) * 6, (1, 2, 3)), ((2,) * 6, (2,)), ((3, 2, 4, 2), (1, 3))]
)
def test_all_changes_are_looked_at(levels: tuple[int, ...], orders: tuple[int, ...]) -> None:
    """Of several attributes, which of them differ in the dearest change is found."""
    asked = [table for i, table in enumerate(tables(levels, orders)) if i % 3 != 1]
    plan = hn.plan(hn.Workload(asked, neighbors=REPLACE), privacy=ONE)
    found, declared = costs(plan), Fraction(plan.measurement.design.loss()) ** 2
    assert found.complete
    assert declared * (1 - CLOSE) <= max(found.each) <= declared


def test_many_means_by_cell() -> None:
    """Whether somebody answers what is dearest is looked at one value at a time."""
    means = [hn.Mean(f"m{i}", bounds=(0, 1 + i), by=["a0"]) for i in range(20)]
    few, many = (hn.Workload([*tables((2,), (1,)), *means[:n]]) for n in (4, 20))
    plan = hn.plan(few, privacy=ONE)
    found, declared = costs(plan), Fraction(plan.measurement.design.loss()) ** 2
    assert found.complete
    assert declared * (1 - APART) <= max(found.each) <= declared
    assert 1 - 1e-9 < hn.plan(many, privacy=ONE).measurement.design.loss() <= 1


def test_a_smaller_scale_is_seen() -> None:
    """If one of the residuals has a millionth less noise, somebody costs more than declared."""
    plan = hn.plan(hn.Workload(tables((2, 3), (1, 2))), privacy=ONE)
    ready, design = measured(plan), plan.measurement.design
    assert isinstance(design, Centered)
    for place in range(3):
        scales = np.array(ready.channels[0].scales)
        scales[place] *= 1 - 1e-6
        channel = replace(ready.channels[0], scales=tuple(scales.tolist()))
        object.__setattr__(plan, "measurement", replace(ready, channels=(channel,)))
        assert max(costs(plan).each) > Fraction(design.loss()) ** 2


def rounded_apart(bits: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """Return the most that a change costs, in parts of what is declared, where tables round apart.

    Somebody goes from one cell to another, with values between whole numbers of large quanta; each
    table rounds them up or down as it likes, which its residual alone depends on.
    """
    monkeypatch.setattr(crossing, "LEAST_TABLE_BITS", bits)
    monkeypatch.setattr(crossing, "TABLE_BITS", 0)
    value = hn.Sum("s", bounds=(-1, 1), by=["a0", "a1"], within=[["a1", "a2"]])
    workload = hn.Workload([*tables((2, 2, 2), (1,)), value], neighbors=REPLACE)
    plan = hn.plan(workload, privacy=ONE)
    ready, worst = measured(plan), Fraction(0)
    (block,) = ready.blocks
    assert isinstance(block, TableBlock)
    shape, own, scales = block.shape, block.shape.values[0], np.asarray(ready.scales[0])
    most = int(Fraction(own.high) / own.quantum)
    sizes = [math.prod(shape.levels[axis] for axis in axes) for _, axes in residuals_of(shape)]
    valued = [layer.value is not None for layer, _ in residuals_of(shape)]
    stops, cell = np.cumsum(sizes), (0, 0, 0)
    for other in itertools.product(*map(range, shape.levels)):
        for low, high in itertools.product((-most, most - 1), repeat=2):
            found = []
            for x, y in itertools.product((low, low + 1), (high, high + 1)):
                rows = [[_person(shape, cell, x)], [_person(shape, other, y)]]
                steps = moved(ready, rows)
                parts = np.split(steps[1:] - steps[:1], stops[:-1], axis=1)
                each = zip(parts, np.split(scales, stops[:-1]), strict=True)
                found.append([squares(part, scale)[0] for part, scale in each])
            first, each_most = found[0], map(max, zip(*found, strict=True))
            costs_of = zip(valued, each_most, first, strict=True)
            worst = max(worst, sum((a if own else b for own, a, b in costs_of), Fraction(0)))
    return float(worst / Fraction(ready.design.loss()) ** 2)


def _person(shape: Crossed, cell: tuple[int, ...], amount: int) -> list[int]:
    row: list[int] = []
    for layer in shape.layers:
        for axes in layer.axes:
            table = np.zeros([shape.levels[axis] for axis in axes], dtype=object)
            table[tuple(cell[axis] for axis in axes)] = 1 if layer.value is None else amount
            row += table.ravel().tolist()
    return row


def test_tables_that_round_apart_cost_no_more_than_declared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However each table rounds the total that somebody enters or leaves."""
    assert rounded_apart(2, monkeypatch) <= 1


def test_without_what_rounding_adds_somebody_costs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a value were taken to move all tables alike, a change could cost more than declared."""
    on = ByCell.on
    alike = lambda own, quantum: replace(on(own, quantum), more=Fraction(0))  # noqa: E731
    monkeypatch.setattr(ByCell, "on", alike)
    assert rounded_apart(2, monkeypatch) > 1


def test_groups_that_are_discovered() -> None:
    """Tables of groups that are found: the size of each is measured, and passes the threshold."""
    privacy = hn.ApproxDP(epsilon=1, delta=1e-6)
    asked = hn.Workload(tables((2, 3), (1, 2)), by="g", groups="discover")
    plan = hn.plan(asked, privacy=privacy)
    assert plan.measurement.threshold is not None
    found = costs(plan)
    declared = Fraction(plan.measurement.design.loss()) ** 2
    assert declared * (1 - CLOSE) <= max(found.each) <= declared
