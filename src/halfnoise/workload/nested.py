"""Places inside places: a column for each level, coarse ones first, and a public list of places."""

import csv
import os
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

from halfnoise.checks import (
    SPACES,
    check_column,
    check_literals,
    comparable,
    is_name,
    known_keywords,
    refuse,
    said_twice,
)
from halfnoise.errors import InvalidParameterError
from halfnoise.values import dataclass
from halfnoise.workload.categories import Choice
from halfnoise.workload.conditions import Literal
from halfnoise.workload.sets import Tree

Place: TypeAlias = tuple[Literal, ...]  # a name for each level down to it
INSIDE = " > "


@dataclass(frozen=True)
class Level:
    """The places of one level, as an axis of tables: ``paths`` name each from the first level on.

    >>> Level("county", (("CA", "Kern"), ("CA", "other"), ("other", "other"))).names[0]
    'county=CA > Kern'
    """

    label: str
    paths: tuple[Place, ...]
    where: ClassVar[None] = None

    @property
    def column(self) -> str:
        """The column that names a place within the one around it."""
        return self.label

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that is read."""
        return (self.label,)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of what comes out."""
        return tuple(f"{self.label}={INSIDE.join(map(str, path))}" for path in self.paths)


@known_keywords
@dataclass(frozen=True, init=False)
class Nested:
    """How many people there are in each place of each level: ``columns``, coarse ones first.

    ``places``: the public list of places, one to a line: a file with a name for each level, parted
    by commas, or such names as a list. What is inside a place beside those that are listed is
    ``other`` there. A row is in the place that its columns name, as far as that is in the list,
    read from the first level on, and below it in ``other``; who has rows in several places is in
    the one that is first in the list, among those that are named farthest down. ``missing``: codes
    for no answer.

    >>> places = Nested("state", "county", places=[("CA", "Kern"), ("CA", "Yolo"), ("NV", "Elko")])
    >>> [len(level.names) for level in places.levels]
    [3, 6]
    >>> places.levels[1].names[2:4]
    ('county=CA > other', 'county=NV > Elko')
    """

    columns: tuple[str, ...]
    places: tuple[Place, ...]
    other: str
    missing: tuple[Literal, ...]
    kind: ClassVar[str] = "nested"

    def __init__(
        self,
        *columns: str,
        places: "str | os.PathLike[str] | Iterable[Sequence[Literal]]",
        other: str = "other",
        missing: Literal | Collection[Literal] = (),
    ) -> None:
        """Read the list, and refuse one that is none of places."""
        for column in columns:
            check_column(column)
        if not columns or (twice := said_twice(columns)) is not None:
            rule = "the column of each level, coarse ones first, each once"
            raise refuse("Nested", rule, twice if columns else "none")
        if not is_name(other):
            raise refuse("other", "a name", other)
        listed = _read(places, columns) if isinstance(places, str | os.PathLike) else places
        found = _checked(listed, columns, other)
        codes = check_literals("missing", missing)
        said = {"columns": columns, "places": found, "other": other, "missing": codes}
        for name, value in said.items():
            object.__setattr__(self, name, value)
        if max(map(len, self.places)) < len(columns):
            remedy = f"name a place there, or leave {columns[-1]!r} out"
            raise refuse("places", f"listed down to {columns[-1]!r}", self.places[0], remedy)
        _ = self.choices  # which refuses what no cell can say

    @property
    def label(self) -> str:
        """What it is called."""
        return ",".join(self.columns)

    @property
    def labels(self) -> tuple[str, ...]:
        """What its levels are called, which are all names: places are found by their paths."""
        return self.columns

    names = labels

    @property
    def meaning(self) -> str:
        """What it is, in words."""
        return f"people by {', in '.join(reversed(self.columns))}, with what is in no listed place"

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The places of each level: inside each as they are listed, and last all others."""
        found, around = list[Level](), list[Place]([()])
        inside = self._inside
        for column in self.columns:
            around = [(*path, name) for path in around for name in (*inside[path], self.other)]
            found.append(Level(column, tuple(around)))
        return tuple(found)

    @cached_property
    def _inside(self) -> "_Inside":
        """By place, the names of those that are listed in it, in order."""
        found = _Inside()
        for path in self.places:
            for deep in range(len(path)):
                found.setdefault(path[:deep], {})[path[deep]] = None
        return found

    @cached_property
    def tree(self) -> Tree:
        """How places lie inside each other."""
        around = [((),), *(level.paths for level in self.levels[:-1])]
        return Tree(tuple(tuple(len(self._inside[p]) + 1 for p in paths) for paths in around))

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """What is read of each column: which of the names of its level a row has, if any."""
        known = [
            [path[deep] for path in self.places if len(path) > deep]
            for deep in range(len(self.columns))
        ]
        pairs = zip(self.columns, known, strict=True)
        rest: dict[str, Any] = {"other": self.other, "missing": self.missing}
        return tuple(Choice(column, [*dict.fromkeys(n)], **rest) for column, n in pairs)

    @cached_property
    def listed(self) -> tuple[tuple[Place, ...], ...]:
        """All places that are listed, level by level."""
        deep = range(1, len(self.columns) + 1)
        return tuple(tuple(dict.fromkeys(p[:i] for p in self.places if len(p) >= i)) for i in deep)

    @property
    def inside(self) -> list[list[tuple[int, int]]]:
        """Of all that are listed, the place around it and the name, by where these are listed."""
        found, around = list[list[tuple[int, int]]](), dict[Place, int]({(): 0})
        for choice, paths in zip(self.choices, self.listed, strict=True):
            names = {name: i for i, name in enumerate(choice.categories)}
            found.append([(around[path[:-1]], names[path[-1]]) for path in paths])
            around = {path: i for i, path in enumerate(paths)}
        return found

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks of the places of the last level: the least is where who is in several is.

        First are those that are named in full, then others in what is named so far, and so on.
        """
        first = [path for paths in reversed(self.listed) for path in paths]
        number, other = len(self.columns), self.other
        known = {(*p, *[other] * (number - len(p))): rank for rank, p in enumerate(first)}
        return tuple(known.get(path, len(first)) for path in self.levels[-1].paths)

    def upto(self, deep: int) -> "Nested":
        """Return the same with so many levels alone."""
        if deep == len(self.columns):
            return self
        places = dict.fromkeys(path[:deep] for path in self.places)
        kept = [p for p in places if len(p) == deep or p not in self._inside]
        rest: dict[str, Any] = {"other": self.other, "missing": self.missing}
        return Nested(*self.columns[:deep], places=kept, **rest)

    def coded(self, codes: Collection[Literal]) -> Self:
        """Return the same with further codes for no answer."""
        rest: dict[str, Any] = {"other": self.other, "missing": (*self.missing, *codes)}
        return type(self)(*self.columns, places=self.places, **rest)


class _Inside(dict[Place, dict[Literal, None]]):
    def __missing__(self, path: Place) -> dict[Literal, None]:
        return {}


def _read(file: "str | os.PathLike[str]", columns: Sequence[str]) -> list[list[str]]:
    """Return the places of a file."""
    try:
        with Path(file).open(encoding="utf-8-sig", newline="") as lines:
            found = [[cell.strip(SPACES) for cell in line] for line in csv.reader(lines)]
    except (OSError, ValueError, csv.Error):
        said = f"the list of places {os.fspath(file)!r} could not be read"
        remedy = "name a text file in UTF-8 with one place to a line, a name for each level"
        raise InvalidParameterError(f"{said}; {remedy}: {','.join(columns)}") from None
    return below_header([row for row in found if any(row)], columns)


def below_header(lines: list[list[str]], columns: Sequence[str]) -> list[list[str]]:
    """Return the lines of a file without its header: a first line that names the columns."""
    return lines[1:] if lines[:1] == [[*columns]] else lines


def _checked(listed: object, columns: Sequence[str], other: str) -> tuple[Place, ...]:
    deep = len(columns)
    example = 'for example [("CA", "Kern"), ("CA", "Yolo")]'
    if not isinstance(listed, Iterable):
        raise refuse("places", "a file, or a list with a name for each level", listed, example)
    found = list[Place]()
    for line in listed:
        if isinstance(line, str) or not isinstance(line, Sequence):
            raise refuse("a place", f"{deep} names, one for each level", line, example)
        path = tuple(line)
        while path and path[-1] in ("", None):
            path = path[:-1]
        if (
            not path
            or len(line) > deep
            or not all(comparable(name) and name != "" for name in path)
        ):
            rule = f"{deep} names, one for each level; fewer where nothing inside it is listed"
            raise refuse("a place", rule, line, example)
        if other in path:
            remedy = "leave it out, or call the others by another name: other=..."
            raise refuse("a place", f"not called {other!r}, as all others are", line, remedy)
        found.append(path)
    if not found:
        raise InvalidParameterError(f"places must list at least one, got none; {example}")
    if (twice := said_twice(found)) is not None:
        raise refuse("places", "different from each other", twice, "list each one once")
    _refuse_alike(found)
    around = {path[:i] for path in found for i in range(1, len(path))}
    if (both := next((path for path in found if path in around), None)) is not None:
        remedy = "leave the line out: it is listed with them"
        raise refuse("a place", "listed alone or with places in it, not both", both, remedy)
    return tuple(found)


def _refuse_alike(found: Sequence[Place]) -> None:
    """Refuse places that could not be told apart where they are shown."""
    named = dict[str, Place]()
    for path in dict.fromkeys(p[: i + 1] for p in found for i in range(len(p))):
        if (known := named.setdefault(INSIDE.join(map(str, path)), path)) != path:
            remedy = "give one of them another name"
            raise refuse("places", f"shown differently, as {known!r} is", path, remedy)
