"""What makes plans quick changes nothing else: steps and turns end where slower ones would."""

import copy
import math
import pickle
import random
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design import allocation, largest
from halfnoise.design.candidates import designs
from halfnoise.design.certificate import fairly, least_error
from halfnoise.design.crowd import Crowd
from halfnoise.design.duality import solve
from halfnoise.design.programme import Programme
from halfnoise.privacy.definitions import Budget
from halfnoise.workload.sets import Crossed, Tree, Wanted, chains, paths
from halfnoise.workload.sets.levelled import Pooling
from support.soak import MORE

MOST_TURNS = 60
PLACES = [("A", "x"), ("A", "y"), ("A", "z"), ("B", "x")]


def any_pooling(draws: np.random.Generator) -> tuple[Pooling, Any]:
    """Return noises that tell the same, with errors far apart, and what some people pay."""
    n, rows, people = (int(x) for x in draws.integers([2, 1, 1], [9, 9, 6]))
    told = np.vstack([draws.random((rows, n)) * (draws.random((rows, n)) < 0.5), np.eye(n)])
    told[:rows, 0] += 0.1
    weights = 10 ** draws.uniform(-9, 0, len(told))
    return Pooling(told, weights), draws.uniform(0.1, 2, (people, n))


@pytest.mark.parametrize("seed", range(40 * MORE))
def test_no_rates_are_better(seed: int) -> None:
    """Nobody pays more than one, and whatever is changed of the best rates, the error grows."""
    draws = np.random.default_rng(seed)
    pooling, costs = any_pooling(draws)
    found = pooling.best(costs, np.ones(costs.shape[1]))
    assert (costs @ found).max() == pytest.approx(1, abs=1e-12)
    for _ in range(200):
        other = found * np.exp(10 ** draws.uniform(-4, 0) * draws.normal(size=len(found)))
        other /= (costs @ other).max()
        assert pooling.error(other) >= pooling.error(found) * (1 - 1e-6)
    # What squared scales weigh there is how the error falls: so the same rates are the best for it.
    alone = Pooling(np.eye(len(found)), pooling.borne(found))
    again = alone.best(costs, np.ones(len(found)))
    assert alone.error(again) >= alone.error(found) * (1 - 1e-5)


@pytest.mark.parametrize("seed", range(20 * MORE))
def test_steps_end_where_programmes_do(seed: int) -> None:
    """Where each noise tells something of its own, that is a programme of lines."""
    draws = np.random.default_rng(seed)
    _, costs = any_pooling(draws)
    weights = 10 ** draws.uniform(-4, 0, costs.shape[1])
    lines = Programme(moved=(), weights=(), distances=costs, line_weights=weights)
    rates = allocation._pooled(Pooling(np.eye(len(weights)), weights), costs, weights)
    assert (weights / np.array(rates)).sum() == pytest.approx(solve(lines, 1e-9).error, rel=2e-6)


def _turned(tree: Tree, weights: tuple[float, ...], *, leaves: bool) -> float:
    """Return the error where turns alone lead, one after the other."""
    found, least = paths._by_level(tree, weights), math.inf
    for _ in range(300):
        error, roots = paths._turn(tree, weights, found, leaves=leaves)
        found, least = paths._shared(tree, roots), min(least, error)
    return least


@pytest.mark.parametrize("seed", range(30 * MORE))
def test_turns_lead_on(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few turns lead as far as very many, and places that are alike stay so to the last bit."""
    rng, turn, calls = random.Random(seed), paths._turn, list[int]()
    children: list[tuple[int, ...]] = [(rng.randint(2, 4),)]
    for _ in range(rng.randint(1, 2)):
        children.append((1, 7, *(rng.choice([1, 2, 7]) for _ in range(sum(children[-1]) - 2))))
    twice = [(2 * children[0][0],), *(2 * each for each in children[1:])]  # all of it, and again
    tree, leaves = Tree(tuple(twice)), rng.random() < 0.5
    weights = tuple(10 ** rng.uniform(-3, 3) for _ in children)

    def counted(*asked: Any, **how: Any) -> Any:
        calls.append(1)
        return turn(*asked, **how)

    monkeypatch.setattr(paths, "_turn", counted)
    found = paths.precisions(tree, weights, leaves=leaves)
    assert len(calls) <= MOST_TURNS
    error, _ = turn(tree, weights, found, leaves=leaves)
    assert error <= _turned(tree, weights, leaves=leaves) * (1 + 5e-6)
    for own in found:
        first, second = np.split(own, 2)
        assert (first == second).all()


def test_tables_find_what_follows_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds are found without chains; sets are copied and stored as any value."""
    nested = hn.Nested("s", "c", places=PLACES)
    queries: list[Any] = [hn.Table([nested, hn.Choice("a", ["u", "v"])])]
    workload = hn.Workload(queries, objective="largest")
    with monkeypatch.context() as patch:
        patch.setattr(chains, "_chain", None)
        assert fairly(workload, 1.0)
    for known in (False, True):
        shape = Crossed((2, 3), (Wanted((0, 1), 1.0),))
        assert not known or shape.size == 11
        assert copy.deepcopy(shape) == pickle.loads(pickle.dumps(shape)) == shape
    with pytest.raises(AttributeError):
        _ = shape.anything  # type: ignore[attr-defined]


@pytest.mark.parametrize("levelled", [False, True])
def test_changes_of_any_attributes_are_found_at_once(*, levelled: bool) -> None:
    """What two persons share for every set of attributes that differ is as it is one by one."""
    nested = hn.Nested("s", "c", places=PLACES)
    axes: list[Any] = [hn.Choice("a", ["u", "v"]), hn.Choice("b", ["w"]), hn.Bins("d", [0, 1, 2])]
    queries: list[Any] = [hn.Table([nested, *axes[:2]]), hn.Table(["s", axes[2]])]
    queries += [hn.Mean("v", bounds=(2, 9), by=["c", "b"]), hn.Sum("x", bounds=(0, 1), by=["s"])]
    (block,) = hn.Workload(queries, neighbors=hn.Neighbors.REPLACE).blocks
    moves = block.shape.in_way(int(levelled)).moves  # type: ignore[attr-defined]
    each = [moves.kappas(at) for at in range(moves.spots << len(moves.used))]
    assert moves.spots >= 3
    assert [*moves.every_kappa()] == each
    assert len({tuple(own) for own in each}) > 8 * 2


def test_what_is_not_chosen_may_be_rough(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of design is left as soon as another is better than it can be, and no sooner."""
    workload = hn.Workload(
        [hn.Count("a"), hn.Mean("b", bounds=(0, 1))], size_importance=0, objective="largest"
    )
    first, *_ = designs(workload, Budget(mu=1.0))
    goals = len(workload.lines)
    monkeypatch.setattr(type(first), "errors", lambda *_: [1.0] * (goals - 1) + [1.01])
    assert _rounds(first, workload, beaten=0.9) == 1
    assert _rounds(first, workload, beaten=1.02) > 1


def _rounds(first: Any, workload: hn.Workload, beaten: float) -> int:
    calls = list[int]()

    def again(_: Any) -> Any:
        calls.append(1)
        return first

    largest.least_largest(first, again, workload, None, beaten)
    return len(calls)


@pytest.mark.parametrize("most", [40, 52, 79])
@pytest.mark.parametrize("objective", ["total", "largest"])
def test_a_few_numbers_of_groups_bound_as_all_do(
    most: int, objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is alike in several groups moves most in some of so many: others leave the bound."""
    queries = [hn.Count("c"), hn.Sum("s", bounds=(0, 20)), hn.Sum("t", bounds=(-1, 9))]
    queries += [hn.Choice("x", ["a", "b"])]
    workload = hn.Workload(queries, groups=80, max_groups=most, objective=objective)
    found = least_error(workload, 1.0)
    numbers, few = list[int](), vars(Crowd)["_numbers"].fget

    def every(crowd: Crowd) -> range:
        numbers.append(len(few(crowd)))
        return range(1, crowd.most + 1)

    monkeypatch.setattr(Crowd, "_numbers", property(every))
    assert least_error(workload, 1.0) == pytest.approx(found, rel=2e-4)
    assert 0 < max(numbers) <= most / 2
