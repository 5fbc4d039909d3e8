import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.covariance import Covariance
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.design.placed_errors import PlacedErrors
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.sets import Placed, Tree, paths
from halfnoise.workload.sets.chains import Wish, chain
from halfnoise.workload.sets.paths import precisions
from halfnoise.workload.sets.residuals import margins_of, place_of
from halfnoise.workload.sets.tree import Pooled
from support.levels import MU
from support.moments import covers
from support.quadratic import quadratic_form
from support.soak import MORE, SOAKS, tell
from support.table_people import costs
from support.table_releases import Floats, releases
from support.table_solver import least_total
from support.table_workloads import in_places

MANY = 120 if MORE == 1 else max(300, 60 * MORE)
CLOSE = Fraction(1, 1000)  # of what is paid: what is lost as shares are short
REPLACE = hn.Neighbors.REPLACE
SEX = hn.Choice("sex", ["f"])
PLACES = [("A", "x"), ("A", "y"), ("A", "z"), ("B", "x")]
NESTED = hn.Nested("state", "county", places=PLACES)


def any_tree(rng: random.Random) -> Tree:
    """Return an uneven tree of up to three levels."""
    children: list[tuple[int, ...]] = [(rng.randint(2, 4),)]
    for _ in range(rng.randint(0, 2)):
        children.append(tuple(rng.randint(1, 4) for _ in range(sum(children[-1]))))
    return Tree(tuple(children))


def of_leaves(tree: Tree) -> list[Floats]:
    """Return, for the whole and each level, which smallest places are in which place."""
    whole, number = [np.zeros(tree.sizes[-1], dtype=int)], len(tree.sizes)
    places = [*whole, *(tree.above(number - 1, level) for level in range(number))]
    return [np.equal.outer(np.arange(at.max() + 1), at).astype(float) for at in places]


def test_two_passes_are_least_squares() -> None:
    """Estimates and errors of any tree are those of one large least squares problem."""
    rng, draws = random.Random(1), np.random.default_rng(1)
    for _ in range(40):
        tree = any_tree(rng)
        own, first = [draws.uniform(0.3, 3, size) for size in tree.sizes], rng.uniform(0.3, 3)
        rows, scales = of_leaves(tree), [np.array([first]), *own]
        information = sum((r.T / v) @ r for r, v in zip(rows, scales, strict=True))
        every = np.vstack(rows)
        dense = every @ np.linalg.inv(information) @ every.T
        noisy = [draws.normal(size=(2, len(r), 3)) for r in rows]
        pairs = zip(rows, noisy, scales, strict=True)
        right = sum(np.einsum("pl,p,gpc->glc", r, 1 / v, y) for r, y, v in pairs)
        best = np.einsum("pl,glc->gpc", every @ np.linalg.inv(information), right)
        pooled = Pooled(tree, own)
        top = pooled.with_top(noisy[1:], first, noisy[0][:, 0])
        found = np.concatenate([top[:, None], *pooled.estimates(noisy[1:], top)], axis=1)
        assert found == pytest.approx(best, rel=1e-9)
        varies = pooled.top(first)
        diagonal = np.concatenate([[varies], *pooled.spread(varies)])
        assert diagonal == pytest.approx(np.diag(dense), rel=1e-9)
        ends = np.cumsum((0, 1, *tree.sizes))
        for one, other in itertools.product(range(-1, len(tree.sizes)), repeat=2):
            p, q = (rng.randrange(ends[x + 2] - ends[x + 1]) for x in (one, other))
            expected = dense[ends[one + 1] + p, ends[other + 1] + q]
            assert pooled.between((one, p), (other, q), varies) == pytest.approx(expected, rel=1e-8)


def test_the_worked_example() -> None:
    """States, counties and tracts, each level once or each place: as the theory has it."""
    tree = Tree(((50,), (60,) * 50, (25,) * 3000))
    example = [
        (1 / 50, 1 / 3000, 1 / 75000, [0.334, 0.326, 0.340], [1.72, 1.70, 1.68]),
        (1.0, 1.0, 1.0, [0.019, 0.138, 0.843], [6.75, 2.39, 1.07]),
    ]
    for *weights, shares, errors in example:
        own = chain(tree, weights, Wish(private=False))
        assert [p[0] for p in own.precisions] == pytest.approx(shares, abs=6e-4)
        pooled = own.pooled()
        stds = [math.sqrt(v[0]) for v in pooled.spread(pooled.below)]
        assert stds == pytest.approx(errors, abs=6e-3)


def all_errors(tree: Tree, weights: Any, found: Any, *, private: bool) -> float:
    """Return the error of all places times what somebody pays, by dense matrices."""
    rows = of_leaves(tree)[1:]
    information = sum((r.T * p) @ r for r, p in zip(rows, found, strict=True))
    inverse = np.linalg.inv(information)
    whole = inverse.sum()  # the variance with which places tell the whole
    known = inverse - np.outer(inverse.sum(axis=1), inverse.sum(axis=0)) / whole
    error = sum(w * np.trace(r @ known @ r.T) for w, r in zip(weights, rows, strict=True))
    paid = sum(p[r.argmax(axis=0)] for r, p in zip(rows, found, strict=True))
    return float(error * (paid.max() - private / whole))


@pytest.mark.parametrize("private", [True, False])
def test_no_precisions_of_places_are_better(*, private: bool) -> None:
    """Whatever is changed of them in any tree, the error of all places grows."""
    rng, draws = random.Random(3), np.random.default_rng(3)
    for _ in range(12):
        tree = any_tree(rng)
        weights = tuple(10 ** draws.uniform(-1, 1, len(tree.sizes)))
        found = precisions(tree, weights, leaves=private)
        best = all_errors(tree, weights, found, private=private)
        for _ in range(40):
            size = 10 ** rng.uniform(-3, -0.5)
            other = [p * np.exp(size * draws.normal(size=len(p))) for p in found]
            assert all_errors(tree, weights, other, private=private) >= best * (1 - 2e-3)
        if not all(len({*each}) == 1 for each in tree.children):
            plain = paths._by_level(tree, weights)
            assert best <= all_errors(tree, weights, plain, private=private) * (1 + 1e-6)


@pytest.mark.parametrize("private", [True, False])
def test_what_a_chain_measures_is_what_it_says(*, private: bool) -> None:
    """Shares of whole numbers, what the dearest pays, and least squares: all by dense matrices."""
    rng, draws = random.Random(4), np.random.default_rng(4)
    for _ in range(25):
        tree = any_tree(rng)
        weights = (10 ** draws.uniform(-1, 1, len(tree.sizes))).tolist()
        own = chain(tree, weights, Wish(private=private, cells=rng.choice([1, 6])))
        rows, parts = of_leaves(tree)[1:], own.pooled().shares
        every = [
            r - np.outer(parts[i], np.ones(tree.sizes[-1])) if i < len(parts) else r
            for i, r in enumerate(rows)
        ]
        information = sum((r.T * p) @ r for r, p in zip(every, own.precisions, strict=True))
        assert np.diag(information).max() == pytest.approx(float(own.along), rel=1e-12)
        assert np.ptp(np.diag(information)) <= 2e-2 * np.diag(information).max()
        first, noisy = rng.uniform(0.3, 3), [draws.normal(size=(2, len(r), 3)) for r in rows]
        measured = draws.normal(size=(2, 3))
        ones = np.ones(tree.sizes[-1])
        full = information + np.outer(ones, ones) / first
        seen = zip(every, own.precisions, noisy, strict=True)
        right = sum(np.einsum("pl,p,gpc->glc", r, p, y) for r, p, y in seen)
        right = right + np.einsum("l,gc->glc", ones / first, measured)
        best = np.einsum("lk,gkc->glc", np.linalg.inv(full), right)
        pooled = own.pooled()
        back = pooled.whole(noisy, measured)
        top = pooled.with_top(back, first, measured)
        assert top == pytest.approx(best.sum(axis=1), rel=1e-8)
        found = pooled.estimates(back, top)
        assert found[-1] == pytest.approx(best, rel=1e-7, abs=1e-9)
        assert pooled.top(first) == pytest.approx(np.linalg.inv(full).sum(), rel=1e-9)


def test_everybody_costs_no_more_than_declared_and_somebody_that() -> None:
    """Whatever is asked of places: everybody listed, in rationals, from what is measured."""
    complete, kinds, least = 0, set[str](), Fraction(1)
    for seed in range(MANY):
        workload = in_places(seed)
        plan = hn.plan(workload, privacy=hn.GaussianDP(mu=0.7), known_size=seed % 3 == 0)
        declared = Fraction(plan.measurement.design.loss()) ** 2
        assert 0.49 * (1 - CLOSE) < declared <= Fraction(0.7) ** 2, seed
        found = costs(plan)
        assert max(found.each) <= declared, seed
        if found.complete:
            complete += 1
            least = min(least, max(found.each) / declared)
            assert max(found.each) >= declared * (1 - CLOSE), seed
            kinds.add(f"{workload.neighbors.value} {plan.chosen.name}")
    assert complete > 0.8 * MANY
    assert len(kinds) >= 3
    tell("loss in places", workloads=complete, kinds=sorted(kinds), least=float(least))


def test_a_level_with_less_noise_is_seen() -> None:
    """If one level has a little less noise, somebody costs more than declared."""
    plan = hn.plan([NESTED, hn.Table(["county", SEX])], privacy=MU)
    ready = plan.measurement
    assert isinstance(ready, CenteredMeasurement)
    for place in range(len(ready.channels[0].scales)):
        scales = np.array(ready.channels[0].scales)
        scales[place] *= 0.95
        channel = replace(ready.channels[0], scales=tuple(scales.tolist()))
        object.__setattr__(plan, "measurement", replace(ready, channels=(channel,)))
        assert max(costs(plan).each) > Fraction(ready.design.loss()) ** 2


def linear(plan: hn.Plan) -> Floats:
    """Return the covariance of all that comes out, from what each noise by itself makes of it."""
    ready = plan.measurement
    assert isinstance(ready, CenteredMeasurement)
    scales = ready.scales[0]
    unit = np.diag(np.full(len(scales), 2**40, dtype=np.int64)).view(np.uint64)
    back = ready.recover([unit], 0.0)
    sizes = [] if back.sizes is None else [back.sizes[:, None]]
    made = np.hstack([back.estimates, *sizes]) / 2.0**40
    return np.asarray((made.T * scales**2) @ made)


ASKED: list[tuple[Any, dict[str, Any]]] = [
    ([NESTED, hn.Table(["county", SEX]), hn.Count("c")], {}),
    ([hn.Table([NESTED, SEX]), hn.Mean("m", bounds=(3, 9), by=["state", "sex"])], {}),
    ([NESTED, hn.Sum("s", bounds=(3, 9), by=["county"]), SEX], {"known_size": True}),
    ([NESTED, hn.Table(["state", SEX])], {"neighbors": REPLACE}),
]


@pytest.mark.parametrize(("queries", "rules"), ASKED)
def test_errors_are_exact(queries: Any, rules: dict[str, Any]) -> None:
    """The covariance, in closed form, is what the noises make; and so is what is read from it."""
    plan = hn.plan(queries, privacy=MU, **rules)
    covariance, dense = plan.measurement.design.covariance, linear(plan)
    assert covariance.dense() == pytest.approx(dense, rel=1e-6, abs=1e-9)
    assert covariance.diagonal() == pytest.approx(np.diag(dense), rel=1e-6, abs=1e-9)
    check_parts(covariance, dense)
    again = Covariance.from_dict(covariance.to_dict())
    assert again == covariance
    lines = plan.measurement.design.query_std
    tables, block = covariance.tables, plan.measurement.blocks[-1]
    assert isinstance(tables, PlacedErrors)
    assert isinstance(block, TableBlock)
    at = {(kind, axes): slice(start, stop) for kind, axes, start, stop in tables.tables}
    for table, std in zip(block.tables, lines[-len(block.tables) :], strict=True):
        kind = 0 if table.value is None else block.shape.layer_of(table.value)
        mean = np.diag(dense)[at[kind, table.axes]].mean()
        assert std == pytest.approx(math.sqrt(mean), rel=1e-6)


def check_parts(covariance: Covariance, dense: Floats) -> None:
    """Compare pairs, blocks, weighted sums and what cells have in common with margins."""
    rng, draws = random.Random(2), np.random.default_rng(2)
    tables = covariance.tables
    assert isinstance(tables, PlacedErrors)
    for _ in range(200):
        one, other = (rng.randrange(covariance.size) for _ in range(2))
        assert covariance.between(one, other) == pytest.approx(dense[one, other], abs=1e-6)
    for _, axes, start, stop in tables.tables:
        shape = [tables.levels[axis] for axis in axes]
        weights = draws.normal(size=shape)
        own = dense[start:stop, start:stop]
        expected = weights.ravel() @ own @ weights.ravel()
        assert covariance.weighted(start, weights) == pytest.approx(expected, rel=1e-6, abs=1e-9)
        chosen = [sorted(rng.sample(range(n), rng.randint(1, n))) for n in shape]
        inner = np.zeros(shape)
        inner[np.ix_(*chosen)] = 1.0
        expected = inner.ravel() @ own @ inner.ravel()
        assert covariance.block(start, start, chosen) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    for (kind, axes, start, _), (kind_, by, at, _) in itertools.product(tables.tables, repeat=2):
        if kind == kind_ and by in [*margins_of(axes, tables.deep)]:
            around, (number, many) = covariance.around(start, at), tables.places(start)
            step = tables.places(at)[1]
            first = [dense[start + many * p, at + step * around[p]] for p in range(number)]
            assert covariance.matched(start, at) == pytest.approx(first, rel=1e-6, abs=1e-9)


def wrong(plan: hn.Plan, number: int) -> list[str]:
    """List intervals that hold too seldom or too often, and places that do not add up."""
    found = releases(plan, number)
    shape, bad, draws = found.block.shape, list[str](), np.random.default_rng(5)
    for kind, by in shape.tables:
        own = found.cells(kind, *by)
        weights = np.zeros(len(found.truth))
        weights[own] = draws.normal(size=own.stop - own.start)
        for name, each in (("cell", found.at(own.stop - 1)), ("sum", weights)):
            if quadratic_form(found.covariance, each) < 1e-12:
                continue  # the number of people, which is known
            held = int((abs(found.error_of(each)) <= 1.959963984540054).sum())
            bad += [] if covers(held, number, 0.95) else [f"{name} {kind} {by}"]
        for part in margins_of(by, shape.deep):
            if part == by or (kind == 0 and not part):
                continue
            margin, cells_ = (found.estimates[:, found.cells(kind, *x)] for x in (part, by))
            summed = added(cells_, by, part, shape)
            bad += ["margins"] if abs(summed - margin).max() > 1e-5 else []
    return bad


def added(values: Floats, by: Any, part: Any, shape: Any) -> Floats:
    """Add the cells of a table up to a margin, place by place."""
    table = values.reshape(len(values), *(shape.levels[axis] for axis in by))
    level, over = place_of(by, shape.deep), place_of(part, shape.deep)
    if level and over:
        around = shape.tree.above(level[0], over[0])
        made = np.zeros((len(values), shape.levels[over[0]], *table.shape[2:]))
        for at, place in enumerate(around.tolist()):
            made[:, place] += table[:, at]
        table, by = made, (*over, *by[1:])
    gone = tuple(1 + i for i, axis in enumerate(by) if axis not in part)
    return np.asarray(table.sum(axis=gone).reshape(len(values), -1))


NUMBER = 100_000 if SOAKS else 20_000


@pytest.mark.parametrize(("queries", "rules"), ASKED)
def test_intervals_cover_and_places_add_up(queries: Any, rules: dict[str, Any]) -> None:
    """Of cells and sums of cells at all levels 95% hold, and numbers add up from bottom to top."""
    assert wrong(hn.plan(queries, privacy=MU, **rules), NUMBER) == []


def apart(_self: Any, _channel: Any, residuals: Any) -> Any:
    """Leave each level as it was measured."""
    return residuals


def not_put_back(self: Pooled, noisy: Any, top: Floats) -> Any:
    """Forget what was taken from places."""
    del self, top
    return noisy


def not_shared_out(self: Pooled, noisy: Any, top: Floats) -> list[Floats]:
    """Forget to bring down what is above."""
    del top
    return self._from_below(noisy)


MUTANTS = [(Placed, "agreeing", apart), (Pooled, "whole", not_put_back)]
MUTANTS += [(Pooled, "estimates", not_shared_out)]


@pytest.mark.parametrize(("kind", "name", "mutant"), MUTANTS)
def test_mistakes_are_seen(
    kind: Any, name: str, mutant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Levels that are not brought together, or in part, are rejected."""
    plan = hn.plan([NESTED, hn.Table(["county", SEX])], privacy=MU)
    monkeypatch.setattr(kind, name, mutant)
    assert wrong(plan, 20_000)


SOLVED: list[tuple[Any, dict[str, Any], float]] = [
    ([hn.Nested("a", places=[("x",), ("y",)]), hn.Table(["a", SEX])], {}, 1e-4),
    ([NESTED], {}, 0.003),
    ([NESTED, hn.Count("c")], {"size_importance": 1.0}, 0.003),
    ([hn.Nested("s", "c", places=PLACES[:3]), hn.Table(["c", SEX])], {}, 0.003),
    ([hn.Table([hn.Nested("s", "c", places=[("A", "x"), ("B", "y")])])], {}, 1e-4),
    ([hn.Nested("s", "c", places=PLACES[2:])], {"neighbors": REPLACE}, 0.015),
]


@pytest.mark.parametrize(("queries", "rules", "above"), SOLVED)
def test_little_is_left_of_any_noise(queries: Any, rules: dict[str, Any], above: float) -> None:
    """No Gaussian noise has much less error, however uneven the places."""
    workload = hn.Workload(queries, **rules)
    ours = hn.plan(workload, privacy=MU).chosen.total_error(workload.size_importance)
    least = least_total(workload)
    assert least * (1 - 2e-4) <= ours <= least * (1 + above + 2e-4)


def test_one_level_is_a_choice() -> None:
    """A nested attribute of one level has the errors of a choice."""
    one = hn.Nested("a", places=[("x",), ("y",), ("z",)])
    same = hn.Choice("a", ["x", "y", "z"])
    for beside in ([], [hn.Table(["a", SEX], margins=0.5)], [hn.Count("c")]):
        tables = [hn.Table([axis], importance=1) for axis in (one, same)]
        nested, plain = (hn.plan([table, *beside], privacy=MU).chosen for table in tables)
        assert nested.query_std == pytest.approx(plain.query_std, rel=2e-3)
        assert nested.size_std == pytest.approx(plain.size_std, rel=2e-3)
