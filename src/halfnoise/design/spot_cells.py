"""Places inside places, folded: what one person adds to people and values in each kind of place.

By symmetry among places that are alike the best noise treats what they are apart alike, and in each
kind of place it may mix people, values and the kinds of places inside in any way: so rows of them
are measured (``spot_rows``). Somebody for whom a row comes to a, and who becomes somebody for whom
it comes to b, moves it by  a^2 D + b^2 D - 2 a b kappa,  as in tables (``cells``).
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from halfnoise.design.cell_states import CellStates
from halfnoise.design.cells import SPARE_BITS, Cells
from halfnoise.design.programme import in_rows
from halfnoise.design.spot_parts import Own, SpotPart
from halfnoise.design.spot_rows import SpotRows
from halfnoise.design.spot_states import Kinds, SpotStates
from halfnoise.design.spot_tables import in_layers, parted, together
from halfnoise.design.triangle import moved_by
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Floats, Grain, Ring
from halfnoise.workload.sets.base import Channel, Scales, Span
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.placed import Placed
from halfnoise.workload.sets.residuals import Axes, cells, flat, place_of

MOST_SPOTS, MOST_NUMBERS = 2**6, 2**21  # kinds of places, and numbers in all matrices


@dataclass(frozen=True, kw_only=True)
class SpotCells(Cells):
    """All kinds of people in places inside places; ``fits``: what is measured, once found.

    ``shared``: of changes, by part, what two persons have in common of what they move.
    """

    shape: Placed
    fits: tuple[SpotRows, ...] = ()
    states: SpotStates = field(compare=False, repr=False)
    shared: Any = field(compare=False, repr=False)

    @classmethod
    def found(cls, shape: Placed, most: int, *, leaves: bool) -> "SpotCells | None":
        """Return all kinds of people, or of changes; None where they, or places, are too many."""
        states = SpotStates(shape)
        if len(states.spots.every) > MOST_SPOTS:
            return None
        numbers = sum(len(part.own) * (1 if leaves else 2) for part in states.parts)
        number = states.number(leaves=leaves)
        if number > most or number * numbers > MOST_NUMBERS or len(states.parts) == 1:
            return None
        kinds, shared = states.everybody() if leaves else states.changed()
        return cls(
            shape=shape,
            leaves=leaves,
            coordinates=states.added(leaves=leaves, states=kinds),
            across=np.zeros((number, 0)),
            weights=(),
            root_weight=states.root_weight,
            states=states,
            kinds=kinds,
            change=np.zeros(0, dtype=int),
            shared=shared,
        )

    def on(self, shape: Crossed, fits: tuple[Any, ...] = ()) -> "SpotCells":
        """Return the same where bounds are on the grid, or where other rows are measured."""
        if not isinstance(shape, Placed):
            raise TypeError(shape)
        states, fits = SpotStates(shape), fits or self.fits
        found = replace(
            self,
            shape=shape,
            states=states,
            fits=fits,
            coordinates=states.added(leaves=self.leaves, states=self.kinds),
            root_weight=states.root_weight,
        )
        return replace(found, across=found.charged_to()) if fits else found

    @property
    def along_weights(self) -> Floats:
        """What squared errors of coordinates weigh together, and with the number of people."""
        return self.states.free_weights

    def matrices(self) -> Iterable[Floats]:
        """Go through all parts but the totals: what each kind of person moves."""
        for place, part in enumerate(self.states.parts[1:], 1):
            if self.leaves:
                yield self._added(part, self.kinds) * float(part.distance) ** 0.5
                continue
            x, y = (self._added(part, own) for own in self.kinds)
            far = float(part.distance)
            less, more = ((far + sign * self.shared[place]) / 2 for sign in (1, -1))
            two = [
                (x - y) * np.sqrt(less)[:, None],
                (x + y) * np.sqrt(np.maximum(more, 0))[:, None],
            ]
            rows = np.stack(two, axis=1)
            yield rows if in_rows(rows) else np.einsum("kri,krj->kij", rows, rows)

    def _added(self, part: SpotPart, kinds: Kinds) -> Floats:
        """Return what people add to the coordinates of a part, in their units."""
        found, states = list[Floats](), self.states
        for own in part.own:
            amounts = np.array([*map(float, states.amounts(own[1]))]) / states.unit(own[1])
            found.append(amounts[states.which(own, kinds)])
        return np.stack(found, axis=1)

    def matrix_weights(self) -> Iterable[Floats]:
        """Go through the same: Q."""
        return map(self.states.weighed, self.states.parts[1:])

    def weighed(self, shape: Any) -> "SpotCells":
        """Return the same of a set that differs in what squared errors weigh alone."""
        states = SpotStates(shape)
        if [part.about for part in states.parts] == [part.about for part in self.states.parts]:
            return replace(self, shape=shape, states=states, root_weight=states.root_weight)
        return SpotCells.found(shape, 2**30, leaves=self.leaves) or self

    def fitted(self, found: Sequence[Floats], block: TableBlock) -> "tuple[SpotCells, Scales]":
        """Return what is to be measured for such information in all parts."""
        fits, scales = list[SpotRows](), list[float]()
        for kind, information in zip(self.states.parts[1:], found, strict=True):
            largest = 1 / np.sqrt(information.diagonal().min())
            units = [self.states.unit(k) * largest for k in range(len(self.states.layers))]
            quanta = self._by_layer(block, units)
            rows, own = SpotRows.of(self.states, kind, information, quanta)
            fits.append(rows)
            scales += own
        return self.on(self.shape, tuple(fits)), tuple(scales)

    def charged_to(self) -> Floats:
        """Return, for every kind, what each scale of a row is charged with."""
        found = list[Floats]()
        for place, fit in enumerate(self.fits, 1):
            far = float(fit.kind.distance)
            if self.leaves:
                for moved, one in fit.moved(self.states, self.kinds):
                    found.append((moved / one).astype(float) ** 2 * far)
                continue
            less, more = (far + self.shared[place]) / 2, (far - self.shared[place]) / 2
            two = (fit.moved(self.states, each) for each in self.kinds)
            for (x, one), (y, _) in zip(*two, strict=True):
                apart, together = ((each / one).astype(float) for each in (x - y, x + y))
                found.append(apart**2 * less + together**2 * more)
        return np.stack(found, axis=1)

    def each(self, scales: Sequence[Any]) -> Iterator[tuple[SpotRows, list[Any]]]:
        """Go through the parts with what belongs to their rows."""
        return Cells.each(self, scales)

    @property
    def rounded(self) -> Floats:
        """By how much tables may round each coordinate apart."""
        return np.array([self._rounded(layer) for _, layer in self.states.free])

    def _rounded(self, layer: int) -> float:
        return 0.0 if layer == self.states.people else float(self.states.layers[layer].rounded)

    def apart(self, scales: Scales, *, alone: bool) -> float:
        """Return what tables that round values apart may cost in all parts, squared."""
        found = 0.0
        for fit, own in self.each(scales):
            rounded = np.array([self._rounded(layer) for _, layer in fit.kind.own])
            found += float(fit.kind.distance) * moved_by(rounded, fit.rows, own, alone=alone)
        return found

    def on_grid(self, block: TableBlock, scales: Scales, along: Sequence[float]) -> TableBlock:
        """Return the block on the grid; ``along``: the scales of the rows of coordinates."""
        largest = [0.0] * len(self.states.layers)
        seen = [(self.states.free, along)]
        seen += [(fit.kind.own, own) for fit, own in self.each(scales)]
        for (_, layer), scale in itertools.chain(*(zip(*both, strict=True) for both in seen)):
            if layer < len(largest):
                largest[layer] = max(largest[layer], scale)
        return self._with_values(block, largest)

    def _with_values(self, block: TableBlock, largest: Sequence[float]) -> TableBlock:
        most = max(part.times for part in self.states.parts)
        return block.with_values(self._by_value(largest), self.spare, most)

    def _by_layer(self, block: TableBlock, largest: Sequence[float]) -> list[Fraction]:
        """Return what layers are to be counted in under noise of such scales, people last."""
        shape = self._with_values(block, largest).shape
        return [*(layer.quantum for layer in CellStates(shape).layers), Fraction(1)]

    def quanta(self, block: TableBlock, scales: Sequence[float]) -> list[Fraction]:
        """Return what coordinates are to be counted in under noise of such scales."""
        each = {scale: self._by_layer(block, [scale] * self.states.people) for scale in {*scales}}
        seen = zip(self.states.free, scales, strict=True)
        return [each[scale][layer] for (_, layer), scale in seen]

    @property
    def spare(self) -> int:
        """How many bits values leave for parts of them: only sums are parts of each other."""
        return SPARE_BITS if any(x.grain is Grain.VALUES for x in self.states.layers) else 0

    def along(self, f: Ring) -> list[Ring]:
        """Return the totals by kind of place."""
        return [parted(self.states, f, (), 0, own).reshape(len(f)) for own in self.states.free]

    def told(self, scales: Scales) -> float:
        """Return what is said of the number of people beside its own noise: nothing."""
        del scales
        return 0.0

    def tells(self, channel: Channel, h: Floats, root: Floats) -> tuple[float, Floats]:
        """Return what is said of the number of people beside its own noise: nothing."""
        del channel, h
        return 0.0, np.zeros_like(root)

    def spread(self, channel: Channel) -> Floats:
        """Return the scale, in steps, of all that is measured, part by part."""
        found = [
            np.repeat([*own] * len(fit.kind.axes), fit.kind.places * fit.kind.cells)
            for fit, own in self.each(channel.scales)
        ]
        return np.concatenate(found)

    def measure(self, channel: Channel, f: Ring, people: Ring) -> Ring:
        """Return all rows of all parts, in steps."""
        del people
        measured = list[Ring]()
        for fit, steps in self.each(channel.steps):
            for axes in fit.kind.axes:
                seen = (parted(self.states, f, axes, fit.kind.spot, own) for own in fit.kind.own)
                measured += map(flat, fit.measure(self.states, [*seen], steps))
        return np.concatenate(measured, axis=1)

    def recover(
        self, channel: Channel | None, h: Floats, along: Sequence[Floats], people: Floats
    ) -> Floats:
        """Return the cells of all tables, from the rows of parts and the totals."""
        if channel is None:
            raise AssertionError
        held, levels, start = dict[tuple[Axes, int], dict[Own, Floats]](), self.shape.levels, 0
        free = dict(zip(self.states.free, along, strict=True))
        others = sum(x for (_, layer), x in free.items() if layer == self.states.people)
        free[self.states.totals.own[-1]] = people - others
        held[(), 0] = {own: x[:, np.newaxis] for own, x in free.items()}
        for fit, steps in self.each(channel.steps):
            for axes in fit.kind.axes:
                shape, rows = [fit.kind.places, *(levels[axis] for axis in axes)], list[Floats]()
                for step in steps:
                    stop = start + fit.kind.places * fit.kind.cells
                    noisy = h[:, start:stop].reshape(len(h), *shape) * float(step)
                    rows.append(fit.kind.projected(noisy))
                    start = stop
                back = np.einsum("or,r...->o...", fit.back, np.stack(rows))
                held[axes, fit.kind.spot] = dict(zip(fit.kind.own, back, strict=True))
        return together(self.states, held)

    def loads(self, along: Sequence[float], people: float) -> Iterable[Span]:
        """Return what cells hold of a noise, of which the totals and people hold so much."""
        states, start = self.states, 0
        sums = in_layers(states, np.array([*along, people])[:, np.newaxis])[:, :, 0]
        each = states.held @ (sums / [spot.number for spot in states.spots.every])
        for kind, axes in self.shape.tables:
            own = place_of(axes, self.shape.deep)
            many = cells(self.shape.levels, axes[len(own) :])
            by_place = each[kind, states.spots.kinds[own[0]] if own else np.zeros(1, int)] / many
            ends = [*(np.flatnonzero(np.diff(by_place)) + 1).tolist(), len(by_place)]
            for low, high in zip((0, *ends), ends, strict=False):
                yield start + low * many, start + high * many, float(by_place[low])
            start += many * len(by_place)
