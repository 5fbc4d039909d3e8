"""Groups under their keys: finding one, and the columns that name them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfnoise.checks import unknown
from halfnoise.results.published import Columns, Published
from halfnoise.workload.groups import By, Key


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Keyed(Published):
    """A result with groups, which are found by their keys."""

    by: tuple[By, ...]
    group_keys: tuple[Key, ...]
    _places: dict[object, int] = field(init=False)

    def __post_init__(self) -> None:
        """Note where each group stands."""
        places = {_reading(key): place for place, key in enumerate(self.group_keys)}
        object.__setattr__(self, "_places", places)

    def __len__(self) -> int:
        """Return how many groups there are."""
        return len(self.group_keys)

    def __iter__(self) -> Iterator[Any]:
        """Go through the keys: single values for one column, tuples for several."""
        return (key if len(self.by) > 1 else key[0] for key in self.group_keys)

    def keys(self) -> list[Any]:
        """Return the keys: single values for one column, tuples for several."""
        return list(self)

    def __contains__(self, key: object) -> bool:
        """Whether there is a group under this key."""
        return self.find(key) is not None

    def find(self, key: object) -> int | None:
        """Return where a group stands: its key is that, type and all, or the only one equal to it.

        One value alone stands for all columns.
        """
        wanted = key if isinstance(key, tuple) else (key,) * len(self.by)
        try:
            place = self._places.get(_reading(wanted))
        except TypeError:  # a list or the like, which is no key
            return None
        if place is not None:
            return place
        alike = [place for place, each in enumerate(self.group_keys) if each == wanted]
        return alike[0] if len(alike) == 1 else None

    def _place(self, key: object) -> int:
        place = self.find(key)
        if place is None:
            raise unknown("group", key, self.keys())
        return place

    def _title(self, place: int) -> str:
        key = self.group_keys[place]
        return " · ".join("(none)" if value is None else spelled(value) for value in key)

    def _beside(self, table: Columns) -> Columns:
        """Return the table of all groups with their keys first.

        A column of keys with the title of another column gets " (group)" behind its title.
        """
        rows = len(table["name"]) // max(1, len(self))
        keys: Columns = {}
        for place, by in enumerate(self.by):
            others = (*table, *keys, *(each.column for each in self.by[place + 1 :]))
            title, taken = by.column, {other.casefold() for other in others}
            while title.casefold() in taken:
                title += " (group)"
            column = np.empty(len(self), dtype=object)
            column[:] = [key[place] for key in self.group_keys]
            keys[title] = np.repeat(column, rows)
        return keys | table


def spelled(value: object) -> str:
    """Return a key, name or number as text.

    >>> import datetime as dt
    >>> [spelled(each) for each in ("north", 7, True, dt.date(2026, 1, 2), None)]
    ['north', '7', 'true', '2026-01-02', '']
    """
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _reading(key: tuple[Any, ...]) -> object:
    # True, 1 and 1.0 are equal, but name different groups.
    return tuple((type(value), value) for value in key)
