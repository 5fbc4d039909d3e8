"""Which tables a release has, and what they need of it."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from halfnoise.results.inference import Errors, Floats
from halfnoise.results.sampling import Sampling
from halfnoise.workload.question import Question


class Tabled(Protocol):
    """A release, as far as its tables go."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """What was asked."""

    @property
    def values(self) -> Floats:
        """The estimates as they came out, the number of people last."""

    @property
    def whole_values(self) -> Floats:
        """The same with counts of tables in whole numbers."""

    @property
    def errors(self) -> Errors:
        """Their joint error."""

    @property
    def level(self) -> float:
        """How often an interval holds."""

    @property
    def known_size(self) -> float | None:
        """The number of people where it is known."""

    @property
    def rounded_values(self) -> bool:
        """Whether whole numbers are shown."""

    @property
    def sampling(self) -> Sampling | None:
        """How people came into the table, where intervals cover that."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """Public facts, with the rule by which numbers are marked."""


class Listed(NamedTuple):
    """A table that a release has: by what, of which value if not of people, whether asked for."""

    labels: tuple[str, ...]
    of: str | None
    asked: bool


def named(question: Question) -> str | None:
    """Return of which value a table is, None where it is of people."""
    return None if question.kind == "table" else question.name


def listed(release: Tabled) -> tuple[Listed, ...]:
    """Return what tables there are, those that were asked for first."""
    found = [
        Listed(
            tuple(label for label, _ in question.axes),
            named(question),
            question.asked,
        )
        for question in release.questions
        if question.axes
    ]
    return tuple(sorted(found, key=lambda each: not each.asked))


def said(each: Listed) -> str:
    """Return what a table is called."""
    return ",".join(each.labels) + (f" of {each.of}" if each.of else "")
