"""Noise on the integers: Gaussian or Laplace variables, rounded, in their exact distribution."""

from collections.abc import Sequence
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfnoise.checks import refuse
from halfnoise.noise.bits import Bits, system_bits
from halfnoise.noise.sampler import Ints, Sampler, Scales, largest, refused_scale
from halfnoise.noise.staircase import Table, gaussian_table, laplace_table

Size: TypeAlias = int | Sequence[int]
Number: TypeAlias = float | np.number[Any]


@overload
def rounded_gaussian(scale: Number, size: None = None) -> int: ...
@overload
def rounded_gaussian(scale: ArrayLike, size: Size | None = None) -> Ints: ...
def rounded_gaussian(scale: ArrayLike, size: Size | None = None) -> Ints | int:
    """Integers with exactly the distribution of round(N(0, scale**2)).

    ``scale`` is the standard deviation before rounding, in grid steps: one number, or an array of
    them for noise of different scales in one call. ``size`` is the shape of the result, by default
    that of ``scale``.

    **Guarantee.** Given ideal random bits, each entry is independent and equals k with probability
    Phi((k + 1/2) / scale) - Phi((k - 1/2) / scale), with no error at all. Added to an integer q of
    sensitivity D it is post-processing of q + N(0, scale**2): (D / scale)-GDP. Proof:
    docs/noise.md, "Rounding is post-processing".

    >>> rounded_gaussian(1e-3, size=(2, 2))
    array([[0, 0],
           [0, 0]])
    >>> noise = rounded_gaussian(2.0**20, size=1000)
    >>> noise.shape, noise.dtype, abs(noise).max() < 9 * 2**20
    ((1000,), dtype('int64'), np.True_)
    """
    return draw(gaussian_table(), scale, size)


@overload
def rounded_laplace(scale: Number, size: None = None) -> int: ...
@overload
def rounded_laplace(scale: ArrayLike, size: Size | None = None) -> Ints: ...
def rounded_laplace(scale: ArrayLike, size: Size | None = None) -> Ints | int:
    """Integers with exactly the distribution of round(Laplace(scale)).

    ``scale`` is the Laplace distribution's b (its standard deviation is sqrt(2) * b), in grid
    steps: one number, or an array of them. ``size`` is the shape, by default that of ``scale``.

    **Guarantee.** Given ideal random bits, each entry is independent and equals k != 0 with
    probability sinh(1 / (2 * scale)) * exp(-abs(k) / scale), with no error at all. Added to an
    integer q of sensitivity D it is post-processing of q + Laplace(scale): (D / scale)-DP. Proof:
    docs/noise.md, "Rounding is post-processing".

    >>> noise = rounded_laplace([1.0, 2.0**30])
    >>> noise.shape, noise.dtype
    ((2,), dtype('int64'))
    >>> rounded_laplace(0)
    Traceback (most recent call last):
    halfnoise.errors.InvalidParameterError: scale must be a number from 0.001 to 2**36 in grid \
steps, or an array of such numbers, got 0.0; choose a grid that puts the noise in this range
    """
    return draw(laplace_table(), scale, size)


def draw(table: Table, scale: ArrayLike, size: Size | None, bits: Bits | None = None) -> Ints | int:
    """Draw from a table; tests pass their own ``bits``, noise takes the system's."""
    scales = as_floats(scale)
    shape = _shape(size, scales)
    if scales.ndim == 0 or 0 in shape:
        largest(scales)  # for nothing else would look at the scale of no noise
    out = np.empty(shape, dtype=np.int64)
    Sampler(table, bits or system_bits(), out.size).fill(out.reshape(-1), spread(scales, shape))
    return int(out[()]) if size is None and scales.ndim == 0 else out


def _shape(size: Size | None, scales: NDArray[np.float64]) -> tuple[int, ...]:
    if size is None:
        return scales.shape
    lengths = tuple(size) if isinstance(size, Sequence) else (size,)
    if not all(isinstance(n, (int, np.integer)) and n >= 0 and n is not True for n in lengths):
        raise refuse("size", "a whole number of at least 0 or a tuple of them", size)
    return tuple(int(n) for n in lengths)


def as_floats(scale: ArrayLike) -> NDArray[np.float64]:
    """Return scales as float64, a type that holds every number in range that is let through."""
    try:
        given = np.asarray(scale)
    except ValueError:  # a ragged list
        raise refused_scale(scale) from None
    if given.size and (given.dtype.kind not in "iuf" or given.dtype.itemsize > 8):
        raise refused_scale(scale)
    return given.astype(np.float64, copy=False)


def spread(scales: NDArray[np.float64], shape: tuple[int, ...]) -> Scales:
    """Return one scale, or one per entry to take slices of, without copying them all."""
    if scales.ndim == 0:
        return float(scales)
    try:
        every = np.broadcast_to(scales, shape)
    except ValueError:
        raise refuse("size", f"a shape that scale's {scales.shape} fits", shape) from None
    return every.reshape(-1) if every.flags.c_contiguous else every.flat
