"""What a plan says of tables: a row for each, what is mostly noise, and what each costs alone."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from halfnoise.design.candidates import designs
from halfnoise.design.design import Design
from halfnoise.planning.choice import best
from halfnoise.planning.readers import mean_margins
from halfnoise.privacy.definitions import Budget, GaussianDP, Neighbors
from halfnoise.text import listed, percent, short
from halfnoise.views import Grid
from halfnoise.workload.block import Block, Line
from halfnoise.workload.categories import Bins, Choice
from halfnoise.workload.crossing import TableBlock, used
from halfnoise.workload.nested import Nested
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.queries import Asked
from halfnoise.workload.tables import Table
from halfnoise.workload.workload import Workload

MOST_ROWS = 60  # of a plan as text; as JSON it has all of them
NOISY = 0.5  # of an average cell: what has a larger margin of error is mostly noise


class Entry(NamedTuple):
    """A line of a plan, and of which block it is."""

    block: Block
    line: Line

    @property
    def of_tables(self) -> bool:
        """Whether it is of a table, or of a value by its cells."""
        return isinstance(self.block, TableBlock)

    @property
    def name(self) -> str:
        """What a row is called."""
        kind, label = self.line.kind, self.line.label
        of_values = kind in ("sum", "mean") or (kind == "count" and self.of_tables)
        return f"{kind} of {label}" if of_values else label

    def share(self, margin: float, people: float | None) -> dict[str, float]:
        """Return how many people an average cell has, and the margin of error relative to them."""
        if people is None or self.line.kind not in ("table", "choice", "bins"):
            return {}
        average = people / self.line.queries
        return {"average_cell": average, "relative_error": margin / average}

    def facts(self, margin: float, people: float | None) -> dict[str, Any]:
        """Return what a plan as plain values says of a table beside its error."""
        asked = {"asked": self.line.asked} if self.of_tables else {}
        return asked | self.share(margin, people)


def entries(blocks: Sequence[Block]) -> list[Entry]:
    """Return all lines of a workload or design, what was asked for first."""
    return [Entry(block, line) for block in blocks for line in block.lines]


def crosses(workload: Workload) -> bool:
    """Whether there are tables, whose lines may be many."""
    return any(isinstance(block, TableBlock) for block in workload.blocks)


def shown(design: Design, level: float, size: str, people: float | None) -> Grid:
    """Return a row for each line of a design; ``size``: the margin of the number of people."""
    header = [f"* {design.name}", "cells", "standard error", f"margin of error ({percent(level)})"]
    header += [] if people is None else ["average cell", "relative"]
    last = ["people", "", "" if design.size_std is None else short(design.size_std), size]
    rows, margins = list[list[str]](), design.margins(level)
    means = mean_margins(design, level, people)
    lines = zip(entries(design.blocks), design.parts(), margins, means, strict=True)
    for each, parts, margin, mean in lines:
        std = design.noise.std(parts.get("mean", parts["sum"]))
        rows.append([f"{each.line.queries:,}", short(std), f"±{short(mean)}"])
        if share := each.share(margin, people):
            rows[-1] += [short(share["average_cell"]), f"±{short(100 * share['relative_error'])}%"]
    return by_line(design.blocks, header, rows, last)


def by_line(
    blocks: Sequence[Block],
    header: Sequence[str],
    cells: Sequence[Sequence[str]],
    last: Sequence[str],
) -> Grid:
    """Return a table with a row for each line; margins of tables stand below what was asked.

    ``cells``: what stands beside each line. ``last``: the row below all of them.
    """
    pairs = [*zip(entries(blocks), cells, strict=True)]
    asked = [[each.name, *row] for each, row in pairs if each.line.asked]
    implied = [[f"  {each.name}", *row] for each, row in pairs if not each.line.asked]
    rows, below = asked[:MOST_ROWS], implied[: max(0, MOST_ROWS - len(asked))]
    rows += [["and their margins:"], *below] if below else []
    if hidden := len(pairs) - len(asked[:MOST_ROWS]) - len(below):
        rows.append([f"... and {hidden:,} more, in the JSON"])
    rows.append([*last])
    return header, [[*row, *[""] * (len(header) - len(row))] for row in rows]


def widest(design: Design, level: float) -> float:
    """Return the largest margin of error of what was asked for."""
    margins = zip(design.lines, design.margins(level), strict=True)
    return max(margin for line, margin in margins if line.asked)


def noisy(design: Design, level: float, people: float | None) -> Iterator[str]:
    """Name the tables that are mostly noise where so many people are in them."""
    found = list[str]()
    for each, margin in zip(entries(design.blocks), design.margins(level), strict=True):
        share = each.share(margin, people)
        if each.line.asked and share.get("relative_error", 0.0) > NOISY:
            average, relative = share["average_cell"], 100 * share["relative_error"]
            found.append(f"{each.line.label} ({short(average)} people, ±{short(relative)}%)")
    if found:
        yield (
            f"Mostly noise, by an average cell: {listed(found)}; use fewer"
            " axes, coarser bands or a larger budget before you publish them."
        )


def one_by_one(design: Design, workload: Workload) -> dict[str, float]:
    """Return the standard error of the tables that were asked for: together, and one by one.

    Alone, a table B has noise s_B on each cell, costs 1/s_B^2 and weighs t_B s_B^2, so that the
    best split of mu^2 leaves (sum of sqrt(t_B))^2 / mu^2 in total, and a largest error of
    (sum of t_B) / mu^2. Both are the root of a mean squared error, weighed alike, or of the largest
    one, with nothing beside the tables. Nothing where there are not several.
    """
    promised = design.guarantee
    if not isinstance(promised, GaussianDP) or not (kept := _tables_of(workload)):
        return {}
    alone = workload if len(kept) == len(workload.queries) else _alone(workload, kept)
    if sum(line.asked for line in alone.lines) < 2:
        return {}
    if alone is not workload:
        design = best(designs(alone, Budget(mu=promised.mu)), alone)
    both = zip(alone.lines, design.query_std, strict=True)
    tables = [(line, std) for line, std in both if line.asked]
    weights = [line.importance * line.queries for line, _ in tables]
    replaced = workload.neighbors is Neighbors.REPLACE
    moved, whole = 2 if replaced else workload.touched, math.fsum(weights)  # cells of a person
    errors = [w * std**2 for w, (_, std) in zip(weights, tables, strict=True)]
    if workload.objective == "largest":
        here, apart = max(errors) * len(tables), whole * len(tables)
    else:
        here, apart = math.fsum(errors), math.fsum(map(math.sqrt, weights)) ** 2
    apart *= moved / promised.mu**2
    return {"std": math.sqrt(here / whole), "one_by_one_std": math.sqrt(apart / whole)}


def _tables_of(workload: Workload) -> list[Asked]:
    """Return the tables of people that were asked for, and the axes: tables of one axis."""
    tables = [query for query in workload.queries if isinstance(query, Table)]
    values = [q for q in workload.queries if isinstance(q, Count | Sum | Mean) and q.by]
    axes = used(tables, values, workload.queries)
    kept = [query for query in workload.queries if isinstance(query, Table | Nested)]
    return [
        *kept,
        *(q for q in workload.queries if isinstance(q, Choice | Bins) and q.label in axes),
    ]


def _alone(workload: Workload, kept: Sequence[Asked]) -> Workload:
    """Return the tables with nothing beside them."""
    named = {*(query.label for query in kept), *used([], [], kept)}
    weights = {q.label: 1 / len(q.names) for q in kept if isinstance(q, Choice | Bins)}
    weights |= {name: w for name, w in workload.importance.items() if name in named}
    rules: dict[str, Any] = {"at_most": None, "size_importance": 0.0, "size_dial": None}
    return replace(workload, queries=kept, importance=weights, **rules)


def compared(found: Mapping[str, float]) -> Iterator[str]:
    """Say what the tables would cost one by one, where there are several."""
    if not found:
        return
    together, apart = (short(found[name]) for name in ("std", "one_by_one_std"))
    yield (
        "One by one, with the best split of the budget, the tables would have a standard error of"
        f" {apart} a cell, and would not add up; together, with nothing else, they have {together}."
    )
