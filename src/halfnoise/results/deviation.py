"""The standard deviation of one person's value, from a mean that was asked for its variance."""

import math

import numpy as np

from halfnoise.results import sampled
from halfnoise.results.inference import Errors, Estimate, Floats
from halfnoise.results.sampled import Sampled, estimate_of
from halfnoise.results.sampling import Curve, ends
from halfnoise.workload.question import Question


@np.errstate(all="ignore")
def deviations(release: Sampled, question: Question, values: Floats) -> Floats:
    """Return estimates, standard errors, low and high ends, one for each row of values.

    With q the mean of squared distances from the middle c, and d that of the distances, the
    variance is  q - d^2,  and its error that of  (Q - 2 d Y + (2 d (c + d) - q) A)/A,  where Q, Y
    and A are the sums of squares, of values, and who answered. Of a sample of A people it varies by
    no more than  v (B - v)/A,  v the variance and B the largest square of a distance from the mean;
    an interval holds every v that fits, as those of means do (``sampling``).
    """
    low, high = question.limits
    middle, most = (low + high) / 2, (high - low) ** 2 / 4
    reach = sampled.reach(release)
    reach = reach if release.sampling else reach._replace(effect=0.0)
    y, a, squares = (values[:, question.start + i] for i in range(3))
    noise = _noise(release.errors, question.start)
    sure = a > reach.z * math.sqrt(reach.heavier * float(noise[1, 1]))
    people = np.where(sure, a, 1.0)
    q, d = squares / people, y / people - middle
    gradient = np.stack([-2 * d, 2 * d * (middle + d) - q, np.ones_like(d)]) / people
    found = q - d**2
    variance, far = np.clip(found, 0.0, most), (np.abs(d) + (high - low) / 2) ** 2
    error = np.maximum(0.0, np.einsum("ir,ij,jr->r", gradient, noise, gradient))
    one = (variance * (far - variance), far - 2 * variance, -np.ones_like(far))
    sample = Curve(*(each / people for each in one))
    std = np.sqrt(error + reach.effect * sample.here)
    margin, both = reach.z * np.sqrt(reach.heavier * error), sample.beside(Curve(error), reach)
    h = reach.effect * far / people / 2
    low_end, high_end = ends(found, 1.0, variance, (both, both), reach.z, h=h)
    x = np.sqrt(variance)
    below = np.sqrt(np.clip(np.minimum(low_end, found - margin), 0.0, most))
    above = np.sqrt(np.clip(np.maximum(high_end, found + margin), 0.0, most))
    halves = std / (2 * np.maximum(x, np.sqrt(std)))
    numbers = (x, halves, np.minimum(below, x), np.maximum(above, x))
    unknown = (0.0, math.inf, 0.0, math.sqrt(most))
    told = sure & np.isfinite(np.stack(numbers)).all(axis=0)
    return np.stack([np.where(told, *each) for each in zip(numbers, unknown, strict=True)])


def deviation(release: Sampled, question: Question) -> Estimate:
    """Return the standard deviation of one release."""
    numbers = deviations(release, question, release.values[np.newaxis])
    return estimate_of(question.names[2], numbers[:, 0])


def _noise(errors: Errors, start: int) -> Floats:
    between = errors.covariance.between
    places = range(start, start + 3)
    return errors.copies * np.array([[between(i, j) for j in places] for i in places])
