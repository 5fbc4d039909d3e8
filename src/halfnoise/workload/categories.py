"""Queries that put people into categories: choices, bands and sets of items."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

from halfnoise.checks import (
    SPACES,
    check_at_most,
    check_told,
    comparable,
    is_name,
    known_keywords,
    of_several,
    refuse,
    said_twice,
)
from halfnoise.errors import InvalidParameterError
from halfnoise.values import KW_ONLY, dataclass, replace
from halfnoise.workload.bands import band_names, check_edges
from halfnoise.workload.codes import Code, deepest
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Literal
from halfnoise.workload.sets import AtMost, ContributionSet

LONGEST_MARK = 10  # characters between two codes in a cell


@known_keywords
@dataclass(frozen=True, slots=True)
class Choice(ColumnQuery):
    """How many people chose each of the ``categories`` of ``column``: one for each person.

    ``other`` takes every unlisted value and null, so that exactly one category always holds. It
    is added to the list unless it is in it.

    >>> Choice("blood", ["A", "B", "AB", "O"]).names
    ('blood=A', 'blood=B', 'blood=AB', 'blood=O', 'blood=other')
    """

    categories: Sequence[Literal]
    other: Literal = "other"
    kind: ClassVar[str] = "choice"

    def __post_init__(self) -> None:
        ColumnQuery.__post_init__(self)
        listed = _check_list("categories", self.categories)
        _check_list("other", [self.other])
        listed = listed if self.other in listed else (*listed, self.other)
        if len(listed) == 1:
            raise refuse("categories", "more than the one for all others", list(listed))
        object.__setattr__(self, "categories", listed)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return tuple(f"{self.label}={category}" for category in self.categories)


@known_keywords
@dataclass(frozen=True, slots=True)
class Bins(ColumnQuery):
    """How many people's ``column`` falls in each band; every edge starts one, the last is open.

    Values below the first edge, null and what is not a number fall in ``other``.

    >>> Bins("age", [0, 18, 65]).names
    ('age=0 to 18', 'age=18 to 65', 'age=65 and over', 'age=other')
    """

    edges: Sequence[float]
    other: str = "other"
    kind: ClassVar[str] = "bins"

    def __post_init__(self) -> None:
        ColumnQuery.__post_init__(self)
        edges = check_edges("edges", self.edges)
        if not is_name(self.other):
            raise refuse("other", "a name", self.other)
        object.__setattr__(self, "edges", edges)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        bands = (*band_names(tuple(self.edges)), self.other)
        return tuple(f"{self.label}={band}" for band in bands)


@known_keywords
@dataclass(frozen=True, slots=True)
class Items(ColumnQuery):
    """How many people have each of the ``items`` of ``column``: a set, at most ``at_most`` of them.

    The table has a row for each person and item, or cells with several, parted by ``split``. An
    item that ends in ``*`` is every code that begins so; a code may be several of the items. Who
    has more than ``at_most`` of the listed items counts as a fraction of a person for each, which
    makes items that busy people have look rarer.

    >>> Items("drug", ["aspirin", "insulin", "statin"], at_most=2).shape
    AtMost(size=3, most=2)
    >>> Items("diagnoses", ["J45", "E11.*"], split=";").names
    ('diagnoses=J45', 'diagnoses=E11.*')
    """

    items: Sequence[Literal]
    _: KW_ONLY
    at_most: int | None = None
    split: str | None = None
    kind: ClassVar[str] = "items"

    def __post_init__(self) -> None:
        ColumnQuery.__post_init__(self)
        object.__setattr__(self, "items", _check_list("items", self.items))
        object.__setattr__(self, "at_most", check_at_most(self.at_most, len(self.items)))
        if self.split is not None and not (is_name(self.split) and len(self.split) <= LONGEST_MARK):
            rule = f"a mark of 1 to {LONGEST_MARK} characters that parts the codes in a cell"
            raise refuse("split", rule, self.split, 'for example split=";"')
        if any(isinstance(item, str) and item.strip(SPACES) == "*" for item in self.items):
            raise refuse("an item", r"text before *, or \* for a star", "*")

    @property
    def reads_parts(self) -> bool:
        """Whether a part of a cell can be an item."""
        return self.split is not None or any(code.begins for code in self.listed)

    @property
    def listed(self) -> list[Code]:
        """What each item stands for."""
        return [Code.of(item) for item in self.items]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return tuple(f"{self.label}={item}" for item in self.items)

    @property
    def shape(self) -> ContributionSet:
        """What one person may contribute."""
        return AtMost.of(len(self.items), self.at_most)

    def of_rows(self) -> Self:
        """Return the same where each row is a person: who has one code has few items.

        >>> Items("drug", ["a", "b", "c"]).of_rows().at_most
        1
        >>> Items("icd", ["E11.9", "E11.*", "J45"]).of_rows().at_most
        2
        """
        if self.split is not None:
            return self
        most = deepest(self.listed)
        return replace(self, at_most=min(most, self.at_most or most))

    @property
    def _reads(self) -> str:
        parted = "" if self.split is None else f", several in a cell parted by {self.split!r}"
        return self._shown + parted


def _check_list(name: str, values: object) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise refuse(name, "a list", values, f'for example {name}=["a", "b"]')
    listed = tuple(values)
    if not listed:
        raise InvalidParameterError(f"{name} must list at least one, got none")
    for value in listed:
        if not comparable(value):
            raise refuse(name, "text, numbers or dates", of_several(values, value))
    check_told(name, listed)
    if (twice := said_twice(listed)) is not None:
        twice = of_several(values, twice)
        raise refuse(name, "different from each other", twice, "list each one once")
    return listed
