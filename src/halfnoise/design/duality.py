"""The least error of any Gaussian noise, and how to reach it, with a certificate at every step.

One person moves what is measured by a vector; what matters of Gaussian noise is its information X,
the inverse of its covariance. A person costs  tr(P X),  P the outer product of what they move, and
the error is  tr(Q X^-1),  Q what squared errors weigh. By duality

    min over X of tr(Q X^-1), everybody costing at most 1   =   max over pi of s(pi)^2,
    s(pi) = tr (Q^1/2 M Q^1/2)^1/2,   M = sum over kinds of people of pi P,

for prices pi on kinds of people that add up to one. Any prices bound the error of *every* noise
from below by s^2; and  G = Q^1/2 (Q^1/2 M Q^1/2)^-1/2 Q^1/2  divided by what the dearest kind costs
is noise that keeps the promise. Who costs more than the average gets a higher price, by a power of
the cost that grows as long as the bound does, until the two agree.

Where the largest of several errors is to be least, each with a Q of its own, they have shares as
people have prices: the least largest error is the largest s^2 for any shares, of which Q is the
sum, and any prices. For s = min over X of (tr(M X) + tr(Q X^-1))/2 is concave in both together, and
what changes with X as people pay for it are costs, errors otherwise.

After symmetry X has blocks: small matrices, and ``lines``, numbers that each stand for the same
information in many directions. (Averaging over permutations of like queries never hurts.)

Where the number of people is given, everybody is measured from a centre that is free: the best one
for given prices is the average person, and M is what people differ by from it.
"""

import threading

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import get_cached_controller

from halfnoise.design.at_prices import NONE, Optimum, Seen
from halfnoise.design.programme import LEAST_PRICE, Programme, spread
from halfnoise.design.stacks import Stacks
from halfnoise.values import replace
from halfnoise.workload.grid import Floats

CLOSE = 5e-4  # how near the error of what is found comes to the bound
MOST_ROUNDS, MOST_TURNS, MOST_STEPS = 30, 15, 40
LEAST_ROUNDS, MUCH, MOST_WORK = 10, 2**31, 2**26  # multiplications in all rounds, and in a step
MOST_AGAIN = 900  # kinds for whom steps are gone more than once
FEW, MORE, LITTLE = 2**16, 128, 0.1  # numbers: of more, after the rounds, not all are priced
MANY, FIRST_ROUNDS, MORE_ROUNDS, AGAIN = 300, 12, 40, 3  # of more kinds, rounds are for fewer
SOME, FEWEST = 2**18, 2**10  # numbers, or kinds, for whom rounds are at first, for a bound alone
FASTER, SLOWER = 1.3, 4.0  # how the power of the costs grows, and shrinks where it was too large
LEAST_SHARE = 1e-12
LEFT, AHEAD, FIRST = 0.15, 0.9, 0.1  # of a gap, of the way to zero, of what is free at first
SMALL = 1e-3  # of an equal share, at least, where steps begin
_ALONE = threading.Lock()  # of two limits of BLAS that cross one would stay
BEGUN = 0.02  # how near rounds come where steps for everybody go on from there


def solve(programme: Programme, close: float = CLOSE) -> Optimum:
    """Return noise whose error is as near to the least as is asked for, if rounds suffice.

    Of many kinds of people few have prices in the end. After some rounds they go on for those who
    have one, or are the dearest, and steps for fewer still, until these are the dearest of all.
    Prices of some are prices of all, so that the bound holds for all.

    Matrices are small: several threads of BLAS would wait for each other far longer than they work.
    """
    stacks = Stacks.of(programme)
    with _ALONE, get_cached_controller().limit(limits=1, user_api="blas"):
        found = _solve(stacks, close)
    return replace(found, matrices=stacks.apart(found.matrices)) if found.bound else found


def bound_at(programme: Programme, prices: Floats) -> float:
    """Return the bound that any prices give."""
    return Seen.at(Stacks.of(programme), prices, np.ones(1)).s ** 2 / float(prices.sum())


def bound_by_some(programme: Programme) -> float:
    """Return the bound of prices on some, and then on whoever is the dearest."""
    kinds = len(programme.distances)
    some = np.zeros(kinds, dtype=bool)
    some[spread(kinds, max(FEWEST, SOME * kinds // max(1, programme.numbers)))] = True
    stacks = Stacks.of(programme)
    with _ALONE, get_cached_controller().limit(limits=1, user_api="blas"):
        best, *_ = _narrowed(stacks, CLOSE, some)
    return best.bound


def _solve(stacks: Stacks, close: float) -> Optimum:
    kinds, goals = len(stacks.distances), len(stacks.line_weights)
    few = kinds * sum(n**2 for n in stacks.sizes) <= FEW
    if few or kinds <= MANY:
        best = found = _rounds(stacks, max(close, BEGUN) if few else close, NONE, MOST_ROUNDS)
        cost = stacks.costs(best.matrices, best.lines) if best.bound else NONE.prices
    else:
        best, found, cost = _narrowed(stacks, close, np.full(kinds, fill_value=True))
    if not best.bound:
        return best
    chosen = (found.prices > 1 / kinds) | few
    number = int(chosen.sum())
    turns = 1 if number > MOST_AGAIN else MOST_TURNS
    work = number * sum(n**3 for n in stacks.sizes)
    for _ in range(min(turns, MOST_WORK // max(1, work))):
        if best.error <= best.bound * (1 + close):
            break
        chosen = chosen | _dearest(cost)
        own = np.maximum(best.prices[chosen], 1 / kinds)
        some = stacks.chosen(np.flatnonzero(chosen))
        shares = np.maximum(best.shares, SMALL / goals)
        found, cost = _for_all(stacks, chosen, _steps(some, close / 2, own, shares))
        best = best.or_better(found)
    return best


def _narrowed(
    stacks: Stacks, close: float, chosen: NDArray[np.bool_]
) -> tuple[Optimum, Optimum, Floats]:
    """Go rounds for those who are chosen, and on for those with a price and the dearest of all.

    Return the best that was found, the last, and what everybody costs there.
    """
    kinds, best, begun, most = len(chosen), NONE, NONE, FIRST_ROUNDS
    some = stacks if chosen.all() else stacks.chosen(np.flatnonzero(chosen))
    for _ in range(1 + (AGAIN if close >= CLOSE else 1)):
        own = _rounds(some, close if begun is NONE else close / 2, begun, most)
        if not own.bound:
            return own, own, own.prices
        found, cost = _for_all(stacks, chosen, own)
        best, most = best.or_better(found), MORE_ROUNDS
        chosen = (found.prices > LITTLE / kinds) | _dearest(cost) | (cost > cost[chosen].max())
        some = stacks.chosen(np.flatnonzero(chosen))
        few = chosen.sum() <= MANY or _work(some) * FIRST_ROUNDS > MUCH
        if few or best.error <= best.bound * (1 + close):
            break
        begun = replace(found, prices=np.maximum(found.prices[chosen], LITTLE / kinds))
    return best, found, cost


def _dearest(cost: Floats) -> NDArray[np.bool_]:
    """Return who are the dearest."""
    more = min(MORE, len(cost))
    found: NDArray[np.bool_] = cost >= np.partition(cost, -more)[-more]
    return found


def _for_all(stacks: Stacks, chosen: NDArray[np.bool_], found: Optimum) -> tuple[Optimum, Floats]:
    """Return what was found for some as it is for everybody, and what they cost."""
    cost, prices = stacks.costs(found.matrices, found.lines), np.zeros(len(chosen))
    prices[chosen] = found.prices
    return replace(found, prices=prices).stretched(float(cost.max())), cost


def _work(stacks: Stacks) -> int:
    """Return how much a round is to multiply."""
    kinds = len(stacks.distances)
    return max(1, sum(4 * kinds * n**2 + 20 * n**3 for n in stacks.sizes))


def _rounds(stacks: Stacks, close: float, begun: Optimum, most: int) -> Optimum:
    """Go some rounds from such prices and shares, or from equal ones."""
    kinds, goals = len(stacks.distances), len(stacks.line_weights)
    least = np.repeat([LEAST_PRICE, LEAST_SHARE], [kinds, goals])
    equal = np.repeat([1 / kinds, 1 / goals], [kinds, goals])
    kept = both = np.concatenate([begun.prices, begun.shares]) if begun.bound else equal
    best, power = NONE, 1.0
    for _ in range(max(LEAST_ROUNDS, min(most, MUCH // _work(stacks)))):
        seen = Seen.at(stacks, both[:kinds], both[kinds:])
        cost, errors = seen.far(stacks)
        if not (dearest := float(cost.max())):  # nobody moves anything
            break
        if seen.s**2 >= best.bound:
            moved_by = np.concatenate([cost / dearest, errors / errors.max()])
            kept, power = both, FASTER * power
        else:
            power = max(1.0, power / SLOWER)
        best = best.or_better(seen.noise(dearest, errors))
        if best.error <= best.bound * (1 + close):
            break
        both = np.maximum(kept * moved_by**power, least)
        both[:kinds] /= both[:kinds].sum()
        both[kinds:] /= both[kinds:].sum()
    return best


def _steps(stacks: Stacks, close: float, prices: Floats, shares: Floats) -> Optimum:
    """Go by Newton's steps from such prices and shares.

    Where  2 log s - sum of prices - sum of shares  is largest, both add up to one, everybody costs
    at most s, and no error is above s; and whoever has a price costs just that, as what has a share
    is just that: each times what is left is zero. It is made small, and smaller. What a step
    changes of costs and errors, in parts of s, is  -F F' times it.
    """
    kinds, best, left = len(prices), NONE, np.empty(0)
    both = np.concatenate([prices / prices.sum(), shares / shares.sum()])
    for _ in range(MOST_STEPS):
        seen = Seen.at(stacks, both[:kinds], both[kinds:])
        cost, errors = seen.far(stacks)
        far = np.concatenate([cost, errors]) / seen.s
        free = 1 - far
        left = left if left.size else np.maximum(free, FIRST)
        best = best.or_better(seen.noise(float(cost.max()), errors))
        if best.error <= best.bound * (1 + close):
            break
        f = np.vstack([seen.changes(stacks) / np.sqrt(seen.s), far / np.sqrt(2)])
        aim = max(LEFT * float(both @ left), close / 2) / len(both)
        step, own = aim / both - free, both / left
        if len(f) < len(both):
            inner = np.eye(len(f)) + (f * own) @ f.T
            step = own * (step - np.linalg.solve(inner, f @ (own * step)) @ f)
        else:
            step = np.asarray(np.linalg.solve(f.T @ f + np.diag(1 / own), step), dtype=np.float64)
        change = (f @ step) @ f + free - left
        if not np.isfinite(change).all():  # weights are too far apart for floats
            break
        both, left = _towards(both, step), _towards(left, change)
    return best


def _towards(x: Floats, step: Floats) -> Floats:
    """Go a step, or most of the way to where one of them is zero."""
    return x + min(1.0, AHEAD / max(float((-step / x).max()), LEAST_PRICE)) * step
