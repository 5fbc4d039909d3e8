"""A query as its result needs it: where its estimates stand, what they are, and their range."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import finite, is_text, refuse, said_twice, whole
from halfnoise.values import asdict, dataclass, replace
from halfnoise.workload.weights import HEADS, SQUARES

SIZE = "number of people"
_PARTS = {"table": 0, "count": 1, "sum": 1, "mean": 2}  # so many numbers by cell
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
    """An estimate by its name; a mean, which has ``limits``, stands where its sum does."""

    kind: str
    name: str
    place: int
    limits: tuple[float, float] | None = None
    below: int = -1  # where the number of those who answered stands


Shown: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]  # axes: their labels and categories


class CellNames(Sequence[str]):
    """The names of a table's cells, made when somebody asks; ``of``: of what, if of values.

    >>> names = CellNames((("sex", ("f", "m")), ("age", ("young", "old"))))
    >>> len(names), names[1], names.index("sex=m, age=young"), "sex=m" in names
    (4, 'sex=f, age=old', 2, False)
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

    @property
    def shape(self) -> tuple[int, ...]:
        """How many categories there are along each axis."""
        return tuple(len(categories) for _, categories in self.axes)

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """Return where a name stands: it is read part by part, and no other name is made."""
        if (place := self.find(value)) is None or place not in range(len(self))[start:stop]:
            raise ValueError(f"{value!r} is not among these names")
        return place

    def __contains__(self, value: object) -> bool:
        return self.find(value) is not None

    def find(self, name: object) -> int | None:
        """Return where a name stands, or None; marks between parts may be in categories too."""
        if not isinstance(name, str):
            return None
        parts = [("", self.of)] * bool(self.of)
        parts += [(f"{label}=", categories) for label, categories in self.axes]
        reached, joint = {0: 0}, ""  # how far the name is read: the place so far
        for label, texts in parts:
            further = dict[int, int]()
            for at, place in reached.items():
                head = f"{joint}{label}"
                for own, text in enumerate(texts) if name.startswith(head, at) else ():
                    part = f"{head}{text}"
                    if name.startswith(part, at):
                        further.setdefault(at + len(part), place * len(texts) + own)
            reached, joint = further, ", "
        return reached.get(len(name))

    def listed(self) -> list[str]:
        """Return all names at once, in less time than one by one."""
        found = [*self.of] or [""]
        for label, categories in self.axes:
            parts = [f"{label}={category}" for category in categories]
            found = [f"{name}, {part}" if name else part for name in found for part in parts]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return what all names are made of, ready for JSON."""
        axes = [{"label": label, "categories": [*categories]} for label, categories in self.axes]
        return {"axes": axes, "of": [*self.of]}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read it from plain values; refuse what is made of something else than texts."""
        axes = tuple((each["label"], each["categories"]) for each in stored["axes"])
        labels, lists = [label for label, _ in axes], [stored["of"], *(each for _, each in axes)]
        if not all(isinstance(each, list) for each in (stored["axes"], *lists)):
            raise refuse("axes", "a list, each with a list of categories", stored)
        if not all(is_text(text) for each in (labels, *lists) for text in each):
            raise refuse("labels and categories", "texts", stored)
        if not all(lists[1:]) or said_twice(labels) is not None:
            raise refuse("axes", "different from each other, each with categories", labels)
        return cls(tuple((label, tuple(each)) for label, each in axes), *stored["of"])

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
    >>> visits.find("visits").kind, visits.limits
    ('sum', (0, 20))
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
    def deviates(self) -> bool:
        """Whether it asks for a standard deviation, made of a third estimate: of squares."""
        return self.is_mean and not self.in_tables and len(self.names) == 3

    @property
    def sums(self) -> Sequence[str]:
        """The names of its estimated sums, of which weighted ones can be made."""
        return self.names[:2] if self.deviates else self.names

    @property
    def is_sum(self) -> bool:
        """Whether it asks for a sum, whose mean is over all people."""
        return self.kind == "sum"

    @property
    def of_weights(self) -> bool:
        """Whether it is about weights themselves, and stands beside the number of people."""
        return self.is_sum and self.name in (HEADS, SQUARES)

    @property
    def limited(self) -> bool:
        """Whether it adds up values, which have bounds."""
        return self.is_sum or self.is_mean

    @property
    def limits(self) -> tuple[float, float]:
        """Between which values a mean of it lies."""
        return self.bounds or (-math.inf, math.inf)

    def is_count(self, place: int) -> bool:
        """Whether the estimate at this place among its own is a number of people."""
        return not self.is_sum and (not self.is_mean or place // self.cells == 1)

    @property
    def axes(self) -> Shown:
        """What a table is by: labels and categories; nothing where it is no table."""
        return self.names.axes if isinstance(self.names, CellNames) else ()

    @property
    def in_tables(self) -> bool:
        """Whether it is a table or one of its margins, down to a single number."""
        return isinstance(self.names, CellNames)

    @property
    def as_table(self) -> "Question":
        """The same as the table by one axis that a choice is, and so are bands."""
        if self.kind not in ("choice", "bins"):
            return self
        categories = tuple(name.removeprefix(f"{self.name}=") for name in self.names)
        return replace(self, kind="table", names=CellNames(((self.name, categories),)))

    @property
    def stop(self) -> int:
        """Where its estimates end."""
        return self.start + len(self.names)

    @property
    def cells(self) -> int:
        """How many numbers it gives: of a mean, means."""
        return len(self.names) // 2 if self.is_mean else len(self.names)

    @property
    def shown_as(self) -> str:
        """The kind of the numbers it gives, as files call them."""
        if self.is_mean or self.is_sum:
            return self.kind
        return "table" if self.kind == "table" else "count"

    @property
    def means(self) -> Sequence[str]:
        """The names of its means."""
        if not self.is_mean:
            return ()
        return CellNames(self.axes, self.name) if self.axes else (self.name,)

    def find(self, name: str) -> Row | None:
        """Return what goes by a name, or None."""
        if name in self.means:
            at = self.start + self.means.index(name)
            return Row("mean", name, at, self.limits, at + self.cells)
        if name not in self.names:
            return None
        place = self.names.index(name)
        if self.deviates and place == 2:
            return Row("deviation", name, self.start + place)
        return Row("count" if self.is_count(place) else "sum", name, self.start + place)

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
        stored = asdict(replace(self, names=()))
        if isinstance(self.names, CellNames):
            return stored | {"names": self.names.to_dict()}
        del stored["asked"]  # it is there because somebody did
        return stored | {"names": [*self.names]}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read it from plain values; refuse what no query is."""
        names: Any = stored["names"]
        of_table = isinstance(names, Mapping)
        known = {**stored, "names": CellNames.from_dict(names) if of_table else tuple(names)}
        if stored["bounds"] is not None:
            low, high = (finite(bound=each) for each in stored["bounds"])
            known["bounds"] = (low, max(low, high))
        found = cls(**known)
        whole(least=0, start=found.start)
        texts = (found.name, found.kind, *(() if of_table else found.names))
        if not found.names or not all(map(is_text, texts)) or isinstance(names, str):
            raise refuse("names", "texts", found.names)
        if found.is_mean and not of_table and len(found.names) not in (2, 3):
            rule = "two or three for a mean: its sum, how many answered, the deviation"
            raise refuse("names", rule, found.names)
        if found.deviates and found.bounds is None:
            raise refuse("bounds", "given where a deviation is", found.bounds)
        if isinstance(found.names, CellNames):
            parts = _PARTS.get(found.kind)
            fits = len(found.names.of) == parts and (parts or found.axes)
        else:
            fits = found.kind != "table" and found.asked
        if not fits or not isinstance(found.asked, bool):
            raise refuse("names", f"those of a {found.kind}", found.names)
        if found.other is not None and whole(least=0, other=found.other) >= len(found.names):
            raise refuse("other", f"one of {len(found.names)} estimates", found.other)
        return found
