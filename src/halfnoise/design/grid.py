"""A design on a real machine: everything before the noise is an integer on a public grid.

Contributions are whole multiples of a block's ``unit``, so f and n are exact integers on every
engine and in every order. What is measured, h = f - c n, is a whole multiple of a finer ``step``,
and noise is drawn in those steps: round(q + Z) = q + round(Z) for an integer q, so the release is
post-processing of the real-valued mechanism.

Units, steps and centres come from the workload and the design, never from data. They leave room
for 2^40 people. Beyond that sums wrap, which is harmless: everything is computed modulo 2^64, and
reducing the sum of value and noise modulo 2^64 is post-processing too.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.centered import Center, Centered, best_scales
from halfnoise.design.contract import Design
from halfnoise.design.optimal import OptimalWithoutSize
from halfnoise.errors import InvalidParameterError
from halfnoise.shapes import Answered, AtMost, Box, OneOf, Shape
from halfnoise.workload import Block, Workload

Ring = NDArray[np.uint64]
"""Integers modulo 2^64, one row for each group."""

Floats = NDArray[np.float64]

REACH_BITS = 22
"""A person moves what is measured by at most 2^22 steps: 2^40 people stay below 2^63."""

VALUE_BITS = 21
"""A person's value is at most 2^21 units, as a step may be half of one."""

LEAST_UNITS = 2**10
"""Bounds are at least so many units apart, lest rounding show."""

VALUES = ("sum", "mean")
"""The kinds of queries whose values are not just people."""

ITEM_UNIT = Fraction(1, 2**16)
"""People with more items than allowed count a fraction for each: in these units."""

SCALE_BITS, MOST_SCALE_BITS = 20, 36
"""Scales are near 2^20 steps where they can be, and never above 2^36."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridBlock:
    """One block on the grid: values in ``unit``, noise of ``scales`` times ``steps``."""

    shape: Shape
    center: Center
    unit: Fraction
    steps: tuple[Fraction, ...]
    scales: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnGrid:
    """A design ready to be carried out on exact totals.

    What blocks are centred on, the root, is the number of people, or for the optimum without it the
    total of the counts.
    """

    design: Design
    blocks: tuple[GridBlock, ...]
    root_step: Fraction | None
    root_scale: float | None

    @property
    def root_is_total(self) -> bool:
        """Whether blocks are centred on the total instead of the number of people."""
        return isinstance(self.design, OptimalWithoutSize)

    @property
    def scales(self) -> Floats:
        """The scale of the noise on each entry, in its steps."""
        scales = [np.repeat(b.scales, b.shape.size // len(b.scales)) for b in self.blocks]
        root = [] if self.root_scale is None else [np.array([self.root_scale])]
        return np.concatenate(scales + root)

    def measure(self, sums: tuple[Ring, ...], people: Ring) -> Ring:
        """Return what gets noise: h in steps for each block, then the root."""
        root, unit = people, Fraction(1)
        if self.root_is_total:
            root, unit = sums[0].sum(axis=1, dtype=np.uint64), self.blocks[0].unit
        entries = [_centred(b, f, root, unit) for b, f in zip(self.blocks, sums, strict=True)]
        if self.root_step is not None:
            entries.append(_times(root, unit / self.root_step)[:, None])
        return np.concatenate(entries, axis=1)

    def recover(self, noisy: Ring, known_size: float | None = None) -> tuple[Floats, Floats | None]:
        """Return the estimates of all sums, and of the number of people where it was measured."""
        values = noisy.view(np.int64).astype(np.float64)
        root = np.full(len(values), known_size if known_size is not None else 0.0)
        if self.root_step is not None:
            root = values[:, -1] * float(self.root_step)
        start = 0
        estimates = []
        for block in self.blocks:
            stop = start + block.shape.size
            estimates.append(_back(block, values[:, start:stop], root))
            start = stop
        size = root if self.root_step is not None and not self.root_is_total else None
        return np.concatenate(estimates, axis=1), size


def on_grid(workload: Workload, design: Design, budget: float) -> OnGrid:
    """Put a design on the grid: bounds and centres first, then the scales that fit them.

    **Guarantee.** The design that comes back has its loss proved for the bounds and centres on the
    grid; the scales in steps are rounded up.
    """
    if isinstance(design, OptimalWithoutSize):
        return _total_on_grid(design)
    if not isinstance(design, Centered):
        raise NotImplementedError
    units = [
        _unit(block, scales[0]) for block, scales in zip(design.blocks, design.scales, strict=True)
    ]
    blocks = tuple(
        replace(block, shape=_snap(block, unit))
        for block, unit in zip(design.blocks, units, strict=True)
    )
    centers = [
        _dyadic(block.shape, center, scales[-1])
        for block, center, scales in zip(blocks, design.centers, design.scales, strict=True)
    ]
    final = best_scales(
        workload.with_blocks(blocks),
        centers,
        name=design.name,
        noise=design.noise,
        budget=budget,
        measure_size=design.size_scale is not None,
    )
    grid_blocks = []
    for block, center, unit, scales in zip(blocks, centers, units, final.scales, strict=True):
        steps = _steps(block.shape, center, unit, scales)
        drawn = tuple(_in_steps(scale, step) for scale, step in zip(scales, steps, strict=True))
        grid_blocks.append(
            GridBlock(shape=block.shape, center=center, unit=unit, steps=steps, scales=drawn)
        )
    root_step = None if final.size_scale is None else _step(final.size_scale, Fraction(1), 1.0)
    return OnGrid(
        design=final,
        blocks=tuple(grid_blocks),
        root_step=root_step,
        root_scale=_in_steps(final.size_scale or 0.0, root_step) if root_step else None,
    )


def _total_on_grid(design: OptimalWithoutSize) -> OnGrid:
    shape = design.block.shape
    unit = _unit(design.block, design.across)
    step = _step(design.across * shape.size, unit, shape.size) / shape.size
    root_step = _step(design.total_scale, unit, shape.size)
    block = GridBlock(
        shape=OneOf(shape.size),  # like categories, the counts minus total/d sum to zero
        center=Fraction(1, shape.size),
        unit=unit,
        steps=(step,),
        scales=(_in_steps(design.across, step),),
    )
    scale = _in_steps(design.total_scale, root_step)
    return OnGrid(design=design, blocks=(block,), root_step=root_step, root_scale=scale)


def _power(x: float) -> Fraction:
    """Return the largest power of two that is at most x."""
    exponent = math.frexp(x)[1] - 1
    return Fraction(2**exponent) if exponent >= 0 else Fraction(1, 2**-exponent)


def _unit(block: Block, scale: float) -> Fraction:
    """Return the grid of a block's contributions: whole people, unless there is more to tell."""
    shape = block.shape
    if block.kind in VALUES and isinstance(shape, Box | Answered):
        reach = max(abs(shape.low), abs(shape.high))
        # Steps may be half a unit, and the scale may still grow a little with the bounds.
        fine, coarse = 2 * _power(reach) / 2**VALUE_BITS, 8 * _power(scale) / 2**MOST_SCALE_BITS
        unit: Fraction = max(coarse, fine)
        return unit
    weighed = isinstance(shape, AtMost) and block.kind in ("count", "items")
    return ITEM_UNIT if weighed else Fraction(1)


def _snap(block: Block, unit: Fraction) -> Shape:
    """Put the bounds of a block on its grid."""
    shape = block.shape
    if block.kind not in VALUES or not isinstance(shape, Box | Answered):
        return shape
    low, high = (math.floor(Fraction(x) / unit + Fraction(1, 2)) for x in (shape.low, shape.high))
    if high - low < LEAST_UNITS:
        raise InvalidParameterError(
            f"the bounds of {block.label!r} are too close together for how far from zero they are,"
            f" or for so small a budget, got {shape.low:.10g} to {shape.high:.10g}; subtract a"
            " constant from the column first, or use a larger budget"
        )
    return replace(shape, low=float(low * unit), high=float(high * unit))


def _dyadic(shape: Shape, center: Center, scale: float) -> Center:
    """Round a centre that was searched for to a short dyadic number; midpoints move with K."""
    if center is None or not shape.adjustable:
        return None if center is None else shape.midpoint
    bits = max(1, min(SCALE_BITS, MOST_SCALE_BITS - 2 - math.frexp(scale)[1]))
    return Fraction(round(center * 2**bits), 2**bits)


def _step(scale: float, unit: Fraction, reach: float) -> Fraction:
    """Return a power of two that divides the unit, near scale/2^20 and at least reach/2^22."""
    step: Fraction = max(_power(scale) / 2**SCALE_BITS, 2 * _power(reach) / 2**REACH_BITS)
    step = min(unit, step)
    if scale / step > 2.0**MOST_SCALE_BITS:
        raise InvalidParameterError(
            "the budget is too small: the noise would be more than 2^36 times the finest difference"
            " that a person makes; use a larger budget"
        )
    return step


def _steps(
    shape: Shape, center: Center, unit: Fraction, scales: tuple[float, ...]
) -> tuple[Fraction, ...]:
    """Return the steps of a block's scales: they divide the unit and what the centre subtracts."""
    if isinstance(shape, OneOf) and center is not None:
        return (_step(scales[0] * shape.size, unit, shape.size) / shape.size,)
    reach = max(abs(shape.low), abs(shape.high)) if isinstance(shape, Box | Answered) else 1.0
    if isinstance(shape, Answered):
        whole = Fraction(1 if center is None else Fraction(1, center.denominator))
        return _step(scales[0], unit / 2, reach), _step(scales[1], whole, 1.0)
    if isinstance(shape, Box) and center is not None:
        return (_step(scales[0], unit / 2, reach),)
    finest = unit if center is None else min(unit, Fraction(1, center.denominator))
    return (_step(scales[0], finest, reach),)


def _in_steps(scale: float, step: Fraction) -> float:
    """Return a scale in steps, rounded up."""
    exact = Fraction(scale) / step
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


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
