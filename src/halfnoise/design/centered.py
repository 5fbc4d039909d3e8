"""The centred design: measure h = f - c n and n with independent noise; then f^ = h^ + c n^.

Standard noise is the same with nothing centred and n not measured. A known number of people is the
same with n given. Groups are the same in each group, and a person pays for each that they touch.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Self

from flint import arb

from halfnoise.design.allocation import Allocation, size_weight
from halfnoise.design.centers import best_centers, known_size_centers
from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.design import Design, certified
from halfnoise.design.measurement import CenteredMeasurement, Root, channel
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Neighbors
from halfnoise.proof import ball, round_up
from halfnoise.workload.block import Block
from halfnoise.workload.sets.base import Cases, Center, Channel, Parts, Span, View
from halfnoise.workload.workload import Workload


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
        pairs = zip(self.blocks, self.centers, strict=True)
        return [block.shape.view(center, self.noise.p) for block, center in pairs]

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
        variances: list[Run] = []
        shared: list[Shared] = []
        lean: list[Run] = []

        def runs(spans: Iterable[Span]) -> tuple[Run, ...]:
            return tuple(Run(start + low, start + high, value) for low, high, value in spans)

        for block, center, scales in zip(self.blocks, self.centers, self.scales, strict=True):
            mixture = block.shape.mixture(center)
            variances += runs([(*mixture.own, unit * scales[0] ** 2)] if any(mixture.own) else [])
            shared += [
                Shared(unit * scales[noise.scale] ** 2 / noise.by, runs(noise.loadings))
                for noise in mixture.shared
            ]
            lean += runs(mixture.lean)
            start += block.shape.size
        if self.size_scale is None:
            return Covariance(start, tuple(variances), tuple(shared))
        lean.append(Run(start, start + 1, 1.0))
        shared.append(Shared(unit * self.size_scale**2, tuple(lean)))
        return Covariance(start + 1, tuple(variances), tuple(shared))

    def channels(self) -> tuple[Channel, ...]:
        """Return the blocks, which are on the grid, ready to be measured."""
        return tuple(map(channel, self.blocks, self.centers, self.scales))

    def moved(self) -> tuple[tuple[Block, ...], tuple[Center, ...]]:
        """Return the blocks and the centres on the grid."""
        blocks = [b.on_grid(scales[0]) for b, scales in zip(self.blocks, self.scales, strict=True)]
        centers = [
            block.shape.center_on_grid(center, scales[-1])
            for block, center, scales in zip(blocks, self.centers, self.scales, strict=True)
        ]
        return tuple(blocks), tuple(centers)

    def on_grid(self, workload: Workload, budget: float) -> CenteredMeasurement:
        """Put blocks and centres on the grid, then choose the scales that fit them."""
        blocks, centers = self.moved()
        sized = self.size_scale is not None
        final = best_scales(
            workload,
            centers,
            blocks=blocks,
            name=self.name,
            noise=self.noise,
            budget=budget,
            measure_size=sized,
            always=sized,
            size_is_given=self.size_is_given,
        )
        root = None if final.size_scale is None else Root.of(final.size_scale, Fraction(1))
        return CenteredMeasurement(
            design=final, blocks=blocks, channels=final.channels(), root=root
        )


def best_scales(
    workload: Workload,
    centers: Sequence[Center],
    *,
    blocks: tuple[Block, ...] | None = None,
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
    blocks = blocks or workload.blocks
    parts = Allocation.of(workload, blocks, centers, noise)
    weight = parts.size or (size_weight(blocks) if always else 0.0)
    root = weight ** (1 / noise.q) if measure_size else 0.0
    power = budget**p / (workload.touched or 1)
    for_blocks, for_root = (power * part / (parts.own + root) for part in (parts.own, root))
    if workload.touched and workload.neighbors is Neighbors.REPLACE:
        most = parts.most_for_change(budget)
        if most < for_blocks:
            for_blocks, for_root = most, power - most
    design = Centered(
        name=name,
        noise=noise,
        blocks=blocks,
        centers=tuple(centers),
        scales=parts.scales(for_blocks),
        size_scale=for_root ** (-1 / p) if root else None,
        neighbors=workload.neighbors,
        touched=workload.touched,
        size_is_given=size_is_given,
    )
    return certified(design, budget)


def standard(
    workload: Workload, noise: Noise, budget: float, *, known_size: bool
) -> Iterator[Centered]:
    """Offer noise on what is asked as it is; sizes of groups are measured where these are found."""
    del known_size
    blocks, found = workload.blocks, workload.discovers
    centers = [None if workload.touched else block.shape.public_center for block in blocks]
    name = f"standard-{noise.value}"
    yield best_scales(
        workload,
        centers,
        name=name,
        noise=noise,
        budget=budget,
        measure_size=found,
        always=found,
    )


def correlated(
    workload: Workload, noise: Noise, budget: float, *, known_size: bool
) -> Iterator[Centered]:
    """Offer the design that leans on the number of people and, for groups, one that gives it.

    That number can be leaned on where it is private: when people are added or removed, or may
    change group. Where leaning does not pay, it is one more query.
    """
    del known_size
    if not workload.touched:
        return
    centers = best_centers(workload.blocks, workload.size_importance, noise)
    best = partial(best_scales, workload, centers, noise=noise, budget=budget, measure_size=True)
    design = best(name=f"correlated-{noise.value}", always=workload.discovers)
    yield design
    if workload.grouped and design.size_scale is None:
        yield best(name=f"standard-{noise.value}-with-size", always=True)


def at_known_size(
    workload: Workload, noise: Noise, budget: float, *, known_size: bool
) -> Iterator[Centered]:
    """Offer the design that leans on a number of people that is given."""
    leaves = workload.neighbors is Neighbors.ADD_REMOVE and not workload.grouped
    if known_size and leaves and noise is Noise.GAUSSIAN:
        yield best_scales(
            workload,
            known_size_centers(workload.blocks),
            name="known-size-gaussian",
            noise=noise,
            budget=budget,
            measure_size=False,
            size_is_given=True,
        )
