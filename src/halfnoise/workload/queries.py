"""What can be asked of each person: counts, sums, means, choices, bands, items; and tables."""

from typing import TypeAlias

from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.numbers import Counts
from halfnoise.workload.tables import Table

Query: TypeAlias = ColumnQuery | Counts
Asked: TypeAlias = Query | Table
