import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design import cell_parts, cell_tables
from halfnoise.design.cell_rows import CellRows
from halfnoise.workload.sets import crossed
from halfnoise.workload.sets.residuals import made_of
from support.levels import MU, axes, tables
from support.moments import covers
from support.quadratic import quadratic_form
from support.soak import SOAKS
from support.table_people import costs
from support.table_releases import Floats, Releases, releases

NUMBER = 100_000 if SOAKS else 20_000
LEVEL, REACH = 0.95, 1.959963984540054
REPLACE = hn.Neighbors.REPLACE
A, B, C = axes((2, 3, 2))
ASKED: list[tuple[Any, dict[str, Any]]] = [
    ([hn.Table([A, B, C]), hn.Table([B], importance=2.0)], {}),
    ([hn.Table([A, B]), hn.Count("c"), hn.Sum("s", bounds=(3, 9), by=["a1"])], {}),
    ([hn.Table([A, B]), hn.Mean("m", bounds=(3, 9), by=["a0"])], {}),
    ([hn.Table([A, B])], {"known_size": True}),
    ([hn.Table([A, B]), hn.Sum("s", bounds=(3, 9), by=["a0"])], {"neighbors": REPLACE}),
]
LIGHT = hn.Table([A, B], importance=0.01)
MEAN, SUM = hn.Mean("m", bounds=(3, 9), by=["a0"]), hn.Sum("s", bounds=(3, 9), by=["a1"])
COUNTS = [hn.Count(name, by=["a0", "a1"]) for name in "de"]
FITTED: list[tuple[Any, dict[str, Any]]] = [
    ([hn.Count("c"), LIGHT, MEAN, SUM], {}),
    ([LIGHT, *COUNTS, SUM], {}),
    ([hn.Counts(2), LIGHT, SUM], {"known_size": True}),
    ([LIGHT, MEAN, *COUNTS], {"neighbors": REPLACE}),
]


def tried(found: Releases) -> dict[str, Floats]:
    """Return errors in standard errors, of cells, sums of cells, differences and shares."""
    seen = dict[str, Floats]()
    rng = np.random.default_rng(3)
    for kind, by in found.block.shape.tables:
        cells = found.cells(kind, *by)
        seen[f"cell {kind} {by}"] = found.error_of(found.at(cells.start))
        weights = np.zeros(len(found.truth))
        chosen = rng.random(cells.stop - cells.start) < 0.5
        weights[cells] = chosen if chosen.any() else 1.0
        if weights[cells].all() and quadratic_form(found.covariance, weights) < 1e-12:
            continue  # the number of people, which is known
        seen[f"total {kind} {by}"] = found.error_of(weights)
        weights[cells] = rng.normal(size=cells.stop - cells.start)
        seen[f"contrast {kind} {by}"] = found.error_of(weights)
    for name, cell, margin in _shares(found):
        share = found.truth[cell] / found.truth[margin]
        # An interval of Fieller's holds a share where its error is within so many standard errors.
        seen[f"share {name}"] = found.error_of(found.at(cell) - share * found.at(margin))
    return seen


def _shares(found: Releases) -> list[tuple[str, int, int]]:
    """List cells and what they are shares of: their own cell in a margin, and a mean by cell."""
    pairs, shape = [], found.block.shape
    for (kind, by), (other, part) in itertools.product(shape.tables, repeat=2):
        if kind == other == 0 and {*part} < {*by}:
            pairs.append((f"{by} {part}", found.cells(0, *by).start, found.cells(0, *part).start))
    for i, value in enumerate(shape.values):
        own = shape.layer_of(i)
        below = own + 1 if value.optional else 0
        parts = shape.layers[own].axes[0 if value.optional else 1 :]
        cells = found.cells
        pairs += [(f"mean {by}", cells(own, *by).start, cells(below, *by).start) for by in parts]
    return pairs


def uneven(found: Releases) -> float:
    """Return by how much margins differ from the sums of cells, at most."""
    most, shape = 0.0, found.block.shape
    for (kind, by), (other, part) in itertools.product(shape.tables, repeat=2):
        if kind == other and {*part} < {*by}:
            cells = found.estimates[:, found.cells(kind, *by)]
            cells = cells.reshape(-1, *(shape.levels[axis] for axis in by))
            gone = tuple(1 + i for i, axis in enumerate(by) if axis not in part)
            margin = found.estimates[:, found.cells(kind, *part)]
            most = max(most, float(abs(cells.sum(axis=gone).reshape(margin.shape) - margin).max()))
    return most


def wrong(found: Releases) -> list[str]:
    """List the intervals that hold the truth too seldom or too often, and if margins differ."""
    seen = tried(found)
    bad = [
        name
        for name, errors in seen.items()
        if not covers(int((abs(errors) <= REACH).sum()), len(errors), LEVEL)
    ]
    return bad + ["margins"] * (uneven(found) > 1e-6)


@pytest.mark.parametrize(("queries", "rules"), ASKED + FITTED)
def test_intervals_cover_and_margins_add_up(queries: Any, rules: dict[str, Any]) -> None:
    """Of cells, totals, contrasts, shares of margins and means by cell, 95% hold the truth."""
    plan = hn.plan(queries, privacy=MU, **rules)
    if "known_size" in rules:
        assert plan.chosen.size_is_given
    assert (queries, rules) not in FITTED or plan.chosen.name == "fitted-gaussian"
    found = releases(plan, NUMBER)
    assert len(tried(found)) >= 9
    assert wrong(found) == []


def broken_projection(table: Floats, _first: int = 1) -> Floats:
    """Leave a residual as it is measured."""
    return table


def one_forgotten(levels: Any, table: Any, residuals: Any, _deep: int = 0) -> Floats:
    """Make tables without one residual."""
    less = {axes: 0 * each if axes == (0,) else each for axes, each in residuals.items()}
    return ORIGINAL(levels, table, less)


def a_size_for_each(levels: Any, table: Any, residuals: Any, _deep: int = 0) -> Floats:
    """Make tables each from a number of people of its own."""
    size = residuals[()]
    noisy = np.random.default_rng(hash(table) % 1000).normal(size.mean(), size.std(), size.shape)
    return ORIGINAL(levels, table, residuals | {(): noisy})


ORIGINAL: Callable[..., Floats] = made_of
MUTANTS = [
    ("projected", broken_projection, "margins"),
    ("made_of", one_forgotten, "cell 0 (0,)"),
    ("made_of", a_size_for_each, "margins"),
]


@pytest.mark.parametrize(
    ("where", "queries"),
    [
        ({"projected": crossed, "made_of": crossed}, [hn.Table([A, B])]),
        ({"projected": cell_parts, "made_of": cell_tables}, FITTED[0][0]),
    ],
)
@pytest.mark.parametrize("mistake", MUTANTS)
def test_mistakes_are_seen(
    where: Any, queries: Any, mistake: tuple[str, Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No projection, a residual that is forgotten, and a size for each table are all rejected."""
    name, mutant, shows = mistake
    plan = hn.plan(hn.Workload(queries), privacy=MU)
    monkeypatch.setattr(where[name], name, mutant)
    found = wrong(releases(plan, NUMBER))
    assert shows in found
    assert len(found) > 1


def test_noises_that_are_taken_apart_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """If values come back without what they share with people, their intervals hold too seldom."""
    plan = hn.plan(hn.Workload(FITTED[0][0]), privacy=MU)
    back: Any = CellRows.back
    alone = property(lambda rows: np.diag(np.diag(back.fget(rows))))
    ready = plan.measurement.drawn.covariance
    monkeypatch.setattr(CellRows, "back", alone)
    found = replace(releases(plan, NUMBER), covariance=ready)
    assert len(wrong(found)) > 3


def test_noise_before_centring_costs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise on tables that are centred afterwards does not keep the promise: listing shows it."""
    plan = hn.plan(tables((2, 3), (1, 2)), privacy=MU)
    declared = plan.measurement.design.loss() ** 2
    assert float(max(costs(plan).each)) <= declared
    monkeypatch.setattr(crossed, "centred", lambda table: table * np.uint64(table[0].size))
    assert float(max(costs(plan).each)) > 1.5 * declared
