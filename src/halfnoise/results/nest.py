"""Which axes of a release are levels of places inside places, and how these lie in each other."""

from collections.abc import Iterator, Sequence
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.design.covariance import Covariance
from halfnoise.design.placed_errors import PlacedErrors
from halfnoise.values import dataclass
from halfnoise.workload.question import Question
from halfnoise.workload.sets.residuals import place_of
from halfnoise.workload.sets.tree import NOWHERE, Tree

Labels: TypeAlias = tuple[str, ...]
Whole: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Nest:
    """``levels``: the labels of all levels, coarse ones first; in a table they stand first."""

    levels: Labels = ()
    tree: Tree = NOWHERE

    @classmethod
    def of(cls, questions: Sequence[Question], covariance: Covariance) -> Self:
        """Return the places of a release; most have none."""
        tables, found = covariance.tables, dict[int, str]()
        if not isinstance(tables, PlacedErrors):
            return cls()
        axes = {start: axes for _, axes, start, _ in tables.tables}
        for question in (each for each in questions if each.axes):
            for level in place_of(axes[question.start], tables.deep):
                found[level] = question.axes[0][0]
        return cls(tuple(found[level] for level in sorted(found)), tables.tree)

    def level(self, labels: Labels) -> int:
        """Return by which level a table is, -1 where by none."""
        return self.levels.index(labels[0]) if {*labels[:1]} & {*self.levels} else -1

    def order(self, labels: Labels) -> tuple[int, int]:
        """Return what sorts margins, and tables by coarser places, before what adds up to them."""
        level = self.level(labels)
        return len(labels) - (level >= 0), level

    def around(self, labels: Labels) -> Iterator[Labels]:
        """Go through the same table by coarser places, the next one first."""
        level, plain = self.level(labels), labels[1:]
        yield from ((self.levels[each], *plain) for each in reversed(range(level)))
        if level >= 0:
            yield plain

    def holds(self, around: str, label: str) -> bool:
        """Whether one label is of places that hold those of another."""
        both = (around, label)
        known = {*both} <= {*self.levels} and around != label
        return known and self.levels.index(around) < self.levels.index(label)

    def above(self, label: str, around: str) -> Whole:
        """Return which place each place of a level is in."""
        return self.tree.above(self.levels.index(label), self.levels.index(around))

    def alike(self, level: int) -> Iterator[tuple[Whole, Whole]]:
        """Go through places that have as many inside: these, and those inside, a row for each."""
        children = np.array(self.tree.children[level])
        for number in np.unique(children):
            at = np.flatnonzero(children == number)
            yield at, self.tree.starts[level][at][:, np.newaxis] + np.arange(number)
