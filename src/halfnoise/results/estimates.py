"""Noisy values of one table, and what may be concluded from them. All post-processing."""

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Self, overload

import numpy as np

from halfnoise.checks import finite, level_of, positive, refuse, unknown
from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.privacy.definitions import Guarantee, Privacy
from halfnoise.results import inference, sampled, spread
from halfnoise.results.cross import CrossTable
from halfnoise.results.deviation import deviation
from halfnoise.results.inference import Columns, Errors, Estimate, Floats
from halfnoise.results.listing import Listed, listed
from halfnoise.results.reliability import FACT, Reliability
from halfnoise.results.sampled import estimate_of
from halfnoise.results.sampling import Sampling
from halfnoise.results.surveyed import Surveyed, effective
from halfnoise.results.together import shared_out, simultaneous_level
from halfnoise.results.whole import whole
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.question import SIZE, Question
from halfnoise.workload.weights import SQUARES


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Estimates(Surveyed):
    """Noisy values, their joint error, and everything that may be concluded from them.

    ``values`` are the estimates as they came out, the number of people last where it was measured;
    rounding changes what is shown of them, not them. ``remarks`` are sentences that go with these
    values wherever they are shown.
    """

    questions: tuple[Question, ...]
    values: Floats
    errors: Errors
    guarantee: Guarantee
    privacy: Privacy
    level: float = 0.95
    facts: Mapping[str, Any] = field(default_factory=dict)
    rounded_values: bool = False
    known_size: float | None = None
    remarks: tuple[str, ...] = ()
    sampling: Sampling | None = None  # what intervals cover beside the noise
    _whole: Floats | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all estimated sums."""
        return tuple(name for question in self.questions for name in question.sums)

    @property
    def means(self) -> tuple[str, ...]:
        """The names of all means that were asked for, each over those who answered."""
        return tuple(name for question in self.questions for name in question.means)

    @property
    def counted(self) -> tuple[int, int]:
        """How many estimated sums and how many means there are."""
        return self.questions[-1].stop, sum(q.cells for q in self.questions if q.is_mean)

    @property
    def tables(self) -> tuple[Listed, ...]:
        """What tables there are, those that were asked for first, then their margins."""
        return listed(self)

    @overload
    def table(self) -> str: ...
    @overload
    def table(self, *labels: str, of: str | None = None) -> CrossTable: ...
    def table(self, *labels: str, of: str | None = None) -> str | CrossTable:
        """Return a table by its labels, in any order, of people or of a value by cell.

        Without labels: all values as text, rounded to what the noise makes meaningful.
        """
        if not labels and of is None:
            return str(self._views().render.table(self))
        return CrossTable.of(self, labels, of)

    @property
    def has_size(self) -> bool:
        """Whether the number of people is known or measured."""
        return self.known_size is not None or self._size_index is not None

    @property
    def size(self) -> Estimate | None:
        """The number of people; None where the design does not give it."""
        if self.known_size is not None:
            n = self.known_size
            return Estimate(name=SIZE, estimate=n, std=0.0, low=n, high=n)
        if self._size_index is None:
            return None
        size = self._linear(SIZE, {self._size_index: 1.0})
        return size.moved(float(self.whole_values[-1])) if self.rounded_values else size

    @property
    def effective_size(self) -> Estimate | None:
        """The effective sample size, (sum of weights)^2 / (sum of squares), if asked for."""
        if SQUARES not in self or not self.has_size:
            return None
        half = replace(self, level=(1 + self.level) / 2)
        n, mean = half.size, half.mean(SQUARES)
        if n is None or mean.estimate <= 0:
            return None
        weights, size = {self._index(SQUARES): -1 / mean.estimate**2}, self._size_index
        weights |= {} if size is None else {size: 2 / mean.estimate}
        return effective(n, mean, self._linear("", weights).std)

    @property
    def whole_values(self) -> Floats:
        """The estimates with all counts in whole numbers, those of tables such that add up."""
        if self._whole is None:
            rows, about = self.values[np.newaxis], (self.errors.covariance, self.known_size)
            found: Floats = whole(self.questions, rows, *about)[0]
            object.__setattr__(self, "_whole", found)
            return found
        return self._whole

    def __getitem__(self, name: str) -> Estimate:
        """Return one query's estimate: a count, a sum, or the mean of a Mean."""
        for question in self.questions:
            if (row := question.find(name)) is None:
                continue
            if row.limits is not None:
                return self._ratio(name, row.place, row.below, row.limits)
            if row.kind == "deviation":
                return deviation(self, question)
            estimate = self._linear(name, {row.place: 1.0})
            if not (self.rounded_values and row.kind == "count"):
                return estimate
            return estimate.moved(float(self.whole_values[row.place]))
        if name == SIZE and self.size is not None:
            return self.size
        raise unknown("name", name, (*self.names, *self.means))

    def __contains__(self, name: object) -> bool:
        """Whether there is an estimate of this name, as subscripts take it."""
        known = isinstance(name, str) and any(each.find(name) for each in self.questions)
        return known or (name == SIZE and self.has_size)

    def __iter__(self) -> Iterator[Estimate]:
        """Go through all estimates: a Mean gives its mean, its sum and how many answered."""
        return (each for _, each in islice(self.rows(), self.has_size, None))

    def difference(self, a: str, b: str) -> Estimate:
        """Return a - b; noise that the two share cancels."""
        weights = {a: 1.0} | {b: -1.0} if a != b else {a: 0.0}
        return self.linear(weights, name=f"{a} - {b}")

    def linear(self, weights: Mapping[str, float], *, name: str = "weighted sum") -> Estimate:
        """Return a weighted sum of estimates, by name."""
        return self._linear(name, {self._index(x): finite(**{x: w}) for x, w in weights.items()})

    def ratio(self, a: str, b: str) -> Estimate:
        """Return a / b with Fieller's interval."""
        return self._ratio(f"{a} / {b}", self._index(a), self._index(b), inference.ANYTHING)

    def mean(self, name: str) -> Estimate:
        """Return a mean: of those who answered, or of a Sum over all people (in its cell)."""
        for question in self.questions:
            row = question.find(name)
            if row is not None and row.limits is not None:
                return self._ratio(name, row.place, row.below, row.limits)
            if row is not None and question.is_sum:
                people = self._people(question)
                if people is None:
                    return self.per_person(name, row.place, question.limits)
                below = people.start + row.place - question.start
                return self._ratio(name, row.place, below, question.limits)
        raise self._misnamed(name, "that of a Mean or a Sum")

    def _people(self, question: Question) -> Question | None:
        """Return the table of people by the same axes, if by any."""
        alike = (each for each in self.questions if each.kind == "table")
        return next((each for each in alike if each.axes == question.axes), None)

    def share(self, name: str) -> Estimate:
        """Return a count as a share of all people."""
        return self.per_person(name, self._counted(name), (0.0, 1.0))

    def fraction_of(self, name: str, *, share: bool) -> tuple[inference.Pair, inference.Range]:
        """Return what a share, or a mean of those who answered, divides by what; and its bounds."""
        if share:
            return (self._counted(name), self._bottom), (0.0, 1.0)
        row = next(filter(None, (q.find(name) for q in self.questions if name in q.means)))
        return (row.place, row.below), row.limits or inference.ANYTHING

    def intervals(self, *, level: float, simultaneous: bool = False) -> list[Estimate]:
        """Return all estimates with intervals at another level, or for all of them at once."""
        level_of(level)
        if simultaneous and self.sampling is not None:  # how samples hang together is not known
            level = shared_out(level, sum(self.counted))
        elif simultaneous:
            level = simultaneous_level(self.errors, *self.counted, level)
        return list(replace(self, level=level))

    def with_known_size(self, n: float) -> Self:
        """Return the same release, knowing the number of people: every interval gets narrower."""
        if self._size_index is None:
            wanted = "this release has no estimate of the number of people to replace"
            raise NotSupportedError(wanted)
        covariance, lean = self.errors.covariance.given_last()
        values = self.values[:-1] - lean * (self.values[-1] - positive(n=n))
        errors = replace(self.errors, covariance=covariance)
        return replace(self, values=values, errors=errors, known_size=float(n))

    def rounded(self) -> Self:
        """Return the same with counts shown as whole numbers within [0, number of people].

        It is marked as such. Sums and means stay, and so does every interval, but that it reaches
        to the rounded count: at least as many cover the truth. Categories add up to all people, and
        counts in tables are rounded together, so that margins still add up; they may be negative,
        as to cut them off would break the sums.
        """
        return replace(self, rounded_values=True)

    def flagged(self, *flags: float, suppress: float | None = None) -> Self:
        """Return the same with numbers marked (a), (b), ... from these relative standard errors on.

        ``suppress``: from which on they are left out for readers. JSON and frames keep them all.
        """
        return replace(self, facts={**self.facts, FACT: Reliability(flags, suppress).to_dict()})

    def columns(self, *, tables: bool = True) -> Columns:
        """Return the table by column: name, kind, estimate, std, low and high, unrounded.

        With ``tables`` among the rows, a column for each axis says the category.
        """
        rows, shown = self.values[np.newaxis], self._views().table
        return dict(shown.columns(self, rows, self.listed(tables=tables)))

    def listed(self, *, tables: bool) -> tuple[Question, ...]:
        """Return what was asked beside tables or, with ``tables``, all that came out."""
        return tuple(q for q in self.questions if tables or (q.asked and not q.axes))

    def rows(self) -> Iterator[tuple[str, Estimate]]:
        """Go through what there is to show: kind and estimate, the number of people first."""
        columns = (column.tolist() for column in self.columns().values())
        for *_, name, kind, x, std, low, high in zip(*columns, strict=True):
            yield kind, Estimate(name=name, estimate=x, std=std, low=low, high=high)

    @property
    def _size_index(self) -> int | None:
        count = self.questions[-1].stop
        return count if len(self.values) > count else None

    def _linear(self, name: str, weights: Mapping[int, float]) -> Estimate:
        found = self.errors.linear(name, self.values, weights, self.level)
        return spread.linear(self, found, weights)

    def _ratio(self, name: str, top: int, bottom: int, bounds: inference.Range) -> Estimate:
        pair, rows = (top, bottom), self.values[np.newaxis]
        found = inference.ratios(rows, self.errors, pair, self.level, bounds)
        if bounds != inference.ANYTHING:
            found = sampled.ratios(self, found, rows, self.errors, pair, bounds=bounds)
        one = estimate_of(name, found[:, 0])
        return spread.quotient(self, one, pair) if bounds == inference.ANYTHING else one

    def per_person(self, name: str, index: int, bounds: inference.Range) -> Estimate:
        """Return the estimate at a place divided by the number of people."""
        if self.known_size is not None:
            if not self.known_size:  # nobody is there, as anybody may know
                low, high = bounds
                return Estimate(name=name, estimate=max(0.0, low), std=math.inf, low=low, high=high)
            return self._linear(name, {index: 1 / self.known_size}).within(*bounds)
        return self._ratio(name, index, self._bottom, bounds)

    @property
    def _bottom(self) -> int:
        if (place := self._size_index) is None:
            raise NotSupportedError(
                "this release does not give the number of people; use ratio or with_known_size"
            )
        return place

    def _counted(self, name: str) -> int:
        for question in self.questions:
            if (row := question.find(name)) is not None and row.kind == "count":
                return row.place
        raise self._misnamed(name, "that of a count; for a Sum use mean")

    def _misnamed(self, name: str, rule: str) -> InvalidParameterError:
        if name in self:
            return refuse("name", rule, name)
        return unknown("name", name, (*self.names, *self.means))

    def _index(self, name: str) -> int:
        for question in self.questions:
            if name in question.sums:
                return question.start + question.sums.index(name)
        if name == SIZE and self._size_index is not None:
            return self._size_index
        raise unknown("name", name, self.names)
