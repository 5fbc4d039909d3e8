"""The standard deviation of one person's value, from a mean that was asked for its variance."""

import math

import numpy as np

from halfnoise.results import sampled
from halfnoise.results.inference import Errors, Estimate, Floats
from halfnoise.results.sampled import Sampled
from halfnoise.results.sampling import Reach
from halfnoise.workload.question import Question


@np.errstate(all="ignore")
def deviations(release: Sampled, question: Question, values: Floats) -> Floats:
    """Return estimates, standard errors, low and high ends, one for each row of values.

    With q the mean of squared distances from the middle c, and d that of the distances, the
    variance is  q - d^2,  and its error that of  (Q - 2 d Y + (2 d (c + d) - q) A)/A,  where Q, Y
    and A are the sums of squares, of values, and who answered. Of a sample of A people it varies by
    no more than  v (B - v)/A,  v the variance and B the largest square of a distance from the mean.
    """
    low, high = question.limits
    middle, most = (low + high) / 2, (high - low) ** 2 / 4
    reach = sampled.reach(release)
    y, a, squares = (values[:, question.start + i] for i in range(3))
    noise = _noise(release.errors, question.start)
    sure = a > reach.z * math.sqrt(reach.heavier * float(noise[1, 1]))
    people = np.where(sure, a, 1.0)
    q, d = squares / people, y / people - middle
    gradient = np.stack([-2 * d, 2 * d * (middle + d) - q, np.ones_like(d)]) / people
    variance = np.clip(q - d**2, 0.0, most)
    error = np.einsum("ir,ij,jr->r", gradient, noise, gradient)
    of_sample = _of_sample(release, variance, np.abs(d) + (high - low) / 2, reach) / people
    std = np.sqrt(np.maximum(0.0, error + of_sample))
    margin = reach.z * np.sqrt(np.maximum(0.0, reach.heavier * error + of_sample))
    x = np.sqrt(variance)
    ends = (np.sqrt(np.clip(q - d**2 + sign * margin, 0.0, most)) for sign in (-1, 1))
    below, above = ends
    halves = std / (2 * np.maximum(x, np.sqrt(std)))
    found = (x, halves, np.minimum(below, x), np.maximum(above, x))
    unknown = (0.0, math.inf, 0.0, math.sqrt(most))
    told = sure & np.isfinite(np.stack(found)).all(axis=0)
    return np.stack([np.where(told, *each) for each in zip(found, unknown, strict=True)])


def deviation(release: Sampled, question: Question) -> Estimate:
    """Return the standard deviation of one release."""
    numbers = deviations(release, question, release.values[np.newaxis])
    x, std, low, high = numbers[:, 0].tolist()
    return Estimate(name=question.names[2], estimate=x, std=std, low=low, high=high)


def _noise(errors: Errors, start: int) -> Floats:
    between = errors.covariance.between
    places = range(start, start + 3)
    return errors.copies * np.array([[between(i, j) for j in places] for i in places])


def _of_sample(release: Sampled, variance: Floats, far: Floats, reach: Reach) -> Floats | float:
    if release.sampling is None:
        return 0.0
    return np.asarray(reach.effect * np.maximum(0.0, variance * (far**2 - variance)))
