import functools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from halfnoise.noise.bits import system_bits
from halfnoise.noise.exact import StripPoint
from halfnoise.noise.sampler import CHUNK, Sampler, Scales
from halfnoise.noise.staircase import (
    GAUSSIAN,
    LAPLACE,
    Density,
    Layout,
    Table,
    gaussian_table,
    laplace_table,
    proved,
)
from support.laws import Area, gaussian_area, laplace_area
from support.scripted import Forgetful, Tape, doubtful, enumerated
from support.soak import SOAKS

SHORT = {
    "gaussian": (Density(exponent=GAUSSIAN.exponent, reach=2, tail_rate=2), gaussian_area),
    "laplace": (Density(exponent=LAPLACE.exponent, reach=2, tail_rate=1), laplace_area),
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


BIT_BY_BIT = Layout(index_bits=5, place_bits=1, word_bits=1, per_unit=2)
TWO_BITS = Layout(index_bits=6, place_bits=2, word_bits=2, per_unit=4)
# With ever more words, an integer's bounds only close in: what contradicts them here, does later.
FEW_WORDS = 8


def short(name: str, layout: Layout) -> tuple[Table, Area]:
    """Return a table small enough to enumerate, and its law."""
    shape, area = SHORT[name]
    return proved(shape, layout), area


@functools.cache
def outcomes(
    name: str, layout: Layout, depth: int, scale: float
) -> tuple[dict[int | None, Fraction], list[Fraction]]:
    """Return what all bit strings come to, once for every test that asks."""
    return enumerated(short(name, layout)[0], scale, depth)


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize(
    ("layout", "depth", "scale"),
    [(BIT_BY_BIT, 10, 0.4), (BIT_BY_BIT, 12, 1.5), (TWO_BITS, 5, 0.4), (TWO_BITS, 5, 1.5)],
    ids=["bit by bit, 0.4", "bit by bit, 1.5", "two bits, 0.4", "two bits, 1.5"],
)
def test_enumerated_bits_give_the_exact_probabilities(
    name: str, layout: Layout, depth: int, scale: float
) -> None:
    """Over all bit strings, each integer's probability closes in on the exact one."""
    table, area = short(name, layout)
    decided, undecided = outcomes(name, layout, depth, scale)
    with ctx.workprec(1024):
        assert _contradictions(table, area, scale, decided, undecided[-1]) == []


@pytest.mark.parametrize("name", SHORT)
def test_enumerated_mass_in_doubt_halves_with_each_bit(name: str) -> None:
    """One more bit of place and of V halves what is undecided, once the strips are resolved."""
    decided, undecided = outcomes(name, BIT_BY_BIT, 12, 1.5)
    assert sum(decided.values()) + undecided[-1] == 1
    shrinking = [float(undecided[i + 2] / undecided[i]) for i in range(4, 10)]
    assert all(ratio < 0.65 for ratio in shrinking)
    assert shrinking[-1] < 0.58


@pytest.mark.parametrize("name", SHORT)
def test_enumeration_sees_one_misplaced_box(name: str) -> None:
    """One box on a neighbouring strip is enough to contradict the exact probabilities."""
    table, area = short(name, BIT_BY_BIT)
    offset = table.offset.copy()
    offset[-1] -= 2 << table.layout.place_bits
    assert disagreements(replace(table, offset=offset), area, 1.5, FEW_WORDS) != []


@pytest.mark.parametrize("name", SHORT)
def test_enumeration_sees_one_wrong_level(name: str) -> None:
    """An unsure box one level too low is enough to contradict the exact probabilities."""
    table, area = short(name, BIT_BY_BIT)
    level = table.level.copy()
    level[-1] -= 1
    assert disagreements(replace(table, level=level), area, 1.5, FEW_WORDS) != []


def words_like_any() -> NDArray[np.uint64]:
    """Return words as they come."""
    words = np.empty(1 << 17, dtype=np.uint64)
    system_bits().fill(words)
    return words


def both_paths(
    table: Table, truth: Table, scale: Scales, words: NDArray[np.uint64], count: int = 40_000
) -> int:
    """Return how many of 40,000 results differ between floats and exact arithmetic."""
    results = np.zeros((2, count), dtype=np.int64)
    for out, used in zip(results, (table, doubtful(truth)), strict=True):
        certain = Sampler(used, Tape(words), len(out)).fill(out, scale)
    assert certain == results.shape[1]
    return int((results[0] != results[1]).sum())


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("scale", [0.3, 1.0, 1e4, 2.0**20, 2.0**36])
def test_floats_decide_as_the_certain_path_does(name: str, scale: float) -> None:
    """On the same words, floats and exact arithmetic give the same integers."""
    table = TABLES[name]()
    assert both_paths(table, table, scale, words_like_any()) == 0


@pytest.mark.parametrize("name", TABLES)
def test_each_entry_meets_its_own_scale_on_both_paths(name: str) -> None:
    """With 40,000 different scales, too, floats and exact arithmetic give the same integers."""
    scales = 2.0 ** np.random.default_rng().uniform(-9, 36, 40_000)
    table = TABLES[name]()
    assert both_paths(table, table, scales, words_like_any()) == 0


@pytest.mark.parametrize("name", TABLES)
def test_comparison_of_paths_sees_thresholds_off_by_a_thousandth(name: str) -> None:
    """With V's thresholds off by a factor of 1.001 the two paths part."""
    table = TABLES[name]()
    higher = replace(table.staircase, top=table.staircase.top * 1.001)  # type: ignore[arg-type]
    assert both_paths(replace(table, staircase=higher), table, 1e4, words_like_any()) > 0


def words_near_ties(table: Table, scale: float) -> NDArray[np.uint64]:
    """Return words whose places, times the scale, end within a few units of one half."""
    rng = np.random.default_rng()
    numerator, denominator = scale.as_integer_ratio()
    places = table.layout.place_bits
    words = []
    for entry in rng.integers(len(table.level), len(table.offset), 1 << 15).tolist():
        strip = (((entry << places) + int(table.offset[entry])) % 2**64) >> places
        strip -= 1 << (64 - places) if strip >> (63 - places) else 0
        tie = int(scale * (strip + rng.random()) / 64)
        place = (2 * tie + 1) * denominator * (64 << places) // (2 * numerator)
        place += int(rng.integers(-20, 20))
        # Close to a strip's ends the tie may lie in the next one: then the word is any word.
        inside = place >> places == strip
        words.append((place - int(table.offset[entry])) % 2**64 if inside else entry << places)
    return np.array(words * 4, dtype=np.uint64)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("scale", [1e4, 2.0**20, 3e9, 2.0**36])
def test_rounding_is_certain_next_to_a_tie(name: str, scale: float) -> None:
    """Where the place's last bits decide the rounding, the result is the exact one."""
    table = TABLES[name]()
    words = words_near_ties(table, scale)
    count = 40_000 if SOAKS else 10_000  # blind floats err in 3 of 100
    assert both_paths(table, table, scale, words, count) == 0
    blind = replace(table, place_error=-1e-6 / scale)
    assert both_paths(blind, table, scale, words, count) > 0


def misjudged(table: Table, truth: Table) -> int:
    """Return how many of 4000 candidates whose V is next to its threshold are judged wrongly.

    V differs from it by 2^-45, just more than the place's undrawn bits can move it.
    """
    rng = np.random.default_rng()
    tail, top = 2 * truth.staircase.tail, truth.staircase.top
    entries = rng.integers(tail, len(truth.level), 12_000)
    words = (entries.astype(np.uint64) << np.uint64(48)) + rng.integers(2**48, size=12_000).astype(
        np.uint64
    )
    places = words.view(np.int64) + truth.offset[entries]
    chosen, fractions, verdicts = [], [], []
    with ctx.workprec(200):
        for i, (place, entry) in enumerate(zip(places.tolist(), entries.tolist(), strict=True)):
            x = (arb(place) + 0.5) * arb((1, -54))
            height = (-truth.density.exponent(x)).exp() * top - int(truth.level[entry])
            verdict = bool(rng.integers(2))
            fraction = int((height * 2**64).floor().unique_fmpz()) + (-1 if verdict else 1) * 2**19
            if 0 <= fraction < 2**64:
                chosen.append(i)
                fractions.append(fraction)
                verdicts.append(verdict)
    assert len(chosen) > 4000
    tape = Tape(np.array(fractions[:4000], dtype=np.uint64))
    passed, _ = Sampler(table, tape, 1).judge(places[chosen[:4000]], entries[chosen[:4000]])
    return int((passed != np.array(verdicts[:4000])).sum())


@pytest.mark.parametrize("name", TABLES)
def test_acceptance_is_certain_next_to_its_threshold(name: str) -> None:
    """Where V's last bits decide, the verdict is the exact one; without a margin it is not."""
    table = TABLES[name]()
    assert misjudged(table, table) == 0
    assert misjudged(replace(table, margin=table.margin * 0), table) > 0


def test_certain_path_draws_more_bits_of_the_same_number() -> None:
    """A result drawn from a few first bits lies where these bits allow it."""
    table = gaussian_table()
    sampler = Forgetful(table, system_bits(), 2000)
    places, points = sampler.accepted(2000)
    out = np.zeros(len(places), dtype=np.int64)
    assert sampler.round(out, 1024.0, places, points) == len(out)
    # A strip is 16 steps wide at this scale, so four bits leave one step and its rounding.
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
    sampler = Sampler(doubtful(gaussian_table()), system_bits(), 20_000)
    places, points = sampler.accepted(20_000)
    inside = {i: point for i, point in points.items() if isinstance(point, StripPoint)}
    assert len(inside) > 100
    for i, point in inside.items():
        assert point.strip == int(places[i]) >> 48
        assert point.uniform.numerator >> (point.uniform.drawn - 48) == int(places[i]) % 2**48


@pytest.mark.parametrize("name", TABLES)
def test_share_on_the_certain_path_is_as_small_as_promised(name: str) -> None:
    """At 2^20 nearly no draw takes the certain path, at 2^36 fewer than one in a thousand."""
    out = np.empty(10**6, dtype=np.int64)
    sampler = Sampler(TABLES[name](), system_bits(), len(out))
    assert sampler.fill(out, 2.0**20) <= 5  # expected: below 0.02 in all
    assert 0 < sampler.fill(out, 2.0**36) < 1000  # expected: 245 and 490
