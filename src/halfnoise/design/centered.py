"""The centred design: measure h = f - c n and n with independent noise; then f^ = h^ + c n^.

Standard noise is the same with nothing centred and n not measured. A known number of people is the
same with n given. Groups are the same in each group.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb

from halfnoise.calibration import round_up
from halfnoise.design.contract import Design, ball
from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.noise import Noise
from halfnoise.design.scales import Unit, best_unit
from halfnoise.privacy import Neighbors
from halfnoise.shapes import Answered, Cases, OneOf, Parts, View
from halfnoise.workload import Block, Workload

Center = Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Centered(Design):
    """A centre and the scales of the noise for every block, and the scale for the number of people.

    A center of None means that a block is measured as it is.
    """

    name: str
    noise: Noise
    blocks: tuple[Block, ...]
    centers: tuple[Center, ...]
    scales: tuple[tuple[float, ...], ...]
    size_scale: float | None
    neighbors: Neighbors
    grouped: bool

    def parts(self) -> tuple[Parts, ...]:
        """Return, for each block, the scales of the independent noises in its estimates."""
        root = self.size_scale or 0.0
        return tuple(
            block.shape.parts(center, scales, root)
            for block, center, scales in zip(self.blocks, self.centers, self.scales, strict=True)
        )

    def loss(self) -> float:
        """Return what the worst person costs, rounded up: mu, or epsilon with Laplace noise.

        Added or removed: the farthest corner and n. Replaced without groups: the two corners
        farthest apart (n does not change). Replaced with groups: those two corners, or a farthest
        corner and n in each of two groups, whichever is more.
        """
        return round_up(self._loss_ball)

    def _loss_ball(self) -> arb:
        p = self.noise.p
        views = [b.shape.view(c, p) for b, c in zip(self.blocks, self.centers, strict=True)]
        leave = self._cost([view.person for view in views])
        if self.size_scale is not None:
            leave += 1 / ball(self.size_scale) ** p
        change = self._cost([view.change for view in views])
        if self.neighbors is Neighbors.ADD_REMOVE:
            power = leave
        else:
            power = change.max(2 * leave) if self.grouped else change
        return power.sqrt() if p == 2 else power

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


def best_scales(
    workload: Workload,
    centers: Sequence[Center],
    *,
    name: str,
    noise: Noise,
    budget: float,
    measure_size: bool,
) -> Centered:
    """Return the design with these centres and the best scales, certified to cost ``budget``.

    T = sum_b K_b^(1/q) + V^(1/q); every block's share of the budget is its term's share of T.
    """
    p, q = noise.p, noise.q
    blocks = workload.blocks
    grouped_change = workload.grouped and workload.neighbors is Neighbors.REPLACE
    views = [b.shape.view(c, p) for b, c in zip(blocks, centers, strict=True)]
    plain_change = workload.neighbors is Neighbors.REPLACE and not workload.grouped
    units = [
        best_unit(
            view.change if plain_change else view.person,
            tuple(block.importance * float(w) for w in view.weights),
            noise,
        )
        for block, view in zip(blocks, views, strict=True)
    ]
    weight = workload.size_importance + sum(
        block.importance * float(view.root_weight)
        for block, view in zip(blocks, views, strict=True)
    )
    root = weight ** (1 / q) if measure_size else 0.0
    own = sum(unit.cost(noise) for unit in units)
    if grouped_change:
        for_blocks, for_root = _split_for_change(units, views, root, noise, budget)
    else:
        for_blocks, for_root = (budget**p * part / (own + root) for part in (own, root))
    design = Centered(
        name=name,
        noise=noise,
        blocks=blocks,
        centers=tuple(centers),
        scales=tuple(unit.scales(for_blocks * unit.cost(noise) / own, noise) for unit in units),
        size_scale=for_root ** (-1 / p) if root else None,
        neighbors=workload.neighbors,
        grouped=workload.grouped,
    )
    return _certified(design, budget)


def _split_for_change(
    units: Sequence[Unit], views: Sequence[View], root: float, noise: Noise, budget: float
) -> tuple[float, float]:
    """Split the budget between the blocks and n where a person may change group or answers.

    Changing group costs twice what a person costs, changing answers what the two farthest corners
    cost; the blocks get what is best for the first, or less if the second asks for it. (The
    listing alg:correlatedGaussianGroups prints Var(eta) = 4/mu^2 under replacement; its proof gives
    1/mu^2, as eta is half the noise of n, and so does this.)
    """
    costs = [unit.cost(noise) for unit in units]
    own = sum(costs)
    power = budget**noise.p
    best = power / 2 * own / (own + root)
    change = sum(
        cost / own * unit.worst(view.change)
        for cost, unit, view in zip(costs, units, views, strict=True)
    )
    for_blocks = min(best, power / change)
    return for_blocks, power / 2 - for_blocks


def _certified(design: Centered, budget: float) -> Centered:
    """Stretch all scales by a few units in the last place until the loss is proved."""
    while (loss := design.loss()) > budget:
        stretch = loss / budget * (1 + 2.0**-52)
        size_scale = None if design.size_scale is None else design.size_scale * stretch
        scales = tuple(tuple(s * stretch for s in block) for block in design.scales)
        design = replace(design, scales=scales, size_scale=size_scale)
    return design
