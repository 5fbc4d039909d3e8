"""The error of a sample in what is made of several estimates: sums, ratios, differences."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.covariance import Shared
from halfnoise.results import sampled, sampling
from halfnoise.results.inference import Estimate, Floats, Pair, Range, apart, ratios
from halfnoise.results.sampled import (
    Sampled,
    at,
    estimate_of,
    inside,
    numbers_of,
    people_in,
    reach,
    varies,
)
from halfnoise.workload.question import Question


def linear(release: Sampled, found: Estimate, weights: Mapping[int, float]) -> Estimate:
    """Return a weighted sum of estimates with the error of the sample."""
    end = release.questions[-1].stop
    used = {i: w for i, w in weights.items() if w and i < end and varies(at(release, i))}
    if release.sampling is None or not used:
        return found
    numbers = numbers_of(found)
    if len(weights) > 1:
        variance, most = spread(release, release.values, used)
        return estimate_of(
            found.name, sampling.of_weighted(numbers, variance, most, reach(release))
        )
    ((place, w),) = used.items()
    question = at(release, place)
    part, cell = divmod(place - question.start, question.cells)
    values = release.values[np.newaxis]
    bounds, over = inside(release, question, values, part)
    own = over[:, [min(cell, over.shape[1] - 1)]]
    one = (numbers[[0, 1, 2, 3] if w > 0 else [0, 1, 3, 2]] / [w, abs(w), w, w]).reshape(4, 1, 1)
    people = people_in(release, values)
    wider = w * sampling.of_sums(one, (people, own), bounds, reach(release)).ravel()
    x, std, low, high = wider.tolist()
    return replace(found, estimate=x, std=abs(std), low=min(low, high), high=max(low, high))


def between(
    template: Sampled, found: Estimate, name: str, rows: tuple[Floats, Floats], *, overlap: bool
) -> Estimate:
    """Return an estimate in one group minus that in another with that error.

    ``overlap``: whether people may be in both, and what they add to each hang together.
    """
    places = [q.start + q.names.index(name) for q in template.questions if name in q.names]
    if template.sampling is None or not places:  # the number of people, which is that of the sample
        return found
    if not varies(at(template, places[0])):
        return found
    two = [spread(template, values, {places[0]: 1.0}) for values in rows]
    own = reach(template, np.stack(rows))
    # As each group has an effect of its own, variances are multiplied here.
    effects = np.broadcast_to(own.effect, 2).tolist()
    pairs = [effect * each for effect, (each, _) in zip(effects, two, strict=True)]
    variance = sum(map(math.sqrt, pairs)) ** 2 if overlap else sum(pairs)
    most = max(effect * each for effect, (_, each) in zip(effects, two, strict=True))
    own = own._replace(effect=1.0)
    return estimate_of(found.name, sampling.of_weighted(numbers_of(found), variance, most, own))


def quotient(release: Sampled, found: Estimate, pair: Pair) -> Estimate:
    """Return one estimate divided by another, which may be of anything, with that error."""
    bottom = float(release.values[pair[1]])
    if release.sampling is None or not bottom or math.isinf(found.low) or math.isinf(found.high):
        return found
    end = release.questions[-1].stop
    pairs = zip(pair, (1.0, -found.estimate), strict=True)
    weights = {i: w for i, w in pairs if i < end and varies(at(release, i))}
    variance, most = spread(release, release.values, weights)
    numbers = numbers_of(found)
    both = (variance / bottom**2, most / abs(bottom))
    return estimate_of(found.name, sampling.of_weighted(numbers, *both, reach(release)))


def block(release: Sampled, question: Question, found: Estimate, inside: float | None) -> Estimate:
    """Return the total over some cells of a table with that error; ``inside``: over how many."""
    if release.sampling is None:
        return found
    people = people_in(release, release.values[np.newaxis])
    over = people if inside is None else np.full((1, 1), inside)
    bounds = question.limits if question.is_sum else (0.0, 1.0)
    numbers = numbers_of(found).reshape(4, 1, 1)
    wider = sampling.of_sums(numbers, (people, over), bounds, reach(release))
    return estimate_of(found.name, wider.ravel())


def cells(release: Sampled, question: Question, found: Estimate, w: Floats) -> Estimate:
    """Return a weighted sum of all cells of a table with that error."""
    if release.sampling is None:
        return found
    places = np.arange(question.cells)
    std, most = of_question(release, release.values, question, places, w.ravel())
    wider = sampling.of_weighted(numbers_of(found), std**2, most, reach(release))
    return estimate_of(found.name, wider)


def parts_of_sums(
    release: Sampled, numbers: Floats, rows: Floats, inside: Floats, question: Question
) -> Floats:
    """Return cells of sums as parts of those of a margin with that error.

    ``rows``: a cell and that of the margin; ``inside``: over how many people each is. A part r of
    it varies with  (1 - r)^2 squares inside + r^2 squares outside the cell.
    """
    (low, high), bottom = question.limits, rows[:, 1]
    squares = np.maximum(0.0, (low + high) * rows - low * high * np.maximum(inside, 0.0))
    r, outside = numbers[0], np.maximum(0.0, squares[:, 1] - squares[:, 0])
    variance = (1 - r) ** 2 * squares[:, 0] + r**2 * outside
    with np.errstate(all="ignore"):
        both = (variance / bottom**2, (high - low) / np.abs(bottom))
        found = sampling.of_weighted(numbers, *both, reach(release))
    return np.where(np.isfinite(found), found, numbers)


def spread(release: Sampled, values: Floats, weights: Mapping[int, float]) -> tuple[float, float]:
    """Return the variance of a weighted sum over a sample, and the most that a person adds to one.

    What two questions have in common is not known: their standard errors add up. Of categories, and
    of cells of a table, a person is in one.
    """
    by: dict[int, tuple[Question, dict[int, float]]] = {}
    for place, w in weights.items():
        question = at(release, place)
        by.setdefault(question.start, (question, {}))[1][place - question.start] = w
    deviation, most = 0.0, 0.0
    for question, own in by.values():
        places, weight = np.array([*own]), np.array([*own.values()])
        more, reached = of_question(release, values, question, places, weight)
        deviation, most = deviation + more, max(most, reached)
    return deviation**2, most


def of_question(
    release: Sampled, values: Floats, question: Question, places: NDArray[Any], w: Floats
) -> tuple[float, float]:
    """Return the standard deviation of a weighted sum of one question's estimates, as above."""
    rows = values[np.newaxis]
    n = max(0.0, float(people_in(release, rows)[0, 0]))
    parts, cells = np.divmod(places, question.cells)
    squares, total, mixed, most = np.zeros(len(w)), np.zeros(len(w)), 0.0, 0.0
    for part in np.unique(parts).tolist():
        here = parts == part
        (low, high), over = inside(release, question, rows, part)
        m = np.maximum(0.0, np.broadcast_to(over, (1, question.cells))[0, cells[here]])
        x = np.clip(values[question.start + places[here]], low * m, high * m)
        squares[here] = np.maximum(0.0, (low + high) * x - low * high * m)
        total[here] = x
        most = max(most, float(np.abs(w[here]).max()) * (high - low))
    if question.is_mean:  # of a cell, the sum is over those who answered there
        own = {(p, c): (v, x) for p, c, v, x in zip(parts, cells, w, total, strict=True)}
        pairs = ((own[0, c], own[1, c]) for p, c in own if p == 0 and (1, c) in own)
        mixed = sum(2 * one * other * x for (one, x), (other, _) in pairs)
    if question.kind == "items" or (parts > 1).any():
        alone = np.sqrt(np.maximum(0.0, squares - (total**2 / n if n else 0.0)))
        return float((np.abs(w) * alone).sum()), most
    mean = float(w @ total) ** 2 / n if n else 0.0
    return math.sqrt(max(0.0, float(w**2 @ squares) + mixed - mean)), most


def groups_apart(
    template: Sampled,
    two: tuple[Floats, Floats],
    pair: Pair,
    bounds: Range,
    shared: Sequence[Shared],
    *,
    over: bool,
) -> Floats:
    """Return a ratio in one group minus that in another; ``over``: people may be in both."""
    errors, level = template.errors, template.level

    def wider(rows: Floats, numbers: Floats) -> Floats:
        return sampled.ratios(template, numbers, rows, errors, pair, bounds=bounds, beyond=True)

    if template.sampling is None or not over:
        own = None if template.sampling is None else wider
        return apart(two, errors, pair, level, shared, wider=own)
    one, other = (wider(rows, ratios(rows, errors, pair, level)) for rows in two)
    ends = [one[2] - other[3], one[3] - other[2]]
    return np.array([one[0] - other[0], one[1] + other[1], *ends])
