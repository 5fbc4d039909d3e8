"""Staircases over a density, cut into equally likely table entries and proved at build time.

The density ``top * exp(-exponent(x))`` is covered by strips of width 1 / per_unit. Over strip j, on
either side of zero, stand ``steps[j]`` boxes of height 1; a word's first bits pick a box, its other
bits a place in the box's strip. A box wholly below the density needs no further look.
``docs/noise.md`` has the derivation.
"""

import functools
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from halfnoise.noise.density import GAUSSIAN, LAPLACE, Shape
from halfnoise.proof import precision

Scalar = TypeVar("Scalar", bound=np.generic)
# NumPy's exp has no proved error bound; it is trusted to this relative error and no further.
HAIR = 2.0**-40


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How random words are read, and how finely the line is cut.

    A candidate's word has ``index_bits + place_bits`` bits; every later word ``word_bits``. Tests
    shorten them until all words can be enumerated; the noise uses the defaults.
    """

    index_bits: int = 16
    place_bits: int = 48
    word_bits: int = 64
    per_unit: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Staircase:
    """Boxes per strip, how many of them lie below the density, and boxes for the tail."""

    top: int
    steps: NDArray[np.int64]
    sure: NDArray[np.int64]
    tail: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What the sampler looks up: entry k is a box; the first ``len(level)`` ones are unsure.

    ``offset`` turns a candidate's word into its place: word + offset[index], in units of ``unit``.
    ``level`` is the number of boxes below an unsure one, ``margin`` the error bound of its float
    comparison, and ``place_error`` that of a float place, at scale 1. Entries k and k + 1, k even,
    mirror each other; the first ``2 * staircase.tail`` entries are the tail's.
    """

    shape: Shape
    layout: Layout
    staircase: Staircase
    offset: NDArray[np.int64]
    level: NDArray[np.float64]
    margin: NDArray[np.float64]
    unit: float
    place_error: float


def _propose(shape: Shape, layout: Layout, top: int) -> Staircase:
    """Return a staircase in floats; a hair's breadth on the safe side leaves room for a proof."""
    density = top * _density(shape, layout)
    cap = density[-1] * layout.per_unit / shape.tail_rate
    return Staircase(
        top=top,
        steps=np.ceil(density[:-1] * (1 + HAIR)).astype(np.int64),
        sure=np.floor(density[1:] * (1 - HAIR)).astype(np.int64),
        tail=int(np.ceil(cap * (1 + HAIR))),
    )


def fit(shape: Shape, layout: Layout) -> Staircase:
    """Return the highest staircase whose boxes fit into one side of the table."""
    room = 1 << (layout.index_bits - 1)
    for top in range(int(room / _density(shape, layout)[:-1].sum()), 0, -1):
        staircase = _propose(shape, layout, top)
        if int(staircase.steps.sum()) + staircase.tail <= room:
            return staircase
    raise ArithmeticError(f"no staircase fits into {room} boxes; use more bits or fewer strips")


def certify(staircase: Staircase, shape: Shape, layout: Layout) -> None:
    """Prove in ball arithmetic that steps lie above the density, and sure boxes below it.

    **Guarantee.** On return, for every strip and all x in it,
    sure <= top * exp(-exponent(x)) <= steps, and the tail's boxes cover its acceptance rule.
    """
    with precision(96):
        edges = [arb(j) / layout.per_unit for j in range(len(staircase.steps) + 1)]
        density = [(-shape.exponent(edge)).exp() * staircase.top for edge in edges]
        cap = density[-1] * layout.per_unit / shape.tail_rate
        proved = (
            all(int(n) >= high for n, high in zip(staircase.steps, density[:-1], strict=True))
            and all(int(n) <= low for n, low in zip(staircase.sure, density[1:], strict=True))
            and staircase.tail >= cap
        )
    if not proved:
        raise ArithmeticError("the staircase is not proved to cover the density; refusing to draw")


def build(shape: Shape, layout: Layout, staircase: Staircase) -> Table:
    """Lay the boxes out, tail and unsure ones first, each beside its mirror image."""
    steps, tail = staircase.steps, staircase.tail
    strip = np.repeat(np.arange(len(steps)), steps)
    level = np.arange(len(strip)) - np.repeat(np.cumsum(steps) - steps, steps)
    sure = level < np.repeat(staircase.sure, steps)
    size = 1 << layout.index_bits
    # Boxes left over stand on strip 0 above the density's top, where every draw is rejected.
    spare = size // 2 - len(strip) - tail
    strips = np.concatenate(
        (np.full(tail, len(steps)), np.zeros(spare, np.int64), strip[~sure], strip[sure])
    )
    levels = np.concatenate((np.arange(tail), np.full(spare, staircase.top), level[~sure]))
    sides = np.stack((strips, -1 - strips), axis=1).ravel() - np.arange(size)
    offset = sides.astype(np.uint64) << np.uint64(layout.place_bits)
    unit = 2.0**-layout.place_bits / layout.per_unit
    return Table(
        shape=shape,
        layout=layout,
        staircase=staircase,
        offset=_fixed(offset.view(np.int64)),
        level=_fixed(np.repeat(levels, 2).astype(np.float64)),
        margin=_fixed(_margin(shape, layout, staircase, 2 * len(levels))),
        unit=unit,
        place_error=shape.reach * 1.01 * 2.0**-52 + unit,
    )


def _density(shape: Shape, layout: Layout) -> NDArray[np.float64]:
    edges = np.arange(shape.reach * layout.per_unit + 1) / layout.per_unit
    return np.asarray(np.exp(-shape.exponent(edges)))


def _margin(shape: Shape, layout: Layout, staircase: Staircase, unsure: int) -> NDArray[np.float64]:
    """Return the error bounds of the float comparison "level + V < height", entry by entry."""
    unit = 2.0**-layout.place_bits / layout.per_unit
    margin = np.full(unsure, staircase.top * (2 * HAIR + unit) + 2.0**-layout.word_bits)
    # Over the tail the float height is only known not to exceed the tail's highest one (twice).
    end = staircase.top * float(_density(shape, layout)[-1])
    margin[: 2 * staircase.tail] += 2 * end * (1 + layout.per_unit / shape.tail_rate)
    return margin


def _fixed(array: NDArray[Scalar]) -> NDArray[Scalar]:
    array.flags.writeable = False
    return array


def certified(shape: Shape, layout: Layout | None = None) -> Table:
    """Return the proved table of a shape."""
    layout = layout or Layout()
    staircase = fit(shape, layout)
    certify(staircase, shape, layout)
    return build(shape, layout, staircase)


@functools.cache
def gaussian_table() -> Table:
    """Return the standard Gaussian's table, built and proved at its first use."""
    return certified(GAUSSIAN)


@functools.cache
def laplace_table() -> Table:
    """Return the standard Laplace distribution's table, built and proved at its first use."""
    return certified(LAPLACE)
