"""Small releases with tables of all sorts, for the tests of results."""

import functools
import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

import halfnoise as hn

MU = hn.GaussianDP(mu=1)
LEVELS = {"sex": 2, "age": 3, "region": 4, "work": 2}
AXES = {
    label: hn.Choice(label, [f"{label[0]}{i}" for i in range(1, n)]) for label, n in LEVELS.items()
}
ORDER = [*LEVELS]


@functools.cache
def people() -> pl.DataFrame:
    """Return some people, each with a category of everything, an income and yes or no."""
    draws = np.random.default_rng(3)
    found: dict[str, Any] = {
        label: draws.choice([f"{label[0]}{i}" for i in range(number)], 300)
        for label, number in LEVELS.items()
    }
    found |= {"income": draws.uniform(-20, 100, 300), "ill": draws.integers(0, 2, 300)}
    return pl.DataFrame(found)


def asked(tables: Sequence[Sequence[str]], *more: Any) -> list[Any]:
    """Return queries for tables by these labels, each attribute said once."""
    seen, found = set[str](), list[Any]()
    for labels in tables:
        axes = [label if label in seen else AXES[label] for label in labels]
        seen |= {*labels}
        found.append(hn.Table(axes))
    return [*found, *more]


def released(queries: Sequence[Any], **given: Any) -> Any:
    """Release what is asked of these people."""
    return hn.release(people(), queries, privacy=MU, row_is_person=True, **given)


VALUES = (
    hn.Mean("income", bounds=(-20, 100), by=["sex", "region"]),
    hn.Sum("income", name="earned", bounds=(0, 100), by=["region"]),
    hn.Count("ill", by=["sex"]),
)


@functools.cache
def everything() -> hn.Release:
    """Return a release of two tables that overlap, with values by cell and a count beside."""
    queries = asked(
        [("sex", "age", "region"), ("age", "work")], *VALUES, hn.Count("ill", name="sick")
    )
    found = released(queries)
    assert isinstance(found, hn.Release)
    return found


@functools.cache
def known() -> hn.Release:
    """Return the same where the number of people is known."""
    found = released(asked([("sex", "region")], *VALUES), known_size=300)
    assert isinstance(found, hn.Release)
    return found


@functools.cache
def few() -> hn.Release:
    """Return a release of few tables, with a value by cell."""
    found = released(asked([("sex", "work")], VALUES[2], hn.Count("ill", name="sick")))
    assert isinstance(found, hn.Release)
    return found


@functools.cache
def by_group() -> Any:
    """Return tables of each group."""
    return released(asked([("sex", "region")], *VALUES), by="work", groups=["w0"])


def any_design(seed: int) -> hn.Release:
    """Return a release of some tables that overlap in any way."""
    draw = random.Random(seed)
    every = [t for k in (1, 2, 3, 4) for t in itertools.combinations(ORDER, k)]
    tables = draw.sample(every, draw.choice([1, 2, 3]))
    value = draw.choice(VALUES)
    more = [value] if {*value.by} <= {label for each in tables for label in each} else []
    found = released(asked([draw.sample(each, len(each)) for each in tables], *more))
    assert isinstance(found, hn.Release)
    return found
