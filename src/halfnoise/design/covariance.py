"""Joint errors: a diagonal plus a few rank-one terms, which is never built as a full matrix.

    Cov = diag(variances) + sum_k weight_k g_k g_k^T

The terms are the noises that several estimates share: that of the number who answered a mean and,
with a negative weight, what a projection takes away. Where the number of people is measured, it is
the last estimate, its noise is the last term, and whatever leans on it does so by its loading.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import finite, refuse, whole
from halfnoise.design.cross_errors import CrossErrors
from halfnoise.design.placed_errors import PlacedErrors
from halfnoise.design.runs import Run, Shared, before, entries, entry, expand, runs
from halfnoise.design.spot_errors import SpotErrors
from halfnoise.values import asdict, dataclass, replace

__all__ = ["Covariance", "Run", "Shared"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariance of all estimates of a design, the number of people last where it is measured.

    >>> people = Shared(1.0, (Run(0, 2, 0.5), Run(2, 3, 1.0)))
    >>> covariance = Covariance(3, (Run(0, 2, 4.0),), (people,))
    >>> covariance.dense()
    array([[4.25, 0.25, 0.5 ],
           [0.25, 4.25, 0.5 ],
           [0.5 , 0.5 , 1.  ]])
    >>> covariance.of({0: 1.0, 1: -1.0})
    8.0
    """

    MOST: ClassVar[float] = 1e100  # no estimate or standard error that is stored is larger

    size: int
    variances: tuple[Run, ...]
    shared: tuple[Shared, ...] = ()
    tables: CrossErrors | None = None

    def diagonal(self) -> Vector:
        """Return the variance of every estimate."""
        diagonal = expand(self.size, self.variances)
        for term in self.shared:
            for run in term.loadings:
                diagonal[run.start : run.stop] += term.weight * run.value**2
        if self.tables is not None:
            diagonal[self.tables.start : self.tables.stop] += self.tables.diagonal()
        return diagonal

    def variance(self, index: int) -> float:
        """Return the variance of one estimate, without building the diagonal."""
        return self.of({index: 1.0})

    def of(self, weights: Mapping[int, float]) -> float:
        """Return the variance of a weighted sum of a few estimates."""
        crossed = 0.0 if self.tables is None else self.tables.of(weights)
        own = (w**2 * entry(self.variances, i) for i, w in weights.items())
        common = (term.weight * _held(term, weights) ** 2 for term in self.shared)
        return sum([*own, *common, crossed])

    def between(self, one: int, other: int) -> float:
        """Return the covariance of two estimates."""
        total = entry(self.variances, one) if one == other else 0.0
        total += self._in_common(one, other)
        return total if self.tables is None else total + self.tables.covariance(one, other)

    def matched(self, one: int, other: int) -> Vector:
        """Return, by place, the covariance of a table's cells with what they are part of.

        That is a margin of it, or any other estimate; what is by no places has one number.
        """
        here, there, tables = self._places(one), self._places(other), self.tables
        if len(here) == 1 or tables is None:
            return np.array([self.between(one, other)])
        found, at = np.zeros(len(here)), self.around(one, other)
        if self.in_tables(other):
            found = tables.matched(one, other)
        for term in self.shared:
            loads = entries(term.loadings, here), entries(term.loadings, there)
            found = found + term.weight * loads[0] * loads[1][at]
        return found

    def around(self, one: int, other: int) -> NDArray[np.int64]:
        """Return which place of ``other`` each place of a table is in; there may be just one."""
        if self.tables is not None and self.in_tables(one) and self.in_tables(other):
            return self.tables.around(one, other)
        return np.zeros(len(self._places(one)), dtype=np.int64)

    def in_tables(self, index: int) -> bool:
        """Return whether an estimate is a cell of the tables that are measured together."""
        return self.tables is not None and self.tables.start <= index < self.tables.stop

    def block(self, one: int, other: int, chosen: Sequence[Sequence[int]]) -> float:
        """Return the covariance of two sums over a block of cells (``CrossErrors.block``)."""
        total = 0.0 if self.tables is None else self.tables.block(one, other, chosen)
        weights, many = np.zeros(len(self._places(one))), math.prod(map(len, chosen))
        places = chosen[0] if len(weights) > 1 else [0]
        weights[[*places]] = many / len(places)
        return total + self._of_table(one, other, weights)

    def weighted(self, table: int, weights: Vector) -> float:
        """Return the variance of a weighted sum of all cells of a table, by where it starts."""
        crossed = 0.0 if self.tables is None else self.tables.weighted(table, weights)
        own = weights.reshape(len(self._places(table)), -1).sum(axis=1)
        return crossed + self._of_table(table, table, own)

    def _places(self, table: int) -> NDArray[np.int64]:
        """Return where the cells of each place of a table start."""
        if self.tables is None or not self.in_tables(table):
            return np.array([table])
        number, cells = self.tables.places(table)
        return table + cells * np.arange(number)

    def _of_table(self, one: int, other: int, weights: Vector) -> float:
        """Return what shared noises add to the covariance of sums over places, so weighted."""
        here, there = self._places(one), self._places(other)
        total = 0.0
        for term in self.shared:
            one_, other_ = (weights @ entries(term.loadings, at) for at in (here, there))
            total += term.weight * float(one_) * float(other_)
        return total

    def _in_common(self, one: int, other: int) -> float:
        return sum(term.weight * term.load(one) * term.load(other) for term in self.shared)

    def noises(self, weights: Mapping[int, float]) -> list[float]:
        """Return the variances of the independent noises in a weighted sum of a few estimates."""
        return [variance * load**2 for variance, load in self.loads(weights).values()]

    def loads(self, weights: Mapping[int, float]) -> dict[int, tuple[float, float]]:
        """Return the variance of each independent noise in a weighted sum, and how much it holds.

        By the places of estimates whose own noise it is; shared ones go by numbers below zero.
        A projection takes from each of its noises their average, so an estimate holds all of them.
        """
        projected = dict(weights)
        for term in self.shared:
            if term.weight < 0:
                block = [i for run in term.loadings for i in range(run.start, run.stop)]
                average = sum(weights.get(i, 0.0) for i in block) / len(block)
                projected |= {i: weights.get(i, 0.0) - average for i in block}
        found = {i: (entry(self.variances, i), w) for i, w in projected.items()}
        for place, term in enumerate(self.shared, start=-len(self.shared)):
            if term.weight > 0:
                found[place] = (term.weight, _held(term, weights))
        return {place: each for place, each in found.items() if each[0] and each[1]}

    def given_last(self) -> tuple["Covariance", Vector]:
        """Return the covariance of the others given the last one, and how each leans on that."""
        *others, last = self.shared
        if any(entry(term.loadings, self.size - 1) for term in others):
            return self._others_given_last()
        rest = replace(self, size=self.size - 1, shared=tuple(others))
        return rest, expand(self.size, last.loadings)[:-1]

    def _others_given_last(self) -> tuple["Covariance", Vector]:
        """Return the same where the last estimate holds several noises: what they share goes."""
        unit = np.zeros(self.size)
        unit[-1] = 1.0
        shared = self @ unit
        lean = shared[:-1] / shared[-1]
        edges = [0, *(np.flatnonzero(np.diff(lean)) + 1).tolist(), len(lean)]
        runs = (Run(a, b, float(lean[a])) for a, b in itertools.pairwise(edges) if lean[a])
        gone = Shared(-float(shared[-1]), tuple(runs))
        kept = (replace(term, loadings=before(term.loadings, len(lean))) for term in self.shared)
        rest = replace(self, size=len(lean), shared=(*kept, gone))
        return rest, lean

    def more(self, terms: Iterable[Shared], times: float) -> "Covariance":
        """Return the sum with so many times some terms, before the last one."""
        added = [replace(term, weight=times * term.weight) for term in terms]
        return replace(self, shared=(*self.shared[:-1], *added, *self.shared[-1:]))

    def with_last(self, *, more: float) -> "Covariance":
        """Return the covariance where the last noise, which others lean on, varies more."""
        *others, last = self.shared
        return replace(self, shared=(*others, replace(last, weight=last.weight + more)))

    def alone(self, *, last: bool) -> list[tuple[int, float, float]]:
        """Return the estimates that, given the last noise, are independent of all others.

        As count, standard deviation of their own noise and of what the ``last`` adds, run by run.
        """
        tied = {run.start for term in self.shared[: -1 if last else None] for run in term.loadings}
        leans = self.shared[-1] if last else Shared(0.0, ())
        root, free = math.sqrt(leans.weight), (r for r in self.variances if r.start not in tied)
        return [
            (r.stop - r.start, math.sqrt(r.value), abs(entry(leans.loadings, r.start)) * root)
            for r in free
        ]

    def __matmul__(self, other: object) -> Vector:
        """Multiply with a vector, or with the columns of a matrix, in linear time."""
        x = np.asarray(other, dtype=np.float64)
        product = np.zeros_like(x)
        for run in self.variances:
            product[run.start : run.stop] = run.value * x[run.start : run.stop]
        for term in self.shared:
            dot = sum(run.value * x[run.start : run.stop].sum(axis=0) for run in term.loadings)
            for run in term.loadings:
                product[run.start : run.stop] += term.weight * run.value * dot
        if self.tables is not None:
            own = slice(self.tables.start, self.tables.stop)
            product[own] += self.tables @ x[own]
        return product

    def dense(self) -> NDArray[np.float64]:
        """Build the full matrix: for a look, or for small tables."""
        return self @ np.eye(self.size)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        stored = asdict(replace(self, tables=None))
        del stored["tables"]
        return stored if self.tables is None else stored | {"tables": self.tables.to_dict()}

    @staticmethod
    def terms_from(stored: Iterable[Mapping[str, Any]], size: int) -> tuple[Shared, ...]:
        """Read terms of so many estimates from plain values."""
        return tuple(
            Shared(finite(weight=each["weight"]), runs(each["loadings"], size)) for each in stored
        )

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read it from plain values; refuse what no covariance is."""
        size = whole(size=stored["size"])
        shared = cls.terms_from(stored["shared"], size)
        own = stored.get("tables")
        kinds = {"parts": SpotErrors, "children": PlacedErrors}
        kind = next((kind for name, kind in kinds.items() if name in (own or ())), CrossErrors)
        tables = None if own is None else kind.from_dict(own)
        if tables is not None and tables.stop > size:
            raise refuse("tables", f"within {size} estimates", tables.stop)
        found = cls(size, runs(stored["variances"], size), shared, tables)
        least = min([run.value for run in found.variances], default=1.0)
        all_of_them = found.diagonal()
        if least <= 0 or all_of_them.min() < 0 or not all_of_them.max() <= cls.MOST**2:
            raise refuse("variances", f"positive, up to {cls.MOST:g} squared", least)
        return found


def _held(term: Shared, weights: Mapping[int, float]) -> float:
    """Return how much of a noise a weighted sum of a few estimates holds."""
    return sum(w * entry(term.loadings, i) for i, w in weights.items())
