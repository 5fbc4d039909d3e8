"""Tables with values by cell, and places, folded: what one person adds to all of it at once.

By symmetry among categories the best noise treats the directions of a residual alike, and different
residuals apart (permuting categories maps noise to noise, so averaging over that never hurts); what
places that are alike are apart, it treats alike as well. But in each residual and kind of place, of
which tables without places have one, the whole, it may mix people, values and the kinds of places
inside in any way. So rows of them are measured (``cell_rows``), and the totals of everything are
coordinates beside those of all else that is asked.

Somebody for whom row r comes to a, and who becomes somebody for whom it comes to b, moves it by

    a^2 D + b^2 D - 2 a b kappa = (a - b)^2 (D + kappa)/2 + (a + b)^2 (D - kappa)/2

squared, with D and kappa as in ``sets.moves``: |kappa| is at most D.

Each table rounds a value by itself, so that in each it may be up to a quantum from where it is in
others: what that can cost is added to what the dearest cost (the triangle inequality).
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from halfnoise.design.cell_grid import quanta_of, with_values
from halfnoise.design.cell_parts import CellPart, Kinds, Own
from halfnoise.design.cell_rows import CellRows
from halfnoise.design.cell_states import CellStates
from halfnoise.design.cell_tables import in_layers, parted, together
from halfnoise.design.programme import in_rows, spread
from halfnoise.design.triangle import moved_by
from halfnoise.values import dataclass, field, replace
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Floats, Ring, in_steps
from halfnoise.workload.sets.base import Channel, Scales, Span
from halfnoise.workload.sets.by_cell import apart_by_table
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.folding import Folded
from halfnoise.workload.sets.residuals import Axes, cells, flat, place_of

MOST_LISTED, MOST_RESIDUALS = 2**16, 2**9 + 1
MOST_SPOTS, MOST_OWN = 2**7, 2**7  # kinds of places, and what is told in the whole
MOST_NUMBERS, MOST_FOR_SOME = 2**20, 2**22  # in all matrices


@dataclass(frozen=True, kw_only=True)
class Cells(Folded):
    """All kinds of people, or of changes; ``fits``: what is measured, once found.

    ``kinds``: of everybody, or of two people. ``shared``: of changes, by part, what two persons
    may have in common of what they move; ``which``: which of that they do.
    """

    shape: Crossed
    leaves: bool
    fits: tuple[CellRows, ...] = ()
    across: Any = field(compare=False, repr=False)
    states: CellStates = field(compare=False, repr=False)
    kinds: Kinds = field(compare=False, repr=False)
    which: Kinds = field(compare=False, repr=False)
    shared: Floats = field(compare=False, repr=False)

    @classmethod
    def of(cls, shape: Crossed, most: int, *, leaves: bool, some: bool = False) -> "Cells | None":
        """Return them, or ``some``; None where they, tables or places are too many."""
        states = CellStates(shape)
        if len(states.spots.every) > MOST_SPOTS:
            return None
        number, many = states.number(leaves=leaves), len(states.finest) > MOST_RESIDUALS
        if shape.deep:
            numbers = sum(len(part.own) * (1 if leaves else 2) for part in states.parts)
            many = not some and len(states.totals.own) > MOST_OWN
            most = min(most, (MOST_FOR_SOME if some else MOST_NUMBERS) // numbers)
        if number > (MOST_LISTED if some and most > 1 else most) or many or len(states.parts) == 1:
            return None
        nothing = np.zeros(0, dtype=np.intp), np.zeros((0, 0))
        kinds, which, shared = (states.everybody(), *nothing) if leaves else states.changed()
        if number > most:
            at = spread(number, most)
            kinds, which = kinds[..., at, :], which[[] if leaves else at]
        return cls(
            shape=shape,
            leaves=leaves,
            coordinates=states.added(leaves=leaves, states=kinds),
            across=np.zeros((kinds.shape[-2], 0)),
            weights=(),
            root_weight=states.root_weight,
            states=states,
            kinds=kinds,
            which=which,
            shared=shared,
        )

    def on(self, shape: Crossed, fits: tuple[Any, ...] = ()) -> "Cells":
        """Return the same where bounds are on the grid, or where other rows are measured."""
        states, fits = CellStates(shape), fits or self.fits
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
            far, shared = float(part.distance), self.shared[place][self.which]
            less, more = (np.maximum(far + sign * shared, 0) / 2 for sign in (1, -1))
            two = [(x - y) * np.sqrt(less)[:, None], (x + y) * np.sqrt(more)[:, None]]
            rows = np.stack(two, axis=1)
            yield rows if in_rows(rows) else np.einsum("kri,krj->kij", rows, rows)

    def _added(self, part: CellPart, kinds: Kinds) -> Floats:
        """Return what people add to the coordinates of a part, in their units."""
        found, states = list[Floats](), self.states
        for own in part.own:
            amounts = np.array([*map(float, states.amounts(own[1]))]) / states.unit(own[1])
            found.append(amounts[states.which(own, kinds)])
        return np.stack(found, axis=1)

    def matrix_weights(self) -> Iterable[Floats]:
        """Go through the same: Q."""
        return map(self.states.weighed, self.states.parts[1:])

    def weighed(self, shape: Any) -> "Cells":
        """Return the same of a set that differs in what squared errors weigh alone."""
        states = CellStates(shape)
        if [part.about for part in states.parts] == [part.about for part in self.states.parts]:
            return replace(self, shape=shape, states=states, root_weight=states.root_weight)
        return Cells.of(shape, 2**30, leaves=self.leaves) or self

    def fitted(self, found: Sequence[Floats], block: TableBlock) -> "tuple[Cells, Scales]":
        """Return what is to be measured for such information in all parts."""
        fits, scales = list[CellRows](), list[float]()
        for kind, information in zip(self.states.parts[1:], found, strict=True):
            largest = 1 / np.sqrt(information.diagonal().min())
            units = [self.states.unit(k) * largest for k in range(len(self.states.layers))]
            quanta = quanta_of(self.states, block, units)
            rows, own = CellRows.of(self.states, kind, information, quanta)
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
            shared = self.shared[place][self.which]
            less, more = (far + shared) / 2, (far - shared) / 2
            two = (fit.moved(self.states, each) for each in self.kinds)
            for (x, one), (y, _) in zip(*two, strict=True):
                apart, together = ((each / one).astype(float) for each in (x - y, x + y))
                found.append(apart**2 * less + together**2 * more)
        return np.stack(found, axis=1)

    def each(self, scales: Sequence[Any]) -> Iterator[tuple[CellRows, list[Any]]]:
        """Go through the parts with what belongs to their rows."""
        left = iter(scales)
        return ((fit, [*itertools.islice(left, len(fit.rows))]) for fit in self.fits)

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
        return with_values(self.states, block, largest)

    def quanta(self, block: TableBlock, scales: Sequence[float]) -> list[Fraction]:
        """Return what coordinates are to be counted in under noise of such scales."""
        many, of = self.states.people, self.states
        each = {scale: quanta_of(of, block, [scale] * many) for scale in {*scales}}
        seen = zip(of.free, scales, strict=True)
        return [each[scale][layer] for (_, layer), scale in seen]

    def along(self, f: Ring) -> list[Ring]:
        """Return the totals by kind of place."""
        tables = apart_by_table(self.shape.levels, self.shape.layers, f)
        return [parted(self.states, tables, (), 0, x).reshape(len(f)) for x in self.states.free]

    def channel(self, quantum: Fraction, scales: Scales) -> Channel | None:
        """Make the rows of all parts ready to be measured."""
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
        each = ((fit.kind, own) for fit, own in self.each(channel.scales))
        found = [np.repeat([*own] * len(kind.axes), kind.places * kind.cells) for kind, own in each]
        return np.concatenate(found)

    def measure(self, channel: Channel, f: Ring, people: Ring) -> Ring:
        """Return all rows of all parts, in steps."""
        del people
        measured = list[Ring]()
        tables = apart_by_table(self.shape.levels, self.shape.layers, f)
        for fit, steps in self.each(channel.steps):
            for axes in fit.kind.axes:
                at = axes, fit.kind.spot
                seen = (parted(self.states, tables, *at, own) for own in fit.kind.own)
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
