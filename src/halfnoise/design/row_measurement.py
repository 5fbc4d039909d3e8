"""The measurement of rows and of what lies across them: from exact totals to noise, and back."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from halfnoise.design.cells import Cells
from halfnoise.design.design import Design, Measurement, Recovered
from halfnoise.design.grid_rows import GridRows
from halfnoise.design.people import People, Size
from halfnoise.design.threshold import Threshold, threshold
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats, Ring
from halfnoise.workload.sets.base import Channel, Scales
from halfnoise.workload.sets.folding import Folded
from halfnoise.workload.totals import Totals


@dataclass(frozen=True, slots=True)
class Across:
    """What lies across the coordinates, block by block, ready to be measured."""

    people: People
    channels: tuple[Channel | None, ...]

    @classmethod
    def of(cls, people: People, scales: Sequence[Scales]) -> Self:
        """Put the noise across on the grid."""
        seen = zip(people.blocks, people.folds, scales, strict=True)
        return cls(people, tuple(f.channel(b.quantum, own) if own else None for b, f, own in seen))

    @property
    def scales(self) -> list[Floats]:
        """The scales of the noise, in steps."""
        seen = zip(self.people.folds, self.channels, strict=True)
        return [fold.spread(channel) for fold, channel in seen if channel is not None]

    def measure(self, totals: Totals) -> list[Ring]:
        """Return what lies across in steps, for each group."""
        seen = zip(self.people.folds, self.channels, totals.sums, strict=True)
        return [f.measure(channel, x, totals.people) for f, channel, x in seen if channel]

    def _each(self, noisy: Floats) -> Iterator[tuple[Folded, Channel | None, Floats]]:
        start = 0
        for fold, channel in zip(self.people.folds, self.channels, strict=True):
            width = 0 if channel is None else len(fold.spread(channel))
            yield fold, channel, noisy[:, start : start + width]
            start += width

    def tells(self, noisy: Floats, root: Floats) -> Iterator[tuple[float, Floats]]:
        """Go through what blocks say of the number of people: how surely, and times that what."""
        for fold, channel, h in self._each(noisy):
            if channel is not None:
                yield fold.tells(channel, h, root)

    def recover(self, noisy: Floats, along: Sequence[Floats], root: Floats) -> Floats:
        """Return the estimates from noise across, the coordinates and the number of people."""
        found = list[Floats]()
        for i, (fold, channel, h) in enumerate(self._each(noisy)):
            own = [along[at] for at in self.people.own(i)]
            found.append(fold.recover(channel, h, own, root))
        return np.concatenate(found, axis=1)

    @property
    def facts(self) -> dict[str, Any]:
        """What is public about the grid."""
        units = [str(block.quantum) for block in self.people.blocks]
        steps = [str(step) for each in self.channels if each for step in each.steps]
        cells = [fold for fold in self.people.folds if isinstance(fold, Cells)]
        fits = [
            {"axes": fit.kind.axes, "parts": [[*map(str, row.parts)] for row in fit.rows]}
            for each in cells
            for fit in each.fits
        ]
        return {"units": units, "steps": steps} | ({"residuals": fits} if fits else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMeasurement(Measurement):
    """What lies across, then the rows, and last the number of people."""

    design: Design
    blocks: tuple[Block, ...]
    across: Across
    rows: GridRows
    threshold: Threshold | None = None

    @property
    def scales(self) -> list[Floats]:
        """The scales of the noise on what is measured, in steps; the same for each group."""
        return [np.concatenate([*self.across.scales, self.rows.scales])]

    @property
    def facts(self) -> Mapping[str, Any]:
        """The quanta and steps of all blocks and rows, and what rows are made of."""
        return self.across.facts | rows_facts(self.rows)

    def measure(self, totals: Totals) -> list[Ring]:
        """Return what lies across in steps, the rows and the number of people, for each group."""
        across = self.across.measure(totals)
        if self.rows.steps:
            across.append(self.rows.measure(totals.sums, totals.people))
        return [np.concatenate(across, axis=1)]

    def recover(self, noisy: list[Ring], known_size: float | None = None) -> Recovered:
        """Return the estimates from what was measured, with its noise."""
        values = noisy[0].view(np.int64).astype(np.float64)
        start, given = values.shape[1] - len(self.rows.steps), np.full(len(values), known_size or 0)
        tells = partial(self.across.tells, values[:, :start])
        along, root = self.rows.recover(values[:, start:], given, tells)
        measured = self.across.people.size is Size.MEASURED
        estimates = self.across.recover(values, along, root)
        return Recovered(estimates=estimates, sizes=root if measured else None)

    def discovering(self, most: int, delta: float) -> Self:
        """Return the same with the threshold at which groups of people in ``most`` groups show."""
        size = self.rows.steps[-1]
        limit = threshold(self.design.noise, size.scale, size.step, most=most, delta=delta)
        return replace(self, threshold=limit)


def rows_facts(grid: GridRows) -> dict[str, Any]:
    """Return what is public about rows: their steps, and what they are made of."""
    rows = grid.rows.rows
    people = [str(step.step) for step in grid.steps[len(rows) :]]
    return {
        "people": people[0] if people else None,
        "rows": [str(step.step) for step in grid.steps[: len(rows)]],
        "parts": [[*map(str, (*row.parts, row.people))] for row in rows],
    }
