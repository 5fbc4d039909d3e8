"""What every result has in common: noisy values, their joint error, the guarantee, and a face."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from halfnoise.privacy.definitions import DiscoveryDP, Guarantee, Privacy, PureDP
from halfnoise.results import render as rendering
from halfnoise.results.inference import Errors, Estimate, Floats
from halfnoise.results.table import Columns, Question

MANY = 10_000
"""So many values are written for programs alone."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Published(ABC):
    """Noisy values of a release and all that is public beside them. No true total.

    ``values`` are the estimates as they came out; rounding changes what is shown of them, not
    them.
    """

    questions: tuple[Question, ...]
    values: Floats
    errors: Errors
    guarantee: Guarantee
    privacy: Privacy
    level: float = 0.95
    facts: Mapping[str, Any] = field(default_factory=dict)
    rounded_values: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all estimated sums."""
        return tuple(name for question in self.questions for name in question.names)

    @property
    @abstractmethod
    def size(self) -> Estimate | None:
        """The number of people; None where it is not known."""

    @abstractmethod
    def columns(self) -> Columns:
        """Return the table by column: what names a row first, then its numbers, unrounded."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Say what to know or to check beside the values."""

    def rounded(self) -> Self:
        """Return the same with counts shown as whole numbers within [0, number of people].

        It is marked as such. Sums and means stay, and so does every interval, but that it reaches
        to the rounded count: at least as many cover the truth.
        """
        return replace(self, rounded_values=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain values, ready for JSON."""
        from halfnoise.results.document import to_dict

        return to_dict(self)

    def to_json(self) -> str:
        """Return the release as JSON; ``from_json`` reads it back.

        With more values than anybody reads it is on one line, which is far quicker.
        """
        indent = 2 if self.values.size <= MANY else None
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Any:  # noqa: ANN401
        """Read a release, with groups or without, from its JSON."""
        from halfnoise.results.document import from_json

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
        mechanism of its mu, and Laplace noise on several sums reveals no more than on one. Where
        groups were discovered, a person is shown beside it with the probability of that, through
        so little noise (epsilon 100) that it hides nothing; accountants of Renyi differential
        privacy, which does not hold for it, refuse it.
        """
        events = rendering.package("dp_accounting")
        found = self.guarantee
        kept = found.kept if isinstance(found, DiscoveryDP) else found
        pure = isinstance(kept, PureDP)
        noise = events.LaplaceDpEvent if pure else events.GaussianDpEvent
        event = noise(1 / (kept.epsilon if isinstance(kept, PureDP) else kept.mu))
        if not isinstance(found, DiscoveryDP):
            return event
        # A little likelier, by far more than that little noise could hide.
        likely = math.nextafter(found.delta, 1)
        shown = events.PoissonSampledDpEvent(likely, events.LaplaceDpEvent(0.01))
        return events.ComposedDpEvent([event, shown])

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
