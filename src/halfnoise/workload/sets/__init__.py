"""What one person may contribute, set by set."""

from halfnoise.workload.sets.answers import Answered, OneOf
from halfnoise.workload.sets.base import ContributionSet
from halfnoise.workload.sets.counts import AtMost, Box

__all__ = ["Answered", "AtMost", "Box", "ContributionSet", "OneOf"]
