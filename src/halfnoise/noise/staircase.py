"""Staircases over a density, cut into equally likely table entries and proved at build time.

The density ``top * exp(-exponent(x))`` is covered by strips of width 1 / per_unit. Over strip j, on
either side of zero, stand ``steps[j]`` boxes of height 1; a word's first bits pick a box, its other
bits a place in the box's strip. A box wholly below the density needs no further look.
``docs/noise.md`` has the derivation.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from halfnoise.proof import precision
from halfnoise.values import dataclass

# NumPy's exp has no proved error bound; it is trusted to this relative error and no further.
HAIR = 2.0**-40


@dataclass(frozen=True, slots=True, kw_only=True)
class Density:
    """A density exp(-exponent(x)), up to a factor; strips cover it as far as ``reach``.

    All that is proved rests on four facts: it is even, falls with abs(x), never steeper than with
    slope 1, and its exponent, which serves NumPy arrays and balls alike, is convex. ``tail_rate``
    is the slope of that at ``reach``; beyond, it lies below an exponential density of that rate.
    """

    exponent: Callable[[Any], Any]
    reach: int
    tail_rate: int


def _half_square(x: Any) -> Any:
    return x * x * 0.5


GAUSSIAN = Density(exponent=_half_square, reach=8, tail_rate=8)
LAPLACE = Density(exponent=abs, reach=16, tail_rate=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How words, the first of ``index_bits + place_bits``, are read, and how the line is cut."""

    index_bits: int = 16
    place_bits: int = 48
    word_bits: int = 64
    per_unit: int = 64

    @property
    def unit(self) -> float:
        """The finest step of a place."""
        return 2.0**-self.place_bits / self.per_unit


_LAYOUT = Layout()  # tests shorten words until all of them can be enumerated


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

    density: Density
    layout: Layout
    staircase: Staircase
    offset: NDArray[np.int64]
    level: NDArray[np.float64]
    margin: NDArray[np.float64]
    unit: float
    place_error: float

    def __post_init__(self) -> None:
        for array in (self.offset, self.level, self.margin):
            array.flags.writeable = False


def fit(density: Density, layout: Layout) -> Staircase:
    """Return the highest staircase that fits, in floats: a hair leaves room for a proof."""
    room = 1 << (layout.index_bits - 1)
    unscaled = _heights(density, layout)
    for top in range(int(room / unscaled[:-1].sum()), 0, -1):
        heights = top * unscaled
        steps = np.ceil(heights[:-1] * (1 + HAIR)).astype(np.int64)
        sure = np.floor(heights[1:] * (1 - HAIR)).astype(np.int64)
        tail = int(np.ceil(heights[-1] * layout.per_unit / density.tail_rate * (1 + HAIR)))
        if int(steps.sum()) + tail <= room:
            return Staircase(top=top, steps=steps, sure=sure, tail=tail)
    raise ArithmeticError(f"no staircase fits into {room} boxes; use more bits or fewer strips")


def _heights(density: Density, layout: Layout) -> NDArray[np.float64]:
    edges = np.arange(density.reach * layout.per_unit + 1) / layout.per_unit
    return np.asarray(np.exp(-density.exponent(edges)))


def certify(staircase: Staircase, density: Density, layout: Layout) -> None:
    """Prove in ball arithmetic that steps lie above the density, and sure boxes below it.

    **Guarantee.** On return, for every strip and all x in it,
    sure <= top * exp(-exponent(x)) <= steps, and the tail's boxes cover its acceptance rule.
    """
    with precision(96):
        edges = [arb(j) / layout.per_unit for j in range(len(staircase.steps) + 1)]
        heights = [(-density.exponent(edge)).exp() * staircase.top for edge in edges]
        covered = (
            all(int(n) >= high for n, high in zip(staircase.steps, heights[:-1], strict=True))
            and all(int(n) <= low for n, low in zip(staircase.sure, heights[1:], strict=True))
            and staircase.tail >= heights[-1] * layout.per_unit / density.tail_rate
        )
    if not covered:
        raise ArithmeticError("the staircase is not proved to cover the density; refusing to draw")


def build(density: Density, layout: Layout, staircase: Staircase) -> Table:
    """Lay the boxes out, tail and unsure ones first, each beside its mirror image."""
    steps, tail, top = staircase.steps, staircase.tail, staircase.top
    strip = np.repeat(np.arange(len(steps)), steps)
    level = np.arange(len(strip)) - np.repeat(np.cumsum(steps) - steps, steps)
    sure = level < np.repeat(staircase.sure, steps)
    size = 1 << layout.index_bits
    # Boxes left over stand on strip 0 above the density's top, where every draw is rejected.
    spare = size // 2 - len(strip) - tail
    ends = np.repeat([len(steps), 0], [tail, spare])
    strips = np.concatenate((ends, strip[~sure], strip[sure]))
    levels = np.concatenate((np.arange(tail), np.full(spare, top), level[~sure]))
    sides = np.stack((strips, -1 - strips), axis=1).ravel() - np.arange(size)
    offset = sides.astype(np.uint64) << np.uint64(layout.place_bits)
    # The error bounds of the float comparison "level + V < height", entry by entry. Over the tail
    # the float height is only known not to exceed the tail's highest one (twice).
    margin = np.full(2 * len(levels), top * (2 * HAIR + layout.unit) + 2.0**-layout.word_bits)
    end = top * float(_heights(density, layout)[-1])
    margin[: 2 * tail] += 2 * end * (1 + layout.per_unit / density.tail_rate)
    return Table(
        density=density,
        layout=layout,
        staircase=staircase,
        offset=offset.view(np.int64),
        level=np.repeat(levels, 2).astype(np.float64),
        margin=margin,
        unit=layout.unit,
        place_error=density.reach * 1.01 * 2.0**-52 + layout.unit,
    )


@functools.cache
def proved(density: Density, layout: Layout = _LAYOUT) -> Table:
    """Return the proved table of a density, built at its first use."""
    staircase = fit(density, layout)
    certify(staircase, density, layout)
    return build(density, layout, staircase)


gaussian_table, laplace_table = (functools.partial(proved, of) for of in (GAUSSIAN, LAPLACE))
