"""The fitted design: the least error of any Gaussian noise, for the workload at hand.

Where closed forms are not the best there is, the best information is found by duality
(``duality``) on what is left after symmetry (``people``), and measured row by row (``rows``):
coordinates with parts of each other and of the number of people, and what lies across them.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from flint import arb

from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.design.cross_errors import CrossErrors
from halfnoise.design.design import Design, Setting
from halfnoise.design.duality import solve
from halfnoise.design.people import People, Size, size_of
from halfnoise.design.grid_rows import GridRows
from halfnoise.design.row_measurement import Across, RowMeasurement
from halfnoise.design.rows import Rows
from halfnoise.noise.law import Noise
from halfnoise.proof import ball
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.base import Parts, Scales, Span
from halfnoise.workload.sets.folding import Folded
from halfnoise.workload.workload import Workload

SLACK = 2.0**-40  # more than all rounding of a sum of positive numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted(Design):
    """Rows of coordinates with the scales of their noise, and the scales across, block by block."""

    rows: Rows
    row_scales: Scales
    scales: tuple[Scales, ...]
    touched: int = 1

    name = "fitted-gaussian"
    noise = Noise.GAUSSIAN

    @classmethod
    def offers(cls, setting: Setting) -> "Iterator[Fitted]":
        """Offer it where the kinds of people can be listed, and groups do not share noise."""
        workload = setting.workload
        alone = workload.touched < 2 or workload.discovers
        if setting.noise is not Noise.GAUSSIAN or not alone:
            return
        people = People.of(workload.blocks, size_of(setting), workload.size_importance)
        if people is not None:
            yield fitted(people, setting.budget, workload.touched or 1)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the workload, in order."""
        return self.rows.people.blocks

    @property
    def size_is_given(self) -> bool:
        """Whether the number of people has to be given."""
        return self.rows.people.size is Size.GIVEN

    @property
    def size_scale(self) -> float | None:
        """The scale of the noise on the number of people; None where it is not measured."""
        return self.row_scales[-1] if self.rows.people.size is Size.MEASURED else None

    def worst(self) -> arb:
        """Return what the worst person costs.

        Everybody is listed. How far a person moves each row is exact; a sum of positive numbers
        in floating point is off by far less than the slack.
        """
        people = self.rows.people
        scales = np.array([scale for block in self.scales for scale in block], dtype=float)
        cost = ((self.rows.moved / np.array(self.row_scales)) ** 2).sum(axis=1)
        cost = cost + people.distances @ scales**-2.0
        return (ball(float(cost.max())) * ball(1 + SLACK) * self.touched).sqrt()

    def stretched(self, factor: float) -> Self:
        """Return the design with all its scales times ``factor``."""
        scales = tuple(tuple(scale * factor for scale in block) for block in self.scales)
        return replace(
            self, row_scales=tuple(s * factor for s in self.row_scales), scales=scales
        )

    def _held(self, place: int) -> Floats:
        """Return how much of the noise of each row the coordinate of a block holds."""
        return self.rows.back[self.rows.people.order.index(place)]

    def parts(self) -> tuple[Parts, ...]:
        """Return, for each line, the scales of the independent noises in its estimates."""
        found, rows, root = list[Parts](), np.array(self.row_scales), self.size_scale or 0.0
        for place, (block, fold, scales) in enumerate(self._each()):
            if fold.coordinates:
                held = np.abs(self._held(place)) * rows
                found.append(fold.parts(scales, [x for x in held.tolist() if x]))
            else:
                found += block.parts(fold.shape.midpoint, scales, root)
        return tuple(found)

    def _each(self) -> Iterator[tuple[Block, Folded, Scales]]:
        return zip(self.blocks, self.rows.people.folds, self.scales, strict=True)

    @property
    def covariance(self) -> Covariance:
        """The joint error of all estimates, the number of people last where it is measured."""
        start, tables = 0, None
        variances, shared = list[Run](), list[Shared]()
        loads: list[list[Run]] = [[] for _ in self.row_scales]

        def runs(spans: Iterable[Span], times: float = 1.0) -> tuple[Run, ...]:
            return tuple(Run(start + low, start + high, x * times) for low, high, x in spans)

        for place, (block, fold, scales) in enumerate(self._each()):
            mixture = fold.mixture()
            variances += runs([(*mixture.own, scales[0] ** 2)] if any(mixture.own) else [])
            for scale, by, loadings in mixture.shared:
                shared.append(Shared(scales[scale] ** 2 / by, runs(loadings)))
            if mixture.tables is not None:
                tables = CrossErrors.of(start, mixture.tables, [scale**2 for scale in scales])
            if fold.coordinates:
                for row, held in zip(loads, self._held(place).tolist(), strict=True):
                    row += runs(fold.loads(), held) if held else ()
            elif self.size_scale is not None:
                loads[-1] += runs(mixture.lean)
            start += block.shape.size
        if self.size_scale is not None:
            loads[-1] += runs([(0, 1, 1.0)])
            start += 1
        noises = zip(self.row_scales, loads, strict=True)
        shared += [Shared(scale**2, tuple(row)) for scale, row in noises]
        return Covariance(start, tuple(variances), tuple(shared), tables)

    def on_grid(self, workload: Workload, budget: float) -> RowMeasurement:
        """Put blocks on the grid; the rows stay, and the scales are stretched to fit them."""
        del workload
        seen = zip(self.blocks, self._grid_scales(), strict=True)
        rows = self.rows.on([block.on_grid(*scales) for block, scales in seen])
        final = replace(self, rows=rows).certified(budget)
        across = Across.of(rows.people, final.scales)
        grid = GridRows.of(rows, final.row_scales)
        return RowMeasurement(design=final, across=across, rows=grid)

    def _grid_scales(self) -> Iterator[Scales]:
        """Go through the scales of the noise that values of each block are under."""
        order = self.rows.people.order
        for place, (_, fold, scales) in enumerate(self._each()):
            yield scales or (self.row_scales[order.index(place)],)


def fitted(people: People, budget: float, touched: int = 1) -> Fitted:
    """Return the best noise for these people, certified to cost the budget."""
    found, power = solve(people.programme), budget / math.sqrt(touched)
    rows, row_scales = Rows.of(people, found.matrices, power)
    lines, scales = iter(found.lines.tolist()), list[Scales]()
    for fold in people.folds:
        rates = itertools.islice(lines, len(fold.weights))
        scales.append(tuple(1 / (power * math.sqrt(rate)) for rate in rates))
    design = Fitted(rows=rows, row_scales=row_scales, scales=tuple(scales), touched=touched)
    return design.certified(budget)
