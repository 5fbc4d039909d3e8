"""The least error for counts when the number of people is not wanted.

The best covariance (open after lem:near-optimal-bound in the paper) has variance 1/u along the
all-ones vector and 1/v across it. A person with j ones costs  (j^2/d) u + (j - j^2/d) v. Minimise
1/u + (d-1)/v: the optimum touches the constraint of one j, or of two neighbouring ones.

It is a centred design too: h = f - total/d, projected onto sum zero, and the total, in the place of
the number of people.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Self

from flint import arb

from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.design import Design, Setting
from halfnoise.design.measurement import CenteredMeasurement, Root
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Neighbors
from halfnoise.proof import ball
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.sets import OneOf
from halfnoise.workload.sets.base import Parts
from halfnoise.workload.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimalWithoutSize(Design):
    """Noise of scale ``across`` on h and of scale ``total_scale`` on the total of the counts."""

    blocks: tuple[Block]
    across: float
    total_scale: float

    name = "optimal-gaussian-without-size"
    noise = Noise.GAUSSIAN
    size_scale = None

    @classmethod
    def offers(cls, setting: Setting) -> "Iterator[OptimalWithoutSize]":
        """Offer the optimum for one block of counts or items, where nobody is interested in n."""
        workload, budget = setting.workload, setting.budget
        block, *others = workload.blocks
        d, k = block.shape.size, block.shape.ones
        alone = workload.neighbors is Neighbors.ADD_REMOVE and workload.touched == 1
        if not alone or workload.discovers or setting.noise is not Noise.GAUSSIAN:
            return
        if k is not None and not others and not workload.size_importance:
            u, v = _best_axes(d, k)
            across, total = 1 / (budget * math.sqrt(v)), math.sqrt(d / u) / budget
            yield cls(blocks=(block,), across=across, total_scale=total).certified(budget)

    def parts(self) -> tuple[Parts, ...]:
        """Return its own noise, projected, and that of the total."""
        d = self.blocks[0].shape.size
        return ({"sum": [self.across * math.sqrt(1 - 1 / d), self.total_scale / d]},)

    def worst(self) -> arb:
        """Return what the worst person costs.

        With j ones the cost is j (d-j)/d / across^2 + j^2 / total_scale^2, a parabola in j: the
        worst is at its top, if it opens downwards, or at the most ones.
        """
        d, k = self.blocks[0].shape.size, self.blocks[0].shape.ones or 0
        u, v = self.total_scale**-2, self.across**-2 if d > 1 else 0.0
        top = math.floor(min(v / (2 * (v / d - u)) if v / d > u else math.inf, k))
        near = {min(k, max(1, top + step)) for step in (-1, 0, 1, 2)}

        def cost(j: int) -> arb:
            total = ball(j) ** 2 / ball(self.total_scale) ** 2
            return total + ball(j) * (d - j) / d / ball(self.across) ** 2 if d > 1 else total

        return reduce(arb.max, map(cost, near | {k}), arb(0)).sqrt()

    def stretched(self, factor: float) -> Self:
        """Return the design with both scales times ``factor``."""
        return replace(self, across=self.across * factor, total_scale=self.total_scale * factor)

    def remark(self, _errors: Mapping[str, float]) -> str:
        """Say what it does not give."""
        return " It does not give the number of people, which has no importance here."

    def on_grid(self, workload: Workload, budget: float) -> CenteredMeasurement:
        """Measure h as categories are: like theirs, the counts minus total/d sum to zero."""
        del workload, budget  # the loss does not depend on the grid
        block = self.blocks[0].on_grid(None, self.across)
        d = block.shape.size
        return CenteredMeasurement(
            design=self,
            blocks=(block,),
            channels=(OneOf(d).channel(block.quantum, Fraction(1, d), (self.across,)),),
            root=Root.of(self.total_scale, block.quantum, d),
            root_is_total=True,
        )

    @property
    def covariance(self) -> Covariance:
        """The joint error of the counts."""
        d, own = self.blocks[0].shape.size, self.across**2
        shared = Shared((self.total_scale**2 / d - own) / d, (Run(0, d, 1.0),))
        return Covariance(d, (Run(0, d, own),), (shared,))


def _best_axes(d: int, k: int) -> tuple[float, float]:
    """Return the best (u, v) at mu = 1.

    The bound q_j^2 that constraint j alone gives is largest near j = (d + sqrt(d))/2, so only the
    constraints next to it, or at k, can bind.
    """
    if d == 1:
        return 1.0, 1.0
    peak = round((d + math.sqrt(d)) / 2)
    near = sorted({min(k, max(1, j)) for j in range(peak - 2, peak + 3)})
    candidates = [_one_binds(d, j) for j in near if j < d]
    candidates += [_two_bind(d, i, j) for i, j in pairwise(near)]
    allowed = [
        (u, v)
        for u, v in candidates
        if min(u, v) > 0 and all(j * j / d * u + j * (d - j) / d * v <= 1 + 1e-9 for j in near)
    ]
    return min(allowed, key=lambda axes: 1 / axes[0] + (d - 1) / axes[1])


def _one_binds(d: int, j: int) -> tuple[float, float]:
    along, across = math.sqrt(j * j / d), math.sqrt(j * (d - j) / d)
    q = along + math.sqrt(d - 1) * across
    return 1 / (along * q), math.sqrt(d - 1) / (across * q)


def _two_bind(d: int, i: int, j: int) -> tuple[float, float]:
    """Solve  (i^2/d) u + i(d-i)/d v = 1  and the same for j."""
    # Divided by i and j: i u + (d-i) v = d/i, so the difference of the two gives u - v.
    slope = d * (1 / j - 1 / i) / (j - i)
    v = (d / i - i * slope) / d
    return v + slope, v
