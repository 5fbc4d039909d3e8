"""All estimates of all groups at once, as arrays: what every table and file is written from."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from halfnoise.results.inference import Floats, ratios
from halfnoise.results.published import Columns
from halfnoise.results.release import Release
from halfnoise.text import spelled
from halfnoise.workload.question import SIZE, Row

NUMBERS = ("estimate", "std", "low", "high")
COLUMNS = ("name", "kind", *NUMBERS)


def columns(release: Release, values: Floats) -> Columns:
    """Return one row for each estimate, group by group, the number of people first.

    ``values`` has a row for each group. All groups have the errors of the ``release``, so only the
    estimates themselves are computed for each of them.
    """
    rows, stds, margins = map(list, zip(*_rows(release), strict=True))
    numbers = np.empty((len(NUMBERS), len(values), len(rows)))
    numbers[0], numbers[1] = values[:, [row.place for row in rows]], stds
    numbers[2], numbers[3] = numbers[0] - margins, numbers[0] + margins
    if (known := release.known_size) is not None:
        numbers[:, :, 0] = [[known], [0.0], [known], [known]]
    for number, row in enumerate(rows):
        if row.limits is not None:
            pair = (row.place, row.below)
            shown = ratios(values, release.errors, pair, release.level, row.limits)
            numbers[:, :, number] = shown
    if release.rounded_values:
        _round(numbers, [number for number, row in enumerate(rows) if row.is_count], release)
    text = np.array([[row.name, row.kind] for row in rows], dtype=object).T
    named = [np.tile(each, len(values)) for each in text]
    return dict(zip(COLUMNS, [*named, *(each.ravel() for each in numbers)], strict=True))


def _rows(release: Release) -> Iterator[tuple[Row, float, float]]:
    """Go through the rows of a group, with std and margin; those of a mean vary by group."""
    size = Row("size", SIZE, len(release.names))
    if release.known_size is not None:
        yield size._replace(place=0), 0.0, 0.0
    elif release.has_size:
        yield size, *_errors(release, size.place)
    for question in release.questions:
        errors = _errors(release, question.start)
        for row in question.rows():
            if question.is_mean and row.place > question.start:
                # But for a Mean the queries of one question share a margin.
                errors = _errors(release, row.place)
            yield row, *errors


def _errors(release: Release, place: int) -> tuple[float, float]:
    one = {place: 1.0}
    return release.errors.std(one), release.errors.margin(one, release.level)


def _round(numbers: Floats, counts: list[int], release: Release) -> None:
    most: Floats | float = math.inf
    if release.has_size:
        if release.known_size is None:
            numbers[:, :, :1] = in_range(numbers[:, :, :1], most)
        most = np.maximum(np.rint(numbers[0, :, :1]), 0.0)
    numbers[:, :, counts] = in_range(numbers[:, :, counts], most)


def in_range(numbers: Floats, most: Floats | float) -> Floats:
    """Return counts rounded and within [0, most], and intervals that reach to them."""
    x, std, low, high = numbers
    # Adding zero makes a negative one positive.
    x = np.minimum(np.maximum(np.rint(x), 0.0), most) + 0.0
    return np.stack([x, std, np.minimum(low, x), np.maximum(high, x)])


def one_type(values: list[Any]) -> list[Any]:
    """Return a column whose values, where there are any, have one type; several become text."""
    if len({type(value) for value in values if value is not None}) <= 1:
        return values
    return [None if value is None else spelled(value) for value in values]
