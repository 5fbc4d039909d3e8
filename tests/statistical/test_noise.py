import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from flint import arb

from halfnoise.noise.bits import system_bits
from halfnoise.noise.exact import LazyUniform, TailPoint, accepts
from halfnoise.noise.sampler import CHUNK, Sampler
from halfnoise.noise.staircase import (
    GAUSSIAN,
    LAPLACE,
    Density,
    Table,
    gaussian_table,
    laplace_table,
    proved,
)
from support import mutants
from support.laws import Cdf, cell_probabilities, gaussian_cdf, laplace_cdf
from support.mutants import Draw, Ints
from support.rate import fits
from support.scripted import Forgetful
from support.soak import SOAKS

# How many are drawn: so many that in each of several runs every mutant had a p-value below 1e-20,
# where 1e-6 is an alarm. A soak draws as many at every scale.
SAMPLES = 10**7
SOME = SAMPLES if SOAKS else 2 * 10**6
# The certain path is a few hundred times slower.
FEWER = 100_000
FEW = FEWER if SOAKS else 40_000
SCALES = [0.01, 0.1, 0.3, 0.7, 1.0, 2.5, 7.0, 50.0, 1e3, 1e4, 2.0**20, 1e8, 2.0**36]
# The faults lie in tables, which are the same at every scale: a few scales say where each shows.
FEW_SCALES = [SCALES[2], SCALES[5], SCALES[8], SCALES[12]]
LOW_BITS = 10


@dataclass(frozen=True, kw_only=True)
class Law:
    """A distribution: its table in the library and its distribution function here."""

    table: Callable[[], Table]
    cdf: Cdf
    area: float
    reach: int


LAWS = {
    "gaussian": Law(table=gaussian_table, cdf=gaussian_cdf, area=math.sqrt(2 * math.pi), reach=8),
    "laplace": Law(table=laplace_table, cdf=laplace_cdf, area=2.0, reach=16),
}
BOTH = pytest.mark.parametrize("name", LAWS)


def edges_for(reach: int, scale: float) -> Ints:
    """Return the last integers of cells: single integers, or strips with zero by itself."""
    if scale < 20:
        edge = int(reach * scale) + 2
        return np.arange(-edge, edge + 1)
    strips = np.arange(-reach * 64, reach * 64 + 1) * (scale / 64)
    return np.unique(np.append(np.rint(strips), [-1, 0]).astype(np.int64))


def has_the_shape(law: Law, scale: float, draw: Draw, count: int = SAMPLES) -> bool:
    """Whether noise falls into cells as often as the exact distribution says."""
    table = law.table()
    edges = edges_for(law.reach, scale)
    cells = np.searchsorted(edges, draw(table, scale, count))
    counts = np.bincount(cells, minlength=len(edges) + 1)
    return fits(counts, cell_probabilities(law.cdf, scale, edges))


def has_even_low_bits(law: Law, scale: float, draw: Draw) -> bool:
    """Whether the low bits are uniform (at large scales they are, within e^-(10^6))."""
    low = draw(law.table(), scale, SOME) & ((1 << LOW_BITS) - 1)
    counts = np.bincount(low, minlength=1 << LOW_BITS)
    return fits(counts, np.full(1 << LOW_BITS, 2.0**-LOW_BITS))


@BOTH
@pytest.mark.parametrize("scale", SCALES)
def test_noise_has_its_exact_distribution(name: str, scale: float) -> None:
    """Two million draws, at some scales ten, fit the rounded distribution, cell by cell."""
    count = SAMPLES if scale in (*FEW_SCALES, 1e4) else SOME
    assert has_the_shape(LAWS[name], scale, mutants.sound, count)


@BOTH
@pytest.mark.parametrize("scale", [2.0**20, 1e8, 2.0**36])
def test_low_bits_are_even(name: str, scale: float) -> None:
    """At large scales the ten lowest bits of two million draws are uniform."""
    assert has_even_low_bits(LAWS[name], scale, mutants.sound)


VISIBLE = [
    *[("gaussian", mutants.short_scale, scale, SAMPLES // 2) for scale in FEW_SCALES],
    *[("laplace", mutants.short_scale, scale, SAMPLES) for scale in FEW_SCALES[1::2]],
    *[("both", mutants.stuck_sign, scale, SAMPLES // 100) for scale in SCALES[2:]],
    *[("both", mutants.truncated_floats, scale, SAMPLES // 50) for scale in SCALES[2:8]],
    ("both", mutants.truncated_floats, SCALES[8], SAMPLES // 10),
    ("both", mutants.truncated_floats, SCALES[9], SAMPLES // 2),
    *[("gaussian", mutants.shifted_thresholds, scale, SAMPLES // 2) for scale in SCALES[7::3]],
    *[("both", mutants.misplaced_box, scale, 6 * SAMPLES // 10) for scale in SCALES[8::4]],
    *[("both", mutants.stale_buffer, scale, SAMPLES // 10) for scale in SCALES[8:]],
]


@pytest.mark.parametrize(
    ("name", "mutant", "scale", "count"),
    [
        (name, mutant, scale, count)
        for where, mutant, scale, count in VISIBLE
        for name in LAWS
        if where in ("both", name)
    ],
)
def test_shape_rejects_mutants(name: str, mutant: Draw, scale: float, count: int) -> None:
    """The same test sees each fault at the scales where it shows."""
    assert not has_the_shape(LAWS[name], scale, mutant, count)


@BOTH
@pytest.mark.parametrize("mutant", [mutants.coarse_place, mutants.stale_buffer])
def test_low_bits_reject_mutants(name: str, mutant: Draw) -> None:
    """The test of the low bits sees places that are too coarse, and buffers used twice."""
    assert not has_even_low_bits(LAWS[name], 2.0**36, mutant)


def has_the_acceptance(law: Law, table: Table) -> bool:
    """Whether as many candidates are accepted as the area under the density says."""
    sampler = Sampler(table, system_bits(), SAMPLES)
    runs = SAMPLES // CHUNK
    accepted = sum(len(sampler.accepted(CHUNK)[0]) for _ in range(runs))
    sound = law.table()
    share = law.area * sound.staircase.top * sound.layout.per_unit / len(sound.offset)
    counts = np.array([accepted, runs * CHUNK - accepted])
    return fits(counts, np.array([share, 1 - share]))


@BOTH
def test_as_many_candidates_are_accepted_as_must_be(name: str) -> None:
    """Ten million candidates are accepted with the exact probability."""
    law = LAWS[name]
    assert has_the_acceptance(law, law.table())


@BOTH
def test_acceptance_rejects_stretched_thresholds(name: str) -> None:
    """V's thresholds off by a factor of 1.001 nearly cancel in the shape, but not here."""
    law = LAWS[name]
    assert not has_the_acceptance(law, mutants.stretched_thresholds(law.table()))


def certain_only(table: Table, scale: float, count: int) -> Ints:
    """Draw with every decision on the certain path."""
    out = np.empty(count, dtype=np.int64)
    assert Forgetful(table, system_bits(), count).fill(out, scale) == count
    return out


@BOTH
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5, 1e4, 2.0**36])
def test_certain_path_has_the_exact_distribution(name: str, scale: float) -> None:
    """Draws that are settled by bits drawn one word after the other are distributed exactly."""
    assert has_the_shape(LAWS[name], scale, certain_only, FEW)


def in_doubt(name: str, scale: float) -> Law:
    """Return a law whose table has float margins so wide that most draws are in doubt."""
    law = LAWS[name]
    table = replace(law.table(), place_error=0.4 / scale, margin=law.table().margin + 0.4)
    return replace(law, table=lambda: table)


@BOTH
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5, 1e4])
def test_mixed_paths_have_the_exact_distribution(name: str, scale: float) -> None:
    """Where floats settle some draws and the certain path most, nothing is lost in between."""
    law = in_doubt(name, scale)
    certain = []

    def counted(table: Table, scale: float, count: int) -> Ints:
        out = np.empty(count, dtype=np.int64)
        certain.append(Sampler(table, system_bits(), count).fill(out, scale))
        return out

    assert has_the_shape(law, scale, counted, FEWER)
    assert (0.7 if scale > 2 else 0.1) * FEWER < certain[0] < FEWER
    # On Gaussian noise of 2.5 it takes as many to be seen each time: with FEWER, the p-values of 20
    # runs were between 1e-22 and 1e-6.
    assert not has_the_shape(law, scale, mutants.dropping, 10 * FEWER)


@functools.cache
def early_tail(name: str) -> Law:
    """Return a law whose strips end at 1, so that a third of all draws are in the tail."""
    law = LAWS[name]
    table = proved(replace(law.table().density, reach=1, tail_rate=1))
    return replace(law, table=lambda: table)


@BOTH
def test_strips_and_tail_join_exactly(name: str) -> None:
    """With strips up to 1 only, strips and tail together have the same distribution.

    What was accepted is rounded at several scales: on accepting, the scale has no influence.
    """
    law = early_tail(name)
    scales = 0.7, 2.5, 1e4
    sampler = Sampler(law.table(), system_bits(), FEW)
    found: dict[float, list[Ints]] = {scale: [] for scale in scales}
    while sum(map(len, found[scales[0]])) < FEW:
        places, points = sampler.accepted(CHUNK)
        for scale in scales:
            found[scale].append(np.empty(len(places), dtype=np.int64))
            sampler.round(found[scale][-1], scale, places, points)
    for scale in scales:
        assert has_the_shape(law, scale, lambda *_, scale=scale: np.concatenate(found[scale]))


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("gaussian", mutants.careless_tail),
        ("gaussian", mutants.one_sided_tail),
        ("laplace", mutants.one_sided_tail),
    ],
)
def test_joined_tail_rejects_mutants(name: str, mutant: Draw) -> None:
    """A tail that is not thinned out, or on one side only, is seen."""
    assert not has_the_shape(early_tail(name), 2.5, mutant, FEWER // 8)


def words() -> Iterator[int]:
    """Yield words of the system's bits, drawn many at once."""
    some = np.empty(2**14, dtype=np.uint64)
    while True:
        system_bits().fill(some)
        yield from some.tolist()


WORDS = words()


def word() -> LazyUniform:
    """Return a uniform number of which a word is drawn."""
    return LazyUniform(bits=system_bits(), numerator=next(WORDS), drawn=64)


def tail_point(shape: Density) -> TailPoint:
    """Propose a point beyond the last strip."""
    return TailPoint(sign=1, reach=shape.reach, rate=shape.tail_rate, per_unit=64, uniform=word())


@functools.cache
def far_tail(name: str) -> list[TailPoint]:
    """Return points from beyond the last strip, accepted by the certain path's own rule.

    The rule's constant is raised until about every proposal can pass; it cancels in what passes.
    A point is one infinite number: it may be rounded at any scale, drawing more of its bits.
    """
    shape = LAWS[name].table().density
    cap = float((-shape.exponent(arb(shape.reach))).exp()) * 64 / shape.tail_rate
    proposals = (tail_point(shape) for _ in itertools.count())
    passed = (point for point in proposals if accepts(point, 0, word(), shape, int(1 / cap)))
    return list(itertools.islice(passed, FEWER))


def rounded(points: Iterable[TailPoint], scale: float) -> Ints:
    """Return points times a scale, rounded by the certain path."""
    return np.array([point.rounded(scale) for point in points])


def tail_fits(law: Law, shape: Density, scale: float, found: Ints) -> bool:
    """Whether draws from beyond the reach have the conditional distribution there."""
    first = round(shape.reach * scale)
    edges = np.arange(first, first + int(8 * scale))
    beyond = law.cdf(-np.maximum((edges + 0.5) / scale, shape.reach))
    survival = np.concatenate(([law.cdf(np.array([-float(shape.reach)]))[0]], beyond, [0.0]))
    counts = np.bincount(np.searchsorted(edges, found), minlength=len(edges) + 1)
    return fits(counts, -np.diff(survival) / survival[0])


@BOTH
@pytest.mark.parametrize("scale", [3.0, 40.0])
def test_far_tail_has_the_exact_distribution(name: str, scale: float) -> None:
    """Beyond the last strip, at 8 or 16, draws follow the density's own tail."""
    law = LAWS[name]
    # On a coarse grid more points would hardly say more.
    points = far_tail(name)[: FEW if scale < 10 else None]
    assert tail_fits(law, law.table().density, scale, rounded(points, scale))


def test_far_tail_rejects_mutants() -> None:
    """An exponential tail in place of the Gaussian one is seen, and so is one 2% short."""
    # With half as many, as the test has them, p-values were between 1e-30 and 1e-15.
    careless = [tail_point(GAUSSIAN) for _ in range(2 * FEWER)]
    assert not tail_fits(LAWS["gaussian"], GAUSSIAN, 40.0, rounded(careless, 40.0))
    short = rounded(far_tail("laplace"), 39.2)
    assert not tail_fits(LAWS["laplace"], LAPLACE, 40.0, short)
