"""The error of a sample in what a release says: which people each estimate is of, and its range.

Numbers are estimates, standard errors, low and high ends; whoever has them with the error of the
noise gets them back with that of the sample.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from halfnoise.results import sampling
from halfnoise.results.inference import Errors, Estimate, Floats, Pair, Range
from halfnoise.results.sampling import Reach, Sampling
from halfnoise.workload.question import Question
from halfnoise.workload.weights import SQUARES

LEAST = 1e-9  # people, to divide by
NO_EFFECTIVE = (
    "the error of a sample of people with weights needs its effective size, which this release does"
    " not give; ask for it (--effective-size, effective_size=True)"
)
NO_SIZE = (
    "the error of a sample needs the number of people, which this release does not give; ask for it"
    " (--size-importance 1, size_importance=1), or give it (--known-size 4400, known_size=4400)"
)


class Sampled(Protocol):
    """A release, as far as its sample goes."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """What was asked."""

    @property
    def values(self) -> Floats:
        """The estimates, the number of people last where it was measured."""

    @property
    def errors(self) -> Errors:
        """Their joint error."""

    @property
    def level(self) -> float:
        """How often an interval holds."""

    @property
    def known_size(self) -> float | None:
        """The number of people where it is known."""

    @property
    def sampling(self) -> Sampling | None:
        """How people came into the table, where intervals cover that."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """Public facts, with the column of weights, if there is one."""


def reach(release: Sampled, values: Floats | None = None) -> Reach:
    """Return how far intervals reach, here or for each row of values.

    Where people have weights the effective sample size stands in for their number: that divided by
    it is the mean of weights, each counted as often as it says.
    """
    how = release.sampling
    effect = np.array(1.0 if how is None else how.design_effect)
    if how is not None and "weight" in release.facts:
        rows = release.values[np.newaxis] if values is None else values
        place = next(q.start for q in release.questions if q.name == SQUARES)
        people = np.maximum(_people(release, rows)[:, 0], LEAST)
        effect = effect * np.clip(rows[:, place] / people, *release.facts["weight"]["bounds"])
        effect = effect[0] if values is None else effect
    return Reach.of(release.errors.noise, release.level, effect)


def fault(release: Sampled, *, sized: bool) -> str | None:
    """Say what a release lacks for the error of a sample, if anything."""
    if not sized:
        return NO_SIZE
    asked = any(question.name == SQUARES for question in release.questions)
    return NO_EFFECTIVE if "weight" in release.facts and not asked else None


def _varies(question: Question) -> bool:
    """Whether another sample would give another number: not how many were asked."""
    return not (question.is_sum and question.bounds is None)


def sums(
    release: Sampled, question: Question, values: Floats, numbers: Floats, part: int = 0
) -> Floats:
    """Return numbers of the sums or counts of a question, by rows of values and by cells."""
    if release.sampling is None or not _varies(question):
        return numbers
    bounds, inside = _inside(release, question, values, part)
    own = reach(release, values)
    own = own._replace(effect=np.reshape(own.effect, (-1, 1)))
    return sampling.of_sums(numbers, (_people(release, values), inside), bounds, own)


def ratios(
    release: Sampled,
    numbers: Floats,
    values: Floats,
    errors: Errors,
    pair: Pair,
    *,
    bounds: Range,
    of: Floats | None = None,
) -> Floats:
    """Return numbers of means or shares, one for each row of values, kept within bounds.

    ``of``: whole rows, of which those of values are several cells each.
    """
    if release.sampling is None:
        return numbers
    found = free_ratios(release, numbers, values, errors, pair, bounds=bounds, of=of)
    return np.stack([*found[:2], *np.clip(found[2:], *bounds)])


def free_ratios(
    release: Sampled,
    numbers: Floats,
    values: Floats,
    errors: Errors,
    pair: Pair,
    *,
    bounds: Range,
    of: Floats | None = None,
) -> Floats:
    """Return the same with ends that may lie beyond, as differences need them."""
    whole = values if of is None and values.shape[1] > len(pair) else of
    far = reach(release, whole)
    if of is not None and np.ndim(far.effect):
        far = far._replace(effect=np.repeat(far.effect, len(values) // len(of)))
    top, bottom = pair
    noise = (errors.covariance.variance(top), errors.covariance.variance(bottom))
    all_noise = (*noise, errors.covariance.between(top, bottom))
    own, under, shared = (errors.copies * each for each in all_noise)
    two = (values[:, top], values[:, bottom])
    return sampling.of_ratios(
        numbers,
        two,
        (own, under, shared),
        bounds,
        far,
        squares=_measured(release, values, pair),
    )


def _measured(release: Sampled, values: Floats, pair: Pair) -> Floats | None:
    """Return the variance of one person's value, where it was measured beside the mean."""
    pairs = {(q.start, q.start + 1): q for q in release.questions if q.deviates}
    if pair not in pairs or values.shape[1] < 3:  # two columns are a pair made for itself
        return None
    (low, high), (top, bottom) = pairs[pair].limits, pair
    with np.errstate(all="ignore"):
        away = values[:, top] / values[:, bottom] - (low + high) / 2
        found = values[:, bottom + 1] / values[:, bottom] - away**2
    return np.nan_to_num(np.maximum(found, 0.0), posinf=math.inf)


def linear(release: Sampled, found: Estimate, weights: Mapping[int, float]) -> Estimate:
    """Return a weighted sum of estimates with the error of the sample."""
    inside = release.questions[-1].stop
    used = {i: w for i, w in weights.items() if w and i < inside and _varies(at(release, i))}
    if release.sampling is None or not used:
        return found
    numbers = numbers_of(found)
    if len(weights) > 1:
        variance, most = spread(release, release.values, used)
        return with_numbers(found, sampling.of_weighted(numbers, variance, most, reach(release)))
    ((place, w),) = used.items()
    question = at(release, place)
    part, cell = divmod(place - question.start, question.cells)
    values = release.values[np.newaxis]
    bounds, over = _inside(release, question, values, part)
    own = over[:, [min(cell, over.shape[1] - 1)]]
    one = (numbers[[0, 1, 2, 3] if w > 0 else [0, 1, 3, 2]] / [w, abs(w), w, w]).reshape(4, 1, 1)
    people = _people(release, values)
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
    if not _varies(at(template, places[0])):
        return found
    two = [spread(template, values, {places[0]: 1.0}) for values in rows]
    own = reach(template, np.stack(rows))
    # As each group has an effect of its own, variances are multiplied here.
    effects = np.broadcast_to(own.effect, 2).tolist()
    pairs = [effect * each for effect, (each, _) in zip(effects, two, strict=True)]
    variance = sum(map(math.sqrt, pairs)) ** 2 if overlap else sum(pairs)
    most = max(effect * each for effect, (_, each) in zip(effects, two, strict=True))
    own = own._replace(effect=1.0)
    return with_numbers(found, sampling.of_weighted(numbers_of(found), variance, most, own))


def quotient(release: Sampled, found: Estimate, pair: Pair) -> Estimate:
    """Return one estimate divided by another, which may be of anything, with that error."""
    bottom = float(release.values[pair[1]])
    if release.sampling is None or not bottom or math.isinf(found.low) or math.isinf(found.high):
        return found
    inside = release.questions[-1].stop
    pairs = zip(pair, (1.0, -found.estimate), strict=True)
    weights = {i: w for i, w in pairs if i < inside and _varies(at(release, i))}
    variance, most = spread(release, release.values, weights)
    numbers = numbers_of(found)
    both = (variance / bottom**2, most / abs(bottom))
    return with_numbers(found, sampling.of_weighted(numbers, *both, reach(release)))


def block(release: Sampled, question: Question, found: Estimate, inside: float | None) -> Estimate:
    """Return the total over some cells of a table with that error; ``inside``: over how many."""
    if release.sampling is None:
        return found
    people = _people(release, release.values[np.newaxis])
    over = people if inside is None else np.full((1, 1), inside)
    bounds = question.limits if question.is_sum else (0.0, 1.0)
    numbers = numbers_of(found).reshape(4, 1, 1)
    wider = sampling.of_sums(numbers, (people, over), bounds, reach(release))
    return with_numbers(found, wider.ravel())


def cells(release: Sampled, question: Question, found: Estimate, w: Floats) -> Estimate:
    """Return a weighted sum of all cells of a table with that error."""
    if release.sampling is None:
        return found
    places = np.arange(question.cells)
    std, most = of_question(release, release.values, question, places, w.ravel())
    return with_numbers(
        found, sampling.of_weighted(numbers_of(found), std**2, most, reach(release))
    )


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


def numbers_of(found: Estimate) -> Floats:
    """Return the numbers of an estimate."""
    return np.array([found.estimate, found.std, found.low, found.high])


def with_numbers(found: Estimate, numbers: Floats) -> Estimate:
    """Return an estimate with other numbers."""
    x, std, low, high = numbers.tolist()
    return replace(found, estimate=x, std=std, low=low, high=high)


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
    n = max(0.0, float(_people(release, rows)[0, 0]))
    parts, cells = np.divmod(places, question.cells)
    squares, total, mixed, most = np.zeros(len(w)), np.zeros(len(w)), 0.0, 0.0
    for part in np.unique(parts).tolist():
        here = parts == part
        (low, high), inside = _inside(release, question, rows, part)
        m = np.maximum(0.0, np.broadcast_to(inside, (1, question.cells))[0, cells[here]])
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


def at(release: Sampled, place: int) -> Question:
    """Return the question that an estimate is of."""
    return next(each for each in release.questions if each.start <= place < each.stop)


def _people(release: Sampled, values: Floats) -> Floats:
    """Return the number of people for each row of values."""
    if release.known_size is not None:
        return np.full((len(values), 1), release.known_size)
    return values[:, -1:]  # without it, no error of a sample is asked for


def _inside(
    release: Sampled, question: Question, values: Floats, part: int
) -> tuple[Range, Floats]:
    """Return the range of one person's value, and how many people a sum of it is over."""
    people = _people(release, values)
    if part == 1 or not (question.is_sum or question.is_mean):
        return (0.0, 1.0), people
    low, high = question.limits
    if question.is_mean:
        start = question.start + question.cells
        answered = values[:, start : start + question.cells]
        return (low, high) if part == 0 else (0.0, (high - low) ** 2 / 4), answered
    if question.axes:
        alike = (each for each in release.questions if each.kind == "table")
        table = next(each for each in alike if each.axes == question.axes)
        return (low, high), values[:, table.start : table.stop]
    return (low, high), people
