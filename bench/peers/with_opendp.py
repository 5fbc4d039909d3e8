"""OpenDP on the same jobs; run by the Python of its own environment."""

import json
import math
import sys
import time
from typing import Any

import opendp.prelude as dp
import polars as pl

EPSILON, DELTA = 1.0, 1e-6
dp.enable_features("contrib")


def polars_api(frame: pl.LazyFrame, names: list[str], rows: int) -> list[float]:
    """Release the sums of columns with its Polars API."""
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=EPSILON, delta=DELTA),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=rows)],
    )
    found = context.query().select(summed(names)).release().collect()
    return [float(x) for x in found.row(0)]


def summed(names: list[str]) -> list[Any]:
    """Return its sums of columns."""
    columns: list[Any] = [pl.col(name).cast(int).fill_null(0) for name in names]
    return [column.dp.sum((0, 1)) for column in columns]


def gaussian(d: int) -> Any:
    """Return its Gaussian mechanism on a vector, with the least scale that it proves."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)

    def at(scale: float) -> Any:
        made = dp.m.make_gaussian(*space, scale=scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(made), DELTA)

    least = dp.binary_search_param(at, d_in=math.sqrt(d), d_out=(EPSILON, DELTA))
    return at(least)


def errors(way: str, d: int, repeats: int, people: int) -> None:
    """Release the same numbers again and again: each item is had by half of the people."""
    if way == "polars":
        names = [f"q{i}" for i in range(d)]
        frame = pl.LazyFrame(
            {name: [(p + i) % 2 for p in range(people)] for i, name in enumerate(names)}
        )
        for _ in range(repeats):
            print(json.dumps(polars_api(frame, names, people)), flush=True)
    else:
        measure, totals = gaussian(d), [people // 2] * d
        for _ in range(repeats):
            print(json.dumps(measure(totals)), flush=True)


def release(path: str, by: str, rows: int) -> None:
    """Release twenty counts of a file, by row or by person."""
    frame = pl.scan_parquet(path) if path.endswith(".parquet") else pl.scan_csv(path)
    names = [name for name in frame.collect_schema().names() if name != "person"]
    if by == "row":
        polars_api(frame.select(names), names, rows)
        return
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1, identifier="person"),
        privacy_loss=dp.loss_of(epsilon=EPSILON, delta=DELTA),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=rows)],
    )
    context.query().truncate_per_group(1).select(summed(names)).release().collect()


def noise(law: str, scale: float, size: int, rounds: int) -> None:
    """Print the nanoseconds per sample of its integer noise on a vector of zeros."""
    space = dp.vector_domain(dp.atom_domain(T=int))
    if law == "gaussian":
        measure = dp.m.make_gaussian(space, dp.l2_distance(T=float), scale=scale)
    else:
        measure = dp.m.make_laplace(space, dp.l1_distance(T=int), scale=scale)
    zeros, took = [0] * size, []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        measure(zeros)
        took.append((time.perf_counter() - start) / size * 1e9)
    print(json.dumps(took[1:]))


if __name__ == "__main__":
    _, what, *words = sys.argv
    if what == "errors":
        errors(words[0], *map(int, words[1:]))
    elif what == "noise":
        noise(words[0], float(words[1]), *map(int, words[2:]))
    else:
        release(words[0], words[1], int(words[2]))
