"""At some prices on people: the information that is best, what everybody costs, and the bound.

How that follows says ``duality``; blocks are in stacks, and everything is done to all of one.
"""

from typing import NamedTuple

import numpy as np

from halfnoise.design.stacks import Stacks
from halfnoise.values import dataclass, replace
from halfnoise.workload.grid import Floats

LEAST_ROOT, TINY = 1e-7, 1e-200


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """The information that was found, at a cost of one, its error, and the bound for any noise.

    ``prices``, ``shares``: of people, and of the goals in what errors weigh, where the bound is.
    """

    matrices: tuple[Floats, ...]
    lines: Floats
    error: float
    bound: float
    prices: Floats
    shares: Floats

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

    def or_better(self, other: "Optimum") -> "Optimum":
        """Return this or another, whichever has less error, with the higher bound."""
        least = other if other.error < self.error else self
        known = other if other.bound > self.bound else self
        return replace(least, bound=known.bound, prices=known.prices, shares=known.shares)


class Seen(NamedTuple):
    """The information that is best at some prices and shares, an average person costs s of it.

    ``views``: U of each block, where U'U is the information; ``backs``: U^-T, of what weighs.
    """

    s: float
    prices: Floats
    shares: Floats
    views: list[Floats]
    backs: list[Floats]
    middles: list[Floats]
    charged: Floats
    lines: Floats

    @classmethod
    def at(cls, stacks: Stacks, prices: Floats, shares: Floats) -> "Seen":
        """Return it at these."""
        s, views, backs, middles = 0.0, list[Floats](), list[Floats](), list[Floats]()
        for place, stack in enumerate(stacks.every):
            mean, own = stack.average(prices), np.eye(stack.moved.shape[-1])
            own = _to_center(mean[0]) if stacks.given and place == 0 else own
            seen = _root(np.einsum("g,bgij->bij", shares, stack.weights)) @ own
            values, vectors = np.linalg.eigh(seen @ mean @ seen.mT)
            middle = np.sqrt(np.maximum(values, 0.0))
            s += float(middle.sum())
            middle = np.maximum(middle, np.maximum(LEAST_ROOT * middle[:, -1:], TINY))
            views.append((vectors.mT @ seen) / np.sqrt(middle)[..., None])
            backs.append(views[-1] @ mean @ own.T / middle[..., None])
            middles.append(middle)
        charged = np.einsum("k,kl->l", prices, stacks.distances)
        wanted = shares @ stacks.line_weights
        s += float(np.sqrt(wanted * charged).sum())
        charged = np.maximum(charged, TINY)
        lines = np.maximum(np.sqrt(wanted / charged), TINY)
        return cls(s, prices, shares, views, backs, middles, charged, lines)

    def noise(self, dearest: float, errors: Floats) -> Optimum:
        """Return it at a cost of one."""
        found = Optimum(
            matrices=tuple(view.mT @ view for view in self.views),
            lines=self.lines,
            error=float(errors.max()),
            bound=self.s**2 / float(self.prices.sum() * self.shares.sum()),
            prices=self.prices / self.prices.sum(),
            shares=self.shares / self.shares.sum(),
        )
        return found.stretched(dearest)

    def far(self, stacks: Stacks) -> tuple[Floats, Floats]:
        """Return what everybody costs, and all errors."""
        errors = stacks.line_weights @ (1 / self.lines)
        for back, stack in zip(self.backs, stacks.every, strict=True):
            errors = errors + np.einsum("bgij,bij->g", stack.weights, back.mT @ back)
        return stacks.costs([view.mT @ view for view in self.views], self.lines), errors

    def changes(self, stacks: Stacks) -> Floats:
        """Return F', a column for each price and each share: how costs and errors change."""
        root = np.sqrt(2 * self.charged) * np.sqrt(self.lines)
        people = [stacks.distances.T * (self.lines / root)[:, None]]
        asked = [-stacks.line_weights.T / (self.lines * root)[:, None]]
        seen = zip(stacks.every, self.views, self.backs, self.middles, strict=True)
        for stack, view, back, middle in seen:
            i, j = np.triu_indices(view.shape[1])
            twice = np.sqrt(np.where(i == j, 1.0, 2.0) / (middle[:, i] + middle[:, j]))
            wanted = (back[:, None] @ stack.weights @ back.mT[:, None])[..., i, j].mT
            both = stack.seen(view, i, j) * twice[..., None], wanted * -twice[..., None]
            if stacks.given and len(people) == 1:  # the average person moves, too
                more = view[0] @ stack.last[0] * np.sqrt(2 / self.prices.sum())
                people.append(more)
                asked.append(np.zeros((len(more), wanted.shape[-1])))
            for found, own in zip((people, asked), both, strict=True):
                found.append(own.reshape(-1, own.shape[-1]))
        return np.hstack([np.vstack(people), np.vstack(asked)])


def _to_center(average: Floats) -> Floats:
    """Return what makes of sums and the number of people the sums seen from the average person."""
    return np.hstack([np.eye(len(average) - 1), -average[:-1, -1:] / average[-1, -1]])


def _root(matrix: Floats) -> Floats:
    """Return the square roots of matrices that are not negative."""
    values, vectors = np.linalg.eigh(matrix)
    found: Floats = (vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]) @ vectors.mT
    return found


_EMPTY = np.empty(0)
NONE = Optimum(matrices=(), lines=_EMPTY, error=np.inf, bound=0.0, prices=_EMPTY, shares=_EMPTY)
