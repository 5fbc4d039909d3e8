"""Tables with values by cell, folded: what one person adds to people and to all values at once.

By symmetry among categories the best noise treats the directions of a residual alike, and different
residuals apart (permuting categories maps noise to noise, so averaging over that never hurts); but
in a residual, and in the totals, it may mix people and values in any way. So rows are measured in
residuals (``cell_rows``), and the totals are coordinates beside those of all else that is asked.

Somebody for whom row r comes to a, and who goes to another cell where it comes to b, moves it by

    a^2 D + b^2 D - 2 a b kappa = (a - b)^2 (D + kappa)/2 + (a + b)^2 (D - kappa)/2

squared, with D and kappa as in ``sets.moves``: |kappa| is at most D.

Each table rounds a value by itself, so that in each it may be up to a quantum from where it is in
others: what that can cost is added to what the dearest cost (the triangle inequality).
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from halfnoise.design.cell_rows import CellRows
from halfnoise.design.cell_states import CellStates, Places
from halfnoise.design.triangle import moved_by
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Floats, Grain, Ring, in_steps
from halfnoise.workload.sets.base import Channel, Scales, Span
from halfnoise.workload.sets.by_cell import apart_by_table
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.folding import Folded
from halfnoise.workload.sets.residuals import Axes, cells, flat, made_of, projected

MOST_LISTED, MOST_RESIDUALS = 2**16, 2**9
SPARE_BITS = 9  # of the grid of values, for parts of them in other values


@dataclass(frozen=True, kw_only=True)
class Cells(Folded):
    """All kinds of people of tables with values by cell; ``fits``: what is measured, once found."""

    shape: Crossed
    leaves: bool
    fits: tuple[Any, ...] = ()
    across: Any = field(compare=False, repr=False)
    states: CellStates = field(compare=False, repr=False)
    kinds: Places = field(compare=False, repr=False)  # states by value, or those of two people
    change: Places = field(compare=False, repr=False)

    @classmethod
    def of(
        cls, shape: Crossed, most: int, *, leaves: bool, fits: tuple[CellRows, ...] = ()
    ) -> "Cells | None":
        """Return all kinds of people, or of changes; None where they, or tables, are too many."""
        states = CellStates(shape)
        many = len(shape.layers[0].axes) > MOST_RESIDUALS
        if shape.deep or many or states.number(leaves=leaves) > most:
            return None
        every = np.indices(states.numbers).reshape(len(states.numbers), -1).T
        change = np.zeros(len(every), dtype=int)
        if not leaves:
            one, other = np.triu_indices(len(every))
            number = len(states.changes)
            change = np.repeat(np.arange(number), len(one))
            every = np.array([np.tile(every[own], (number, 1)) for own in (one, other)])
        found = cls(
            shape=shape,
            leaves=leaves,
            coordinates=states.coordinates(leaves=leaves, states=every),
            fits=fits,
            across=np.zeros((len(change), 0)),
            weights=(),
            root_weight=states.root_weight,
            states=states,
            kinds=every,
            change=change,
        )
        return replace(found, across=found._charged()) if fits else found

    def on(self, shape: Crossed, fits: tuple[Any, ...] = ()) -> "Cells":
        """Return the same where bounds are on the grid, or where other rows are measured."""
        found = Cells.of(shape, MOST_LISTED, leaves=self.leaves, fits=fits or self.fits)
        if found is None:
            raise AssertionError
        return found

    def fitted(self, found: Sequence[Floats], block: TableBlock) -> "tuple[Cells, Scales]":
        """Return what is to be measured for such information in all kinds of residuals."""
        fits, scales = list[CellRows](), list[float]()
        for kind, information in zip(self.states.residuals, found, strict=True):
            largest = self.states.units / np.sqrt(information.diagonal().min())
            rows, own = CellRows.of(self.states, kind, information, self.quanta(block, largest))
            fits.append(rows)
            scales += own
        return self.on(self.shape, tuple(fits)), tuple(scales)

    def _charged(self) -> Floats:
        """Return, for every kind, what each scale of a row is charged with."""
        found = list[Floats]()
        for fit in self.fits:
            far = fit.kind.distance
            if self.leaves:
                for moved, one in fit.moved(self.states, self.kinds):
                    found.append((moved / one).astype(float) ** 2 * float(far))
                continue
            kappas = self.states.kappas(fit.kind, self.states.changes)
            less, more = (
                np.array([float(far + sign * kappa) / 2 for kappa in kappas])[self.change]
                for sign in (1, -1)
            )
            two = (fit.moved(self.states, each) for each in self.kinds)
            for (x, one), (y, _) in zip(*two, strict=True):
                apart, together = ((each / one).astype(float) for each in (x - y, x + y))
                found.append(apart**2 * less + together**2 * more)
        return np.stack(found, axis=1)

    @property
    def rounded(self) -> Floats:
        """By how much tables may round each layer apart."""
        return np.array([float(layer.rounded) for layer in self.states.layers])

    def apart(self, scales: Scales, *, alone: bool) -> float:
        """Return what tables that round values apart may cost in residuals, squared."""
        found = 0.0
        for fit, own in self.each(scales):
            rounded = self.rounded[[*fit.kind.own]]
            found += float(fit.kind.distance) * moved_by(rounded, fit.rows, own, alone=alone)
        return found

    def each(self, scales: Sequence[Any]) -> Iterator[tuple[Any, list[Any]]]:
        """Go through the kinds of residuals with what belongs to their rows."""
        left = iter(scales)
        return ((fit, [*itertools.islice(left, len(fit.rows))]) for fit in self.fits)

    def _by_value(self, layers: Iterable[float]) -> list[float]:
        """Return the number of the first layer of each value: who answered is counted in people."""
        found = dict[int, float]()
        for layer, x in zip(self.states.layers, layers, strict=True):
            found.setdefault(layer.value, x)
        return [*found.values()]

    def on_grid(self, block: TableBlock, scales: Scales, along: Sequence[float]) -> TableBlock:
        """Return the block on the grid; ``along``: the scales of the rows of coordinates."""
        largest = [*along]
        for fit, own in self.each(scales):
            for k, scale in zip(fit.kind.own, own, strict=False):
                largest[k] = max(largest[k], scale)
        return block.with_values(self._by_value(largest), self.spare)

    def quanta(self, block: TableBlock, scales: Sequence[float]) -> list[Fraction]:
        """Return what layers are to be counted in under noise of such scales."""
        shape = block.with_values(self._by_value(scales), self.spare).shape
        return [layer.quantum for layer in CellStates(shape).layers]

    @property
    def spare(self) -> int:
        """How many bits values leave for parts of them: only sums are parts of each other."""
        sums = [layer for layer in self.states.layers if layer.grain is Grain.VALUES]
        return SPARE_BITS if len(sums) > len(self.states.signed) + 1 else 0

    def along(self, f: Ring) -> list[Ring]:
        """Return the totals of all layers."""
        tables = apart_by_table(self.shape.levels, self.shape.layers, f)
        return [own[()].reshape(len(f)) for own in tables[1:]]

    def channel(self, quantum: Fraction, scales: Scales) -> Channel | None:
        """Make the rows of all residuals ready to be measured."""
        steps = list[Fraction]()
        for fit, own in self.each(scales):
            steps += fit.steps(self.states, own)
        drawn = tuple(in_steps(scale, step) for scale, step in zip(scales, steps, strict=True))
        return Channel(
            shape=self.shape,
            center=None,
            quantum=quantum,
            offset=Fraction(0),
            steps=tuple(steps),
            scales=drawn,
        )

    def spread(self, channel: Channel) -> Floats:
        """Return the scale, in steps, of every cell that is measured, residual by residual."""
        found = [
            np.repeat([*own] * len(fit.kind.axes), fit.kind.cells)
            for fit, own in self.each(channel.scales)
        ]
        return np.concatenate(found)

    def measure(self, channel: Channel, f: Ring, people: Ring) -> Ring:
        """Return all rows of all residuals, in steps."""
        del people
        tables = apart_by_table(self.shape.levels, self.shape.layers, f)
        measured = list[Ring]()
        for fit, steps in self.each(channel.steps):
            for axes in fit.kind.axes:
                own = [tables[layer][axes] for layer in (*(1 + k for k in fit.kind.own), 0)]
                measured += map(flat, fit.measure(self.states, own, steps))
        return np.concatenate(measured, axis=1)

    def recover(
        self, channel: Channel | None, h: Floats, along: Sequence[Floats], people: Floats
    ) -> Floats:
        """Return the cells of all tables, from the rows of residuals and the totals."""
        if channel is None:
            raise AssertionError
        residuals: list[dict[Axes, Floats]] = [{(): total} for total in (people, *along)]
        start, levels = 0, self.shape.levels
        for fit, steps in self.each(channel.steps):
            back, layers = fit.back(self.states), [*(1 + k for k in fit.kind.own), 0]
            for axes in fit.kind.axes:
                shape, rows = [levels[axis] for axis in axes], list[Floats]()
                for step in steps:
                    stop = start + fit.kind.cells
                    noisy = h[:, start:stop].reshape(len(h), *shape)
                    rows.append(projected(noisy * float(step)))
                    start = stop
                for layer, held in zip(layers, back, strict=True):
                    each = [x * row for x, row in zip(held, rows, strict=True) if x]
                    residuals[layer][axes] = sum(each[1:], each[0])
        made = [{axes: made_of(levels, axes, each) for axes in each} for each in residuals]
        for place, middle in self.leaning.items():
            answered = made[place + 1]
            made[place] = {a: x + middle * answered[a] for a, x in made[place].items()}
        return np.concatenate([flat(made[kind][axes]) for kind, axes in self.shape.tables], axis=1)

    @property
    def leaning(self) -> Mapping[int, float]:
        """Which layers lean on the next one, of who answered, and by how much."""
        seen = enumerate(self.shape.layers)
        own = [(i, layer.value) for i, layer in seen if layer.value is not None]
        values = [(i, self.shape.values[k], self.shape.layers[i].answers) for i, k in own]
        return {i: float(v.middle) for i, v, answers in values if v.optional and not answers}

    @property
    def held(self) -> Floats:
        """How much each kind of estimate holds of each layer, people first."""
        found = np.eye(len(self.shape.layers))
        for place, middle in self.leaning.items():
            found[place, place + 1] = middle
        return found

    def loads(self, along: Sequence[float], people: float) -> Iterable[Span]:
        """Return a share of what the totals hold for every cell."""
        held, start = self.held @ np.array([people, *along]), 0
        for kind, axes in self.shape.tables:
            number = cells(self.shape.levels, axes)
            yield start, start + number, float(held[kind]) / number
            start += number
