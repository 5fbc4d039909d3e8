"""A release for the eye, and as a frame: tables, words and markup, all from its public values."""

import html
import importlib
import itertools
import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from halfnoise.errors import MissingExtraError
from halfnoise.inference import Estimate
from halfnoise.tables import meaningful, percent, short, text_table
from halfnoise.wording import spending

if TYPE_CHECKING:
    from halfnoise.result import Release

NOISE_ONLY = (
    "Intervals cover the noise that protects people, not who was asked or how they answered."
)
ROUNDED = "Counts are rounded and kept in range after the release."
MUCH = 0.1
"""The share of "other" from which it is worth a note."""

MOST_ROWS = 200
"""A longer table is cut off on the screen; files hold all of it."""


def table(release: "Release") -> str:
    """Return the values as text, rounded to what the noise makes meaningful."""
    header = ["", "estimate", "standard error", f"{percent(release.level)} interval"]
    shown, more = _first(each for _, each in release.rows())
    rows = [
        [
            each.name,
            meaningful(each.estimate, each.std),
            _error(each.std),
            f"{meaningful(each.low, each.std)} to {meaningful(each.high, each.std)}",
        ]
        for each in shown
    ]
    return text_table(header, rows) + more


def words(release: "Release") -> str:
    """Return the release as text: the table and what to know beside it."""
    return "\n".join([table(release), "", *_said(release)])


def markup(release: "Release") -> str:
    """Return the release as an HTML table for notebooks."""
    titles = ("", "estimate", "standard error", "low", "high")
    head = "".join(f"<th>{title}</th>" for title in titles)
    shown, more = _first(each for _, each in release.rows())
    body = "".join(
        f"<tr><th>{html.escape(each.name)}</th><td>{meaningful(each.estimate, each.std)}</td>"
        f"<td>{_error(each.std)}</td><td>{meaningful(each.low, each.std)}</td>"
        f"<td>{meaningful(each.high, each.std)}</td></tr>"
        for each in shown
    )
    said = "<br>".join(map(html.escape, [*more.split("\n")[1:], *_said(release)]))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{said}</p>"


def promises(release: "Release") -> list[str]:
    """Say what is promised to each person, and by which design."""
    odds = percent(release.guarantee.best_guess)
    budget = spending(release.privacy, 1).removeprefix("Budget: ").removesuffix(".")
    said = [f"Promised: {budget}. Odds of the best guess: {odds}; of a coin flip: 50%."]
    if "design" in release.facts:
        design = release.facts["design"]
        said.append(f"Design: {design['name']}. {design['why']}")
    return said


def notes(release: "Release") -> list[str]:
    """Say what the noisy values themselves suggest to check."""
    said = []
    for question in release.questions:
        if question.other is not None:
            stop = question.start + len(question.names)
            part = float(release.values[question.start + question.other])
            whole = float(release.values[question.start : stop].sum())
            if part > MUCH * whole > 0:
                name = question.names[question.other]
                said.append(
                    f"{name} is {part / whole:.0%} of {question.name}:"
                    " check the spelling of the categories"
                )
    return said


def frame(release: "Release", library: str) -> Any:  # noqa: ANN401
    """Return the table as a frame of a library that is installed."""
    rows = [{"kind": kind} | asdict(each) for kind, each in release.rows()]
    return package(library).DataFrame(rows)


def package(name: str) -> Any:  # noqa: ANN401
    """Return an optional package, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        hint = name.replace("_", "-")
        raise MissingExtraError(
            f"this needs the package {hint}, which is not installed; run pip install {hint}"
        ) from error


def _said(release: "Release") -> list[str]:
    rounded = [ROUNDED] if release.rounded_values else []
    return [*promises(release), NOISE_ONLY, *rounded, *notes(release)]


def _error(std: float) -> str:
    return short(std) if math.isfinite(std) else "∞"


def _first(rows: Iterable[Estimate]) -> tuple[list[Estimate], str]:
    """Return the rows that fit on a screen, and how many more there are."""
    rest = iter(rows)
    shown = list(itertools.islice(rest, MOST_ROWS))
    more = sum(1 for _ in rest)
    return shown, f"\n... and {more:,} more" if more else ""
