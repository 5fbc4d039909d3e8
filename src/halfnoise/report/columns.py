"""Estimates by name, each in all groups at once: what tables and charts are made of."""

import math
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from halfnoise.results import table
from halfnoise.results.inference import ANYTHING, NUMBERS, Floats
from halfnoise.results.release import GroupedRelease, Release, Released
from halfnoise.results.reliability import (
    LEFT_OUT,
    NO_RULE,
    NOT_BELOW_ZERO,
    Reliability,
    marked,
    relative,
    said,
)
from halfnoise.results.sampled import numbers_of
from halfnoise.results.shown import error, shown
from halfnoise.results.wide import DASH
from halfnoise.text import named
from halfnoise.values import dataclass, replace
from halfnoise.workload.question import Question
from halfnoise.workload.weights import HEADS, SQUARES

RELATIVE = "RSE"  # relative standard error, as offices write it


def margin(numbers: Floats) -> str:
    """Say how far numbers may be off: the farther end of each interval, from least to most.

    Those that are none, as they are left out, do not count.

    >>> margin(np.array([[1.0, 2.0], [0.1, 0.1], [0.8, 1.5], [1.2, 2.3]]))
    '±0.2 to ±0.5'
    """
    x, _, low, high = numbers.reshape(4, -1)[:, ~np.isnan(numbers[0]).ravel()]
    if not x.size:
        return DASH
    with np.errstate(invalid="ignore"):
        far = np.fmax(x - low, high - x)
    least, most = (f"±{error(float(each))}" for each in (far.min(), far.max()))
    return least if least == most else f"{least} to {most}"


def marks(numbers: Floats, kind: str, rule: Reliability) -> list[str]:
    """Return how reliable each of some numbers is, by a rule: its mark, or none."""
    found = rule.marks(relative(*numbers[:2], counts=kind in NOT_BELOW_ZERO))
    return [str(each) for each in found.ravel()]


def without(numbers: Floats, marked: list[str]) -> Floats:
    """Return numbers without those that are left out, in whose place is none."""
    gone = np.array([mark == LEFT_OUT for mark in marked]).reshape(numbers.shape[1:])
    return np.where(gone, np.nan, numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One name: estimate, standard error and both ends, each by group; shares in per cent."""

    name: str
    kind: str
    numbers: Floats
    ones: bool = False
    limits: tuple[float, float] = ANYTHING
    rule: Reliability = NO_RULE

    @property
    def open(self) -> NDArray[np.bool_]:
        """Of which groups it says nothing: the interval is all there is."""
        low, high = self.limits
        return np.asarray((self.numbers[2] <= low) & (self.numbers[3] >= high))

    @property
    def mark(self) -> str:
        """What stands behind each number."""
        return "%" if self.kind == "share" else ""

    def texts(self) -> list[str]:
        """Return the estimates as they are shown, a dash for what the noise leaves open."""
        cells = zip(self.open.tolist(), self._shown(0), self._marks, strict=True)
        return [DASH if nothing else marked(text, mark) for nothing, text, mark in cells]

    def ends(self) -> list[str]:
        """Return the intervals as they are shown."""
        cells = zip(*map(self._shown, (2, 3)), self._marks, strict=True)
        return [LEFT_OUT if m == LEFT_OUT else f"{low} to {high}" for low, high, m in cells]

    def relative(self) -> list[str]:
        """Return the relative standard errors as they are shown."""
        found = relative(*self.numbers[:2], counts=self.kind in NOT_BELOW_ZERO)
        cells = zip(self.open.tolist(), found.tolist(), self._marks, strict=True)
        return [
            DASH if nothing else LEFT_OUT if m == LEFT_OUT else said(x) for nothing, x, m in cells
        ]

    @property
    def drawn(self) -> Floats:
        """The numbers that charts show: not those that are left out."""
        return without(self.numbers, self._marks)

    @property
    def _marks(self) -> list[str]:
        return marks(self.numbers, self.kind, self.rule)

    def margin(self) -> str:
        """Return the margin of error: the farther end, and from least to most if it differs."""
        known = self.drawn[:, ~self.open]
        return margin(known) + (" points" if self.kind == "share" else "")

    def _shown(self, number: int) -> list[str]:
        pairs = zip(self.numbers[number].tolist(), self.numbers[1].tolist(), strict=True)
        return [shown(x, std, self.kind, ones=self.ones) + self.mark for x, std in pairs]


def more(number: int, what: str) -> str:
    """Say how many there are beside what is shown."""
    return f"... and {number:,} more {what}"


def plain(column: Column, question: Question) -> Column:
    """Return a column by its category alone: A, not blood=A."""
    return replace(column, name=column.name.removeprefix(f"{question.name}="))


class Columns:
    """All estimates of a release outside its tables; ``one`` is what all groups share."""

    def __init__(self, release: Released, most: int | None = None) -> None:
        """Take a release, which is one group if it has none; ``most`` groups or names of it."""
        self.release, self.most = release, most
        self.rule = Reliability.of(release.facts)
        if isinstance(release, GroupedRelease):
            self.one: Release = release.template
            self.values: Floats = release.values[:most]
        else:
            self.one, self.values = release, release.values[np.newaxis]

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """The columns whose values name groups."""
        release = self.release
        return tuple(by.column for by in release.by) if isinstance(release, GroupedRelease) else ()

    @cached_property
    def keys(self) -> list[tuple[str, ...]]:
        """What names each group."""
        if not isinstance(self.release, GroupedRelease):
            return [()]
        return [tuple(map(named, key)) for key in self.release.group_keys[: self.most]]

    def size(self) -> list[Column]:
        """Return the number of people, if it is given."""
        return self._found(())[: int(self.one.has_size)]

    @cached_property
    def sizes(self) -> list[Column]:
        """The number of people and, where they have weights, what else says how many they are."""
        found = self.size()
        beside = {each.name: each for each in self.one.questions if each.of_weights}
        for name in (HEADS, SQUARES):
            if (question := beside.get(name)) is not None:
                (own,) = self.of(question)
                found.append(replace(own, kind="size" if name == HEADS else "sum"))
        return found + self._effective()

    def _effective(self) -> list[Column]:
        """Return the effective sample size, where squares of weights were asked for."""
        if not self.one.has_size or SQUARES not in self.one:
            return []
        each = (replace(self.one, values=row).effective_size for row in self.values)
        open_ = [math.nan, math.inf, 0.0, math.inf]
        rows = [open_ if one is None else numbers_of(one) for one in each]
        numbers = np.array(rows, dtype=float).reshape(-1, 4).T
        limits = (0.0, math.inf)
        name = "effective sample size"
        return [Column(name=name, kind="size", numbers=numbers, limits=limits, rule=self.rule)]

    def of(self, question: Question) -> list[Column]:
        """Return what a question gives: a mean comes with its sum and how many answered."""
        found = self._found((question,))[int(self.one.has_size) :]
        return found if question.is_mean else found[: self.most]

    @property
    def _rows(self) -> int | None:
        return None if self.most is None else self.most + 3  # people, or what goes with a mean

    def _found(self, asked: tuple[Question, ...]) -> list[Column]:
        groups, ones = len(self.values), self.one.rounded_values
        some = self.values if groups else np.zeros((1, self.values.shape[1]))  # names all the same
        found = table.columns(self.one, some, asked)
        rows = len(found["name"]) // len(some)
        numbers = np.stack([found[name].reshape(len(some), rows)[:groups] for name in NUMBERS])
        pairs = zip(found["name"][:rows].tolist(), found["kind"][:rows].tolist(), strict=True)
        return [
            Column(
                name=name,
                kind=kind,
                numbers=numbers[:, :, row],
                ones=ones,
                limits=asked[0].limits if kind == "mean" else ANYTHING,
                rule=self.rule,
            )
            for row, (name, kind) in islice(enumerate(pairs), self._rows)
        ]

    def shares(self, question: Question) -> list[Column]:
        """Return counts as shares of all people in a group, where their number is given."""
        return [
            Column(
                name=name,
                kind="share",
                numbers=100 * table.of_people(self.one, self.values, place, (0.0, 1.0)),
                limits=(0.0, 100.0),
                rule=self.rule,
            )
            for place, name in enumerate(question.names[: self.most], start=question.start)
            if self.one.has_size
        ]

    def per_person(self, question: Question) -> list[Column]:
        """Return a sum as a mean over all people in a group, where their number is given."""
        name, limits = question.names[0], question.limits
        if not self.one.has_size:
            return []
        numbers = table.of_people(self.one, self.values, question.start, limits)
        return [Column(name=name, kind="mean", numbers=numbers, limits=limits, rule=self.rule)]
