"""Whether errors have the means and covariances that were promised, at the declared rate."""

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

from halfnoise.design.covariance import Covariance
from halfnoise.noise.law import Noise
from support.fixed_workloads import Floats
from support.rate import FALSE_ALARM

# Averages of squares are a little skewed, which makes large deviations of 10,000 of them likelier
# than normal ones, by a factor below this (Edgeworth, 7 standard errors out: about 45 for Laplace
# noise, 5 for Gaussian).
SKEWED = 100
NOTHING = 1e-9


def p_value(errors: Floats, covariance: Covariance, noise: Noise) -> float:
    """Return how surprising errors are: their means, each covariance, and all of them together."""
    promised = covariance.dense()
    std = np.sqrt(np.diagonal(promised))
    e, c = errors / std, promised / np.outer(std, std)
    rows, count = e.shape
    axes, directions = np.linalg.eigh(c)
    there = axes > NOTHING
    if not there.all() and np.abs(e @ directions[:, ~there]).max() > NOTHING * count:
        return 0.0
    excess = 0.0 if noise is Noise.GAUSSIAN else 3.0
    # Fourth moments of sums of independent noises: Gaussian ones, and what Laplace noise adds.
    fourth = np.outer(np.diagonal(c), np.diagonal(c)) + c**2
    if excess:
        fourth += excess * _common(covariance, std)
    means = e.mean(axis=0) * np.sqrt(rows)
    entries = (e.T @ e / rows - c) * np.sqrt(rows / fourth)
    white = (e @ directions[:, there]) / np.sqrt(axes[there])
    rank = int(there.sum())
    together = ((white**2).sum() / rows - rank) * np.sqrt(rows / (rank * (2 + excess)))
    found = [
        count * _two_sided(np.abs(means).max()),
        count * (count + 1) / 2 * _two_sided(np.abs(entries).max()),
        _two_sided(abs(together)),
    ]
    return float(min(1.0, 3 * SKEWED * min(found)))


def agree(errors: Floats, covariance: Covariance, noise: Noise) -> bool:
    """Whether errors agree with the promise at the declared rate of false alarms."""
    return p_value(errors, covariance, noise) >= FALSE_ALARM


def covers(hits: int, count: int, level: float, most: float | None = None) -> bool:
    """Whether intervals hold as often as they say, and no more often than ``most``."""
    enough = binom.cdf(hits, count, level) >= FALSE_ALARM / 2
    wasteful = binom.sf(hits - 1, count, most if most is not None else level) < FALSE_ALARM / 2
    return bool(enough and not wasteful)


def _common(covariance: Covariance, std: Floats) -> Floats:
    """Return, for each pair of estimates, the sum over noises of their squared shares in both."""
    noises = [np.zeros((covariance.size, 0))]
    own = np.diag(np.sqrt(Covariance(covariance.size, covariance.variances).diagonal()))
    for term in covariance.shared:
        column = np.zeros((covariance.size, 1))
        for run in term.loadings:
            column[run.start : run.stop] = run.value
        if term.weight < 0:
            # A projection takes the average of the noises away from each of them.
            inside = np.flatnonzero(column[:, 0])
            own[np.ix_(inside, inside)] -= own[inside[0], inside[0]] / len(inside)
        else:
            noises.append(column * np.sqrt(term.weight))
    shares = (np.concatenate([own, *noises], axis=1) / std[:, None]) ** 2
    return shares @ shares.T


def _two_sided(z: float) -> float:
    return float(2 * ndtr(-z))
