"""The error of a sample in what a release says: which people each estimate is of, and its range.

Numbers are estimates, standard errors, low and high ends; whoever has them with the error of the
noise gets them back with that of the sample.
"""

import math

import numpy as np

from halfnoise.results import sampling
from halfnoise.results.inference import NUMBERS, Errors, Estimate, Floats, Pair, Range
from halfnoise.results.pairs import Pairs
from halfnoise.results.published import Published
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


class Sampled(Published):
    """A release, as far as its sample and its tables go."""

    __slots__ = ()
    questions: tuple[Question, ...]
    errors: Errors
    level: float
    rounded_values: bool
    known_size: float | None
    sampling: Sampling | None

    @property
    def whole_values(self) -> Floats:
        """The same values with counts in whole numbers."""
        raise NotImplementedError


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
        people = np.maximum(people_in(release, rows)[:, 0], LEAST)
        effect = effect * np.clip(rows[:, place] / people, *release.facts["weight"]["bounds"])
        effect = effect[0] if values is None else effect
    return Reach.of(release.errors.noise, release.level, effect)


def fault(release: Sampled, *, sized: bool) -> str | None:
    """Say what a release lacks for the error of a sample, if anything."""
    if not sized:
        return NO_SIZE
    asked = any(question.name == SQUARES for question in release.questions)
    return NO_EFFECTIVE if "weight" in release.facts and not asked else None


def varies(question: Question) -> bool:
    """Whether another sample would give another number: not how many were asked."""
    return not (question.is_sum and question.bounds is None)


def sums(
    release: Sampled, question: Question, values: Floats, numbers: Floats, part: int = 0
) -> Floats:
    """Return numbers of the sums or counts of a question, by rows of values and by cells."""
    if release.sampling is None or not varies(question):
        return numbers
    bounds, over = inside(release, question, values, part)
    own = reach(release, values)
    own = own._replace(effect=np.reshape(own.effect, (-1, 1)))
    return sampling.of_sums(numbers, (people_in(release, values), over), bounds, own)


def ratios(
    release: Sampled,
    numbers: Floats,
    values: Floats,
    errors: Errors | Pairs,
    pair: Pair,
    *,
    bounds: Range,
    of: Floats | None = None,
    beyond: bool = False,
) -> Floats:
    """Return numbers of means or shares, one for each row of values, kept within bounds.

    ``of``: whole rows, of which those of values are several cells each. ``beyond``: ends may lie
    beyond the bounds, as differences need them.
    """
    if release.sampling is None:
        return numbers
    whole = values if of is None and values.shape[1] > len(pair) else of
    far = reach(release, whole)
    if of is not None and np.ndim(far.effect):
        far = far._replace(effect=np.repeat(far.effect, len(values) // len(of)))
    top, bottom = pair
    own, under, shared = errors.three(pair)
    two = (values[:, top], values[:, bottom])
    squares = _measured(release, values, pair)
    found = sampling.of_ratios(numbers, two, (own, under, shared), bounds, far, squares=squares)
    return found if beyond else np.stack([*found[:2], *np.clip(found[2:], *bounds)])


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


def numbers_of(found: Estimate) -> Floats:
    """Return the numbers of an estimate."""
    return np.array([found.estimate, found.std, found.low, found.high])


def estimate_of(name: str, numbers: Floats) -> Estimate:
    """Return an estimate from its four numbers."""
    return Estimate(name=name, **dict(zip(NUMBERS, numbers.tolist(), strict=True)))


def at(release: Sampled, place: int) -> Question:
    """Return the question that an estimate is of."""
    return next(each for each in release.questions if each.start <= place < each.stop)


def people_in(release: Sampled, values: Floats) -> Floats:
    """Return the number of people for each row of values."""
    if release.known_size is not None:
        return np.full((len(values), 1), release.known_size)
    return values[:, -1:]  # without it, no error of a sample is asked for


def inside(release: Sampled, question: Question, values: Floats, part: int) -> tuple[Range, Floats]:
    """Return the range of one person's value, and how many people a sum of it is over."""
    people = people_in(release, values)
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
