"""A value and its square, folded: who answered, squares, and across them the value.

A value and its negative, seen from the middle, are as likely to be measured, so the value is a
direction of its own, charged with its square. What somebody costs is linear in that and convex in
the coordinates: the dearest is at a corner of what holds both (``squared``).
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from halfnoise.values import dataclass
from halfnoise.workload.grid import Floats, Grain, Ring
from halfnoise.workload.sets.base import Channel, Parts, Scales, Span
from halfnoise.workload.sets.folding import Answering, Coordinate
from halfnoise.workload.sets.squared import Pair, Squared

# Of changes, who costs most went from one end to the other, or answers no more: nearer ones are
# held by the tangents at 1 and 2, loosely, and cost less even so.
HELD = ((Fraction(1), Fraction(2)), (Fraction(2), Fraction(2)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Varying(Answering):
    """Who answered, squares less half the largest for each of them, and, across, the value."""

    shape: Squared

    @classmethod
    def of(cls, shape: Squared, pairs: Iterable[Pair] = HELD, *, leaves: bool) -> "Varying":
        """Fold it by those who leave, or by changes: of two values where such tangents meet."""
        far, width, step = shape.largest, shape.extent, shape.step
        # Answered, how far the square is from its middle, and what the value is charged with: the
        # square, which lacks less than a step, and what rounding to the next quantum adds to it.
        more = step + (q := shape.quantum or Fraction(0)) * (width + q)
        kinds = [(1, far / 2, far + more), (1, -far / 2, more)]
        if leaves:
            kinds.append((0, Fraction(0), Fraction(0)))
        else:
            kinds += [(0, apart, value) for value, apart in shape.changing(2, pairs)]
            kinds += [(-answered, -square, value) for answered, square, value in kinds]
            kinds = [*dict.fromkeys(kinds)]
        answered, squares = (tuple(Fraction(kind[i]) for kind in kinds) for i in (0, 1))
        one, none = Fraction(1), Fraction(0)
        return cls(
            shape=shape,
            coordinates=(
                Coordinate(answered, one / 2, width**2, Grain.PEOPLE, one, none),
                Coordinate(squares, none, 1 / width**2, Grain.VALUES, step / 2 or None, none),
            ),
            across=tuple((value,) for _, _, value in kinds),
            weights=(1,),
        )

    def quantum(self, scale: float) -> Fraction:
        """Return what squares will be counted in, or less, under noise of such a scale."""
        half = float(self.shape.extent / 2)
        value = Grain.VALUES.quantum(half, scale / (2 * half), Fraction(1))
        return self.shape.step_under(value) / 2

    def along(self, f: Ring) -> list[Ring]:
        """Return how many answered, and squares less half the largest for each, in half steps."""
        return [f[:, 1], f[:, 2] * np.uint64(2) - f[:, 1] * np.uint64(self.shape.most)]

    def recover(
        self, channel: Channel | None, h: Floats, along: Sequence[Floats], people: Floats
    ) -> Floats:
        """Return the sum of the values, the number who answered, and the sum of the squares."""
        answered, square = along
        two = Answering.recover(self, channel, h, [answered], people)
        return np.column_stack([two, square + float(self.shape.largest / 2) * answered])

    def loads(self, along: Sequence[float], people: float) -> Iterable[Span]:
        """Return what the sum, the number who answered and the squares hold of a noise."""
        answered, square = along
        two = Answering.loads(self, [answered], people)
        return (*two, (2, 3, square + float(self.shape.largest / 2) * answered))

    def parts(self, scales: Scales, along: Sequence[Sequence[float]]) -> Sequence[Parts]:
        """Return the noises of its sums, and of value and square less their middles * answered."""
        (two,) = Answering.parts(self, scales, along[:1])
        return [two | {"spread": [abs(part) for part in along[1] if part]}]
