"""Sets folded along their symmetries: few kinds of people, and few directions that differ.

Averaging noise over permutations of like queries never adds error, so of d like counts only their
total and what lies across it are told apart: a person with j of them moves the total by j and the
rest by  j (d-j)/d,  squared. Of a mean, the value minus the middle of its range is as likely to be
measured with either sign, so it is a direction of its own beside the number who answered. Of
categories and tables everybody moves all residuals alike.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

import numpy as np

from halfnoise.workload.grid import Floats, Ring, step_for, times
from halfnoise.workload.sets.base import (
    Case,
    Cases,
    Channel,
    ContributionSet,
    Mixture,
    Number,
    Parts,
    Scales,
    Span,
)
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.kinds import Answered, AtMost, Box, OneOf

MANY, FEW = 2**12, 2**8  # kinds of people, and of those in tables, that are listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """The kinds of people of a set, here of one that leans on the number of people alone.

    ``along``: what each kind adds to the coordinate of the set, empty where it has none;
    ``along_weight``: what a squared error in that weighs; ``middle``: that of what a person adds
    to it. ``across``: by kind, the squared
    distance charged to each scale; ``weights``: what a squared scale weighs. ``root_weight``: what
    an error in the number of people weighs where that is not a coordinate of its own.
    """

    shape: ContributionSet
    along: tuple[Fraction, ...] = ()
    along_weight: Number = 0
    middle: Fraction = Fraction(0)
    across: Cases
    weights: tuple[Number, ...]
    root_weight: Number = 0

    @property
    def coordinates(self) -> int:
        """How many coordinates it has, beside what lies across: one or none."""
        return 1 if self.along else 0

    @property
    def half(self) -> Fraction:
        """Half of the range of what people add to the coordinate."""
        return (max(self.along) - min(self.along)) / 2

    def quantum(self, quantum: Fraction) -> Fraction:
        """Return what the coordinate is counted in, given the quantum of the block."""
        return quantum

    def coordinate(self, f: Ring) -> Ring:
        """Return the coordinate, in its quanta, a number for each group."""
        raise NotImplementedError

    def channel(self, quantum: Fraction, scales: Scales) -> Channel | None:
        """Make what lies across ready to be measured."""
        return self.shape.channel(quantum, self.shape.midpoint, scales)

    def spread(self, channel: Channel) -> Floats:
        """Return the scale, in steps, of everything across that is measured."""
        return channel.shape.spread(channel.scales)

    def measure(self, channel: Channel, f: Ring, people: Ring) -> Ring:
        """Return what lies across, in steps."""
        return self.shape.measure(channel, f, people, Fraction(1))

    def recover(self, channel: Channel | None, h: Floats, along: Floats, people: Floats) -> Floats:
        """Return the estimates from noise across, the coordinate and the number of people."""
        del along
        if channel is None:
            raise AssertionError
        return self.shape.recover(channel, h, people)

    def mixture(self) -> Mixture:
        """Return how noises across, and that of the number of people, make up the errors."""
        return self.shape.mixture(self.shape.midpoint)

    def loads(self) -> tuple[Span, ...]:
        """Return how much of the coordinate the estimates hold."""
        return ()

    def parts(self, scales: Scales, along: Sequence[float]) -> Parts:
        """Return the noises in an estimate: across, and those of the coordinate."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike(Folded):
    """Like queries: their total, and what lies across it, which adds up to zero."""

    def coordinate(self, f: Ring) -> Ring:
        """Return the total."""
        return f.sum(axis=1, dtype=np.uint64)

    def channel(self, quantum: Fraction, scales: Scales) -> Channel | None:
        """Make ready what is measured as categories are, with the total in the place of people."""
        d = self.shape.size
        return OneOf(d).channel(quantum, Fraction(1, d), scales) if d > 1 else None

    def measure(self, channel: Channel, f: Ring, people: Ring) -> Ring:
        """Return each minus its share of the total."""
        del people
        return channel.shape.measure(channel, f, self.coordinate(f), channel.quantum)

    def recover(self, channel: Channel | None, h: Floats, along: Floats, people: Floats) -> Floats:
        """Return what lies across, projected, and the share of the total."""
        del people
        return along[:, None] if channel is None else channel.shape.recover(channel, h, along)

    def mixture(self) -> Mixture:
        """Return the noise across, of which the projection takes the average away."""
        d = self.shape.size
        none = Mixture((0, 0), (), ())
        return OneOf(d).mixture(Fraction(1, d))._replace(lean=()) if d > 1 else none

    def loads(self) -> tuple[Span, ...]:
        """Return the share of the total that each has."""
        return ((0, self.shape.size, 1 / self.shape.size),)

    def parts(self, scales: Scales, along: Sequence[float]) -> Parts:
        """Return the noise across, projected, and a share of those of the total."""
        d = self.shape.size
        across = [scales[0] * (1 - 1 / d) ** 0.5] if d > 1 else []
        return {"sum": [*across, *(part / d for part in along)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering(Folded):
    """A value that not all give: how many do, and values minus the middle of their range."""

    shape: Answered

    def quantum(self, quantum: Fraction) -> Fraction:
        """Return one person."""
        del quantum
        return Fraction(1)

    def coordinate(self, f: Ring) -> Ring:
        """Return how many answered."""
        return f[:, 1]

    def channel(self, quantum: Fraction, scales: Scales) -> Channel | None:
        """Make the value ready; a step may be half a quantum, as the middle is."""
        ready = self.shape.channel(quantum, Fraction(0), (*scales, scales[0]))
        return Channel(
            shape=self.shape,
            center=Fraction(0),
            quantum=quantum,
            steps=ready.steps[:1],
            scales=ready.scales[:1],
        )

    def spread(self, channel: Channel) -> Floats:
        """Return the scale of the one value."""
        return np.array(channel.scales)

    def measure(self, channel: Channel, f: Ring, people: Ring) -> Ring:
        """Return values minus the middle of their range."""
        del people
        (step,) = channel.steps
        value = times(f[:, 0], channel.quantum / step) - times(f[:, 1], self.shape.middle / step)
        return value[:, None]

    def recover(self, channel: Channel | None, h: Floats, along: Floats, people: Floats) -> Floats:
        """Return the sum of the values and the number who answered."""
        del people
        if channel is None:
            raise AssertionError
        value = h[:, 0] * float(channel.steps[0]) + float(self.shape.middle) * along
        return np.stack([value, along], axis=1)

    def mixture(self) -> Mixture:
        """Return the value's own noise."""
        return Mixture((0, 1), (), ())

    def loads(self) -> tuple[Span, ...]:
        """Return the middle of the range for the sum, and one for the number who answered."""
        return (0, 1, float(self.shape.middle)), (1, 2, 1.0)

    def parts(self, scales: Scales, along: Sequence[float]) -> Parts:
        """Return the noises of the sum, of who answered, and of  value - middle * answered."""
        middle, value = abs(float(self.shape.middle)), scales[0]
        summed = [value, *(middle * part for part in along)]
        return {"sum": summed, "answered": [*along], "mean": [value]}


@singledispatch
def folded(shape: ContributionSet, *, leaves: bool) -> Folded | None:
    """Fold a set by who is added or removed, who ``leaves``, or else by who changes answers.

    None where there are too many kinds of people to list.
    """
    raise NotImplementedError(type(shape).__name__, leaves)


@folded.register
def _(shape: Box, *, leaves: bool) -> Folded | None:
    low, high = map(Fraction, shape.bounds)
    return _alike(shape, shape.size, low, high, leaves=leaves)


@folded.register
def _(shape: AtMost, *, leaves: bool) -> Folded | None:
    return _alike(shape, shape.most, Fraction(0), Fraction(1), leaves=leaves)


@folded.register
def _(shape: OneOf, *, leaves: bool) -> Folded:
    view = shape.view(shape.midpoint, 2)
    (case,) = (view.person if leaves else view.change).near((1.0,))
    return Folded(
        shape=shape, across=(case,), weights=view.weights, root_weight=view.root_weight
    )


@folded.register
def _(shape: Answered, *, leaves: bool) -> Folded:
    low, high = map(Fraction, shape.bounds)
    width = high - low
    far = (width**2 / 4,)
    kinds: dict[Fraction, Case] = {Fraction(0): (Fraction(0),), Fraction(1): far}
    if not leaves:
        kinds = {Fraction(0): (width**2,), Fraction(1): far, Fraction(-1): far}
    return Answering(
        shape=shape,
        along=(*kinds,),
        along_weight=width**2,
        middle=Fraction(1, 2),
        across=(*kinds.values(),),
        weights=(1,),
    )


@folded.register
def _(shape: Crossed, *, leaves: bool) -> Folded | None:
    view, moves = shape.view(None, 2), shape.moves
    if moves.number(leaves=leaves) > FEW:
        return None
    return Folded(
        shape=shape,
        across=tuple(moves.kinds(leaves=leaves)),
        weights=view.weights,
        root_weight=view.root_weight,
    )


def _alike(
    shape: ContributionSet, most: int, low: Fraction, high: Fraction, *, leaves: bool
) -> Folded | None:
    """Fold d like queries of which at most so many are ``high`` and all others ``low``."""
    d, width = shape.size, high - low
    if most > MANY:
        return None
    people = [*(_ones(d, most) if leaves else _swaps(d, most))]
    return Alike(
        shape=shape,
        along=tuple(d * low * leaves + width * more for more, _ in people),
        along_weight=Fraction(1, d),
        middle=d * low + width * Fraction(most, 2),
        across=tuple((width**2 * distance,) if d > 1 else () for _, distance in people),
        weights=(d - 1,) if d > 1 else (),
    )


def _ones(d: int, most: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Go through how many of d queries hold."""
    return ((Fraction(j), Fraction(j * (d - j), d)) for j in range(most + 1))


def _swaps(d: int, most: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Go through how many more hold than before: with as many that change as there can be.

    Of those that hold before or after, p are new and q are gone; p and q are at most ``most``, and
    together at most d. For given p - q the farthest across are the most of both.
    """
    for more in range(-most, most + 1):
        gone = min(most - abs(more), (d - abs(more)) // 2)
        yield Fraction(more), 2 * gone + abs(more) - Fraction(more**2, d)

