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

After symmetry X has blocks: small matrices, and ``lines``, numbers that each stand for the same
information in many directions. (Averaging over permutations of like queries never hurts.)

Where the number of people is given, everybody is measured from a centre that is free: the best one
for given prices is the average person, and M is what people differ by from it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from halfnoise.values import dataclass, replace
from halfnoise.workload.grid import Floats

CLOSE = 5e-4  # how near the error of what is found comes to the bound
MOST_ROUNDS, MOST_TURNS, MOST_STEPS = 30, 15, 40
LEAST_ROUNDS, MUCH, MOST_WORK = 10, 2**31, 2**26  # multiplications in all rounds, and in a step
FEW, MORE, LITTLE = 2**16, 128, 0.5  # numbers: of more, after the rounds, not all are priced
FASTER, SLOWER = 1.3, 4.0  # how the power of the costs grows, and shrinks where it was too large
LEAST_PRICE, LEAST_ROOT, LEAST_PART = 1e-30, 1e-7, 1e-4
LEFT, AHEAD, FIRST = 0.15, 0.9, 0.1  # of a gap, of the way to zero, of what is free at first


@dataclass(frozen=True, slots=True, kw_only=True)
class Programme:
    """Kinds of people, and what errors weigh.

    ``moved``: for each matrix block of the information, P of every kind of person; ``weights``: Q
    of each. ``distances``: for every kind what a line is charged with; ``line_weights``: what the
    error of each line weighs. ``given``: the number of people, last in every P of the first block
    and not in Q, is.
    """

    moved: Sequence[Floats]
    weights: Sequence[Floats]
    distances: Floats
    line_weights: Floats
    given: bool = False

    @property
    def lifted(self) -> "Programme":
        """The same where nothing weighs so little that its noise would have no place on a grid.

        Along an axis with noise of its own, what weighs w and is moved by P costs sqrt(w P) in s:
        each costs at least its share of ``LEAST_PART`` of all, by which s grows at most.
        """
        axes, own, far = [], [], list[Floats]()
        for moved, weight in zip(self.moved, self.weights, strict=True):
            values, vectors = np.linalg.eigh(weight)
            axes.append(vectors)
            own.append(np.maximum(values, 0.0))
            along = np.einsum(
                "kij,ia,ja->ka", moved[:, : len(values), : len(values)], *[vectors] * 2
            )
            far.append(along.max(axis=0))
        own, far = [*own, self.line_weights], [*far, self.distances.max(axis=0, initial=0.0)]
        pairs = [*zip(own, far, strict=True)]
        part = LEAST_PART * sum(float(np.sqrt(w * p).sum()) for w, p in pairs)
        part /= sum(map(len, own))
        *found, lines = (np.maximum(w, part**2 / np.maximum(p, LEAST_PRICE)) for w, p in pairs)
        weights = [(v * w) @ v.T for v, w in zip(axes, found, strict=True)]
        return replace(self, weights=weights, line_weights=lines)

    def of(self, chosen: NDArray[np.intp]) -> "Programme":
        """Return the same for some kinds of people, and last an average person: who moves all."""
        *moved, far = (
            np.concatenate([each[chosen], each.mean(axis=0, keepdims=True)])
            for each in (*self.moved, self.distances)
        )
        return replace(self, moved=moved, distances=far)

    def costs(self, matrices: Sequence[Floats], lines: Floats) -> Floats:
        """Return what everybody costs under noise of such information."""
        cost = np.einsum("kl,l->k", self.distances, lines)  # threads of BLAS would not pay
        for moved, matrix in zip(self.moved, matrices, strict=True):
            cost = cost + np.einsum("kij,ij->k", moved, matrix)
        found: Floats = np.maximum(cost, 0.0)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """The information that was found, at a cost of one, its error, and the bound for any noise."""

    matrices: tuple[Floats, ...]
    lines: Floats
    error: float
    bound: float

    @property
    def sound(self) -> bool:
        """Whether floats could hold it: weights of errors may be too far apart for them."""
        axes = np.concatenate([*map(np.diag, self.matrices), self.lines])
        return bool(np.isfinite(axes).all() and (axes > 0).all())

    def stretched(self, cost: float) -> "Optimum":
        """Return the same with so much less information."""
        matrices = tuple(each / cost for each in self.matrices)
        lines, error = self.lines / cost, self.error * cost
        return replace(self, matrices=matrices, lines=lines, error=error)

    def or_better(self, other: "Optimum", bound: float) -> "Optimum":
        """Return this or another, whichever has less error, with the higher bound."""
        least = other if other.error < self.error else self
        return replace(least, bound=max(self.bound, bound))


def solve(programme: Programme, close: float = CLOSE) -> Optimum:
    """Return noise whose error is as near to the least as is asked for, if rounds suffice.

    Of many kinds of people few have prices in the end. After some rounds only those are priced who
    have one, or are the dearest, until these are the dearest of all. Prices of some are prices of
    all, so that the bound holds for all.
    """
    kinds, sizes = len(programme.distances), [len(weight) for weight in programme.weights]
    few = kinds * sum(n**2 for n in sizes) <= FEW
    best, prices = _rounds(programme, close, np.full(kinds, 1 / kinds))
    chosen, cost = (prices > LITTLE / kinds) | few, programme.costs(best.matrices, best.lines)
    work = int(chosen.sum()) * sum(n**3 for n in sizes)
    for _ in range(min(MOST_TURNS, MOST_WORK // max(1, work)) if best.bound else 0):
        if best.error <= best.bound * (1 + close):
            break
        more = min(MORE, kinds)
        chosen = chosen | (cost >= np.partition(cost, -more)[-more])
        own = np.append(np.maximum(prices[chosen], 1 / kinds), 1 / kinds)
        found, own = _steps(programme.of(np.flatnonzero(chosen)), close / 2, own)
        cost = programme.costs(found.matrices, found.lines)
        found = found.stretched(float(cost.max()))
        prices[chosen] = own[:-1]
        best = best.or_better(found, found.bound)
    return best


def _rounds(programme: Programme, close: float, prices: Floats) -> tuple[Optimum, Floats]:
    """Go some rounds from such prices; return the best prices as well."""
    roots = [*map(_root, programme.weights)]
    best, kept, power = _NONE, prices, 1.0
    work = sum(4 * len(prices) * n**2 + 20 * n**3 for n in map(len, roots))
    for _ in range(max(LEAST_ROUNDS, min(MOST_ROUNDS, MUCH // max(1, work)))):
        s, views, lines = _priced(programme, roots, prices)
        found = _information(s, views, lines)
        cost = programme.costs(found.matrices, lines)
        if not (dearest := float(cost.max())):  # nobody moves anything
            break
        if s * s >= best.bound:
            kept, moved_by, power = prices, cost / dearest, FASTER * power
        else:
            power = max(1.0, power / SLOWER)
        best = best.or_better(found.stretched(dearest), s * s)
        if best.error <= best.bound * (1 + close):
            break
        prices = np.maximum(kept * moved_by**power, LEAST_PRICE)
        prices /= prices.sum()
    return best, kept


def _steps(programme: Programme, close: float, prices: Floats) -> tuple[Optimum, Floats]:
    """Go by Newton's steps from such prices; return the best prices as well.

    Prices that add up to s^2 are best where everybody costs at most one and whoever has a price
    costs just that: price times what is left of one is zero. It is made small, and smaller. What a
    step changes of the costs is  -F F' times it.
    """
    roots, kinds = [*map(_root, programme.weights)], len(prices)
    prices = prices / prices.sum()
    prices = prices * _priced(programme, roots, prices)[0] ** 2
    best, kept, left = _NONE, prices, np.empty(0)
    for _ in range(MOST_STEPS):
        s, views, lines = _priced(programme, roots, prices)
        found = _information(s, views, lines)
        cost = programme.costs(found.matrices, lines)
        bound, free = s * s / float(prices.sum()), 1 - cost
        left = left if left.size else np.maximum(free, FIRST)
        kept = prices if bound > best.bound else kept
        best = best.or_better(found.stretched(float(cost.max())), bound)
        if best.error <= best.bound * (1 + close):
            break
        f = _changes(programme, views, lines, prices)
        aim = max(LEFT * float(prices @ left), close * s / 4) / kinds
        step, own = aim / prices - free, prices / left
        if f.shape[1] < kinds:
            inner = np.eye(f.shape[1]) + (f.T * own) @ f
            step = own * (step - f @ np.linalg.solve(inner, f.T @ (own * step)))
        else:
            step = np.asarray(np.linalg.solve(f @ f.T + np.diag(1 / own), step), dtype=np.float64)
        change = f @ (f.T @ step) + free - left
        if not np.isfinite(change).all():  # weights are too far apart for floats
            break
        prices, left = _towards(prices, step), _towards(left, change)
    return best, kept / kept.sum()


def _towards(x: Floats, step: Floats) -> Floats:
    """Go a step, or most of the way to where one of them is zero."""
    return x + min(1.0, AHEAD / max(float((-step / x).max()), LEAST_PRICE)) * step


def _priced(
    programme: Programme, roots: Sequence[Floats], prices: Floats
) -> tuple[float, list[Floats], Floats]:
    """Return s, and U, where U'U is the information that is best for an average person."""
    s, views = 0.0, []
    for place, (moved, root) in enumerate(zip(programme.moved, roots, strict=True)):
        average = np.einsum("k,kij->ij", prices, moved)
        seen = root @ _to_center(average) if programme.given and place == 0 else root
        values, vectors = np.linalg.eigh(seen @ average @ seen.T)
        middle = np.sqrt(np.maximum(values, 0.0))
        s += float(middle.sum())
        least = max(LEAST_ROOT * middle[-1], LEAST_PRICE)
        views.append((vectors.T @ seen) / np.sqrt(np.maximum(middle, least))[:, None])
    charged = np.einsum("k,kl->l", prices, programme.distances)
    s += float(np.sqrt(programme.line_weights * charged).sum())
    return s, views, np.sqrt(programme.line_weights / np.maximum(charged, LEAST_PRICE))


def _information(s: float, views: Sequence[Floats], lines: Floats) -> Optimum:
    """Return the information that is best at some prices: an average person costs one."""
    matrices = tuple(view.T @ view for view in views)
    return Optimum(matrices=matrices, lines=lines, error=s, bound=0.0)


def _changes(
    programme: Programme, views: Sequence[Floats], lines: Floats, prices: Floats
) -> Floats:
    """Return F: of costs, how they change with all prices."""
    charged = np.maximum(np.einsum("k,kl->l", prices, programme.distances), LEAST_PRICE)
    found = [programme.distances * np.sqrt(lines / charged / 2)]
    for place, (moved, view) in enumerate(zip(programme.moved, views, strict=True)):
        seen, (i, j) = view @ moved @ view.T, np.triu_indices(len(view))
        root = np.einsum("k,kii->i", prices, seen)
        root = np.maximum(root, max(LEAST_ROOT * root.max(), LEAST_PRICE))
        twice = np.where(i == j, 1.0, 2.0) / (root[i] + root[j])
        found.append(seen[:, i, j] * np.sqrt(twice))
        if programme.given and place == 0:  # the average person moves, too
            found.append(moved[:, :, -1] @ view.T * np.sqrt(2 / prices.sum()))
    return np.concatenate(found, axis=1)


def _to_center(average: Floats) -> Floats:
    """Return what makes of sums and the number of people the sums seen from the average person."""
    return np.hstack([np.eye(len(average) - 1), -average[:-1, -1:] / average[-1, -1]])


def _root(matrix: Floats) -> Floats:
    """Return the square root of a matrix that is not negative."""
    values, vectors = np.linalg.eigh(matrix)
    found: Floats = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return found


_NONE = Optimum(matrices=(), lines=np.empty(0), error=np.inf, bound=0.0)
