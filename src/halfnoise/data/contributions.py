"""From rows to bounded people: what each person adds to each sum, as integers on a public grid.

Each block reads its cells into a few integer columns (``rows``), some of them by way of columns
that are made ``first`` and looked up in lists (``ranks``), says how a person's rows are put
together (``together``: sum, max or min, which do not depend on order), and turns the result into
what the person contributes (``person``). Every rule is total: no row can fail, and no
contribution leaves the block's set K.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import singledispatch
from typing import Any

import narwhals.stable.v2 as nw
from narwhals.dtypes import NumericType

from halfnoise.data.cells import Cell, combined, is_true
from halfnoise.data.lookup import PLACE, lookup
from halfnoise.workload.asked import Asked
from halfnoise.workload.block import Block
from halfnoise.workload.categories import Bins, Choice
from halfnoise.workload.conditions import Where
from halfnoise.workload.grid import in_quanta
from halfnoise.workload.numbers import Count, Mean, Sum

ReadCell = Callable[[Asked | Where], Cell]
"""Find the cell that a query or a condition reads."""


@dataclass(slots=True)
class Contribution:
    """How a block reads rows, and what a person adds to its sums."""

    prefix: str
    first: dict[str, nw.Expr] = field(default_factory=dict)
    ranks: dict[str, dict[Any, int]] = field(default_factory=dict)
    rows: dict[str, nw.Expr] = field(default_factory=dict)
    together: dict[str, str] = field(default_factory=dict)
    person: list[nw.Expr] = field(default_factory=list)

    def read(
        self, name: str, expression: nw.Expr, together: str, dtype: type[NumericType] = nw.Int64
    ) -> nw.Expr:
        """Add an integer column to read, and return it as it is once a person's rows are one.

        While a person's rows are put together, a smaller ``dtype`` spares memory.
        """
        column = f"{self.prefix}_{name}"
        self.rows[column] = expression.cast(dtype)
        self.together[column] = together
        return nw.col(column).cast(nw.Int64)

    def once(self, name: str, expression: nw.Expr) -> nw.Expr:
        """Make a column once, and return it: an engine would compute an expression at each use."""
        column = f"{self.prefix}_{name}"
        self.first[column] = expression
        return nw.col(column)

    def rank(self, name: str, expression: nw.Expr, ranks: dict[Any, int]) -> nw.Expr:
        """Look a value up in a list, and return its rank there; null where it is not listed."""
        self.once(name, expression)
        self.ranks[f"{self.prefix}_{name}"] = ranks
        return nw.col(f"{self.prefix}_{name}_rank")

    def looked_up(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return rows with the columns that are made first, and their ranks."""
        rows = rows.with_columns(**self.first) if self.first else rows
        for column, ranks in self.ranks.items():
            names = f"{column}_listed", f"{column}_rank"
            table = lookup(rows, dict(zip(names, map(list, (ranks, ranks.values())), strict=True)))
            rows = rows.join(table.drop(PLACE), left_on=column, right_on=names[0], how="left")
        return rows


def contribution(block: Block, cell: ReadCell, prefix: str) -> Contribution:
    """Return how a block of any kind but items is computed."""
    found = Contribution(prefix)
    _reads(block.asked[0], block, cell, found)
    return found


@singledispatch
def _reads(query: object, block: Block, cell: ReadCell, found: Contribution) -> None:
    """Say how the cells of a kind of query are read; a new kind is registered below."""
    raise NotImplementedError


@_reads.register
def _counts(_: Count, block: Block, cell: ReadCell, found: Contribution) -> None:
    """Count a person if any row says yes; with more than allowed, as a fraction for each."""
    said = []
    for i, query in enumerate(block.asked):
        assert isinstance(query, Count)  # noqa: S101
        own = cell(query)
        yes = own.yes(query.true) if query.condition is None else own.meets(query.condition)
        said.append(found.read(str(i), _within(yes, query, cell), "max", nw.Int8))
    most = block.shape.ones
    if most is not None and most < block.shape.size:
        weight = item_weight(combined(operator.add, said), most, block.quantum)
        said = [yes * weight for yes in said]
    found.person += said


@_reads.register
def _sum(query: Sum, block: Block, cell: ReadCell, found: Contribution) -> None:
    """Rows are clipped to the range with zero and add up; the person's total is clipped.

    A person without a value takes the point of the range nearest to zero; one who does not meet
    the condition contributes nothing.
    """
    quantum = block.quantum
    low, high = (in_quanta(bound, quantum) for bound in query.bounds)
    value = cell(query).number()
    there = _within(~value.is_null(), query, cell)
    steps = _on_grid(value, there, min(low, 0), max(high, 0), quantum)
    total = found.read("value", steps, "sum")
    given = found.read("given", there, "max", nw.Int8)
    own = nw.when(given == 1).then(_clip(total, low, high))
    nearest = min(max(0, low), high)
    if query.where is None:
        found.person.append(own.otherwise(nw.lit(nearest)))
        return
    meets = found.read("meets", cell(query.where).meets(query.where), "max", nw.Int8)
    absent = nw.when(meets == 1).then(nw.lit(nearest)).otherwise(nw.lit(0))
    found.person.append(own.otherwise(absent))


@_reads.register
def _mean(query: Mean, block: Block, cell: ReadCell, found: Contribution) -> None:
    """Take the average of the values that a person gave, rounded half up on the grid."""
    low, high = (in_quanta(bound, block.quantum) for bound in query.bounds)
    value = cell(query).number()
    there = _within(~value.is_null(), query, cell)
    # Above the lowest, so that no sum is negative: engines round negative quotients differently.
    above = nw.when(there).then(_on_grid(value, there, low, high, block.quantum) - low).otherwise(0)
    total = found.read("value", above, "sum")
    given = found.read("given", there, "sum")
    answers = nw.when(given > 0).then(given).otherwise(nw.lit(1))
    average = _clip(quotient(total * 2 + answers, answers * 2) + low, low, high)
    found.person.append(nw.when(given > 0).then(average).otherwise(nw.lit(0)))
    found.person.append((given > 0).cast(nw.Int64))


@_reads.register
def _category(query: Choice | Bins, _: Block, cell: ReadCell, found: Contribution) -> None:
    """Put a person in the first of the listed categories that any row names, else in other."""
    own = cell(query)
    if isinstance(query, Bins):
        count, other = len(query.edges) + 1, len(query.edges)
        places = list(range(count))
        place = _band(found.once("number", own.number()), query.edges, range(-1, other))
        place = nw.when(place >= 0).then(place).otherwise(nw.lit(other))
    else:
        listed = [i for i, each in enumerate(query.categories) if each != query.other]
        count, other = len(query.categories), len(listed)
        places = [*listed, query.categories.index(query.other)]
        categories = [query.categories[i] for i in listed]
        kinds, others = own.lookups(categories)
        named = [found.rank(kind, value, ranks) for kind, (value, ranks) in kinds.items()]
        named += [nw.when(own.equals(categories[rank])).then(nw.lit(rank)) for rank in others]
        found_at = [nw.when(~at.is_null()).then(at).otherwise(nw.lit(other)) for at in named]
        place = combined(nw.min_horizontal, found_at)
    if query.where is not None:
        meets = cell(query.where).meets(query.where)
        place = nw.when(meets).then(place).otherwise(nw.lit(count))
    first = found.read("place", place, "min", nw.Int32)
    ranks = sorted(range(count), key=lambda rank: places[rank])
    found.person += [(first == rank).cast(nw.Int64) for rank in ranks]


def _band(value: nw.Expr, edges: Sequence[float], bands: range) -> nw.Expr:
    """Return one less than the number of edges reached, found by halving; -1 for no number."""
    if len(bands) == 1:
        return nw.lit(bands[0])
    half = len(bands) // 2
    upper = _band(value, edges, bands[half:])
    return (
        nw.when(value >= edges[bands[half]])
        .then(upper)
        .otherwise(_band(value, edges, bands[:half]))
    )


def item_weight(number: nw.Expr, most: int, quantum: Fraction) -> nw.Expr:
    """Return what each of a person's items counts, in quanta: (most * M) // number, at most M."""
    whole = quantum.denominator
    many = nw.when(number > most).then(number).otherwise(nw.lit(most))
    return quotient(nw.lit(most * whole), many)


def quotient(total: nw.Expr, by: nw.Expr) -> nw.Expr:
    """Divide nonnegative integers, rounding down.

    In float64, which is exact as long as the total is below 2^53; no engine's integer division is
    the same as another's.
    """
    return (total.cast(nw.Float64) / by.cast(nw.Float64)).floor().cast(nw.Int64)


def _within(condition: nw.Expr, query: Asked, cell: ReadCell) -> nw.Expr:
    if query.where is None:
        return is_true(condition)
    return is_true(condition & cell(query.where).meets(query.where))


def _on_grid(value: nw.Expr, there: nw.Expr, low: int, high: int, quantum: Fraction) -> nw.Expr:
    """Clip a value, put it on the grid by rounding half up, and read none as zero."""
    bottom, top = float(low * quantum), float(high * quantum)
    clipped = nw.when(value < bottom).then(nw.lit(bottom)).otherwise(value)
    clipped = nw.when(value > top).then(nw.lit(top)).otherwise(clipped)
    safe = nw.when(there).then(clipped).otherwise(nw.lit(0.0))
    return (safe * float(1 / quantum) + 0.5).floor().cast(nw.Int64)


def _clip(value: nw.Expr, low: int, high: int) -> nw.Expr:
    raised = nw.when(value < low).then(nw.lit(low)).otherwise(value)
    return nw.when(value > high).then(nw.lit(high)).otherwise(raised)
