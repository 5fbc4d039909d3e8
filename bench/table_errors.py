"""Tables beside ResidualPlanner, whose error is a public formula; ours is measured as well.

A table is a sum of residuals, one for each set A of its attributes. With n_i categories each,
residual A costs p_A = prod (n_i - 1) / n_i of the budget per precision, and a cell of table T has
the variance: sum over A in T of s_A^2 prod_A (n_i - 1) / n_i prod_(T - A) 1 / n_i^2. Their closed
form for the least sum of variances of all cells is (sum over A of sqrt(p_A v_A))^2 / mu^2.
"""

import itertools
import logging
import math
from collections.abc import Iterable, Sequence

import polars as pl
from rich.console import Console

import halfnoise as hn
from bench.sheet import Part, Sheet

LEVELS = {"CPS": (50, 100, 7, 4, 2), "Adult": (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)}
CASES = {"CPS": ((1,), (2,), (3,)), "Adult": ((1,), (2,))}
REPEATS = 60

Axes = tuple[int, ...]


def planned(levels: Sequence[int], orders: Iterable[int]) -> float:
    """Return ResidualPlanner's root mean squared error of a cell at mu = 1."""
    tables = [axes for order in orders for axes in _sets(levels, order)]
    weights: dict[Axes, float] = {}
    for table in tables:
        cells = math.prod(levels[axis] for axis in table)
        for order in range(len(table) + 1):
            for own in itertools.combinations(table, order):
                others = (levels[axis] for axis in table if axis not in own)
                share = _cost(levels, own) / math.prod(n**2 for n in others)
                weights[own] = weights.get(own, 0.0) + cells * share
    root = math.fsum(math.sqrt(_cost(levels, own) * weight) for own, weight in weights.items())
    number = sum(math.prod(levels[axis] for axis in table) for table in tables)
    return root / math.sqrt(number)


def _sets(levels: Sequence[int], order: int) -> Iterable[Axes]:
    return itertools.combinations(range(len(levels)), order)


def _cost(levels: Sequence[int], own: Axes) -> float:
    return math.prod((levels[axis] - 1) / levels[axis] for axis in own)


def ours(levels: Sequence[int], orders: Iterable[int], repeats: int) -> float:
    """Return the root mean squared error of a cell over repeated releases about one person."""
    logging.getLogger("halfnoise").setLevel(logging.ERROR)
    axes = [hn.Choice(f"a{i}", [f"c{j}" for j in range(n - 1)]) for i, n in enumerate(levels)]
    asked_for = [own for order in orders for own in _sets(levels, order)]
    tables = [
        hn.Table([axes[axis] for axis in own], margins=0.0, importance=_cells(levels, own))
        for own in asked_for
    ]
    names = {",".join(f"a{axis}" for axis in own) for own in asked_for}
    one = pl.DataFrame({f"a{i}": ["c0"] for i in range(len(levels))})
    squares, number = 0.0, 0
    for _ in range(repeats):
        found = hn.release(
            one,
            tables,
            row_is_person=True,
            privacy=hn.GaussianDP(mu=1),
            size_importance=0.0,
            ledger=None,
        )
        assert isinstance(found, hn.Release)  # noqa: S101
        for asked in found.questions:
            cells = found.values[asked.start : asked.start + len(asked.names)]
            if asked.name in names:  # not one of their margins
                squares += float((cells**2).sum()) - 2 * float(cells[0]) + 1
                number += cells.size
    return math.sqrt(squares / number)


def _cells(levels: Sequence[int], own: Axes) -> float:
    return float(math.prod(levels[axis] for axis in own))


def part() -> Part:
    """Measure all, and return the table."""
    rows, facts = [], {}
    for name, cases in CASES.items():
        for orders in cases:
            formula, mine = planned(LEVELS[name], orders), ours(LEVELS[name], orders, REPEATS)
            what = f"{name}, all tables by {orders[0]}"
            rows.append((what, f"{formula:.4f}", f"{mine:.4f}", f"{mine / formula:.3f}"))
            facts[what] = mine / formula
    columns = (
        "root mean squared error of a cell, mu = 1",
        "ResidualPlanner's formula",
        "ours",
        "times",
    )
    note = f"Ours over {REPEATS} releases. Both are optimal here: what differs is chance."
    return Part([Sheet("tables", columns, rows, note)], facts)


def main() -> None:
    """Print the table."""
    for sheet in part().sheets:
        Console(width=130).print(sheet.grid())
