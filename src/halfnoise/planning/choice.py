"""Which design is taken: that of the least error, with Laplace noise where it is worth it.

Where a ledger with a limit will be charged, the two kinds of noise are compared at equal cost
*there*: a release of variance v that takes the part t of the limit can be made 1/t times, and the
mean of all of them has the variance v t.
"""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from halfnoise.design.design import Design
from halfnoise.noise.law import Noise
from halfnoise.privacy.account import BEYOND
from halfnoise.text import percent, short
from halfnoise.workload.workload import Workload

WORTH = 0.8  # Laplace noise beside Gaussian noise: a fifth less standard error, or it is not taken
AS_GOOD = 1.001  # standard errors so close count as equal: then the one that gives the size wins

Shares = Mapping[Noise, Fraction]  # which part of the ledger's limit noise of each kind takes


def best(
    designs: Iterable[Design],
    workload: Workload,
    noise: Noise | None = None,
    shares: Shares | None = None,
) -> Design:
    """Return the design with the least error, or one as good that also gives the size.

    Laplace noise, unless it is asked for, must be worth what it costs when releases add up.
    """
    errors = {design: design.error(workload) ** 0.5 for design in designs}
    if workload.needs_sizes:  # groups come with their sizes, unless these are not wanted
        errors = {d: e for d, e in errors.items() if d.gives_size}
    least = {
        kind: min((e for d, e in errors.items() if d.noise is kind), default=math.inf)
        for kind in Noise
    }
    if noise is None:
        there = {kind: least[kind] * at_equal_cost(shares, kind) for kind in Noise}
        worth = there[Noise.LAPLACE] <= WORTH * there[Noise.GAUSSIAN]
        noise = Noise.LAPLACE if worth else Noise.GAUSSIAN
    limit = least[noise] * AS_GOOD
    good = [design for design, error in errors.items() if design.noise is noise and error <= limit]
    return min(good, key=lambda d: d.size_scale is None)  # or the plainer one, which comes first


def at_equal_cost(shares: Shares | None, kind: Noise) -> float:
    """Return by how much standard errors of a kind of noise change at equal cost."""
    if not shares:
        return 1.0
    return math.sqrt(shares[kind]) if shares[kind] < BEYOND else math.inf


def compared(laplace: float, gaussian: float) -> str:
    """Say how the error of Laplace noise compares with that of Gaussian noise."""
    saved = 1 - laplace / gaussian
    return f"{percent(abs(saved))} {'less' if saved > 0 else 'more'} standard error"


def there(shares: Shares, laplace: float, gaussian: float, *, chosen: bool) -> str:
    """Say what noise of each kind costs in the ledger, given the errors of both."""
    for kind, share in shares.items():
        if share >= BEYOND:
            return f" The ledger's limit has no place for {kind.value.title()} noise."
    one = laplace * at_equal_cost(shares, Noise.LAPLACE)
    other = gaussian * at_equal_cost(shares, Noise.GAUSSIAN)
    part = {kind: f"{short(100 * float(share))}%" for kind, share in shares.items()}
    takes, has = ("takes", "has") if chosen else ("would take", "would have")
    worth = ", which is not worth it" if one < other and not chosen else ""
    return (
        f" In the ledger, Laplace noise {takes} {part[Noise.LAPLACE]} of the limit and Gaussian"
        f" noise {part[Noise.GAUSSIAN]}; at equal cost it {has} {compared(one, other)}{worth}."
    )


def in_words(shares: Shares) -> dict[str, float | None]:
    """Return shares as plain values, ready for JSON; None where there is no place."""
    return {k.value: float(share) if share < BEYOND else None for k, share in shares.items()}
