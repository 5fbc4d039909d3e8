"""Queries that give a number for each person: counts, sums and means."""

import operator
from collections.abc import Sequence
from itertools import repeat
from typing import Any, ClassVar, Self, cast

from halfnoise.checks import (
    check_literals,
    check_told,
    finite,
    is_name,
    known_keywords,
    refuse,
    said_twice,
    whole,
    yes_or_no,
)
from halfnoise.errors import InvalidParameterError
from halfnoise.values import KW_ONLY, dataclass
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import WORDS, Literal, Where
from halfnoise.workload.grid import Grain
from halfnoise.workload.sets import Answered, Box, ContributionSet, Squared
from halfnoise.workload.weights import SQUARES, Weight

_SAID = operator.attrgetter(*WORDS)
FARTHEST = 2**20  # bounds from zero, in their width: beyond, floats do not tell means apart


def check_cells(query: "Count | Bounded") -> None:
    """Check the labels by which a query is broken down."""
    by = _labels("by", query.by)
    if isinstance(query.within, str) or not isinstance(query.within, Sequence):
        raise refuse("within", "a list of tables", query.within, 'for example [["sex"], ["age"]]')
    within = tuple(_labels("within", each) for each in query.within)
    if within and not by:
        raise refuse("within", "given together with by", query.within)
    object.__setattr__(query, "by", by)
    object.__setattr__(query, "within", within)


def _labels(name: str, labels: object) -> tuple[str, ...]:
    if isinstance(labels, str) or not isinstance(labels, Sequence):
        raise refuse(name, "a list of labels", labels, 'for example ["sex", "region"]')
    for label in labels:
        if not is_name(label):
            raise refuse(name, "labels of choices or bands", label)
    if (twice := said_twice(labels)) is not None:
        raise refuse(name, "different labels", twice, "name each one once")
    return tuple(labels)


@known_keywords
@dataclass(frozen=True, slots=True)
class Count(ColumnQuery):
    """How many people say yes in ``column``, or meet a condition on it.

    Yes is true, 1, and in text 1/true/yes/y/t in any case; ``true`` names other codes. Conditions:
    ``at_least``, ``above``, ``below``, ``up_to``, ``between``, ``equals``, ``is_in``. The column
    may also be a narwhals expression with a ``name``. ``by``: the labels of choices or bands that
    it is broken down by, ``within``: further such tables.

    >>> Count("smoker").shape
    Box(size=1, low=0.0, high=1.0)
    >>> Count("age", at_least=65, name="over_65").condition
    Where(column='age', at_least=65, above=None, below=None, up_to=None, between=None, \
equals=None, is_in=None, missing=())
    """

    _: KW_ONLY
    true: Sequence[Literal] = ()
    at_least: Literal | None = None
    above: Literal | None = None
    below: Literal | None = None
    up_to: Literal | None = None
    between: tuple[Literal, Literal] | None = None
    equals: Literal | None = None
    is_in: Sequence[Literal] | None = None
    by: Sequence[str] = ()
    within: Sequence[Sequence[str]] = ()
    kind: ClassVar[str] = "count"

    def __post_init__(self) -> None:
        ColumnQuery.__post_init__(self)
        check_cells(self)
        object.__setattr__(self, "true", check_literals("true", self.true))
        check_told("true", self.true)
        if self.condition is not None and self.true:
            raise InvalidParameterError(f"give {self.label!r} a condition or true=, not both")

    @property
    def condition(self) -> Where | None:
        """The condition on the column, if there is one."""
        given: tuple[Any, ...] = _SAID(self)
        if not any(map(operator.is_not, given, repeat(None))):  # of very many at once
            return None
        # An expression is refused there.
        words = dict(zip(WORDS, given, strict=True))
        return Where(cast("str", self.column), **words, missing=self.missing)

    @property
    def listed(self) -> Sequence[Literal] | None:
        """The codes that say yes, none if words do; None where a condition compares cells.

        >>> Count("ward", is_in=("A", "B")).listed, Count("age", at_least=65).listed
        (('A', 'B'), None)
        """
        if (condition := self.condition) is None:
            return self.true
        return condition.values if condition.word in ("equals", "is_in") else None

    @property
    def shape(self) -> ContributionSet:
        """What one person may contribute."""
        return Box(1)

    @property
    def _reads(self) -> str:
        codes = ", ".join(map(str, self.true)) or "yes"
        return str(self.condition or f"{self.column} says {codes}")


@known_keywords
@dataclass(frozen=True, slots=True)
class Counts:
    """So many yes/no questions without names: for planning alone.

    >>> Counts(100).shape
    Box(size=100, low=0.0, high=1.0)
    """

    number: int
    kind: ClassVar[str] = "count"
    columns: ClassVar[tuple[str, ...]] = ()  # there is no table yet

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", whole(counts=self.number))

    @property
    def column(self) -> str:
        """The name that stands for all of them; nothing is read."""
        return "1 count" if self.number == 1 else f"{self.number} counts"

    label = meaning = column

    @property
    def names(self) -> tuple[str, ...]:
        """The name that stands for all of them."""
        return (self.column,)

    @property
    def shape(self) -> ContributionSet:
        """What one person may contribute."""
        return Box(self.number)


@dataclass(frozen=True, slots=True)
class Bounded(ColumnQuery):
    """What queries of values share: each value is clipped to ``bounds``.

    ``by``, ``within``: the labels of what it is broken down by, and of further such tables.
    """

    _: KW_ONLY
    bounds: tuple[float, float]
    by: Sequence[str] = ()
    within: Sequence[Sequence[str]] = ()

    @property
    def extent(self) -> int:
        """How many digits before the point bounds may have, and zeros behind it."""
        return 50

    def __post_init__(self) -> None:
        ColumnQuery.__post_init__(self)
        check_cells(self)
        bounds: object = self.bounds
        remedy = "give the lowest and the highest value that counts, for example bounds=(0, 20)"
        if not isinstance(bounds, tuple | list) or len(bounds) != 2:
            raise refuse("bounds", "two numbers", bounds, remedy)
        low, high = finite(remedy, low=bounds[0]), finite(remedy, high=bounds[1])
        if low >= high:
            raise refuse("bounds", "a low number below a high one", (low, high), remedy)
        _check_extent(self.extent, low, high)
        if max(-low, high) > FARTHEST * (high - low):
            rule = "at most a million times as far from zero as they are apart"
            raise refuse("bounds", rule, (low, high), "subtract a constant from the column first")
        object.__setattr__(self, "bounds", (low, high))

    @property
    def _reads(self) -> str:
        low, high = self.bounds
        return f"{self.column}, kept in {low:g} to {high:g} for each person"


def _check_extent(extent: int, low: float, high: float) -> None:
    if high - low < 10.0**-extent or max(-low, high) > 10.0**extent:
        rule = f"between -1e{extent} and 1e{extent}, and at least 1e-{extent} apart"
        raise refuse("bounds", rule, (low, high), "change the column's unit")


@known_keywords
@dataclass(frozen=True, slots=True)
class Sum(Bounded):
    """The sum of ``column``, where each person's value is clipped to ``bounds``.

    >>> Sum("visits", bounds=(0, 20)).shape
    Box(size=1, low=0.0, high=20.0)
    """

    kind: ClassVar[str] = "sum"

    @property
    def shape(self) -> ContributionSet:
        """What one person may contribute; zero too, where a condition leaves people out."""
        low, high = self.bounds
        if self.where is not None:
            low, high = min(low, 0.0), max(high, 0.0)
        return Box(1, low, high, Grain.VALUES)


@dataclass(frozen=True, slots=True)
class Squares(Sum):
    """The sum of squared weights: of each person's own weight, counted as often as it says."""

    @classmethod
    def of(cls, weight: Weight) -> Self:
        """Return what is asked of a weight."""
        return cls(weight.column, bounds=weight.bounds, missing=weight.missing, name=SQUARES)


@known_keywords
@dataclass(frozen=True, slots=True)
class Mean(Bounded):
    """The mean of ``column`` among those who answered, each value clipped to ``bounds``.

    ``variance``: measure how far values lie apart, too; the standard deviation comes out, and
    intervals that cover who was asked get narrower. The mean itself has no more Gaussian noise for
    it, or 7% more Laplace noise.

    >>> Mean("income", bounds=(0, 200_000)).names
    ('income sum', 'income answered')
    """

    _: KW_ONLY
    variance: bool = False
    kind: ClassVar[str] = "mean"

    @property
    def extent(self) -> int:
        """How many digits bounds may have: squares must not have more than other values."""
        return 25 if self.variance else 50

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        yes_or_no(variance=self.variance)
        if self.variance and self.by:
            remedy = "ask for it in groups (by=...), or leave it out"
            raise refuse("variance", "that of a mean of all, not by cell", self.label, remedy)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        both = (f"{self.label} sum", f"{self.label} answered")
        return (*both, f"{self.label} deviation") if self.variance else both

    @property
    def shape(self) -> ContributionSet:
        """What one person may contribute."""
        return Squared(*self.bounds) if self.variance else Answered(*self.bounds)
