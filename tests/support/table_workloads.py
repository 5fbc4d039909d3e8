"""Workloads of tables, drawn at random: few cells, so that everybody can be listed."""

import itertools
import random
from typing import Any

import halfnoise as hn

RELATIONS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {},
    {"neighbors": hn.Neighbors.REPLACE},
    {"by": "g", "groups": ["1", "2"]},
    {"by": "g", "groups": ["1", "2"], "neighbors": hn.Neighbors.REPLACE},
    {"by": "g", "groups": ["1", "2", "3"], "max_groups": 3},
)


def drawn(seed: int) -> hn.Workload:
    """Return a workload of tables, and of anything beside or within them."""
    rng = random.Random(seed)
    number = rng.randint(1, 3)
    axes = [hn.Choice(f"a{i}", [f"c{j}" for j in range(rng.randint(1, 3))]) for i in range(number)]
    labels = [axis.label for axis in axes]
    subsets = [c for k in range(1, number + 1) for c in itertools.combinations(labels, k)]
    chosen = rng.sample(subsets, rng.randint(1, len(subsets)))
    weights: dict[str, float] = {}

    def weight() -> float:
        return float(10 ** rng.uniform(-3, 3)) if rng.random() < 0.4 else 1.0

    queries: list[Any] = [*axes]  # asked for by themselves
    if rng.random() < 0.6:
        queries = []
        held = dict(zip(labels, axes, strict=True))
        chosen = [tuple(labels), *(c for c in chosen if len(c) < number)]
        margins = [rng.choice([0.0, 0.01, 1.0]) for _ in chosen]
        for place, (table, margin) in enumerate(zip(chosen, margins, strict=True)):
            own: list[Any] = [held[x] if place == 0 else x for x in table]
            queries.append(hn.Table(own, importance=weight(), margins=margin))
    else:
        queries += [hn.Table(list(table), importance=weight()) for table in chosen]
    queries += _values(rng, subsets)
    for query in queries:
        if rng.random() < 0.3:
            weights[query.label] = weight()
    size = rng.choice([0.0, 0.0, 1.0, 1e-3])
    rules = rng.choice(RELATIONS)
    objective = "largest" if seed % 5 == 4 else "total"
    return hn.Workload(
        queries, importance=weights, size_importance=size, objective=objective, **rules
    )


PLACES: list[list[tuple[str, ...]]] = [
    [("A", "x"), ("A", "y"), ("B", "x")],
    [("A", "x"), ("B",)],
    [("A", "x", "1"), ("A", "x", "2"), ("A", "y"), ("B", "x", "1")],
    [("A",), ("B",)],
]


def in_places(seed: int) -> hn.Workload:
    """Return a workload of tables by places inside places, and of anything beside or within."""
    rng = random.Random(seed)
    places = rng.choice(PLACES)
    labels = [f"l{i}" for i in range(max(map(len, places)))]
    nested = hn.Nested(*labels, places=places)
    axes = [hn.Choice(f"a{i}", ["c", "d"][: rng.randint(1, 2)]) for i in range(rng.randint(0, 2))]
    others = [axis.label for axis in axes]
    plain = [c for k in range(len(others) + 1) for c in itertools.combinations(others, k)]
    subsets = [(label, *own) for label in labels for own in plain]
    subsets += [own for own in plain if own]
    asked = rng.random() < 0.5
    queries: list[Any] = [nested, *axes] if asked else [hn.Table([nested, *axes], margins=0.01)]
    for table in rng.sample(subsets, rng.randint(asked and len(labels) == 1, min(3, len(subsets)))):
        margins, weight = rng.choice([0.0, 0.01, 1.0]), 10 ** rng.uniform(-2, 2)
        if (len(table) > 1 or not asked) and table != (labels[-1], *others):
            queries.append(hn.Table(list(table), importance=weight, margins=margins))
    queries += _values(rng, subsets)
    rules: dict[str, Any] = rng.choice([{}, {}, {"neighbors": hn.Neighbors.REPLACE}])
    weights = {labels[0]: 5.0} if asked and rng.random() < 0.3 else {}
    objective = "largest" if seed % 7 == 4 else "total"
    size = rng.choice([0.0, 0.0, 1.0])
    return hn.Workload(
        queries, importance=weights, size_importance=size, objective=objective, **rules
    )


def _values(rng: random.Random, subsets: list[tuple[str, ...]]) -> list[Any]:
    """Draw what is asked beside tables, and by their cells."""
    found: list[Any] = []
    for i in range(rng.choice([0, 1, 1, 2])):
        by: dict[str, Any] = {}
        if rng.random() < 0.6:
            by["by"] = list(rng.choice(subsets))
            if rng.random() < 0.4:
                by["within"] = [list(rng.choice(subsets))]
        low = rng.choice([0.0, -3.7, 10.0, -0.001])
        bounds = (low, low + rng.choice([1.0, 0.3, 25.0]))
        kind = rng.choice(["count", "sum", "mean", "items" if not by else "sum"])
        if kind == "count":
            found.append(hn.Count(f"q{i}", **by))
        elif kind == "items":
            found.append(hn.Items(f"q{i}", ["x", "y"], at_most=rng.randint(1, 2)))
        else:
            found.append({"sum": hn.Sum, "mean": hn.Mean}[kind](f"q{i}", bounds=bounds, **by))
    return found
