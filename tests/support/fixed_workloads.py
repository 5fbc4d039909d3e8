"""Workloads of every kind and size, and fixed totals of a table that they could be asked of."""

import functools
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from halfnoise import Bins, Choice, Count, Items, Mean, Sum, Workload
from halfnoise.design.candidates import designs
from halfnoise.design.design import Measurement
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.privacy.definitions import Budget
from halfnoise.workload.block import Block
from halfnoise.workload.sets import Answered, AtMost, Box, OneOf
from halfnoise.workload.totals import Totals

Floats = NDArray[np.float64]

SIZES = (1, 2, 4, 9, 16, 100)
BOUNDS = [
    (0, 20),
    (-5, 5),
    (-30, -10),
    (1000, 1003),
    (0, 1e-3),
    (-1, 2e5),
    (0.1, 0.3),
    (-7e4, -6e4),
]


def counts(d: int) -> Workload:
    """Ask d yes/no questions."""
    return Workload([Count(f"c{i}") for i in range(d)])


def at_most(d: int) -> Workload:
    """Ask d yes/no questions, of which a third can be yes."""
    return Workload([Count(f"c{i}") for i in range(d)], at_most=-(-d // 3))


def sums(d: int) -> Workload:
    """Ask d sums, each with bounds of its own: negative, far from zero, tiny, huge."""
    return Workload([Sum(f"s{i}", bounds=BOUNDS[i % len(BOUNDS)]) for i in range(d)])


def means(d: int) -> Workload:
    """Ask d means with such bounds."""
    return Workload([Mean(f"m{i}", bounds=BOUNDS[i % len(BOUNDS)]) for i in range(d)])


def choice(d: int) -> Workload:
    """Ask for one of d categories, and other."""
    return Workload([Choice("x", tuple(range(d)))])


def choices(d: int) -> Workload:
    """Ask d questions with two possible answers."""
    return Workload([Choice(f"x{i}", ("yes",)) for i in range(d)])


def bins(d: int) -> Workload:
    """Ask for one of d bands, or other."""
    return Workload([Bins("x", tuple(range(d)))])


def items(d: int) -> Workload:
    """Ask which of d items a person has, two at most."""
    return Workload([Items("x", tuple(range(d)), at_most=min(d, 2))])


def mixture(d: int) -> Workload:
    """Ask d counts beside one of everything else, under importances of their own."""
    return Workload(
        [
            *(Count(f"c{i}") for i in range(d)),
            Sum("s", bounds=(-30, -10)),
            Mean("m", bounds=(10, 20)),
            Choice("x", ("a", "b")),
            Bins("y", (0, 18, 65)),
            Items("z", ("a", "b", "c", "d"), at_most=2),
        ],
        importance={"c0": 3.0, "s": 0.1},
        size_importance=0.5,
    )


KINDS: dict[str, Callable[[int], Workload]] = {
    each.__name__: each
    for each in (counts, at_most, sums, means, choice, choices, bins, items, mixture)
}
DESIGNS = (
    "standard-gaussian",
    "correlated-gaussian",
    "known-size-gaussian",
    "optimal-gaussian-without-size",
    "standard-laplace",
    "correlated-laplace",
)


def every_case() -> Iterator[tuple[str, int, str]]:
    """List kinds, sizes and the designs that apply to them."""
    for kind in KINDS:
        for d in SIZES:
            for design in DESIGNS:
                if "optimal" not in design or kind in ("counts", "at_most", "items"):
                    yield kind, d, design


def grid_of(
    workload: Workload, design: str, *, mu: float = 1.0, epsilon: float = 1.0
) -> CenteredMeasurement:
    """Put one of the designs of a workload on its grid."""
    budget = Budget(mu=mu) if "gaussian" in design else Budget(epsilon=epsilon)
    found = designs(workload, budget, known_size=True)
    chosen = next(each for each in found if each.name == design)
    found_on = chosen.on_grid(workload, mu if "gaussian" in design else epsilon)
    assert isinstance(found_on, CenteredMeasurement)
    return found_on


@functools.cache
def grid_of_kind(kind: str, d: int, design: str) -> CenteredMeasurement:
    """Put one of the designs of a kind of questions on its grid: each is made once."""
    return grid_of(KINDS[kind](d), design)


def fixed(grid: Measurement, people: int, rows: int = 1) -> tuple[Totals, Floats]:
    """Return totals that so many people could have, in many equal rows, and what they stand for."""
    found = [_block(block, people) for block in grid.blocks]
    units = [units for units, _ in found]
    ring = [np.array([[x % 2**64 for x in each]], dtype=np.uint64) for each in units]
    totals = Totals(
        sums=tuple(np.repeat(each, rows, axis=0) for each in ring),
        people=np.full(rows, people, dtype=np.uint64),
        everyone=np.array([people], dtype=np.uint64),
    )
    truth = [float(x) for _, values in found for x in values]
    if grid.design.size_scale is not None:
        truth.append(float(people))
    return totals, np.array(truth)


def _block(block: Block, people: int) -> tuple[list[int], list[Fraction]]:
    """Return the totals of one block in its units, and their true values."""
    shape, unit = block.shape, block.quantum
    share = [Fraction(i % 7 + 1, 9) for i in range(shape.size)]
    if isinstance(shape, Answered | Box):
        low, high = (int(Fraction(x) / unit) for x in (shape.low, shape.high))
        base = int(block.offset / unit)
    if isinstance(shape, Answered):
        answered = people * 2 // 3
        value = answered * ((2 * low + high) // 3)
        return [value - base * answered, answered], [value * unit, Fraction(answered)]
    if isinstance(shape, AtMost):
        units = [int(people * x / (7 * shape.size) / unit) for x in share]
    elif isinstance(shape, OneOf):
        units = [people // shape.size for _ in share]
        units[0] += people - sum(units)
    else:
        units = [int(people * (low + (high - low) * x)) for x in share]
        return [x - base * people for x in units], [x * unit for x in units]
    return units, [x * unit for x in units]
