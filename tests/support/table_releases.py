"""Many releases of tables at once, from exact totals: what is measured, with noise, and back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import halfnoise as hn
from halfnoise.design.covariance import Covariance
from halfnoise.workload.block import Block
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.totals import Totals
from support.quadratic import quadratic_form
from support.quanta import out_of_quanta
from support.table_people import corners, measured

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Releases:
    """The estimates of many releases, a row each, the true values, and the declared covariance."""

    estimates: Floats
    truth: Floats
    covariance: Covariance
    block: TableBlock
    start: int

    def cells(self, kind: int, *axes: int) -> slice:
        """Return where the cells of a table stand."""
        at = self.start
        for of, by in self.block.shape.tables:
            stop = at + int(np.prod([self.block.shape.levels[axis] for axis in by]))
            if (of, by) == (kind, axes):
                return slice(at, stop)
            at = stop
        raise AssertionError(axes)

    def error_of(self, weights: Floats) -> Floats:
        """Return the errors of a weighted sum of estimates, in standard errors."""
        errors = (self.estimates - self.truth) @ weights
        return np.asarray(errors / np.sqrt(quadratic_form(self.covariance, weights)))

    def at(self, index: int) -> Floats:
        """Return weights that pick one estimate."""
        return np.asarray(np.eye(1, len(self.truth), index)[0])


def releases(plan: hn.Plan, number: int, people: int = 500, seed: int = 5) -> Releases:
    """Make so many releases of people who are drawn once: rows of what is measured, as groups."""
    ready, rng = measured(plan), np.random.default_rng(seed)
    everybody = [list(corners(block)) for block in ready.blocks]
    sums, truth = list[Any](), list[float]()
    for block, own in zip(ready.blocks, everybody, strict=True):
        skewed = rng.dirichlet(np.full(len(own), 0.5))
        drawn = rng.multinomial(people, skewed)
        total = (np.array(own, dtype=object).T * drawn.astype(object)).sum(axis=1)
        truth += in_units(block, total.tolist(), people)
        sums.append(np.array([[x % 2**64 for x in total.tolist()]], dtype=np.uint64))
    size = np.array([people], dtype=np.uint64)
    totals = Totals(sums=tuple(sums), people=size, everyone=size)
    noise = plan.chosen.noise
    rings, exact = [], ready.measure(totals)
    for ring, scales in zip(exact, ready.scales, strict=True):
        drawn = noise.draw(np.broadcast_to(scales, (number, ring.shape[1])))
        rings.append(ring + drawn.view(np.uint64))
    known = float(people) if ready.design.size_scale is None else None
    back = ready.recover(rings, known)
    sizes = [] if back.sizes is None else [back.sizes]
    truth += [people] * len(sizes)
    estimates = np.column_stack([back.estimates, *sizes])
    start = sum(block.shape.size for block in ready.blocks[:-1])
    block = ready.blocks[-1]
    assert isinstance(block, TableBlock)
    return Releases(estimates, np.array(truth, float), ready.drawn.covariance, block, start)


def in_units(block: Block, total: list[int], people: int) -> list[float]:
    """Return totals in quanta as what they are totals of, in the order in which they come out."""
    if not isinstance(block, TableBlock):
        return list(map(float, out_of_quanta(total, block, people)))
    shape, found, at = block.shape, dict[tuple[int, tuple[int, ...]], list[float]](), 0
    for place, layer in enumerate(shape.layers):
        for axes in layer.axes:
            stop = at + int(np.prod([shape.levels[axis] for axis in axes]))
            found[place, axes] = [float(x) for x in total[at:stop]]
            at = stop
    for place, axes in found:
        layer = shape.layers[place]
        if layer.value is None or layer.answers:
            continue
        own = shape.values[layer.value]
        who = found[place + own.optional, axes] if own.optional else found.get((0, axes), [people])
        pairs = zip(found[place, axes], who, strict=True)
        found[place, axes] = [float(x * own.quantum + y * own.offset) for x, y in pairs]
    return [x for table in shape.tables for x in found[table]]
