"""Make up a survey of people who do not exist, and release it: the table.json beside this file."""

import sys
from pathlib import Path

import numpy as np
import polars as pl

import halfnoise as hn

HERE = Path(__file__).parent
PEOPLE, SEED = 12_400, 20_260_101
EXERCISE = ["every day", "every week", "now and then", "never"]
REGIONS = ["north", "east", "south", "west"]


def survey() -> pl.DataFrame:
    """Return one row for each person, the same each time."""
    random = np.random.default_rng(SEED)
    age = random.integers(18, 92, PEOPLE)
    return pl.DataFrame(
        {
            "person": np.arange(PEOPLE),
            "smoker": random.random(PEOPLE) < 0.31 - age / 400,
            "asthma": random.random(PEOPLE) < 0.08,
            "insured": random.random(PEOPLE) < 0.93,
            "sleep": np.clip(random.normal(7.6 - age / 80, 1.1, PEOPLE), 2, 13).round(1),
            "exercise": random.choice([*EXERCISE, "-"], PEOPLE, p=[0.16, 0.36, 0.27, 0.16, 0.05]),
            "age": np.where(random.random(PEOPLE) < 0.04, -1, age),
            "region": random.choice([*REGIONS, "-"], PEOPLE, p=[0.31, 0.18, 0.27, 0.21, 0.03]),
        }
    )


def release() -> hn.Release:
    """Release it; the noise is another each time."""
    queries = [
        *(hn.Count(name) for name in ("smoker", "asthma", "insured")),
        hn.Mean("sleep", bounds=(0, 14)),
        hn.Choice("exercise", EXERCISE, other="no answer"),
        hn.Table([hn.Choice("region", REGIONS, other="abroad"), hn.Bins("age", [18, 40, 65])]),
    ]
    privacy = hn.ApproxDP(epsilon=1, delta=1e-6)
    return hn.release(survey(), queries, unit="person", privacy=privacy, size_importance=1)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "table.json"
    target.write_text(release().to_json(), encoding="utf-8")
