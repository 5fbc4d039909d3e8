"""A script of a user: what is right must pass strict checks, what is marked must not.

It is read by mypy and pyright, and never run.
"""

from pathlib import Path
from typing import assert_type

import narwhals as nw
import polars as pl

import halfnoise as hn

SURVEY = pl.DataFrame({"smoker": [True, False], "person": [1, 2], "region": ["north", "south"]})
QUERIES = [hn.Count("smoker"), hn.Count("age", at_least=65, name="old")]
MIXED = [hn.Count("smoker"), hn.Sum("visits", bounds=(0, 20)), hn.Choice("blood", ["A", "B"])]
BUDGET = hn.ApproxDP(epsilon=1, delta=1e-6)


def right() -> None:
    """Ask for everything as it is meant to be asked for."""
    table = hn.release(SURVEY, QUERIES, privacy=BUDGET, unit="person", importance={"smoker": 2})
    assert_type(table, hn.Release)
    assert_type(hn.release(SURVEY, MIXED, privacy=BUDGET, unit="person"), hn.Release)
    table["smoker"].estimate.is_integer()
    regions = hn.release(
        SURVEY,
        [
            hn.Sum("visits", bounds=(0, 20), missing=-99),
            hn.Mean("income", bounds=(0, 1), missing=[""]),
        ],
        privacy=hn.GaussianDP(mu=1),
        row_is_person=True,
        by=["region", hn.By("visited", every="month")],
        groups=[["north", "south"], ["2026-01"]],
        other=None,
        max_groups=1,
        text=hn.TextFormat(decimal=","),
    )
    assert_type(regions, hn.GroupedRelease)
    workload = hn.Workload(
        [hn.Count(nw.col("age") > 64, name="old"), hn.Choice("blood", ["A", "B"]), hn.Counts(3)],
        neighbors=hn.Neighbors.REPLACE,
        by="region",
        groups="discover",
        size_importance=1,
    )
    assert_type(hn.release(SURVEY, workload, privacy=BUDGET), hn.Release | hn.GroupedRelease)
    stored = hn.release(Path("survey.csv"), spec="release.toml", parameters={"day": "2026-11-15"})
    assert_type(stored, hn.Release | hn.GroupedRelease)
    assert_type(hn.plan(workload, privacy=BUDGET, level=0.9), hn.Plan)
    assert_type(hn.plan(QUERIES, privacy=BUDGET, by="region", groups=["north", 3, None]), hn.Plan)
    assert_type(hn.plan(QUERIES, groups=16, max_groups=3, delta=1e-9), hn.Outlook)
    assert_type(hn.budget_for(QUERIES, margin=25, at_most=1), hn.ApproxDP)
    hn.Workload([hn.Items("drug", ["a", "b"], at_most=2)], by="region", groups={"region": ["a"]})


def wrong() -> None:
    """Make the mistakes that people make; each marked line must be found."""
    hn.release(SURVEY, QUERIES, privacy=BUDGET, unit="person", max_group=2)  # mistake
    hn.release(SURVEY, QUERIES, epsilon=1, unit="person")  # mistake
    hn.release(SURVEY, QUERIES, privacy=1.0, unit="person")  # mistake
    hn.release(SURVEY, QUERIES, privacy=BUDGET, unit=3)  # mistake
    hn.release(SURVEY, ["smoker"], privacy=BUDGET, unit="person")  # mistake
    hn.release(SURVEY, hn.Workload(QUERIES), privacy=BUDGET, at_most=1)  # mistake
    hn.release(SURVEY, QUERIES, privacy=BUDGET, by="region")["north"].estimate  # mistake
    hn.plan(QUERIES, privacy="gaussian")  # mistake
    hn.plan(QUERIES, privacy=BUDGET, group=["north"])  # mistake
    hn.plan(QUERIES, privacy=BUDGET, delta=1e-6)  # mistake
    hn.plan(QUERIES).chosen  # mistake
    hn.plan(hn.Count("smoker"), privacy=BUDGET)  # mistake
    hn.Workload(QUERIES, neighbours=hn.Neighbors.REPLACE)  # mistake
    hn.Workload(QUERIES, neighbors="replace")  # mistake
    hn.Workload(QUERIES, groups=2.5)  # mistake
    hn.Workload(QUERIES, max_groups="3")  # mistake
    hn.Workload(hn.Count("smoker"))  # mistake
    hn.Workload([hn.Count(3)])  # mistake
