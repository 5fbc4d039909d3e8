"""Each level of places with a scale of its own, where people are replaced and more is by place.

Who changes answers may stay in places around theirs, so what is paid for a level hangs on all that
is asked. All places of a level have the same noise here, as if they were alike, and the whole is
measured as one more level of one place, where it is not public.

With p_k the rate of level k, of M_k places, what is alike within those of level l but not in those
around, M_l - M_(l-1) directions, is told with the precision X_l = sum of p_k/M_k over k >= l. The
error, what these weigh over X_l, is convex in the rates: Newton's steps find the best of them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from halfnoise.workload.grid import Floats

LEAST = 2e-4  # of r: what a level that nobody asks for is measured with, lest it have no number
MOST_STEPS, CLOSE, EVEN, RIDGE = 60, 1e-8, 1e-6, 1e-13
LEFT, AHEAD = 0.1, 0.95  # of a gap, and of the way to zero


class Pooling(NamedTuple):
    """Noises that tell the same: a row of ``told`` for each direction, and what its error weighs.

    A direction is told with the precision told @ rates.
    """

    told: Floats
    weights: Floats

    def with_least(self, least: Floats) -> "Pooling":
        """Return the same where each noise weighs so much by itself."""
        told = np.vstack([self.told, np.eye(len(least))[least > 0]])
        return Pooling(told, np.concatenate([self.weights, least[least > 0]]))

    def error(self, rates: Floats) -> float:
        """Return the error at such rates."""
        return float((self.weights / (self.told @ rates)).sum())

    def borne(self, rates: Floats) -> Floats:
        """Return what squared scales weigh in estimates that are made for those of such rates."""
        found: Floats = rates**2 * ((self.weights / (self.told @ rates) ** 2) @ self.told)
        return found

    def best(self, costs: Floats, start: Floats) -> Floats:
        """Return the rates of least error at which no case costs more than one.

        Cases have prices, and each times what is left of the one is made small, and smaller.
        """
        start = start * AHEAD / (costs @ start).max()
        seen, p, prices = (
            self.told @ start,
            np.ones(len(start)),
            np.full(len(costs), 1 / len(costs)),
        )
        weights, each = self.weights / seen / self.error(start), self.told * start / seen[:, None]
        costs = costs * start  # all in units of what there is at first: numbers may be far apart
        left = 1 - costs @ p
        for _ in range(MOST_STEPS):
            told, cost = each * p, costs * p
            x, gap = told.sum(axis=1), float(prices @ left)
            down = (weights / x**2) @ told
            if gap < CLOSE and np.abs(prices @ cost - down).max() < EVEN:
                break
            aim = max(LEFT * gap, CLOSE / 2) / len(costs)
            bent = (told.T * (2 * weights / x**3)) @ told + (cost.T * (prices / left)) @ cost
            own = np.sqrt(np.diag(bent))  # parts of the error may be very far apart
            even = bent / own / own[:, None] + RIDGE * np.eye(len(p))
            step = np.linalg.solve(even, (down - (aim / left) @ cost) / own) / own
            dearer = cost @ step
            change = (aim + prices * dearer) / left - prices
            part = min(_most(-step), _most(dearer / left))
            p, left = p * (1 + part * step), left - part * dearer
            prices = prices + _most(-change / prices) * change
        found: Floats = start * p / (costs @ p).max()
        return found


def at_first(squares: Sequence[float], sizes: Sequence[int]) -> Floats:
    """Return what a level weighs if nobody stays: r^2 times M^2, of r less that of finer ones.

    ``squares``: what tables by places of the very level weigh, over how many these are.
    """
    r = _roots(squares)
    found: Floats = (np.maximum(r[:-1] - r[1:], LEAST * r[:-1]) * sizes) ** 2
    return found


def pooling(squares: Sequence[float], sizes: Sequence[int], *, whole: bool) -> Pooling:
    """Return how levels tell the same, and each its own places a little.

    ``whole``: whether the first level is the whole, of one place; else that is public.
    """
    r, many = _roots(squares)[:-1], np.array(sizes, dtype=np.float64)
    apart = np.diff(many, prepend=0.0 if whole else 1.0)
    told = np.vstack([np.triu(np.ones((len(many), len(many)))) / many, np.eye(len(many))])
    return Pooling(told, np.concatenate([apart * r**2, (LEAST * r * many) ** 2]))


def _most(falls: Floats) -> float:
    """Return how much of a step there may be, of which such parts are left out."""
    return min(1.0, AHEAD / max(float(falls.max()), AHEAD))


def _roots(squares: Sequence[float]) -> Floats:
    return np.append(np.sqrt(np.cumsum(np.array(squares)[::-1])[::-1]), 0.0)
