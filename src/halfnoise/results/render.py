"""A release for the eye, and as a frame: tables, words and markup, all from its public values."""

import html
import importlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from halfnoise.errors import MissingExtraError
from halfnoise.planning.words import spending
from halfnoise.privacy.definitions import ApproxDP, DiscoveryDP
from halfnoise.results.inference import Floats
from halfnoise.results.table import COLUMNS, Question, one_type, spelled
from halfnoise.text import meaningful, percent, short, text_table

if TYPE_CHECKING:
    from halfnoise.results.published import Published

NOISE_ONLY = (
    "Intervals cover the noise that protects people, not who was asked or how they answered."
)
ROUNDED = "Counts are rounded and kept in range after the release."
MUCH = 0.1
"""The share of "other" from which it is worth a note."""

MOST_ROWS = 200
"""A longer table is cut off on the screen; files hold all of it."""


def table(release: "Published") -> str:
    """Return the values as text, rounded to what the noise makes meaningful."""
    keys, rows, more = _first(release)
    header = [*keys, "", "estimate", "standard error", f"{percent(release.level)} interval"]
    cells = [[*row[:-2], f"{row[-2]} to {row[-1]}"] for row in rows]
    return text_table(header, cells, left=len(keys) + 1) + "".join(f"\n{line}" for line in more)


def words(release: "Published") -> str:
    """Return the release as text: the table and what to know beside it."""
    return "\n".join([table(release), "", *_said(release)])


def markup(release: "Published") -> str:
    """Return the release as an HTML table for notebooks."""
    keys, rows, more = _first(release)
    titles = (*keys, "", "estimate", "standard error", "low", "high")
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    body = ""
    for row in rows:
        cells = [html.escape(cell) for cell in row]
        named = "".join(f"<th>{cell}</th>" for cell in cells[:-4])
        body += f"<tr>{named}" + "".join(f"<td>{cell}</td>" for cell in cells[-4:]) + "</tr>"
    said = "<br>".join(map(html.escape, [*more, *_said(release)]))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{said}</p>"


def promises(release: "Published") -> list[str]:
    """Say what is promised to each person, and by which design."""
    odds = percent(release.guarantee.best_guess)
    budget = spending(release.privacy, 1).removeprefix("Budget: ").removesuffix(".")
    if isinstance(release.guarantee, DiscoveryDP):
        delta = f"{release.guarantee.delta:.3g}"
        part = isinstance(release.privacy, ApproxDP)
        budget += f", of which {delta} is" if part else f", except with probability {delta},"
        budget += " for discovering groups"
    said = [f"Promised: {budget}. Odds of the best guess: {odds}; of a coin flip: 50%."]
    if "design" in release.facts:
        design = release.facts["design"]
        said.append(f"Design: {design['name']}. {design['why']}")
    return said


def spelling(questions: Sequence[Question], values: Floats) -> list[str]:
    """Say where the category for all others is so large that some may be misspelled."""
    said = []
    for question in questions:
        if question.other is not None:
            stop = question.start + len(question.names)
            part = float(values[question.start + question.other])
            whole = float(values[question.start : stop].sum())
            if part > MUCH * whole > 0:
                name = question.names[question.other]
                said.append(
                    f"{name} is {part / whole:.0%} of {question.name}:"
                    " check the spelling of the categories"
                )
    return said


def frame(release: "Published", library: str) -> Any:  # noqa: ANN401
    """Return the table as a frame of a library that is installed."""
    found = {
        title: one_type(each.tolist()) if each.dtype == object else each
        for title, each in release.columns().items()
    }
    if library == "pandas":  # which would make fractions of whole numbers with gaps
        found |= {title: np.array(each, object) for title, each in found.items() if None in each}
    return package(library).DataFrame(found)


def package(name: str) -> Any:  # noqa: ANN401
    """Return an optional package, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        hint = name.replace("_", "-")
        raise MissingExtraError(
            f"this needs the package {hint}, which is not installed; run pip install {hint}"
        ) from error


def _said(release: "Published") -> list[str]:
    rounded = [ROUNDED] if release.rounded_values else []
    return [*promises(release), NOISE_ONLY, *rounded, *release.notes()]


def _first(release: "Published") -> tuple[list[str], list[list[str]], list[str]]:
    """Return the titles of keys, the rows that fit on a screen, and how many more there are."""
    found = release.columns()
    keys = list(found)[: -len(COLUMNS)]
    rows = []
    for row in zip(*(each[:MOST_ROWS].tolist() for each in found.values()), strict=True):
        *key, name, _, x, std, low, high = row
        error = short(std) if math.isfinite(std) else "∞"
        named = ["(none)" if each is None else spelled(each) for each in key]
        rows.append(
            [*named, name, meaningful(x, std), error, *(meaningful(v, std) for v in (low, high))]
        )
    more = len(found["name"]) - len(rows)
    return keys, rows, [f"... and {more:,} more"] if more else []
