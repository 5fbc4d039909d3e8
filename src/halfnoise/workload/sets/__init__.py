"""What one person may contribute, set by set."""

from halfnoise.workload.sets.base import ContributionSet
from halfnoise.workload.sets.by_cell import ByCell, Wanted
from halfnoise.workload.sets.crossed import Crossed
from halfnoise.workload.sets.kinds import Answered, AtMost, Box, OneOf
from halfnoise.workload.sets.placed import Placed
from halfnoise.workload.sets.squared import Squared
from halfnoise.workload.sets.tree import Tree

__all__ = [
    "Answered",
    "AtMost",
    "Box",
    "ByCell",
    "ContributionSet",
    "Crossed",
    "OneOf",
    "Placed",
    "Squared",
    "Tree",
    "Wanted",
]
