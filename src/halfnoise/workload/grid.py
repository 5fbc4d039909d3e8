"""The public grid: everything before the noise is an integer.

A value counts from an ``offset``, the middle of its bounds where it is centred there, so that only
how far it is from there must fit. It is rounded down to 2^-22 of a block's ``quantum``; of all
people the whole quanta and the ``parts`` are added up, each by itself, and the total is rounded to
a quantum once. **That costs nothing**: where x lies between whole numbers L and H, adding x moves
the rounded total by a whole number from L to H. So f and n are exact integers on every engine and
in every order, and one person moves them by a point of K.

What is measured, h = f - c n, is a whole multiple of a finer ``step``, and noise is drawn in those
steps: round(q + Z) = q + round(Z) for an integer q, so the release is post-processing of the
real-valued mechanism. Beyond 2^40 people sums wrap, which is harmless: reducing the sum of value
and noise modulo 2^64 is post-processing too. Sums of parts must not wrap, and do not below 2^41.
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

# A person moves what is measured by at most 2^22 steps, or quanta, so that 2^40 people stay below
# 2^63. With parts of 2^-22, rounding 2^33 values adds up to 2^-10 of that reach at most: Laplace
# noise at an epsilon of 10 has a standard error of 2^-2.8 of it.
REACH_BITS, PART_BITS = 22, 22
SCALE_BITS, MOST_SCALE_BITS = 20, 36  # scales are near 2^20 steps if they can be, at most 2^36
# Budgets that protect nobody have scales below 2^10 of such steps. Then steps are finer, of which a
# person moves 2^30, so that 2^32 people have room; below 2^5 of the finest, rounding would show.
FINE_SCALE_BITS, FINE_REACH_BITS, LEAST_SCALE_BITS = 10, 30, 5
# In tables a value is multiplied with the number of cells, so it has fewer bits, but not too few.
TABLE_BITS, LEAST_TABLE_BITS = 31, 13
PART = Fraction(1, 2**16)  # who has more items than allowed counts a fraction for each


class Grain(enum.Enum):
    """What a contribution is made of: whole people, parts of people, or values."""

    PEOPLE = "people"
    PARTS = "parts"
    VALUES = "values"

    def quantum(
        self, reach: float, scale: float, people: Fraction, bits: int = REACH_BITS
    ) -> Fraction:
        """Return the grid of values of at most ``reach`` under noise of so large a scale.

        ``people``: the grid of what a person counts; that of fractions, too, unless it is one.
        """
        if self is not Grain.VALUES:
            return PART if self is Grain.PARTS and people == 1 else people
        # The scale may still grow a little with the bounds.
        coarse = power(scale) * Fraction(4, 2**MOST_SCALE_BITS)
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
            " attributes or coarser bands, or importances that differ less"
        )
    if scale / step > 2.0**MOST_SCALE_BITS:
        raise InvalidParameterError(
            "the budget is too small: the noise would be more than 2^36 times the finest difference"
            " that a person makes; use a larger budget, or importances that differ less"
        )
    return step


def around(bounds: tuple[float, float], quantum: Fraction, wider: int = 0) -> tuple[float, float]:
    """Return the nearest even numbers of quanta that hold the bounds: so their middle is whole.

    ``wider``: by how many quanta, an even number, they are moved apart on each side.

    They are floats: multiples of their last place, or below 2^53 times two quanta.

    >>> around((0.3, 5.0), Fraction(1))
    (0.0, 6.0)
    """
    low, high = (Fraction(bound) / (2 * quantum) for bound in bounds)
    least, most = 2 * math.floor(low) - wider, 2 * math.ceil(high) + wider
    return float(least * quantum), float(most * quantum)


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


def carried(whole: Ring, parts: Ring) -> Ring:
    """Return totals from those of whole quanta and of parts, rounded half up.

    >>> carried(np.array([7], np.uint64), np.array([3 * 2 ** (PART_BITS - 1)], np.uint64))
    array([9], dtype=uint64)
    """
    return whole + ((parts + np.uint64(2 ** (PART_BITS - 1))) >> np.uint64(PART_BITS))
