"""Tables of people by several attributes, as they are asked for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, TypeAlias

from halfnoise.checks import (
    is_name,
    known_keywords,
    meant,
    not_negative,
    refuse,
    said_twice,
    weighs,
)
from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.values import KW_ONLY, dataclass, field
from halfnoise.workload.categories import Bins, Choice
from halfnoise.workload.nested import Level, Nested

Axis: TypeAlias = Choice | Bins | Level
Said: TypeAlias = Choice | Bins | Nested  # what an axis is said by
MOST_CELLS = 2**27


@known_keywords
@dataclass(frozen=True)
class Table:
    """How many people there are in each cell of a table, and in each of its margins.

    ``axes``: what it is by: a Choice or Bins, which is not thereby asked for by itself, a Nested,
    by its last level, or the label of one, or of a level, in the workload. ``importance``: how much
    the mean squared error of its cells counts, 1 unless said; ``margins``: that of each of its
    margins, which come out in any case and add up with it. By one axis it is the choice itself, and
    counts as much as that unless said. ``labels``: what the axes are called; ``label``: the table.

    >>> Table([Choice("sex", ["f", "m"]), Bins("age", [18, 65]), "region"]).label
    'sex,age,region'
    """

    axes: Sequence[Said | str]
    _: KW_ONLY
    importance: float | None = None
    margins: float = 0.01
    kind: ClassVar[str] = "table"
    labels: tuple[str, ...] = field(init=False, repr=False, compare=False)
    label: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        axes: object = self.axes
        example = 'for example [Choice("sex", ["f", "m"]), Bins("age", [18, 65])]'
        if isinstance(axes, str) or not isinstance(axes, Sequence) or not axes:
            raise refuse("axes", "a list of choices, bands or labels", axes, example)
        for axis in axes:
            if not isinstance(axis, Said) and not is_name(axis):
                raise refuse("an axis", "a Choice, Bins, Nested or a label", axis, example)
        object.__setattr__(self, "axes", tuple(axes))
        labels = tuple(axis if isinstance(axis, str) else _label(axis) for axis in axes)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "label", ",".join(labels))
        if (twice := said_twice(self.labels)) is not None:
            raise refuse("axes", "different from each other", twice, "name each one once")
        if self.importance is not None:
            object.__setattr__(self, "importance", weighs(importance=self.importance))
        margins = not_negative(margins=self.margins)
        object.__setattr__(self, "margins", margins and weighs(margins=margins))

    @property
    def own(self) -> tuple[Said, ...]:
        """The axes that are said here."""
        return tuple(axis for axis in self.axes if not isinstance(axis, str))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the axes said here read."""
        return tuple(column for axis in self.own for column in axis.columns)

    @property
    def meaning(self) -> str:
        """What it is, in words.

        >>> Table(["sex", "age", "region"]).meaning
        'people by sex, age and region, with all margins'
        """
        *first, last = self.labels
        if not first:
            return f"people by {last}"
        return f"people by {', '.join(first)} and {last}, with all margins"

    @property
    def names(self) -> tuple[str, ...]:
        """No name but its own: cells are found by their categories."""
        return (self.label,)


def _label(axis: Said) -> str:
    return axis.columns[-1] if isinstance(axis, Nested) else axis.label


def places_of(tables: Sequence[Table], asked: Sequence[Said]) -> Nested | None:
    """Return the one attribute that is nested, if there is one."""
    said = _said(tables, asked)
    found = [*dict.fromkeys(axis for axis in said if isinstance(axis, Nested))]
    if len(found) > 1:
        rule = "one attribute of tables may be nested"
        rule = f"{rule}, got {found[0].label!r} and {found[1].label!r}"
        raise NotSupportedError(f"{rule}; use a Choice of one level for the other")
    return found[0] if found else None


def attributes(
    tables: Sequence[Table], asked: Sequence[Said], labels: Iterable[str]
) -> dict[str, Axis]:
    """Return those axes that go by some labels, in their order: one column is one attribute.

    ``asked``: the choices, bands and places of the workload itself.
    """
    found: dict[str, Axis] = {}
    for axis in (level for each in _said(tables, asked) for level in _levels(each)):
        known = found.setdefault(axis.label, axis)
        if known is not axis and known != axis:
            rule = f"the attribute {axis.label!r} has two lists of categories"
            raise InvalidParameterError(f"{rule}; use one of them in all tables and choices")
    used = [*dict.fromkeys(labels)]
    for label in (each for each in used if each not in found):
        known_labels = ", ".join(map(repr, found)) or "none"
        rule = f"the label of a Choice, Bins or level of the workload ({known_labels})"
        remedy = meant(label, found) or f'say its categories: Choice({label!r}, ["a", "b"])'
        raise refuse("an axis", rule, label, remedy)
    kept = {label: found[label] for label in used}
    for axis in kept.values():
        if axis.where is not None:
            rule = f"an axis of a table has no condition of its own, got one for {axis.label!r}"
            raise InvalidParameterError(f"{rule}; give it to the whole workload: where=...")
    one_each(kept)
    return kept


def _said(tables: Sequence[Table], asked: Sequence[Said]) -> Iterable[Said]:
    """Return what was asked for, and all axes; one that many tables share, once."""
    own = (axis for table in tables for axis in table.axes if not isinstance(axis, str))
    return {id(axis): axis for axis in (*asked, *own)}.values()


def _levels(axis: Said) -> Sequence[Axis]:
    return axis.levels if isinstance(axis, Nested) else (axis,)


def one_each(kept: Mapping[str, Axis], beside: Iterable[Said] = ()) -> None:
    """Refuse a column that is in tables by two names, or in them by one and ``beside`` by another.

    With a condition of its own it is another attribute.
    """
    by_column: dict[object, str] = {}
    plain = [each for each in beside if not isinstance(each, Nested) and each.where is None]
    for axis in (*kept.values(), *plain):
        label = axis.label
        known = by_column.setdefault if label in kept else by_column.get
        if isinstance(axis.column, str) and (other := known(axis.column, label)) != label:
            rule = f"the column {axis.column!r} is in tables as {other!r} and as {label!r}"
            raise InvalidParameterError(f"{rule}; a column is one attribute: use one list for all")


def names_of(axes: Sequence[Axis]) -> Iterator[tuple[str, ...]]:
    """Go through the categories of each axis, as they are shown."""
    return (tuple(n.removeprefix(f"{axis.label}=") for n in axis.names) for axis in axes)
