"""Tables of people by several attributes, and values by cell: one set, measured as residuals.

A person is in one cell of each table. Of everything by cell, people first, the residuals are
measured (``residuals``): of people, of values minus their midpoint, of answers minus a share of
people. All of these move by the same D_A times how far the value is from its centre, so whoever is
the worst is so for every residual, and the cost is what all of them cost together.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from halfnoise.values import dataclass, field, fields
from halfnoise.workload.grid import Floats, Grain, Ring, step_for, times
from halfnoise.workload.sets.alike import Class, Measured, alike, of_layers
from halfnoise.workload.sets.base import (
    Center,
    Channel,
    ContributionSet,
    Layered,
    Mixture,
    Number,
    Parts,
    Scales,
    Span,
    View,
)
from halfnoise.workload.sets.by_cell import SHARE, ByCell, Layer, Wanted, apart_by_table, loads_of
from halfnoise.workload.sets.moves import Changing, Coming, Entry, Moves
from halfnoise.workload.sets.residuals import (
    Axes,
    Levels,
    cells,
    centred,
    distance,
    flat,
    made_of,
    place_of,
    projected,
    squares,
    within,
)

Known: TypeAlias = dict[tuple[int, Axes], list[float]]


@dataclass(frozen=True, slots=True)
class Crossed(ContributionSet):
    """Tables of people by attributes of so many ``levels``, and values by cell.

    What comes out are the cells of all wanted tables and of all their margins: of people, then of
    each value its sums and, where some do not answer, how many did.

    >>> Crossed((2, 3), (Wanted((0, 1), 1.0),)).size
    11
    """

    levels: Levels
    wanted: tuple[Wanted, ...]
    values: tuple[ByCell, ...] = ()
    leans: ClassVar[bool] = True
    gaussian_only: ClassVar[bool] = True  # absolute values of a residual's cells add up to 2^|A| D
    grain: Grain = field(default=Grain.PEOPLE, init=False, repr=False, compare=False)
    layers: tuple[Layer, ...] = field(init=False, repr=False, compare=False)
    root: float = field(init=False, repr=False, compare=False)  # what an error in n weighs
    size: int = field(init=False, repr=False, compare=False)
    # Residuals that are alike have one scale: the classes, and by layer and axes which one it is.
    classes: tuple[Class, ...] = field(init=False, repr=False, compare=False)
    places: dict[tuple[int, Axes], int] = field(init=False, repr=False, compare=False)
    moves: Moves = field(init=False, repr=False, compare=False)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Find what follows from other fields when it is asked for: bounds need none of it."""
            if name not in {each.name for each in fields(self) if not each.init}:
                raise AttributeError(name)
            self._follow()
            return getattr(self, name)

    def _follow(self) -> None:
        everyone, layers = self.weighed(self.wanted), list[Layer]()
        for i, value in enumerate(self.values):
            own = self.weighed(value.wanted)
            for axes, square in own.items():
                everyone[axes] = everyone.get(axes, 0.0) + value.lean**2 * square
            layers.append(Layer.of(own, i))
            if value.optional:
                layers.append(Layer.of(own, i, weight=float(2 * value.half) ** 2, answers=True))
        root, made = everyone.pop(()), (Layer.of(everyone), *layers)
        measured, more = self.of_layers(made)
        classes, known = alike(self.levels, measured)
        places = {(i, axes): known[i, axes] for i, layer in enumerate(made) for axes in layer.axes}
        size = sum(cells(self.levels, axes) for _, axes in places)
        found = {"layers": made, "classes": classes, "places": places, "size": size}
        for name, each in {**found, "root": root + more}.items():
            object.__setattr__(self, name, each)
        object.__setattr__(self, "moves", self.moved(measured))

    @property
    def deep(self) -> int:
        """How many of the attributes, the first ones, are levels of one that is nested."""
        return 0

    def weighed(self, wanted: tuple[Wanted, ...]) -> dict[Axes, float]:
        """Return what residuals weigh in the tables that are wanted: r^2."""
        return squares(self.levels, wanted)

    def of_layers(self, layers: tuple[Layer, ...]) -> tuple[list[Measured], float]:
        """Return what is measured of all layers, and what an error in n weighs beside its r^2."""
        return of_layers(layers), 0.0

    def moved(self, measured: list[Measured]) -> Moves:
        """Return who can move what."""
        each = [Entry(x.layer, x.axes, self.places[x.layer, x.axes]) for x in measured]
        return Moves(self.levels, self.values, self.classes, each)

    @property
    def midpoint(self) -> Fraction:
        """Equal shares of all people in the cells of each table."""
        return Fraction(1)

    @property
    def finer(self) -> int:
        """A part is divided by the cells, and by shares of who answered, or halves of who did."""
        share = SHARE.denominator if any(v.optional for v in self.values) else 2
        return share * self.largest

    @property
    def tables(self) -> list[tuple[int, Axes]]:
        """All that comes out, in order: of which layer, and by what.

        Tables of people, and of each value a table of sums and, beside it, of who answered.
        """
        found = [(0, axes) for axes in self.layers[0].axes]
        for i, value in enumerate(self.values):
            own = self.layer_of(i)
            kinds = (own, own + 1) if value.optional else (own,)
            found += [(kind, axes) for axes in self.layers[own].axes for kind in kinds]
        return found

    def view(self, center: Number | None, p: int) -> View:
        """Return what a person moves and what the errors of all residuals count."""
        del center, p  # it is always centred, and its noise is Gaussian
        return View(
            person=Coming(self.moves),
            change=Changing(self.moves),
            weights=tuple(each.weight for each in self.classes),
            root_weight=self.root,
        )

    def made_of(self, value: int | None, table: Axes) -> Iterator[int]:
        """Return the classes of the residuals that a table is made of, in order."""
        places, parts = self.places, list(within(table))
        yield from (places[0, axes] for axes in parts[1:])
        if value is not None:
            own = self.layer_of(value)
            for layer in range(own, own + self.values[value].layers):
                yield from (places[layer, axes] for axes in parts)

    def noises(self, place: int, table: Axes, scales: Scales, root: float, _: Known) -> list[float]:
        """Return the scales of the noises of one layer, of people with that of n, in a cell."""
        found = [] if place else [root / cells(self.levels, table)]
        for axes in within(table):
            if (at := self.places.get((place, axes))) is not None:
                others = cells(self.levels, (axis for axis in table if axis not in axes))
                found.append(scales[at] * math.sqrt(float(distance(self.levels, axes))) / others)
        return found

    def parts_of(
        self, value: int | None, table: Axes, scales: Scales, root: float, known: Known
    ) -> Parts:
        """Return the noises in a cell; ``known``: what was found for other tables."""
        size = self.noises(0, table, scales, root, known)
        if value is None:
            return {"sum": size}
        place, middle = self.layer_of(value), abs(float(self.values[value].middle))
        own = self.noises(place, table, scales, root, known)
        if not self.values[value].optional:
            return {"sum": [*own, *(middle * part for part in size)]}
        answered = self.noises(place + 1, table, scales, root, known)
        answered += [float(SHARE) * part for part in size]
        summed = [*own, *(middle * part for part in answered)]
        return {"sum": summed, "answered": answered, "mean": own}

    def mixture(self, center: Center) -> Mixture:
        """Return how layers make up what comes out, and how that leans on the number of people."""
        del center
        loads, leans = loads_of(self.layers, self.values)
        spans, start = list[Span](), 0
        for kind, axes in self.tables:
            number = cells(self.levels, axes)
            spans.append((start, start + number, leans[kind] / number))
            start += number
        layers = tuple(layer.axes for layer in self.layers)
        places = tuple(self.places.values())
        made = Layered(self.levels, layers, places, loads, tuple(self.tables))
        return Mixture((0, 0), (), tuple(spans), made)

    def scales_of(self, value: int, scales: Scales) -> Scales:
        """Return the scales of a value's own noise."""
        place = self.layer_of(value)
        seen = zip(self.classes, scales, strict=True)
        return tuple(scale for each, scale in seen if each.layer == place)

    def layer_of(self, value: int) -> int:
        """Return which layer is that of a value."""
        return next(i for i, layer in enumerate(self.layers) if layer.value == value)

    def spread(self, scales: Scales) -> Floats:
        """Return the scale of every cell that is measured."""
        each = [cells(self.levels, axes) for _, axes in self.places]
        return np.repeat([scales[place] for place in self.places.values()], each)

    def steps(
        self, center: Center, quantum: Fraction, scales: Scales, people: Fraction
    ) -> tuple[Fraction, ...]:
        """Return the steps: N_A times a residual is a whole number of quanta."""
        del center, quantum
        pairs = zip(self.classes, scales, strict=True)
        return tuple(self.step(kind, scale, kind.cells, people) for kind, scale in pairs)

    def step(self, each: Class, scale: float, many: int, people: Fraction) -> Fraction:
        """Return the step of residuals that are whole where they are multiplied with ``many``."""
        finest, reach = self.layers[each.layer].grain(self.values, people)
        return step_for(scale * many, finest, reach * many, cells=each.cells) / many

    def residual(self, _layer: int, axes: Axes, table: Ring) -> tuple[Ring, int]:
        """Return a residual from its table, whole, and by what it is multiplied for that."""
        return centred(table), cells(self.levels, axes)

    @property
    def largest(self) -> int:
        """The most that a residual of values is multiplied with, here of any."""
        return max(each.cells for each in self.classes)

    def at(self, layer: int, axes: Axes) -> int:
        """Return where the step of a residual stands among those of a channel."""
        return self.places[layer, axes]

    def measure(self, channel: Channel, f: Ring, root: Ring, root_quantum: Fraction) -> Ring:
        """Return every residual in steps, from the cells of all tables."""
        tables = apart_by_table(self.levels, self.layers, f)
        people, measured = channel.people, list[Ring]()
        crowd = tables[0] | {(): times(root, root_quantum / people)}
        for place, layer in enumerate(self.layers):
            finest, _ = layer.grain(self.values, people)
            for axes in layer.axes:
                table = tables[place][axes]
                if layer.answers:
                    share = times(crowd[axes], SHARE * people / finest)
                    table = times(table, people / finest) - share
                elif layer.value is not None:
                    value = self.values[layer.value]
                    table = times(table, value.quantum / finest)
                    if more := value.middle - value.offset:
                        whole = tables[place + 1][axes] if value.optional else crowd[axes]
                        table = table - times(whole, more * people / finest)
                residual, many = self.residual(place, axes, table)
                factor = finest / (many * channel.steps[self.at(place, axes)])
                measured.append(flat(times(residual, factor)))
        return np.concatenate(measured, axis=1)

    def recover(self, channel: Channel, h: Floats, root: Floats) -> Floats:
        """Return the cells of all tables, from their noisy residuals."""
        residuals, deep = self.residuals_from(channel, h), self.deep
        residuals[0][()] = root
        residuals = self.agreeing(channel, residuals)
        made = [
            {axes: made_of(self.levels, axes, each, deep) for axes in each} for each in residuals
        ]
        for place, layer in enumerate(self.layers):
            if layer.value is None or layer.answers:
                continue
            value, whole = self.values[layer.value], made[0]
            if value.optional:
                whole = {a: x + float(SHARE) * whole[a] for a, x in made[place + 1].items()}
                made[place + 1] = whole
            made[place] = {a: x + float(value.middle) * whole[a] for a, x in made[place].items()}
        found = [flat(made[kind][axes]) for kind, axes in self.tables]
        return np.concatenate(found, axis=1)

    def residuals_from(self, channel: Channel, h: Floats) -> list[dict[Axes, Floats]]:
        """Return what was measured, layer by layer, with its noise projected."""
        steps, found = [float(step) for step in channel.steps], list[dict[Axes, Floats]]()
        for place, each in enumerate(apart_by_table(self.levels, self.layers, h)):
            found.append({})
            for axes, table in each.items():
                first = 1 + len(place_of(axes, self.deep))
                found[-1][axes] = projected(table * steps[self.at(place, axes)], first)
        return found

    def agreeing(
        self, _channel: Channel, residuals: list[dict[Axes, Floats]]
    ) -> list[dict[Axes, Floats]]:
        """Return residuals from which tables can be made: here, they agree as they are."""
        return residuals
