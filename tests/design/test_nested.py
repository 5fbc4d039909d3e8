import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design.centered import Centered
from halfnoise.design.covariance import Covariance
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.design.placed_errors import PlacedErrors
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.sets import Placed, Tree, Wanted
from halfnoise.workload.sets.residuals import cells, inside, margins_of, place_of, rank
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
CLOSE = Fraction(1, 10**9)
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
        own, first = draws.uniform(0.3, 3, len(tree.sizes)).tolist(), rng.uniform(0.3, 3)
        rows = of_leaves(tree)
        information = sum(r.T @ r / v for r, v in zip(rows, (first, *own), strict=True))
        every = np.vstack(rows)
        dense = every @ np.linalg.inv(information) @ every.T
        noisy = [draws.normal(size=(2, len(r), 3)) for r in rows]
        pairs = zip(rows, noisy, (first, *own), strict=True)
        right = sum(np.einsum("pl,gpc->glc", r, y) / v for r, y, v in pairs)
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
    for *weights, precisions, errors in example:
        wanted = tuple(Wanted((i,), weight) for i, weight in enumerate(weights))
        shape = Placed(tree.sizes, wanted, tree=tree)
        terms = [
            math.sqrt(w * float(c.distance))
            for w, c in zip((each.weight for each in shape.classes), shape.classes, strict=True)
        ]
        shares = [term / sum(terms) for term in terms]
        assert shares == pytest.approx(precisions, abs=6e-4)
        scales = tuple(share**-0.5 for share in shares)
        root = math.sqrt(shape.told(scales))
        stds = [math.hypot(*shape.noises(0, (level,), scales, root)) for level in range(3)]
        assert stds == pytest.approx(errors, abs=6e-3)


def test_scales_are_those_of_the_theory() -> None:
    """Precisions are in proportion to N_A M_l (r_l - r_(l+1)), and n has what is left of it."""
    asked: list[Any] = [NESTED, hn.Table(["county", SEX], margins=0.1), hn.Table(["sex", "state"])]
    design = hn.plan(asked, privacy=MU).chosen
    block = design.blocks[0]
    assert isinstance(block, TableBlock)
    assert isinstance(design, Centered)
    levels, r = block.shape.levels, dict[Any, float]()
    for table in block.tables:
        for axes in margins_of(table.axes, 2):
            r[axes] = r.get(axes, 0.0) + table.weight / cells(levels, table.axes)
    apart = {}
    for axes, square in r.items():
        level = place_of(axes, 2)
        finer = level[0] + 1 if level else 0
        more = r.get((finer, *axes[len(level) :]), 0.0) if finer < 2 else 0.0
        apart[axes] = math.sqrt(square) - math.sqrt(more)
    whole = sum(rank(levels, axes, 2) * own for axes, own in apart.items())
    assert min(apart.values()) > 0
    for axes, own in apart.items():
        theta = inside(levels, axes, 2) * cells(levels, place_of(axes, 2)) * own / whole
        place = block.shape.places.get((0, axes))
        scale = design.size_scale if place is None else design.scales[0][place]
        assert scale is not None
        assert scale**-2 == pytest.approx(theta, rel=1e-9)


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
    """If one level has a millionth less noise, somebody costs more than declared."""
    plan = hn.plan([NESTED, hn.Table(["county", SEX])], privacy=MU)
    ready = plan.measurement
    assert isinstance(ready, CenteredMeasurement)
    for place in range(len(ready.channels[0].scales)):
        scales = np.array(ready.channels[0].scales)
        scales[place] *= 1 - 1e-6
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


def only_below(self: Pooled, noisy: Any, _variance: float, _measured: Floats) -> Floats:
    """Forget what was measured of the whole."""
    return self.told(noisy)


def not_shared_out(self: Pooled, noisy: Any, top: Floats) -> list[Floats]:
    """Forget to bring down what is above."""
    del top
    return self._from_below(noisy)


MUTANTS = [(Placed, "agreeing", apart), (Pooled, "with_top", only_below)]
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
