"""Workloads of every kind mixed at random, and rows of anybody, near all that matters to them."""

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import halfnoise as hn

Row = dict[str, Any]
Draw = random.Random
NUMBERS, TEXTS = ("n", "m", "w"), ("k", "l", "i", "g")
WORDS = ["A", "B", "a", "c", "other", "d", None, "", " A", "b", "True", "1", "x" * 50, "á", "A1"]
FAR = [0.0, -0.0, 0.5, 1e308, -1e308, 5e-324, 2.0**53 + 2, 2.0**63, -(2.0**63), 2.0**64]
FAR += [math.inf, -math.inf, math.nan]


PLACES = [("A", "a"), ("A", "B"), ("B", "a"), ("B", "b"), ("B", "A1"), ("c",)]


def _where(draw: Draw) -> hn.Where:
    kinds: list[Row] = [
        {"column": "n", "at_least": 1},
        {"column": "m", "between": (-1, 5)},
        {"column": "k", "equals": "A"},
        {"column": "l", "is_in": ["a", "B"], "missing": ["B"]},
    ]
    return hn.Where(**draw.choice(kinds))


def _number(draw: Draw, name: str, **by: Any) -> Any:
    given: Row = {"name": name, **by}
    if draw.random() < 0.25:
        given["where"] = _where(draw)
    if draw.random() < 0.2:
        given["missing"] = draw.choice([-9, 0, [1, 5]])
    column, kind = draw.choice("nm"), draw.randint(0, 4)
    if kind == 0:
        return hn.Count("y", **given)
    if kind == 1:
        conditions: list[Row] = [{"above": 2}, {"between": (0, 3)}]
        return hn.Count(column, **given, **draw.choice(conditions))
    low = draw.choice([0, 1, -3, draw.uniform(-50, 50)])
    bounds = (low, low + draw.choice([1, 10, 1 / 3, 1000, 10 ** draw.uniform(-1, 3)]))
    if kind == 2:
        return hn.Sum(column, bounds=bounds, **given)
    return hn.Mean(column, bounds=bounds, **given, variance=not by and draw.random() < 0.3)


def _categories(draw: Draw, name: str) -> Any:
    given: Row = {"name": name} | ({"where": _where(draw)} if draw.random() < 0.2 else {})
    some = draw.sample(["A", "B", "a", "c", "A*"], draw.randint(1, 4))
    kind = draw.randint(0, 2)
    if kind == 0:
        return hn.Choice(draw.choice("kl"), some, **given)
    if kind == 1:
        return hn.Bins(draw.choice("nm"), sorted(draw.sample([-5, 0, 0.5, 3, 100.25], 3)), **given)
    split = draw.choice([None, ";"])
    return hn.Items("i", some, at_most=draw.randint(1, len(some)), split=split, **given)


def _tables(draw: Draw) -> list[Any]:
    axes: list[Any] = [hn.Choice("k", ["A", "B"]), hn.Choice("l", ["a"]), hn.Bins("n", [0, 3])]
    axes = draw.sample(axes, draw.randint(1, 3))
    labels = [axis.label for axis in axes]
    subsets = [c for k in range(1, len(labels) + 1) for c in itertools.combinations(labels, k)]
    if draw.random() < 0.5:  # or by places inside places
        places = draw.sample(PLACES, draw.randint(2, len(PLACES)))
        plain = axes[:1] if axes[0].label == "n" else []
        axes = [hn.Nested("k", "l", places=places), *plain]
        subsets = [(level, *own) for level in "kl" for own in [(), *([("n",)] if plain else [])]]
    rules: Row = {"importance": 10 ** draw.uniform(-3, 1), "margins": draw.choice([0, 0.01, 1])}
    values = []
    for i in range(draw.randint(1, 3)):
        by: Row = {"by": list(draw.choice(subsets))}
        by |= {"within": [list(draw.choice(subsets))]} if draw.random() < 0.3 else {}
        values.append(_number(draw, f"v{i}", **by))
    return [hn.Table(axes, **rules), *values]


def workload(draw: Draw) -> hn.Workload:
    """Return any workload, if it is allowed: in groups all of which are listed, or in none."""
    queries = _tables(draw) if draw.random() < 0.5 else []
    kinds: list[Callable[[Draw, str], Any]] = [_number, _number, _categories]
    some = draw.randint(0 if queries else 1, 3)
    queries += [draw.choice(kinds)(draw, f"q{i}") for i in range(some)]
    rules: Row = {}
    if draw.random() < 0.3:
        rules["size_importance"] = 10 ** draw.uniform(-3, 3)
    if draw.random() < 0.3:
        rules["neighbors"] = hn.Neighbors.REPLACE
    elif draw.random() < 0.3:
        low = draw.choice([0, 0.3, 1])
        rules["weight"] = hn.Weight("w", bounds=(low, low + draw.choice([0.5, 2.7, 1000])))
        rules["effective_size"], rules["unweighted_size"] = draw.choice(
            [(True, False), (False, True)]
        )
    elif draw.random() < 0.2:
        rules["where"] = [_where(draw)]
    placed = any(isinstance(axis, hn.Nested) for x in queries for axis in getattr(x, "axes", ()))
    if draw.random() < 0.4 and not placed:
        groups = draw.sample(["A", "B", "a", None], draw.randint(1, 3))
        rules |= {"by": "g", "groups": groups, "other": None, "group_sizes": draw.random() < 0.5}
        rules["max_groups"] = 1 if "neighbors" in rules else draw.randint(1, 2)
    return hn.Workload(queries, **rules)


def numbers(asked: hn.Workload) -> list[float]:
    """Return the numbers that matter to a workload, those next to them, and some far out."""
    found = list(FAR)
    for query in (part for each in asked.asked for part in (each, *getattr(each, "own", ()))):
        ends = [*(getattr(query, "bounds", None) or ()), *(getattr(query, "edges", None) or ())]
        for x in map(float, ends):
            found += [x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf), x + 0.5, 2 * x]
    return found


def rows(draw: Draw, person: str | None, known: list[float], types: dict[str, str]) -> list[Row]:
    """Return the rows of one person, of whom a half of the cells are alike in all."""

    def cell(column: str) -> Any:
        if column == "y":
            return draw.choice(["1", "0", "yes", "no", None, "junk"])
        if column == "i" and draw.random() < 0.5:
            return ";".join(draw.choices([word for word in WORDS if word], k=4))
        if column not in NUMBERS:
            return draw.choice(WORDS)
        x = draw.choice([*known, None, draw.uniform(-10, 10), 0.3, 3.0])
        if types[column] == "text":
            return draw.choice(["", "junk", "1e400", "0x10"]) if x is None else repr(x)
        if types[column] == "whole":
            large = draw.choice([None, 2**63 - 1, -(2**63), 2**53 + 1])
            return int(x) if x is not None and abs(x) < 2**63 else large  # as for NaN
        return x

    every = (*NUMBERS, *TEXTS, "y")
    first = {column: cell(column) for column in every}
    number = draw.choice([1, 1, 2, 5, 20])
    return [
        {"id": person} | {c: cell(c) if draw.random() < 0.5 else first[c] for c in every}
        for _ in range(number)
    ]
