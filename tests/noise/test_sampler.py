from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from halfnoise.noise.bits import system_bits
from halfnoise.noise.exact import Point
from halfnoise.noise.sampler import CHUNK, Sampler
from halfnoise.noise.shapes import GAUSSIAN, LAPLACE, Shape
from halfnoise.noise.tables import Layout, Table, certified, gaussian_table, laplace_table
from noise.laws import Area, gaussian_area, laplace_area
from noise.scripted import enumerated

SHORT = {
    "gaussian": (Shape(exponent=GAUSSIAN.exponent, reach=2, tail_rate=2), gaussian_area),
    "laplace": (Shape(exponent=LAPLACE.exponent, reach=2, tail_rate=1), laplace_area),
}
TABLES = {"gaussian": gaussian_table, "laplace": laplace_table}


def ball(x: Fraction) -> arb:
    """Return a fraction as a ball."""
    return arb(x.numerator) / x.denominator


def disagreements(table: Table, area: Area, scale: float, depth: int) -> list[int]:
    """Return the integers whose enumerated probability contradicts the exact one."""
    decided, undecided = enumerated(table, scale, depth)
    with ctx.workprec(1024):
        return _contradictions(table, area, scale, decided, undecided[-1])


def _contradictions(
    table: Table,
    area: Area,
    scale: float,
    decided: dict[int | None, Fraction],
    undecided: Fraction,
) -> list[int]:
    layout = table.layout
    boxes = ball(Fraction(table.staircase.top * layout.per_unit, 1 << layout.index_bits))
    wrong = []
    for k in range(-12, 13):
        exact = boxes * (area((arb(k) + 0.5) / scale) - area((arb(k) - 0.5) / scale))
        low = decided.get(k, Fraction(0))
        if not (exact >= ball(low) and exact <= ball(low + undecided)):
            wrong.append(k)
    return wrong


def short(name: str, layout: Layout) -> tuple[Table, Area]:
    """Return a table small enough to enumerate, and its law."""
    shape, area = SHORT[name]
    return certified(shape, layout), area


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize(
    ("layout", "depth"),
    [
        (Layout(index_bits=5, place_bits=1, word_bits=1, per_unit=2), 14),
        (Layout(index_bits=6, place_bits=2, word_bits=2, per_unit=4), 6),
    ],
    ids=["bit by bit", "two bits"],
)
@pytest.mark.parametrize("scale", [0.4, 1.5])
def test_enumerated_bits_give_the_exact_probabilities(
    name: str, layout: Layout, depth: int, scale: float
) -> None:
    """Over all bit strings, each integer's probability closes in on the exact one."""
    table, area = short(name, layout)
    assert disagreements(table, area, scale, depth) == []


@pytest.mark.parametrize("name", SHORT)
def test_undecided_mass_halves_with_each_bit(name: str) -> None:
    """One more bit of place and of V halves what is undecided, once the strips are resolved."""
    table, _ = short(name, Layout(index_bits=5, place_bits=1, word_bits=1, per_unit=2))
    decided, undecided = enumerated(table, 1.5, 14)
    assert sum(decided.values()) + undecided[-1] == 1
    shrinking = [float(undecided[i + 2] / undecided[i]) for i in range(4, 12)]
    assert all(ratio < 0.65 for ratio in shrinking)
    assert shrinking[-1] < 0.58


@pytest.mark.parametrize("name", SHORT)
def test_enumeration_sees_one_misplaced_box(name: str) -> None:
    """One box on a neighbouring strip is enough to contradict the exact probabilities."""
    table, area = short(name, Layout(index_bits=5, place_bits=1, word_bits=1, per_unit=2))
    offset = table.offset.copy()
    offset[-1] -= 2 << table.layout.place_bits
    assert disagreements(replace(table, offset=offset), area, 1.5, 14) != []


@pytest.mark.parametrize("name", SHORT)
def test_enumeration_sees_one_wrong_level(name: str) -> None:
    """An unsure box one level too low is enough to contradict the exact probabilities."""
    table, area = short(name, Layout(index_bits=5, place_bits=1, word_bits=1, per_unit=2))
    level = table.level.copy()
    level[-1] -= 1
    assert disagreements(replace(table, level=level), area, 1.5, 14) != []


class Tape:
    """A recorded run of words, with words of its own for the certain path's further bits."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        """Start at the beginning."""
        self.words = words
        self.used = 0

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Hand out the next words of the tape; single words come from the system."""
        if len(words) == 1:
            system_bits().fill(words)
            return
        words[:] = self.words[self.used : self.used + len(words)]
        self.used += len(words)


def both_paths(fast: Table, slow: Table, scale: float) -> tuple[int, int]:
    """Return how many results differ between two tables on the same words, and how many there are.

    The slow table's margins are so wide that every decision is made on the certain path.
    """
    tape = np.empty(1 << 17, dtype=np.uint64)
    system_bits().fill(tape)
    slow = replace(slow, margin=slow.margin + 1e6, place_error=1.0 / scale)
    results = []
    for table in (fast, slow):
        out = np.zeros(40_000, dtype=np.int64)
        certain = Sampler(table, Tape(tape), len(out)).fill(out, scale)
        results.append(out)
    assert certain == len(out)
    return int((results[0] != results[1]).sum()), len(out)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("scale", [0.3, 1.0, 1e4, 2.0**20])
def test_float_path_decides_as_the_certain_path_does(name: str, scale: float) -> None:
    """On the same words, floats and ball arithmetic give the same integers."""
    table = TABLES[name]()
    differing, _ = both_paths(table, table, scale)
    assert differing == 0


@pytest.mark.parametrize("name", TABLES)
def test_comparison_of_paths_sees_thresholds_off_by_a_thousandth(name: str) -> None:
    """With V's thresholds off by 1e-3 the two paths part."""
    table = TABLES[name]()
    higher = replace(table.staircase, top=table.staircase.top * 1.001)  # type: ignore[arg-type]
    differing, _ = both_paths(replace(table, staircase=higher), table, 1e4)
    assert differing > 0


class Forgetful(Sampler):
    """Keeps the first bits of each number only, so that the certain path must draw the others."""

    def point(self, place: int, *, tail: bool = False) -> Point:
        """Forget all but four bits of the place."""
        point = super().point(place, tail=tail)
        if not tail:
            point.uniform.numerator >>= self.table.layout.place_bits - 4
            point.uniform.drawn = 4
        return point


def test_certain_path_draws_more_bits_of_the_same_number() -> None:
    """A result drawn from a few first bits lies where these bits allow it."""
    table = replace(gaussian_table(), place_error=1.0)
    out = np.zeros(2000, dtype=np.int64)
    sampler = Forgetful(table, system_bits(), len(out))
    places, points = sampler.accepted(2000)
    out = out[: len(places)]
    assert sampler.round(out, 1024.0, places, points) == len(out)
    # 16 steps are a strip at this scale, so four bits leave one step and its rounding.
    assert np.abs(out - places * table.unit * 1024.0).max() <= 2


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_every_entry_is_filled(count: int) -> None:
    """Whatever the length, each entry is written exactly where it belongs."""
    unlikely = np.iinfo(np.int64).min
    out = np.full(count, unlikely, dtype=np.int64)
    Sampler(gaussian_table(), system_bits(), count).fill(out, 2.0**20)
    assert not (out == unlikely).any()
    assert len(np.unique(out)) >= 0.9 * count


def test_points_follow_their_places() -> None:
    """An accepted candidate that moves into a gap takes its point along."""
    table = gaussian_table()
    wide = replace(table, margin=table.margin + 1e6)
    sampler = Sampler(wide, system_bits(), 20_000)
    places, points = sampler.accepted(20_000)
    assert len(points) > 100
    assert max(points) < len(places)
    moved = 0
    for i, point in points.items():
        u = point.uniform
        strip = int(places[i]) >> table.layout.place_bits
        assert getattr(point, "strip", strip) == strip
        assert u.numerator >> (u.drawn - 48) == int(places[i]) & ((1 << 48) - 1)
        moved += 1
    assert moved == len(points)


@pytest.mark.parametrize("name", TABLES)
def test_share_on_the_certain_path_is_as_small_as_promised(name: str) -> None:
    """At 2^20 nearly no draw takes the certain path, at 2^36 fewer than one in a thousand."""
    out = np.empty(10**6, dtype=np.int64)
    sampler = Sampler(TABLES[name](), system_bits(), len(out))
    assert sampler.fill(out, 2.0**20) <= 5  # expected: below 0.02 in all
    assert 0 < sampler.fill(out, 2.0**36) < 1000  # expected: 245 and 490
