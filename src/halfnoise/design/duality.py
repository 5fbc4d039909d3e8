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
MOST_ROUNDS, MOST_TURNS = 1000, 15
FEW, SOME, MORE, LITTLE = 2**16, 20, 64, 0.5  # numbers: of more, for some rounds, all are priced
FASTER, SLOWER = 1.3, 4.0  # how the power of the costs grows, and shrinks where it was too large
LEAST_PRICE, LEAST_ROOT, LEAST_PART = 1e-30, 1e-7, 1e-4


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


def solve(programme: Programme, close: float = CLOSE) -> Optimum:
    """Return noise whose error is as near to the least as is asked for, if rounds suffice.

    Of many kinds of people few have prices in the end. After some rounds only those are priced who
    have one, or are the dearest, until these are the dearest of all. Prices of some are prices of
    all, so that the bound holds for all.
    """
    kinds = len(programme.distances)
    few = kinds * sum(len(weight) ** 2 for weight in programme.weights) <= FEW
    best, prices = _solve(programme, close, np.full(kinds, 1 / kinds), MOST_ROUNDS if few else SOME)
    cost = programme.costs(best.matrices, best.lines)
    for _ in range(0 if few else MOST_TURNS):
        if best.error <= best.bound * (1 + close):
            break
        dearest = cost >= np.partition(cost, -MORE)[-MORE]
        chosen = np.flatnonzero(dearest | (prices > LITTLE / kinds))
        own = np.append(np.maximum(prices[chosen], 1 / kinds), 1 / kinds)
        found, own = _solve(programme.of(chosen), close / 2, own / own.sum(), 5 * SOME)
        cost = programme.costs(found.matrices, found.lines)
        found = found.stretched(float(cost.max()))
        prices = np.zeros(kinds)
        prices[chosen] = own[:-1]
        bound = max(best.bound, found.bound)
        best = replace(min(best, found, key=lambda each: each.error), bound=bound)
    return best


def _solve(
    programme: Programme, close: float, prices: Floats, rounds: int
) -> tuple[Optimum, Floats]:
    """Go so many rounds from such prices; return the best prices as well."""
    roots = [_roots(weight)[0] for weight in programme.weights]
    kept, least, bound, power = prices, np.inf, 0.0, 1.0
    found: tuple[list[Floats], Floats] = ([], np.empty(0))
    for _ in range(rounds):
        s, matrices, lines = _priced(programme, roots, prices)
        cost = programme.costs(matrices, lines)
        if not (dearest := float(cost.max())):  # nobody moves anything
            break
        if s * dearest < least:
            least, found = s * dearest, ([each / dearest for each in matrices], lines / dearest)
        if s * s >= bound:
            kept, moved_by, bound, power = prices, cost / dearest, s * s, FASTER * power
        else:
            power = max(1.0, power / SLOWER)
        if least <= bound * (1 + close):
            break
        prices = np.maximum(kept * moved_by**power, LEAST_PRICE)
        prices /= prices.sum()
    best = Optimum(matrices=tuple(found[0]), lines=found[1], error=float(least), bound=bound)
    return best, kept


def _priced(
    programme: Programme, roots: Sequence[Floats], prices: Floats
) -> tuple[float, list[Floats], Floats]:
    """Return s, and the information that is best for an average person at these prices."""
    s, matrices = 0.0, []
    for place, (moved, root) in enumerate(zip(programme.moved, roots, strict=True)):
        average = np.einsum("k,kij->ij", prices, moved)
        given = programme.given and place == 0
        to_center = _to_center(average) if given else np.eye(len(average))
        middle, inverse = _roots(root @ to_center @ average @ to_center.T @ root)
        matrices.append(to_center.T @ root @ inverse @ root @ to_center)
        s += float(np.trace(middle))
    charged = np.einsum("k,kl->l", prices, programme.distances)
    s += float(np.sqrt(programme.line_weights * charged).sum())
    return s, matrices, np.sqrt(programme.line_weights / np.maximum(charged, LEAST_PRICE))


def _to_center(average: Floats) -> Floats:
    """Return what makes of sums and the number of people the sums seen from the average person."""
    return np.hstack([np.eye(len(average) - 1), -average[:-1, -1:] / average[-1, -1]])


def _roots(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the square root of a matrix that is not negative, and the inverse of that root."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.sqrt(np.maximum(values, 0.0))
    inverse = 1 / np.maximum(roots, LEAST_ROOT * roots[-1])
    return (vectors * roots) @ vectors.T, (vectors * inverse) @ vectors.T
