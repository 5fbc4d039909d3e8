"""The fast path: candidates by the chunk, accepted and rounded wherever float64 is certain."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.noise.bits import Bits
from halfnoise.noise.exact import LazyUniform, Point, StripPoint, TailPoint, accepts
from halfnoise.noise.staircase import Table

CHUNK = 1 << 16  # large enough to hide NumPy's cost per call, small enough for a core's own cache
ROUNDING_SLACK = 2.0**-50  # of the margin: far above the error of computing the margin itself
SMALLEST, LARGEST = 1e-3, 2.0**36  # scales for which the error bounds of the float path are proved
Ints: TypeAlias = NDArray[np.int64]
Points: TypeAlias = dict[int, Point]
# One scale for all entries, or one for each; the latter perhaps as a run to slice.
Scale: TypeAlias = "float | NDArray[np.float64]"
Scales: TypeAlias = "Scale | np.flatiter[NDArray[np.float64]]"


class Sampler:
    """Draws rounded noise from a table with a source of bits, in buffers of its own."""

    def __init__(self, table: Table, bits: Bits, count: int) -> None:
        """Make room for drawing about ``count`` numbers, or a chunk if that is less."""
        self.table, self.bits = table, bits
        room = min(CHUNK, _enough(count))
        self._words, self._index = np.empty((2, room), dtype=np.uint64)
        self._offsets = np.empty(room, dtype=np.int64)
        self._real, self._whole = np.empty((2, room), dtype=np.float64)

    def fill(self, out: Ints, scales: Scales) -> int:
        """Fill ``out`` with rounded noise; return how many draws took the certain path.

        **Guarantee.** Entry i is round(scale_i * X_i) with X_i independent draws from the table's
        density, exactly. The places of accepted candidates are independent of which were accepted,
        so it matters neither in what order they are used nor how many are left over.
        """
        done = certain = 0
        while done < len(out):
            places, points = self.accepted(min(len(self._words), _enough(len(out) - done)))
            n = min(len(places), len(out) - done)
            scale = scales if isinstance(scales, float) else scales[done : done + n]
            certain += self.round(out[done : done + n], scale, places[:n], points)
            done += n
        return certain

    def accepted(self, count: int) -> tuple[Ints, Points]:
        """Draw; return the accepted places, valid until the next call, and points begun."""
        words, index, offsets = self._words[:count], self._index[:count], self._offsets[:count]
        self.bits.fill(words)
        np.right_shift(words, self.table.layout.place_bits, out=index)
        # Clipping never happens: it only spares a check, as every index is in the table.
        np.take(self.table.offset, index.view(np.int64), out=offsets, mode="clip")
        places = np.add(words.view(np.int64), offsets, out=offsets)
        unsure = np.flatnonzero(index < len(self.table.level))
        passed, begun = self.judge(places[unsure], index[unsure].view(np.int64))
        points = {int(unsure[i]): point for i, point in begun.items()}
        return _compact(places, unsure[~passed], points)

    def judge(self, places: Ints, entries: Ints) -> tuple[NDArray[np.bool_], Points]:
        """Decide for candidates in unsure boxes whether level + V lies below the density."""
        table = self.table
        words = np.empty(len(places), dtype=np.uint64)
        self.bits.fill(words)
        height = np.exp(-table.density.exponent(places * table.unit)) * table.staircase.top
        gap = height - table.level[entries] - words * 2.0**-table.layout.word_bits
        passed, points = gap > 0, Points()
        for i in np.flatnonzero(np.abs(gap) <= table.margin[entries]).tolist():
            entry = int(entries[i])
            point = self.point(int(places[i]), tail=entry < 2 * table.staircase.tail)
            passed[i] = self.settle(point, int(table.level[entry]), int(words[i]))
            if passed[i]:
                points[i] = point
        return passed, points

    def point(self, place: int, *, tail: bool = False) -> Point:
        """Take a candidate up where the float path leaves it."""
        layout, density = self.table.layout, self.table.density
        strip = place >> layout.place_bits
        uniform = LazyUniform(bits=self.bits, word_bits=layout.word_bits)
        if tail:
            line = {"reach": density.reach, "rate": density.tail_rate, "per_unit": layout.per_unit}
            return TailPoint(sign=1 if strip >= 0 else -1, uniform=uniform, **line)
        uniform.numerator = place - (strip << layout.place_bits)
        uniform.drawn = layout.place_bits
        return StripPoint(strip=strip, per_unit=layout.per_unit, uniform=uniform)

    def settle(self, point: Point, level: int, word: int) -> bool:
        """Decide on the certain path whether level + V lies below the density; V begins as word."""
        word_bits = self.table.layout.word_bits
        fraction = LazyUniform(bits=self.bits, word_bits=word_bits, numerator=word, drawn=word_bits)
        return accepts(point, level, fraction, self.table.density, self.table.staircase.top)

    def round(self, out: Ints, scale: Scale, places: Ints, points: Points) -> int:
        """Round scale * place into ``out``; return how many needed the certain path for it."""
        margin = largest(scale) * self.table.place_error + ROUNDING_SLACK
        real, whole = self._real[: len(out)], self._whole[: len(out)]
        np.multiply(places, self.table.unit, out=real)
        np.multiply(real, scale, out=real)
        np.rint(real, out=whole)
        np.copyto(out, whole, casting="unsafe")
        np.subtract(real, whole, out=real)
        np.abs(real, out=real)
        certain = {i: point for i, point in points.items() if i < len(out)}
        for i in np.flatnonzero(real >= 0.5 - margin).tolist():
            certain.setdefault(i, self.point(int(places[i])))
        for i, point in certain.items():
            out[i] = point.rounded(scale if isinstance(scale, float) else float(scale[i]))
        return len(certain)


def _enough(count: int) -> int:
    """Return how many candidates nearly always hold ``count`` accepted ones."""
    return count + count // 16 + 8


def _compact(places: Ints, rejected: Ints, points: Points) -> tuple[Ints, Points]:
    """Move accepted places from the end into the gaps that rejected ones leave."""
    kept = len(places) - len(rejected)
    gaps = rejected[rejected < kept]
    stays = np.ones(len(rejected), dtype=np.bool_)
    stays[rejected[len(gaps) :] - kept] = False
    movers = np.flatnonzero(stays) + kept
    places[gaps] = places[movers]
    if points:
        moved = dict(zip(movers.tolist(), gaps.tolist(), strict=True))
        points = {moved.get(i, i): point for i, point in points.items()}
    return places[:kept], points


def refused_scale(value: object) -> InvalidParameterError:
    """Say which scales there are."""
    rule = "a number from 0.001 to 2**36 in grid steps, or an array of such numbers"
    return refuse("scale", rule, value, "choose a grid that puts the noise in this range")


def largest(scale: Scale) -> float:
    """Return the largest scale, after refusing any out of range."""
    if isinstance(scale, float):
        low = high = scale
    else:
        low, high = np.min(scale, initial=1.0), np.max(scale, initial=1.0)
    if low >= SMALLEST and high <= LARGEST:
        return float(high)
    values = np.ravel(scale)
    raise refused_scale(values[~((values >= SMALLEST) & (values <= LARGEST))][0].item())
