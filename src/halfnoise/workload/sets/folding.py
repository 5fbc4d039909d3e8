"""Sets folded along their symmetries: few kinds of people, and few directions that differ.

Averaging noise over permutations of like queries never adds error, so of d like counts only their
total and what lies across it are told apart: a person with j of them moves the total by j and the
rest by  j (d-j)/d,  squared. Of a mean, the value minus the middle of its range is as likely to be
measured with either sign, so it is a direction of its own beside the number who answered. Of
categories and tables everybody moves all residuals alike.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from halfnoise.values import dataclass, field, replace
from halfnoise.workload.grid import Floats, Grain, Ring, times
from halfnoise.workload.sets.base import (
    Cases,
    Channel,
    ContributionSet,
    Mixture,
    Number,
    Parts,
    Scales,
    Span,
)
from halfnoise.workload.sets.kinds import Answered, OneOf


@dataclass(frozen=True, slots=True)
class Coordinate:
    """What people may add to it, the middle of that, and what a squared error weighs.

    ``which``: of each kind of person, which of these they add; None where all add another.
    """

    along: tuple[Fraction, ...]
    middle: Fraction
    weight: Number
    grain: Grain
    quantum: Fraction | None = None  # what it is counted in, and from where a person counts,
    offset: Fraction | None = None  # unless it is as the block says
    which: NDArray[np.intp] | None = field(default=None, compare=False, repr=False)

    def added(self, kinds: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return which of the amounts people of such kinds add."""
        return kinds if self.which is None else self.which[kinds]

    @property
    def half(self) -> Fraction:
        """Half of the range of what people add."""
        return (max(self.along) - min(self.along)) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """The kinds of people of a set, here of one that leans on the number of people alone.

    ``across``: by kind, the squared distance charged to each scale; ``weights``: what a squared
    scale weighs. ``root_weight``: what an error in the number of people weighs where that is not a
    coordinate of its own.
    """

    shape: ContributionSet
    coordinates: tuple[Coordinate, ...] = ()
    across: Cases
    weights: tuple[Number, ...]
    root_weight: Number = 0

    def means(self, place: int, middle: float, half: float) -> Floats:
        """Return what each kind adds to a coordinate, in its unit; of several kinds, on average."""
        each = self.coordinates[place]
        found = np.array([(float(x) - middle) / half for x in each.along])
        return found[each.added(np.arange(len(self.across)))]

    @property
    def spread_along(self) -> Floats | None:
        """How what a kind adds to all coordinates varies, where it stands for several."""
        return None

    @property
    def along_weights(self) -> Floats:
        """What squared errors of coordinates weigh together, and with the number of people.

        What that weighs by itself is ``root_weight``.
        """
        return np.diag([*(float(each.weight) for each in self.coordinates), 0.0])

    def matrices(self) -> Iterable[Floats]:
        """Go through what is measured with noises that it shares: P of each kind."""
        return ()

    def matrix_weights(self) -> Iterable[Floats]:
        """Go through what errors of that weigh: Q."""
        return ()

    def weighed(self, shape: ContributionSet) -> "Folded":
        """Return the same of a set that differs in what squared errors weigh alone."""
        view = shape.view(shape.midpoint, 2)
        return replace(self, shape=shape, weights=view.weights, root_weight=view.root_weight)

    @property
    def along_only(self) -> bool:
        """Whether there is nothing across: then values count from zero if people do not help."""
        return bool(self.coordinates) and not self.weights

    def along(self, f: Ring) -> list[Ring]:
        """Return the coordinates, in their quanta, a number for each group."""
        del f
        return []

    def channel(self, quantum: Fraction, scales: Scales) -> Channel | None:
        """Make what lies across ready to be measured."""
        return self.shape.channel(quantum, self.shape.midpoint, scales)

    def spread(self, channel: Channel) -> Floats:
        """Return the scale, in steps, of everything across that is measured."""
        return channel.shape.spread(channel.scales)

    def measure(self, channel: Channel, f: Ring, people: Ring) -> Ring:
        """Return what lies across, in steps."""
        return self.shape.measure(channel, f, people, Fraction(1))

    def recover(
        self, channel: Channel | None, h: Floats, along: Sequence[Floats], people: Floats
    ) -> Floats:
        """Return the estimates from noise across, the coordinates and the number of people."""
        del along
        if channel is None:
            raise AssertionError
        return self.shape.recover(channel, h, people)

    def told(self, scales: Scales) -> float:
        """Return what noises of such scales say of the number of people, as a precision."""
        return self.shape.told(scales)

    def tells(self, channel: Channel, h: Floats, root: Floats) -> tuple[float, Floats]:
        """Return what is said of the number of people: how surely, and times that what."""
        return self.shape.tells(channel, h, root)

    def mixture(self) -> Mixture:
        """Return how noises across, and that of the number of people, make up the errors."""
        return self.shape.mixture(self.shape.midpoint)

    def loads(self, along: Sequence[float], people: float) -> Iterable[Span]:
        """Return what estimates hold of a noise, of which the coordinates and people hold so much.

        Here nothing leans on coordinates.
        """
        del along
        return ((low, high, people * load) for low, high, load in self.mixture().lean)

    def parts(self, scales: Scales, along: Sequence[Sequence[float]]) -> Sequence[Parts]:
        """Return the noises in estimates: across, and what coordinates hold of each other noise."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike(Folded):
    """Like queries: their total, and what lies across it, which adds up to zero."""

    def along(self, f: Ring) -> list[Ring]:
        """Return the total."""
        return [f.sum(axis=1, dtype=np.uint64)]

    def channel(self, quantum: Fraction, scales: Scales) -> Channel | None:
        """Make ready what is measured as categories are, with the total in the place of people."""
        d = self.shape.size
        return OneOf(d).channel(quantum, Fraction(1, d), scales) if d > 1 else None

    def measure(self, channel: Channel, f: Ring, people: Ring) -> Ring:
        """Return each minus its share of the total."""
        del people
        (total,) = self.along(f)
        return channel.shape.measure(channel, f, total, channel.quantum)

    def recover(
        self, channel: Channel | None, h: Floats, along: Sequence[Floats], people: Floats
    ) -> Floats:
        """Return what lies across, projected, and the share of the total."""
        del people
        (total,) = along
        return total[:, None] if channel is None else channel.shape.recover(channel, h, total)

    def mixture(self) -> Mixture:
        """Return the noise across, of which the projection takes the average away."""
        d = self.shape.size
        none = Mixture((0, 0), (), ())
        return OneOf(d).mixture(Fraction(1, d))._replace(lean=()) if d > 1 else none

    def loads(self, along: Sequence[float], people: float) -> Iterable[Span]:
        """Return the share of the total that each has."""
        del people
        return ((0, self.shape.size, along[0] / self.shape.size),)

    def parts(self, scales: Scales, along: Sequence[Sequence[float]]) -> Sequence[Parts]:
        """Return the noise across, projected, and a share of those of the total."""
        d = self.shape.size
        across = [scales[0] * (1 - 1 / d) ** 0.5] if d > 1 else []
        return [{"sum": [*across, *(abs(part) / d for part in along[0] if part)]}]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering(Folded):
    """A value that not all give: how many do, and values minus the middle of their range."""

    shape: Answered

    def along(self, f: Ring) -> list[Ring]:
        """Return how many answered."""
        return [f[:, 1]]

    def channel(self, quantum: Fraction, scales: Scales) -> Channel | None:
        """Make the value ready, which counts from the middle of its range."""
        alone = Answered(*self.shape.bounds)
        ready = alone.channel(quantum, Fraction(0), (*scales, 1.0))  # of who answered none
        return replace(ready, steps=ready.steps[:1], scales=ready.scales[:1])

    def spread(self, channel: Channel) -> Floats:
        """Return the scale of the one value."""
        return np.array(channel.scales)

    def measure(self, channel: Channel, f: Ring, people: Ring) -> Ring:
        """Return values minus the middle of their range."""
        del people
        return times(f[:, :1], channel.quantum / channel.steps[0])

    def recover(
        self, channel: Channel | None, h: Floats, along: Sequence[Floats], people: Floats
    ) -> Floats:
        """Return the sum of the values and the number who answered."""
        del people
        if channel is None:
            raise AssertionError
        (answered,) = along
        value = h[:, 0] * float(channel.steps[0]) + float(self.shape.middle) * answered
        return np.stack([value, answered], axis=1)

    def mixture(self) -> Mixture:
        """Return the value's own noise."""
        return Mixture((0, 1), (), ())

    def loads(self, along: Sequence[float], people: float) -> Iterable[Span]:
        """Return the middle of the range for the sum, and one for the number who answered."""
        del people
        return (0, 1, float(self.shape.middle) * along[0]), (1, 2, along[0])

    def parts(self, scales: Scales, along: Sequence[Sequence[float]]) -> Sequence[Parts]:
        """Return the noises of the sum, of who answered, and of  value - middle * answered."""
        middle, value = abs(float(self.shape.middle)), scales[0]
        answered = [abs(part) for part in along[0] if part]
        summed = [value, *(middle * part for part in answered)]
        return [{"sum": summed, "answered": answered, "mean": [value]}]
