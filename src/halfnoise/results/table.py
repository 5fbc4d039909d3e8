"""All estimates of all groups at once, as arrays: what every table and file is written from."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.results.inference import ANYTHING, Errors, Floats, ratios

SIZE = "number of people"
NUMBERS = ("estimate", "std", "low", "high")
COLUMNS = ("name", "kind", *NUMBERS)

Columns: TypeAlias = dict[str, NDArray[Any]]
"""A table by column: numbers as float64, all else as objects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query of the release, as its result needs it: where its estimates stand, and its range."""

    name: str
    kind: str
    start: int
    names: tuple[str, ...]
    bounds: tuple[float, float] | None = None
    other: int | None = None

    def is_count(self, place: int) -> bool:
        """Whether the estimate at this place among its own is a number of people."""
        return self.kind != "sum" and (self.kind != "mean" or place == 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The estimates of several groups, a row of values for each.

    All groups have the same errors, so only the estimates themselves are computed for each of them.
    """

    questions: Sequence[Question]
    values: Floats
    errors: Errors
    level: float
    known_size: float | None = None
    rounded: bool = False

    def columns(self) -> Columns:
        """Return one row for each estimate, group by group, the number of people first."""
        rows = list(self._rows())
        kinds, names, places, stds, margins = map(list, zip(*rows, strict=True))
        numbers = np.empty((len(NUMBERS), len(self.values), len(rows)))
        numbers[0], numbers[1] = self.values[:, places], stds
        numbers[2], numbers[3] = numbers[0] - margins, numbers[0] + margins
        if self.known_size is not None:
            numbers[:, :, 0] = [[self.known_size], [0.0], [self.known_size], [self.known_size]]
        bounds = {question.start: question.bounds or ANYTHING for question in self.questions}
        for row, (kind, place) in enumerate(zip(kinds, places, strict=True)):
            if kind == "mean":
                pair = (place, place + 1)
                numbers[:, :, row] = ratios(
                    self.values, self.errors, pair, self.level, bounds=bounds[place]
                )
        if self.rounded:
            self._round(numbers, kinds)
        text = zip(COLUMNS, (names, kinds), strict=False)
        found = {
            title: np.tile(np.array(each, dtype=object), len(self.values)) for title, each in text
        }
        return found | {title: each.ravel() for title, each in zip(NUMBERS, numbers, strict=True)}

    def _rows(self) -> Iterator[tuple[str, str, int, float, float]]:
        """Go through kind, name and place of the estimates of a group, with std and margin.

        A mean stands where its sum does; its errors are not the same for all groups.
        """
        count = sum(len(question.names) for question in self.questions)
        if self.known_size is not None:
            yield "size", SIZE, 0, 0.0, 0.0
        elif count < self.values.shape[1]:
            yield "size", SIZE, count, *self._errors(count)
        for question in self.questions:
            if question.kind == "mean":
                yield "mean", question.name, question.start, 0.0, 0.0
            errors = self._errors(question.start)
            for place, name in enumerate(question.names):
                if place and question.kind == "mean":
                    # But for a Mean the queries of one question share a margin.
                    errors = self._errors(question.start + place)
                kind = "count" if question.is_count(place) else "sum"
                yield kind, name, question.start + place, *errors

    def _errors(self, place: int) -> tuple[float, float]:
        one = {place: 1.0}
        return self.errors.std(one), self.errors.margin(one, self.level)

    def _round(self, numbers: Floats, kinds: Sequence[str]) -> None:
        most: Floats | float = math.inf
        if kinds[0] == "size":
            if self.known_size is None:
                numbers[:, :, :1] = in_range(numbers[:, :, :1], most)
            most = np.maximum(np.rint(numbers[0, :, :1]), 0.0)
        counts = [row for row, kind in enumerate(kinds) if kind == "count"]
        numbers[:, :, counts] = in_range(numbers[:, :, counts], most)


def in_range(numbers: Floats, most: Floats | float) -> Floats:
    """Return counts rounded and within [0, most], and intervals that reach to them."""
    x, std, low, high = numbers
    # Adding zero makes a negative one positive.
    x = np.minimum(np.maximum(np.rint(x), 0.0), most) + 0.0
    return np.stack([x, std, np.minimum(low, x), np.maximum(high, x)])


def spelled(value: object) -> str:
    """Return a key, name or number as text.

    >>> import datetime as dt
    >>> [spelled(each) for each in ("north", 7, True, dt.date(2026, 1, 2), None)]
    ['north', '7', 'true', '2026-01-02', '']
    """
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def one_type(values: list[Any]) -> list[Any]:
    """Return a column whose values, where there are any, have one type; several become text.

    >>> one_type([1, None, 2]), one_type([1, "other"])
    ([1, None, 2], ['1', 'other'])
    """
    if len({type(value) for value in values if value is not None}) <= 1:
        return values
    return [None if value is None else spelled(value) for value in values]
