"""What can be asked of each person: counts, sums, means, choices, bands, items; places, tables."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from halfnoise.checks import refuse, said_twice
from halfnoise.errors import InvalidParameterError
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


def check_queries(queries: Sequence[Asked]) -> None:
    """Refuse what is no query, or no list of different ones."""
    if not queries:
        rule = "queries must hold at least one query, got none"
        raise InvalidParameterError(f'{rule}; for example [Count("smoker")]')
    for query in queries:
        if not isinstance(query, Asked):
            known = "a Count, Sum, Mean, Choice, Bins, Items, Nested or Table"
            raise refuse("query", known, query, 'for example Count("smoker")')
    # A mean has a name of its own beside those of its two sums.
    names = [query.label for query in queries if query.kind == "mean"]
    names += [name for query in queries for name in query.names]
    if len(set(names)) < len(names):
        rule = "ask it once, or give one another name"
        raise InvalidParameterError(f"the query {said_twice(names)!r} is asked twice; {rule}")
