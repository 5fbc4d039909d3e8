"""Groups of people: by which columns, which keys, and in how many groups a person may be."""

from collections.abc import Sequence
from itertools import product
from typing import Any, Self

from halfnoise.checks import fraction, is_name, refuse, whole
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass
from halfnoise.workload.by import By
from halfnoise.workload.listing import (
    DISCOVER,
    OTHER,
    Key,
    Keys,
    Part,
    check_by,
    check_missing,
    listed_keys,
    listed_part,
    read_groups,
    without_other,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The groups of a release: as in ``Workload``, but checked.

    ``keys``: the listed groups, None where they are discovered or, in a plan, only counted.
    ``number``: how many groups there are, that of all others included; None if discovered.
    ``listed``: where some columns are listed and others discovered, their values, or None.
    ``missing``: what the key of rows without one is called, if it has a name.
    """

    by: tuple[By, ...]
    keys: Keys | None = None
    number: int | None = None
    other: str | None = None
    most: int
    delta: float | None = None
    listed: tuple[Part | None, ...] = ()
    missing: str | None = None

    @classmethod
    def of(
        cls,
        by: object,
        groups: object,
        *,
        other: object = OTHER,
        max_groups: object = 1,
        discover_delta: object = None,
        missing_group: object = None,
    ) -> Self | None:
        """Return what was said of groups, checked; None where nothing was.

        >>> Grouping.of("region", ["north", "south"]).released
        <3 keys>
        """
        columns = () if by is None else check_by(by)
        most = whole("how many groups a person may be in", max_groups=max_groups)
        if other is not None and not is_name(other):
            raise refuse("other", "a name, or None to leave people elsewhere out", other)
        if groups is None and not columns:
            if most > 1 or discover_delta is not None or other != OTHER or missing_group:
                rule = "max_groups, discover_delta, other and missing_group go with groups"
                raise InvalidParameterError(f"{rule}, got none; say by and groups")
            return None
        shared: dict[str, Any] = {"by": columns, "other": other}
        shared["missing"] = missing = check_missing(missing_group, other, columns)
        said = read_groups(columns, groups)
        if isinstance(said, list) and None in said:
            some = [None if part is None else listed_part(part, missing) for part in said]
            return cls._found(some, discover_delta, **shared, most=most)
        if discover_delta is not None:
            raise refuse("discover_delta", f"given with groups={DISCOVER!r}", discover_delta)
        if isinstance(said, int):
            return cls(**shared, number=said, most=min(most, said))
        if isinstance(said, list):
            parts = [listed_part(part, missing) for part in said]
            several = len(parts) > 1
            texts = missing is None and isinstance(said[0], tuple)
            keys = Keys.of([*product(*parts)], len(parts)) if several else Keys((*parts,), texts)
        else:
            keys = listed_keys(columns, said, missing)
        keys = without_other(keys, other)
        number = len(keys) + (other is not None)
        return cls(**shared, keys=keys, number=number, most=min(most, number))

    @classmethod
    def _found(cls, parts: Sequence[Part | None], delta: object, **shared: Any) -> Self:
        """Return groups that are discovered, in all columns or in some."""
        other, delta = shared["other"], None if delta is None else fraction(discover_delta=delta)
        if any(part is not None for part in parts):
            listed = tuple(None if part is None else _without(part, other) for part in parts)
            return cls(**shared, delta=delta, listed=listed)
        if other not in (None, OTHER):
            raise refuse("other", "left out where groups are discovered", other)
        return cls(**shared | {"other": None}, delta=delta)

    @property
    def discovers(self) -> bool:
        """Whether the groups come from the data, beyond a threshold."""
        return self.number is None

    @property
    def words(self) -> str:
        """Which groups there are, as they were read.

        >>> print(Grouping.of("region", ["north", "south"]).words)
        Groups by region: 'north', 'south'; everybody else is in 'other'.
        """
        columns = ", ".join(map(str, self.by))
        left = "left out" if self.other is None else f"in {self.other!r}"
        without = f"; rows without a key are {self.missing!r}" if self.missing else ""
        if self.discovers:
            large = f"Groups by {columns}: those in the data that are large enough"
            lists = [
                f"of {by.column} {_first(part)}, everything else {left}"
                for by, part in zip(self.by, self.listed, strict=False)
                if part is not None
            ]
            return "; ".join([large, *lists]) + f"{without}."
        keys = [key[0] if len(key) == 1 else key for key in self.keys or ()]
        return f"Groups by {columns}: {_first(keys)}; everybody else is {left}{without}."

    @property
    def released(self) -> Keys:
        """The keys of all groups that are listed and released, the others last.

        >>> [*Grouping.of("region", ["north"], missing_group="unknown").released]
        [('north',), ('unknown',), ('other',)]
        """
        keys = Keys(((),) * len(self.by)) if self.keys is None else self.shown(self.keys)
        others = () if self.other is None else (self.other,)
        return Keys(tuple(tuple(column) + others for column in keys.columns))

    def shown(self, keys: Keys) -> Keys:
        """Return keys as they are released: a missing value may have a name."""
        if (name := self.missing) is None:
            return keys
        return Keys(tuple([name if v is None else v for v in each] for each in keys.columns))

    def in_order(self, keys: Sequence[Key]) -> list[int]:
        """Return the places of keys that were found, sorted: listed values as they are listed.

        Others: numbers and days, then text, and what is missing last.

        >>> Grouping.of("region", "discover").in_order([(None,), ("b",), (True,), ("a",)])
        [2, 3, 1, 0]
        """
        parts = self.listed or (None,) * len(self.by)
        columns = [*map(_ranks, Keys.of(keys, len(self.by)).columns, parts)]
        ranks = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
        return sorted(range(len(keys)), key=ranks.__getitem__)


def _ranks(values: Sequence[Any], part: Part | None) -> Sequence[Any]:
    """Return what the values of one column are sorted by."""
    if part is not None:
        at = {(type(v), v): i for i, v in enumerate(part)}
        return [at.get((type(v), v), len(at)) for v in values]
    kinds = {*map(type, values)}
    if kinds == {str}:
        return values
    if kinds == {str, type(None)}:
        last = max(filter(None, values)) + "\0"  # behind all others
        return [last if v is None else v for v in values]
    return [(2, 0) if v is None else (int(isinstance(v, str)), v) for v in values]


def _first(keys: Sequence[object]) -> str:
    more = f" and {len(keys) - 20:,} more" if len(keys) > 20 else ""
    return ", ".join(map(repr, keys[:20])) + more


def _without(part: Part, other: object) -> Part:
    (left,) = without_other(Keys((part,)), other).columns
    return tuple(left)
