"""Runs of equal entries of a vector, and noises that several estimates share, said by such."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import finite, refuse, whole
from halfnoise.values import dataclass

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Run:
    """Equal entries of a vector, from ``start`` up to but without ``stop``."""

    start: int
    stop: int
    value: float


@dataclass(frozen=True, slots=True)
class Shared:
    """A rank-one term: ``weight`` times the outer product of ``loadings`` with itself."""

    weight: float
    loadings: tuple[Run, ...]

    def load(self, index: int) -> float:
        """Return how much of it one estimate holds."""
        return entry(self.loadings, index)


def runs(stored: Iterable[Mapping[str, Any]], size: int) -> tuple[Run, ...]:
    """Read runs from plain values; refuse those that do not lie one behind the other."""
    found = tuple(Run(**{**run, "value": finite(value=run["value"])}) for run in stored)
    reached = 0
    for run in found:
        if not reached <= whole(least=0, start=run.start) < whole(stop=run.stop) <= size:
            raise refuse("runs", f"within {size} estimates, one behind the other", run)
        reached = run.stop
    return found


def before(runs: tuple[Run, ...], stop: int) -> tuple[Run, ...]:
    """Return the runs that begin before a place."""
    return tuple(run for run in runs if run.start < stop)


def entry(runs: tuple[Run, ...], index: int) -> float:
    """Return one entry of the vector."""
    at = bisect_right(runs, index, key=lambda run: run.start) - 1
    return runs[at].value if at >= 0 and index < runs[at].stop else 0.0


def entries(runs: tuple[Run, ...], places: NDArray[np.int64]) -> Vector:
    """Return some entries of the vector."""
    return np.array([entry(runs, place) for place in places.tolist()])


def expand(size: int, runs: tuple[Run, ...]) -> Vector:
    """Return the whole vector."""
    vector = np.zeros(size)
    for run in runs:
        vector[run.start : run.stop] = run.value
    return vector
