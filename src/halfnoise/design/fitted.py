"""The fitted design: the least error of any Gaussian noise, for the workload at hand.

Where closed forms are not the best there is, the best information is found by duality
(``duality``) on what is left after symmetry (``people``), and measured row by row (``rows``):
coordinates with parts of each other and of the number of people, and what lies across them.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Self

import numpy as np
from flint import arb

from halfnoise.design.assembly import Assembly
from halfnoise.design.at_prices import Optimum
from halfnoise.design.balance import SLACK, balanced, closeness, dearest
from halfnoise.design.cells import MOST_LISTED, Cells
from halfnoise.design.covariance import Covariance
from halfnoise.design.crowd import Crowd, Fold
from halfnoise.design.design import Design, Setting
from halfnoise.design.duality import solve
from halfnoise.design.grid_rows import GridRows
from halfnoise.design.people import People, Size, size_of
from halfnoise.design.prices import in_spots, listed, priced
from halfnoise.design.programme import Programme
from halfnoise.design.row_measurement import Across, RowMeasurement
from halfnoise.design.rows import Rows
from halfnoise.design.triangle import moved_by
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Neighbors
from halfnoise.proof import ball
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Floats
from halfnoise.workload.sets.base import Parts, Scales
from halfnoise.workload.sets.folding import Folded
from halfnoise.workload.sets.placed import Placed
from halfnoise.workload.workload import Workload

TURNS, ROUGH = 6, 2e-3  # of scales and estimates where several noises tell the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted(Design):
    """Rows of coordinates with the scales of their noise, and the scales across, block by block."""

    rows: Rows
    row_scales: Scales
    scales: tuple[Scales, ...]
    size_is_given: bool = False
    changed: People | None = None  # who stays in the one group and changes answers

    name = "fitted-gaussian"
    noise = Noise.GAUSSIAN

    @classmethod
    def offers(cls, setting: Setting) -> "Iterator[Fitted]":
        """Offer it where the kinds of people can be listed, and move one group at most.

        Of groups that are discovered the noise of sizes decides which are found, so these stay
        with closed forms.
        """
        workload, size = setting.workload, size_of(setting)
        if setting.noise is not Noise.GAUSSIAN or workload.touched > 1 or workload.discovers:
            return
        if workload.touched and workload.neighbors is Neighbors.REPLACE:
            for crowd, priced in crowds(workload, size):
                yield from _fitted(crowd.one, priced.programme, setting, crowd.changed)
            return
        asked = (setting.blocks, size, workload.size_weight)
        placed = any(isinstance(block.shape, Placed) for block in setting.blocks)
        placed = placed and not setting.varied and not workload.grouped
        if placed and (known := in_spots(*asked, closeness(setting))) is not None:
            yield from _made(*known, setting)
            return
        everybody, some = folding(workload)
        # For categories and tables closed forms are best.
        if (people := everybody(*asked)) is not None and people.order and (prices := some(*asked)):
            yield from _fitted(people, prices.programme, setting)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the workload, in order."""
        return self.rows.people.blocks

    @property
    def size_scale(self) -> float | None:
        """The scale of the noise on the number of people; None where it is not measured."""
        return self._assembly().size_scale

    def worst(self) -> arb:
        """Return what the worst person costs: everybody is listed."""
        several = 2 if self.changed is not None or self.rows.people.size is Size.PUBLIC else 1
        return dearest(self) + rounded_apart([(self.rows, self.row_scales)], self.scales, several)

    @property
    def noises(self) -> Floats:
        """The scales of all rows, and of what lies across."""
        return np.array([*self.row_scales, *itertools.chain(*self.scales)])

    @property
    def charged(self) -> Floats:
        """What everybody costs in each of them, for a scale of one."""
        if (changed := self.changed) is None:
            return self.rows.charged
        more = np.hstack([self.rows.changed(changed) ** 2, changed.distances])
        return np.concatenate([self.rows.charged, more])

    def with_noises(self, scales: Floats) -> Self:
        """Return the same rows with other scales."""
        rows, *across = parted(scales, (self.row_scales, *self.scales))
        return replace(self, row_scales=rows, scales=tuple(across))

    def stretched(self, factor: float) -> Self:
        """Return the design with all its scales times ``factor``."""
        return self.with_noises(self.noises * factor)

    def _assembly(self) -> Assembly:
        people, stds = self.rows.people, np.array(self.row_scales)
        if people.size is Size.MEASURED:
            folds = self.rows.people.folds
            told = (fold.told(own) for fold, own in zip(folds, self.scales, strict=True))
            stds[-1] = (stds[-1] ** -2 + sum(told)) ** -0.5
        return Assembly(people=people, scales=self.scales, stds=stds, held=self.rows.back)

    def parts(self) -> tuple[Parts, ...]:
        """Return, for each line, the scales of the independent noises in its estimates."""
        return self._parts

    @cached_property
    def _parts(self) -> tuple[Parts, ...]:
        return self._assembly().parts()

    @property
    def covariance(self) -> Covariance:
        """The joint error of all estimates, the number of people last where it is measured."""
        return self._assembly().covariance()

    def remark(self, _errors: Mapping[str, float]) -> str:
        """Say what it does not give."""
        return without_size(self.rows.people.size)

    def on_grid(self, workload: Workload, budget: float) -> RowMeasurement:
        """Put blocks on the grid; the rows stay, and the scales are stretched to fit them."""
        del workload
        if budget not in self._grids:
            self._grids[budget] = self._on_grid(budget)
        return self._grids[budget]

    @cached_property
    def _grids(self) -> dict[float, RowMeasurement]:
        return {}  # whether there is one is asked before it is used

    def _on_grid(self, budget: float) -> RowMeasurement:
        rows = self.rows.on(on_grid(self.rows.people, self.row_scales, self.scales))
        changed = None if self.changed is None else self.changed.on(rows.people.blocks)
        final = replace(self, rows=rows, changed=changed).certified(budget)
        return RowMeasurement(
            design=final,
            blocks=final.blocks,
            across=Across.of(rows.people, final.scales),
            rows=GridRows.of(rows, final.row_scales),
        )


def _fitted(
    people: People, programme: Programme, setting: Setting, changed: People | None = None
) -> Iterator[Fitted]:
    """Offer the best noise for these people, certified to cost the budget."""
    close = closeness(setting)
    turns = TURNS if any(fold.shape.pooling for fold in people.folds) else 0
    found = solve(programme.lifted, ROUGH if turns else close)
    for turn in range(turns):
        programme = replace(programme, line_weights=people.borne(found.lines))
        found = solve(programme.lifted, close if turn == turns - 1 else ROUGH)
    yield from _made(people, found, setting, changed)


def _made(
    people: People, found: Optimum, setting: Setting, changed: People | None = None
) -> Iterator[Fitted]:
    """Offer such noise, if it is any, certified to cost the budget."""
    budget = setting.budget
    if not found.sound:
        return
    first = int(people.weights.size > 0)
    people, scales = across(people, found, first, budget)
    rows, row_scales = Rows.of(people, found.matrices[:first], budget)
    design = Fitted(
        rows=rows,
        row_scales=row_scales,
        scales=scales,
        size_is_given=people.size is Size.GIVEN,
        changed=None if changed is None else changed.on(people.blocks, people),
    )
    if len(found.matrices) == first:
        design = balanced(design, setting)
    yield design.stretched(design.loss() / budget).certified(budget)


def folding(workload: Workload) -> tuple[Fold, Fold]:
    """Return how to list everybody, and those who are priced."""
    tables = [block for block in workload.blocks if isinstance(block, TableBlock)]
    mixed = any(block.values and not block.shape.deep for block in tables)
    if not mixed:
        return People.of, People.of
    return partial(People.of, fold=listed, most=MOST_LISTED), partial(People.of, fold=priced)


def crowds(workload: Workload, size: Size) -> Iterator[tuple[Crowd, Crowd]]:
    """List everybody in groups, and those who are priced, if there are not too many."""
    asked = (workload.grouping, workload.neighbors, workload.blocks, size, workload.size_weight)
    crowd, priced = (Crowd.of(*asked, fold=fold) for fold in folding(workload))
    if crowd is not None and crowd.one.weights.size and priced is not None:
        yield crowd, priced


def across(
    people: People, found: Optimum, first: int, budget: float
) -> tuple[People, tuple[Scales, ...]]:
    """Return who measures what of values by cell, and the scales across, block by block.

    From information at a cost of one; ``first``: how many of its matrices are on coordinates.
    """
    rates, folds, scales = iter(found.lines.tolist()), list[Folded](), list[Scales]()
    for fold, block in zip(people.folds, people.blocks, strict=True):
        own = tuple(itertools.islice(rates, len(fold.weights)))
        folds.append(fold)
        scales.append(tuple(1 / (budget * math.sqrt(rate)) for rate in own))
        if isinstance(fold, Cells) and isinstance(block, TableBlock):
            information = [budget**2 * each for each in found.matrices[first:]]
            folds[-1], scales[-1] = fold.fitted(information, block)
    return replace(people, folds=tuple(folds)), tuple(scales)


def rounded_apart(
    several: Sequence[tuple[Rows, Scales]], scales: Sequence[Scales], times: int
) -> arb:
    """Return what tables that round so many values of a person apart may cost."""
    cost, people = 0.0, several[0][0].people
    for i, (fold, own) in enumerate(zip(people.folds, scales, strict=True)):
        if isinstance(fold, Cells):
            rounded = np.zeros(len(people.order))
            rounded[people.own(i)] = fold.rounded
            cost += fold.apart(own, alone=times == 1)
            for rows, row_scales in several:
                cost += moved_by(rounded, rows.rows, row_scales, alone=times == 1)
    return times * (ball(cost) * ball(1 + SLACK)).sqrt()


def on_grid(people: People, row_scales: Scales, scales: tuple[Scales, ...]) -> list[Block]:
    """Return the blocks on the grid that fits the noise that their values are under."""
    own = ([row_scales[at] for at in people.own(i)] for i in range(len(scales)))
    each = zip(scales, own, strict=True)
    return [people.on_grid(i, *both) for i, both in enumerate(each)]


def parted(scales: Floats, like: Iterable[Scales]) -> Iterator[Scales]:
    """Return scales in parts that are as long as others."""
    left = iter(scales.tolist())
    return (tuple(itertools.islice(left, len(own))) for own in like)


def without_size(size: Size) -> str:
    """Say what a design does not give where the number of people is not used."""
    if size is not Size.UNUSED:
        return ""
    return " It does not give the number of people, which has no importance here."
