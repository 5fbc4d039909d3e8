"""Survey weights: a person with weight w counts w times.

A person adds w x to the sums and w to the size, for an x of the set K and a w of [low, high]. What
that costs is a norm, so one of weight w costs w times what x alone would, and nobody costs more
than one of the highest weight. On the grid (docs/weights.md has the proofs):

- A weight is k parts of a ``whole``, a power of two above the highest: so all is in parts of it.
- Who is counted adds k or nothing; who has more items than allowed, k * most // number of each,
  which is no more than all of them may be.
- A value times its weight moves the rounded total by less than a quantum, e, more than it is. That
  leaves K, but not K with two quanta more on each side, which a weight of at least half a whole
  makes one: p = (k/M)(x + e) + (1 - k/M) e, of which both parts cost no more than its corners.
"""

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Self

from halfnoise.checks import check_column, check_literals, finite, known_keywords, refuse
from halfnoise.values import KW_ONLY, dataclass
from halfnoise.workload.conditions import Coded, Literal
from halfnoise.workload.grid import SCALE_BITS, power

SQUARES, HEADS = "sum of squared weights", "unweighted number of people"
# A person moves what is measured by at most 2^22 steps, as without weights (``grid``), where tables
# and choices have up to 2^10 cells; with more of them weights keep 12 bits.
BITS, LEAST_BITS = 21, 12
# A centre that is searched for takes so many bits more: then 2^32 people have room.
CENTER_BITS = 10


def weighted(column: str, bounds: Sequence[float]) -> str:
    """Say how often people count where weights say it.

    >>> print(weighted("w", [0, 5]))
    Weighted: a person counts as often as w says, kept in 0 to 5; without a weight, 0 times. The \
number of people is the sum of weights.
    """
    low, high = bounds
    kept = f"kept in {low:g} to {high:g}; without a weight, {low:g} times"
    size = "The number of people is the sum of weights."
    return f"Weighted: a person counts as often as {column} says, {kept}. {size}"


@known_keywords
@dataclass(frozen=True, slots=True)
class Weight(Coded):
    """How often a person counts: ``column`` says it, kept within ``bounds``.

    ``missing``: codes for no weight. Where there is none, it is the lowest; where a person's rows
    say several, it is the largest of them.

    >>> Weight("w", bounds=(0, 5)).meaning
    'w, kept in 0 to 5'
    """

    column: str
    _: KW_ONLY
    bounds: tuple[float, float]
    missing: Literal | Collection[Literal] = ()

    def __post_init__(self) -> None:
        check_column(self.column)
        bounds: object = self.bounds
        remedy = "give the lowest and the highest weight that counts, for example bounds=(0, 5)"
        if not isinstance(bounds, tuple | list) or len(bounds) != 2:
            raise refuse("bounds of a weight", "two numbers", bounds, remedy)
        low, high = finite(remedy, low=bounds[0]), finite(remedy, high=bounds[1])
        if not 0 <= low < high:
            rule = "zero or more, a low number below a high one"
            raise refuse("bounds of a weight", rule, (low, high), remedy)
        if not 1e-50 <= high - low <= high <= 1e50:
            rule = "up to 1e50, and at least 1e-50 apart"
            raise refuse("bounds of a weight", rule, (low, high), "divide all weights by a number")
        object.__setattr__(self, "bounds", (low, high))
        object.__setattr__(self, "missing", check_literals("missing", self.missing))

    @property
    def meaning(self) -> str:
        """What it reads from the table, and how."""
        low, high = self.bounds
        codes = ", ".join(map(str, self.codes))
        said = f"{self.column}, kept in {low:g} to {high:g}"
        return said + (f", no weight: {codes}" if codes else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """Weights on their grid: from ``low`` to ``high`` parts, of which 2^``bits`` are a whole."""

    low: int
    high: int
    bits: int
    whole: Fraction

    @classmethod
    def of(cls, weight: Weight, cells: int) -> Self:
        """Put weights on a grid that leaves room for tables and choices of so many cells.

        >>> found = Weighing.of(Weight("w", bounds=(0, 5)), 2)
        >>> found.whole, found.high / found.parts * found.whole
        (Fraction(8, 1), Fraction(5, 1))
        """
        low, high = weight.bounds
        bits = max(LEAST_BITS, BITS + 1 - math.ceil(math.log2(max(cells, 2))))
        quantum = power(high) * Fraction(2, 2**bits)
        least, most = (math.floor(Fraction(x) / quantum + Fraction(1, 2)) for x in (low, high))
        return cls(low=least, high=most, bits=bits, whole=quantum * 2**bits)

    @property
    def parts(self) -> Fraction:
        """How many parts a whole has."""
        return Fraction(2**self.bits)

    @property
    def quantum(self) -> Fraction:
        """What one part is of a whole."""
        return 1 / self.parts

    @property
    def wider(self) -> int:
        """By how many quanta bounds are wider than values, whose products are not whole."""
        return 2 if self.bits else 0

    @property
    def center_bits(self) -> int:
        """How many bits a centre that is searched for may have."""
        return CENTER_BITS if self.bits else SCALE_BITS

    def of_whole(self, x: float) -> float:
        """Return a number of people, or an error of it, in whole weights: exact."""
        return x / float(self.whole)

    def in_parts(self, x: float) -> float:
        """Return the same in parts."""
        return math.ldexp(self.of_whole(x), self.bits)

    @property
    def heaviest(self) -> Fraction:
        """The highest weight, as it is on the grid."""
        return self.high * self.quantum * self.whole

    @property
    def middle(self) -> Fraction:
        """The middle between the lowest and the highest weight."""
        return (self.lightest + self.heaviest) / 2

    @property
    def lightest(self) -> Fraction:
        """The lowest weight, as it is on the grid."""
        return self.low * self.quantum * self.whole


# Where people have no weights, one person is one part of one.
ALIKE = Weighing(low=1, high=1, bits=0, whole=Fraction(1))
