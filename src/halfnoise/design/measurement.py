"""The measurement of every centred design: from exact totals to what gets noise, and back."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np

from halfnoise.design.design import Design, Measurement, Recovered
from halfnoise.design.threshold import Threshold, threshold
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats, Ring, in_steps, step_for, times
from halfnoise.workload.sets.base import Channel
from halfnoise.workload.totals import Totals


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """What is leaned on, with noise in steps; ``center``: how much roots of groups lean on it."""

    step: Fraction
    scale: float
    center: Fraction = Fraction(0)

    @classmethod
    def of(cls, scale: float, quantum: Fraction, reach: float = 1.0, **center: Fraction) -> Self:
        """Put a root whose values are multiples of a quantum on its grid."""
        step = step_for(scale, quantum, reach)
        return cls(step=step, scale=in_steps(scale, step), **center)


def all_told(root: Floats, precision: float, others: Iterable[tuple[float, Floats]]) -> Floats:
    """Return what is leaned on as all that tells it, each weighed by how sure it is, has it."""
    found, whole = precision * root, precision
    for more, told in others:
        found, whole = found + told, whole + more
    return root if whole == precision else found / whole


@dataclass(frozen=True, slots=True, kw_only=True)
class CenteredMeasurement(Measurement):
    """Blocks centred on a root: the people of a group, or the total of the counts.

    ``everyone``: the number of all people, on which the roots of groups lean. ``heads``: that of
    the people in a group, on which the sum of their weights leans.
    """

    design: Design
    blocks: tuple[Block, ...]
    channels: tuple[Channel, ...]
    root: Root | None
    everyone: Root | None = None
    heads: Root | None = None
    root_is_total: bool = False
    threshold: Threshold | None = None

    @property
    def scales(self) -> list[Floats]:
        """The scales of the noise on what is measured, in steps; the same for each group."""
        scales = [c.shape.spread(c.scales) for c in self.channels]
        scales += [np.array([each.scale]) for each in (self.root, self.heads) if each is not None]
        alone = [] if self.everyone is None else [np.array([self.everyone.scale])]
        return [np.concatenate(scales), *alone]

    @property
    def facts(self) -> Mapping[str, Any]:
        """The quanta and steps of all blocks, and the step of the number of people."""
        whole = self.design.weighing.whole
        quanta = [str(whole * each.quantum) for each in self.channels]
        steps = [str(whole * step) for each in self.channels for step in each.steps]
        people = None if self.root is None else str(whole * self.root.step)
        return {"units": quanta, "steps": steps, "people": people}

    def measure(self, totals: Totals) -> list[Ring]:
        """Return h in steps and the root, a row for each group; then, if measured, all people."""
        root, quantum = totals.people, self.design.weighing.quantum
        if self.root_is_total:
            root, quantum = totals.sums[0].sum(axis=1, dtype=np.uint64), self.channels[0].quantum
        seen = zip(self.channels, totals.sums, strict=True)
        entries = [c.shape.measure(c, f, root, quantum) for c, f in seen]
        if self.root is not None:
            size = times(root, quantum / self.root.step)
            if self.everyone is not None:
                lean = self.everyone.center * quantum / self.root.step
                size = size - times(totals.everyone, lean)
            entries.append(size[:, None])
        if self.heads is not None and self.root is not None and totals.heads is not None:
            entries[-1] -= times(totals.heads, self.heads.center / self.root.step)[:, None]
            entries.append(times(totals.heads, 1 / self.heads.step)[:, None])
        measured = [np.concatenate(entries, axis=1)]
        if self.everyone is not None:
            measured.append(times(totals.everyone, quantum / self.everyone.step)[:, None])
        return measured

    def recover(self, noisy: list[Ring], known_size: float | None = None) -> Recovered:
        """Return the estimates from what was measured, with its noise."""
        values, *others = (ring.view(np.int64).astype(np.float64) for ring in noisy)
        whole = float(self.design.weighing.whole)  # a power of two
        people, root = None, np.full(len(values), (known_size or 0.0) / whole)
        own = []
        if self.heads is not None:
            heads, values = values[:, -1:] * float(self.heads.step), values[:, :-1]
            own.append(heads)
        if self.root is not None:
            root = values[:, -1] * float(self.root.step)
        if self.heads is not None:
            root = root + float(self.heads.center) * own[0][:, 0]
        if self.everyone is not None:
            people = float(others[0][0, 0]) * float(self.everyone.step)
            root = root + float(self.everyone.center) * people
        stops = np.cumsum([each.shape.size for each in self.channels])
        parts = np.split(values[:, : stops[-1]], stops[:-1], axis=1)
        seen = [*zip(self.channels, parts, strict=True)]
        if self.root is not None:
            root = self._told(seen, root)
        estimates = np.concatenate([c.shape.recover(c, h, root) for c, h in seen], axis=1)
        sizes = None if self.root is None or self.root_is_total else root * whole
        people = None if people is None else people * whole
        found = np.concatenate([estimates * whole, *own], axis=1)
        return Recovered(estimates=found, sizes=sizes, people=people)

    def _told(self, seen: Sequence[tuple[Channel, Floats]], root: Floats) -> Floats:
        """Return the root as all that tells it, each weighed by how sure it is, has it."""
        if self.root is None:
            return root
        precision = (float(self.root.step) * self.root.scale) ** -2
        return all_told(root, precision, (c.shape.tells(c, h, root) for c, h in seen))

    def discovering(self, most: int, delta: float) -> Self:
        """Return the same with the threshold at which groups of people in ``most`` groups show.

        Where heads are counted, they are what comes last, and what has to reach it.
        """
        if (root := self.root) is None:
            raise AssertionError
        noise, weighing = self.design.noise, self.design.weighing
        step, alone = root.step * weighing.whole, weighing.heaviest
        if (heads := self.heads) is not None:
            root, step, alone = heads, heads.step, Fraction(1)
        limit = threshold(noise, root.scale, step, most=most, delta=delta, alone=alone)
        return replace(self, threshold=limit)
