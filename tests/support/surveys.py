"""Releases of surveys: of a sample, of people with weights, by group, in a known number."""

import functools
import math
from typing import Any

import numpy as np
import polars as pl

import halfnoise as hn

MU = hn.GaussianDP(mu=1)
WEIGHT = hn.Weight("w", bounds=(0, 5))
REGIONS = ["north", "south"]
QUERIES = (
    hn.Count("smoker"),
    hn.Choice("blood", ["A", "B", "O"]),
    hn.Mean("income", bounds=(0, 100)),
    hn.Sum("visits", bounds=(0, 20)),
)


@functools.cache
def people() -> pl.DataFrame:
    """Return some people, with weights that are missing, too low and too high as well."""
    draws, number = np.random.default_rng(15), 2000
    return pl.DataFrame(
        {
            "smoker": draws.random(number) < 0.3,
            "blood": draws.choice(["A", "B", "O"], number),
            "income": draws.uniform(0, 100, number),
            "visits": draws.integers(0, 20, number),
            "region": draws.choice(REGIONS, number),
            "state": (states := draws.choice(["s", "t"], number)),
            "county": [each + "ab"[i % 2] for i, each in enumerate(states)],
            "w": draws.choice([0.5, 1.0, 2.75, 9.0, -1.0, math.nan], number),
        }
    )


@functools.cache
def surveyed(*more: Any, queries: tuple[Any, ...] = QUERIES, **given: Any) -> Any:
    """Release what is asked of these people."""
    said = {"row_is_person": True, "privacy": MU, **given}
    return hn.release(people(), [*queries, *more], **said)


def sampled(**given: Any) -> Any:
    """Return a release of a sample."""
    return surveyed(size_importance=1, sampling="srs", **given)


def weighted(**given: Any) -> Any:
    """Return a release of people with weights, with both numbers of people."""
    return sampled(weight=WEIGHT, unweighted_size=True, effective_size=True, **given)


def nested() -> Any:
    """Return a table of places inside places."""
    places = [("s", "sa"), ("s", "sb"), ("t", "ta"), ("t", "tb")]
    where = hn.Nested("state", "county", places=places)
    return surveyed(queries=(hn.Table([where, QUERIES[1]]),))


BY: dict[str, Any] = {"by": "region", "groups": (*REGIONS,)}
SURVEYS: dict[str, Any] = {
    "a sample": sampled,
    "a sample of a known size": lambda: surveyed(known_size=2000, sampling="srs"),
    "a clustered sample": lambda: surveyed(size_importance=1).with_sampling("srs", design_effect=3),
    "a sample with Laplace noise": lambda: sampled(privacy=hn.PureDP(epsilon=1)),
    "groups of a sample": lambda: surveyed(sampling="srs", **BY),
    "weights": lambda: surveyed(weight=WEIGHT, size_importance=1),
    "weights and no sample": lambda: weighted().with_sampling(None),
    "weights in a known number": lambda: surveyed(weight=WEIGHT, known_size=3500),
    "a sample with weights": weighted,
    "groups with weights": lambda: weighted(**BY),
    "flags": lambda: sampled().flagged(0.01, suppress=0.03),
    "places": nested,
}
