"""A block: queries of one kind that share a scale of noise."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from halfnoise.workload.queries import Query
from halfnoise.workload.sets import ContributionSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Queries of one kind that share a scale of noise; contributions are in ``quantum``."""

    kind: str
    shape: ContributionSet
    importance: float
    label: str
    asked: tuple[Query, ...] = field(default=(), compare=False, repr=False)
    quantum: Fraction = field(default=Fraction(1), compare=False, repr=False)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return 1 if self.kind == "mean" else self.shape.size

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

    def on_grid(self, scale: float) -> "Block":
        """Return the block with its bounds on the grid that fits noise of so large a scale."""
        quantum = self.shape.grain.quantum(self.shape.reach, scale)
        return replace(self, shape=self.shape.on(quantum, self.label), quantum=quantum)
