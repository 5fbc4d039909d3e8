"""The fitted design where a person moves several groups: in several of them, or changing group.

All groups are alike (``crowd``): rows of the totals over groups, and rows of what each group is
away from their mean, which adds up to zero, are measured with noise of their own.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Self

import numpy as np
from flint import arb

from halfnoise.design.assembly import Assembly
from halfnoise.design.balance import balanced, closeness, dearest
from halfnoise.design.covariance import Covariance, Shared
from halfnoise.design.crowd import Crowd
from halfnoise.design.design import Design, Setting
from halfnoise.design.duality import solve
from halfnoise.design.fitted import (
    across,
    crowds,
    on_grid,
    parted,
    rounded_apart,
    without_size,
)
from halfnoise.design.grid_rows import GridRows
from halfnoise.design.group_measurement import GroupMeasurement
from halfnoise.design.people import size_of
from halfnoise.design.programme import Programme
from halfnoise.design.row_measurement import Across
from halfnoise.design.rows import Rows
from halfnoise.design.triangle import lower_root
from halfnoise.noise.law import Noise
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.base import Parts, Scales
from halfnoise.workload.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedGroups(Design):
    """Rows of totals over groups, rows of groups away from their mean, and scales across."""

    crowd: Crowd
    total: Rows
    total_scales: Scales
    apart: Rows
    apart_scales: Scales
    scales: tuple[Scales, ...]

    name = "fitted-gaussian"
    noise = Noise.GAUSSIAN

    @classmethod
    def offers(cls, setting: Setting) -> "Iterator[FittedGroups]":
        """Offer it where a person moves several listed groups, and all kinds can be listed."""
        workload = setting.workload
        if setting.noise is not Noise.GAUSSIAN or workload.touched < 2 or workload.discovers:
            return
        for crowd, priced in crowds(workload, size_of(setting)):
            if crowd.groups > 1:
                yield from _fitted(crowd, priced.programme, setting)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of one group."""
        return self.crowd.one.blocks

    @property
    def size_scale(self) -> float | None:
        """The scale of the noise on the number of people in a group; None if not measured."""
        return self._assembly().size_scale

    def worst(self) -> arb:
        """Return what the worst person costs: everybody is listed."""
        both = [(self.total, self.total_scales), (self.apart, self.apart_scales)]
        return dearest(self) + rounded_apart(both, self.scales, self.crowd.most)

    @property
    def noises(self) -> Floats:
        """The scales of all rows, and of what lies across."""
        own = (self.total_scales, self.apart_scales, *self.scales)
        return np.array([*itertools.chain(*own)])

    @property
    def charged(self) -> Floats:
        """What everybody costs in each of them, for a scale of one."""
        crowd, found = self.crowd, list[Floats]()
        for place, rows in enumerate((self.total, self.apart)):
            changed = None if crowd.changed is None else rows.changed(crowd.changed)
            found.append(crowd.moved(rows.moved, changed, across=bool(place)))
        return np.hstack([*found, crowd.distances])

    def with_noises(self, scales: Floats) -> Self:
        """Return the same rows with other scales."""
        like = (self.total_scales, self.apart_scales, *self.scales)
        total, apart, *across = parted(scales, like)
        return replace(self, total_scales=total, apart_scales=apart, scales=tuple(across))

    def stretched(self, factor: float) -> Self:
        """Return the design with all its scales times ``factor``."""
        return self.with_noises(self.noises * factor)

    def _errors(self) -> tuple[Floats, Floats]:
        """Return the covariance of coordinates: of m times a mean, and away from it."""
        seen = ((self.total, self.total_scales), (self.apart, self.apart_scales))
        total, apart = (rows.back * np.array(scales) for rows, scales in seen)
        return total @ total.T / self.crowd.groups, apart @ apart.T

    def _assembly(self) -> Assembly:
        """Return the noises of one group, that of its number of people last."""
        m, (total, apart) = self.crowd.groups, self._errors()
        one = total / m + apart * (1 - 1 / m)
        # The last takes what all others lean on it, then the one before it, and so on.
        root = lower_root(one[::-1, ::-1])[::-1, ::-1]
        stds = np.diag(root)
        return Assembly(people=self.crowd.one, scales=self.scales, stds=stds, held=root / stds)

    def parts(self) -> tuple[Parts, ...]:
        """Return, for each line, the scales of the independent noises in its estimates."""
        return self._assembly().parts()

    @property
    def covariance(self) -> Covariance:
        """The joint error of one group's estimates, its size last where it is measured."""
        return self._assembly().covariance()

    @property
    def between(self) -> tuple[Shared, ...]:
        """The covariance of the estimates of two groups, as a sum of terms."""
        total, apart = self._errors()
        weights, vectors = np.linalg.eigh((total - apart) / self.crowd.groups)
        assembly = self._assembly()
        terms = zip(weights.tolist(), vectors.T, strict=True)
        return tuple(Shared(weight, assembly.loadings(held)) for weight, held in terms if weight)

    def remark(self, _errors: Mapping[str, float]) -> str:
        """Say what it does not give."""
        return without_size(self.crowd.one.size)

    def on_grid(self, workload: Workload, budget: float) -> GroupMeasurement:
        """Put blocks on the grid; the rows stay, and the scales are stretched to fit them."""
        del workload
        blocks = on_grid(self.crowd.one, self.apart_scales, self.scales)
        moved = replace(self, crowd=self.crowd.on(blocks))
        moved = replace(moved, total=self.total.on(blocks), apart=self.apart.on(blocks))
        final = moved.certified(budget)
        return GroupMeasurement(
            design=final,
            blocks=final.blocks,
            across=Across.of(final.crowd.one, final.scales),
            total=GridRows.of(final.total, final.total_scales),
            apart=GridRows.of(final.apart, final.apart_scales, final.crowd.groups),
        )


def _fitted(crowd: Crowd, programme: Programme, setting: Setting) -> Iterator[FittedGroups]:
    """Offer the best noise for these people, certified to cost the budget."""
    budget, m = setting.budget, crowd.groups
    found = solve(programme.lifted, closeness(setting))
    if not found.sound:
        return
    one, scales = across(crowd.one, found, 2, budget)
    total, total_scales = Rows.of(one, found.matrices[:1], budget / math.sqrt(m))
    apart, apart_scales = Rows.of(one, found.matrices[1:2], budget, m)
    changed = None if crowd.changed is None else crowd.changed.on(one.blocks, one)
    design = FittedGroups(
        crowd=replace(crowd, one=one, changed=changed),
        total=total,
        total_scales=total_scales,
        apart=apart,
        apart_scales=apart_scales,
        scales=scales,
    )
    if len(found.matrices) == 2:
        design = balanced(design, setting)
    yield design.stretched(design.loss() / budget).certified(budget)
