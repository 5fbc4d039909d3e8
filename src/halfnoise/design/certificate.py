"""How far a design is from the least error of any Gaussian noise: a bound that no noise is below.

By duality any prices on kinds of people bound the error of every noise from below (``duality``).
Where all kinds can be listed the best prices are found. Where there are too many, some kinds, and
averages over many of them, are priced: whoever must keep a promise to all keeps it to these, so
the bound still holds, but may be lower than it could be.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from halfnoise.design.crowd import Crowd
from halfnoise.design.design import Setting
from halfnoise.design.duality import Programme, solve
from halfnoise.design.people import People, Size, size_of
from halfnoise.noise.law import Noise
from halfnoise.workload.block import Block
from halfnoise.workload.sets import Box

ROUNDING = 1e-6  # more than floating point can be off
MOST_COORDINATES = 200
DIGITS = 9  # to which like sums agree


def least_error(setting: Setting) -> float | None:
    """Return what the error of no Gaussian noise is below; None where nothing can be said.

    **Guarantee.** It hangs on the workload and the budget alone, never on data.
    """
    workload = setting.workload
    if setting.noise is not Noise.GAUSSIAN or workload.objective != "total":
        return None
    size, wanted = size_of(setting), workload.size_weight
    blocks = merged(workload.blocks)
    people = People.of(blocks, size, wanted)
    if people is None:
        return None
    times = 1
    if workload.touched > 1 and not workload.discovers:
        crowd = Crowd.of(people, workload)
        if crowd is None:
            return None
        programme, times = crowd.programme, crowd.groups
    else:
        programme = people.programme
    touched = workload.touched if workload.discovers else 1
    bound = solve(programme).bound * touched / times
    return bound * (1 - ROUNDING) / setting.budget**2


def merged(blocks: Sequence[Block]) -> list[Block]:
    """Gather sums that are alike but for their units: they have fewer kinds of people together."""
    found, like = list[Block](), dict[tuple[str, str], list[Block]]()
    for block in blocks:
        shape = block.shape
        if not isinstance(shape, Box):
            found.append(block)
            continue
        half, middle = shape.width / 2, float(shape.midpoint)
        key = (f"{middle / half:.{DIGITS}g}", f"{block.importance * half**2:.{DIGITS}g}")
        like.setdefault(key, []).append(block)
    return found
