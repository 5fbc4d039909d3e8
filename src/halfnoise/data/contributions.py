"""From rows to bounded people: what each person adds to each sum, as integers on a public grid.

Each block reads its cells into a few integer columns (``rows``), some by way of columns made
``first`` and looked up in lists (``ranks``), puts a person's rows ``together`` (by sum, max or min,
which do not depend on order), and turns that into what the ``person`` contributes. Every rule is
total: no row can fail, and no contribution leaves the block's set K.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial, singledispatch
from typing import Any

import narwhals.stable.v2 as nw
from narwhals.dtypes import NumericType

from halfnoise.data.cells import Cell
from halfnoise.data.columns import Columns
from halfnoise.data.halving import step
from halfnoise.data.logic import combined, is_true
from halfnoise.data.lookup import PLACE, lookup
from halfnoise.data.sources.frames import with_each
from halfnoise.workload.block import Block
from halfnoise.workload.categories import Bins, Choice
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Literal
from halfnoise.workload.grid import in_quanta
from halfnoise.workload.numbers import Bounded, Count, Mean, Sum

_MANY = 50  # categories; of more there is no column for each
_ALIKE = 25  # counts; of more, what says yes is made once for all that are alike


@dataclass(slots=True)
class Contribution:
    """How a block, of any kind but items, reads rows, and what a person adds to its sums."""

    block: Block
    cell: Columns
    prefix: str
    alone: bool  # whether each row is a person
    first: dict[str, nw.Expr] = field(default_factory=dict)
    ranks: dict[str, dict[Any, int]] = field(default_factory=dict)
    alike: dict[tuple[Cell, tuple[Literal, ...]], dict[str, str]] = field(default_factory=dict)
    rows: dict[str, nw.Expr] = field(default_factory=dict)
    together: list[nw.Expr] = field(default_factory=list)
    person: list[nw.Expr] = field(default_factory=list)
    in_order: Sequence[int] = ()  # the ranks of many categories
    order: Sequence[int] = ()  # the ranks of all categories, and that of a person
    rank_of_person: nw.Expr | None = None

    def __post_init__(self) -> None:
        _reads(self.block.asked[0], self)

    def read(
        self, name: str, expression: nw.Expr, together: str, dtype: type[NumericType] = nw.Int64
    ) -> nw.Expr:
        """Add an integer column to read, and return it as it is once a person's rows are one."""
        if self.alone and dtype is nw.Int8:  # yes or no, which is cheap to say twice
            return expression.cast(nw.Int16)  # added up in 64 bits, and faster than what has them
        column = f"{self.prefix}_{name}"
        self.rows[column] = expression.cast(dtype)  # a smaller one spares memory until then
        self.together.append(getattr(nw.col(column), together)())
        return nw.col(column).cast(nw.Int64)

    def made_once(self, name: str, expression: nw.Expr) -> nw.Expr:
        """Make a column, and return it: an engine would compute an expression at each use."""
        column = f"{self.prefix}_{name}"
        self.first[column] = expression
        return nw.col(column)

    def rank(self, name: str, expression: nw.Expr, ranks: dict[Any, int]) -> nw.Expr:
        """Look a value up in a list, and return its rank there; null where it is not listed."""
        self.made_once(name, expression)
        self.ranks[f"{self.prefix}_{name}"] = ranks
        return nw.col(f"{self.prefix}_{name}_rank")

    def says_yes(self, name: str, own: Cell, query: Count) -> nw.Expr:
        """Whether a cell says yes; of many cells that are alike, as a column made before."""
        if len(self.block.asked) < _ALIKE or own.made:
            return own.yes(query.true)
        column = f"{self.prefix}_{name}_yes"
        rule = replace(own, name="", label="", made=()), tuple(query.true)
        self.alike.setdefault(rule, {})[column] = own.name
        return nw.col(column)

    def looked_up(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return rows with the columns that are made first, and their ranks."""
        rows = rows.with_columns(**self.first) if self.first else rows
        for rule, columns in self.alike.items():
            rows = with_each(rows, columns, partial(_yes, *rule))
        for column, ranks in self.ranks.items():
            listed = {f"{column}_listed": list(ranks), f"{column}_rank": list(ranks.values())}
            table = lookup(rows, listed).drop(PLACE)
            rows = rows.join(table, left_on=column, right_on=f"{column}_listed", how="left")
        return rows

    def within(self, condition: nw.Expr, query: ColumnQuery) -> nw.Expr:
        """Whether a condition holds for a row that the query looks at."""
        return condition if query.where is None else condition & self.cell.meets(query.where)

    def steps(self, query: Bounded, low: int, high: int) -> tuple[nw.Expr, nw.Expr]:
        """Clip a value, round half up on the grid, and read none as zero; whether there is one."""
        quantum, value = self.block.quantum, self.made_once("number", self.cell(query).number())
        there = self.within(~value.is_null(), query)
        clipped = _clip(value, float(low * quantum), float(high * quantum))
        safe = nw.when(there).then(clipped).otherwise(nw.lit(0.0))
        return (safe * float(1 / quantum) + 0.5).floor().cast(nw.Int64), there


def _yes(cell: Cell, codes: Sequence[Literal], name: str) -> nw.Expr:
    return replace(cell, name=name).yes(codes)


@singledispatch
def _reads(query: object, part: Contribution) -> None:
    """Say how the cells of a kind of query are read; a new kind is registered below."""
    raise NotImplementedError


@_reads.register
def _counts(_: Count, part: Contribution) -> None:
    """Count a person if any row says yes; with more than allowed, as a fraction for each."""
    answers, block = list[nw.Expr](), part.block
    most = block.shape.size if block.shape.ones is None else block.shape.ones
    weighs = most < block.shape.size
    for i, query in enumerate(block.asked):
        assert isinstance(query, Count)  # noqa: S101  # a block of counts
        own = part.cell(query)
        yes = own.meets(query.condition) if query.condition else part.says_yes(str(i), own, query)
        yes = is_true(part.within(yes, query)) if weighs else part.within(yes, query)
        answers.append(part.read(str(i), yes, "max", nw.Int8))
    if weighs:
        answers = [yes.cast(nw.Int64) for yes in answers]
        weight = item_weight(combined(operator.add, answers), most, block.quantum)
        answers = [yes * weight for yes in answers]
    part.person += answers


@_reads.register
def _sum(query: Sum, part: Contribution) -> None:
    """Rows are clipped to the range with zero and add up; the person's total is clipped.

    Without a value, the point of the range nearest to zero; without the condition, nothing.
    """
    low, high = (in_quanta(bound, part.block.quantum) for bound in query.bounds)
    steps, there = part.steps(query, *((low, high) if part.alone else (min(low, 0), max(high, 0))))
    total = part.read("value", steps, "sum")
    given = part.read("given", there, "max", nw.Int8)
    absent = nw.lit(min(max(0, low), high))
    if query.where is not None:
        meets = part.read("meets", part.cell.meets(query.where), "max", nw.Int8)
        absent = nw.when(meets == 1).then(absent).otherwise(nw.lit(0))
    bounded = total if part.alone else _clip(total, low, high)
    part.person.append(nw.when(given == 1).then(bounded).otherwise(absent))


@_reads.register
def _mean(query: Mean, part: Contribution) -> None:
    """Take the average of the values that a person gave, rounded half up on the grid."""
    low, high = (in_quanta(bound, part.block.quantum) for bound in query.bounds)
    steps, there = part.steps(query, low, high)
    if part.alone:  # the average of one value
        part.person += [steps, there.cast(nw.Int64)]
        return
    # Above the lowest, so that no sum is negative: engines round negative quotients differently.
    total = part.read("value", nw.when(there).then(steps - low).otherwise(0), "sum")
    given = part.read("given", there, "sum")
    answers = nw.when(given > 0).then(given).otherwise(nw.lit(1))
    average = _clip(quotient(total * 2 + answers, answers * 2) + low, low, high)
    part.person.append(nw.when(given > 0).then(average).otherwise(nw.lit(0)))
    part.person.append((given > 0).cast(nw.Int64))


@_reads.register
def _category(query: Choice | Bins, part: Contribution) -> None:
    """Put a person in the first of the listed categories that any row names, else in other."""
    place, in_order = rank_of_row(query, part)
    first = part.read("place", place, "min", nw.Int32)
    part.order, part.rank_of_person = in_order, first
    if len(in_order) > _MANY:
        part.in_order = in_order
    else:
        part.person += [(first == rank).cast(nw.Int64) for rank in in_order]


def rank_of_row(query: Choice | Bins, part: Contribution) -> tuple[nw.Expr, Sequence[int]]:
    """Return which of the listed categories a row names, and the ranks of all in order."""
    own = part.cell(query)
    if isinstance(query, Bins):
        at = other = len(query.edges)
        number = part.made_once("number", own.number())
        place = step(number, query.edges, [other, *range(other)])
    else:
        at = query.categories.index(query.other)
        listed = [*query.categories[:at], *query.categories[at + 1 :]]
        other = len(listed)
        few = own.rank(listed)
        place = _looked_up(part, own, listed) if few is None else few
    if query.where is not None:
        meets = part.cell.meets(query.where)
        place = nw.when(meets).then(place).otherwise(nw.lit(other + 1))
    return place, (*range(at), other, *range(at, other))


def _looked_up(part: Contribution, own: Cell, listed: Sequence[Literal]) -> nw.Expr:
    """Return which of many values the cell is, and the first if several; their number if none."""
    nowhere = nw.lit(len(listed))
    kinds, others = own.lookups(listed)
    ranks = [part.rank(kind, value, ranks) for kind, (value, ranks) in kinds.items()]
    ranks += [nw.when(own.is_one_of(listed[rank : rank + 1])).then(nw.lit(rank)) for rank in others]
    places = [nw.when(~rank.is_null()).then(rank).otherwise(nowhere) for rank in ranks]
    return combined(nw.min_horizontal, places)


def item_weight(number: nw.Expr, most: int, quantum: Fraction) -> nw.Expr:
    """Return what each of a person's items counts, in quanta: (most * M) // number, at most M."""
    many = nw.when(number > most).then(number).otherwise(nw.lit(most))
    return quotient(nw.lit(most * quantum.denominator), many)


def quotient(total: nw.Expr, by: nw.Expr) -> nw.Expr:
    """Divide nonnegative integers in float64, rounding down: exact for totals below 2^53."""
    # No engine's integer division is the same as another's.
    return (total.cast(nw.Float64) / by.cast(nw.Float64)).floor().cast(nw.Int64)


def _clip(value: nw.Expr, low: float, high: float) -> nw.Expr:
    raised = nw.when(value < low).then(nw.lit(low)).otherwise(value)
    return nw.when(value > high).then(nw.lit(high)).otherwise(raised)
