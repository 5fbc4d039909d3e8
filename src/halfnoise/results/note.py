"""The method note of a release: what readers and experts need to know, each sentence true for it.

What is said follows from the release and, where it is known, from the ledger; the words for it are
in ``note.toml``, a table for each language.
"""

import html
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, Protocol, TypeAlias

from halfnoise.checks import unknown
from halfnoise.privacy.definitions import DiscoveryDP, Guarantee, PureDP
from halfnoise.privacy.words import implied, upward
from halfnoise.results.document import to_keep
from halfnoise.results.lines import MARKDOWN
from halfnoise.results.release import GroupedRelease, Release, Released
from halfnoise.results.reliability import FACT, Reliability
from halfnoise.results.render import error_and_bound
from halfnoise.text import isolated, tame

SYMBOLS = {"epsilon": "ε", "delta": "δ", "mu": "μ", "discover_delta": "δ"}
SYMBOLS |= {"rho": "\N{GREEK SMALL LETTER RHO}", "alpha": "\N{GREEK SMALL LETTER ALPHA}"}
USUAL = 1e-6  # the delta where nobody stated one
CORRELATED = "correlated"  # how the paper's designs are called
Sentence: TypeAlias = tuple[str, Mapping[str, Any]]  # which one, and what is filled in


class Composed(NamedTuple):
    """What a ledger says of all releases about the same people: how many, and what they cost.

    ``limit``: what they may cost, nothing where there is no limit.
    """

    ledger: str
    releases: int
    spent: Mapping[str, float | None]
    best_guess: float
    limit: Mapping[str, float]


class Given(str):
    """Words that somebody else chose: they are quoted, and escaped where that matters."""

    __slots__ = ()


class Named(Given):
    """Such words that need no quotes."""

    __slots__ = ()


class Amount(float):
    """An amount of privacy, which is rounded up."""

    __slots__ = ()


class Share(float):
    """A share, in per cent, with all its digits."""

    __slots__ = ()


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
    parts = (_protection(release), _reading(release), _for_experts(release, composed))
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


def _protection(release: Released) -> Iterator[Sentence]:
    """Say how people are protected, and who they are."""
    facts, unit = release.facts, release.facts.get("unit")
    guess = {"guess": _at_most(release.guarantee.best_guess), "half": Share(0.5)}
    yield "noise", {}
    yield "guess_answers" if _replaced(release) else "guess_member", guess
    if isinstance(unit, list):
        yield "unit_columns", {"unit": [*map(Given, unit)]}
    elif unit is not None:
        yield "unit_rows", {}
    if "where" in facts:
        yield "where", {"where": [*map(Given, facts["where"])]}
    if "weight" in facts:
        low, high = facts["weight"]["bounds"]
        yield "weight", {"weight": Given(facts["weight"]["column"]), "low": low, "high": high}
    if isinstance(release, GroupedRelease):
        if release.discovered:
            yield "discovered", {}
        if release.most > 1:
            yield "several_groups", {"most": release.most}
    elif release.known_size is not None:
        yield "known_size", {"people": release.known_size}


def _reading(release: Released) -> Iterator[Sentence]:
    """Say what intervals cover, and what noise does to small numbers and sums."""
    level, sampling = {"level": Share(release.level)}, release.sampling
    if sampling is None:
        yield from (("interval", level), ("noise_only", {}))
    else:
        yield "interval_sampled", level
        yield "sampled", {"effect": float(sampling.design_effect)}
    tables = [each for each in release.questions if each.in_tables]
    others = len(tables) < len(release.questions)
    if tables:
        yield "tables", {}
    if not release.rounded_values:
        yield "below_zero", {}
    elif tables:
        yield "rounded_tables", {}
        if others:
            yield "rounded_beside", {}
    else:
        yield "rounded", {}
    if any(each.is_mean for each in release.questions):
        yield "means", {}
    if rule := Reliability.of(release.facts):
        yield "flags", {"flags": [("flag", {"mark": m, "share": Share(s)}) for m, s in rule.steps]}


def _for_experts(release: Released, composed: Composed | None) -> Iterator[Sentence]:
    """Say what is guaranteed, by which mechanism, and what all releases come to."""
    yield _guarantee(release)
    yield "answers" if _replaced(release) else "member", {}
    design = release.facts.get("design", {})
    if "name" in design:
        yield f"noise_{release.errors.noise.value}", {"design": Named(design["name"])}
    if (both := error_and_bound(release.facts)) is not None:
        error, bound = both
        yield "least", {"above": Share(max(1, math.ceil(1000 * (error / bound - 1))) / 1000)}
    bounded = {each.name: each.bounds for each in release.questions if each.is_sum or each.is_mean}
    ranges = [
        ("range", {"name": Given(name), "low": bounds[0], "high": bounds[1]})
        for name, bounds in bounded.items()
        if bounds is not None
    ]
    if ranges:
        yield "bounds", {"bounds": ranges}
    yield "errors" if release.sampling is None else "errors_sampled", {}
    if composed is None:
        yield "alone", {}
    elif composed.releases == 1:
        yield "ledger_one", {"ledger": Given(composed.ledger)}
    else:
        known = {name: x for name, x in composed.spent.items() if x is not None}
        said = {"ledger": Given(composed.ledger), "releases": composed.releases}
        yield "ledger", {**said, "spent": _amounts(known), "guess": _at_most(composed.best_guess)}
    if composed is not None and composed.limit:
        yield "limit", {"limit": _amounts(composed.limit)}
    if str(design.get("name")).startswith(CORRELATED):
        yield "method", {}
    if "version" in release.facts:
        yield "version", {"version": Named(release.facts["version"])}


def _guarantee(release: Released) -> Sentence:
    guarantee, found = release.guarantee, implied(release.guarantee, release.privacy)
    discovered = isinstance(guarantee, DiscoveryDP)
    kept = guarantee.kept if isinstance(guarantee, DiscoveryDP) else guarantee
    probability = {"probability": Amount(found["discover_delta"])} if discovered else {}
    after = "_found" if discovered else ""
    if isinstance(kept, PureDP):
        return f"pure{after}", {**probability, "epsilon": Amount(kept.epsilon)}
    delta = found.get("delta", max(USUAL, min(0.5, 10 * found.get("discover_delta", 0.0))))
    amounts = {"mu": kept.mu, "epsilon": _epsilon(guarantee, delta), "delta": delta}
    return f"gaussian{after}", {**probability, **{n: Amount(x) for n, x in amounts.items()}}


def _epsilon(guarantee: Guarantee, delta: float) -> float:
    return guarantee.epsilon if isinstance(guarantee, PureDP) else guarantee.epsilon(delta)


def _at_most(probability: float) -> Share:
    """Return a probability to a tenth of a per cent, rounded up."""
    return Share(min(1.0, math.ceil(1000 * probability) / 1000))


def _replaced(release: Released) -> bool:
    return bool(release.facts.get("design", {}).get("neighbors") == "replace")


def _amounts(found: Mapping[str, float]) -> list[tuple[str, Amount]]:
    return [(SYMBOLS[name], Amount(x)) for name, x in found.items()]
