"""What can be asked of each person: counts, sums, means, choices, bands and items."""

from typing import TypeAlias

from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.numbers import Counts

Query: TypeAlias = ColumnQuery | Counts
