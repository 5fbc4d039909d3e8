"""Exact integer noise: the only randomness in halfnoise.

>>> from halfnoise.noise import rounded_gaussian, rounded_laplace
>>> rounded_gaussian(2.0**20, size=3).dtype
dtype('int64')
>>> rounded_laplace([0.5, 1e6]).shape
(2,)
"""

from halfnoise.noise.rounded import rounded_gaussian, rounded_laplace

__all__ = ["rounded_gaussian", "rounded_laplace"]
