"""Bounds that no Gaussian noise is below, held to a solver that knows none of our formulas."""

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.design import cells, certificate, place_parts, prices
from halfnoise.design.cell_moments import Averaged
from halfnoise.design.cell_parts import CellPart
from halfnoise.design.cell_prices import _Prices
from halfnoise.design.cell_states import CellStates
from halfnoise.workload.sets import spots
from halfnoise.workload.sets.squared import Squared
from support.corners import corners
from support.levels import MU, axes, tables
from support.soak import MORE
from support.table_solver import least_largest, least_total
from support.table_workloads import drawn, in_places

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

EXACT = 3e-4  # what the solver leaves
TIGHT = 6e-4  # by how much a bound may be lower than it could be: prices are sought no longer
REPLACE = hn.Neighbors.REPLACE
SEX = hn.Choice("sex", ["f"])
A, B = axes((2, 3))


def bound_of(workload: hn.Workload, **rules: Any) -> float:
    """Return the bound that a plan states."""
    plan = hn.plan(workload, privacy=MU, **rules)
    assert plan.least_error_bound is not None
    assert plan.chosen.error(workload) >= plan.least_error_bound
    return plan.least_error_bound


LARGEST: list[tuple[Any, dict[str, Any]]] = [
    ([hn.Counts(3), hn.Sum("x", bounds=(0, 10))], {}),
    ([hn.Count("a"), hn.Sum("x", bounds=(2, 3)), hn.Sum("y", bounds=(-1, 1))], {}),
    ([hn.Count("a"), hn.Sum("x", bounds=(2, 3))], {"size_importance": 2.0}),
    ([hn.Count("a"), hn.Sum("x", bounds=(2, 3))], {"importance": {"a": 9.0}}),
    ([hn.Count("a"), hn.Sum("x", bounds=(0, 3))], {"neighbors": REPLACE, "size_importance": 1}),
    ([*tables((2, 3), (1, 2)), hn.Counts(2)], {}),
    (tables((2, 3), (1, 2)), {"neighbors": REPLACE}),
    ([hn.Nested("s", "c", places=[("A", "x"), ("A", "y")]), hn.Table(["c", SEX])], {}),
]


@pytest.mark.parametrize(("queries", "rules"), LARGEST)
def test_the_largest_error_has_a_bound(queries: Any, rules: dict[str, Any]) -> None:
    """No noise has a smaller largest error than a plan states, and some has hardly a larger."""
    workload = hn.Workload(queries, objective="largest", **rules)
    least = least_largest(workload)
    assert least * (1 - 3 * TIGHT) <= bound_of(workload) <= least * (1 + EXACT)


def test_goals_in_another_order_are_others() -> None:
    """Bounds are remembered by blocks, so that these differ where their lines do."""
    table = hn.Table([A, B], margins=0.5)
    own = hn.Table([B.label], importance=0.5)
    (one,), (other,) = (hn.Workload(asked).blocks for asked in ([table], [table, own]))
    assert one.shape == other.shape
    assert [line.label for line in one.lines] != [line.label for line in other.lines]
    assert one != other


def test_weights_that_add_up_to_more_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test rejects goals that weigh one and a hundredth together."""
    monkeypatch.setattr(certificate, "balanced", lambda *_: None)
    monkeypatch.setattr(certificate, "shares", lambda *_: np.array([0.505, 0.505]))
    workload = hn.Workload([hn.Count("a"), hn.Sum("x", bounds=(0, 1))], objective="largest")
    bound = certificate.least_error(workload, 1.0)
    assert bound is not None
    assert bound > least_largest(workload) * (1 + EXACT)


@pytest.mark.parametrize("turn", range(8 * MORE))
def test_no_design_is_below_the_bound_of_its_largest_error(turn: int) -> None:
    """Ten mixtures of any kind, places among them: each has a bound, which is below its error."""
    for seed in range(10 * turn, 10 * turn + 10):
        workload = replace((drawn, in_places)[seed % 2](seed), objective="largest")
        assert bound_of(workload) > 0


UNEVEN = [("A", "x"), ("A", "y"), ("A", "z"), ("B",)]
DEEP = [("A", "x", "1"), ("A", "x", "2"), ("A", "y", "1"), ("B", "x", "1")]
PLACES: list[tuple[Any, dict[str, Any]]] = [
    ([hn.Nested("s", "c", places=UNEVEN)], {}),
    ([hn.Nested("s", "c", places=UNEVEN)], {"neighbors": REPLACE}),
    ([hn.Nested("s", "c", places=UNEVEN), hn.Count("c0")], {"size_importance": 1.0}),
    ([hn.Nested("s", "c", places=UNEVEN), hn.Sum("x", bounds=(3, 5))], {"neighbors": REPLACE}),
    ([hn.Nested("s", "c", places=UNEVEN[2:]), hn.Table(["c", SEX])], {}),
    ([hn.Nested("s", "c", places=UNEVEN[2:]), hn.Table(["c", SEX])], {"neighbors": REPLACE}),
    ([hn.Nested("s", "c", places=UNEVEN), hn.Sum("x", bounds=(3, 5), by=["s"])], {}),
    ([hn.Nested("s", "c", places=UNEVEN[2:]), hn.Count("x", by=["c"])], {"neighbors": REPLACE}),
    ([hn.Nested("s", "c", places=UNEVEN), hn.Mean("x", bounds=(3, 5), by=["c"])], {}),
    ([hn.Nested("s", "c", "t", places=DEEP)], {}),
    ([hn.Nested("s", "c", "t", places=DEEP)], {"neighbors": REPLACE}),
]


@pytest.fixture(params=["everybody", "averages"])
def averages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether averages over people in places are priced; else everybody is."""
    if request.param == "averages":
        monkeypatch.setattr(cells, "MOST_SPOTS", 0)
    return bool(request.param == "averages")


@pytest.mark.usefixtures("averages")
@pytest.mark.parametrize(("queries", "rules"), PLACES)
def test_places_have_a_bound(queries: Any, rules: dict[str, Any]) -> None:
    """The least error of any noise on places inside places, however uneven, is what is stated."""
    workload = hn.Workload(queries, **rules)
    least = least_total(workload)
    assert least * (1 - TIGHT) <= bound_of(workload) <= least * (1 + EXACT)


def small(seed: int) -> hn.Workload | None:
    """Return a mixture with places that the solver can do, if that is one."""
    workload = in_places(seed)
    most = 24 if workload.neighbors is hn.Neighbors.ADD_REMOVE else 12
    few = workload.size <= 40 and len(list(corners(workload))) <= most
    plain = workload.objective == "total" and all(b.kind != "mean" for b in workload.blocks)
    return workload if few and plain else None


@pytest.mark.usefixtures("averages")
@pytest.mark.parametrize("turn", range(10 * MORE))
def test_any_small_mixture_with_places(turn: int) -> None:
    """The next small mixture, against the solver."""
    workload = next(filter(None, map(small, range(1000 + 60 * turn, 10**6))))
    least = least_total(workload)
    assert least * (1 - 3 * TIGHT) <= bound_of(workload) <= least * (1 + EXACT)


WRONG: list[tuple[type, str, Any]] = [
    (CellPart, "apart", property(lambda _: Fraction(1))),
    (CellStates, "shared", lambda *_: Fraction(0)),
    (_Prices, "_kappas", lambda prices, part, own=_Prices._kappas: -own(prices, part)),
]


@pytest.mark.parametrize(("of", "name", "wrong"), WRONG)
def test_wrong_prices_on_places_are_seen(
    of: type, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test rejects places that are farther apart, or have less in common, than they do."""
    monkeypatch.setattr(of, name, wrong)
    monkeypatch.setattr(cells, "MOST_SPOTS", 2**6 if of is CellPart else 0)
    nested = hn.Nested("s", "c", places=UNEVEN[2:])
    workload = hn.Workload([nested, hn.Table(["c", SEX])], neighbors=REPLACE)
    bound = certificate.least_error(workload, 1.0)
    assert bound is not None
    assert bound > least_total(workload) * (1 + EXACT)


def unlike_places(number: int) -> hn.Nested:
    """Return places in states of so many counties each, of which hardly two are alike."""
    chance = random.Random(1)
    every = itertools.product(range(number), repeat=2)
    numbers = [(f"s{i}", f"c{j}", chance.randint(1, 40)) for i, j in every]
    return hn.Nested(
        "s", "c", "t", places=[(s, c, f"t{k}") for s, c, n in numbers for k in range(n)]
    )


@pytest.mark.parametrize(("rules", "above"), [({}, 0.015), ({"neighbors": REPLACE}, 0.03)])
def test_too_many_kinds_of_places_are_bound_in_parts(rules: dict[str, Any], above: float) -> None:
    """Where no two places are alike and there are many, a bound comes from parts of them."""
    nested = unlike_places(40)
    assert spots.MOST_SPOTS < len(spots.Spots(nested.tree).every) < 1200
    workload = hn.Workload([nested], **rules)
    assert hn.plan(workload, privacy=MU).chosen.error(workload) <= (1 + above) * bound_of(workload)


def test_parts_that_changes_make_too_large_are_bound_by_two_who_are_drawn() -> None:
    """Unlike states, by an attribute, where people are replaced: the bound is near all the same."""
    chance = random.Random(1)
    places = [(f"s{i}", f"c{j}") for i in range(30) for j in range(chance.randint(1, 200))]
    sex = hn.Choice("sex", ["f"])
    queries: list[Any] = [hn.Nested("s", "c", places=places), hn.Table(["c", sex])]
    workload = hn.Workload(queries, neighbors=REPLACE)
    assert hn.plan(workload, privacy=MU).chosen.error(workload) <= 1.2 * bound_of(workload)


def test_a_bound_that_says_nothing_is_no_certificate() -> None:
    """Where an error is more than twice the bound, nothing is known."""
    assert "at most 90%" in certificate.words(1.9, 1.0)
    assert certificate.words(2.1, 1.0) == certificate.words(2.1, None) == certificate.UNKNOWN


def in_parts(workload: hn.Workload, few: int) -> float:
    """Return the bound from small parts; ``few``: within how many of them changes are priced."""
    own, whole = certificate.PRICED, next(b for b in workload.blocks if b.kind == "table").shape

    def priced(blocks: Any, *said: Any) -> Any:
        return None if any(block.shape == whole for block in blocks) else own(blocks, *said)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certificate, "PRICED", priced)
        patch.setattr(certificate, "loosely", lambda *_: None)
        patch.setattr(certificate, "in_spots", lambda *_: None)
        patch.setattr(certificate, "FEW_PARTS", few)
        patch.setattr(place_parts, "MOST_INSIDE", 1)
        return certificate.least_error(workload, 1.0) or 0.0


@pytest.mark.parametrize(("queries", "rules"), PLACES)
def test_parts_of_places_are_a_bound(queries: Any, rules: dict[str, Any]) -> None:
    """What is bound in parts, within them or by two who are drawn, is never above the solver."""
    workload = hn.Workload(queries, **rules)
    least = least_total(workload)
    several = [in_parts(workload, few) for few in (0, 100)]
    assert 0.15 * least <= max(several) <= least * (1 + EXACT)


def test_parts_that_are_all_charged_with_everything_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test rejects shares of one in every part."""
    workload = hn.Workload([hn.Nested("s", "c", "t", places=DEEP), hn.Count("c0")])
    least, own = least_total(workload), place_parts._part
    assert in_parts(workload, 0) <= least

    def charged(shape: Any, level: int, span: Any, _shares: Any) -> Any:
        return own(shape, level, span, [1.0] * 3)

    every = place_parts.parts
    monkeypatch.setattr(place_parts, "_part", charged)
    monkeypatch.setattr(certificate, "parts", lambda shape: [(x, 1.0) for x, _ in every(shape)])
    assert in_parts(workload, 0) > least * (1 + EXACT)


def test_two_who_are_drawn_have_something_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test rejects changes that move all that two persons do."""
    workload = hn.Workload([hn.Nested("s", "c", places=UNEVEN[2:])], neighbors=REPLACE)
    least = least_total(workload)
    assert 0 < in_parts(workload, 0) <= least
    monkeypatch.setattr(certificate, "average", lambda *_: 0.0)
    assert in_parts(workload, 0) > least * (1 + EXACT)


SPREAD = hn.Mean("m", bounds=(2, 5), variance=True)
CURVES: list[tuple[Any, dict[str, Any]]] = [
    ([SPREAD], {}),
    ([SPREAD], {"neighbors": REPLACE}),
    ([SPREAD, hn.Counts(2)], {"size_importance": 0.5}),
    ([SPREAD, hn.Count("a")], {"neighbors": REPLACE}),
    ([SPREAD, hn.Mean("l", bounds=(0, 1), variance=True)], {}),
    ([SPREAD, hn.Count("a")], {"objective": "largest"}),
]


@pytest.mark.parametrize(("queries", "rules"), CURVES)
def test_variances_have_a_bound(queries: Any, rules: dict[str, Any]) -> None:
    """The least error of any noise where a person moves a value and its square, on a curve."""
    workload = hn.Workload(queries, **rules)
    least = (least_largest if rules.get("objective") else least_total)(workload)
    assert least * (1 - 3 * TIGHT) <= bound_of(workload) <= least * (1 + EXACT)


def test_squares_that_are_larger_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test rejects squares a hundredth larger than any are."""
    workload = hn.Workload([SPREAD])
    least, largest = least_total(workload), Squared.largest
    grown = property(lambda shape: largest.__get__(shape) * 101 / 100)
    monkeypatch.setattr(Squared, "largest", grown)
    bound = certificate.least_error(workload, 1.0)
    assert bound is not None
    assert bound > least * (1 + EXACT)


def unlike(number: int, seed: int = 1) -> list[Any]:
    """Return sums of which no two are alike."""
    chance = random.Random(seed)
    lows = [chance.uniform(-3, 3) for _ in range(number)]
    return [
        hn.Sum(f"x{i}", bounds=(x, x + 10 ** chance.uniform(-1, 1))) for i, x in enumerate(lows)
    ]


UNLIKE: list[tuple[Any, dict[str, Any]]] = [
    (unlike(5), {}),
    (unlike(5), {"size_importance": 1.0}),
    ([*unlike(4), hn.Counts(2)], {"size_importance": 1.0}),
]


@pytest.mark.parametrize(("queries", "rules"), UNLIKE)
def test_averages_over_unlike_sums_are_a_bound(
    queries: Any, rules: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not everybody can be priced, averages are: never above the solver, and hardly below."""
    workload = hn.Workload(queries, **rules)
    least = least_total(workload)
    monkeypatch.setattr(certificate, "PRICED", lambda *_: None)
    for most in (8, 20, 1500):
        monkeypatch.setattr(prices, "MOST_AVERAGES", most)
        assert 0.9 * least <= bound_of(workload) <= least * (1 + EXACT)
    monkeypatch.setattr(prices, "Averaged", farther)
    bound = certificate.least_error(workload, 1.0)
    assert bound is not None
    assert bound > least * (1 + EXACT)


def farther(**said: Any) -> Averaged:
    """Return averages over people who are a little farther out than any are."""
    return Averaged(**{**said, "varies": said["varies"] + 0.02 * np.eye(said["varies"].shape[1])})


@pytest.mark.parametrize(("number", "most"), [(13, 1.01), (20, 1.01), (40, 1.02), (100, 1.04)])
def test_many_unlike_sums_have_a_close_bound(number: int, most: float) -> None:
    """Of twenty unlike sums the closed form is within 1% of any noise, and the bound says so."""
    workload = hn.Workload(unlike(number))
    assert hn.plan(workload, privacy=MU).chosen.error(workload) <= most * bound_of(workload)


def test_no_bound_is_said() -> None:
    """Where too much differs to bound the least error, plans and releases say that."""
    sums = [hn.Sum(f"x{i}", bounds=(-1 - i / 300, 1)) for i in range(257)]
    plan = hn.plan(sums, privacy=MU)
    assert plan.least_error_bound is None
    assert certificate.UNKNOWN in str(plan)
    rows = {f"x{i}": [0.5] for i in range(257)}
    release = hn.release(pl.DataFrame(rows), sums, privacy=MU, row_is_person=True, ledger=None)
    assert isinstance(release, hn.Release)
    assert certificate.UNKNOWN in release.promises()
    less = hn.plan(sums[:2], privacy=hn.PureDP(epsilon=1))
    assert certificate.UNKNOWN not in str(less)
