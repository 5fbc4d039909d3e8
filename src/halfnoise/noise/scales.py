"""Scales of noise: what is let through, and how they are spread over a result."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError

# The error bounds of the float path are proved for scales in this range.
SMALLEST = 1e-3
LARGEST = 2.0**36

# One scale for all entries, or a run of scales to slice.
Scales: TypeAlias = "float | NDArray[np.float64] | np.flatiter[NDArray[np.float64]]"


def _refused(value: object) -> InvalidParameterError:
    return refuse(
        "scale",
        "a number from 0.001 to 2**36 in grid steps, or an array of such numbers",
        value,
        "choose a grid that puts the noise in this range",
    )


def as_floats(scale: ArrayLike) -> NDArray[np.float64]:
    """Return scales as float64, a type that holds every number in range that is let through.

    >>> as_floats([1, 2])
    array([1., 2.])
    """
    try:
        given = np.asarray(scale)
    except ValueError:  # a ragged list
        raise _refused(scale) from None
    if given.size and (given.dtype.kind not in "iuf" or given.dtype.itemsize > 8):
        raise _refused(scale)
    return given.astype(np.float64, copy=False)


def largest(scale: float | NDArray[np.float64]) -> float:
    """Return the largest scale, after refusing any out of range.

    >>> largest(np.array([1.0, 5.0]))
    5.0
    """
    low, high = (
        (scale, scale)
        if isinstance(scale, float)
        else (np.min(scale, initial=1.0), np.max(scale, initial=1.0))
    )
    if low >= SMALLEST and high <= LARGEST:
        return float(high)
    values = np.ravel(scale)
    raise _refused(values[~((values >= SMALLEST) & (values <= LARGEST))][0].item())


def _ends(scales: NDArray[np.float64]) -> tuple[float, float]:
    # The range is not empty, so none of its points changes what is found to be in range.
    return float(np.min(scales, initial=LARGEST)), float(np.max(scales, initial=SMALLEST))


def spread(scales: NDArray[np.float64], shape: tuple[int, ...]) -> Scales:
    """Return one scale, or one per entry to take slices of, without copying them all.

    >>> spread(np.array([[1.0], [2.0]]), (2, 2))[:3]
    array([1., 1., 2.])
    """
    if scales.ndim == 0:
        return float(scales)
    try:
        every = np.broadcast_to(scales, shape)
    except ValueError:
        raise refuse("size", f"a shape that scale's {scales.shape} fits", shape) from None
    return every.reshape(-1) if every.flags.c_contiguous else every.flat
