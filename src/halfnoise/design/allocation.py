"""The best scales for given centres.

Inside a block: the scales that cost at most 1 for every person and make the weighted error least.
Between blocks: a block whose error is K at a cost of 1 has error K / L^(q-1) at a cost of L, so the
best costs are proportional to K^(1/q), q = 2 for Gaussian and 3 for Laplace noise.
"""

import math
from dataclasses import dataclass

from halfnoise.noise.law import Noise
from halfnoise.workload.sets import Cases


@dataclass(frozen=True, slots=True)
class Unit:
    """A block's scales at a cost of one: ``rates`` are their inverse p-th powers."""

    rates: tuple[float, ...]
    error: float

    def cost(self, noise: Noise) -> float:
        """Return K^(1/q), to which the best share of the budget is proportional."""
        return math.pow(self.error, 1 / noise.q)

    def scales(self, share: float, noise: Noise) -> tuple[float, ...]:
        """Return the scales when the block may cost ``share``."""
        return tuple(math.pow(rate * share, -1 / noise.p) for rate in self.rates)

    def worst(self, cases: Cases) -> float:
        """Return what the worst of ``cases`` costs at these scales."""
        return max(
            sum(float(a) * rate for a, rate in zip(case, self.rates, strict=True) if a)
            for case in cases
        )


def best_unit(cases: Cases, weights: tuple[float, ...], noise: Noise) -> Unit:
    """Return the scales that cost at most one in every case and make the weighted error least.

    With one scale the farthest case decides. With two, either one case decides alone or two cases
    bind at once; the error is convex in the rates, so the best of these that is allowed is the best
    of all.
    """
    costs = [tuple(float(a) for a in case) for case in cases]
    candidates: list[tuple[float, ...]]
    if len(weights) == 1:
        farthest = max(a for (a,) in costs)
        candidates = [(1 / farthest,)]
    else:
        candidates = [_one_binds(case, weights, noise) for case in costs if all(case)]
        candidates += _both_bind(costs)
    units = [Unit(rates, _error(rates, weights, noise)) for rates in candidates]
    allowed = [unit for unit in units if unit.worst(cases) <= 1 + 1e-9]
    return min(allowed, key=lambda unit: unit.error)


def _error(rates: tuple[float, ...], weights: tuple[float, ...], noise: Noise) -> float:
    return sum(w * math.pow(rate, -2 / noise.p) for w, rate in zip(weights, rates, strict=True))


def _one_binds(
    case: tuple[float, ...], weights: tuple[float, ...], noise: Noise
) -> tuple[float, ...]:
    """Minimise sum w u^(-2/p) subject to sum a u = 1: u is proportional to (w/a)^(1/q)."""
    raw = [(w / a) ** (1 / noise.q) for w, a in zip(weights, case, strict=True)]
    total = sum(a * u for a, u in zip(case, raw, strict=True))
    return tuple(u / total for u in raw)


def _both_bind(costs: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Return where both cases of a pair cost exactly one, if that is a pair of positive rates."""
    (a, b), (c, d) = costs
    determinant = a * d - b * c
    if not determinant:
        return []
    rates = ((d - b) / determinant, (a - c) / determinant)
    return [rates] if min(rates) > 0 else []
