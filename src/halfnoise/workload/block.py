"""A block: queries of one kind that share a scale of noise."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from halfnoise.values import dataclass, field, replace
from halfnoise.workload.categories import Choice
from halfnoise.workload.queries import Query
from halfnoise.workload.question import Question
from halfnoise.workload.sets import ContributionSet
from halfnoise.workload.sets.base import Center, Channel, Parts, Scales
from halfnoise.workload.weights import ALIKE, Weighing


class Line(NamedTuple):
    """What a plan says of queries that have one error: how many, and what a squared one weighs.

    ``asked``: whether somebody asked for them; margins of tables come out anyway. ``spread``: over
    how many queries an importance is divided, as that of a table is over its cells.
    """

    kind: str
    label: str
    heading: str
    queries: int
    importance: float
    width: float = 1.0
    asked: bool = True
    spread: int = 1

    @property
    def goal(self) -> float:
        """What the squared error of one query counts beside those of other lines."""
        return self.importance * self.spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Queries of one kind that share a scale of noise.

    Contributions are in ``quantum``, and count from ``offset``. ``weighing``: how often people
    count; then contributions are parts of those of a whole weight.
    """

    kind: str
    shape: ContributionSet
    importance: float
    label: str
    asked: tuple[Query, ...] = field(default=(), compare=False, repr=False)
    quantum: Fraction = field(default=Fraction(1), compare=False, repr=False)
    offset: Fraction = field(default=Fraction(0), compare=False, repr=False)
    weighing: Weighing = field(default=ALIKE, compare=False, repr=False)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return 1 if self.kind == "mean" else self.shape.size

    @property
    def lines(self) -> tuple[Line, ...]:
        """What a plan says of it."""
        about = (self.kind, self.label, self.heading, self.queries)
        return (Line(*about, self.importance, self.shape.width),)

    def parts(self, center: Center, scales: Scales, root: float) -> tuple[Parts, ...]:
        """Return, line by line, the scales of the independent noises in its estimates."""
        return (self.shape.parts(center, scales, root),)

    def weighed(self, weights: Sequence[float]) -> "Block":
        """Return the same where squared errors weigh so much, line by line."""
        (weight,) = weights
        return replace(self, importance=weight)

    def questions(self, start: int) -> list[Question]:
        """Return its queries as results need them, their estimates from ``start`` on."""
        found = list[Question]()
        for query in self.asked:
            named = Question(name=query.label, kind=query.kind, start=start, names=query.names)
            other = query.categories.index(query.other) if isinstance(query, Choice) else None
            found.append(replace(named, bounds=query.shape.bounds, other=other))
            start += len(query.names)
        return found

    @property
    def heading(self) -> str:
        """What stands above its column."""
        if self.kind in ("choice", "bins", "items"):
            return f"{self.label} ({self.queries})"
        return f"{self.kind} of {self.label}" if self.kind in ("sum", "mean") else self.label

    @property
    def words(self) -> str:
        """What is asked, in words."""
        shape = self.shape
        few = shape.ones is not None and shape.ones < shape.size
        most = f", at most {shape.ones} of them" if few else ""
        if self.kind in ("sum", "mean"):
            low, high = shape.bounds or (0.0, 0.0)
            return f"{self.heading} ({low:g} to {high:g})"
        if self.kind == "count":
            return f"{self.label}{most}" if self.queries > 1 else f"count of {self.label}"
        things = "items" if self.kind == "items" else "categories"
        return f"{self.label} ({self.queries} {things}{most})"

    def on_grid(self, center: Center, *scales: float) -> "Block":
        """Return the block with bounds on the grid that fits noise of so large scales."""
        weighing, reach = self.weighing, self.shape.reach(center)
        scale = weighing.of_whole(scales[0])
        quantum = self.shape.grain.quantum(reach, scale, weighing.quantum)
        shape = self.shape.on(quantum, weighing.wider)
        return replace(self, shape=shape, quantum=quantum, offset=shape.offset(center))

    def center_on_grid(self, center: Center, scale: float) -> Center:
        """Return a centre on the grid, where the block is."""
        weighing = self.weighing
        return self.shape.center_on_grid(center, weighing.in_parts(scale), weighing.center_bits)

    def channel(self, center: Center, scales: Scales) -> Channel:
        """Make the block, which is on the grid, ready to be measured."""
        own = tuple(map(self.weighing.of_whole, scales))
        return self.shape.channel(self.quantum, center, own, self.weighing.quantum)
