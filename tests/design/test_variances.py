import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design import certificate
from halfnoise.design.candidates import designs
from halfnoise.design.design import Design, Measurement, Setting
from halfnoise.design.duality import solve
from halfnoise.design.fitted import Fitted
from halfnoise.design.fitted_groups import FittedGroups
from halfnoise.design.people import People, Size, size_of
from halfnoise.design.prices import priced
from halfnoise.noise.law import Noise
from halfnoise.planning.choice import best
from halfnoise.privacy.definitions import Budget
from halfnoise.workload.sets import Squared
from halfnoise.workload.sets.squared import Squares
from halfnoise.workload.sets.varying import Varying
from halfnoise.workload.totals import Totals
from support.any_workload import NEAR, any_queries, entering, enumerated, hold_to_its_bound
from support.convex import least_error
from support.quanta import on_curve
from support.soak import MORE
from support.table_solver import goals, people

RULES: list[dict[str, Any]] = [{}, {"neighbors": hn.Neighbors.REPLACE}]
REPLACE = hn.Neighbors.REPLACE
SPREAD, OTHER = (
    hn.Mean("m", bounds=(2, 5), variance=True),
    hn.Mean("l", bounds=(-1, 0), variance=True),
)
ITEMS = hn.Items("i", list("abc"), at_most=2)
TABLE: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "a mean": ([SPREAD], {}),
    "a mean, and the number of people": ([SPREAD], {"size_importance": 0.5}),
    "two means": ([SPREAD, OTHER], {}),
    "a count beside": ([SPREAD, hn.Count("a")], {}),
    "a sum beside": ([SPREAD, hn.Sum("s", bounds=(3, 9))], {"importance": {"s": 3.0}}),
    "a choice beside": ([SPREAD, hn.Choice("c", ("a", "b"))], {}),
    "items beside": ([SPREAD, ITEMS], {}),
    "another mean beside": ([SPREAD, hn.Mean("z", bounds=(0, 1))], {"importance": {"z": 9.0}}),
    "replaced": ([SPREAD], {"neighbors": REPLACE}),
    "replaced: a count beside": ([SPREAD, hn.Count("a")], {"neighbors": REPLACE}),
    "replaced: items beside": ([SPREAD, ITEMS], {"neighbors": REPLACE}),
    "in groups": ([SPREAD], {"groups": 2}),
    "in groups, up to two": ([SPREAD], {"groups": 2, "max_groups": 2}),
    "in groups, up to two of three": ([SPREAD], {"groups": 3, "max_groups": 2}),
    "in groups, replaced": ([SPREAD], {"groups": 2, "neighbors": REPLACE}),
}


def chosen(workload: hn.Workload, mu: float = 1.0, *, known: bool = False) -> Design:
    """Return the Gaussian design that is chosen."""
    return best(list(designs(workload, Budget(mu=mu), known_size=known)), workload)


def least(workload: hn.Workload) -> float:
    """Return the least error of any Gaussian noise, by a solver, in one group of several."""
    one = hn.Workload(workload.queries, importance=workload.importance)
    rows, none = people(one), np.zeros(workload.size + 1)
    weights = [line.importance for line in workload.lines]
    sets = zip(weights, goals(one), strict=True)
    wanted = np.array([w**0.5 * row for w, own in sets for row in own])
    size = np.eye(workload.size + 1)[-1:] * workload.size_weight**0.5
    wanted = np.vstack([wanted, size]) if workload.size_weight else wanted
    grouping, groups = workload.grouping, 1
    if grouping is not None:
        groups = grouping.number or 1
        everywhere = itertools.product([none, *rows], repeat=groups)
        some = (each for each in everywhere if sum(row[-1] for row in each) <= grouping.most)
        rows = [np.concatenate(each) for each in some]
    if workload.neighbors is REPLACE:
        rows = [a - b for a, b in itertools.combinations(rows, 2)]
    return least_error(rows, np.kron(np.eye(groups), wanted) / groups**0.5)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # to a hundredth of NEAR
@pytest.mark.parametrize("words", TABLE)
def test_nothing_is_better(words: str) -> None:
    """No Gaussian noise has half a per cent less squared error than the design that is chosen."""
    queries, rules = TABLE[words]
    workload = hn.Workload(queries, **rules)
    error, found = chosen(workload).error(workload), least(workload)
    bound = certificate.least_error(workload, 1.0) or 0.0
    assert found * (1 - 5e-5) <= error <= NEAR * found
    assert 0.998 * found <= bound <= found * (1 + 5e-5)


def test_closed_forms_alone_are_not_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above sees designs that are 1% above, as half of the closed forms are."""
    worse = 0
    for queries, rules in TABLE.values():
        workload = hn.Workload(queries, **rules)
        offered = [d for d in designs(workload, Budget(mu=1.0)) if d.name != "fitted-gaussian"]
        bound = certificate.least_error(workload, 1.0) or math.inf
        worse += best(offered, workload).error(workload) > 1.01 * bound
    assert worse >= 7
    monkeypatch.setattr(
        "halfnoise.workload.sets.squared.FROM", Fraction(9, 16)
    )  # near the middle, from where a value is seen
    workload = hn.Workload([hn.Mean("m", bounds=(2, 5.5), variance=True)])
    (found,) = (d for d in designs(workload, Budget(mu=1.0)) if d.name == "correlated-gaussian")
    assert found.error(workload) > 1.05 * (certificate.least_error(workload, 1.0) or math.inf)


def any_workload(chance: random.Random, *, most: int = 2) -> hn.Workload:
    """Return a mixture with one or two variances, importances over six orders of magnitude."""
    queries, rules = any_queries(chance, most), dict[str, Any]()
    for number in range(chance.randint(1, 2)):
        low = chance.choice([0.0, chance.uniform(-20, 20), 1000.0])
        bounds = (low, low + 10 ** chance.uniform(-1, 3))
        queries.append(hn.Mean(f"v{number}", bounds=bounds, variance=True))
    if chance.random() < 0.6:
        rules["importance"] = {
            query.label: 10 ** chance.uniform(-3, 3) / query.shape.width**2 for query in queries
        }
    if chance.random() < 0.4:
        rules["size_importance"] = 10 ** chance.uniform(-3, 3)
    if chance.random() < 0.4:
        rules["neighbors"] = REPLACE
    if chance.random() < 0.4:
        number = chance.randint(1, 3)
        rules |= {"groups": number, "group_sizes": chance.random() < 0.5}
        if "neighbors" not in rules:
            rules["max_groups"] = chance.randint(1, min(number, 2))
    return hn.Workload(queries, **rules)


@pytest.mark.parametrize("turn", range(20 * MORE))
def test_any_mixture(turn: int) -> None:
    """Five mixtures: each within half a per cent of its bound, and no bound above an error."""
    chance = random.Random(f"variances {turn}")
    for _ in range(5):
        workload = any_workload(chance)
        hold_to_its_bound(workload, known=chance.random() < 0.3)


@pytest.mark.parametrize("turn", range(15 * MORE))
def test_what_is_measured_costs_what_is_declared(turn: int) -> None:
    """Four mixtures: points of the curve, however rounded, cost no more, and the worst as much.

    In exact rationals, from what is measured.
    """
    chance, done = random.Random(f"loss of variances {turn}"), 0
    while done < 4:
        workload, mu = any_workload(chance, most=1), 10 ** chance.uniform(-2, 1)
        several = sum(isinstance(block.shape, Squared) for block in workload.blocks) > 1
        if several and (workload.grouped or workload.neighbors is REPLACE):
            continue
        if workload.grouped and workload.grouping and workload.grouping.most > 1 and turn % 3:
            continue
        ready = chosen(workload, mu).on_grid(workload, mu)
        cost, declared = enumerated(workload, ready), Fraction(ready.design.loss())
        assert cost <= declared**2
        assert math.sqrt(cost) >= 0.999 * mu, workload
        done += 1


def costs(ready: Measurement, workload: hn.Workload, *, number: int) -> Any:
    """Return what everybody costs under what is measured: of a mean with its variance alone.

    From all values of the grid, or so many of them.
    """
    rows = [entering(((each,),), ready) for each in on_curve(ready.blocks[0], number)]
    moved = np.array(rows, dtype=float) / np.concatenate(ready.scales)
    if workload.neighbors is REPLACE:
        one, other = np.triu_indices(len(moved), 1)
        moved = moved[one] - moved[other]
    powers = abs(moved) ** ready.design.noise.p
    return powers.sum(axis=1) ** (1 / ready.design.noise.p)


def on_any_grid(workload: hn.Workload, amount: float) -> list[Measurement]:
    """Return all designs of a workload, with either noise, on their grids."""
    budget = Budget(mu=amount, epsilon=amount)
    return [design.on_grid(workload, amount) for design in designs(workload, budget)]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("amount", [2.0**-22, 2.0**-23])
def test_everybody_on_a_coarse_grid(amount: float, rules: dict[str, Any]) -> None:
    """Where there are few quanta, all values with all roundings cost no more than is declared."""
    workload = hn.Workload([hn.Mean("m", bounds=(-3, 5.1), variance=True)], **rules)
    for ready in on_any_grid(workload, amount):
        shape, loss = ready.blocks[0].shape, ready.design.loss()
        assert isinstance(shape, Squared)
        assert shape.extent / ready.blocks[0].quantum < 10**4
        number = 10**4 if not rules else 600
        found = costs(ready, workload, number=number)
        assert loss <= amount
        assert found.max() <= loss * (1 + 1e-12)
        assert found.max() >= 0.98 * loss, ready.design.name


@pytest.mark.parametrize("rules", RULES)
def test_everybody_on_the_usual_grid(rules: dict[str, Any]) -> None:
    """Many values of the usual grid: the worst costs what is declared, to a thousandth."""
    workload = hn.Workload([SPREAD], **rules)
    names = set()
    for ready in on_any_grid(workload, 0.7):
        found, loss = costs(ready, workload, number=400), ready.design.loss()
        assert 0.998 * loss <= found.max() <= loss * (1 + 1e-12)
        names.add(ready.design.name)
    assert ("fitted-gaussian" in names) == bool(rules)


@pytest.mark.parametrize("noise", Noise)
def test_rounding_that_is_left_out_is_seen(noise: Noise, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of a coarse grid rejects corners that do not know that values are rounded."""
    exact = Squared._at

    def rounded(shape: Squared, *about: Any) -> Any:
        half = shape.extent / 2
        value, square = exact(Squared(shape.low, shape.high), *about)
        return value, square if shape.quantum is None else square - half**2 / 512

    monkeypatch.setattr(Squared, "_at", rounded)
    workload = hn.Workload([hn.Mean("m", bounds=(-3, 5.2), variance=True)])
    for ready in on_any_grid(workload, 2.0**-22):
        if ready.design.noise is noise and ready.design.name.startswith("correlated"):
            found = costs(ready, workload, number=10**4)
            assert found.max() > ready.design.loss() * (1 + 1e-12)


@pytest.mark.parametrize("leaves", [True, False])
@pytest.mark.parametrize("quantum", [Fraction(8, 2**10), Fraction(8, 2**11)])
def test_corners_hold_everybody(quantum: Fraction, *, leaves: bool) -> None:
    """However a square counts, with either sign, beside what a value is charged with.

    All values of a coarse grid with all roundings, or any two of them.
    """
    shape = Squared(-3.0, 5.0).on(quantum)
    places = np.arange(-int(4 / quantum), int(4 / quantum) + 1)
    square = (2 * places) ** 2 // Squares.of(-len(places) + 1, 0).by * float(shape.step)
    # A part of a quantum, or those of two, may move a total by one quantum more.
    value = np.minimum(abs(places) + 1, places.max()) * float(quantum)
    if leaves:
        square = square - float(shape.largest / 2)
    else:
        apart = abs(np.subtract.outer(places, places)).ravel() + 1
        value = np.minimum(apart * float(quantum), 8.0)
        square = np.subtract.outer(square, square).ravel()
    fold = Varying.of(shape, leaves=leaves)
    answered, squares = (np.array(each.along, dtype=float) for each in fold.coordinates)
    own = answered == (1 if leaves else 0)
    charged = np.array([float(x) for (x,) in fold.across])
    for rate in (*(-(10.0 ** np.linspace(-3, 3, 25))), -1.0, 1.0, *10.0 ** np.linspace(-3, 3, 25)):
        most = float((value**2 + rate * square).max())
        declared = float((charged + rate * squares)[own].max())
        assert most <= declared + 1e-12 * abs(rate)
        assert not leaves or declared <= most + (1 + abs(rate)) * 3 * float(shape.step)


def test_who_is_priced_can_be_there() -> None:
    """Prices are on people, not on corners around them: squares are as far as values allow."""
    shape = Squared(-3.0, 5.0)
    fold = priced(shape, 1, leaves=False)
    assert fold is not None
    answered, squares = fold.coordinates
    for given, square, (charged,) in zip(answered.along, squares.along, fold.across, strict=True):
        far = math.sqrt(charged) / 4
        most = far * (2 - far) if not given else abs(far**2 - 0.5)
        assert abs(square) <= 16 * most + 1e-9


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("words", ["two means", "a count beside", "replaced", "items beside"])
def test_averages_over_people_are_a_bound(words: str) -> None:
    """Where there are too many to list, averages are priced: never above the solver."""
    queries, rules = TABLE[words]
    workload = hn.Workload(queries, **rules)
    size = size_of(Setting(workload=workload, noise=Noise.GAUSSIAN, budget=1.0))
    leaves = size is not Size.PUBLIC
    folds = [certificate._some(block.shape, leaves=leaves) for block in workload.blocks]
    some = tuple(fold for fold in folds if fold is not None)
    glimpsed = certificate._glimpsed(People(workload.blocks, some, size, workload.size_weight))
    found = least(workload)
    assert 0.8 * found <= solve(glimpsed).bound <= found * (1 + 5e-5)


def test_many_variances_have_a_bound() -> None:
    """Of nine there are too many kinds of people: closed forms come near what bounds them."""
    queries = [hn.Mean(f"m{i}", bounds=(-i, 2 + i * i), variance=True) for i in range(9)]
    for rules in RULES:
        workload = hn.Workload(queries, **rules)
        bound = certificate.least_error(workload, 1.0) or math.inf
        assert bound <= chosen(workload).error(workload) <= 1.06 * bound


def test_groups_have_room_for_rows() -> None:
    """Rows of groups are multiplied by how many there are: their parts are short enough."""
    queries = [hn.Sum("s", bounds=(0, 0.8)), SPREAD, OTHER]
    for groups in (3, 8):
        workload = hn.Workload(queries, groups=groups, neighbors=REPLACE)
        assert chosen(workload, 0.3).name == "fitted-gaussian"


@pytest.mark.parametrize("kind", range(2))
def test_corners_that_are_too_near_are_seen(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does what is declared hold where those at the ends, or in the middle, seem nearer."""
    folded = Varying.of

    def nearer(shape: Squared, *about: Any, leaves: bool) -> Varying:
        found = folded(shape, *about, leaves=leaves)
        answered, squares = found.coordinates
        along, across = list(squares.along), list(found.across)
        along[kind] *= Fraction(19, 20)
        across[kind] = (across[kind][0] * Fraction(19, 20),)
        squares = replace(squares, along=tuple(along))
        return replace(found, coordinates=(answered, squares), across=tuple(across))

    monkeypatch.setattr(Varying, "of", nearer)
    workload = hn.Workload([SPREAD, hn.Count("a")])
    (design,) = (d for d in designs(workload, Budget(mu=1.0)) if isinstance(d, Fitted))
    ready = design.on_grid(workload, 1.0)
    assert enumerated(workload, ready) > Fraction(ready.design.loss()) ** 2


CONTRACT: list[tuple[list[Any], dict[str, Any], bool]] = [
    ([SPREAD, OTHER], {}, False),
    ([SPREAD, hn.Items("i", list("abc"), at_most=1)], {"size_importance": 0.3}, False),
    ([SPREAD, hn.Items("i", list("abc"), at_most=1)], {}, True),
    ([SPREAD, OTHER], {"neighbors": REPLACE}, False),
    ([SPREAD, hn.Count("a")], {"groups": 3, "max_groups": 2}, False),
    ([SPREAD], {"groups": 3, "neighbors": REPLACE}, False),
]


@pytest.mark.parametrize(("queries", "rules", "known"), CONTRACT)
def test_totals_and_errors_come_back(
    queries: list[Any], rules: dict[str, Any], *, known: bool
) -> None:
    """Without noise all sums come back; a noise on anything measured moves what it is said to."""
    workload = hn.Workload(queries, **rules)
    offered = designs(workload, Budget(mu=0.7), known_size=known)
    (design,) = (d for d in offered if isinstance(d, Fitted | FittedGroups))
    ready, groups = design.on_grid(workload, 0.7), rules.get("groups", 1)
    chance, number, sums = random.Random("totals"), 40, []
    for block in ready.blocks:
        each = list(on_curve(block, 50)) if isinstance(block.shape, Squared) else [[0], [1]]
        each = each if len(each[0]) == block.shape.size else [[1] + [0] * (block.shape.size - 1)]
        some = [np.sum(chance.choices(each, k=number), axis=0) for _ in range(groups)]
        sums.append(np.array(some).astype(np.int64).view(np.uint64))
    size = np.full(groups, number, dtype=np.uint64)
    totals = Totals(sums=tuple(sums), people=size, everyone=size.sum(keepdims=True))
    truth = []
    for block, own in zip(ready.blocks, sums, strict=True):
        values = own.view(np.int64).astype(float)
        if isinstance(shape := block.shape, Squared):
            values[:, 0] = values[:, 0] * float(block.quantum) + values[:, 1] * float(shape.middle)
            values[:, 2] *= float(shape.step)
        else:
            values *= float(block.quantum)
        truth.append(values)
    measured = ready.measure(totals)
    back = ready.recover(measured, number)
    assert back.estimates == pytest.approx(np.concatenate(truth, axis=1), rel=1e-9, abs=1e-6)
    # What comes back is linear in the noise: its covariance is that of one noise after another.
    found = np.zeros((len(ready.design.covariance.dense()),) * 2)
    for place, scales in enumerate(ready.scales):
        for at in np.ndindex(measured[place].shape):
            moved = [each.copy() for each in measured]
            moved[place].view(np.int64)[at] += 2**30
            other = ready.recover(moved, number)
            one = (other.estimates - back.estimates)[0]
            if other.sizes is not None and back.sizes is not None:
                one = np.append(one, (other.sizes - back.sizes)[0])
            found += np.outer(one, one) * (float(scales[at[1]]) / 2**30) ** 2
    declared = ready.design.covariance.dense()
    unit = np.sqrt(np.diag(declared))
    assert found / np.outer(unit, unit) == pytest.approx(
        declared / np.outer(unit, unit), rel=1e-6, abs=1e-6
    )
    goal = [np.array(rows)[:, :-1] for rows in goals(hn.Workload(queries))]
    estimates = found[: workload.size, : workload.size]
    error = sum(
        line.importance * float(np.einsum("ki,ij,kj->", rows, estimates, rows))
        for line, rows in zip(workload.lines, goal, strict=True)
    )
    error += workload.size_weight * (ready.design.size_std or 0.0) ** 2
    assert error == pytest.approx(ready.design.error(workload), rel=1e-4)
