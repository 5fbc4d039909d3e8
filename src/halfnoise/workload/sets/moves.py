"""What one person can move in all residuals: by coming or going, or by changing cell and values."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from halfnoise.workload.sets.alike import Class
from halfnoise.workload.sets.base import Cases, Number
from halfnoise.workload.sets.by_cell import ByCell, Layer
from halfnoise.workload.sets.residuals import Axes, Levels, distance, overlap, within

MOST_CASES = 4096  # kinds of change that are gone through one by one
Kind: TypeAlias = tuple[Fraction, ...]  # how far a person's value is from the centre of each layer


def kinds(values: Sequence[ByCell]) -> list[Kind]:
    """List the kinds of people: what they add to each layer, seen from its centre."""
    each: list[list[Kind]] = [[(Fraction(1),)]]
    for value in values:
        parts = [value.states(answers=False)]
        parts += [value.states(answers=True)] if value.optional else []
        each.append(list(zip(*parts, strict=True)))
    return [tuple(itertools.chain(*found)) for found in itertools.product(*each)]


def people(classes: Sequence[Class], values: Sequence[ByCell]) -> Cases:
    """List what it costs that somebody comes or goes, class by class."""
    far = [tuple(x**2 for x in kind) for kind in kinds(values)]
    cases = (tuple(x[each.layer] * each.distance for each in classes) for x in far)
    return tuple(dict.fromkeys(cases))


def changes(
    levels: Levels,
    layers: Sequence[Layer],
    values: Sequence[ByCell],
    classes: Sequence[Class],
    places: Mapping[tuple[int, Axes], int],
) -> Cases:
    """List what a change of cell and of values costs: |x|^2 + |y|^2 - 2 <x, y>, class by class.

    Of too many kinds of change, for each residual the most: together no less than any.
    """
    found, seen = dict[tuple[Number, ...], None](), kinds(values)
    used = tuple(sorted({axis for layer in layers for axes in layer.axes for axis in axes}))

    def together(costs: Iterable[Fraction]) -> tuple[Number, ...]:
        total = [Fraction(0)] * len(classes)
        for place, cost in zip(places.values(), costs, strict=True):
            total[place] += cost
        return tuple(total)

    if 2 ** len(used) * len(seen) ** 2 > MOST_CASES:
        return (together(_most(levels, layers, seen)),)
    for differ in within(used):
        for one, other in itertools.product(seen, repeat=2):
            found[together(_apart(levels, layers, (one, other), differ))] = None
    return tuple(case for case in found if any(case))


def _apart(
    levels: Levels, layers: Sequence[Layer], two: tuple[Kind, Kind], differ: Axes
) -> Iterator[Fraction]:
    for x, y, layer in zip(*two, layers, strict=True):
        for axes in layer.axes:
            both = overlap(levels, axes, differ)
            yield (x**2 + y**2) * distance(levels, axes) - 2 * x * y * both


def _most(levels: Levels, layers: Sequence[Layer], seen: Sequence[Kind]) -> Iterator[Fraction]:
    for place, layer in enumerate(layers):
        each = {kind[place] for kind in seen}
        for axes in layer.axes:
            lies = [overlap(levels, axes, differ) for differ in within(axes)]
            yield max(
                (x**2 + y**2) * distance(levels, axes) - 2 * x * y * both
                for x, y in itertools.product(each, repeat=2)
                for both in (min(lies), max(lies))
            )
