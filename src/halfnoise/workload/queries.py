"""What can be asked of each person: counts, sums, means, choices, bands, items; places, tables."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.nested import Nested
from halfnoise.workload.numbers import Count, Counts, Mean, Sum
from halfnoise.workload.tables import Table

Query: TypeAlias = ColumnQuery | Counts
Asked: TypeAlias = Query | Table | Nested


def each_alone(queries: Sequence[Asked]) -> Iterator[Query]:
    """Go through all that reads a column as if it were asked by itself, the axes of tables too.

    >>> from halfnoise.workload.categories import Bins, Choice
    >>> table = Table([Choice("sex", ["f", "m"]), Bins("age", [18, 65])])
    >>> [query.label for query in each_alone([Count("smoker", by=["sex"]), table])]
    ['smoker', 'sex', 'age']
    """
    for query in queries:
        if isinstance(query, Table | Nested):
            for axis in query.own if isinstance(query, Table) else (query,):
                yield from axis.choices if isinstance(axis, Nested) else (axis,)
        elif isinstance(query, Count | Sum | Mean):
            yield replace(query, by=(), within=())
        else:
            yield query
