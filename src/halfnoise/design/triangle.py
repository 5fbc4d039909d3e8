"""Any information as a triangle of short rows: each coordinate with parts of those behind it.

Any information X is  U' D U  with U unit triangular: measuring the rows of U with independent noise
of variance 1/D is that information. The parts are rounded to short binary numbers, so that a row is
a whole number of steps, and what a person adds to it is known exactly.
"""

import contextlib
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfnoise.values import dataclass
from halfnoise.workload.grid import MOST_SCALE_BITS, Floats, power

PART_BITS = 14  # a part is exact to this much of the range of the coordinate that it is added to,
PIECE_BITS = 30  # and comes in no finer pieces than this, so that 2^32 people have room


@dataclass(frozen=True)
class Row:
    """Parts of all coordinates, each seen from its middle, and of the number of people."""

    parts: tuple[Fraction, ...]
    people: Fraction = Fraction(0)

    @cached_property
    def held(self) -> Floats:
        """How large the parts of coordinates are."""
        return np.array([abs(float(part)) for part in self.parts])


def moved_by(
    rounded: Floats, rows: Sequence[Row], scales: Sequence[float], *, alone: bool
) -> float:
    """Return what coordinates that each may be so much off can cost in rows, at most, squared.

    ``alone``: where somebody adds one value, a row of one coordinate alone costs no more than at
    the ends of its range, which are farther out than that.
    """
    found = 0.0
    for row, scale in zip(rows, scales, strict=False):
        if not alone or row.people or (row.held > 0).sum() > 1:
            found += float(row.held @ rounded / scale) ** 2
    return found


def short_rows(
    upper: Floats,
    to_people: Floats,
    half: Floats,
    quanta: Sequence[Fraction],
    *,
    scales: Floats,
    cells: int = 1,
) -> tuple[Row, ...]:
    """Return short rows: ``upper``, parts in units ``half`` of what comes in such ``quanta``.

    ``to_people``: parts of the number of people. ``cells``: of a table, by which rows, and noise of
    such ``scales`` on them, are multiplied.
    """
    rows, own = list[Row](), len(quanta)
    for i in range(own):
        parts = [Fraction(0)] * own
        parts[i], most = Fraction(1), scales[i] * cells / 2 ** (MOST_SCALE_BITS - 2)
        least = max(most, cells * half[i] / 2**PIECE_BITS)
        for k in range(i + 1, own):
            unit = max(half[i] / half[k] / 2**PART_BITS, least / quanta[k])
            parts[k] = _short(upper[i, k] * half[i] / half[k], unit)
        lean = _short(to_people[i] * half[i], max(half[i] / 2**PART_BITS, most))
        rows.append(Row(tuple(parts), lean))
    return tuple(rows)


def summed(
    every: Sequence[tuple[Fraction, Sequence[Fraction], NDArray[np.intp]]],
    lean: Fraction,
    number: int,
) -> tuple[NDArray[Any], int]:
    """Return exact sums for so many people, as whole numbers of such parts of one.

    Everybody adds ``lean``, and a part of one of several amounts, by its place among them.
    """
    coarse = math.lcm(*(part.denominator for part, _, _ in every))
    fine = math.lcm(*(x.denominator for _, amounts, _ in every for x in amounts))
    one = math.lcm(lean.denominator, coarse * fine)
    more, whole = int(lean * one), list[list[int]]()
    for part, amounts, _ in every:
        times = part.numerator * (one // fine // part.denominator)
        whole.append([times * x.numerator * (fine // x.denominator) for x in amounts])
    most = abs(more) + sum(max(map(abs, each)) for each in whole)
    kind = np.int64 if max(most, one) < 2**61 else object  # which Python divides
    total = np.full(number, more, dtype=kind)
    for each, (_, _, which) in zip(whole, every, strict=True):
        total = total + np.array(each, dtype=kind)[which]
    return total, one


def lower_root(matrix: Floats) -> Floats:
    """Return the triangular root of a positive matrix, of one near it where floats do not show it.

    Where importances are far apart its axes are, too. What comes of it is measured as it is.
    """
    unit = np.sqrt(np.diag(matrix))
    scaled = matrix / np.outer(unit, unit)
    for more in (0.0, *(10.0**-digits for digits in range(15, 0, -1))):
        with contextlib.suppress(np.linalg.LinAlgError):
            root: Floats = np.linalg.cholesky(scaled + more * np.eye(len(matrix)))
            return unit[:, None] * root
    return np.diag(unit)


def _short(x: float, unit: float) -> Fraction:
    """Return a number rounded to whole multiples of a power of two near ``unit``."""
    step = power(unit)
    return round(Fraction(x) / step) * step


def finest(piece: Fraction) -> Fraction:
    """Return the largest power of two of which a binary number is a whole multiple."""
    number = abs(piece.numerator)
    return Fraction(number & -number, piece.denominator)
