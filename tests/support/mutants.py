"""Broken samplers, each with one fault that the statistical tests must see."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from halfnoise.noise.bits import Bits, system_bits
from halfnoise.noise.exact import Point, TailPoint
from halfnoise.noise.sampler import Sampler
from halfnoise.noise.staircase import Table

Ints = NDArray[np.int64]
# Draws this many numbers of a scale from a table that may be broken on the way.
Draw = Callable[[Table, float, int], Ints]


def sound(table: Table, scale: float, count: int) -> Ints:
    """Draw as the library does."""
    out = np.empty(count, dtype=np.int64)
    Sampler(table, system_bits(), count).fill(out, scale)
    return out


def short_scale(table: Table, scale: float, count: int) -> Ints:
    """Draw at a scale 0.5% short."""
    return sound(table, scale * 0.995, count)


def stuck_sign(table: Table, scale: float, count: int) -> Ints:
    """Draw with a sign bit that is always 0: every entry is its even neighbour."""
    places = table.layout.place_bits
    offset = table.offset.copy()
    offset[1::2] = offset[::2] - (1 << places)
    return sound(replace(table, offset=offset), scale, count)


def misplaced_box(table: Table, scale: float, count: int) -> Ints:
    """Draw with an outer strip's weight one too low, and its neighbour's one too high."""
    places = table.layout.place_bits
    strips = ((np.arange(len(table.offset)) << places) + table.offset) >> places
    sure = np.flatnonzero(np.arange(len(strips)) >= len(table.level))
    victim = sure[np.argmax(strips[sure])]
    offset = table.offset.copy()
    offset[victim] -= 1 << places
    return sound(replace(table, offset=offset), scale, count)


def shifted_thresholds(table: Table, scale: float, count: int) -> Ints:
    """Draw with V compared to thresholds that are higher by 1e-3."""
    return sound(replace(table, level=table.level - 1e-3), scale, count)


def stretched_thresholds(table: Table) -> Table:
    """Return a table with V's thresholds too high by a factor of 1.001."""
    higher = replace(table.staircase, top=table.staircase.top * 1.001)  # type: ignore[arg-type]
    return replace(table, staircase=higher)


class Dropping(Sampler):
    """Throws away what floats do not settle, instead of settling it."""

    def settle(self, point: Point, level: int, word: int) -> bool:
        """Reject whatever is in doubt."""
        del point, level, word
        return False

    def round(
        self,
        out: Ints,
        scale: float | NDArray[np.float64],
        places: Ints,
        points: dict[int, Point],
    ) -> int:
        """Replace draws whose rounding is in doubt by others."""
        assert isinstance(scale, float)
        real = places * self.table.unit * scale
        clear = np.abs(real - np.rint(real)) < 0.5 - scale * self.table.place_error
        kept = np.rint(real[clear]).astype(np.int64)
        out[:] = np.resize(kept, len(out))
        return len(points)


def dropping(table: Table, scale: float, count: int) -> Ints:
    """Draw without the undecided draws."""
    out = np.empty(count, dtype=np.int64)
    Dropping(table, system_bits(), count).fill(out, scale)
    return out


class Careless(Sampler):
    """Accepts whatever falls into the tail's boxes."""

    def settle(self, point: Point, level: int, word: int) -> bool:
        """Accept tail points unseen."""
        return isinstance(point, TailPoint) or super().settle(point, level, word)


def careless_tail(table: Table, scale: float, count: int) -> Ints:
    """Draw with a tail that is not thinned out to the density."""
    out = np.empty(count, dtype=np.int64)
    Careless(table, system_bits(), count).fill(out, scale)
    return out


class OneSided(Sampler):
    """Forgets the sign of tail points."""

    def point(self, place: int, *, tail: bool = False) -> Point:
        """Take every tail point to the right."""
        return super().point(abs(place) if tail else place, tail=tail)


def one_sided_tail(table: Table, scale: float, count: int) -> Ints:
    """Draw with both tails on the same side."""
    out = np.empty(count, dtype=np.int64)
    OneSided(table, system_bits(), count).fill(out, scale)
    return out


class Stale:
    """A source that fills a buffer only every second time it is handed over."""

    def __init__(self, bits: Bits) -> None:
        """Start with a fresh fill."""
        self.bits = bits
        self.fresh: dict[int, bool] = {}

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Fill, or leave what is there."""
        address = words.ctypes.data
        self.fresh[address] = not self.fresh.get(address, False)
        if self.fresh[address]:
            self.bits.fill(words)


def stale_buffer(table: Table, scale: float, count: int) -> Ints:
    """Draw with every buffer of words used twice."""
    out = np.empty(count, dtype=np.int64)
    Sampler(table, Stale(system_bits()), count).fill(out, scale)
    return out


def truncated_floats(table: Table, scale: float, count: int) -> Ints:
    """Draw NumPy's floats and cut off their fraction instead of rounding."""
    rng = np.random.default_rng()
    floats = rng.normal if table.density.reach == 8 else rng.laplace
    return floats(0.0, scale, count).astype(np.int64)


def coarse_place(table: Table, scale: float, count: int) -> Ints:
    """Draw with places of 22 bits instead of 48."""

    class Coarse:
        def fill(self, words: NDArray[np.uint64]) -> None:
            system_bits().fill(words)
            words &= ~np.uint64((1 << 26) - 1)

    out = np.empty(count, dtype=np.int64)
    Sampler(table, Coarse(), count).fill(out, scale)
    return out
