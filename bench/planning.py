"""What planning takes: random workloads of every kind, by either goal, and very many like counts.

Everything that `halfnoise plan` does counts: designs, the chosen one on its grid, how far it is
from the least error of any noise, words and JSON. The bar is for workloads of which a design is
fitted; others are shown beside it.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

import halfnoise as hn
from bench.rivals import WIDTH
from halfnoise.design import certificate

EACH, TRIES = 40, 3  # workloads of a kind; and how often one is tried again that took long
LIKE = 10_000_000
MOST, MOST_LIKE = 0.3, 0.1  # seconds
REPLACE = hn.Neighbors.REPLACE
Draw = random.Random


@dataclass(frozen=True, slots=True)
class Took:
    """What a plan took, whether its design was fitted, and how far it may be above the least."""

    seconds: float
    fitted: bool
    above: float


def main(wanted: Callable[[str], bool] = bool) -> None:
    """Print the table."""
    columns = ("plans", "fitted", "median", "slowest", "slowest fitted", "at most", "", "above")
    grid = Grid("seconds of the processor", *columns, title="planning", caption=CAPTION)
    plan(hn.Workload([hn.Counts(3), hn.Sum("x", bounds=(0, 2))]))  # what is imported by then
    for name, draw in KINDS.items():
        for goal in ("total", "largest"):
            if wanted(f"planning, {name}, {goal}"):
                grid.add_row(f"{name}, {goal}", *_row([*_plans(draw, goal)]))
    if wanted(f"planning, {LIKE:,} like counts"):
        took = min((plan(hn.Workload([hn.Counts(LIKE)])) for _ in range(5)), key=_seconds)
        verdict = "ok" if took.seconds <= MOST_LIKE else "OVER"
        shown = f"{took.seconds:.3f}"
        grid.add_row(f"{LIKE:,} like counts", "1", "", shown, shown, "", f"{MOST_LIKE} s", verdict)
    if grid.rows:
        Console(width=WIDTH).print(grid)


CAPTION = "above: at most so much squared error above the least of any Gaussian noise"


def plan(workload: hn.Workload) -> Took:
    """Plan a workload, with all that is said of it; anew where others may have used the machine."""
    first = _plan(workload)
    again = (_plan(workload) for _ in range(TRIES if first.seconds > MOST else 0))
    return min((first, *again), key=_seconds)


def _plan(workload: hn.Workload) -> Took:
    for each in vars(certificate).values():  # bounds that were found before
        getattr(each, "cache_clear", int)()
    start = time.process_time()
    made = hn.plan(workload, privacy=hn.GaussianDP(mu=1))
    assert made.measurement  # noqa: S101  # it is made when it is asked for
    repr(made), made.to_dict()
    took, bound = time.process_time() - start, made.least_error_bound
    error = made.chosen.error(workload)
    return Took(took, made.chosen.name.startswith("fitted"), error / bound - 1 if bound else 0.0)


def _plans(draw: Callable[[Draw], dict[str, Any]], goal: str) -> Iterator[Took]:
    for seed in range(EACH):
        yield plan(hn.Workload(**draw(Draw(seed)), objective=goal))


def _seconds(took: Took) -> float:
    return took.seconds


def _row(plans: list[Took]) -> tuple[str, ...]:
    fitted, every = [each.seconds for each in plans if each.fitted], [*map(_seconds, plans)]
    slowest = max(fitted, default=0.0)
    return (
        str(len(plans)),
        str(len(fitted)),
        f"{statistics.median(every):.3f}",
        f"{max(every):.3f}",
        f"{slowest:.3f}",
        f"{MOST} s",
        "ok" if slowest <= MOST else "OVER",
        f"{max(each.above for each in plans):.2%}",
    )


def _bounds(draw: Draw) -> tuple[float, float]:
    low = draw.choice([0.0, draw.uniform(-20, 20), 1000.0])
    return low, low + 10 ** draw.uniform(-1, 3)


def _any(draw: Draw, most: int = 5) -> list[Any]:
    found: list[Any] = []
    for i in range(draw.randint(1, most)):
        items = [f"{i}{letter}" for letter in "abcde"[: draw.randint(2, 5)]]
        kinds = [
            hn.Count(f"c{i}"),
            hn.Sum(f"s{i}", bounds=_bounds(draw)),
            hn.Mean(f"m{i}", bounds=_bounds(draw)),
            hn.Choice(f"x{i}", items[:-1]),
            hn.Items(f"i{i}", items, at_most=draw.randint(1, len(items))),
        ]
        found.append(draw.choice(kinds))
    return found


def _mixtures(draw: Draw) -> dict[str, Any]:
    queries, rules = _any(draw), dict[str, Any]()
    if draw.random() < 0.5:
        widths = {query.label: query.shape.width for query in queries}
        weights = {label: 10 ** draw.uniform(-3, 3) / w**2 for label, w in widths.items()}
        rules["importance"] = weights
    if draw.random() < 0.4:
        rules["size_importance"] = 10 ** draw.uniform(-3, 3)
    more: list[dict[str, Any]] = [{}, {"neighbors": REPLACE}, {"groups": 3, "max_groups": 2}]
    more.append({"groups": 4, "neighbors": REPLACE})
    return {"queries": queries, **rules, **draw.choice(more)}


def _unlike(draw: Draw) -> dict[str, Any]:
    sums = []
    for i in range(draw.randint(3, 12)):
        low = draw.uniform(-3, 3)
        sums.append(hn.Sum(f"x{i}", bounds=(low, low + draw.uniform(1, 5))))
    weights = {each.label: 10 ** draw.uniform(-2, 2) for each in sums}
    return {"queries": sums, "importance": weights}


def _counts(draw: Draw) -> dict[str, Any]:
    counts = [hn.Count(f"x{i}") for i in range(draw.randint(2, 12))]
    weights = {each.label: draw.choice([1, 2, 5, 0.1, 7.7]) for each in counts}
    size = draw.choice([0, 0.1, 1])
    return {"queries": counts, "importance": weights, "size_importance": size}


def _variances(draw: Draw) -> dict[str, Any]:
    ends = [(draw.uniform(-3, 0), draw.uniform(1, 5)) for _ in range(draw.randint(1, 5))]
    asked = [
        hn.Mean(f"x{i}", bounds=both, variance=draw.random() < 0.6) for i, both in enumerate(ends)
    ]
    return {"queries": asked, "neighbors": draw.choice([REPLACE, hn.Neighbors.ADD_REMOVE])}


def _tables(draw: Draw) -> dict[str, Any]:
    axes: list[Any] = [
        hn.Choice("a", list("xyz")),
        hn.Choice("b", list("pq")),
        hn.Bins("d", [0, 9]),
    ]
    table = hn.Table(axes[: draw.randint(2, 3)], margins=draw.choice([0.0, 0.01, 1.0]))
    return {"queries": [table, *_any(draw, 2)]}


def _by_cell(draw: Draw) -> dict[str, Any]:
    table = hn.Table([hn.Choice("a", list("xyz")), hn.Choice("b", list("pq"))])
    values: list[Any] = []
    for i in range(draw.randint(1, 5)):
        by = draw.choice([["a"], ["a", "b"]])
        one = hn.Sum(f"v{i}", bounds=(draw.uniform(-1, 0), draw.uniform(1, 3)), by=by)
        values.append(draw.choice([hn.Count(f"v{i}", by=by), one]))
    return {"queries": [table, *values]}


def _places(draw: Draw) -> dict[str, Any]:
    states, counties = range(draw.randint(2, 40)), draw.choice([3, 30])
    places = [(f"s{i}", f"c{j}") for i in states for j in range(draw.randint(1, counties))]
    queries = [hn.Nested("s", "c", places=places), *_any(draw, 2)]
    return {"queries": queries, "neighbors": draw.choice([REPLACE, hn.Neighbors.ADD_REMOVE])}


def _places_with_values(draw: Draw) -> dict[str, Any]:
    kept = [(f"s{i}", f"c{j}") for i in range(draw.randint(2, 5)) for j in range(4)]
    places = draw.sample(kept, draw.randint(2, len(kept)))
    levels = [["s"], ["c"], ["s", "a"], ["c", "a"], ["a"]]
    queries: list[Any] = [
        hn.Table([hn.Nested("s", "c", places=places), hn.Choice("a", ["x", "y"])])
    ]
    for i in range(draw.randint(1, 3)):
        bounds, by = _bounds(draw), draw.choice(levels)
        kinds = [hn.Count(f"v{i}", by=by), hn.Sum(f"v{i}", bounds=bounds, by=by)]
        queries.append(draw.choice([*kinds, hn.Mean(f"v{i}", bounds=bounds, by=by)]))
    queries += _any(draw, 2) if draw.random() < 0.5 else []
    return {"queries": queries, "neighbors": draw.choice([REPLACE, hn.Neighbors.ADD_REMOVE])}


KINDS: dict[str, Callable[[Draw], dict[str, Any]]] = {
    "mixtures": _mixtures,
    "unlike sums": _unlike,
    "counts of unlike importance": _counts,
    "means with variances": _variances,
    "tables with anything beside": _tables,
    "values by cell": _by_cell,
    "places with anything beside": _places,
    "places with values": _places_with_values,
}
