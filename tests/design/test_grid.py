import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from halfnoise import Choice, Count, Counts, InvalidParameterError, Items, Mean, Sum, Workload
from halfnoise.design.candidates import designs
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Budget, Neighbors
from halfnoise.workload.grid import PART, Ring, around, power
from halfnoise.workload.queries import Query
from halfnoise.workload.sets import Answered, AtMost, Box
from halfnoise.workload.totals import Totals
from support.fixed_workloads import KINDS, every_case, fixed, grid_of, grid_of_kind

SMALL = [case for case in every_case() if case[1] in (1, 4, 9)]


def recovered(
    grid: CenteredMeasurement, totals: Totals, people: float
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Measure and come back without any noise."""
    back = grid.recover(measured(grid, totals), people)
    own = back.estimates[0]
    return np.asarray(own if back.sizes is None else np.append(own, back.sizes[0]))


def measured(grid: CenteredMeasurement, totals: Totals) -> list[Ring]:
    """Return what gets noise where nobody is in two groups, nor in none."""
    return grid.measure(replace(totals, everyone=totals.people.sum(keepdims=True)))


@pytest.mark.parametrize(("kind", "d", "design"), SMALL)
def test_without_noise_totals_come_back(kind: str, d: int, design: str) -> None:
    """Measuring and coming back gives the totals that went in."""
    grid = grid_of_kind(kind, d, design)
    for people in (0, 1, 12_345, 10**9):
        totals, truth = fixed(grid, people)
        assert recovered(grid, totals, people) == pytest.approx(truth, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize(("kind", "d", "design"), SMALL)
def test_what_is_measured_is_exact(kind: str, d: int, design: str) -> None:
    """What gets noise is  f - c n  in steps, as exact fractions say, modulo 2^64."""
    grid = grid_of_kind(kind, d, design)
    totals, _ = fixed(grid, 10**6)
    (rows,) = measured(grid, totals)
    expected: list[Fraction] = []
    root, root_unit = Fraction(int(totals.people[0])), Fraction(1)
    if grid.root_is_total:
        root_unit = grid.channels[0].quantum
        root = Fraction(sum(_signed(x) for x in totals.sums[0][0]))
    root *= root_unit
    for block, sums in zip(grid.channels, totals.sums, strict=True):
        f = [_signed(x) * block.quantum for x in sums[0]]
        c = block.center or Fraction(0)
        if isinstance(block.shape, Answered):
            answered = Fraction(_signed(sums[0][1]))
            f[0] += block.offset * answered
            middle = block.shape.middle if block.center is not None else 0
            expected.append((f[0] - middle * answered) / block.steps[0])
            expected.append((answered - c * root) / block.steps[1])
        else:
            expected += [(x + block.offset * root - c * root) / block.steps[0] for x in f]
    if grid.root is not None:
        expected.append(root / grid.root.step)
    assert all(x.denominator == 1 for x in expected)
    assert [int(x) for x in rows[0]] == [int(x) % 2**64 for x in expected]


def _signed(x: np.uint64) -> int:
    return int(x) - 2**64 if int(x) >= 2**63 else int(x)


@pytest.mark.parametrize(("kind", "d", "design"), SMALL)
def test_wrapped_sums_give_the_same(kind: str, d: int, design: str) -> None:
    """Adding shares of the totals that wrap around 2^64 on the way measures the same."""
    grid = grid_of_kind(kind, d, design)
    totals, _ = fixed(grid, 1000)
    rng = np.random.default_rng(7)

    def measure(sums: tuple[np.ndarray, ...], people: np.ndarray) -> np.ndarray:
        (rows,) = grid.measure(Totals(sums=sums, people=people, everyone=people))
        return rows

    part = tuple(rng.integers(0, 2**64, x.shape, dtype=np.uint64) for x in totals.sums)
    some = rng.integers(0, 2**64, 1, dtype=np.uint64)
    rest = tuple(x - y for x, y in zip(totals.sums, part, strict=True))
    whole = measure(totals.sums, totals.people)
    assert np.array_equal(measure(part, some) + measure(rest, totals.people - some), whole)


finite = st.floats(-1e6, 1e6)
bounds = st.tuples(finite, st.floats(1, 1e6)).map(lambda x: (x[0], x[0] + x[1]))
query = st.one_of(
    st.just("count"),
    bounds.map(lambda b: ("sum", b)),
    bounds.map(lambda b: ("mean", b)),
    st.integers(1, 30).map(lambda v: ("choice", v)),
    st.tuples(st.integers(1, 30), st.integers(1, 5)).map(lambda x: ("items", x)),
)


def asked(i: int, drawn: object) -> Query:
    """Make a query of what was drawn."""
    match drawn:
        case ("sum", tuple() as given_bounds):
            return Sum(f"q{i}", bounds=given_bounds)
        case ("mean", tuple() as given_bounds):
            return Mean(f"q{i}", bounds=given_bounds)
        case ("choice", int() as v):
            return Choice(f"q{i}", tuple(range(v)))
        case ("items", (int() as v, int() as most)):
            return Items(f"q{i}", tuple(range(v)), at_most=min(v, most))
        case _:
            return Count(f"q{i}")


RULES: list[dict[str, Any]] = [
    {},
    {"neighbors": Neighbors.REPLACE},
    {"groups": 3, "neighbors": Neighbors.REPLACE},
    {"groups": 2, "max_groups": 2},
    {"groups": 1000, "max_groups": 7},
    {"by": "g", "groups": "discover", "max_groups": 3},
]


@settings(max_examples=60, deadline=None)
@given(
    drawn=st.lists(query, min_size=1, max_size=6),
    amount=st.floats(-13, 6).map(lambda x: 2.0**x),
    interest=st.sampled_from([0.0, 1.0]),
    rules=st.sampled_from(RULES),
)
def test_any_design_fits_its_grid(
    drawn: list[object], amount: float, interest: float, rules: dict[str, Any]
) -> None:
    """On the grid the loss is proved, scales are in range, bounds whole, and totals come back."""
    queries = [asked(i, each) for i, each in enumerate(drawn)]
    workload = Workload(queries, size_importance=interest, **rules)
    for design in designs(workload, Budget(mu=amount, epsilon=amount), known_size=True):
        try:
            grid = design.on_grid(workload, amount)
        except InvalidParameterError as error:
            # Only fractions of a person can be too fine for much noise.
            assert "budget is too small" in str(error)  # noqa: PT017
            assert any(isinstance(block.shape, AtMost) for block in workload.blocks)
            assume(False)
        assert isinstance(grid, CenteredMeasurement)
        assert grid.design.name == design.name
        assert grid.design.size_is_given == (design.name == "known-size-gaussian")
        assert grid.design.loss() <= amount
        assert float(grid.design.loss()) >= amount * (1 - 1e-9)
        # Bounds are 2^10 units apart at least: large budgets need less noise than that.
        assert np.concatenate(grid.scales).min() >= min(2**10, 2**9 / amount)
        assert np.concatenate(grid.scales).max() <= 2**36
        scales = [
            s * float(step)
            for b in grid.channels
            for s, step in zip(b.scales, b.steps, strict=True)
        ]
        assert all(s > 0 for s in scales)
        for block in grid.channels:
            if isinstance(block.shape, Box | Answered):
                ends = [
                    (Fraction(x) - block.offset) / block.quantum
                    for x in (block.shape.low, block.shape.high)
                ]
                assert all(end.denominator == 1 and abs(end) <= 2**22 + 2 for end in ends)
        totals, truth = fixed(grid, 1000)
        found = recovered(grid, totals, 1000.0)
        assert found == pytest.approx(truth, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(("kind", "d", "design"), SMALL)
def test_scales_in_steps_are_not_below_the_design(kind: str, d: int, design: str) -> None:
    """What is drawn is at least the scale for which the loss was proved, and no more than that."""
    grid = grid_of_kind(kind, d, design)
    proved = getattr(grid.design, "scales", None)
    if proved is None:
        proved = ((grid.design.across,),)  # type: ignore[attr-defined]
    for block, scales in zip(grid.channels, proved, strict=True):
        for drawn, step, scale in zip(block.scales, block.steps, scales, strict=True):
            assert Fraction(drawn) * step >= Fraction(scale)
            assert drawn * float(step) == pytest.approx(scale, rel=1e-15)
    if grid.root is not None and grid.design.size_scale is not None:
        assert Fraction(grid.root.scale) * grid.root.step >= Fraction(grid.design.size_scale)


@pytest.mark.parametrize("kind", [Sum, Mean])
def test_bounds_that_floats_cannot_tell_apart_are_refused(kind: type[Sum | Mean]) -> None:
    """Bounds too far from zero for how close they are, are an error that says what to do."""
    with pytest.raises(InvalidParameterError, match=r"a million times as far.*subtract"):
        kind("year", bounds=(-1e9 - 1, -1e9))
    assert kind("year", bounds=(-1e6, 1 - 1e6)).shape.bounds == (-1e6, 1 - 1e6)


FAR = [(1e6, 1e6 + 1), (-1001.0, -1000.0), (2.0**40 - 1, 2.0**40 + 2.0**21), (1 / 3, 1 / 3 + 1e-6)]


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("noise", Noise)
def test_close_bounds_fit_every_design(far: tuple[float, float], noise: Noise) -> None:
    """Bounds close together and far from zero are held, centred or not, by ends on the grid."""
    for query in (Sum("x", bounds=far), Mean("x", bounds=far)):
        for name in (f"standard-{noise.value}", f"correlated-{noise.value}"):
            grid = grid_of(Workload([query]), name)
            (block,), (low, high) = grid.blocks, grid.blocks[0].shape.bounds or (0.0, 0.0)
            assert low <= far[0] < far[1] <= high
            for end in (low, high):
                whole = (Fraction(end) - block.offset) / block.quantum
                assert whole.denominator == 1
                assert abs(whole) <= 2**22 + 2
            if grid.channels[0].center is not None:
                assert block.quantum <= Fraction(far[1] - far[0]) / 2**22
                assert block.offset == (Fraction(low) + Fraction(high)) / 2
            else:
                assert not block.offset


@settings(max_examples=300)
@given(
    far=st.floats(-(2.0**20), 2.0**20),
    width=st.floats(1e-12, 1e12),
    bits=st.integers(0, 22),
    starved=st.integers(0, 60),
)
def test_ends_on_the_grid_are_floats(far: float, width: float, bits: int, starved: int) -> None:
    """What holds the bounds is an even number of quanta, exactly, and no farther than it must."""
    low = far * width
    high = low + width
    assume(low < high)
    quantum = power(width) * Fraction(2**starved, 2**bits)
    own = around((low, high), quantum)
    for end, bound in zip(own, (low, high), strict=True):
        assert (Fraction(end) / (2 * quantum)).denominator == 1
        assert abs(Fraction(end) - Fraction(bound)) < 2 * quantum
    assert own[0] <= low < high <= own[1]


def test_a_budget_too_small_is_refused() -> None:
    """Noise beyond what can be drawn exactly is an error that says what to do."""
    with pytest.raises(InvalidParameterError, match=r"budget is too small.*larger budget"):
        grid_of(KINDS["items"](9), "standard-gaussian", mu=1e-9)


def test_a_limit_counts_in_fractions() -> None:
    """Items and limited counts have units fine enough for a fraction of a person."""
    assert grid_of(KINDS["items"](4), "standard-gaussian").blocks[0].quantum == PART
    assert grid_of(KINDS["at_most"](4), "standard-gaussian").blocks[0].quantum == PART


def test_a_starved_sum_fits_its_grid() -> None:
    """A sum that gets little of the budget is measured in large steps."""
    workload = Workload([Sum("s", bounds=(0, 432_635)), Counts(3)], importance={"s": 1e-24})
    grid = grid_of(workload, "standard-laplace", epsilon=1 / 4096)
    assert grid.channels[1].steps[0] > 1
    assert grid.scales[0].max() <= 2**36


@pytest.mark.parametrize("mu", [0.001, 0.1, 1.0, 4.0, 100.0])
@pytest.mark.parametrize("kind", ["counts", "sums", "means", "choice", "items"])
def test_there_is_room_for_many_people(kind: str, mu: float) -> None:
    """Totals of 2^40 people come back without wrapping."""
    people = 2**40
    grid = grid_of(KINDS[kind](9), "correlated-gaussian", mu=mu)
    totals, truth = fixed(grid, people)
    found = recovered(grid, totals, people)
    assert np.allclose(found, truth, rtol=1e-9, atol=1e-3 * math.sqrt(people))
