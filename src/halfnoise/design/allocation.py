"""The best scales for given centres.

Inside a block: the scales that cost at most 1 for every person and make the weighted error least.
Between blocks: a block whose error is K at a cost of 1 has error K / L^(q-1) at a cost of L, so the
best costs are proportional to K^(1/q), q = 2 for Gaussian and 3 for Laplace noise.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np

from halfnoise.design.duality import solve
from halfnoise.design.programme import Programme
from halfnoise.noise.law import Noise
from halfnoise.values import dataclass
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.base import Cases, Center, Scales, View
from halfnoise.workload.sets.levelled import Pooling
from halfnoise.workload.workload import Workload

# Of a search for the best rates of many: how close they come with some cases, and with all.
MOST_ROUNDS, EXACT, CLOSE = 1000, 1e-9, 1e-6
LEAST_PRICE = 1e-30
FEW, MOST_CASES = 64, 64  # rates that steps are taken for; people who are found one by one
LEAST_COST = 1e-12  # beside the dearest: of what somebody, or nobody, does not move
# Of T, for all terms together: so much is left for what weighs nothing beside the rest.
LEAST_PART = {Noise.GAUSSIAN: 2e-5, Noise.LAPLACE: 5e-4}
LEAST = 1e-3  # of a term of T: what is told from below is measured with that much nevertheless


@dataclass(frozen=True, slots=True)
class Rates:
    """A block's scales at a cost of one: ``rates`` are their inverse p-th powers."""

    rates: Scales
    error: float

    @classmethod
    def best(cls, block: Block, view: View, noise: Noise, *, leaves: bool = True) -> Self:
        """Return the scales that cost at most one in every case and make the weighted error least.

        The cases are those of a person who ``leaves``, or else of one who changes answers. With one
        scale the farthest decides. With two, one decides alone or two bind at once; the error is
        convex in the rates, so the best of these that is allowed is the best of all. Where several
        noises tell the same, what each weighs hangs on all (``Pooling``).
        """
        kinds = view.person if leaves else view.change
        cases, pooling = kinds.near((1.0,) * len(view.weights)), block.shape.pooling
        far = [max(map(float, own)) for own in zip(*cases, strict=True)]
        asked = [block.importance * float(w) for w in view.weights]
        weights = _lifted(asked, far, noise)
        if pooling is not None:
            pooling = pooling.with_least(np.where(np.array(weights) > asked, weights, 0.0))
        for _ in range(MOST_CASES):
            if pooling is None:
                found = cls._best(cases, weights, noise)
            else:
                rates = _pooled(pooling, np.array(cases, dtype=float), np.array(weights))
                found = cls(rates, pooling.error(np.array(rates)))
            near = kinds.near(found.rates)
            more = () if near is cases else tuple(case for case in near if case not in cases)
            worst = max(1.0, found.worst(more)) if more else 1.0
            if worst <= 1 + CLOSE:
                return found
            cases += more
        return cls(tuple(rate / worst for rate in found.rates), found.error * worst)

    @classmethod
    def _best(cls, cases: Cases, weights: Scales, noise: Noise) -> Self:
        costs = [tuple(float(a) for a in case) for case in cases]
        if len(weights) == 1:
            candidates: list[Scales] = [(1 / max(a for (a,) in costs),)]
        elif len(costs) == 1:
            candidates = [_one_binds(costs[0], weights, noise)]
        elif len(weights) > 2 and len(costs) == 2 and any(map(_alone, costs)):
            candidates = [_one_binds(case, weights, noise) for case in costs if all(case)]
            candidates += _each_binds(costs, weights, noise)
        elif len(weights) > 2 or len(costs) > 2:
            candidates = [_balanced(costs, weights, noise)]
        else:
            candidates = [_one_binds(case, weights, noise) for case in costs if all(case)]
            candidates += _both_bind(costs)
        found = [cls(rates, _error(rates, weights, noise)) for rates in candidates]
        allowed = [rates for rates in found if rates.worst(cases) <= 1 + 1e-9]
        return min(allowed, key=lambda rates: rates.error)

    def cost(self, noise: Noise) -> float:
        """Return K^(1/q), to which the best share of the budget is proportional."""
        return math.pow(self.error, 1 / noise.q)

    def scales(self, share: float, noise: Noise) -> Scales:
        """Return the scales when the block may cost ``share``."""
        return tuple(math.pow(rate * share, -1 / noise.p) for rate in self.rates)

    def worst(self, cases: Cases) -> float:
        """Return what the worst of ``cases`` costs at these scales."""
        pairs = (zip(case, self.rates, strict=True) for case in cases)
        return max(sum(float(a) * rate for a, rate in case if a) for case in pairs)


@dataclass(frozen=True)
class Allocation:
    """What the best split of a budget hangs on; ``size``: what an error in n weighs, V."""

    noise: Noise
    views: Sequence[View]
    rates: Sequence[Rates]
    size: float

    @classmethod
    def of(
        cls,
        workload: Workload,
        blocks: Sequence[Block],
        centers: Sequence[Center],
        noise: Noise,
        interest: float | None = None,
    ) -> Self:
        """Look at blocks from their centres; where nobody leaves, only changes cost.

        ``interest``: the importance of the number of people, unless it is that of the workload.
        """
        views = [b.shape.view(c, noise.p) for b, c in zip(blocks, centers, strict=True)]
        seen = list(zip(blocks, views, strict=True))
        rates = [Rates.best(b, view, noise, leaves=workload.touched > 0) for b, view in seen]
        errors = _lifted([each.error for each in rates], [1.0] * len(rates), noise)
        rates = [Rates(each.rates, error) for each, error in zip(rates, errors, strict=True)]
        lean = sum(block.importance * float(view.root_weight) for block, view in seen)
        own = workload.size_importance if interest is None else interest
        return cls(noise, views, rates, own + lean)

    @cached_property
    def own(self) -> float:
        """The blocks' terms of T."""
        return sum(rates.cost(self.noise) for rates in self.rates)

    def root(self, weight: float) -> float:
        """Return the term of n in T, which is less by what blocks tell of it themselves."""
        whole = math.pow(weight, 1 / self.noise.q)
        told = sum(view.root_told for view in self.views)
        return max(whole - told, LEAST * whole, LEAST_PART[self.noise] * self.own * bool(weight))

    def scales(self, power: float) -> tuple[Scales, ...]:
        """Return the scales of all blocks when together they may cost ``power``."""
        noise = self.noise
        return tuple(r.scales(power * r.cost(noise) / self.own, noise) for r in self.rates)

    def most_for_change(self, budget: float) -> float:
        """Return what the blocks may cost a person at most where a person may change answers.

        Who changes group pays for a farthest corner and n in two groups, who changes answers for
        the two farthest corners; the blocks get what is best for the first, or less if the second
        asks for it. (The listing alg:correlatedGaussianGroups prints Var(eta) = 4/mu^2 under
        replacement; its proof gives 1/mu^2, as eta is half the noise of n, and so does this.)
        """
        seen = zip(self.rates, self.views, strict=True)
        dearest = [(rates, view.change.near(rates.rates)) for rates, view in seen]
        change = sum(rates.cost(self.noise) * rates.worst(cases) for rates, cases in dearest)
        return float(budget**self.noise.p * self.own / change)


def size_weight(blocks: Sequence[Block]) -> float:
    """Return what the size of a group weighs where nothing leans on it: one full-range query."""
    return max(block.importance * block.shape.width**2 for block in blocks)


def _lifted(weights: Sequence[float], far: Sequence[float], noise: Noise) -> Scales:
    """Return weights none of which is so small that its noise would have no place on a grid.

    What weighs w, and is moved so far, has the term w^(1/q) far^(1-1/q) of T.
    """
    q, pairs = noise.q, [*zip(weights, far, strict=True)]
    terms = (math.pow(w, 1 / q) * math.pow(d, 1 - 1 / q) for w, d in pairs)
    part = LEAST_PART[noise] * sum(terms) / len(weights)
    return tuple(max(w, math.pow(part, q) / math.pow(d, q - 1)) if d else w for w, d in pairs)


def _error(rates: Scales, weights: Scales, noise: Noise) -> float:
    return sum(w * math.pow(rate, -2 / noise.p) for w, rate in zip(weights, rates, strict=True))


def _one_binds(case: Scales, weights: Scales, noise: Noise) -> Scales:
    """Minimise sum w u^(-2/p) subject to sum a u = 1: u is proportional to (w/a)^(1/q)."""
    raw = [(w / a) ** (1 / noise.q) for w, a in zip(weights, case, strict=True)]
    total = sum(a * u for a, u in zip(case, raw, strict=True))
    return tuple(u / total for u in raw)


def _alone(case: Scales) -> bool:
    """Whether a kind of person is charged to one scale at most."""
    return sum(map(bool, case)) <= 1


def _each_binds(costs: list[Scales], weights: Scales, noise: Noise) -> list[Scales]:
    """Return where one is charged to one scale alone, and the other to all, and both cost one."""
    lone, other = sorted(costs, key=_alone, reverse=True)
    place = next((i for i, a in enumerate(lone) if a), None)
    if place is None or (left := 1 - other[place] / lone[place]) <= 0:
        return []
    rest = [i for i in range(len(weights)) if i != place]
    case, own = (tuple(each[i] for i in rest) for each in (other, weights))
    if not all(case):
        return []
    found = dict(zip(rest, (left * u for u in _one_binds(case, own, noise)), strict=True))
    return [tuple(found.get(i, 1 / lone[place]) for i in range(len(weights)))]


def _balanced(costs: Sequence[Scales], weights: Scales, noise: Noise) -> Scales:
    """Minimise sum w u^(-2/p) subject to sum a u <= 1 for every case.

    Of Gaussian noise that is a programme of lines alone. Of Laplace noise, with prices on the
    cases, u = (w/(prices a))^(1/q) is best; a case that costs more gets a higher price. By duality
    no rates have less error than  (sum w^(1/q) (prices a)^(1-1/q))^q. Prices move by a power of the
    costs that grows as long as that bound does.
    """
    a, w = np.array(costs), np.array(weights)
    if noise is Noise.GAUSSIAN and len(w) <= FEW:
        return _pooled(Pooling(np.eye(len(w)), w), a, w)
    if noise is Noise.GAUSSIAN:
        lines = Programme(moved=(), weights=(), distances=a, line_weights=w)
        return tuple(solve(lines, EXACT).lines.tolist())
    kept = prices = np.full(len(a), 1 / len(a))
    best, least, found, power = math.inf, 0.0, w, 1.0
    for _ in range(MOST_ROUNDS):
        priced = prices @ a
        rates = (w / priced) ** (1 / noise.q)
        cost = a @ rates
        bound = float((w ** (1 / noise.q) * priced ** (1 - 1 / noise.q)).sum()) ** noise.q
        rates /= cost.max()
        if (error := float((w * rates ** (-2 / noise.p)).sum())) < best:
            best, found = error, rates
        if best <= max(bound, least) * (1 + EXACT):
            break
        if bound >= least:
            kept, kept_cost, least, power = prices, cost / cost.max(), bound, 1.5 * power
        else:
            power = max(1.0, power / 4)
        prices = np.maximum(kept * kept_cost**power, LEAST_PRICE)
        prices /= prices.sum()
    return tuple(found.tolist())


def _pooled(pooling: Pooling, costs: Floats, weights: Floats) -> Scales:
    """Return the best rates of few noises; at first, as if each told something of its own."""
    far = costs.max(axis=0)
    far = np.where(far > 0, far, LEAST_COST)
    start = np.sqrt(np.maximum(weights, LEAST_PRICE) / far)
    costs = np.maximum(costs, LEAST_COST * far)
    return tuple(pooling.best(costs, start).tolist())


def _both_bind(costs: list[Scales]) -> list[Scales]:
    """Return where both cases of a pair cost exactly one, if that is a pair of positive rates."""
    (a, b), (c, d) = costs
    if not (determinant := a * d - b * c):
        return []
    rates = ((d - b) / determinant, (a - c) / determinant)
    return [rates] if min(rates) > 0 else []
