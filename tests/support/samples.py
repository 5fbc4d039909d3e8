"""Samples of people who do not exist, each released: what intervals that cover them must hold."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

import halfnoise as hn
from halfnoise.noise.law import Noise
from halfnoise.results import table
from halfnoise.results.inference import Estimate
from halfnoise.workload.queries import Asked
from halfnoise.workload.weights import SQUARES
from support.fixed_workloads import Floats
from support.replay import shortened

EVERYBODY = 200_000
CHUNK = 4_000_000  # numbers at a time
QUERIES = [
    hn.Count("rare"),
    hn.Count("half"),
    hn.Count("nearly all"),
    hn.Sum("visits", bounds=(-5, 20)),
    hn.Mean("income", bounds=(0, 100)),
    hn.Mean("tail", bounds=(0, 100), variance=True),
    hn.Mean("all or nothing", bounds=(0, 1), variance=True),
    hn.Choice("blood", ["A", "B"]),
]
Budget = hn.GaussianDP | hn.PureDP
Ask = Callable[[hn.Release], Estimate]


@cache
def population() -> dict[str, Floats]:
    """Return what everybody would add to each estimate of the queries above, by its name."""
    rng = np.random.default_rng(15)
    chance, n = rng.random, EVERYBODY
    visits = np.where(chance(n) < 0.3, 20.0, -5.0)
    income, gives = 100 * rng.beta(0.6, 4, n), chance(n) < 0.8
    tail = np.where(chance(n) < 0.02, 100.0, 10 * chance(n))
    bernoulli = (chance(n) < 0.03).astype(float)
    blood = rng.choice(3, n, p=[0.45, 0.5, 0.05])
    found: dict[str, Any] = {
        "rare": chance(n) < 0.01,
        "half": chance(n) < 0.5,
        "nearly all": chance(n) < 0.985,
    }
    found |= {"visits": visits, "income sum": income * gives, "income answered": gives}
    for name, x, middle in (("tail", tail, 50.0), ("all or nothing", bernoulli, 0.5)):
        found |= {f"{name} sum": x, f"{name} answered": np.ones(n, dtype=bool)}
        found |= {f"{name} deviation": (x - middle) ** 2}
    found |= {f"blood={each}": blood == i for i, each in enumerate(("A", "B", "other"))}
    return {name: np.asarray(each, dtype=np.float64) for name, each in found.items()}


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Releases of many samples of ``n`` people: what they share, and the values of each."""

    one: hn.Release
    n: int
    values: Floats
    people: Floats  # what everybody adds to each estimate, the number of people last

    def true(self, ask: Ask) -> float:
        """Return what a release of everybody, seen as n people, would answer without noise."""
        exact = replace(self.one, values=self.n * self.people.mean(axis=0), sampling=None)
        return ask(exact).estimate

    def hits(self, **change: object) -> dict[str, int]:
        """Count, for each estimate, the intervals that hold the truth, of all samples at once."""
        changed = replace(self.one, **change)  # type: ignore[arg-type]  # of one of its fields
        columns = table.columns(changed, self.values, self.one.questions)
        rows, found = len(self.values), dict[str, int]()
        low, high = (columns[end].reshape(rows, -1) for end in ("low", "high"))
        for place, name in enumerate(columns["name"][: low.shape[1]].tolist()):
            truth = self.true(lambda release, name=name: release[name])  # type: ignore[misc]
            found[name] = int(((low[:, place] <= truth) & (truth <= high[:, place])).sum())
        return found

    def each(self, ask: Ask, count: int, **change: object) -> int:
        """Count the intervals that hold the truth where each of some samples is asked by itself."""
        changed, truth = replace(self.one, **change), self.true(ask)  # type: ignore[arg-type]
        found = (ask(replace(changed, values=row.copy())) for row in self.values[:count])
        return sum(each.low <= truth <= each.high for each in found)

    @property
    def noiseless(self) -> dict[str, object]:
        """What a mutant says that leaves the noise out."""
        return {"errors": shortened(self.one.errors, 1e-6)}


@cache
def sampled(
    n: int, rows: int, privacy: Budget, *, design_effect: float = 1.0, times: int = 1
) -> Samples:
    """Draw samples of n people, ``times`` of each in a cluster of people who are alike."""
    release = hn.release(
        _nobody(),
        QUERIES,
        row_is_person=True,
        privacy=privacy,
        size_importance=1,
        sampling="srs",
        i_know=True,
        design_effect=design_effect,
    )
    names = [name for question in release.questions for name in question.names]
    people = np.column_stack([*(population()[each] for each in names), np.ones(EVERYBODY)])
    rng = np.random.default_rng()
    sums = drawn(rng, people, n // times, rows) * times
    return Samples(one=release, n=n, values=sums + noise(rng, release, rows), people=people)


def drawn(rng: np.random.Generator, people: Floats, n: int, rows: int) -> Floats:
    """Return the sums over samples of n people."""
    at = max(1, CHUNK // (n * people.shape[1]))
    parts = [
        people[rng.integers(0, len(people), (min(at, rows - start), n))].sum(axis=1)
        for start in range(0, rows, at)
    ]
    return np.concatenate(parts)


def noise(rng: np.random.Generator, release: hn.Release, rows: int) -> Floats:
    """Return errors of a release: of noises that its covariance lists."""
    errors = release.errors
    if errors.noise is Noise.GAUSSIAN:
        dense = errors.covariance.dense()
        return rng.multivariate_normal(np.zeros(len(dense)), dense, rows, method="eigh")
    found = np.zeros((rows, errors.covariance.size))
    for run in errors.covariance.variances:
        found[:, run.start : run.stop] += rng.laplace(
            0, np.sqrt(run.value / 2), (rows, run.stop - run.start)
        )
    for term in errors.covariance.shared:
        own = rng.laplace(0, np.sqrt(max(0.0, term.weight) / 2), rows)
        for run in term.loadings:
            found[:, run.start : run.stop] += run.value * own[:, None]
    return found


def _nobody() -> pl.DataFrame:
    columns = {"rare", "half", "nearly all"}
    values = {"visits", "income", "tail", "all or nothing"}
    frame = {name: [False] for name in columns} | {name: [0.5] for name in values}
    return pl.DataFrame(frame | {"blood": ["A"]})


@dataclass(frozen=True, kw_only=True)
class Grouped:
    """Releases of samples in two groups, and one of everybody without noise."""

    exact: hn.GroupedRelease
    releases: list[hn.GroupedRelease]


IN_GROUPS = [hn.Count("rare"), hn.Count("half"), hn.Mean("income", bounds=(0, 100))]


def grouped(n: int, rows: int, most: int) -> Grouped:
    """Draw samples of n people in each of two groups; of people in both, the same ones."""
    release = hn.release(
        _nobody().with_columns(id=1),
        IN_GROUPS,
        unit="id",
        by="blood",
        groups=["A", "B"],
        max_groups=most,
        privacy=hn.GaussianDP(mu=2),
        sampling="srs",
        i_know=True,
    )
    names, rng = release.names, np.random.default_rng()
    one = np.column_stack([*(population()[each] for each in names), np.ones(EVERYBODY)])
    other = one.copy()
    other[:, names.index("half")] = 1 - one[:, names.index("half")]
    both = np.stack([one, other, np.zeros_like(one)], axis=1)
    flat = both.reshape(EVERYBODY, -1)
    if most == 1:  # others in each group
        halves = [drawn(rng, flat, n, rows).reshape(rows, *both.shape[1:]) for _ in range(3)]
        sums = np.stack([half[:, i] for i, half in enumerate(halves)], axis=1)
    else:
        sums = drawn(rng, flat, n, rows).reshape(rows, *both.shape[1:])
    errors = noise(rng, release["A"], rows * 3).reshape(rows, 3, -1)
    exact = replace(release, values=n * both.mean(axis=0)).with_sampling(None)
    return Grouped(exact=exact, releases=[replace(release, values=v) for v in sums + errors])


IN_TABLES: list[Asked] = [
    hn.Choice("sex", ["f", "m"]),
    hn.Bins("age", [0, 18, 65]),
    hn.Table(["sex", "age"]),
    hn.Mean("income", bounds=(0, 100), by=["sex", "age"]),
    hn.Sum("visits", bounds=(-5, 20), by=["sex"]),
]


def tabled(n: int, rows: int) -> Samples:
    """Draw samples of n people, in tables."""
    nobody = pl.DataFrame({"sex": ["f"], "age": [1.0], "income": [1.0], "visits": [1.0]})
    release = hn.release(
        nobody,
        IN_TABLES,
        row_is_person=True,
        privacy=hn.GaussianDP(mu=0.25),
        sampling="srs",
        i_know=True,
    )
    rng = np.random.default_rng()
    sex = rng.choice(3, EVERYBODY, p=[0.6, 0.38, 0.02])
    age = rng.choice(4, EVERYBODY, p=[0.5, 0.03, 0.45, 0.02])
    income = np.where(rng.random(EVERYBODY) < 0.3, 100.0, 0.0)
    visits = np.where(rng.random(EVERYBODY) < 0.6, 20.0, -5.0)
    columns = []
    for question in release.questions:
        where = np.zeros(EVERYBODY, dtype=np.int64)
        for label, categories in question.axes:
            where = where * len(categories) + (sex if label == "sex" else age)
        inside = np.equal.outer(where, np.arange(question.cells)).astype(np.float64)
        value = {"mean": income, "sum": visits}.get(question.kind, np.ones(EVERYBODY))
        columns += [inside * value[:, None], *([inside] if question.is_mean else [])]
    people = np.column_stack([*columns, np.ones(EVERYBODY)])
    sums = drawn(rng, people, n, rows)
    return Samples(one=release, n=n, values=sums + noise(rng, release, rows), people=people)


def weighted(n: int, rows: int) -> Samples:
    """Draw samples of n people who count up to five times."""
    release = hn.release(
        _nobody().with_columns(w=1.0),
        [hn.Count("half"), hn.Sum("visits", bounds=(-5, 20))],
        row_is_person=True,
        weight=hn.Weight("w", bounds=(0, 5)),
        effective_size=True,
        privacy=hn.GaussianDP(mu=3),
        size_importance=1,
        sampling="srs",
        i_know=True,
    )
    rng = np.random.default_rng()
    w = rng.choice([0.5, 1.0, 5.0], EVERYBODY, p=[0.5, 0.3, 0.2])
    own = {"half": population()["half"], "visits": population()["visits"], SQUARES: w}
    people = np.column_stack([*(w * own[name] for name in release.names), w])
    sums = drawn(rng, people, n, rows)
    return Samples(one=release, n=n, values=sums + noise(rng, release, rows), people=people)
