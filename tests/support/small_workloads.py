"""Workloads of every kind, small enough that all corners can be listed."""

from collections.abc import Callable
from functools import partial
from typing import Any

from halfnoise import (
    Bins,
    Choice,
    Count,
    Counts,
    GaussianDP,
    Items,
    Mean,
    Neighbors,
    Sum,
    Workload,
)
from halfnoise.design.candidates import designs
from halfnoise.design.design import Design
from halfnoise.planning.spending import Spending
from halfnoise.privacy.definitions import Privacy
from halfnoise.workload.queries import Query

Maker = Callable[..., Workload]

VARIANCE = "a mean with its variance"
QUERIES: dict[str, tuple[list[Query], dict[str, Any]]] = {
    "one count": ([Count("a")], {}),
    "five counts": ([Counts(5)], {}),
    "counts by importance": (
        [Count("a"), Count("b"), Count("c")],
        {"importance": {"a": 3.0, "c": 0.2}},
    ),
    "counts at most 1 of 4": ([Counts(4)], {"at_most": 1}),
    "counts at most 2 of 5": ([Counts(5)], {"at_most": 2}),
    "counts at most 4 of 5": ([Counts(5)], {"at_most": 4}),
    "one sum": ([Sum("x", bounds=(0, 20))], {}),
    "negative sum": ([Sum("x", bounds=(-7.5, -2.25))], {}),
    "sum around zero": ([Sum("x", bounds=(-3, 5))], {}),
    "sum far from zero": ([Sum("x", bounds=(990, 1000.1))], {}),
    "unequal sums": ([Sum("x", bounds=(0, 0.1)), Sum("y", bounds=(-400, 600))], {}),
    "choice": ([Choice("c", ("a", "b", "d"))], {}),
    "bins": ([Bins("age", (0, 18, 65))], {}),
    "items": ([Items("i", ("a", "b", "c"), at_most=2)], {}),
    "any items": ([Items("i", ("a", "b", "c"))], {}),
    "mean": ([Mean("m", bounds=(0, 10))], {}),
    "mean far from zero": ([Mean("m", bounds=(-50, -40))], {}),
    "two means": ([Mean("m", bounds=(0, 1)), Mean("l", bounds=(-3, 1))], {}),
    VARIANCE: ([Mean("m", bounds=(-1, 5), variance=True)], {}),
    "a mean with its variance beside others": (
        [Mean("m", bounds=(-50, -40), variance=True), Mean("l", bounds=(-3, 1)), Count("a")],
        {},
    ),
    "count and choice": ([Count("a"), Choice("c", ("a", "b"))], {}),
    "at most and sum": ([Counts(3), Sum("x", bounds=(2, 4))], {"at_most": 2}),
    "mixture": (
        [Counts(2), Sum("x", bounds=(1, 4)), Mean("m", bounds=(0, 5)), Choice("c", ("a", "b"))],
        {"importance": {"x": 2.0}},
    ),
    "items and mean": (
        [Items("i", ("a", "b", "c", "d"), at_most=2), Mean("m", bounds=(-1, 1))],
        {},
    ),
}

# Of these it is not at a corner that a change, or Laplace noise, costs most.
ROUGH = (VARIANCE, "a mean with its variance beside others")

RELATIONS: dict[str, dict[str, Any]] = {
    "add-remove": {},
    "replace": {"neighbors": Neighbors.REPLACE},
    "add-remove in groups": {"groups": 3},
    "replace in groups": {"neighbors": Neighbors.REPLACE, "groups": 2},
    "add-remove in up to two groups": {"groups": 2, "max_groups": 2},
}


def maker(name: str) -> Maker:
    """Return a function that makes the named workload with further options."""
    queries, options = QUERIES[name]
    return partial(Workload, tuple(queries), **options)


def designs_of(workload: Workload, privacy: Privacy | None = None) -> tuple[Design, ...]:
    """Return every design that applies, at mu = 1 unless told otherwise, at known size too."""
    known = workload.grouping is None
    budget = Spending.of(privacy or GaussianDP(mu=1), workload.grouping, 1).budget
    return tuple(designs(workload, budget, known_size=known))


def design_of(
    workload: Workload, name: str = "correlated-gaussian", privacy: Privacy | None = None
) -> Design:
    """Return a design by its name, at mu = 1 unless told otherwise."""
    (design,) = (each for each in designs_of(workload, privacy) if each.name == name)
    return design
