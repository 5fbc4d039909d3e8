"""The two-level design: the sizes of groups are centred on the number of all people.

Where a person may be in up to G of m groups, groups are to people what "at most G of m" is to
counts: measure

    h_g = f_g - c n_g  and  k_g = n_g - c' n  in each group g,  and  n,

with independent noise of scales s, t and s_0, and come back with n_g^ = k_g^ + c' n^ and
f_g^ = h_g^ + c n_g^. The number n counts all people, those in no group too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from flint import arb

from halfnoise.design.centered import Center, Centered, shared_out, size_weight, weighed
from halfnoise.design.centers import at_most_center, gaussian_centers
from halfnoise.design.covariance import Covariance
from halfnoise.design.design import Design, certified
from halfnoise.noise.law import Noise
from halfnoise.proof import ball, round_up
from halfnoise.workload.sets import Parts
from halfnoise.workload.workload import Block, Workload

CENTER_BITS, EXACT_BITS = 22, 10
"""A centre of groups has so many binary places, of which so many count from the first that is 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoLevel(Design):
    """One group's noise on h and k, the centre c' of the groups, and the scale of all people's n.

    ``groups``: their number m. ``most``: in how many of them a person may be, G.
    """

    group: Centered
    center: Fraction
    people_scale: float
    groups: int
    most: int

    name = "two-level-gaussian"
    noise = Noise.GAUSSIAN

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of one group."""
        return self.group.blocks

    @property
    def size_scale(self) -> float:
        """The scale of the noise in one group's size: its own, and what all groups share."""
        return math.hypot(self.group.size_scale or 0.0, float(self.center) * self.people_scale)

    @property
    def common(self) -> float:
        """The variance of the noise that the sizes of all groups share."""
        return (float(self.center) * self.people_scale) ** 2

    @property
    def people_std(self) -> float:
        """The standard error of the number of all people."""
        return self.people_scale

    @property
    def covariance(self) -> Covariance:
        """The joint error of one group's estimates, its size last."""
        return self._alone().covariance

    def parts(self) -> tuple[Parts, ...]:
        """Return, for each block, the scales of the independent noises in its estimates."""
        return self._alone().parts()

    def _alone(self) -> Centered:
        """Return what one group looks like to who sees no other."""
        return replace(self.group, size_scale=self.size_scale)

    def loss(self) -> float:
        """Return what the worst person costs, rounded up.

        In j groups: a farthest corner in each, j (1-c')^2 + (m-j) c'^2 for the sizes, and n. That
        is linear in j, so the worst are in all G groups or in none.
        """

        def worst() -> arb:
            c, t = ball(self.center), ball(self.group.size_scale or 0.0)
            in_none = self.groups * (c / t) ** 2 + 1 / ball(self.people_scale) ** 2
            each = self.group.person_cost() + (1 - 2 * c) / t**2
            return (in_none + (self.most * each).max(arb(0))).sqrt()

        return round_up(worst)

    def stretched(self, factor: float) -> Self:
        """Return the design with all its scales times ``factor``."""
        return replace(
            self, group=self.group.stretched(factor), people_scale=self.people_scale * factor
        )


def best_two_level(workload: Workload, budget: float) -> TwoLevel | None:
    """Return the best design of its kind; None where nothing leans on the sizes of groups.

    Leaning on a size costs less than where noise is scaled for G groups, so the centres of blocks
    lean on it more.
    """
    groups, most = _listed(workload)
    center = _center(groups, most)
    spread = float(_spread(groups, most, center))
    charge = (math.sqrt(spread) + float(center)) ** 2 / most
    centers = gaussian_centers(workload.blocks, workload.size_importance, charge)
    leans = workload.size_importance or any(centers)
    return two_level(workload, centers, budget) if leans and center else None


def two_level(workload: Workload, centers: Sequence[Center], budget: float) -> TwoLevel:
    """Return the design with these centres of blocks and the best scales, certified.

    With K_b and V as in one group (see ``best_scales``), A = G (1-2c') + m c'^2 and
    T = sum_b sqrt(G K_b) + sqrt(V A) + sqrt(V) c', what each noise costs is its term's share of T.
    """
    groups, most = _listed(workload)
    center = _center(groups, most)
    spread = float(_spread(groups, most, center))
    parts = weighed(workload, centers, Noise.GAUSSIAN)
    own = sum(unit.cost(Noise.GAUSSIAN) for unit in parts.units) * math.sqrt(most)
    # Of very many counts the centres on the grid may be zero.
    weight = parts.size or size_weight(workload)
    sizes, people = math.sqrt(weight * spread), math.sqrt(weight) * float(center)
    power = budget**2 / (own + sizes + people)
    group = Centered(
        name=TwoLevel.name,
        noise=Noise.GAUSSIAN,
        blocks=workload.blocks,
        centers=tuple(centers),
        scales=shared_out(parts.units, power * own / most, Noise.GAUSSIAN),
        size_scale=math.sqrt(spread / (power * sizes)),
        neighbors=workload.neighbors,
        touched=workload.touched,
    )
    design = TwoLevel(
        group=group,
        center=center,
        people_scale=1 / math.sqrt(power * people),
        groups=groups,
        most=most,
    )
    return certified(design, budget)


def _listed(workload: Workload) -> tuple[int, int]:
    """Return how many groups there are, and in how many a person may be."""
    grouping = workload.grouping
    if grouping is None or grouping.number is None:
        raise NotImplementedError
    return grouping.number, grouping.most


def _center(groups: int, most: int) -> Fraction:
    """Return the best centre of the groups, as a binary number short enough for the grid."""
    best = at_most_center(groups, most)
    bits = min(CENTER_BITS, EXACT_BITS - math.frexp(best)[1])
    return Fraction(round(best * 2**bits), 2**bits)


def _spread(groups: int, most: int, center: Fraction) -> Fraction:
    """Return how far a person in all G groups lies from the centre of the groups, squared."""
    return most * (1 - 2 * center) + groups * center**2
