"""The centred design: measure h = f - c n and n with independent noise; then f^ = h^ + c n^.

Standard noise is the same with nothing centred and n not measured. A known number of people is the
same with n given. Groups are the same in each group, and a person pays for each that they touch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, Self

from flint import arb

from halfnoise.design.allocation import Unit, best_unit
from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.design import Design, certified
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Neighbors
from halfnoise.proof import ball, round_up
from halfnoise.workload.sets import Answered, Cases, OneOf, Parts, View
from halfnoise.workload.workload import Block, Workload

Center = Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Centered(Design):
    """A centre and the scales of the noise for every block, and the scale for the number of people.

    A center of None means that a block is measured as it is. ``touched``: in how many groups one
    person can change what is measured (see ``Workload.touched``).
    """

    name: str
    noise: Noise
    blocks: tuple[Block, ...]
    centers: tuple[Center, ...]
    scales: tuple[tuple[float, ...], ...]
    size_scale: float | None
    neighbors: Neighbors
    touched: int
    size_is_given: bool = False

    def parts(self) -> tuple[Parts, ...]:
        """Return, for each block, the scales of the independent noises in its estimates."""
        root = self.size_scale or 0.0
        return tuple(
            block.shape.parts(center, scales, root)
            for block, center, scales in zip(self.blocks, self.centers, self.scales, strict=True)
        )

    def loss(self) -> float:
        """Return what the worst person costs, rounded up: mu, or epsilon with Laplace noise.

        Added or removed: the farthest corner and n, in each group that a person is in. Replaced:
        the two corners farthest apart (n does not change), or a farthest corner and n in each group
        that is left or entered, whichever is more.
        """
        return round_up(self._loss_ball)

    def stretched(self, factor: float) -> Self:
        """Return the design with all its scales times ``factor``."""
        return replace(
            self,
            scales=tuple(tuple(scale * factor for scale in block) for block in self.scales),
            size_scale=None if self.size_scale is None else self.size_scale * factor,
        )

    def person_cost(self) -> arb:
        """Return what the farthest corner costs in one group, without n."""
        return self._cost([view.person for view in self._views()])

    def _loss_ball(self) -> arb:
        p = self.noise.p
        leave = self.person_cost()
        if self.size_scale is not None:
            leave += 1 / ball(self.size_scale) ** p
        power = self.touched * leave
        if self.neighbors is Neighbors.REPLACE:
            power = power.max(self._cost([view.change for view in self._views()]))
        return power.sqrt() if p == 2 else power

    def _views(self) -> list[View]:
        return _views(self.blocks, self.centers, self.noise)

    def _cost(self, blocks: Sequence[Cases]) -> arb:
        total = arb(0)
        for cases, scales in zip(blocks, self.scales, strict=True):
            worst = arb(0)
            for case in cases:
                terms = (
                    ball(a) / ball(s) ** self.noise.p
                    for a, s in zip(case, scales, strict=True)
                    if a
                )
                worst = worst.max(sum(terms, arb(0)))
            total += worst
        return total

    @property
    def covariance(self) -> Covariance:
        """The joint error of all estimates, the number of people last where it is measured."""
        unit = self.noise.unit_variance
        start = 0
        variances, shared, lean = [], [], []
        for block, center, scales in zip(self.blocks, self.centers, self.scales, strict=True):
            stop = start + block.shape.size
            c = float(center or 0)
            own = unit * scales[0] ** 2
            if isinstance(block.shape, Answered):
                # The value leans on the number who answered, whose noise the two then share.
                middle = float(block.shape.middle) if center is not None else 0.0
                runs = (Run(start, start + 1, middle), Run(start + 1, stop, 1.0))
                variances.append(Run(start, start + 1, own))
                shared.append(Shared(unit * scales[1] ** 2, runs))
                lean += [Run(run.start, run.stop, run.value * c) for run in runs]
            else:
                lean.append(Run(start, stop, c))
                projected = isinstance(block.shape, OneOf) and center is not None
                if projected and block.shape.size == 2:
                    # Half the difference of two noises, with opposite signs in the two.
                    halves = (Run(start, start + 1, 0.5), Run(start + 1, stop, -0.5))
                    shared += [Shared(own, halves)] * 2
                else:
                    variances.append(Run(start, stop, own))
                    if projected:
                        shared.append(Shared(-own / block.shape.size, (Run(start, stop, 1.0),)))
            start = stop
        if self.size_scale is None:
            return Covariance(start, tuple(variances), tuple(shared))
        lean.append(Run(start, start + 1, 1.0))
        shared.append(Shared(unit * self.size_scale**2, tuple(lean)))
        return Covariance(start + 1, tuple(variances), tuple(shared))


class Weighed(NamedTuple):
    """Blocks as seen from their centres, their best scales, and what an error in n weighs (V)."""

    views: list[View]
    units: list[Unit]
    size: float


def weighed(workload: Workload, centers: Sequence[Center], noise: Noise) -> Weighed:
    """Return what the best split of a budget hangs on."""
    blocks = workload.blocks
    views = _views(blocks, centers, noise)
    nobody_leaves = not workload.touched
    units = [
        best_unit(
            view.change if nobody_leaves else view.person,
            tuple(block.importance * float(w) for w in view.weights),
            noise,
        )
        for block, view in zip(blocks, views, strict=True)
    ]
    size = workload.size_importance + sum(
        block.importance * float(view.root_weight)
        for block, view in zip(blocks, views, strict=True)
    )
    return Weighed(views, units, size)


def size_weight(workload: Workload) -> float:
    """Return what the size of a group weighs where nothing leans on it: one full-range query."""
    return max(block.importance * block.shape.width**2 for block in workload.blocks)


def best_scales(
    workload: Workload,
    centers: Sequence[Center],
    *,
    name: str,
    noise: Noise,
    budget: float,
    measure_size: bool,
    always: bool = False,
    size_is_given: bool = False,
) -> Centered:
    """Return the design with these centres and the best scales, certified to cost ``budget``.

    The number of people is measured, if at all, where something leans on it, or ``always``.

    T = sum_b K_b^(1/q) + V^(1/q); every block's share of the budget is its term's share of T.
    """
    p = noise.p
    parts = weighed(workload, centers, noise)
    weight = parts.size or (size_weight(workload) if always else 0.0)
    root = weight ** (1 / noise.q) if measure_size else 0.0
    own = sum(unit.cost(noise) for unit in parts.units)
    power = budget**p / (workload.touched or 1)
    for_blocks, for_root = (power * part / (own + root) for part in (own, root))
    if workload.touched and workload.neighbors is Neighbors.REPLACE:
        most = _most_for_change(parts, noise, budget)
        if most < for_blocks:
            for_blocks, for_root = most, power - most
    design = Centered(
        name=name,
        noise=noise,
        blocks=workload.blocks,
        centers=tuple(centers),
        scales=shared_out(parts.units, for_blocks, noise),
        size_scale=for_root ** (-1 / p) if root else None,
        neighbors=workload.neighbors,
        touched=workload.touched,
        size_is_given=size_is_given,
    )
    return certified(design, budget)


def shared_out(
    units: Sequence[Unit], for_blocks: float, noise: Noise
) -> tuple[tuple[float, ...], ...]:
    """Return the scales of all blocks when together they may cost ``for_blocks``."""
    own = sum(unit.cost(noise) for unit in units)
    return tuple(unit.scales(for_blocks * unit.cost(noise) / own, noise) for unit in units)


def _most_for_change(parts: Weighed, noise: Noise, budget: float) -> float:
    """Return what the blocks may cost a person at most where a person may change answers.

    Who changes group pays for a farthest corner and n in two groups, who changes answers for the
    two farthest corners; the blocks get what is best for the first, or less if the second asks for
    it. (The listing alg:correlatedGaussianGroups prints Var(eta) = 4/mu^2 under replacement; its
    proof gives 1/mu^2, as eta is half the noise of n, and so does this.)
    """
    change = sum(
        unit.cost(noise) * unit.worst(view.change)
        for unit, view in zip(parts.units, parts.views, strict=True)
    )
    own = sum(unit.cost(noise) for unit in parts.units)
    return float(budget**noise.p * own / change)


def _views(blocks: Sequence[Block], centers: Sequence[Center], noise: Noise) -> list[View]:
    return [b.shape.view(c, noise.p) for b, c in zip(blocks, centers, strict=True)]
