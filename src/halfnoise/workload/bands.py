"""Bands of a number: every edge starts one, the last is open."""

from collections.abc import Iterable
from itertools import pairwise

from halfnoise.checks import finite, refuse


def check_edges(name: str, edges: object) -> tuple[float, ...]:
    """Return the edges of bands, which must rise.

    >>> check_edges("edges", [0, 18])
    (0.0, 18.0)
    """
    remedy = f"for example {name}=[0, 18, 65]"
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise refuse(name, "a list of numbers", edges, remedy)
    found = tuple(finite(remedy, edge=edge) for edge in edges)
    if not found or any(low >= high for low, high in pairwise(found)):
        raise refuse(name, "numbers in rising order", list(found), remedy)
    return found


def band_names(edges: tuple[float, ...]) -> tuple[str, ...]:
    """Return what the bands are called.

    >>> band_names((0.0, 18.0, 65.0))
    ('0 to 18', '18 to 65', '65 and over')
    """
    bands = [f"{low:.15g} to {high:.15g}" for low, high in pairwise(edges)]
    return (*bands, f"{edges[-1]:.15g} and over")
