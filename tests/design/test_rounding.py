"""What rounding adds up to: below 2^33 people, less than a hundredth of the standard error."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data import contributions, tables, whole_numbers
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.results.inference import Errors, ratios
from halfnoise.workload import grid
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Ring, carried
from halfnoise.workload.totals import Totals
from support import reference
from support.loss import exact_totals
from support.measured import grid_for
from support.soak import MORE

q: Any = hn
PEOPLE = 2**33 - 1
HUNDREDTH = 0.01
BOUNDS = {
    "usual": (0.0, 20.0),
    "narrow": (1000.0, 1001.0),
    "far": (-8000.2, -8000.1 + 1.9),
    "tiny": (-1e-9, 3e-9),
    "huge": (-1e12, 3e12),
    "negative": (-3.3, -1.1),
    "ugly": (0.1, 1 / 3 + 0.1),
    "from zero": (0.0, 1 - 2.0**-40),
}
MUS = (0.24, 2.0) if MORE == 1 else (0.01, 0.24, 1.0, 2.0)
LARGEST = hn.PureDP(epsilon=10)  # that needs no i_know


def values(low: float, high: float) -> Iterator[float]:
    """List values that all people have: the worst of them are those just below a point."""
    width = high - low
    yield from (low + width / 3, math.nextafter(low + width / 2, low))
    if MORE > 1:
        yield from (low, high, low + width * 0.3, low + width * 2.0**-43, math.nextafter(high, low))


def everybody(one: Totals, ready: CenteredMeasurement) -> Totals:
    """Return the totals of so many people from those of one: values are multiplied already."""

    def many(sums: Ring, block: Any) -> Ring:
        valued = np.array(reference.of_values(block, sums.shape[1]))
        return np.where(valued, sums, sums * np.uint64(PEOPLE))

    pairs = zip(one.sums, ready.blocks, strict=True)
    sums = tuple(many(*pair) for pair in pairs)
    people, everyone = (each * np.uint64(PEOPLE) for each in (one.people, one.everyone))
    return replace(one, sums=sums, people=people, everyone=everyone)


class Case(NamedTuple):
    """A query of one value, and how it is asked."""

    kind: str
    by: tuple[str, ...] = ()
    rows: int = 1  # of one person; 0 where each row is a person
    rules: tuple[tuple[str, Any], ...] = ()


CASES = [
    Case("sum"),
    Case("mean"),
    Case("sum", rows=0),
    Case("mean", rows=0),
    Case("sum", rows=3),
    Case("mean", rows=7),
    Case("sum", rules=(("neighbors", hn.Neighbors.REPLACE),)),
    Case("mean", rules=(("by", "g"), ("groups", ["a", "b"]), ("max_groups", 2))),
    Case("sum", by=("c",)),
    Case("mean", by=("c", "g"), rows=2),
]


def asked(case: Case, bounds: tuple[float, float]) -> hn.Workload:
    """Return a workload of one query, with what it is by."""
    kind = q.Sum if case.kind == "sum" else q.Mean
    axes = [q.Choice(name, ["a", "b"]) for name in case.by]
    return hn.Workload([kind("x", bounds=bounds, by=case.by), *axes], **dict(case.rules))


def frame(case: Case, value: float) -> tuple[pl.DataFrame, float]:
    """Return the rows of one person, and what they are."""
    rows = max(case.rows, 1)
    each = value / rows if case.kind == "sum" else value
    person = {"id": [7] * rows, "x": [each] * rows, "g": ["a"] * rows, "c": ["a"] * rows}
    return pl.DataFrame(person), each * rows if case.kind == "sum" else value


def off(case: Case, bounds: tuple[float, float], privacy: Any) -> float:
    """Return how far estimates of all values are off, without noise, in standard errors."""
    workload = asked(case, bounds)
    planned = hn.plan(workload, privacy=privacy)
    ready, worst = grid_for(planned), 0.0
    errors = Errors(planned.chosen.noise, ready.design.covariance)
    at, below = places(ready)
    for value in values(*bounds):
        rows, true = frame(case, value)
        true = min(max(true, bounds[0]), bounds[1])
        one = exact_totals(rows, ready, workload, ["id"] if case.rows else [])
        back = ready.recover(ready.measure(everybody(one, ready)), float(PEOPLE))
        found = back.estimates[:1]
        if case.kind == "sum":
            away = float(Fraction(float(found[0, at])) - PEOPLE * Fraction(true))
            std = errors.std({at: 1.0})
        else:
            assert found[0, below] == pytest.approx(PEOPLE)
            estimate, std, _, _ = ratios(found, errors, (at, below), 0.95)[:, 0]
            away = float(Fraction(estimate) - Fraction(true))
        worst = max(worst, abs(away) / std)
    return worst


def places(ready: CenteredMeasurement) -> tuple[int, int]:
    """Return where the sum of those in the first cell stands, or of all, and how many answered."""
    block, start = ready.blocks[0], 0
    if not isinstance(block, TableBlock):
        return 0, 1
    for kind, axes in block.shape.tables:
        number = math.prod(block.shape.levels[axis] for axis in axes)
        if block.shape.layers[kind].value is not None and len(axes) == len(block.axes):
            return start, start + number
        start += number
    raise AssertionError


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be so many people who are all alike."""
    number = np.uint64(PEOPLE)
    for room in (contributions, tables):
        monkeypatch.setattr(room, "carried", lambda a, b: carried(a * number, b * number))


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_rounding_is_less_than_a_hundredth_of_the_noise(case: Case, name: str) -> None:
    """Whatever the bounds, the budget and the value that all have."""
    budgets: list[hn.GaussianDP | hn.PureDP] = [hn.GaussianDP(mu=mu) for mu in MUS]
    # Tables have Gaussian noise, and floats hold no more of what is so far from zero.
    if not case.by and name != "far":
        budgets.append(LARGEST)
    for privacy in budgets:
        assert off(case, BOUNDS[name], privacy) < HUNDREDTH


@pytest.mark.parametrize("case", [CASES[0], CASES[6]], ids=str)
def test_parts_that_would_do_for_gaussian_noise_are_noticed(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Laplace noise may be finer: parts of 2^-20 of a quantum add up to more than a hundredth."""
    for room in (contributions, grid):
        monkeypatch.setattr(room, "PART_BITS", 20)
    assert off(case, BOUNDS["usual"], hn.GaussianDP(mu=2)) < HUNDREDTH
    assert off(case, BOUNDS["usual"], LARGEST) > HUNDREDTH


@pytest.mark.parametrize("case", [CASES[1], CASES[2], CASES[4], CASES[-1]], ids=str)
def test_values_rounded_to_a_quantum_are_noticed(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole quanta of each value, without parts, add up to more than the noise."""
    apart = whole_numbers.apart

    def rounded(place: Any, bits: int) -> tuple[Any, Any]:
        return apart(place + 0.5, bits)[0], apart(place, bits)[1] * 0

    monkeypatch.setattr(contributions, "apart", rounded)
    assert off(case, BOUNDS["usual"], hn.GaussianDP(mu=1)) > 1


@pytest.mark.parametrize("case", [CASES[1], CASES[-1]], ids=str)
def test_a_grid_that_follows_the_distance_from_zero_is_noticed(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quanta that hold a value as it is, and not how far it is from the middle, are too coarse."""
    quantum = grid.Grain.quantum
    far = lambda grain, reach, *others: quantum(grain, reach * 2000, *others)  # noqa: E731
    monkeypatch.setattr(grid.Grain, "quantum", far)
    assert off(case, BOUNDS["narrow"], hn.GaussianDP(mu=1)) > HUNDREDTH
