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
from dataclasses import replace
from fractions import Fraction

from halfnoise.design.centered import Center, Centered, best_scales
from halfnoise.design.design import Design
from halfnoise.design.measurement import Everyone, GridBlock, OnGrid, Recovered, Ring
from halfnoise.design.optimum import OptimalWithoutSize
from halfnoise.design.two_level import TwoLevel, two_level
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.sets import Answered, AtMost, Box, OneOf, Shape
from halfnoise.workload.workload import Block, Workload

__all__ = ["GridBlock", "OnGrid", "Recovered", "Ring", "on_grid"]

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


def on_grid(workload: Workload, design: Design, budget: float) -> OnGrid:
    """Put a design on the grid: bounds and centres first, then the scales that fit them.

    **Guarantee.** The design that comes back has its loss proved for the bounds and centres on the
    grid; the scales in steps are rounded up.
    """
    match design:
        case OptimalWithoutSize():
            return _total_on_grid(design)
        case TwoLevel():
            return _two_level_on_grid(workload, design, budget)
        case Centered():
            return _centered_on_grid(workload, design, budget)
    raise NotImplementedError


def _centered_on_grid(workload: Workload, design: Centered, budget: float) -> OnGrid:
    units, moved, centers = _moved(workload, design)
    final = best_scales(
        moved,
        centers,
        name=design.name,
        noise=design.noise,
        budget=budget,
        measure_size=design.size_scale is not None,
        always=design.size_scale is not None,
        size_is_given=design.size_is_given,
    )
    root_step = None if final.size_scale is None else _step(final.size_scale, Fraction(1), 1.0)
    return OnGrid(
        design=final,
        blocks=_grid_blocks(final, units),
        root_step=root_step,
        root_scale=_in_steps(final.size_scale or 0.0, root_step) if root_step else None,
    )


def _two_level_on_grid(workload: Workload, design: TwoLevel, budget: float) -> OnGrid:
    units, moved, centers = _moved(workload, design.group)
    final = two_level(moved, centers, budget)
    size_scale = final.group.size_scale or 0.0
    # What the centre subtracts for each person is a whole number of steps.
    root_step = _step(size_scale, Fraction(1, final.center.denominator), 1.0)
    step = _step(final.people_scale, Fraction(1), 1.0)
    return OnGrid(
        design=final,
        blocks=_grid_blocks(final.group, units),
        root_step=root_step,
        root_scale=_in_steps(size_scale, root_step),
        everyone=Everyone(
            center=final.center, step=step, scale=_in_steps(final.people_scale, step)
        ),
    )


def _moved(workload: Workload, design: Centered) -> tuple[list[Fraction], Workload, list[Center]]:
    """Return the blocks' units, and the workload and the centres moved onto the grid."""
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
    return units, workload.with_blocks(blocks), centers


def _grid_blocks(design: Centered, units: list[Fraction]) -> tuple[GridBlock, ...]:
    found = []
    for block, center, unit, scales in zip(
        design.blocks, design.centers, units, design.scales, strict=True
    ):
        steps = _steps(block.shape, center, unit, scales)
        drawn = tuple(_in_steps(scale, step) for scale, step in zip(scales, steps, strict=True))
        found.append(
            GridBlock(shape=block.shape, center=center, unit=unit, steps=steps, scales=drawn)
        )
    return tuple(found)


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
