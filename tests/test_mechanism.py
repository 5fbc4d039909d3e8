import math
import pickle
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from halfnoise import (
    Bins,
    BudgetError,
    Choice,
    Count,
    Counts,
    GaussianDP,
    InvalidParameterError,
    Items,
    Ledger,
    Mean,
    Neighbors,
    PureDP,
    Release,
    Sum,
    Workload,
    plan,
    release,
)
from halfnoise.mechanism import noisy
from halfnoise.request import Request
from halfnoise.results.release import GroupedRelease
from halfnoise.workload.totals import Totals
from support.measured import grid_for

PEOPLE = 3000
# Twice as many standard errors are exceeded once in 10^12 Laplace releases, and never in others.
FAR = 10


def survey() -> pl.DataFrame:
    """Return a table whose totals are known."""
    i = np.arange(PEOPLE)
    return pl.DataFrame(
        {
            "person": i,
            "a": i % 3 == 0,
            "b": i % 2 == 0,
            "visits": (i % 21).astype(np.float64),
            "age": [None if x % 5 == 0 else 18 + x % 60 for x in i.tolist()],
            "blood": ["ABO"[x % 3] for x in i.tolist()],
        }
    )


TRUE = {
    "a": 1000.0,
    "b": 1500.0,
    "visits": float(sum(i % 21 for i in range(PEOPLE))),
    "age answered": 2400.0,
    "age sum": float(sum(18 + i % 60 for i in range(PEOPLE) if i % 5)),
    "blood=A": 1000.0,
    "blood=B": 1000.0,
    "blood=other": 1000.0,
    "visits=0 to 10": float(sum(i % 21 < 10 for i in range(PEOPLE))),
    "visits=10 and over": float(sum(i % 21 >= 10 for i in range(PEOPLE))),
    "visits=other": 0.0,
    "item=A": 1000.0,
    "item=B": 1000.0,
    "number of people": float(PEOPLE),
}
A, B = Count("a"), Count("b")
VISITS, AGE = Sum("visits", bounds=(0, 20)), Mean("age", bounds=(18, 90))
BLOOD = Choice("blood", ("A", "B"))
BANDS = Bins("visits", (0, 10))
ITEMS = Items("blood", ("A", "B"), at_most=1, name="item")
Q = Sequence[Count | Sum | Mean | Choice | Bins | Items]


@pytest.mark.parametrize(
    "queries",
    [[A], [A, B], [VISITS], [AGE], [BLOOD], [BANDS], [ITEMS], [A, B, VISITS, AGE, BLOOD]],
)
@pytest.mark.parametrize("privacy", [GaussianDP(mu=1), PureDP(epsilon=1)])
@pytest.mark.parametrize("neighbors", Neighbors)
def test_estimates_are_near_the_truth(
    queries: Q, privacy: GaussianDP | PureDP, neighbors: Neighbors
) -> None:
    """From a table to estimates within ten standard errors, whatever is asked and protected."""
    for known in (None, PEOPLE) if neighbors is Neighbors.ADD_REMOVE else (PEOPLE,):
        found = release(
            survey(), queries, privacy=privacy, unit="person", neighbors=neighbors, known_size=known
        )
        for name in found.names:
            each = found[name]
            assert abs(each.estimate - TRUE[name]) < FAR * 2 * each.std
            assert each.low < each.estimate < each.high
        if found.size is not None:
            assert abs(found.size.estimate - PEOPLE) <= FAR * 2 * found.size.std
        assert isinstance(found.guarantee, type(privacy))


def test_the_optimum_without_size_is_released() -> None:
    """Two counts alone get the optimum: variance 4/3, no size, and shared noise between them."""
    found = release(survey(), [A, B], privacy=GaussianDP(mu=1), unit="person")
    assert found.facts["design"]["name"] == "optimal-gaussian-without-size"
    assert found.size is None
    assert found["a"].std ** 2 == pytest.approx(4 / 3, rel=1e-9)
    assert found.difference("a", "b").std != pytest.approx(math.sqrt(8 / 3), rel=1e-3)


def test_replacing_costs_more_noise() -> None:
    """Where people are replaced the standard design is used, and the size is not given."""
    rules: Any = {"unit": "person", "neighbors": Neighbors.REPLACE, "known_size": PEOPLE}
    found = release(survey(), [A, B], privacy=GaussianDP(mu=1), **rules)
    assert found.facts["design"]["neighbors"] == "replace"
    assert found.facts["design"]["name"] == "standard-gaussian"
    assert found["a"].std == pytest.approx(math.sqrt(2), rel=1e-9)


def many_counts(number: int, **rules: Any) -> Release:
    """Release so many counts of the same column."""
    queries = [Count("a", name=f"a{i}") for i in range(number)]
    found: Release = release(survey(), queries, privacy=GaussianDP(mu=1), unit="person", **rules)
    return found


def test_a_row_has_one_item() -> None:
    """Where each row is a person, items cost what one of them costs, said or not."""
    data = pl.DataFrame({"drug": ["a", "b", "c", "a"]})
    items = Items("drug", ["a", "b", "c"])
    found = release(data, [items], row_is_person=True, privacy=GaussianDP(mu=1))
    planned = plan(Workload([replace(items, at_most=1)]), privacy=GaussianDP(mu=1))
    assert found["drug=a"].std == pytest.approx(planned.chosen.query_std[0], rel=1e-6)


def test_importance_moves_error() -> None:
    """A query that counts more gets less noise, at the cost of the others."""
    plain = many_counts(9)
    leaning = many_counts(9, importance={"a0": 25.0})
    assert leaning["a0"].std < plain["a0"].std < leaning["a1"].std


def test_interest_in_the_size_narrows_it() -> None:
    """The size gets more exact with its importance, and with the paper's dial just the same."""
    plain, interested = many_counts(9), many_counts(9, size_importance=4.0)
    dialled = many_counts(9, size_dial=(9 + 4 * 4.0) ** 0.25)
    assert plain.size is not None
    assert interested.size is not None
    assert dialled.size is not None
    assert plain["a0"].std == pytest.approx(2.0, rel=1e-9)
    assert plain.size.std == pytest.approx(2.0, rel=1e-9)
    assert interested.size.std < plain.size.std
    assert interested["a0"].std > plain["a0"].std
    assert dialled.size.std == pytest.approx(interested.size.std, rel=1e-9)
    assert dialled["a0"].std == pytest.approx(interested["a0"].std, rel=1e-9)


def test_a_known_size_helps() -> None:
    """A size that is given narrows every interval, and is what is shown."""
    plain, known = many_counts(9), many_counts(9, known_size=PEOPLE)
    assert known["a0"].std == pytest.approx(1.5, rel=1e-9)
    assert known["a0"].std < plain["a0"].std
    assert known.size is not None
    assert (known.size.estimate, known.size.std) == (PEOPLE, 0)


def silent(scale: object, size: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Draw no noise at all."""
    del scale
    return np.zeros(size, dtype=np.int64)


@pytest.mark.parametrize("privacy", [GaussianDP(mu=1), PureDP(epsilon=1)])
def test_nothing_true_is_held(
    privacy: GaussianDP | PureDP, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither values, JSON nor pickle hold a total; without noise the same search finds them."""
    workload = Workload([*(Count(f"c{i}") for i in range(8)), VISITS, AGE, BLOOD])
    found = plan(workload, privacy=privacy)
    grid = grid_for(found)
    exact = Totals(
        sums=tuple(
            np.array([[10**11 + 10**6 * i + j for j in range(block.shape.size)]], dtype=np.uint64)
            for i, block in enumerate(grid.blocks)
        ),
        people=np.array([987_654_321_987], dtype=np.uint64),
        everyone=np.array([987_654_321_987], dtype=np.uint64),
    )
    true = {
        float(exact.people[0]),
        *grid.measure(exact)[0].view(np.int64)[0].tolist(),
    }
    for block, sums in zip(grid.blocks, exact.sums, strict=True):
        true |= {int(x) for x in sums[0]} | {float(int(x) * block.quantum) for x in sums[0]}
    asked = Request(workload=found.workload, unit=("person",))
    assert not leaks(noisy(found, grid, exact, asked), true)
    for name in ("rounded_gaussian", "rounded_laplace"):
        monkeypatch.setattr(sys.modules["halfnoise.noise.law"], name, silent)
    assert leaks(noisy(found, grid, exact, asked), true)


def leaks(made: Release | GroupedRelease, true: set[float]) -> bool:
    """Whether any true number, as text or as bytes, is somewhere in a release."""
    whole = made.values if made.values.base is None else np.asarray(made.values.base)
    shown = {float(x) for x in re.findall(r"-?[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?", made.to_json())}
    stored = pickle.dumps(made)
    large = [x for x in true if abs(x) > 10**6]
    packed = [np.float64(x).tobytes() for x in large] + [np.int64(x).tobytes() for x in large]
    held = {float(x) for x in whole.ravel()} | shown
    return bool(held & {float(x) for x in large}) or any(each in stored for each in packed)


def test_totals_have_no_text() -> None:
    """The exact totals do not show themselves."""
    one = np.ones(1, np.uint64)
    exact = Totals(sums=(np.array([[424242]], dtype=np.uint64),), people=one, everyone=one)
    assert "424242" not in repr(exact)
    assert "424242" not in str(exact)


def test_the_ledger_is_charged_first(tmp_path: Path) -> None:
    """A ledger that refuses stops the release before a row is read, and spends nothing."""
    ledger = Ledger.create(tmp_path / "a.ledger", limit=PureDP(epsilon=0.9), unit="person")
    read: list[str] = []

    def step(name: str) -> AbstractContextManager[object]:
        read.append(name)
        raise AssertionError(name)

    with pytest.raises(BudgetError, match="the budget does not allow it: this costs epsilon 1"):
        release(survey(), [A], privacy=PureDP(epsilon=1), unit="person", ledger=ledger, step=step)
    assert read == []
    assert not ledger.history().charges


def test_who_is_one_person_is_said() -> None:
    """Neither, both, or a unit that is also a query are refused in one sentence."""
    for rules, words in (
        ({}, "never guessed"),
        ({"unit": "person", "row_is_person": True}, "not both"),
        ({"unit": "a"}, "unit and a query's column at once"),
        ({"unit": []}, "never guessed"),
        ({"unit": [1]}, "unit must be a column's name"),
    ):
        with pytest.raises(InvalidParameterError, match=words):
            release(survey(), [A], privacy=GaussianDP(mu=1), **rules)
    with pytest.raises(InvalidParameterError, match="planning alone"):
        release(survey(), [Counts(3)], privacy=GaussianDP(mu=1), row_is_person=True)


def test_facts_are_public() -> None:
    """What a release says of itself: design, grid, unit and version."""
    found = release(survey(), [A], privacy=GaussianDP(mu=1), unit="person")
    assert found.facts["unit"] == ["person"]
    design = found.facts["design"]
    assert Fraction(design["grid"]["units"][0]) == 1
    assert Fraction(design["grid"]["steps"][0]) < Fraction(1, 2**10)
    by_row = release(survey(), [A], privacy=GaussianDP(mu=1), row_is_person=True)
    assert by_row.facts["unit"] == "row"


def test_an_empty_table_is_pure_noise() -> None:
    """Nobody gives estimates around zero."""
    found = release(survey().head(0), [A, VISITS, BLOOD], privacy=GaussianDP(mu=1), unit="person")
    assert all(abs(each.estimate) < FAR * each.std for each in found)


def test_no_noise_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured in another shape than the noise was drawn in is not released."""
    workload = Workload([Count("a")], by="blood", groups=["A", "B"])
    found = plan(workload, privacy=GaussianDP(mu=1))
    measure = type(found.measurement).measure

    def as_if_one_group(self: Any, totals: Totals) -> Any:
        return [ring[:1] for ring in measure(self, totals)]

    monkeypatch.setattr(type(found.measurement), "measure", as_if_one_group)
    with pytest.raises(AssertionError):
        release(survey(), workload, row_is_person=True, privacy=GaussianDP(mu=1), ledger=None)
