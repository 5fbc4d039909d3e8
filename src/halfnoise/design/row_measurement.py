"""The measurement of rows: from exact totals to what gets noise, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np

from halfnoise.design.design import Design, Measurement, Recovered
from halfnoise.design.measurement import Root
from halfnoise.design.people import Size
from halfnoise.design.rows import Row, Rows
from halfnoise.design.threshold import Threshold, threshold
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats, Ring, times
from halfnoise.workload.sets.base import Channel, Scales
from halfnoise.workload.totals import Totals


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMeasurement(Measurement):
    """What lies across, block by block, then the rows, and last the number of people."""

    design: Design
    rows: Rows
    channels: tuple[Channel | None, ...]
    steps: tuple[Root, ...]
    threshold: Threshold | None = None

    @classmethod
    def of(
        cls, design: Design, rows: Rows, row_scales: Scales, scales: Sequence[Scales]
    ) -> "RowMeasurement":
        """Put noise on the grid: a step divides whatever a row is made of."""
        people = rows.people
        seen = zip(people.blocks, people.folds, scales, strict=True)
        channels = [fold.channel(block.quantum, own) if own else None for block, fold, own in seen]
        steps, quanta = list[Root](), rows.people.quanta
        for row, scale, (_, half) in zip(rows.rows, row_scales, people.units, strict=False):
            pieces = [part * quantum for part, quantum in zip(row.parts, quanta, strict=True)]
            pieces.append(rows.of_people(row))
            finest = min(_finest(piece) for piece in pieces if piece)
            steps.append(Root.of(scale, finest, half))
        if people.size is Size.MEASURED:
            steps.append(Root.of(row_scales[-1], Fraction(1)))
        return cls(design=design, rows=rows, channels=tuple(channels), steps=tuple(steps))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is read."""
        return self.rows.people.blocks

    @property
    def scales(self) -> list[Floats]:
        """The scales of the noise on what is measured, in steps; the same for each group."""
        across = [c.shape.spread(c.scales) for c in self.channels if c is not None]
        return [np.concatenate([*across, np.array([step.scale for step in self.steps])])]

    @property
    def facts(self) -> Mapping[str, Any]:
        """The quanta and steps of all blocks and rows, and what rows are made of."""
        steps = [str(step) for each in self.channels if each for step in each.steps]
        rows = self.steps[: len(self.rows.rows)]
        people = self.steps[len(rows) :]
        return {
            "units": [str(block.quantum) for block in self.blocks],
            "steps": steps,
            "people": str(people[0].step) if people else None,
            "rows": [str(each.step) for each in rows],
            "parts": [[*map(str, (*row.parts, row.people))] for row in self.rows.rows],
        }

    def measure(self, totals: Totals) -> list[Ring]:
        """Return what lies across in steps, the rows and the number of people, for each group."""
        people, entries = self.rows.people, list[Ring]()
        seen = zip(people.folds, self.channels, totals.sums, strict=True)
        for fold, channel, f in seen:
            if channel is not None:
                entries.append(fold.measure(channel, f, totals.people))
        along = [people.folds[i].coordinate(totals.sums[i]) for i in people.order]
        for row, step in zip(self.rows.rows, self.steps, strict=False):
            entries.append(self._row(row, step, along, totals.people)[:, None])
        for step in self.steps[len(self.rows.rows) :]:
            entries.append(times(totals.people, 1 / step.step)[:, None])
        return [np.concatenate(entries, axis=1)]

    def _row(self, row: Row, step: Root, along: Sequence[Ring], people: Ring) -> Ring:
        """Return a row in steps."""
        total = times(people, self.rows.of_people(row) / step.step)
        for part, quantum, each in zip(row.parts, self.rows.people.quanta, along, strict=True):
            total = total + times(each, part * quantum / step.step)
        return total

    def recover(self, noisy: list[Ring], known_size: float | None = None) -> Recovered:
        """Return the estimates: each coordinate from its row and those behind it, people first."""
        values = noisy[0].view(np.int64).astype(np.float64)
        people, own = self.rows.people, len(self.rows.rows)
        sizes, root = None, np.full(len(values), known_size or 0.0)
        if people.size is Size.MEASURED:
            sizes = root = values[:, -1] * float(self.steps[-1].step)
        at = values.shape[1] - len(self.steps)
        seen = dict[int, Floats]()  # from the middles of what people add
        for i in reversed(range(own)):
            row, y = self.rows.rows[i], values[:, at + i] * float(self.steps[i].step)
            y = y - float(row.people) * root
            seen[i] = y - sum(float(row.parts[k]) * seen[k] for k in range(i + 1, own))
        along = {
            block: seen[k] + float(people.seen_from[k]) * root
            for k, block in enumerate(people.order)
        }
        found, start = list[Floats](), 0
        for i, (fold, channel) in enumerate(zip(people.folds, self.channels, strict=True)):
            width = 0 if channel is None else len(channel.shape.spread(channel.scales))
            h = values[:, start : start + width]
            found.append(fold.recover(channel, h, along.get(i, root), root))
            start += width
        return Recovered(estimates=np.concatenate(found, axis=1), sizes=sizes)

    def discovering(self, most: int, delta: float) -> Self:
        """Return the same with the threshold at which groups of people in ``most`` groups show."""
        size = self.steps[-1]
        limit = threshold(self.design.noise, size.scale, size.step, most=most, delta=delta)
        return replace(self, threshold=limit)

    def passed(self, noisy: list[Ring]) -> list[int]:
        """Return the rows of the groups whose noisy size, the last entry, reaches the threshold."""
        return [] if self.threshold is None else self.threshold.passed(noisy[0][:, -1])


def _finest(piece: Fraction) -> Fraction:
    """Return the largest power of two of which a binary number is a whole multiple."""
    number = abs(piece.numerator)
    return Fraction(number & -number, piece.denominator)
