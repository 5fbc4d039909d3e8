"""All estimates of all groups at once, as arrays: what every table and file is written from."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from halfnoise.results import by_place, sampled
from halfnoise.results.deviation import deviations
from halfnoise.results.inference import NUMBERS, Columns, Floats, Range, ratios
from halfnoise.results.release import Release
from halfnoise.results.whole import whole
from halfnoise.text import free, spelled
from halfnoise.workload.question import SIZE, CellNames, Question

COLUMNS = ("name", "kind", *NUMBERS)


def columns(release: Release, values: Floats, asked: Sequence[Question]) -> Columns:
    """Return one row for each estimate, group by group, the number of people first.

    ``values`` has a row for each group. All groups have the errors of the ``release``, so only the
    estimates themselves are computed for each of them. ``asked``: the questions to be listed;
    where tables are among them, a column for each axis says the category.
    """
    at = int(release.has_size)
    numbers = np.empty((len(NUMBERS), len(values), at + sum(map(width, asked))))
    names, kinds = np.empty((2, numbers.shape[2]), dtype=object)
    shown = values
    if release.rounded_values:
        covariance = release.errors.covariance
        shown = whole(release.questions, values, covariance, release.known_size)
    if at:
        names[0], kinds[0] = SIZE, "size"
        _size(release, values, shown, numbers[:, :, :1])
    for question in asked:
        own = slice(at, at + width(question))
        _name(question, names[own], kinds[own])
        _fill(release, question, (values, shown), numbers[:, :, own])
        at = own.stop
    text = _axes(asked, int(release.has_size)) | {"name": names, "kind": kinds}
    if len(values) != 1:
        text = {title: np.tile(each, len(values)) for title, each in text.items()}
    return text | dict(zip(NUMBERS, (each.ravel() for each in numbers), strict=True))


def _name(question: Question, names: Any, kinds: Any) -> None:
    """Write names and kinds of what a question shows: behind a mean its sum and its count."""
    own = question.names
    listed = own.listed() if isinstance(own, CellNames) else [*own]
    if not question.is_mean:
        names[:], kinds[:] = listed, question.shown_as
        return
    means, number = question.means, question.cells
    if question.deviates:
        names[:] = [*means, *listed]
        kinds[:] = ["mean", "sum", "count", "deviation"]
        return
    names[::3] = means.listed() if isinstance(means, CellNames) else [*means]
    names[1::3], names[2::3] = listed[:number], listed[number:]
    kinds[::3], kinds[1::3], kinds[2::3] = "mean", "sum", "count"


def _fill(
    release: Release, question: Question, both: tuple[Floats, Floats], numbers: Floats
) -> None:
    """Write the numbers of a question; ``both``: as they came out, and with counts rounded."""
    values, start, number = both[0], question.start, question.cells
    if not question.is_mean:
        _linear(release, question, both, numbers)
        return
    for part in (0, 1):
        own = numbers[:, :, 1 + part : width(question) : 3]
        _linear(release, question, both, own, part=part)
    if question.deviates:
        numbers[:, :, 3] = deviations(release, question, values)
    errors, pair, limits = release.errors, (start, start + number), question.limits
    if not question.in_tables:
        found = ratios(values, errors, pair, release.level, question.limits)
        wider = sampled.ratios(release, found, values, errors, pair, bounds=limits)
        numbers[:, :, 0] = wider
        return
    rows = [values[:, first : first + number].ravel() for first in pair]
    two = by_place.beside(errors, *pair, lambda own: np.repeat(own, number // len(own)))
    top_bottom = np.stack(rows, axis=1)
    found = ratios(top_bottom, two, (0, 1), release.level, question.limits)
    found = sampled.ratios(release, found, top_bottom, two, (0, 1), bounds=limits, of=values)
    numbers[:, :, ::3] = found.reshape(len(NUMBERS), len(values), number)


def _linear(
    release: Release,
    question: Question,
    both: tuple[Floats, Floats],
    numbers: Floats,
    *,
    part: int = 0,
) -> None:
    """Write sums or counts, which all have one standard error and one margin, or by place."""
    start, cells = question.start + part * question.cells, question.cells
    own, (values, shown) = slice(start, start + cells), both
    found = by_place.each(release.errors, start, release.level)
    std, margin = (np.repeat(each, cells // len(each)) for each in found)
    numbers[0], numbers[1] = values[:, own], std
    numbers[2], numbers[3] = numbers[0] - margin, numbers[0] + margin
    if release.sampling is not None:
        numbers[:] = sampled.sums(release, question, values, numbers, part)
    if not release.rounded_values or not question.is_count(start - question.start):
        return
    numbers[0] = shown[:, own]
    reaching(numbers)


def _size(release: Release, values: Floats, shown: Floats, numbers: Floats) -> None:
    """Write the number of people."""
    if (known := release.known_size) is not None:
        numbers[:] = np.array([known, 0.0, known, known]).reshape(-1, 1, 1)
    else:
        last = values.shape[1] - 1
        one = {last: 1.0}
        margin = release.errors.margin(one, release.level)
        numbers[0], numbers[1] = values[:, last:], release.errors.std(one)
        numbers[2], numbers[3] = numbers[0] - margin, numbers[0] + margin
        if release.rounded_values:
            numbers[0] = shown[:, last:]
            reaching(numbers)


def of_people(release: Release, values: Floats, place: int, bounds: Range) -> Floats:
    """Return an estimate divided by the number of people, for each row of values.

    As ``Release.share`` and ``Release.mean`` do for one, with the error of a sample if it counts.
    """
    if release.known_size is not None:
        rows = (replace(release, values=row).per_person("", place, bounds) for row in values)
        return np.stack([sampled.numbers_of(each) for each in rows], axis=1)
    pair, errors = (place, release.questions[-1].stop), release.errors
    found = ratios(values, errors, pair, release.level, bounds)
    return sampled.ratios(release, found, values, errors, pair, bounds=bounds)


def reaching(numbers: Floats) -> None:
    """Let intervals reach to what is shown."""
    numbers[2], numbers[3] = np.minimum(numbers[2], numbers[0]), np.maximum(numbers[3], numbers[0])


def _axes(asked: Sequence[Question], sized: int) -> Columns:
    """Return the category of each row along each axis of a table, None where it has none."""
    labels = dict.fromkeys(label for question in asked for label, _ in question.axes)
    found: Columns = {}
    for label in labels:
        title = free(label, (*COLUMNS, *found), "axis")
        column = np.empty(sized + sum(map(width, asked)), dtype=object)
        at = sized
        for question in asked:
            own = column[at : at + width(question)]
            if label in dict(question.axes):
                own[:] = _along(label, question)
            at += len(own)
        found[title] = column
    return found


def _along(label: str, question: Question) -> Any:
    """Return the category of each row of a table along one of its axes."""
    shape = [len(categories) for _, categories in question.axes]
    axis = [each for each, _ in question.axes].index(label)
    own = np.array(question.axes[axis][1], dtype=object)
    spread = own.reshape([len(own) if i == axis else 1 for i in range(len(shape))])
    cells = np.broadcast_to(spread, shape).ravel()
    return np.repeat(cells, 3) if question.is_mean else cells


def width(question: Question) -> int:
    """Return how many rows a question takes in a table."""
    return question.cells * (3 if question.is_mean else 1) + question.deviates


def one_type(values: list[Any]) -> list[Any]:
    """Return a column whose values, where there are any, have one type; several become text."""
    if len({type(value) for value in values if value is not None}) <= 1:
        return values
    return [None if value is None else spelled(value) for value in values]
