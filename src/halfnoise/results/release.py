"""What comes out of a release: noisy values, their joint error and the guarantee. No true total."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from halfnoise.checks import finite, fraction, positive, refuse
from halfnoise.errors import NotSupportedError
from halfnoise.results import render as rendering
from halfnoise.results.inference import (
    ANYTHING,
    Estimate,
    linear,
    ratio,
    simultaneous_level,
    within,
)
from halfnoise.results.published import Published
from halfnoise.results.table import COLUMNS, NUMBERS, SIZE, Columns, Question, Sheet, in_range

__all__ = ["NOISE_ONLY", "SIZE", "Question", "Release"]

NOISE_ONLY = rendering.NOISE_ONLY


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Release(Published):
    """The noisy values of one release, with everything that may be concluded from them.

    ``values`` has the number of people last where it was measured. ``remarks`` are sentences that
    go with these values wherever they are shown.

    **Guarantee.** It holds the released values and public facts alone, so whatever is computed
    from it is post-processing.
    """

    known_size: float | None = None
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Make the values read-only."""
        self.values.flags.writeable = False

    @property
    def _size_index(self) -> int | None:
        count = sum(len(question.names) for question in self.questions)
        return count if len(self.values) > count else None

    @property
    def size(self) -> Estimate | None:
        """The number of people; None where the design does not give it."""
        if self.known_size is not None:
            n = self.known_size
            return Estimate(name=SIZE, estimate=n, std=0.0, low=n, high=n)
        if self._size_index is None:
            return None
        return self._shown(self._linear(SIZE, {self._size_index: 1.0}), math.inf)

    def __getitem__(self, name: str) -> Estimate:
        """Return one query's estimate: a count, a sum, or the mean of a Mean."""
        for question in self.questions:
            if question.kind == "mean" and name == question.name:
                return self.mean(name)
            if name in question.names:
                place = question.names.index(name)
                found = self._linear(name, {question.start + place: 1.0})
                return self._shown(found, self._most) if question.is_count(place) else found
        if name == SIZE and self.size is not None:
            return self.size
        raise self._unknown(name)

    def __iter__(self) -> Iterator[Estimate]:
        """Go through all estimates: a Mean gives its mean, its sum and how many answered."""
        return (each for kind, each in self.rows() if kind != "size")

    def difference(self, a: str, b: str) -> Estimate:
        """Return a - b; noise that the two share cancels."""
        weights = {a: 1.0} | {b: -1.0} if a != b else {a: 0.0}
        return self.linear(weights, name=f"{a} - {b}")

    def linear(self, weights: Mapping[str, float], *, name: str = "weighted sum") -> Estimate:
        """Return a weighted sum of estimates, by name."""
        by_index = {self._index(each): finite(**{each: w}) for each, w in weights.items()}
        return self._linear(name, by_index)

    def ratio(self, a: str, b: str) -> Estimate:
        """Return a / b with Fieller's interval."""
        pair = (self._index(a), self._index(b))
        return ratio(f"{a} / {b}", self.values, self.errors, pair, self.level)

    def mean(self, name: str) -> Estimate:
        """Return a mean: over those who answered for a Mean, over all people for a Sum."""
        for question in self.questions:
            if question.name == name and question.kind == "mean":
                pair = (question.start, question.start + 1)
                bounds = question.bounds or ANYTHING
                return ratio(name, self.values, self.errors, pair, self.level, bounds=bounds)
            if question.name == name and question.kind == "sum":
                return self._per_person(name, question.start, question.bounds or ANYTHING)
        raise refuse("name", "that of a Mean or a Sum", name)

    def share(self, name: str) -> Estimate:
        """Return a count as a share of all people."""
        for question in self.questions:
            if name in question.names and question.is_count(place := question.names.index(name)):
                return self._per_person(name, question.start + place, (0.0, 1.0))
        raise refuse("name", "that of a count; for a Sum use mean", name)

    def intervals(self, *, level: float, simultaneous: bool = False) -> list[Estimate]:
        """Return all estimates with intervals at another level, or for all of them at once."""
        fraction(level=level)
        if simultaneous:
            queries = sum(len(question.names) for question in self.questions)
            means = sum(question.kind == "mean" for question in self.questions)
            level = simultaneous_level(self.errors, queries, means, level)
        return list(replace(self, level=level))

    def with_known_size(self, n: float) -> "Release":
        """Return the same release, knowing the number of people: every interval gets narrower."""
        if self._size_index is None:
            raise NotSupportedError(
                "this release has no estimate of the number of people to replace"
            )
        covariance, lean = self.errors.covariance.given_last()
        values = self.values[:-1] - lean * (float(self.values[-1]) - positive(n=n))
        errors = replace(self.errors, covariance=covariance)
        return replace(self, values=values, errors=errors, known_size=float(n))

    def notes(self) -> list[str]:
        """Say what goes with the values, and what they themselves suggest to check."""
        return [*self.remarks, *rendering.spelling(self.questions, self.values)]

    def columns(self) -> Columns:
        """Return the table by column: name, kind, estimate, std, low and high."""
        return Sheet(
            questions=self.questions,
            values=self.values[np.newaxis],
            errors=self.errors,
            level=self.level,
            known_size=self.known_size,
            rounded=self.rounded_values,
        ).columns()

    def rows(self) -> Iterator[tuple[str, Estimate]]:
        """Go through what there is to show: kind and estimate, the number of people first."""
        found = self.columns()
        for name, kind, *numbers in zip(*(found[title].tolist() for title in COLUMNS), strict=True):
            yield kind, Estimate(name=name, **dict(zip(NUMBERS, numbers, strict=True)))

    @property
    def _most(self) -> float:
        """The most that a rounded count may be."""
        return math.inf if self.size is None else max(0.0, float(round(self.size.estimate)))

    def _shown(self, count: Estimate, most: float) -> Estimate:
        """Return a count as it is shown: rounded and in range, if that is wished."""
        if not self.rounded_values:
            return count
        shown = in_range(np.array([getattr(count, title) for title in NUMBERS]), most)
        return replace(count, **dict(zip(NUMBERS, shown.tolist(), strict=True)))

    def _linear(self, name: str, weights: Mapping[int, float]) -> Estimate:
        return linear(name, self.values, self.errors, weights, self.level)

    def _per_person(self, name: str, index: int, bounds: tuple[float, float]) -> Estimate:
        if self.known_size is not None:
            if not self.known_size:  # nobody is there, as anybody may know
                low, high = bounds
                return Estimate(name=name, estimate=max(0.0, low), std=math.inf, low=low, high=high)
            return within(self._linear(name, {index: 1 / self.known_size}), bounds)
        if self._size_index is None:
            raise NotSupportedError(
                "this release does not give the number of people; use ratio or with_known_size"
            )
        pair = (index, self._size_index)
        return ratio(name, self.values, self.errors, pair, self.level, bounds=bounds)

    def _index(self, name: str) -> int:
        for question in self.questions:
            if name in question.names:
                return question.start + question.names.index(name)
        if name == SIZE and self._size_index is not None:
            return self._size_index
        raise self._unknown(name)

    def _unknown(self, name: object) -> Exception:
        return refuse("name", f"one of {', '.join(map(repr, self.names[:10]))}", name)
