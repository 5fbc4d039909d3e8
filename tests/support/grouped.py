"""Releases by group with values set by hand, for the tests of results."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from halfnoise import Choice, Count, GaussianDP, Mean, Sum, Workload
from halfnoise.privacy.definitions import Privacy
from halfnoise.results.inference import Estimate
from halfnoise.results.release import GroupedRelease
from halfnoise.workload.by import By
from halfnoise.workload.listing import Key
from halfnoise.workload.question import SIZE
from support.replay import many

WORKLOAD = Workload(
    [
        Count("smoker"),
        Count("gout"),
        Sum("visits", bounds=(0, 20)),
        Mean("age", bounds=(18, 90)),
        Choice("blood", ("A", "B")),
    ]
)
COMMON = 0.4
"""The share of the variance of the number of people that groups have in common."""

MU = GaussianDP(mu=1)
PEOPLE = Estimate(name=SIZE, estimate=2500.0, std=3.0, low=0.0, high=0.0)
EVERY_TYPE: tuple[Key, ...] = (
    ("north",), (1,), (1.0,), (True,), (0,), (dt.date(2026, 1, 2),), (None,), ("",),
)  # fmt: skip


def made(
    keys: Sequence[Key] = (("north",), ("south",), ("other",)),
    by: Sequence[By] = (By("region"),),
    *,
    workload: Workload = WORKLOAD,
    privacy: Privacy = MU,
    **others: Any,
) -> GroupedRelease:
    """Return a release by group: 1000 people in each, a third with every answer, and noise."""
    one = many(workload, privacy, people=1000, rows=1).one
    draws = np.random.default_rng(1).normal(0, 30, (len(keys), len(one.values)))
    alike = {name: others.pop(name) for name in ("guarantee", "facts") if name in others}
    given: dict[str, Any] = {"template": replace(one, **alike), "values": one.values + draws}
    return GroupedRelease(by=tuple(by), group_keys=tuple(keys), **given | others)


def two_level(count: int = 4, *, common: float = COMMON) -> GroupedRelease:
    """Return a release whose groups share some of the noise of their numbers of people."""
    release = made([(place,) for place in range(count)], most=2)
    return replace(release, common=common * release.errors.covariance.variance(len(release.names)))
