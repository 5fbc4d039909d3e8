"""What noisy values themselves suggest to check: where they may be nothing but noise.

A column that was misspelled, codes that match nobody and dates that no rule reads all look the
same afterwards: a number within its margin of zero. To say so is post-processing: it is free.
"""

from collections.abc import Iterator, Sequence

from halfnoise.results import by_place
from halfnoise.results.release import Release
from halfnoise.text import listed
from halfnoise.workload.question import SIZE, Question

SURELY = 1 - 1e-6


def doubts(release: Release) -> list[str]:
    """Say in a line each which numbers may be zero, cannot be, or are means that nobody gave."""
    empty = [SIZE] if release.known_size is None and _nothing(release, _size(release)) else []
    silent = []
    for question in release.questions:
        if question.axes:  # that nobody is in a cell is nothing odd
            continue
        if question.is_mean:
            silent += [question.name] * _nothing(release, [question.start + 1])
        else:
            empty += [name for name, places in _parts(question) if _nothing(release, places)]
    said = []
    if empty:
        what = "the column, its codes and how its values are written"
        said.append(f"within the margin of zero, so perhaps nobody: {listed(empty)}; check {what}")
    if odd := [question.name for question in release.questions if _impossible(release, question)]:
        what = "known_size (--known-size), which moves every count if it is wrong"
        said.append(f"below zero or above the number of people: {listed(odd)}; check {what}")
    if silent:
        said.append(f"perhaps nobody answered {listed(silent)}; check how the values are written")
    return said


def _impossible(release: Release, question: Question) -> bool:
    """Whether a count is where none can be, by more than its noise, beside a number that is given.

    The margin is that of one in a million, as many are looked at.
    """
    if release.known_size is None or question.is_sum or question.is_mean:
        return False
    surely = SURELY if not question.axes else 1 - (1 - SURELY) / len(question.names)
    margin = float(by_place.each(release.errors, question.start, surely)[1].max())
    values = release.values[question.start : question.start + len(question.names)]
    return bool((values < -margin).any() or (values > release.known_size + margin).any())


def _size(release: Release) -> list[int]:
    return [release.questions[-1].stop] if release.has_size and release.known_size is None else []


def _parts(question: Question) -> Iterator[tuple[str, list[int]]]:
    """Go through what is hardly empty by chance: each count and sum, all bands or items together.

    Of a choice the category for all others tells (``Question.notes``).
    """
    places = list(range(question.start, question.start + len(question.names)))
    if question.kind == "count":
        yield from ((name, [i]) for name, i in zip(question.names, places, strict=True))
    elif question.is_sum:
        low, high = question.limits
        if low >= 0 or high <= 0:  # others may well add up to zero
            yield question.name, places
    elif question.kind == "bins":
        yield question.name, places[:-1]  # the last is for what is in none
    elif question.kind == "items":
        yield question.name, places


def _nothing(release: Release, places: Sequence[int]) -> bool:
    """Whether what these add up to is no larger than its noise may be."""
    if not places:
        return False
    weights = dict.fromkeys(places, 1.0)
    total = abs(sum(float(release.values[i]) for i in places))
    return total <= release.errors.margin(weights, release.level)
