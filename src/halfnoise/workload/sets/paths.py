"""How much noise each place has, beside the places around and inside it: the best there is.

A person is in one place of each level, and pays for these alone: with precisions p, the sum of p
along their path. So that nobody pays more than others all paths add up to one, and the precisions
with the least error of all that do are sought. Where K is the least error times what paths inside a
place may cost, and W/p what its own noise weighs, a place has

    K = (sqrt(W) + sqrt(sum of K inside))^2,   p = sqrt(W)/sqrt(K)  of what is left for its path,

from the smallest up, then down again. What noise weighs in least squares hangs on all precisions:
W = p^2 sum of w Cov^2 over all places, each of which weighs w. Estimates that are the best for some
precisions have no less error for others than the best for these, so in turns both get better: and
better at once where the last turns lead (``_ahead``).

Where people come and go, places are seen from the number of all (``chains``), and nobody pays for
k, the precision with which they would tell it: E (1 - k) is to be least, of the error E. As k grows
with the squares of c, what is in each place of an error in that number, c^2 E/(1 - k) is added to
the sum above.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.tree import Pooled, Tree

MOST_TURNS, STILL = 400, 1e-7
KEPT, MOST, TINY = 4, 300.0, 1e-200  # turns that say where others lead; and what they lead to
MOST_PLACES, FEW = 2**18, 2**8  # of more, or more kinds, places of a level have the same noise
LEAST = 2.0**-10  # of what is left for a path: what nobody asks for is measured nevertheless


@lru_cache(maxsize=32)
def precisions(
    tree: Tree, weights: tuple[float, ...], *, leaves: bool = False, few: bool = False
) -> tuple[Floats, ...]:
    """Return those of all places, level by level.

    ``weights``: what a squared error in a place of each level weighs; finer ones are not measured.
    ``leaves``: whether people come and go; else the number of all is known. ``few``: whether only
    so many kinds of places may differ.

    >>> [own.round(2).tolist() for own in precisions(Tree(((2,), (2, 2))), (1.0, 1.0))]
    [[0.27, 0.27], [0.73, 0.73, 0.73, 0.73]]
    """
    at_first = found = _by_level(tree, weights)
    even = all(len({*each}) == 1 for each in tree.children[: len(weights)])
    if even or sum(tree.sizes[: len(weights)]) > MOST_PLACES:
        return found
    least, after, x = math.inf, np.empty(0), np.empty(0)
    seen = list[tuple[Floats, Floats]]()  # roots, and how a turn changes them
    for _ in range(MOST_TURNS):
        error, roots = _turn(tree, weights, found, leaves=leaves)
        if error < least * (1 - STILL):
            seen = [*seen[-KEPT:], (x, roots - x)] if x.size else []
            least, after, x = error, roots, _ahead(seen) if len(seen) > 1 else roots
        elif len(seen) > 1:
            x, seen = after, []
        else:
            break
        found = _shared(tree, x)
    found = _shared(tree, after)
    each = (np.unique(own.round(9)).size for own in found)
    return at_first if few and sum(each) > FEW else found


def _turn(
    tree: Tree, weights: tuple[float, ...], found: Sequence[Floats], *, leaves: bool
) -> tuple[float, Floats]:
    """Return the error of such precisions, and log W of all places, in halves."""
    pooled = Pooled(tree, [1 / own for own in found])
    varies, free = pooled.spread(0.0), leaves / pooled.below
    error = math.fsum(w * float(v.sum()) for w, v in zip(weights, varies, strict=True))
    weighed, more = _weighed(pooled, weights, varies), leaves * error / (1 - free)
    carried = np.concatenate([pooled.carried(level) for level in range(len(found))])
    roots = np.concatenate(found) * np.sqrt(np.concatenate(weighed) + more * carried**2)
    return error * (1 - free), np.log(np.maximum(roots, TINY))


def _ahead(seen: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Return where turns lead: from such a mixture of the last ones as would change least.

    Place by place, so that those which are alike stay so to the last bit.
    """
    x, change = seen[-1]
    apart = np.diff([own for _, own in seen], axis=0)
    along = np.diff([own for own, _ in seen], axis=0) + apart
    parts = np.linalg.lstsq(apart.T, change, rcond=None)[0].tolist()
    less = sum(part * own for part, own in zip(parts, along, strict=True))
    found: Floats = np.clip(x + change - less, -MOST, MOST)
    return found


def _by_level(tree: Tree, weights: tuple[float, ...]) -> tuple[Floats, ...]:
    """Return the best where all places of a level are alike: p in proportion to M (r - r inside).

    r^2 adds up, over a level and all finer ones, what their places weigh divided by their number.
    """
    sizes = tree.sizes[: len(weights)]
    shares = np.array([w / size for w, size in zip(weights, sizes, strict=True)])
    r = np.append(np.sqrt(np.cumsum(shares[::-1])[::-1]), 0.0)
    p = (r[:-1] - r[1:]) * sizes
    p = np.maximum(p, LEAST * p.sum())
    return tuple(
        np.full(size, own) for size, own in zip(sizes, (p / p.sum()).tolist(), strict=True)
    )


def _weighed(pooled: Pooled, weights: tuple[float, ...], varies: list[Floats]) -> list[Floats]:
    """Return, for each place, the sum of w Cov^2 over all places, the number of all being known."""
    tree = pooled.tree
    inside = [np.full(len(v), w) for w, v in zip(weights, varies, strict=True)]
    for i in reversed(range(len(inside) - 1)):  # all that a place carries inside weighs with it
        inside[i] = inside[i] + tree.summed(i + 1, pooled.gains[i + 1] ** 2 * inside[i + 1])
    found, around, above = list[Floats](), np.zeros(1), np.zeros(1)
    for i, (u, g) in enumerate(zip(pooled.own, pooled.gains, strict=True)):
        own = g**2 * inside[i]
        others = tree.spread(i, tree.summed(i, own)) - own  # in the same place around
        outside = g**2 * tree.spread(i, around) + (g * tree.spread(i, above) - u) ** 2 * others
        found.append(varies[i] ** 2 * inside[i] + outside)
        around, above = outside + weights[i] * varies[i] ** 2, varies[i]
    return found


def _shared(tree: Tree, logs: Floats) -> tuple[Floats, ...]:
    """Return the best precisions for such logs of roots of W: each path adds up to one."""
    ends = np.cumsum(tree.sizes)
    roots = np.split(np.exp(logs), ends[ends < logs.size])
    inner = [np.zeros(len(own)) for own in roots]  # the root of the sum of K inside a place
    for i in reversed(range(1, len(roots))):
        inner[i - 1] = np.sqrt(tree.summed(i, (roots[i] + inner[i]) ** 2))
    found, left = list[Floats](), np.ones(1)
    for i, (own, rest) in enumerate(zip(roots, inner, strict=True)):
        left, part = tree.spread(i, left), own / np.maximum(own + rest, np.finfo(float).tiny)
        last = i == len(roots) - 1
        found.append(left * (1.0 if last else np.clip(part, LEAST, 1 - LEAST)))
        left = left - found[-1]
    return tuple(found)
