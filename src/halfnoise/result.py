"""What comes out of a release: noisy values, their joint error and the guarantee. No true total."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from halfnoise import rendering
from halfnoise.checks import finite, fraction, positive, refuse
from halfnoise.design.covariance import Covariance
from halfnoise.errors import NotSupportedError
from halfnoise.inference import (
    ANYTHING,
    Errors,
    Estimate,
    Floats,
    linear,
    ratio,
    simultaneous_level,
    within,
)
from halfnoise.privacy import GaussianDP, Privacy, PureDP

NOISE_ONLY = rendering.NOISE_ONLY
SIZE = "number of people"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query of the release, as its result needs it: where its estimates stand, and its range."""

    name: str
    kind: str
    start: int
    names: tuple[str, ...]
    bounds: tuple[float, float] | None = None
    other: int | None = None

    def is_count(self, place: int) -> bool:
        """Whether the estimate at this place among its own is a number of people."""
        return self.kind != "sum" and (self.kind != "mean" or place == 1)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Release:
    """The noisy values of one release, with everything that may be concluded from them.

    ``values`` are the estimates as they came out, the number of people last where it was measured;
    rounding changes what is shown of them, not them.

    **Guarantee.** It holds the released values and public facts alone, so whatever is computed
    from it is post-processing.
    """

    questions: tuple[Question, ...]
    values: Floats
    errors: Errors
    guarantee: GaussianDP | PureDP
    privacy: Privacy
    level: float = 0.95
    known_size: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    rounded_values: bool = False

    def __post_init__(self) -> None:
        """Make the values read-only."""
        self.values.flags.writeable = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all estimated sums."""
        return tuple(name for question in self.questions for name in question.names)

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
        index = self._size_index
        if index is None:
            raise NotSupportedError(
                "this release has no estimate of the number of people to replace"
            )
        *others, root = self.errors.covariance.shared
        off = float(self.values[index]) - positive(n=n)
        values = self.values[:index].copy()
        for run in root.loadings:
            values[run.start : min(run.stop, index)] -= run.value * off
        covariance = Covariance(index, self.errors.covariance.variances, tuple(others))
        errors = Errors(self.errors.noise, covariance)
        return replace(self, values=values, errors=errors, known_size=float(n))

    def rounded(self) -> "Release":
        """Return the same with counts shown as whole numbers within [0, number of people].

        It is marked as such. Sums and means stay, and so does every interval, but that it reaches
        to the rounded count: at least as many cover the truth.
        """
        return replace(self, rounded_values=True)

    def notes(self) -> list[str]:
        """Say what the noisy values themselves suggest to check."""
        return rendering.notes(self)

    def rows(self) -> Iterator[tuple[str, Estimate]]:
        """Go through what there is to show: kind and estimate, the number of people first."""
        if self.size is not None:
            yield "size", self.size
        most = self._most
        for question in self.questions:
            if question.kind == "mean":
                yield "mean", self.mean(question.name)
            for place, name in enumerate(question.names):
                first = {question.start + place: 1.0}
                if place == 0 or question.kind == "mean":
                    # But for a Mean the queries of one question share a margin.
                    std, margin = self.errors.std(first), self.errors.margin(first, self.level)
                x = float(self.values[question.start + place])
                found = Estimate(name=name, estimate=x, std=std, low=x - margin, high=x + margin)
                if question.is_count(place):
                    yield "count", self._shown(found, most)
                else:
                    yield "sum", found

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain values, ready for JSON."""
        from halfnoise.exchange import to_dict

        return to_dict(self)

    def to_json(self) -> str:
        """Return the release as JSON; ``from_json`` reads it back."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Release":
        """Read a release from its JSON."""
        from halfnoise.exchange import from_json

        return from_json(text)

    def to_polars(self) -> Any:  # noqa: ANN401
        """Return the table as a Polars frame."""
        return rendering.frame(self, "polars")

    def to_pandas(self) -> Any:  # noqa: ANN401
        """Return the table as a pandas frame."""
        return rendering.frame(self, "pandas")

    def dp_event(self) -> Any:  # noqa: ANN401
        """Return the release as an event of Google's dp_accounting, for other accountants.

        It is what the release promises as one draw of noise: every Gaussian release is a Gaussian
        mechanism of its mu, and Laplace noise on several sums reveals no more than on one.
        """
        events = rendering.package("dp_accounting")
        if isinstance(self.guarantee, PureDP):
            return events.LaplaceDpEvent(1 / self.guarantee.epsilon)
        return events.GaussianDpEvent(1 / self.guarantee.mu)

    def table(self) -> str:
        """Return the values as text, rounded to what the noise makes meaningful."""
        return rendering.table(self)

    def promises(self) -> list[str]:
        """Say what is promised to each person, and by which design."""
        return rendering.promises(self)

    def __repr__(self) -> str:
        """Return the release in words."""
        return rendering.words(self)

    def _repr_html_(self) -> str:
        """Return the release as an HTML table for notebooks."""
        return rendering.markup(self)

    @property
    def _most(self) -> float:
        """The most that a rounded count may be."""
        return math.inf if self.size is None else max(0.0, float(round(self.size.estimate)))

    def _shown(self, count: Estimate, most: float) -> Estimate:
        """Return a count as it is shown: rounded and in range, if that is wished."""
        if not self.rounded_values:
            return count
        x = min(max(float(round(count.estimate)), 0.0), most)
        return replace(count, estimate=x, low=min(count.low, x), high=max(count.high, x))

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
