"""The two-level design: the sizes of groups are centred on the number of all people.

Where a person may be in up to G of m groups, groups are to people what "at most G of m" is to
counts: measure

    h_g = f_g - c n_g  and  k_g = n_g - c' n  in each group g,  and  n,

with independent noise of scales s, t and s_0, and come back with n_g^ = k_g^ + c' n^ and
f_g^ = h_g^ + c n_g^. The number n counts all people, those in no group too.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, Self

from flint import arb

from halfnoise.design.allocation import Allocation, size_weight
from halfnoise.design.centered import Centered
from halfnoise.design.centers import gaussian_centers
from halfnoise.design.covariance import Covariance
from halfnoise.design.design import Design, Setting
from halfnoise.design.measurement import CenteredMeasurement, Root
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Neighbors
from halfnoise.proof import ball
from halfnoise.text import percent
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.sets import AtMost
from halfnoise.workload.sets.base import Center, Parts
from halfnoise.workload.workload import Workload

# A centre of groups has so many binary places, of which so many count from the first that is 1.
CENTER_BITS, EXACT_BITS = 22, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How groups lie among people: their number m, in how many one may be, G, and the centre c'."""

    groups: int
    most: int
    center: Fraction

    @classmethod
    def of(cls, workload: Workload) -> Self:
        """Return the best centre of the groups, as a binary number short enough for the grid."""
        grouping = workload.grouping
        if grouping is None or grouping.number is None:
            raise NotImplementedError
        groups, most = grouping.number, grouping.most
        best = AtMost(groups, most).lone_center(1.0)
        most_bits = CENTER_BITS if workload.weight is None else EXACT_BITS
        bits = min(most_bits, EXACT_BITS - math.frexp(best)[1])
        return cls(groups=groups, most=most, center=Fraction(round(best * 2**bits), 2**bits))

    @property
    def spread(self) -> float:
        """How far a person in all G groups lies from the centre of the groups, squared."""
        return float(self.most * (1 - 2 * self.center) + self.groups * self.center**2)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoLevel(Design):
    """One group's noise on h and k, how groups lie among people, and the scale of n."""

    group: Centered
    level: Level
    people_std: float

    takes_weights: ClassVar[bool] = True
    name = "two-level-gaussian"
    noise = Noise.GAUSSIAN

    @classmethod
    def offers(cls, setting: Setting) -> "Iterator[TwoLevel]":
        """Offer the best design of its kind, unless nothing leans on the sizes of groups."""
        workload = setting.workload
        several = workload.neighbors is Neighbors.ADD_REMOVE and workload.touched > 1
        if not several or workload.discovers or setting.noise is not Noise.GAUSSIAN:
            return
        if workload.unweighted_size:  # on which sizes lean already
            return
        level = Level.of(workload)
        # Leaning on a size costs less than where noise is scaled for G groups.
        charge = (math.sqrt(level.spread) + float(level.center)) ** 2 / level.most
        centers = gaussian_centers(workload.blocks, workload.size_importance, charge)
        if level.center and (workload.size_importance or any(centers)):
            yield two_level(workload, workload.blocks, centers, setting.budget)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of one group."""
        return self.group.blocks

    @property
    def size_scale(self) -> float:
        """The scale of the noise in one group's size: its own, and what all groups share."""
        return math.hypot(self.group.size_scale or 0.0, float(self.level.center) * self.people_std)

    @property
    def common(self) -> float:
        """The variance of the noise that the sizes of all groups share."""
        return (float(self.level.center) * self.people_std) ** 2

    @property
    def covariance(self) -> Covariance:
        """The joint error of one group's estimates, its size last."""
        return replace(self.group, size_scale=self.size_scale).covariance

    def parts(self) -> tuple[Parts, ...]:
        """Return, for each block, the scales of the independent noises in its estimates."""
        return replace(self.group, size_scale=self.size_scale).parts()

    def worst(self) -> arb:
        """Return what the worst person costs.

        In j groups: a farthest corner in each, j (1-c')^2 + (m-j) c'^2 for the sizes, and n. That
        is linear in j, so the worst are in all G groups or in none.
        """
        c, t = ball(self.level.center), ball(self.group.size_scale or 0.0)
        in_none = self.level.groups * (c / t) ** 2 + 1 / ball(self.people_std) ** 2
        each = self.group.cost(leaves=True) + (1 - 2 * c) / t**2
        return (in_none + (self.level.most * each).max(arb(0))).sqrt()

    def stretched(self, factor: float) -> Self:
        """Return the design with all its scales times ``factor``."""
        group = self.group.stretched(factor)
        return replace(self, group=group, people_std=self.people_std * factor)

    def remark(self, errors: Mapping[str, float]) -> str:
        """Say what scaling noise for several groups would cost."""
        fewer = 1 - errors[self.name] / errors["correlated-gaussian"]
        scaling = f"Scaling noise for {self.level.most} groups, as correlated-gaussian does"
        return f" {scaling}, has {percent(fewer / (1 - fewer))} more standard error."

    def on_grid(self, workload: Workload, budget: float) -> CenteredMeasurement:
        """Put blocks and centres on the grid; what c' subtracts is a whole number of steps."""
        blocks, centers = self.group.moved()
        final = two_level(workload, blocks, centers, budget, self.group.interest)
        center, weighing = final.level.center, self.weighing
        one, of_whole = weighing.quantum, weighing.of_whole
        return CenteredMeasurement(
            design=final,
            blocks=blocks,
            channels=final.group.channels(),
            root=Root.of(of_whole(final.group.size_scale or 0.0), one / center.denominator),
            everyone=Root.of(of_whole(final.people_std), one, center=center),
        )


def two_level(
    workload: Workload,
    blocks: tuple[Block, ...],
    centers: Sequence[Center],
    budget: float,
    interest: float | None = None,
) -> TwoLevel:
    """Return the design with these centres of blocks and the best scales, certified.

    With K_b and V as in one group (see ``best_scales``), A = G (1-2c') + m c'^2 and
    T = sum_b sqrt(G K_b) + sqrt(V A) + sqrt(V) c', what each noise costs is its term's share of T.
    """
    level = Level.of(workload)
    interest = workload.size_importance if interest is None else interest
    parts = Allocation.of(workload, blocks, centers, Noise.GAUSSIAN, interest)
    own = parts.own * math.sqrt(level.most)
    # Of very many counts the centres on the grid may be zero.
    weight = parts.size or size_weight(blocks)
    sizes, people = math.sqrt(weight * level.spread), math.sqrt(weight) * float(level.center)
    one = budget / float(blocks[0].weighing.heaviest)  # what weight one may cost
    power = one**2 / (own + sizes + people)
    group = Centered(
        name=TwoLevel.name,
        noise=Noise.GAUSSIAN,
        blocks=blocks,
        centers=tuple(centers),
        scales=parts.scales(power * own / level.most),
        size_scale=math.sqrt(level.spread / (power * sizes)),
        neighbors=workload.neighbors,
        touched=workload.touched,
        interest=interest,
    )
    design = TwoLevel(group=group, level=level, people_std=1 / math.sqrt(power * people))
    return design.certified(budget)
