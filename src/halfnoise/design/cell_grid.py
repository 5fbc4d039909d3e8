"""What values by cell are counted in: as their noise says, with room for parts of each other."""

from collections.abc import Sequence
from fractions import Fraction

from halfnoise.design.cell_layers import CellLayers
from halfnoise.design.cell_states import CellStates
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Grain

SPARE_BITS = 9  # of the grid of values, for parts of them in other values


def with_values(states: CellStates, block: TableBlock, largest: Sequence[float]) -> TableBlock:
    """Return the block on the grid; ``largest``: the largest scale of each layer.

    Of each value that of its first layer counts: who answered is counted in people.
    """
    own = dict[int, float]()
    for layer, scale in zip(states.layers, largest, strict=True):
        own.setdefault(layer.value, scale)
    many = max(part.times for part in states.parts)
    return block.with_values([*own.values()], spare(states), many)


def quanta_of(states: CellStates, block: TableBlock, largest: Sequence[float]) -> list[Fraction]:
    """Return what layers are to be counted in under noise of such scales, people last."""
    shape = with_values(states, block, largest).shape
    return [*(layer.quantum for layer in CellLayers(shape).layers), Fraction(1)]


def spare(states: CellStates) -> int:
    """Return how many bits values leave for parts of them: only sums are parts of each other.

    In tables without places, what not all give is a part of no other sum.
    """
    sums = sum(layer.grain is Grain.VALUES for layer in states.layers)
    alone = 0 if states.shape.deep else len(states.signed) + 1
    return SPARE_BITS if sums > alone else 0
