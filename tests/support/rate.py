"""How often a statistical test may raise a false alarm, declared once, and the test itself."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, chi2

Counts = NDArray[np.int64]
Probabilities = NDArray[np.float64]

# Each statistical test fails once in a million runs on correct code.
FALSE_ALARM = 1e-6
# Below this expectation the chi-squared distribution is not trusted; cells are joined.
ENOUGH = 100.0


def _chi_squared(counts: Counts, expected: NDArray[np.float64], least: float) -> float:
    """Return Pearson's p-value, with neighbouring cells joined until each expects ``least``."""
    starts, total, rest = [0], 0.0, float(expected.sum())
    for i, mean in enumerate(expected.tolist()):
        if total >= least and rest >= least:
            starts.append(i)
            total = 0.0
        total += mean
        rest -= mean
    if len(starts) == 1:
        return 1.0
    seen, means = np.add.reduceat(counts, starts), np.add.reduceat(expected, starts)
    return float(chi2.sf(((seen - means) ** 2 / means).sum(), len(starts) - 1))


def _most_surprising(counts: Counts, probabilities: Probabilities) -> float:
    """Return the p-value of the most surprising cell or tail, each exactly binomial."""
    n = int(counts.sum())
    seen = np.concatenate((counts, np.cumsum(counts), np.cumsum(counts[::-1])))
    p = np.concatenate(
        (probabilities, np.cumsum(probabilities), np.cumsum(probabilities[::-1]))
    ).clip(0.0, 1.0)
    # Where almost everything falls the complement is the telling event, and it is listed as well.
    telling = p < 0.75
    if not telling.any():
        return 1.0
    seen, p = seen[telling], p[telling]
    tails = np.minimum(binom.cdf(seen, n, p), binom.sf(seen - 1, n, p))
    return float(min(1.0, 2 * len(seen) * tails.min()))


def p_value(counts: Counts, probabilities: Probabilities) -> float:
    """Return how surprising counts are, by three tests that share the false-alarm rate.

    Pearson's test on fine cells sees many local faults, on a hundred coarse ones a slow drift, and
    the most surprising cell or tail a single fault.
    """
    assert abs(probabilities.sum() - 1) < 1e-9
    expected = probabilities * counts.sum()
    return 3 * min(
        _chi_squared(counts, expected, ENOUGH),
        _chi_squared(counts, expected, max(ENOUGH, counts.sum() / 100)),
        _most_surprising(counts, probabilities),
    )


def fits(counts: Counts, probabilities: Probabilities) -> bool:
    """Whether counts agree with probabilities at the declared rate of false alarms."""
    return p_value(counts, probabilities) >= FALSE_ALARM
