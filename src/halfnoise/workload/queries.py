"""What can be asked of each person: counts, sums, means, choices, bands and items."""

from typing import TypeAlias

from halfnoise.workload.asked import Asked
from halfnoise.workload.categories import Bins, Choice, Items, at_most_shape, check_at_most
from halfnoise.workload.numbers import Count, Counts, Mean, Sum

Query: TypeAlias = Count | Counts | Sum | Mean | Choice | Bins | Items
"""Any query."""

__all__ = [
    "Asked",
    "Bins",
    "Choice",
    "Count",
    "Counts",
    "Items",
    "Mean",
    "Query",
    "Sum",
    "at_most_shape",
    "check_at_most",
]
