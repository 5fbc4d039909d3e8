"""A query as its result needs it: where its estimates stand, what they are, and their range."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import finite, is_text, refuse, whole

SIZE = "number of people"
MUCH = 0.1  # the share of "other" from which it is worth a note


def only_rows(conditions: Sequence[str]) -> str:
    """Say who is in the table where conditions say it.

    >>> print(only_rows(["age at least 18", "sex is F"]))
    In the table: only rows with age at least 18 and sex is F, and the people they are about.
    """
    return (
        f"In the table: only rows with {' and '.join(conditions)}, and the people they are about."
    )


class Row(NamedTuple):
    """A row of a table of results; a mean, which has ``limits``, stands where its sum does."""

    kind: str
    name: str
    place: int
    limits: tuple[float, float] | None = None
    below: int = -1  # where the number of those who answered stands

    @property
    def is_count(self) -> bool:
        """Whether it counts those who gave an answer."""
        return self.kind == "count"


Shown: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]  # axes: their labels and categories


class CellNames(Sequence[str]):
    """The names of a table's cells, made when somebody asks; ``of``: of what, if of values.

    >>> names = CellNames((("sex", ("f", "m")), ("age", ("young", "old"))))
    >>> len(names), names[1], names.index("sex=m, age=young")
    (4, 'sex=f, age=old', 2)
    """

    __slots__ = ("axes", "of")

    def __init__(self, axes: Shown, *of: str) -> None:
        """Take what the names are made of."""
        self.axes, self.of = axes, of

    def __len__(self) -> int:
        return math.prod(len(categories) for _, categories in self.axes) * max(1, len(self.of))

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        rest = range(len(self))[place]
        shown = list[str]()
        for label, categories in reversed(self.axes):
            rest, own = divmod(rest, len(categories))
            shown.append(f"{label}={categories[own]}")
        return ", ".join([*self.of[rest : rest + 1], *reversed(shown)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CellNames) and (self.axes, self.of) == (other.axes, other.of)

    def __hash__(self) -> int:
        return hash((self.axes, self.of))


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query of a release: ``names`` are those of its estimates, from ``start`` on.

    ``kind``: how it is called in files. ``bounds``: of one person's value, where it is a number.
    ``other``: which of its estimates counts all other categories. ``asked``: whether somebody asked
    for it; margins of tables come out anyway.

    >>> visits = Question(name="visits", kind="sum", start=3, names=("visits",), bounds=(0, 20))
    >>> [row.kind for row in visits.rows()], visits.limits
    (['sum'], (0, 20))
    """

    name: str
    kind: str
    start: int
    names: Sequence[str]
    bounds: tuple[float, float] | None = None
    other: int | None = None
    asked: bool = True

    @property
    def is_mean(self) -> bool:
        """Whether it asks for a mean: its estimates are the sum and how many answered."""
        return self.kind == "mean"

    @property
    def is_sum(self) -> bool:
        """Whether it asks for a sum, whose mean is over all people."""
        return self.kind == "sum"

    @property
    def limits(self) -> tuple[float, float]:
        """Between which values a mean of it lies."""
        return self.bounds or (-math.inf, math.inf)

    def is_count(self, place: int) -> bool:
        """Whether the estimate at this place among its own is a number of people."""
        return not self.is_sum and (not self.is_mean or 2 * place >= len(self.names))

    @property
    def axes(self) -> Shown:
        """What a table is by: labels and categories; nothing where it is no table."""
        return self.names.axes if isinstance(self.names, CellNames) else ()

    def rows(self) -> Iterator[Row]:
        """Go through all that there is to show of it."""
        if self.is_mean and self.axes:
            half, means = len(self.names) // 2, CellNames(self.axes, self.name)
            for place, name in enumerate(means):
                at = self.start + place
                yield Row("mean", name, at, self.limits, at + half)
                yield Row("sum", self.names[place], at)
                yield Row("count", self.names[place + half], at + half)
            return
        if self.is_mean:
            yield Row("mean", self.name, self.start, self.limits, self.start + 1)
        for place, name in enumerate(self.names):
            yield Row("count" if self.is_count(place) else "sum", name, self.start + place)

    def notes(self, values: NDArray[np.float64]) -> list[str]:
        """Say where the category for all others is so large that some may be misspelled."""
        if self.other is None:
            return []
        own = values[self.start : self.start + len(self.names)]
        part, whole = float(own[self.other]), float(own.sum())
        if not part > MUCH * whole > 0:
            return []
        share = f"{self.names[self.other]} is {part / whole:.0%} of {self.name}"
        return [f"{share}: check the spelling of the categories"]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read it from plain values; refuse what no query is."""
        known = {**stored, "names": tuple(stored["names"])}
        if stored["bounds"] is not None:
            low, high = (finite(bound=each) for each in stored["bounds"])
            known["bounds"] = (low, max(low, high))
        found = cls(**known)
        whole(least=0, start=found.start)
        texts = (found.name, found.kind, *found.names)
        if not found.names or not all(map(is_text, texts)) or isinstance(stored["names"], str):
            raise refuse("names", "texts", found.names)
        if found.is_mean and len(found.names) != 2:
            raise refuse("names", "two for a mean: its sum and how many answered", found.names)
        if found.other is not None and whole(least=0, other=found.other) >= len(found.names):
            raise refuse("other", f"one of {len(found.names)} estimates", found.other)
        return found
