"""The public grid: everything before the noise is an integer.

Contributions are whole multiples of a block's ``quantum``, so f and n are exact integers on every
engine and in every order. What is measured, h = f - c n, is a whole multiple of a finer ``step``,
and noise is drawn in those steps: round(q + Z) = q + round(Z) for an integer q, so the release is
post-processing of the real-valued mechanism. Beyond 2^40 people sums wrap, which is harmless:
reducing the sum of value and noise modulo 2^64 is post-processing too.
"""

import enum
import math
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.errors import InvalidParameterError

Ring: TypeAlias = NDArray[np.uint64]  # integers modulo 2^64, one row for each group
Floats: TypeAlias = NDArray[np.float64]

# A person moves what is measured by at most 2^22 steps, so that 2^40 people stay below 2^63, and
# has a value of at most 2^21 quanta, as a step may be half of one.
REACH_BITS, VALUE_BITS = 22, 21
LEAST_QUANTA = 2**10  # bounds are at least so many quanta apart, lest rounding show
SCALE_BITS, MOST_SCALE_BITS = 20, 36  # scales are near 2^20 steps if they can be, at most 2^36
# Budgets that protect nobody have scales below 2^10 of such steps. Then steps are finer, of which a
# person moves 2^30, so that 2^32 people have room; below 2^5 of the finest, rounding would show.
FINE_SCALE_BITS, FINE_REACH_BITS, LEAST_SCALE_BITS = 10, 30, 5
# In tables a value is multiplied with the number of cells, so it has fewer bits, but not too few.
TABLE_BITS, LEAST_TABLE_BITS = 30, 12
PART = Fraction(1, 2**16)  # who has more items than allowed counts a fraction for each


class Grain(enum.Enum):
    """What a contribution is made of: whole people, parts of people, or values."""

    PEOPLE = "people"
    PARTS = "parts"
    VALUES = "values"

    def quantum(
        self, reach: float, scale: float, people: Fraction, bits: int = VALUE_BITS
    ) -> Fraction:
        """Return the grid of values of at most ``reach`` under noise of so large a scale.

        ``people``: the grid of what a person counts; that of fractions, too, unless it is one.
        """
        if self is not Grain.VALUES:
            return PART if self is Grain.PARTS and people == 1 else people
        # Steps may be half a quantum, and the scale may still grow a little with the bounds.
        coarse = power(scale) * Fraction(8, 2**MOST_SCALE_BITS)
        return max(coarse, power(reach) * Fraction(2, 2**bits))


def power(x: float) -> Fraction:
    """Return the largest power of two that is at most x.

    >>> power(5.0), power(0.3)
    (Fraction(4, 1), Fraction(1, 4))
    """
    exponent = math.frexp(x)[1] - 1
    return Fraction(2**exponent) if exponent >= 0 else Fraction(1, 2**-exponent)


def step_for(scale: float, quantum: Fraction, reach: float = 1.0, *, cells: int = 1) -> Fraction:
    """Return a power of two that divides the quantum, near scale/2^20 and at least reach/2^22.

    ``cells``: of the table that it is for, by which all of these are multiplied.
    """
    bits = ((SCALE_BITS, REACH_BITS), (FINE_SCALE_BITS, FINE_REACH_BITS))
    fine: list[Fraction] = [
        max(power(scale) / Fraction(2**s), power(reach) / Fraction(2 ** (r - 1))) for s, r in bits
    ]
    step = min(quantum, *fine)
    if scale / step < 2.0**LEAST_SCALE_BITS:
        raise InvalidParameterError(
            "the budget is too large: the noise would be finer than what can be drawn, and hide"
            " nobody; use a smaller budget"
        )
    if scale / step > 2.0**MOST_SCALE_BITS and cells > 1:
        raise InvalidParameterError(
            f"the budget is too small for a table of {cells:,} cells: the noise would be more than"
            " 2^36 times the finest difference that a person makes; use a larger budget, fewer"
            " attributes or coarser bands"
        )
    if scale / step > 2.0**MOST_SCALE_BITS:
        raise InvalidParameterError(
            "the budget is too small: the noise would be more than 2^36 times the finest difference"
            " that a person makes; use a larger budget"
        )
    return step


def in_quanta(bound: float, quantum: Fraction) -> int:
    """Return a bound in quanta, rounded half up."""
    return math.floor(Fraction(bound) / quantum + Fraction(1, 2))


def in_steps(scale: float, step: Fraction) -> float:
    """Return a scale in steps, rounded up."""
    exact = Fraction(scale) / step
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def times(x: Ring, factor: Fraction) -> Ring:
    """Multiply with a whole number modulo 2^64."""
    if factor.denominator != 1:
        raise AssertionError(factor)
    return x * np.uint64(factor.numerator % 2**64)
