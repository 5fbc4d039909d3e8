"""The method note of a release: what readers and experts need to know, each sentence true for it.

What is said follows from the release and, where it is known, from the ledger; the words for it are
in ``note.toml``, a table for each language.
"""

import html
import tomllib
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

from halfnoise.checks import unknown
from halfnoise.privacy.words import upward
from halfnoise.results.document import to_keep
from halfnoise.results.lines import MARKDOWN
from halfnoise.results.release import GroupedRelease, Release, Released
from halfnoise.results.reliability import FACT
from halfnoise.results.sentences import (
    Amount,
    Composed,
    Given,
    Named,
    Sentence,
    Share,
    for_experts,
    protection,
    reading,
)
from halfnoise.text import isolated, tame
from halfnoise.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a language; ``escaped``: how those of others are made harmless."""

    own: Mapping[str, str]
    escaped: Callable[[str], str]

    def said(self, sentence: Sentence) -> str:
        """Return a sentence, with all that it speaks of."""
        name, values = sentence
        filled = {title: self.word(value) for title, value in values.items()}
        return self.own[name].format(**filled)

    def word(self, value: Any) -> str:
        """Return what is filled in, as the language writes it."""
        match value:
            case Named():
                found = self.escaped(value)
            case Given():
                found = self.own["quoted"].format(x=self.escaped(value))
            case Share():
                exact = (Decimal(repr(float(value))) * 100).normalize()
                found = self.own["percent"].format(x=self.number(f"{exact:f}"))
            case Amount():
                found = self.number(upward(value))
            case float() | int():
                found = self.number(f"{value:,.10g}")
            case list():
                found = ", ".join(map(self.word, value))
            case (str(symbol), Amount() as amount):
                found = f"{symbol} = {self.word(amount)}"
            case tuple():
                found = self.said(value)
            case _:
                found = str(value)
        return found

    def number(self, plain: str) -> str:
        """Return a number with the marks of the language."""
        marks = {ord(","): self.own["thousands"], ord("."): self.own["decimal"]}
        return plain.translate(marks)


@dataclass(frozen=True, slots=True)
class Note:
    """A method note: two paragraphs for readers and one for experts, in a language."""

    language: str
    paragraphs: tuple[tuple[Sentence, ...], ...]

    @property
    def title(self) -> str:
        """What stands above it."""
        return _texts()[self.language]["title"]

    def text(self, escaped: Callable[[str], str] = lambda text: isolated(tame(text))) -> list[str]:
        """Return its paragraphs; ``escaped``: how words of others are made harmless."""
        words = _Words(_texts()[self.language], escaped)
        return [" ".join(map(words.said, each)) for each in self.paragraphs]

    def markdown(self) -> str:
        """Return it as Markdown."""
        *readers, experts = self.text(lambda text: isolated(MARKDOWN.text(text)))
        above = _texts()[self.language]["experts"]
        return "\n\n".join([f"## {self.title}", *readers, f"### {above}", experts]) + "\n"

    def html(self, *, whole: bool = False) -> str:
        """Return it as HTML: a section, or a ``whole`` page."""
        *readers, experts = self.text(lambda text: f"<bdi>{html.escape(tame(text))}</bdi>")
        above, below = self.title, _texts()[self.language]["experts"]
        marked = [f"<h2>{above}</h2>", *(f"<p>{each}</p>" for each in readers)]
        marked += [f"<h3>{below}</h3>", f"<p>{experts}</p>"]
        section = "\n".join([f'<section lang="{self.language}">', *marked, "</section>"])
        head = f'<meta charset="utf-8"><title>{above}</title>'
        page = f'<!doctype html>\n<html lang="{self.language}">\n<head>{head}</head>\n<body>'
        return f"{page}\n{section}\n</body>\n</html>\n" if whole else f"{section}\n"


class Composes(Protocol):
    """A ledger, as far as a note goes."""

    def composed(self, document: bytes) -> Mapping[str, Any]:
        """Return what all releases come to, one of which has this result."""


def note(release: Released, language: str = "en", ledger: Composes | None = None) -> Note:
    """Return the method note of a release; ``ledger``: where it was charged."""
    if language not in _texts():
        raise unknown("language", language, languages())
    composed = None if ledger is None else Composed(**ledger.composed(to_keep(_drawn(release))))
    parts = (protection(release), reading(release), for_experts(release, composed))
    return Note(language, tuple(map(tuple, parts)))


def languages() -> list[str]:
    """Return the languages that there are texts in."""
    return [*_texts()]


def _drawn(release: Released) -> Released:
    """Return a release as it was drawn, whatever is shown of it."""
    if isinstance(release, GroupedRelease):
        return replace(release, template=_as_drawn(release.template))
    return _as_drawn(release)


def _as_drawn(release: Release) -> Release:
    facts = {name: fact for name, fact in release.facts.items() if name != FACT}
    return replace(release, facts=facts, rounded_values=False, sampling=None)


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    stored = files("halfnoise.results").joinpath("note.toml").read_text(encoding="utf-8")
    return tomllib.loads(stored)
