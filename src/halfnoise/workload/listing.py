"""What is said of groups: keys, a list for each column, how many there are, or discover."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import eq, itemgetter
from typing import Any, Self, TypeAlias, overload
from typing import Literal as Only

import numpy as np

from halfnoise.checks import check_told, comparable, is_name, is_text, refuse, whole
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass
from halfnoise.workload.by import By
from halfnoise.workload.conditions import Literal, as_number

# What names a group: one value for each column that it goes by; None is a missing value.
Key: TypeAlias = tuple[Literal | None, ...]
Listed: TypeAlias = Sequence[Literal | Sequence[Literal | None] | None]
Part: TypeAlias = Sequence[Literal | None]  # the listed values of one column
# How many groups there are, that they be discovered, or their keys: of several columns as tuples,
# or for each column a list, or that its values be discovered.
Groups: TypeAlias = int | Only["discover"] | Listed | Mapping[str, Part | Only["discover"]] | None
# The column, or columns, that say which group a row is in.
Columns: TypeAlias = str | By | Sequence[str | By] | None
DISCOVER: Only["discover"] = "discover"
LOT = 2**13
OTHER = "other"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Keys(Sequence[Key]):
    """Keys of groups, kept by column: of a million a tuple each would take longer than to read it.

    >>> keys = Keys((["north", "south"], ["f", "m"]))
    >>> keys[1], ("south", "f") in keys, keys == [("north", "f"), ("south", "m")]
    (('south', 'm'), False, True)

    ``texts``: whether all values are known to be texts, so that nobody has to look again.
    """

    columns: tuple[Sequence[Any], ...]
    texts: bool = False

    @classmethod
    def of(cls, keys: Sequence[Key], width: int) -> "Keys":
        """Return keys of so many values each by column."""
        if isinstance(keys, Keys):
            return keys
        return cls(tuple([*map(itemgetter(i), keys)] for i in range(width)))

    def at(self, places: Iterable[int]) -> Self:
        """Return the keys at some places."""
        some = [*places]
        found = tuple([*map(column.__getitem__, some)] for column in self.columns)
        return type(self)(found, self.texts)

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    @overload
    def __getitem__(self, place: int) -> Key: ...
    @overload
    def __getitem__(self, place: slice) -> "Keys": ...
    def __getitem__(self, place: int | slice) -> "Key | Keys":
        found: Any = tuple(column[place] for column in self.columns)
        return Keys(found) if isinstance(place, slice) else found

    def __iter__(self) -> Iterator[Key]:
        return zip(*self.columns, strict=True)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, tuple) or len(key) != len(self.columns):
            return False
        apart = all(value in column for value, column in zip(key, self.columns, strict=True))
        return apart and (len(key) == 1 or any(map(eq, self, repeat(key))))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash((*self,))

    def __repr__(self) -> str:  # keys that were found are of the data
        return f"<{len(self):,} keys>"


def check_by(by: object) -> tuple[By, ...]:
    """Return the columns that name groups."""
    several = [by] if isinstance(by, str) or not isinstance(by, Sequence) else list(by)
    for each in several:
        if not isinstance(each, str | By):
            raise refuse("by", "a column's name, or several", each, "for example by='region'")
    columns = tuple(each if isinstance(each, By) else By(str(each)) for each in several)
    titles = [each.column for each in columns]
    if not columns or len(set(titles)) < len(titles):
        raise refuse("by", "a column's name, or several different ones", titles)
    return columns


def read_groups(columns: Sequence[By], groups: object) -> int | list[Any] | tuple[object, ...]:
    """Return how many groups there are; or for each column its list, or None; or keys as tuples.

    A list that is known to hold texts alone, which cells can say, comes as a tuple.

    >>> read_groups([By("region"), By("age", bands=[0, 18])], "discover")
    [None, ['0 to 18', '18 and over']]
    """
    free = [by.column for by in columns if by.bands is None]
    if groups is None or _is_discover(groups):
        return _unlisted(columns, free, groups)
    if isinstance(groups, str | set | frozenset):
        rule = f"a list, as its order counts, or {DISCOVER!r}"
        raise refuse("groups", rule, groups, "for example ['north', 'south']")
    if not isinstance(groups, Iterable):
        return whole("list the groups, or say how many", groups=groups)
    if isinstance(groups, Mapping):
        return _by_column(columns, free, groups)
    return _from_list(columns, free, tuple(groups))


def _from_list(
    columns: Sequence[By], free: Sequence[str], listed: tuple[Any, ...]
) -> list[Any] | tuple[object, ...]:
    """Return what a list says: keys of one column, lists for several, or keys as tuples."""
    if not listed:
        raise refuse("groups", "a list of at least one group", [])
    names = [by.column for by in columns]
    if len(names) < 2 and _are_told(listed):
        return [listed]
    if any(issubclass(kind, tuple) for kind in {*map(type, listed)}):
        return listed
    if len(names) < 2:
        return [[*listed]]
    if all(isinstance(each, list) or _is_discover(each) for each in listed):
        if len(listed) not in (len(names), len(free)):
            raise refuse("groups", f"{len(names)} lists, one for each column", [*listed])
        named = names if len(listed) == len(names) else free
        return _by_column(columns, free, dict(zip(named, listed, strict=True)))
    return _by_column(columns, free, {free[0]: listed}) if len(free) == 1 else listed


def _unlisted(columns: Sequence[By], free: Sequence[str], groups: object) -> list[Any]:
    """Return the bands where nothing is listed, and what is discovered beside them."""
    if groups is None and free:
        raise InvalidParameterError(
            f"the groups by {free[0]!r} must be listed, got none; list them"
            f" (groups=['north', 'south'], --groups north,south), or say {DISCOVER!r}"
        )
    if groups is not None and columns and not free:
        rule = f"left out, or listed, as the bands of {columns[0].column!r} are known"
        raise refuse("groups", rule, groups)
    return _by_column(columns, free, dict.fromkeys(free, groups)) if columns else [None]


def _is_discover(said: object) -> bool:
    return isinstance(said, str) and said == DISCOVER


def _by_column(columns: Sequence[By], free: Sequence[str], groups: Mapping[Any, Any]) -> list[Any]:
    """Return for each column its list; None where it is discovered; bands are known."""
    names = [by.column for by in columns]
    if not set(free) <= set(groups) <= set(names):
        raise refuse("groups", f"lists for {', '.join(map(repr, names))}", list(groups))
    parts = list[list[Any] | None]()
    for by in columns:
        part = groups.get(by.column, by.names)
        if _is_discover(part) and by.bands is None:
            parts.append(None)
        elif isinstance(part, str) or not isinstance(part, Iterable):
            rule = f"a list for {by.column!r}" + f", or {DISCOVER!r}" * (by.bands is None)
            raise refuse("groups", rule, part, "for example ['north', 'south']")
        else:
            parts.append(list(part))
    return parts


def listed_part(values: Sequence[Any], missing: str | None) -> Part:
    """Return the listed values of one column, and a missing one where that has a name."""
    if not values:
        raise refuse("groups", "a list of at least one group for each column", values)
    told = isinstance(values, tuple) and missing is None
    found = values if told else tuple(_checked(values, missing))
    if missing is not None and None not in found:
        found = (*found, None)
    if not _surely_differ(found):  # True, 1 and 1.0 are equal, and not the same
        refuse_twice([(v,) for v in found], [(type(v), v) for v in found])
    return found


def _surely_differ(values: Sequence[object]) -> bool:
    """Whether no two values have one hash, so that none are equal: sooner told than by a set.

    Each is put where some bits of its hash say; those that are overwritten there, and are not what
    overwrote them, are put once more, by other bits.
    """
    hashes = np.fromiter(map(hash, values), np.int64, len(values))
    last = np.empty(2 << len(values).bit_length(), np.int32)
    for shift in (0, 20, 40):
        slots = hashes >> shift
        slots &= len(last) - 1
        last[slots] = own = np.arange(len(hashes), dtype=np.int32)
        there = last[slots]
        (lost,) = np.nonzero(there != own)
        if (hashes[lost] == hashes[there[lost]]).any():
            return False
        hashes = hashes[lost]
    hashes = np.sort(hashes)  # nearly always none
    return bool((hashes[1:] != hashes[:-1]).all())


def listed_keys(columns: Sequence[By], listed: Iterable[Any], missing: str | None) -> Keys:
    """Return listed keys, each of one value for each column."""
    width = max(1, len(columns))
    tuples = (each if isinstance(each, tuple) else (each,) for each in listed)
    keys = tuple(tuple(_checked(key, missing)) for key in tuples)
    for key in keys:
        if len(key) != width:
            raise refuse("a group", f"named by {width} values, one for each column", key)
    refuse_twice(keys, [tuple((type(value), value) for value in key) for key in keys])
    return Keys.of(keys, width)


def _checked(values: Sequence[Any], missing: str | None) -> list[Literal | None]:
    """Return listed values, checked; the name for a missing one stands for it."""
    found = list(values)
    if not _are_told(found):
        found = [*map(_plain, found)]
        for value in found:
            if value is not None and not comparable(value):
                raise refuse("a group", "named by text, a number, a day or None", value)
        check_told("a group", found)
    return [None if value == missing else value for value in found] if missing else found


def _are_told(values: Sequence[Any]) -> bool:
    """Whether all values are texts that a cell can say: told of many at once."""
    if {*map(type, values)} != {str}:
        return False
    for some in in_lots(values):
        whole = "".join(some)
        spaced = whole.split(None, 1) != [whole]
        blank = not all(map(str.strip, some) if spaced else some)
        if blank or not is_text(whole) or "\0" in whole:
            return False
    return True


def in_lots(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Go through values many at once, and few enough for a processor to keep them at hand."""
    return (values[i : i + LOT] for i in range(0, len(values), LOT))


def check_missing(name: object, other: object, columns: Sequence[By]) -> str | None:
    """Refuse a name for rows without a key that could be a key."""
    if name is None:
        return None
    rule = "a name that no number, day or band has"
    if not is_name(name) or str(name).strip() != name:
        raise refuse("missing_group", rule, name)
    likely = str(name)[0].isdigit() or as_number(str(name)) is not None
    if likely or str(name).lower() in ("true", "false", "nan"):
        raise refuse("missing_group", rule, name, "for example unknown")
    if name == other or any(name in by.names for by in columns):
        raise refuse("missing_group", "another name than that of other groups", name)
    return str(name)


def _plain(value: Any) -> Any:  # a number or day of NumPy as one of Python
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def refuse_twice(keys: Sequence[Key], readings: Sequence[object]) -> None:
    """Refuse keys of which two read the same."""
    if len(set(readings)) == len(readings):
        return
    seen: dict[object, Key] = {}
    for key, reading in zip(keys, readings, strict=True):
        if reading in seen:
            first, second = (k[0] if len(k) == 1 else k for k in (seen[reading], key))
            same = f"the groups {first!r} and {second!r} are the same"
            raise InvalidParameterError(f"{same}; list each group once")
        seen[reading] = key


def without_other(keys: Keys, other: object) -> Keys:
    """Leave "other" out of the list: people elsewhere join those there."""
    others, left = (other,) * len(keys.columns), keys
    if other is not None and others in keys:
        left = keys.at(place for place, key in enumerate(keys) if key != others)
    if len(left) < len(keys) and other != OTHER:
        raise refuse("other", "another name than that of a listed group", other)
    if not left:
        raise refuse("groups", "a list of at least one group beside the others", list(keys))
    return left
