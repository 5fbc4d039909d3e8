"""Groups by an attribute of tables: its list is that of the groups, and inside there is none."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from halfnoise.checks import is_name
from halfnoise.errors import InvalidParameterError
from halfnoise.workload.by import By
from halfnoise.workload.categories import Bins, Choice
from halfnoise.workload.crossing import used
from halfnoise.workload.listing import OTHER, check_by
from halfnoise.workload.nested import Nested
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.queries import Asked
from halfnoise.workload.tables import Table


def by_axes(
    queries: Sequence[Asked],
    by: object,
    groups: object,
    other: str | None,
    importance: Mapping[str, float],
) -> dict[str, Any]:
    """Return how a workload differs whose groups are by choices or bands that it asks for.

    The groups are those of the list; inside them no table is by it, as each group is one category.
    Where groups are said as well, an axis of tables is refused.
    """
    if by is None:
        return {}
    columns = check_by(by)
    plain = {each.column for each in columns if each.every is None and each.bands is None}
    axes = _lists(queries, plain)
    if groups is not None:
        _refuse_axes(queries, [axis.label for axis in axes])
        return {}
    listed = _one_each(axes)
    if plain - listed.keys() or not listed:
        return {}
    known = [_banded(each, listed.get(each.column)) for each in columns]
    lists = {column: _groups(a) for column, a in listed.items() if isinstance(a, Choice)}
    gone = {axis.label for axis in listed.values()}
    tables = [query for query in queries if isinstance(query, Table)]
    smaller = {each.label for each in tables if set() < gone & {*each.labels} < {*each.labels}}
    lost = {name: weight for name, weight in importance.items() if name in smaller}
    kept = _without(queries, gone, lost)
    if not kept:
        rule = f"groups by {known[0].column!r} have nothing to be asked inside them"
        raise InvalidParameterError(f"{rule}; leave by out: the choice itself counts people")
    found: dict[str, Any] = {"by": tuple(known), "queries": tuple(kept)}
    names = {*(axis.other for axis in listed.values())}
    if other == OTHER and len(names) == 1 and is_name(own := names.pop()):
        found["other"] = own
    if lists:
        found["groups"] = lists if len(columns) > 1 else next(iter(lists.values()))
    return found | {"importance": {n: w for n, w in importance.items() if n not in lost}}


def _lists(queries: Sequence[Asked], columns: Collection[str]) -> list[Choice | Bins]:
    """Return all that may be an axis and is of one of these columns."""
    own = [axis for query in queries if isinstance(query, Table) for axis in query.own]
    found = [each for each in (*queries, *own) if isinstance(each, Choice | Bins)]
    named = [each for each in found if isinstance(each.column, str) and each.where is None]
    return [each for each in named if each.column in columns]


def _one_each(axes: Iterable[Choice | Bins]) -> dict[str, Choice | Bins]:
    """Return axes by their columns, each of which has one list."""
    found = dict[str, Choice | Bins]()
    for axis in axes:
        column = str(axis.column)
        if found.setdefault(column, axis) != axis:
            rule = f"groups are by {column!r}, which has two lists of categories"
            raise InvalidParameterError(f"{rule}; use one of them in all tables and choices")
    return found


def _banded(by: By, axis: Choice | Bins | None) -> By:
    return replace(by, bands=axis.edges, missing=axis.missing) if isinstance(axis, Bins) else by


def _groups(choice: Choice) -> list[Any]:
    return [category for category in choice.categories if category != choice.other]


def _refuse_axes(queries: Sequence[Asked], labels: Sequence[str]) -> None:
    tables = [query for query in queries if isinstance(query, Table)]
    values = [q for q in queries if isinstance(q, Count | Sum | Mean) and q.by]
    if any(isinstance(each, Nested) for each in (*queries, *(x for t in tables for x in t.own))):
        return  # places do not go with groups at all
    for label in (each for each in used(tables, values) if each in labels):
        rule = f"groups are by {label!r}, so that inside them it is no axis of tables"
        remedy = "leave groups out, which are then those of its list, or leave it out of tables"
        raise InvalidParameterError(f"{rule}; {remedy}")


def _without(queries: Sequence[Asked], gone: set[str], weights: Mapping[str, float]) -> list[Asked]:
    """Return queries without what is by some labels alone, and tables, weighed, without these."""
    found, tables = list[Asked](), dict[frozenset[str], Table]()
    for query in queries:
        if isinstance(query, Table):
            labelled = zip(query.axes, query.labels, strict=True)
            if axes := [axis for axis, label in labelled if label not in gone]:
                weight = weights.get(query.label, query.importance)
                table = replace(query, axes=axes, importance=weight)
                key = frozenset(table.labels)
                tables[key] = _both(tables.get(key, table), table)
        elif isinstance(query, Count | Sum | Mean) and query.by:
            parts = [tuple(x for x in part if x not in gone) for part in (query.by, *query.within)]
            several = dict.fromkeys(part for part in parts if part)
            by, *within = several or {(): None}
            found.append(replace(query, by=by, within=within))
        elif not (isinstance(query, Choice | Bins) and query.label in gone):
            found.append(query)
    return [*found, *tables.values()]


def _both(one: Table, other: Table) -> Table:
    """Return one table for two by the same axes: what each says of them, and the larger weights."""
    axes = one.axes if len(one.own) >= len(other.own) else other.axes
    said = {one.importance, other.importance}
    importance = None if said == {None} else max(each or 1.0 for each in said)
    return Table(axes, importance=importance, margins=max(one.margins, other.margins))
