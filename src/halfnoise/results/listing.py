"""Which tables a release has, and what they need of it."""

from typing import NamedTuple

from halfnoise.results.sampled import Sampled
from halfnoise.workload.question import Question


class Listed(NamedTuple):
    """A table that a release has: by what, of which value if not of people, whether asked for."""

    labels: tuple[str, ...]
    of: str | None
    asked: bool


def named(question: Question) -> str | None:
    """Return of which value a table is, None where it is of people."""
    return None if question.kind == "table" else question.name


def listed(release: Sampled) -> tuple[Listed, ...]:
    """Return what tables there are, choices too, those that were asked for first."""
    found = [
        Listed(tuple(label for label, _ in question.axes), named(question), question.asked)
        for question in (each.as_table for each in release.questions)
        if question.axes
    ]
    return tuple(sorted(found, key=lambda each: not each.asked))


def said(each: Listed) -> str:
    """Return what a table is called."""
    return ",".join(each.labels) + (f" of {each.of}" if each.of else "")
