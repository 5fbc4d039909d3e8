"""What comes out of a release: noisy values, their joint error and the guarantee. No true total."""

import html
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from halfnoise.checks import finite, fraction, refuse
from halfnoise.design.covariance import Covariance
from halfnoise.errors import NotSupportedError
from halfnoise.inference import (
    ANYTHING,
    Errors,
    Estimate,
    Floats,
    linear,
    ratio,
    simultaneous_factor,
)
from halfnoise.privacy import GaussianDP, Privacy, PureDP
from halfnoise.tables import meaningful, percent, short, text_table
from halfnoise.wording import spending

NOISE_ONLY = (
    "Intervals cover the noise that protects people, not who was asked or how they answered."
)
SIZE = "number of people"
MUCH = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query of the release, as its result needs it: where its estimates stand, and its range."""

    name: str
    kind: str
    start: int
    names: tuple[str, ...]
    bounds: tuple[float, float] | None = None
    other: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Release:
    """The noisy values of one release, with everything that may be concluded from them.

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
        return len(self.names) if len(self.values) > len(self.names) else None

    @property
    def size(self) -> Estimate | None:
        """The number of people; None where the design does not give it."""
        if self.known_size is not None:
            n = self.known_size
            return Estimate(name=SIZE, estimate=n, std=0.0, low=n, high=n)
        if self._size_index is None:
            return None
        return linear(SIZE, self.values, self.errors, {self._size_index: 1.0}, self.level)

    def __getitem__(self, name: str) -> Estimate:
        """Return one query's estimate: a count, a sum, or the mean of a Mean."""
        for question in self.questions:
            if question.kind == "mean" and name == question.name:
                return self.mean(name)
        return linear(name, self.values, self.errors, {self._index(name): 1.0}, self.level)

    def __iter__(self) -> Iterator[Estimate]:
        """Go through all estimates: a Mean gives its mean, its sum and how many answered."""
        for question in self.questions:
            if question.kind == "mean":
                yield self.mean(question.name)
            for name in question.names:
                yield self[name]

    def difference(self, a: str, b: str) -> Estimate:
        """Return a - b; noise that the two share cancels."""
        return self.linear({a: 1.0, b: -1.0}, name=f"{a} - {b}")

    def linear(self, weights: Mapping[str, float], *, name: str = "weighted sum") -> Estimate:
        """Return a weighted sum of estimates, by name."""
        by_index = {self._index(each): finite(**{each: w}) for each, w in weights.items()}
        return linear(name, self.values, self.errors, by_index, self.level)

    def ratio(self, a: str, b: str) -> Estimate:
        """Return a / b with Fieller's interval."""
        pair = (self._index(a), self._index(b))
        return ratio(f"{a} / {b}", self.values, self.errors, pair, self.level)

    def mean(self, name: str) -> Estimate:
        """Return a mean: over those who answered for a Mean, over all people for a Sum."""
        for question in self.questions:
            if question.name == name and question.kind in ("mean", "sum"):
                if question.kind == "mean":
                    pair = (question.start, question.start + 1)
                    bounds = question.bounds or ANYTHING
                    return ratio(name, self.values, self.errors, pair, self.level, bounds=bounds)
                return self._per_person(name, question.bounds or ANYTHING)
        raise refuse("name", "that of a Mean or a Sum", name)

    def share(self, name: str) -> Estimate:
        """Return a count as a share of all people."""
        return self._per_person(name, (0.0, 1.0))

    def intervals(self, *, level: float, simultaneous: bool = False) -> list[Estimate]:
        """Return all estimates with intervals at another level, or for all of them at once."""
        fraction(level=level)
        again = replace(self, level=level)
        if not simultaneous:
            return list(again)
        count = len(self.names)
        if isinstance(self.guarantee, PureDP):
            return list(replace(self, level=1 - (1 - level) / count))
        factor = simultaneous_factor(self.errors, count, level)
        return [
            replace(
                each, low=each.estimate - factor * each.std, high=each.estimate + factor * each.std
            )
            for each in (again[name] for name in self.names)
        ]

    def with_known_size(self, n: float) -> "Release":
        """Return the same release, knowing the number of people: every interval gets narrower."""
        index = self._size_index
        if index is None:
            raise NotSupportedError(
                "this release has no estimate of the number of people to replace"
            )
        *others, root = self.errors.covariance.shared
        off = float(self.values[index]) - finite(n=n)
        values = self.values[:index].copy()
        for run in root.loadings:
            values[run.start : min(run.stop, index)] -= run.value * off
        covariance = Covariance(index, self.errors.covariance.variances, tuple(others))
        errors = Errors(self.errors.noise, covariance)
        return replace(self, values=values, errors=errors, known_size=float(n))

    def rounded(self) -> "Release":
        """Return whole numbers within [0, number of people] for counts; marked as such."""
        size = self.size
        most = math.inf if size is None else max(0.0, float(round(size.estimate)))
        values = self.values.copy()
        for question in self.questions:
            for i in range(question.start, question.start + len(question.names)):
                values[i] = np.round(values[i])
                if question.kind not in ("sum", "mean"):
                    values[i] = min(max(values[i], 0.0), most)
        if self._size_index is not None:
            values[-1] = most
        return replace(self, values=values, rounded_values=True)

    def notes(self) -> list[str]:
        """Say what the noisy values themselves suggest to check."""
        said = []
        for question in self.questions:
            if question.other is not None:
                stop = question.start + len(question.names)
                part = self.values[question.start + question.other]
                whole = float(self.values[question.start : stop].sum())
                if part > MUCH * whole > 0:
                    named = (
                        f"{question.names[question.other]} is {part / whole:.0%} of {question.name}"
                    )
                    said.append(f"{named}: check the spelling of the categories")
        return said

    def rows(self) -> Iterator[tuple[str, Estimate]]:
        """Go through what there is to show: kind and estimate, the number of people first."""
        if self.size is not None:
            yield "size", self.size
        for question in self.questions:
            if question.kind == "mean":
                yield "mean", self.mean(question.name)
                yield "sum", self[question.names[0]]
                yield "count", self[question.names[1]]
                continue
            first = self[question.names[0]]
            below, above = first.estimate - first.low, first.high - first.estimate
            for i, name in enumerate(question.names):
                # The queries of one question share a margin.
                value = float(self.values[question.start + i])
                kind = "sum" if question.kind == "sum" else "count"
                low, high = value - below, value + above
                yield (
                    kind,
                    Estimate(name=name, estimate=value, std=first.std, low=low, high=high),
                )

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain values, ready for JSON."""
        from halfnoise.exchange import to_dict

        return to_dict(self)

    def to_json(self) -> str:
        """Return the release as JSON; ``from_json`` reads it back."""
        import json

        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Release":
        """Read a release from its JSON."""
        from halfnoise.exchange import from_json

        return from_json(text)

    def to_polars(self) -> Any:  # noqa: ANN401
        """Return the table as a Polars frame."""
        import polars as pl

        return pl.DataFrame(self._records())

    def to_pandas(self) -> Any:  # noqa: ANN401
        """Return the table as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self._records())

    def dp_event(self) -> Any:  # noqa: ANN401
        """Return the release as an event of Google's dp_accounting, for other accountants."""
        from dp_accounting import dp_event

        if isinstance(self.guarantee, PureDP):
            return dp_event.LaplaceDpEvent(1 / self.guarantee.epsilon)
        return dp_event.GaussianDpEvent(1 / self.guarantee.mu)

    def table(self) -> str:
        """Return the values as text, rounded to what the noise makes meaningful."""
        header = ["", "estimate", "standard error", f"{percent(self.level)} interval"]
        shown = list(itertools.islice(self.rows(), 200))
        rows = [
            [
                each.name,
                meaningful(each.estimate, each.std),
                short(each.std),
                f"{meaningful(each.low, each.std)} to {meaningful(each.high, each.std)}",
            ]
            for _, each in shown
        ]
        more = len(self.names) - 200
        return text_table(header, rows) + (f"\n... and about {more} more" if more > 0 else "")

    def __repr__(self) -> str:
        """Return the release in words."""
        lines = [self.table(), "", *self.promises(), NOISE_ONLY, *self.notes()]
        if self.rounded_values:
            lines.append("Values are rounded and kept in range after the release.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the release as an HTML table for notebooks."""
        head = "".join(f"<th>{name}</th>" for name in ("", "estimate", "std", "low", "high"))
        body = "".join(
            f"<tr><th>{html.escape(each.name)}</th>"
            + "".join(
                f"<td>{meaningful(x, each.std)}</td>"
                for x in (each.estimate, each.std, each.low, each.high)
            )
            + "</tr>"
            for _, each in itertools.islice(self.rows(), 1000)
        )
        said = "<br>".join(map(html.escape, [*self.promises(), NOISE_ONLY, *self.notes()]))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{said}</p>"

    def promises(self) -> list[str]:
        """Say what is promised to each person, and by which design."""
        odds = percent(self.guarantee.best_guess)
        budget = spending(self.privacy, 1).removeprefix("Budget: ").removesuffix(".")
        said = [f"Promised: {budget}. Odds of the best guess: {odds}; of a coin flip: 50%."]
        if "design" in self.facts:
            design = self.facts["design"]
            said.append(f"Design: {design['name']}. {design['why']}")
        return said

    def _records(self) -> list[dict[str, Any]]:
        return [{"kind": kind} | asdict(each) for kind, each in self.rows()]

    def _per_person(self, name: str, bounds: tuple[float, float]) -> Estimate:
        index = self._index(name)
        if self.known_size is not None:
            share = linear(name, self.values, self.errors, {index: 1 / self.known_size}, self.level)
            low, high = max(share.low, bounds[0]), min(share.high, bounds[1])
            return replace(share, low=low, high=high)
        if self._size_index is None:
            raise NotSupportedError(
                "this release does not give the number of people; use ratio or with_known_size"
            )
        pair = (index, self._size_index)
        return ratio(name, self.values, self.errors, pair, self.level, bounds=bounds)

    def _index(self, name: str) -> int:
        if name == SIZE and self._size_index is not None:
            return self._size_index
        if name not in self.names:
            raise refuse("name", f"one of {', '.join(map(repr, self.names[:10]))}", name)
        return self.names.index(name)
