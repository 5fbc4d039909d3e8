"""A design ready to be carried out: from exact totals to what gets noise, and back.

Everything is computed in whole steps modulo 2^64 (see ``design.grid``).
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.centered import Center
from halfnoise.design.design import Design
from halfnoise.design.optimum import OptimalWithoutSize
from halfnoise.design.threshold import Threshold
from halfnoise.privacy.definitions import DiscoveryDP, Guarantee
from halfnoise.workload.sets import Answered, OneOf, Shape

Ring = NDArray[np.uint64]
"""Integers modulo 2^64, one row for each group."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridBlock:
    """One block on the grid: values in ``unit``, noise of ``scales`` times ``steps``."""

    shape: Shape
    center: Center
    unit: Fraction
    steps: tuple[Fraction, ...]
    scales: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Everyone:
    """The number of all people on the grid, and the centre by which sizes of groups lean on it."""

    center: Fraction
    step: Fraction
    scale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """The estimates: all sums and, where measured, the size of each group, and all people."""

    estimates: Floats
    sizes: Floats | None
    people: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnGrid:
    """A design ready to be carried out on exact totals.

    What blocks are centred on, the root, is the number of people, or for the optimum without it the
    total of the counts. The sizes of groups may themselves be centred on the number of all people.
    Groups that are discovered have to reach a ``threshold``.
    """

    design: Design
    blocks: tuple[GridBlock, ...]
    root_step: Fraction | None
    root_scale: float | None
    everyone: Everyone | None = None
    threshold: Threshold | None = None

    @property
    def guarantee(self) -> Guarantee:
        """What the release promises; where groups are discovered, but for the threshold's delta."""
        kept = self.design.guarantee
        if self.threshold is None:
            return kept
        return DiscoveryDP(kept=kept, delta=self.threshold.delta)

    @property
    def root_is_total(self) -> bool:
        """Whether blocks are centred on the total instead of the number of people."""
        return isinstance(self.design, OptimalWithoutSize)

    @property
    def scales(self) -> list[Floats]:
        """The scales of the noise on what is measured, in steps; the same for each group."""
        scales = [np.repeat(b.scales, b.shape.size // len(b.scales)) for b in self.blocks]
        if self.root_scale is not None:
            scales.append(np.array([self.root_scale]))
        everyone = [] if self.everyone is None else [np.array([self.everyone.scale])]
        return [np.concatenate(scales), *everyone]

    def measure(self, sums: tuple[Ring, ...], people: Ring, everyone: Ring) -> list[Ring]:
        """Return what gets noise: h in steps for each block, then the root, a row for each group.

        Where the design measures the number of all people, ``everyone``, that follows alone.
        """
        root, unit = people, Fraction(1)
        if self.root_is_total:
            root, unit = sums[0].sum(axis=1, dtype=np.uint64), self.blocks[0].unit
        entries = [_centred(b, f, root, unit) for b, f in zip(self.blocks, sums, strict=True)]
        if self.root_step is not None:
            size = _times(root, unit / self.root_step)
            if self.everyone is not None:
                size = size - _times(everyone, self.everyone.center / self.root_step)
            entries.append(size[:, None])
        measured = [np.concatenate(entries, axis=1)]
        if self.everyone is not None:
            measured.append(_times(everyone, 1 / self.everyone.step)[:, None])
        return measured

    def recover(self, noisy: list[Ring], known_size: float | None = None) -> Recovered:
        """Return the estimates from what was measured, with its noise."""
        values, *others = (ring.view(np.int64).astype(np.float64) for ring in noisy)
        people = None
        root = np.full(len(values), known_size if known_size is not None else 0.0)
        if self.root_step is not None:
            root = values[:, -1] * float(self.root_step)
        if self.everyone is not None:
            people = float(others[0][0, 0]) * float(self.everyone.step)
            root = root + float(self.everyone.center) * people
        start = 0
        estimates = []
        for block in self.blocks:
            stop = start + block.shape.size
            estimates.append(_back(block, values[:, start:stop], root))
            start = stop
        measured = self.root_step is not None and not self.root_is_total
        return Recovered(
            estimates=np.concatenate(estimates, axis=1),
            sizes=root if measured else None,
            people=people,
        )


def _times(x: Ring, factor: Fraction) -> Ring:
    """Multiply with a whole number modulo 2^64."""
    if factor.denominator != 1:
        raise AssertionError(factor)
    return x * np.uint64(factor.numerator % 2**64)


def _centred(block: GridBlock, f: Ring, root: Ring, root_unit: Fraction) -> Ring:
    """Return h in steps."""
    if isinstance(block.shape, Answered):
        value, answered = f[:, 0], f[:, 1]
        y = _times(value, block.unit / block.steps[0])
        a = _times(answered, 1 / block.steps[1])
        if block.center is not None:
            y = y - _times(answered, block.shape.middle / block.steps[0])
            a = a - _times(root, block.center * root_unit / block.steps[1])
        return np.stack([y, a], axis=1)
    h = _times(f, block.unit / block.steps[0])
    if block.center is not None:
        h = h - _times(root, block.center * root_unit / block.steps[0])[:, None]
    return h


def _back(block: GridBlock, h: Floats, root: Floats) -> Floats:
    """Return the estimates from noisy h: f^ = h^ + c root^."""
    if isinstance(block.shape, Answered):
        y, a = h[:, 0] * float(block.steps[0]), h[:, 1] * float(block.steps[1])
        if block.center is not None:
            a = a + float(block.center) * root
            y = y + float(block.shape.middle) * a
        return np.stack([y, a], axis=1)
    if block.center is None:
        return h * float(block.steps[0])
    if isinstance(block.shape, OneOf):
        h = h - h.mean(axis=1, keepdims=True)
    return h * float(block.steps[0]) + float(block.center) * root[:, None]
