"""The best centres, block by block.

Gaussian noise: T(c) = sum_b K_b(c_b)^(1/2) + V(c)^(1/2) is convex, and as
sqrt(V) = min over S of (V/S + S)/2, for a given S every block finds its own centre. Boxes and
categories need no search. Laplace noise: T is not convex; a block is centred at its midpoint or
not at all, and sorting by gain per lean leaves one candidate for each number of centred blocks.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from halfnoise.design.allocation import Rates
from halfnoise.noise.law import Noise
from halfnoise.workload.block import Block
from halfnoise.workload.sets.base import Center, Number

_GOLDEN = (math.sqrt(5) - 1) / 2
STEPS = 44  # of a search at most, which are enough for golden section alone
NEAR = 1e-8  # of where it began: how near a search comes


def block_cost(block: Block, center: Number | None, noise: Noise) -> float:
    """Return the block's term of T at a centre."""
    return Rates.best(block, block.shape.view(center, noise.p), noise).cost(noise)


def root_weight(block: Block, center: Number | None) -> float:
    """Return the block's part of V: what an error in the number of people costs it."""
    return block.importance * float(block.shape.view(center, 2).root_weight)


@lru_cache(maxsize=64)
def gaussian_centers(
    blocks: tuple[Block, ...], size_importance: float, charge: float = 1.0
) -> tuple[Fraction, ...]:
    """Return the centres that make T least where n is measured too, with V times ``charge``."""
    centers = {i: b.shape.midpoint for i, b in enumerate(blocks) if not b.shape.adjustable}
    free = [i for i in range(len(blocks)) if i not in centers]
    fixed = size_importance + sum(root_weight(blocks[i], c) for i, c in centers.items())
    alone = blocks[free[0]].shape.lone_center(charge) if len(free) == 1 and not fixed else None
    if alone is not None:
        centers[free[0]] = Fraction(alone)
    elif free:
        found = _search([blocks[i] for i in free], fixed, charge)
        centers |= {i: Fraction(c) for i, c in zip(free, found, strict=True)}
    return tuple(centers[i] for i in range(len(blocks)))


def known_size_centers(blocks: Sequence[Block]) -> tuple[Fraction, ...]:
    """Return the centres that make each block's own cost least: the number of people is given."""
    best = (_own_center(b, math.inf) if b.shape.balances else b.shape.midpoint for b in blocks)
    return tuple(Fraction(center) for center in best)


def laplace_centers(blocks: Sequence[Block], size_importance: float) -> tuple[Center, ...]:
    """Return which blocks to centre at their midpoints: the best of all prefixes."""
    noise = Noise.LAPLACE
    plain = [block_cost(b, b.shape.plain_center, noise) for b in blocks]
    gains = [x - block_cost(b, b.shape.midpoint, noise) for b, x in zip(blocks, plain, strict=True)]
    leans = [root_weight(b, b.shape.midpoint) for b in blocks]

    def gain_per_lean(i: int) -> float:
        return gains[i] / leans[i] if leans[i] else math.copysign(math.inf, gains[i])

    order = sorted(range(len(blocks)), key=gain_per_lean, reverse=True)

    def total(prefix: int) -> float:
        lean = size_importance + sum(leans[i] for i in order[:prefix])
        return math.pow(lean, 1 / noise.q) - sum(gains[i] for i in order[:prefix])

    centred = set(order[: min(range(len(blocks) + 1), key=total)])
    shapes = enumerate(block.shape for block in blocks)
    return tuple(shape.midpoint if i in centred else shape.plain_center for i, shape in shapes)


def _search(blocks: Sequence[Block], fixed: float, charge: float) -> list[float]:
    """Minimise T over the centres of adjustable blocks; ``fixed`` is the rest of V.

    T is least where S, at which every block found its centre, is the root of the V of these.
    """
    # A mean alone has many best centres; a trace of interest in n picks the one that gives it away.
    fixed += 1e-9 * sum(root_weight(block, 1.0) for block in blocks)

    # Blocks that are alike have one centre, which is looked for once.
    kinds = [*map(_kind, blocks)]
    alike = dict(zip(kinds, blocks, strict=True))

    def centers(spread: float) -> dict[object, float]:
        return {kind: _own_center(block, spread / charge) for kind, block in alike.items()}

    def beyond(spread: float) -> float:
        found = centers(spread)
        leans = {kind: root_weight(b, found[kind]) for kind, b in alike.items()}
        return spread - math.sqrt(charge * (fixed + sum(leans[kind] for kind in kinds)))

    highest = fixed + sum(root_weight(b, b.shape.highest_center) for b in blocks)
    spread = _crossing(beyond, math.sqrt(charge * fixed), math.sqrt(charge * highest))
    found = centers(spread)
    return [found[kind] for kind in kinds]


def _kind(block: Block) -> tuple[object, object]:
    """Return in what blocks agree that are alike: of means, in any unit, what squared errors weigh.

    Then what they cost is the same, and how much they lean on the number of people.
    """
    shape, weight = block.shape, block.importance
    return (type(shape), f"{weight * shape.width**2:.12g}") if shape.balances else (shape, weight)


def _own_center(block: Block, spread: float) -> float:
    """Return the best centre of one block when V is charged at a rate of 1/(2 spread)."""
    rate, noise = root_weight(block, 1.0) / (2 * spread), Noise.GAUSSIAN
    top = block.shape.highest_center
    return _minimize(lambda c: block_cost(block, c, noise) + rate * c * c, 0.0, top)


def _crossing(f: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function gets above zero: false position, halved at an end that stays."""
    near, x, (below, above), side = NEAR * (high - low), high, (f(low), f(high)), 0
    for _ in range(STEPS):
        before = x
        x = high - above * (high - low) / (above - below) if above > below else low
        if abs(x - before) <= near or not low < x < high:
            break
        if (now := f(x)) > 0:
            below, side = below / (1 + (side > 0)), 1
            high, above = x, now
        else:
            above, side = above / (1 + (side < 0)), -1
            low, below = x, now
    return min(max(x, low), high)


def _minimize(f: Callable[[float], float], low: float, high: float) -> float:
    """Return where a convex function is least: Brent's search, or an end if it is as good.

    It goes to where the parabola through the best three points is least, if that is inside and the
    steps get shorter, and else by golden section. It counts its steps: a width may stay above any
    tolerance where floats are farther apart.
    """
    a, b, near = low, high, NEAR * (high - low)
    x = w = v = b - _GOLDEN * (b - a)  # the best point, the second best, and what was that before
    fx = fw = fv = f(x)
    step = before = 0.0
    for _ in range(STEPS):
        middle = (a + b) / 2
        if abs(x - middle) + (b - a) / 2 <= 2 * near:
            break
        lowest = _lowest(x - w, fx - fw, x - v, fx - fv)
        if a < x + lowest < b and abs(lowest) < abs(before) / 2:
            before, step = step, lowest
            if min(x + step - a, b - x - step) < 2 * near:  # from there the other end is too far
                step = math.copysign(near, middle - x)
        else:
            before = (a if x > middle else b) - x
            step = (1 - _GOLDEN) * before
        u = x + (step if abs(step) > near else math.copysign(near, step))
        fu = f(u)
        if (fu <= fx) == (u < x):
            b = x if fu <= fx else u
        else:
            a = x if fu <= fx else u
        if fu <= fx:
            v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
        elif fu <= fw or w == x:
            v, fv, w, fw = w, fw, u, fu
        elif fu <= fv or v in (x, w):
            v, fv = u, fu
    return min((end for end in (low, high) if f(end) <= fx), key=f, default=x)


def _lowest(w: float, fw: float, v: float, fv: float) -> float:
    """Return how far it is from a point to the lowest one of the parabola through two others.

    These are ``w`` and ``v`` before it, and lie ``fw`` and ``fv`` below it.
    """
    opening = w * fv - v * fw
    return (v * v * fw - w * w * fv) / (2 * opening) if opening else math.inf
