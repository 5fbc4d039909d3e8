"""What can be asked of each person: counts, sums, means, choices, bands and items."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

from halfnoise.checks import finite, refuse, whole
from halfnoise.conditions import WORDS, Literal, Where, check_column, check_literals
from halfnoise.errors import InvalidParameterError
from halfnoise.shapes import Answered, AtMost, Box, OneOf, Shape


@dataclass(frozen=True, slots=True)
class Asked:
    """What all queries of a table share.

    ``name``: what it is called in the result, if not like the column. ``where``: only people who
    meet this condition count, the others contribute nothing. ``missing``: codes for no answer.
    """

    column: str
    _: KW_ONLY
    name: str | None = None
    where: Where | None = None
    missing: tuple[Literal, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a column without a name, and conditions of another kind."""
        if self._is_expression:
            if not self.name:
                raise InvalidParameterError("a query on an expression needs a name=...")
        else:
            check_column(self.column)
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise refuse("name", "text", self.name)
        if self.where is not None and not isinstance(self.where, Where):
            raise refuse("where", "a Where", self.where, 'for example Where("age", at_least=18)')
        object.__setattr__(self, "missing", check_literals("missing", self.missing))

    @property
    def _is_expression(self) -> bool:
        return type(self.column).__module__.startswith("narwhals")

    @property
    def label(self) -> str:
        """What it is called."""
        return self.name or self.column

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return (self.label,)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        own = () if self._is_expression else (self.column,)
        return own if self.where is None else (*own, self.where.column)


@dataclass(frozen=True, slots=True)
class Count(Asked):
    """How many people say yes in ``column``, or meet a condition on it.

    Yes is true, 1, and in text 1/true/yes/y/t in any case; ``true`` names other codes. Conditions:
    ``at_least``, ``above``, ``below``, ``up_to``, ``between``, ``equals``, ``is_in``. The column
    may also be a narwhals expression with a ``name``.

    >>> Count("smoker").shape
    Box(size=1, low=0.0, high=1.0)
    >>> Count("age", at_least=65, name="over_65").condition
    Where(column='age', at_least=65, above=None, below=None, up_to=None, between=None, \
equals=None, is_in=None, missing=())
    """

    _: KW_ONLY
    true: tuple[Literal, ...] = ()
    at_least: Literal | None = None
    above: Literal | None = None
    below: Literal | None = None
    up_to: Literal | None = None
    between: tuple[Literal, Literal] | None = None
    equals: Literal | None = None
    is_in: tuple[Literal, ...] | None = None
    kind: ClassVar[str] = "count"

    def __post_init__(self) -> None:
        """Refuse a column without a name, and more than one condition."""
        Asked.__post_init__(self)
        object.__setattr__(self, "true", check_literals("true", self.true))
        if self.condition is not None and self.true:
            raise InvalidParameterError(f"give {self.label!r} a condition or true=, not both")

    @property
    def condition(self) -> Where | None:
        """The condition on the column, if there is one."""
        given: dict[str, Any] = {word: getattr(self, word) for word in WORDS}
        if all(value is None for value in given.values()):
            return None
        return Where(self.column, **given, missing=self.missing)

    @property
    def shape(self) -> Shape:
        """What one person may contribute."""
        return Box(1)


@dataclass(frozen=True, slots=True)
class Counts:
    """So many yes/no questions without names: for planning alone.

    >>> Counts(100).shape
    Box(size=100, low=0.0, high=1.0)
    """

    number: int
    kind: ClassVar[str] = "count"

    def __post_init__(self) -> None:
        """Refuse anything but a number of questions."""
        object.__setattr__(self, "number", whole(counts=self.number))

    @property
    def column(self) -> str:
        """The name that stands for all of them."""
        return "1 count" if self.number == 1 else f"{self.number} counts"

    @property
    def label(self) -> str:
        """The same."""
        return self.column

    @property
    def names(self) -> tuple[str, ...]:
        """The name that stands for all of them."""
        return (self.column,)

    @property
    def columns(self) -> tuple[str, ...]:
        """None: there is no table yet."""
        return ()

    @property
    def shape(self) -> Shape:
        """What one person may contribute."""
        return Box(self.number)


@dataclass(frozen=True, slots=True)
class Sum(Asked):
    """The sum of ``column``, where each person's value is clipped to ``bounds``.

    >>> Sum("visits", bounds=(0, 20)).shape
    Box(size=1, low=0.0, high=20.0)
    """

    _: KW_ONLY
    bounds: tuple[float, float]
    kind: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        """Refuse bounds that are not two finite numbers in order."""
        Asked.__post_init__(self)
        object.__setattr__(self, "bounds", _check_bounds(self.bounds))

    @property
    def shape(self) -> Shape:
        """What one person may contribute; zero too, where a condition leaves people out."""
        low, high = self.bounds
        return Box(1, low, high) if self.where is None else Box(1, min(low, 0.0), max(high, 0.0))


@dataclass(frozen=True, slots=True)
class Mean(Asked):
    """The mean of ``column`` among those who answered, each value clipped to ``bounds``.

    >>> Mean("income", bounds=(0, 200_000)).names
    ('income sum', 'income answered')
    """

    _: KW_ONLY
    bounds: tuple[float, float]
    kind: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        """Refuse bounds that are not two finite numbers in order."""
        Asked.__post_init__(self)
        object.__setattr__(self, "bounds", _check_bounds(self.bounds))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return (f"{self.label} sum", f"{self.label} answered")

    @property
    def shape(self) -> Shape:
        """What one person may contribute."""
        return Answered(*self.bounds)


@dataclass(frozen=True, slots=True)
class Choice(Asked):
    """How many people chose each of the ``categories`` of ``column``: one for each person.

    ``other`` takes every unlisted value and null, so that exactly one category always holds. It
    is added to the list unless it is in it.

    >>> Choice("blood", ["A", "B", "AB", "O"]).names
    ('blood=A', 'blood=B', 'blood=AB', 'blood=O', 'blood=other')
    """

    categories: tuple[Literal, ...]
    other: Literal = "other"
    kind: ClassVar[str] = "choice"

    def __post_init__(self) -> None:
        """Refuse an empty list, repeated categories, and nothing but the one for all others."""
        Asked.__post_init__(self)
        listed = _check_list("categories", self.categories)
        if self.other not in listed:
            listed = (*listed, self.other)
        if len(listed) == 1:
            raise refuse("categories", "more than the one for all others", list(listed))
        object.__setattr__(self, "categories", listed)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return tuple(f"{self.label}={category}" for category in self.categories)

    @property
    def shape(self) -> Shape:
        """What one person may contribute; nothing too, where a condition leaves people out."""
        return _one_category(len(self.categories), self.where)


@dataclass(frozen=True, slots=True)
class Bins(Asked):
    """How many people's ``column`` falls in each band; every edge starts one, the last is open.

    Values below the first edge, null and what is not a number fall in ``other``.

    >>> Bins("age", [0, 18, 65]).names
    ('age=0 to 18', 'age=18 to 65', 'age=65 and over', 'age=other')
    """

    edges: tuple[float, ...]
    other: str = "other"
    kind: ClassVar[str] = "bins"

    def __post_init__(self) -> None:
        """Refuse edges that are not finite numbers in rising order."""
        Asked.__post_init__(self)
        remedy = "for example edges=[0, 18, 65]"
        if isinstance(self.edges, str) or not isinstance(self.edges, Iterable):
            raise refuse("edges", "a list of numbers", self.edges, remedy)
        edges = tuple(finite(edge=edge) for edge in self.edges)
        if not edges or any(low >= high for low, high in pairwise(edges)):
            raise refuse("edges", "numbers in rising order", list(edges), remedy)
        object.__setattr__(self, "edges", edges)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        bands = [f"{low:.15g} to {high:.15g}" for low, high in pairwise(self.edges)]
        bands += [f"{self.edges[-1]:.15g} and over", self.other]
        return tuple(f"{self.label}={band}" for band in bands)

    @property
    def shape(self) -> Shape:
        """What one person may contribute; nothing too, where a condition leaves people out."""
        return _one_category(len(self.edges) + 1, self.where)


@dataclass(frozen=True, slots=True)
class Items(Asked):
    """How many people have each of the ``items`` of ``column``: a set, at most ``at_most`` of them.

    The table has a row for each person and item. Who has more than ``at_most`` of the listed items
    counts as a fraction of a person for each, which makes items that busy people have look rarer.

    >>> Items("drug", ["aspirin", "insulin", "statin"], at_most=2).shape
    AtMost(size=3, most=2)
    """

    items: tuple[Literal, ...]
    _: KW_ONLY
    at_most: int | None = None
    kind: ClassVar[str] = "items"

    def __post_init__(self) -> None:
        """Refuse an empty list, repeated items and a limit outside the list."""
        Asked.__post_init__(self)
        object.__setattr__(self, "items", _check_list("items", self.items))
        if self.at_most is not None:
            object.__setattr__(self, "at_most", check_at_most(self.at_most, len(self.items)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return tuple(f"{self.label}={item}" for item in self.items)

    @property
    def shape(self) -> Shape:
        """What one person may contribute."""
        return at_most_shape(len(self.items), self.at_most)


Query: TypeAlias = Count | Counts | Sum | Mean | Choice | Bins | Items


def at_most_shape(size: int, most: int | None) -> Shape:
    """Return ``size`` yes/no values of which at most ``most`` are yes."""
    return Box(size) if most is None or most == size else AtMost(size, most)


def check_at_most(most: object, size: int) -> int:
    """Return a limit between 1 and the number of queries it limits."""
    remedy = f"there are {size} to choose from"
    limit = whole(remedy, at_most=most)
    if limit > size:
        raise refuse("at_most", f"at most {size}", most, "leave it out where there is no limit")
    return limit


def _one_category(size: int, where: Where | None) -> Shape:
    return OneOf(size) if where is None else AtMost(size, 1)


def _check_bounds(bounds: object) -> tuple[float, float]:
    remedy = "give the lowest and the highest value that counts, for example bounds=(0, 20)"
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise refuse("bounds", "two numbers", bounds, remedy)
    low, high = finite(remedy, low=bounds[0]), finite(remedy, high=bounds[1])
    if low >= high:
        raise refuse("bounds", "a low number below a high one", (low, high), remedy)
    return low, high


def _check_list(name: str, values: object) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise refuse(name, "a list", values, f'for example {name}=["a", "b"]')
    listed = tuple(values)
    if not listed:
        raise InvalidParameterError(f"{name} must list at least one, got none")
    if len(set(listed)) < len(listed):
        twice = next(value for value in listed if listed.count(value) > 1)
        raise refuse(name, "different from each other", twice, "list each one once")
    return listed
