"""Each level of places with a scale of its own, where people are replaced and more is by place.

Who changes answers may stay in places around theirs, so what is paid for a level hangs on all that
is asked. All places of a level have the same noise here, as if they were alike, and the whole is
measured as one more level of one place, where it is not public.

With p_k the rate of level k, of M_k places, what is alike within those of level l but not in those
around, M_l - M_(l-1) directions, is told with the precision X_l = sum of p_k/M_k over k >= l, and
has the part p_k/(M_k X_l) of the noise of level k.
"""

from collections.abc import Sequence

import numpy as np

from halfnoise.workload.grid import Floats

LEAST = 1e-3  # of r: what a level that nobody asks for is measured with, lest it have no number


def at_first(squares: Sequence[float], sizes: Sequence[int]) -> Floats:
    """Return what a level weighs if nobody stays: r^2 times M^2, of r less that of finer ones.

    ``squares``: what tables by places of the very level weigh, over how many these are.
    """
    r = _roots(squares)
    found: Floats = (np.maximum(r[:-1] - r[1:], LEAST * r[:-1]) * sizes) ** 2
    return found


def borne(squares: Sequence[float], sizes: Sequence[int], rates: Floats, *, whole: bool) -> Floats:
    """Return what the squared scale of each level weighs in estimates for such rates.

    ``whole``: whether the first level is the whole, of one place; else that is public.
    """
    r, many = _roots(squares)[:-1], np.array(sizes, dtype=np.float64)
    told = rates / many
    apart = np.diff(many, prepend=0.0 if whole else 1.0)
    shared = np.cumsum(apart * (r / np.cumsum(told[::-1])[::-1]) ** 2)
    found: Floats = np.maximum(told**2 * many * shared, (LEAST * r * many) ** 2)
    return found


def _roots(squares: Sequence[float]) -> Floats:
    return np.append(np.sqrt(np.cumsum(np.array(squares)[::-1])[::-1]), 0.0)
