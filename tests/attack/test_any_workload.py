"""Any workload, and anybody: what one person costs, in exact rationals, on the way of real rows.

Neighbours are read as one table, in which each is a group with people of its own.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.design.row_measurement import RowMeasurement
from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.noise.law import Noise
from halfnoise.workload.sets import Placed
from halfnoise.workload.totals import Totals
from support.random_workloads import NUMBERS, TEXTS, Row, numbers, rows, workload
from support.soak import MORE, tell
from support.weighted import exact_cost

TRIALS, PEOPLE = 40 * MORE, 24
FIRST = 1000 * MORE  # other ones where there is time
BUDGETS: list[hn.GaussianDP | hn.PureDP] = [
    hn.GaussianDP(mu=1),
    hn.GaussianDP(mu=0.05),
    hn.PureDP(epsilon=1),
]
TYPES = {"text": pl.String, "whole": pl.Int64, "fractions": pl.Float64}


def totals(worlds: Sequence[Sequence[Row]], types: dict[str, str], plan: hn.Plan) -> list[Totals]:
    """Return the totals of several tables, read as one by Polars or by DuckDB.

    Those by places inside places, which have no groups, are read one by one.
    """
    asked = plan.workload
    if any(isinstance(block.shape, Placed) for block in asked.blocks):
        return [_alone(world, types, plan) for world in worlds]
    grouping, names = asked.grouping, [f"w{i}" for i in range(len(worlds))]
    schema: dict[str, Any] = dict.fromkeys(["world", "id", "y", *TEXTS], pl.String())
    schema |= {column: TYPES[kind]() for column, kind in types.items()}
    all_rows = [{"world": n} | row for n, world in zip(names, worlds, strict=True) for row in world]
    frame = pl.DataFrame(all_rows, schema=schema)
    by: Any = "world"
    keys: list[Any] = [*names]
    if grouping is not None and grouping.keys is not None:
        by, keys = ["world", "g"], [(name, *key) for name in names for key in grouping.keys]
    wide = hn.Workload(
        asked.queries,
        by=by,
        groups=keys,
        other=None,
        max_groups=1 if grouping is None else grouping.most,
        where=asked.where,
        weight=asked.weight,
        effective_size=asked.effective_size,
        unweighted_size=asked.unweighted_size,
    )
    data: Any = frame if len(all_rows) % 2 else duckdb.connect().from_arrow(frame.to_arrow())
    with open_source(data, text=TextFormat()) as source:
        found = prepared(source, wide, plan.measurement.blocks, ["world", "id"])()
    each = len(keys) // len(names)
    return [_part(found, slice(i * each, (i + 1) * each)) for i in range(len(names))]


def _alone(world: Sequence[Row], types: dict[str, str], plan: hn.Plan) -> Totals:
    schema: dict[str, Any] = dict.fromkeys(["id", "y", *TEXTS], pl.String())
    schema |= {column: TYPES[kind]() for column, kind in types.items()}
    frame = pl.DataFrame([*world], schema=schema)
    data: Any = frame if len(world) % 2 else duckdb.connect().from_arrow(frame.to_arrow())
    with open_source(data, text=TextFormat()) as source:
        return prepared(source, plan.workload, plan.measurement.blocks, ["id"])()


def _part(found: Totals, own: slice) -> Totals:
    people = found.people[own]
    return Totals(
        sums=tuple(np.ascontiguousarray(ring[own]) for ring in found.sums),
        people=people,
        everyone=people.sum(dtype=np.uint64, keepdims=True),
        heads=None if found.heads is None else found.heads[own],
    )


def costs(seed: int) -> Iterator[Fraction]:
    """Go through neighbours: what each costs, in parts of what is declared."""
    draw = random.Random(seed)
    privacy = draw.choice(BUDGETS)
    try:
        plan = hn.plan(workload(draw), privacy=privacy, known_size=draw.random() < 0.2)
        ready: Any = plan.measurement
    except (InvalidParameterError, NotSupportedError):
        return
    if ready.design.name.startswith("two-level"):
        return  # it measures all people of a table, of whom there is no group
    known, types = numbers(plan.workload), {c: draw.choice([*TYPES]) for c in NUMBERS}
    crowd = [row for who in ("p", "P", None) for row in rows(draw, who, known, types)]
    people = [rows(draw, "z", known, types) for _ in range(PEOPLE)]
    others, *tables = totals([crowd, *(crowd + own for own in people)], types, plan)
    gaussian = ready.design.noise is Noise.GAUSSIAN
    declared = Fraction(ready.design.loss()) ** (2 if gaussian else 1)
    pairs = [(others, table) for table in tables]
    if plan.workload.neighbors is hn.Neighbors.REPLACE:
        pairs = [*itertools.combinations(tables[: PEOPLE // 2], 2)]
    for one, other in pairs:
        both = zip(ready.measure(other), ready.measure(one), strict=True)
        yield exact_cost(ready, [a - b for a, b in both]) / declared


def test_nobody_costs_more_than_is_declared() -> None:
    """Not even by a part in 10^12, whatever is asked; and of most workloads somebody costs it."""
    worst = [max(found) for seed in range(FIRST, FIRST + TRIALS) if (found := [*costs(seed)])]
    assert max(worst) <= 1
    assert len(worst) > 0.6 * TRIALS
    near = sum(each > 0.99 for each in worst)
    assert near > 0.4 * len(worst)
    tell("workloads at random", workloads=len(worst), dearest=float(max(worst)), near=near)


@pytest.mark.parametrize("kind", [CenteredMeasurement, RowMeasurement])
def test_a_little_less_noise_is_seen(kind: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """If noise were a millionth smaller than it is, somebody would cost more than is declared."""
    scales = kind.scales.fget
    less = property(lambda ready: [own * (1 - 1e-6) for own in scales(ready)])
    monkeypatch.setattr(kind, "scales", less)
    assert any(cost > 1 for seed in range(FIRST, FIRST + TRIALS) for cost in costs(seed))
