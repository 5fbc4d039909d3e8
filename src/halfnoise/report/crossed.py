"""A table of a release as one reads it: wide, with its margins, shares, and charts by row."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from halfnoise.errors import NotSupportedError
from halfnoise.report.columns import margin, marks, more, without
from halfnoise.report.panels import MOST_PANELS, MOST_ROWS, PEOPLE, SHARE, Panel, Part, alike, panel
from halfnoise.results.cross import CrossTable, Shares
from halfnoise.results.inference import ANYTHING
from halfnoise.results.labelled import Labelled
from halfnoise.results.reliability import Reliability, marked
from halfnoise.results.wide import DASH, OPEN, Wide
from halfnoise.text import percent

MOST_COLUMNS = 10  # a table with more is shown line by line
WHAT = {"table": "People", "count": "Count of ", "sum": "Sum of ", "mean": "Mean of "}


def crossed(table: CrossTable, heading: str, most: int | None = None) -> Part:
    """Return a table with its margins, then shares, and charts of one of them."""
    shares = _shares(table)
    what = WHAT[table.kind] + table.name
    of = "in per cent of each row"
    rule = Reliability.of(table.release.facts)
    below = [_below(table), *([] if table.told.all() else [OPEN])]
    tables = [_wide(table, PEOPLE if shares else "", below, most, rule)]
    tables += [_wide(each, of, [*_points(each, rule)], most, rule) for each in shares]
    if shares and not table.columns:
        tables = [_beside(*tables)]
    return Part(
        title=f"{heading}{what} by {', '.join(table.labels)}",
        tables=tables,
        panels=() if heading else [*_panels(table, shares)],
    )


def _wide(
    table: Labelled, title: str, below: Sequence[str], most: int | None, rule: Reliability
) -> Wide:
    long = bool(table.columns) and table.shape[-1] > MOST_COLUMNS
    wide = replace(table.wide(long=long, most=most), title=title)
    width = 1 if long or not table.columns else table.shape[-1]
    lines = table.estimates.size // width + (not isinstance(table, Shares))
    cut = [more(lines - len(wide.lines), "rows")] if lines > len(wide.lines) else []
    wide = replace(wide, below=(*cut, *below))
    if not isinstance(table, Shares):
        return wide
    said = np.array(marks(table.numbers, "share", rule), dtype=object)
    said[table.open.ravel()] = DASH
    own = zip(wide.lines, said.reshape(-1, width).tolist(), strict=False)
    return replace(wide, lines=[(head, [*map(_share, cells, row)]) for (head, cells), row in own])


def _share(text: str, mark: str) -> str:
    return DASH if mark == DASH else marked(f"{text}%", mark)


def _beside(people: Wide, shares: Wide) -> Wide:
    """Return both as one table, as each has one column; a total has no share."""
    cells = [*(each for _, each in shares.lines), [""]]
    lines = [
        (head, [*own, *share]) for (head, own), share in zip(people.lines, cells, strict=False)
    ]
    titles, below = (PEOPLE, "share of people"), (*people.below, *shares.below)
    return replace(people, title="", titles=titles, lines=lines, below=below)


def _shares(table: CrossTable) -> list[Shares]:
    """Return what part of its row each cell is, or of all people where there are no rows."""
    if table.kind != "table":
        return []
    try:
        return [table.shares("row" if table.columns else "total")]
    except NotSupportedError:  # the number of people is not given
        return []


def _below(table: CrossTable) -> str:
    """Say how far numbers that are shown may be off: cells, and totals of rows and columns."""
    shown = {"cells": table.numbers[:, table.told]}
    for labels in (table.rows, table.columns) if table.columns else ():
        own = table.margin(*labels)
        shown[f"totals by {', '.join(labels)}"] = own.numbers[:, own.told]
    total = table.total()
    ends = (total.estimate, total.std, total.low, total.high)
    shown["total"] = np.array(ends).reshape(4, 1)
    rule = Reliability.of(table.release.facts)
    kept = {what: without(x, marks(x, table.kind, rule)) for what, x in shown.items()}
    parts = (f"{what} {margin(numbers)}" for what, numbers in kept.items())
    return f"Margin of error ({percent(table.level)}): {', '.join(parts)}."


def _points(shares: Shares, rule: Reliability) -> Iterator[str]:
    nothing = shares.open
    known = 100 * without(shares.numbers, marks(shares.numbers, "share", rule))[:, ~nothing]
    yield f"Margin of error ({percent(shares.level)}): {margin(known)} points."
    if nothing.any():
        yield OPEN


def _panels(table: CrossTable, shares: list[Shares]) -> Iterator[Panel]:
    """Go through charts: one for each row, of the cells in it; or one of all cells."""
    drawn: Labelled = shares[0] if shares else table
    kind = "share" if shares else table.kind
    factor = 100.0 if shares else 1.0
    axis = {"share": SHARE, "table": PEOPLE, "count": PEOPLE}.get(kind, f"{kind} of {table.name}")
    if table.columns and shares:
        axis = "share of the row, %"
    last = drawn.categories[-1][:MOST_ROWS]
    rows = itertools.product(*drawn.categories[:-1])
    kept = marks(drawn.numbers, kind, Reliability.of(table.release.facts))
    numbers = without(drawn.numbers, kept).reshape(4, -1, drawn.shape[-1])[:, :, :MOST_ROWS]
    within = table.question.limits if kind == "mean" else ANYTHING
    texts = [] if shares else [text for (text,) in table.texts(long=True)]
    found = list[Panel]()
    for place, row in enumerate(itertools.islice(rows, MOST_PANELS)):
        bars, limits = kind == "sum", (0.0, 100.0) if shares else within
        cells, title = numbers[:, place], " · ".join(row)
        own = panel(title, axis, last, cells, kind, factor=factor, bars=bars, limits=limits)
        said = dict(zip(last, texts[place * drawn.shape[-1] :], strict=False))
        found += (each.saying(said) for each in own)
    yield from alike(found, zero=kind != "mean") if len(found) > 1 else found
