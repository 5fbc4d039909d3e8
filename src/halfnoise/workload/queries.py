"""What can be asked of each person: counts, sums, means, choices, bands and items."""

from typing import TypeAlias

from halfnoise.workload.categories import Bins, Choice, Items
from halfnoise.workload.numbers import Count, Counts, Mean, Sum

Query: TypeAlias = Count | Counts | Sum | Mean | Choice | Bins | Items
