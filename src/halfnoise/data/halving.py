"""A number looked up among edges that rise, in as many comparisons as it takes to halve them."""

from collections.abc import Sequence

import narwhals.stable.v2 as nw


def step(value: nw.Expr, edges: Sequence[float], leaves: Sequence[int]) -> nw.Expr:
    """Return the leaf behind the last edge that a value reaches, found by halving.

    There is one leaf more than there are edges; the first is for what reaches none, or is null.
    """
    if not edges:
        return nw.lit(leaves[0])
    half = len(edges) // 2
    lower = step(value, edges[:half], leaves[: half + 1])
    upper = step(value, edges[half + 1 :], leaves[half + 1 :])
    return nw.when(value >= edges[half]).then(upper).otherwise(lower)
