"""Groups of people: by which columns, which keys, and in how many groups a person may be."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, TypeAlias
from typing import Literal as Only

from halfnoise.checks import (
    check_column,
    comparable,
    fraction,
    is_name,
    known_keywords,
    refuse,
    whole,
)
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.conditions import Literal

# What names a group: one value for each column that it goes by; None is a missing value.
Key: TypeAlias = tuple[Literal | None, ...]
Listed: TypeAlias = Sequence[Literal | Sequence[Literal | None] | None]
# How many groups there are, that they be discovered, or their keys: of several columns as tuples,
# or a list for each column.
Groups: TypeAlias = int | Only["discover"] | Listed | Mapping[str, Sequence[Literal | None]] | None
DISCOVER: Only["discover"] = "discover"
OTHER = "other"
EVERY = ("day", "month", "year")


@known_keywords
@dataclass(frozen=True, slots=True)
class By:
    """A column whose values name groups; days and moments go by ``every`` day, month or year.

    >>> print(By("visited", every="month"))
    visited:month
    """

    column: str
    _: KW_ONLY
    every: str | None = None

    def __post_init__(self) -> None:
        check_column(self.column)
        if self.every not in (None, *EVERY):
            raise refuse("every", "day, month or year", self.every)

    def __str__(self) -> str:
        return self.column if self.every is None else f"{self.column}:{self.every}"


# The column, or columns, that say which group a row is in.
Columns: TypeAlias = str | By | Sequence[str | By] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The groups of a release: as in ``Workload``, but checked.

    ``keys``: the listed groups, None where they are discovered or, in a plan, only counted.
    ``number``: how many groups there are, that of all others included; None if discovered.
    """

    by: tuple[By, ...]
    keys: tuple[Key, ...] | None
    number: int | None
    other: str | None
    most: int
    delta: float | None

    @classmethod
    def of(
        cls, by: object, groups: object, other: object, max_groups: object, discover_delta: object
    ) -> Self | None:
        """Return what was said of groups, checked; None where nothing was.

        >>> Grouping.of("region", ["north", "south"], "other", 1, None).released
        (('north',), ('south',), ('other',))
        """
        columns = _columns(by)
        most = whole("how many groups a person may be in", max_groups=max_groups)
        if other is not None and not is_name(other):
            raise refuse("other", "a name, or None to leave people elsewhere out", other)
        if groups is None:
            if columns:
                raise InvalidParameterError(
                    f"the groups by {columns[0].column!r} must be listed, got none; list them"
                    f" (groups=['north', 'south'], --groups north,south), or say {DISCOVER!r}"
                )
            if most > 1 or discover_delta is not None or other != OTHER:
                rule = "max_groups, discover_delta and other go with groups, got none"
                raise InvalidParameterError(f"{rule}; say by and groups")
            return None
        if isinstance(groups, str | set | frozenset) and groups != DISCOVER:
            rule = f"a list, as its order counts, or {DISCOVER!r}"
            raise refuse("groups", rule, groups, "for example ['north', 'south']")
        if groups == DISCOVER:
            if other not in (None, OTHER):
                raise refuse("other", "left out where groups are discovered", other)
            delta = None if discover_delta is None else fraction(discover_delta=discover_delta)
            return cls(by=columns, keys=None, number=None, other=None, most=most, delta=delta)
        if discover_delta is not None:
            raise refuse("discover_delta", f"given with groups={DISCOVER!r}", discover_delta)
        keys = None
        if isinstance(groups, Iterable):
            keys = _without_other(_keys(columns, groups), other)
            number = len(keys) + (other is not None)
        else:
            number = whole("list the groups, or say how many", groups=groups)
        most = min(most, number)
        return cls(by=columns, keys=keys, number=number, other=other, most=most, delta=None)

    @property
    def discovers(self) -> bool:
        """Whether the groups come from the data, beyond a threshold."""
        return self.number is None

    @property
    def words(self) -> str:
        """Which groups there are, as they were read.

        >>> print(Grouping.of("region", ["north", "south"], "other", 1, None).words)
        Groups by region: 'north', 'south'; everybody else is in 'other'.
        """
        columns = ", ".join(map(str, self.by))
        if self.discovers:
            return f"Groups by {columns}: those in the data that are large enough."
        keys = [repr(key[0] if len(key) == 1 else key) for key in self.keys or ()]
        more = f" and {len(keys) - 20:,} more" if len(keys) > 20 else ""
        left = "left out" if self.other is None else f"in {self.other!r}"
        return f"Groups by {columns}: {', '.join(keys[:20])}{more}; everybody else is {left}."

    @property
    def released(self) -> tuple[Key, ...]:
        """The keys of all groups that are released, the others last."""
        others = () if self.other is None else ((self.other,) * len(self.by),)
        return (*(self.keys or ()), *others)


def in_order(key: Key) -> tuple[tuple[int, Any], ...]:
    """Return what keys are sorted by: numbers and days, then text, and what is missing last.

    >>> sorted([(None,), ("b",), (True,), ("a",)], key=in_order)
    [(True,), ('a',), ('b',), (None,)]
    """
    return tuple((2, 0) if v is None else (int(isinstance(v, str)), v) for v in key)


def _columns(by: object) -> tuple[By, ...]:
    if by is None:
        return ()
    several = [by] if isinstance(by, str | By) or not isinstance(by, Iterable) else list(by)
    for each in several:
        if not isinstance(each, str | By):
            raise refuse("by", "a column's name, or several", each, "for example by='region'")
    columns = tuple(each if isinstance(each, By) else By(str(each)) for each in several)
    titles = [each.column for each in columns]
    if not columns or len(set(titles)) < len(titles):
        raise refuse("by", "a column's name, or several different ones", titles)
    return columns


def _keys(columns: Sequence[By], groups: Iterable[object]) -> tuple[Key, ...]:
    """Return the listed keys: of several columns the product of their lists, or tuples."""
    if isinstance(groups, Mapping):
        names = [each.column for each in columns]
        if set(groups) != set(names):
            raise refuse("groups", f"lists for {', '.join(map(repr, names))}", list(groups))
        groups = [list(groups[name]) for name in names]
    listed: list[Any] = list(groups)
    if not listed:
        raise refuse("groups", "a list of at least one group", listed)
    width = max(1, len(columns))
    if all(isinstance(each, list) for each in listed) and len(columns) > 1:
        if len(listed) != width or not all(listed):
            raise refuse("groups", f"{width} lists, one for each column, none empty", listed)
        listed = list(itertools.product(*listed))
    tuples = (each if isinstance(each, tuple) else (each,) for each in listed)
    keys = tuple(tuple(map(_plain, key)) for key in tuples)
    for key in keys:
        if len(key) != width:
            raise refuse("a group", f"named by {width} values, one for each column", key)
        for value in key:
            if value is not None and not comparable(value):
                raise refuse("a group", "named by text, a number, a day or None", value)
    refuse_twice(keys, [tuple((type(value), value) for value in key) for key in keys])
    return keys


def _plain(value: Any) -> Any:  # a number or day of NumPy as one of Python
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def refuse_twice(keys: Sequence[Key], readings: Sequence[object]) -> None:
    """Refuse keys of which two read the same."""
    seen: dict[object, Key] = {}
    for key, reading in zip(keys, readings, strict=True):
        if reading in seen:
            first, second = (k[0] if len(k) == 1 else k for k in (seen[reading], key))
            same = f"the groups {first!r} and {second!r} are the same"
            raise InvalidParameterError(f"{same}; list each group once")
        seen[reading] = key


def _without_other(keys: tuple[Key, ...], other: object) -> tuple[Key, ...]:
    """Leave "other" out of the list: people elsewhere join those there."""
    left = tuple(key for key in keys if other is None or any(value != other for value in key))
    if len(left) < len(keys) and other != OTHER:
        raise refuse("other", "another name than that of a listed group", other)
    if not left:
        raise refuse("groups", "a list of at least one group beside the others", list(keys))
    return left
