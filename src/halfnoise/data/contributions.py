"""From rows to bounded people: what each person adds to each sum, as integers on a public grid.

Each block reads its cells into a few integer columns (``rows``), some by way of columns made
``first`` and looked up in lists (``ranks``), puts a person's rows ``together`` (by sum, max or min,
which do not depend on order), and turns that, with what is made ``last``, into what the ``person``
contributes. Every rule is total: no row can fail, and no contribution leaves the block's set K.

A value is a float until it is on the grid (``Contribution.put``): what is added up, of people and
of the rows of one person, is whole quanta and parts of them, the same in every order. What is done
with a float before is exact or, for averages and tiny numbers below zero, correctly rounded.
"""

import operator
from collections.abc import Sequence
from fractions import Fraction
from functools import partial, singledispatch
from typing import Any, TypeVar, cast

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.dtypes import NumericType

from halfnoise.data.cells import Cell
from halfnoise.data.columns import Columns
from halfnoise.data.halving import step
from halfnoise.data.logic import FEW, combined, is_true
from halfnoise.data.lookup import Listed
from halfnoise.data.sources.frames import with_each
from halfnoise.data.squares import square
from halfnoise.data.weighing import counted, itself, multiplied, whole_item
from halfnoise.data.whole_numbers import apart, clipped, quotient
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.block import Block
from halfnoise.workload.categories import Bins, Choice
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Literal, Where
from halfnoise.workload.grid import PART_BITS, Ring, carried, power
from halfnoise.workload.numbers import Bounded, Count, Mean, Squares, Sum

Value = TypeVar("Value", float, nw.Expr)
Rule = tuple[Cell, tuple[Literal, ...]]  # what says yes, of whichever column
_MANY = 50  # categories; of more there is no column for each
# Rows are added to others of their person as whole numbers and parts of so many bits, of which
# 2^35 rows have room: all that a float holds, but for values far below the bounds.
ROW_BITS, ROW_PART_BITS = 26, 28
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
    alike: "dict[str, tuple[Rule, dict[str, str]]]" = field(default_factory=dict)
    rows: dict[str, nw.Expr] = field(default_factory=dict)
    together: list[nw.Expr] = field(default_factory=list)
    last: dict[str, nw.Expr] = field(default_factory=dict)
    person: list[nw.Expr] = field(default_factory=list)
    in_order: Sequence[int] = ()  # the ranks of many categories
    order: Sequence[int] = ()  # the ranks of all categories, and that of a person
    rank_of_person: nw.Expr | None = None
    in_parts: bool = False  # whether the first column is of whole quanta, and the second of parts

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
        if (codes := query.listed) is None:
            return own.meets(cast("Where", query.condition))
        # For many numbers DuckDB holds a list for each row, and together those of all columns.
        long = not own.is_text and max(len(codes), len(own.missing)) > FEW
        if len(self.block.asked) < _ALIKE or own.made or long:
            return own.yes(codes)
        column = f"{self.prefix}_{name}_yes"
        rule = replace(own, name="", label="", made=()), tuple(codes)
        # In words: 1 and True are equal, but not the same.
        self.alike.setdefault(repr(rule), (rule, {}))[1][column] = own.name
        return nw.col(column)

    def looked_up(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return rows that have the columns made first with their ranks."""
        for rule, columns in self.alike.values():
            rows = with_each(rows, columns, partial(yes_of, *rule))
        for column, ranks in self.ranks.items():
            listed = Listed.of(rows, [[*ranks]], [*ranks.values()], f"{column}_rank")
            rows = listed.find(rows, [column])
        return rows

    def within(self, condition: nw.Expr, query: ColumnQuery) -> nw.Expr:
        """Whether a condition holds for a row that the query looks at."""
        return condition if query.where is None else condition & self.cell.meets(query.where)

    def value(self, query: Bounded, low: float, high: float) -> tuple[nw.Expr, nw.Expr]:
        """Return a row's value, clipped, and whether there is one that the query looks at."""
        value = self.made_once("number", self.cell(query).number())
        return clipped(value, low, high), self.within(~value.is_null(), query)

    @property
    def nearest(self) -> float:
        """The point between bounds on the grid that is nearest to zero."""
        low, high = self.block.shape.bounds or (0.0, 0.0)
        return min(max(low, 0.0), high)

    def places(self, *values: Value) -> list[Value]:
        """Return how many quanta values are above the point nearest to zero: without rounding.

        Both are multiples of the smaller of their last places, and their difference is no larger.
        """
        return [(value - self.nearest) * float(1 / self.block.quantum) for value in values]

    def added(self, place: nw.Expr) -> nw.Expr:
        """Return what the places of a person's rows add up to, by whole numbers and parts."""
        named = zip(("whole", "parts"), apart(place, ROW_PART_BITS), strict=True)
        whole, parts = (self.read(name, e, "sum").cast(nw.Float64) for name, e in named)
        return whole + parts * 2.0**-ROW_PART_BITS

    def never_parts(self, query: Bounded) -> bool:
        """Whether a row is a person, and every whole number within the bounds is on the grid."""
        points, quantum = (1.0, self.nearest, *query.bounds), self.block.quantum
        fit = all((Fraction(point) / quantum).denominator == 1 for point in points)
        whole = self.cell(query).dtype.is_integer()
        return self.alone and whole and fit and not self.block.weighing.bits

    def put(self, place: nw.Expr, given: nw.Expr | None = None, *, exact: bool = False) -> nw.Expr:
        """Put a person's value on the grid: whole quanta from the offset, and parts of one.

        None, if it is not given, adds nothing. ``exact``: there are no parts. Returned is its
        place, made once.
        """
        if self.alone:  # then it is a column: an engine would compute it at each use
            self.rows[f"{self.prefix}_place"] = place
            place = nw.col(f"{self.prefix}_place")
        start = int((Fraction(self.nearest) - self.block.offset) / self.block.quantum)
        adds: Sequence[nw.Expr] = [place.cast(nw.Int64) + start]
        if not exact:
            whole, parts = (each.cast(nw.Int64) for each in apart(place, PART_BITS))
            adds = multiplied(whole + start, parts, self.block.weighing)
        if given is not None:
            adds = [nw.when(given).then(each).otherwise(nw.lit(0)) for each in adds]
        self.person, self.in_parts = [*self.person, *adds], not exact
        return place

    def totals(self, sums: Ring) -> Ring:
        """Return the block's totals from the sums of its columns."""
        if not self.in_parts:
            return sums
        return np.column_stack([carried(sums[:, 0], sums[:, 1]), sums[:, 2:]])


def yes_of(cell: Cell, codes: Sequence[Literal], name: str) -> nw.Expr:
    """Whether a column says yes by the rule of a cell like it."""
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
        yes = part.within(part.says_yes(str(i), part.cell(query), query), query)
        yes = is_true(yes) if weighs else yes
        answers.append(part.read(str(i), yes, "max", nw.Int16 if weighs else nw.Int8))
    if weighs:  # all answers are read for each of them
        number = combined(operator.add, answers)
        part.last[one := f"{part.prefix}_one"] = part_of_item(number, most, block)
        part.person += [yes * nw.col(one) for yes in answers]
    else:
        part.person += [counted(yes, block.weighing) for yes in answers]


@_reads.register
def _sum(query: Sum, part: Contribution) -> None:
    """Rows are clipped to the range with zero and add up; the person's total is clipped.

    Without a value, the point of the range nearest to zero; without the condition, nothing.
    """
    low, high = query.bounds
    if part.alone:
        value, there = part.value(query, low, high)
    else:
        least, most = min(low, 0.0), max(high, 0.0)
        row, there = part.value(query, least, most)
        unit = float(power(max(-least, most))) * 2.0 ** (1 - ROW_BITS)
        rows = part.added(nw.when(there).then(row * (1 / unit)).otherwise(nw.lit(0.0)))
        value = clipped(rows * unit, low, high)
    given = part.read("given", there, "max", nw.Int8) == 1
    absent = nw.lit(min(max(0.0, low), high))
    if query.where is not None:
        meets = part.read("meets", part.cell.meets(query.where), "max", nw.Int8)
        absent = nw.when(meets == 1).then(absent).otherwise(nw.lit(0.0))
    (place,) = part.places(nw.when(given).then(value).otherwise(absent))
    part.put(place, exact=part.never_parts(query))


@_reads.register
def _squares(query: Squares, part: Contribution) -> None:
    """Take a person's weight as their value."""
    part.put(*part.places(clipped(itself(part.block.weighing), *query.bounds)))


@_reads.register
def _mean(query: Mean, part: Contribution) -> None:
    """Take the average of the values that a person gave."""
    value, there = part.value(query, *query.bounds)
    place, *_ = part.places(value)
    place = nw.when(there).then(place).otherwise(nw.lit(0.0))
    if part.alone:  # the average of one value
        given = there
    else:
        rows, number = part.added(place), part.read("given", there, "sum")
        given = number > 0
        answers = nw.when(given).then(number).otherwise(nw.lit(1)).cast(nw.Float64)
        place = clipped(rows / answers, *part.places(*query.bounds))
    place = part.put(place, given, exact=part.never_parts(query))
    part.person.append(counted(given.cast(nw.Int64), part.block.weighing))
    if query.variance:
        part.person.append(square(part.block, part.nearest, place, given))


@_reads.register
def _category(query: Choice | Bins, part: Contribution) -> None:
    """Put a person in the first of the listed categories that any row names, else in other."""
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
    first = part.read("place", place, "min", nw.Int32)
    in_order = (*range(at), other, *range(at, other))
    part.order, part.rank_of_person = in_order, first
    if len(in_order) > _MANY:
        part.in_order = in_order
    else:
        chosen = ((first == rank).cast(nw.Int64) for rank in in_order)
        part.person += [counted(one, part.block.weighing) for one in chosen]


def _looked_up(part: Contribution, own: Cell, listed: Sequence[Literal]) -> nw.Expr:
    """Return which of many values the cell is, and the first if several; their number if none."""
    nowhere = nw.lit(len(listed))
    kinds, others = own.lookups(listed)
    ranks = [part.rank(kind, value, ranks) for kind, (value, ranks) in kinds.items()]
    ranks += [nw.when(own.is_one_of(listed[rank : rank + 1])).then(nw.lit(rank)) for rank in others]
    places = [nw.when(~rank.is_null()).then(rank).otherwise(nowhere) for rank in ranks]
    if not places:  # all are of another type; it is still a value for each row
        return nw.when(nw.col(own.name).is_null()).then(nowhere).otherwise(nowhere)
    return combined(nw.min_horizontal, places)


def part_of_item(number: nw.Expr, most: int, block: Block) -> nw.Expr:
    """Return what each of a person's items counts, in quanta: (most * M) // number, at most M."""
    many = nw.when(number > most).then(number).otherwise(nw.lit(most))
    return quotient(whole_item(block) * most, many)
