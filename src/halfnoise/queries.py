"""What can be asked of each person: counts, sums, means, choices, bands and items."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import ClassVar, TypeAlias

from halfnoise.checks import finite, refuse, whole
from halfnoise.errors import InvalidParameterError
from halfnoise.shapes import Answered, AtMost, Box, OneOf, Shape


@dataclass(frozen=True, slots=True)
class Count:
    """How many people say yes in ``column``.

    >>> Count("smoker").shape
    Box(size=1, low=0.0, high=1.0)
    """

    column: str
    kind: ClassVar[str] = "count"

    def __post_init__(self) -> None:
        """Refuse a column without a name."""
        _check_column(self.column)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return (self.column,)

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
    def names(self) -> tuple[str, ...]:
        """The name that stands for all of them."""
        return (self.column,)

    @property
    def shape(self) -> Shape:
        """What one person may contribute."""
        return Box(self.number)


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of ``column``, where each person's value is clipped to ``bounds``.

    >>> Sum("visits", bounds=(0, 20)).shape
    Box(size=1, low=0.0, high=20.0)
    """

    column: str
    _: KW_ONLY
    bounds: tuple[float, float]
    kind: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        """Refuse bounds that are not two finite numbers in order."""
        _check_column(self.column)
        object.__setattr__(self, "bounds", _check_bounds(self.bounds))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return (self.column,)

    @property
    def shape(self) -> Shape:
        """What one person may contribute."""
        return Box(1, *self.bounds)


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of ``column`` among those who answered, each value clipped to ``bounds``.

    >>> Mean("income", bounds=(0, 200_000)).names
    ('income', 'income answered')
    """

    column: str
    _: KW_ONLY
    bounds: tuple[float, float]
    kind: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        """Refuse bounds that are not two finite numbers in order."""
        _check_column(self.column)
        object.__setattr__(self, "bounds", _check_bounds(self.bounds))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return (self.column, f"{self.column} answered")

    @property
    def shape(self) -> Shape:
        """What one person may contribute."""
        return Answered(*self.bounds)


@dataclass(frozen=True, slots=True)
class Choice:
    """How many people chose each of the ``categories`` of ``column``: one for each person.

    ``other`` takes every unlisted value and null, so that exactly one category always holds. It
    is added to the list unless it is in it.

    >>> Choice("blood", ["A", "B", "AB", "O"]).names
    ('blood=A', 'blood=B', 'blood=AB', 'blood=O', 'blood=other')
    """

    column: str
    categories: tuple[object, ...]
    other: object = "other"
    kind: ClassVar[str] = "choice"

    def __post_init__(self) -> None:
        """Refuse an empty list and repeated categories."""
        _check_column(self.column)
        listed = _check_list("categories", self.categories)
        if self.other not in listed:
            listed = (*listed, self.other)
        object.__setattr__(self, "categories", listed)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return tuple(f"{self.column}={category}" for category in self.categories)

    @property
    def shape(self) -> Shape:
        """What one person may contribute."""
        return OneOf(len(self.categories))


@dataclass(frozen=True, slots=True)
class Bins:
    """How many people's ``column`` falls in each band; every edge starts one, the last is open.

    Values below the first edge, null and what is not a number fall in ``other``.

    >>> Bins("age", [0, 18, 65]).names
    ('age=0 to 18', 'age=18 to 65', 'age=65 and over', 'age=other')
    """

    column: str
    edges: tuple[float, ...]
    other: str = "other"
    kind: ClassVar[str] = "bins"

    def __post_init__(self) -> None:
        """Refuse edges that are not finite numbers in rising order."""
        _check_column(self.column)
        if isinstance(self.edges, str) or not isinstance(self.edges, Iterable):
            raise refuse("edges", "a list of numbers", self.edges, "for example edges=[0, 18, 65]")
        edges = tuple(finite(edge=edge) for edge in self.edges)
        if not edges or any(low >= high for low, high in pairwise(edges)):
            remedy = "for example edges=[0, 18, 65]"
            raise refuse("edges", "numbers in rising order", list(edges), remedy)
        object.__setattr__(self, "edges", edges)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        bands = [f"{low:.15g} to {high:.15g}" for low, high in pairwise(self.edges)]
        bands += [f"{self.edges[-1]:.15g} and over", self.other]
        return tuple(f"{self.column}={band}" for band in bands)

    @property
    def shape(self) -> Shape:
        """What one person may contribute."""
        return OneOf(len(self.edges) + 1)


@dataclass(frozen=True, slots=True)
class Items:
    """How many people have each of the ``items`` of ``column``: a set, at most ``at_most`` of them.

    >>> Items("drug", ["aspirin", "insulin", "statin"], at_most=2).shape
    AtMost(size=3, most=2)
    """

    column: str
    items: tuple[object, ...]
    _: KW_ONLY
    at_most: int | None = None
    kind: ClassVar[str] = "items"

    def __post_init__(self) -> None:
        """Refuse an empty list, repeated items and a limit outside the list."""
        _check_column(self.column)
        object.__setattr__(self, "items", _check_list("items", self.items))
        if self.at_most is not None:
            object.__setattr__(self, "at_most", check_at_most(self.at_most, len(self.items)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return tuple(f"{self.column}={item}" for item in self.items)

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


def _check_column(column: object) -> None:
    if not isinstance(column, str) or not column:
        raise refuse("column", "a column's name", column)


def _check_bounds(bounds: object) -> tuple[float, float]:
    remedy = "give the lowest and the highest value that counts, for example bounds=(0, 20)"
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise refuse("bounds", "two numbers", bounds, remedy)
    low, high = finite(remedy, low=bounds[0]), finite(remedy, high=bounds[1])
    if low >= high:
        raise refuse("bounds", "a low number below a high one", (low, high), remedy)
    return low, high


def _check_list(name: str, values: object) -> tuple[object, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise refuse(name, "a list", values, f'for example {name}=["a", "b"]')
    listed = tuple(values)
    if not listed:
        raise InvalidParameterError(f"{name} must list at least one, got none")
    if len(set(listed)) < len(listed):
        twice = next(value for value in listed if listed.count(value) > 1)
        raise refuse(name, "different from each other", twice, "list each one once")
    return listed
