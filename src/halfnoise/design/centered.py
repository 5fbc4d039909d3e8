"""The centred design: measure h = f - c n and n with independent noise; then f^ = h^ + c n^.

Standard noise is the same with nothing centred and n not measured. A known number of people is the
same with n given. Groups are the same in each group, and a person pays for each that they touch.
"""

import enum
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

from flint import arb

from halfnoise.design.allocation import Allocation, size_weight
from halfnoise.design.centers import gaussian_centers, known_size_centers, laplace_centers
from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.design import Design, Setting
from halfnoise.design.measurement import CenteredMeasurement, Root
from halfnoise.design.placed_errors import errors_of
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Neighbors
from halfnoise.proof import ball
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.sets.base import Center, Channel, Parts, Scales, Span
from halfnoise.workload.workload import Workload

# What a design does with the number of people; LEANED: measured if something leans on it.
Size = enum.Enum("Size", "UNUSED LEANED MEASURED GIVEN")
Blocks: TypeAlias = tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Centered(Design):
    """A centre (None: as it is) and the scales of noise for every block, and the scale for n."""

    name: str
    noise: Noise
    blocks: tuple[Block, ...]
    centers: tuple[Center, ...]
    scales: tuple[Scales, ...]
    size_scale: float | None
    neighbors: Neighbors
    touched: int
    size_is_given: bool = False
    interest: float = 0.0  # what an error in n weighs by itself
    takes_weights: ClassVar[bool] = True
    heads: bool = False  # whether the size is measured as weights beyond the middle, and heads

    @classmethod
    def offers(cls, setting: Setting) -> "Iterator[Centered]":
        """List noise on what is asked as it is, designs that lean on n, and one with n given.

        The number of people can be leaned on where it is private. Where that does not pay, it is
        one more query in each group. Of groups that are discovered it is always measured.
        """
        workload, noise = setting.workload, setting.noise
        blocks, name = setting.blocks, noise.value
        always = workload.measures_size and Size.MEASURED
        # Where people can only be replaced, a midpoint keeps what is measured small.
        public = (s.plain_center if s.adjustable else s.midpoint for s in (b.shape for b in blocks))
        plain = [None if workload.touched else center for center in public]
        leans = [workload.touched > 0 and block.shape.leans for block in blocks]
        used = Size.LEANED if any(leans) else Size.UNUSED
        if not all(leans):
            yield best_scales(setting, plain, f"standard-{name}", always or used)
        if workload.touched:
            find = gaussian_centers if noise is Noise.GAUSSIAN else laplace_centers
            centers = find(blocks, workload.size_importance)
            design = best_scales(setting, centers, f"correlated-{name}", always or Size.LEANED)
            yield design
            if workload.grouped and design.size_scale is None:
                yield best_scales(setting, centers, f"standard-{name}-with-size", Size.MEASURED)
        alone = workload.neighbors is Neighbors.ADD_REMOVE and not workload.grouped
        alone = alone and not workload.unweighted_size
        if setting.known_size and alone and noise is Noise.GAUSSIAN:
            given = known_size_centers(blocks)
            yield best_scales(setting, given, "known-size-gaussian", Size.GIVEN)

    def _each(self) -> Iterator[tuple[Block, Center, Scales]]:
        return zip(self.blocks, self.centers, self.scales, strict=True)

    def parts(self) -> tuple[Parts, ...]:
        """Return, for each line, the scales of the independent noises in its estimates."""
        root = self.root_scale or 0.0
        return tuple(parts for b, c, scales in self._each() for parts in b.parts(c, scales, root))

    @property
    def root_scale(self) -> float | None:
        """The scale of what n comes out with, of all that tells it; None where nothing does."""
        if self.size_scale is None:
            return None
        told = (block.shape.told(scales) for block, _, scales in self._each())
        return 1 / math.sqrt(self.size_scale**-2 + sum(told))

    @property
    def size_std(self) -> float | None:
        """The standard error of the number of people; None where it is not measured."""
        return None if self.root_scale is None else self.noise.std([self.root_scale])

    def worst(self) -> arb:
        """Return what the worst person costs: mu, or epsilon with Laplace noise.

        Added or removed: the farthest corner and n, in each group of a person. Replaced: the two
        corners farthest apart, or a farthest corner and n in each group that is left or entered.
        """
        leave = self.cost(leaves=True) if self.touched else arb(0)
        if self.size_scale is not None:
            leave += self._root(ball(self.size_scale))
        power = self.touched * leave
        if self.neighbors is Neighbors.REPLACE:
            power = power.max(self.cost(leaves=False))
        return power.sqrt() if self.noise is Noise.GAUSSIAN else power

    def _root(self, scale: arb) -> arb:
        """Return what one person costs in the size alone, for each of their weight.

        Of heads: who has the highest weight is as far from the middle as who has the lowest.
        """
        if not self.heads:
            return 1 / scale**self.noise.p
        beyond, heads = map(ball, self.head_scales)
        far = ball(self.weighing.heaviest - self.weighing.middle)
        return ((far / beyond) ** 2 + 1 / heads**2) / ball(self.weighing.heaviest) ** 2

    @property
    def head_scales(self) -> tuple[float, float]:
        """The scales of the sum of weights beyond the middle c, n - c m, and of m people.

        With h = high - c: s^2 h/high and s^2/(high c). They cost h^2/s_h^2 + 1/s_m^2 = high^2/s^2,
        and n^ = h^ + c m^ has the variance s^2: as if n were measured with scale s. So m is free.
        """
        scale, high, middle = self.size_scale or 0.0, self.weighing.heaviest, self.weighing.middle
        beyond, heads = math.sqrt((high - middle) / high), math.sqrt(high * middle)
        return scale * beyond, scale / heads

    @property
    def seen_scale(self) -> float | None:
        """The scale of the noise on what groups are found by."""
        return self.head_scales[1] if self.heads else self.size_scale

    def stretched(self, factor: float) -> Self:
        """Return the design with all its scales times ``factor``."""
        scales = tuple(tuple(scale * factor for scale in block) for block in self.scales)
        root = None if self.size_scale is None else self.size_scale * factor
        return replace(self, scales=scales, size_scale=root)

    def cost(self, *, leaves: bool) -> arb:
        """Return what the farthest corner costs in one group, without n, or the farthest two."""
        p, total = self.noise.p, arb(0)
        for block, center, scales in self._each():
            worst, view = arb(0), block.shape.view(center, p)
            kinds = view.person if leaves else view.change
            for case in kinds.near([math.pow(scale, -p) for scale in scales]):
                terms = (ball(a) / ball(s) ** p for a, s in zip(case, scales, strict=True) if a)
                worst = worst.max(sum(terms, arb(0)))
            total += worst * ball(1 + kinds.slack)
        return total

    @property
    def covariance(self) -> Covariance:
        """The joint error of all estimates, the number of people last where it is measured."""
        start, unit, tables = 0, self.noise.unit_variance, None
        variances, shared, lean = list[Run](), list[Shared](), list[Run]()

        def runs(spans: Iterable[Span]) -> tuple[Run, ...]:
            return tuple(Run(start + low, start + high, value) for low, high, value in spans)

        for block, center, scales in self._each():
            mixture = block.shape.mixture(center)
            variances += runs([(*mixture.own, unit * scales[0] ** 2)] if any(mixture.own) else [])
            for scale, by, loadings in mixture.shared:
                shared.append(Shared(unit * scales[scale] ** 2 / by, runs(loadings)))
            lean += runs(mixture.lean)
            if mixture.tables is not None:
                drawn = [unit * scale**2 for scale in scales]
                tables = errors_of(start, mixture.tables, drawn)
                lean += [Run(*span) for span in tables.leans()]
            start += block.shape.size
        if self.heads and self.size_scale is not None:
            # Of Gaussian noise, that of m is a share of that of n and the rest independent of it.
            middle = float(self.weighing.middle)
            beyond, heads = (scale**2 for scale in self.head_scales)
            size = beyond + middle**2 * heads
            variances += runs([(0, 1, heads * beyond / size)])
            lean += runs([(0, 1, middle * heads / size)])
            start += 1
        if (root := self.root_scale) is not None:
            shared.append(Shared(unit * root**2, (*lean, *runs([(0, 1, 1.0)]))))
            start += 1
        return Covariance(start, tuple(variances), tuple(shared), tables)

    def channels(self) -> tuple[Channel, ...]:
        """Return the blocks, which are on the grid, ready to be measured."""
        return tuple(block.channel(center, scales) for block, center, scales in self._each())

    def moved(self) -> tuple[tuple[Block, ...], tuple[Center, ...]]:
        """Return the blocks and the centres on the grid."""
        blocks = [block.on_grid(center, *scales) for block, center, scales in self._each()]
        seen = zip(blocks, self.centers, self.scales, strict=True)
        centers = [b.center_on_grid(c, scales[b.shape.people_scale]) for b, c, scales in seen]
        return tuple(blocks), tuple(centers)

    def on_grid(self, workload: Workload, budget: float) -> CenteredMeasurement:
        """Put blocks and centres on the grid, then choose the scales that fit them."""
        blocks, centers = self.moved()
        setting = Setting(workload=workload, noise=self.noise, budget=budget)
        size = Size.GIVEN if self.size_is_given else Size.UNUSED
        size = size if self.size_scale is None else Size.MEASURED
        final = best_scales(setting, centers, self.name, size, blocks, interest=self.interest)
        scale, weighing, root, heads = final.size_scale, self.weighing, None, None
        if scale is not None and final.heads:
            scale, own = final.head_scales
            root = Root.of(weighing.of_whole(scale), weighing.quantum / 2)
            heads = Root.of(own, Fraction(1), center=weighing.middle / weighing.whole)
        elif scale is not None:
            root = Root.of(weighing.of_whole(scale), weighing.quantum)
        return CenteredMeasurement(
            design=final, blocks=blocks, channels=final.channels(), root=root, heads=heads
        )


def best_scales(
    setting: Setting,
    centers: Sequence[Center],
    name: str,
    size: Size,
    blocks: Blocks = (),
    *,
    interest: float | None = None,
) -> Centered:
    """Return the design with these centres and the best scales, certified to cost the budget.

    T = sum_b K_b^(1/q) + V^(1/q); every block's share of the budget is its term's share of T.
    """
    workload, noise = setting.workload, setting.noise
    blocks = blocks or setting.blocks
    interest = workload.size_importance if interest is None else interest
    parts = Allocation.of(workload, blocks, centers, noise, interest)
    weight = parts.size or (size_weight(blocks) if size is Size.MEASURED else 0.0)
    root = parts.root(weight) if size in (Size.LEANED, Size.MEASURED) else 0.0
    one = setting.budget / float(blocks[0].weighing.heaviest)  # what weight one may cost
    power = one**noise.p / (workload.touched or 1)
    for_blocks, for_root = (power * part / (parts.own + root) for part in (parts.own, root))
    if workload.touched and workload.neighbors is Neighbors.REPLACE:
        most = parts.most_for_change(setting.budget)
        if most < for_blocks:
            for_blocks, for_root = most, power - most
    design = Centered(
        name=name,
        noise=noise,
        blocks=blocks,
        centers=tuple(centers),
        scales=parts.scales(for_blocks),
        size_scale=for_root ** (-1 / noise.p) if root else None,
        neighbors=workload.neighbors,
        touched=workload.touched,
        size_is_given=size is Size.GIVEN,
        interest=interest,
        heads=workload.unweighted_size,
    )
    return design.certified(setting.budget)
