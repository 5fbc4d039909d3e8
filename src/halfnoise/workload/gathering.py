"""How queries become blocks: what shares a scale of noise, or is measured together, is one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from halfnoise.checks import check_at_most, refuse
from halfnoise.errors import NotSupportedError
from halfnoise.workload.block import Block
from halfnoise.workload.crossing import crossing, used
from halfnoise.workload.nested import Nested
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.queries import Asked, Query
from halfnoise.workload.sets import Answered, AtMost, Box, Crossed, OneOf
from halfnoise.workload.tables import Said, Table, attributes, places_of
from halfnoise.workload.weights import Weighing, Weight

WEIGHED = (Answered, AtMost, Box, Crossed, OneOf)  # whose sums know what a weight does to them
KINDS = ("count", "sum", "mean", "choice", "bins", "items", "table")  # the order of blocks


def as_choices(
    asked: Sequence[Asked], importance: Mapping[str, float], *, largest: bool
) -> dict[str, Any]:
    """Return how a workload differs in which a table of one axis is the choice that it is.

    Where a table has more axes, or values or places are by cell, all tables are measured as one
    block, and stay. That of a table is importance for the mean of its cells, that of a choice for
    each category; where nothing is said, and where the ``largest`` error counts, they are the same.
    """
    if not (tables := [query for query in asked if isinstance(query, Table)]):
        return {}
    if any(len(table.axes) > 1 for table in tables):
        return {}
    axes = [query for query in asked if isinstance(query, Said)]
    values = any(isinstance(query, Count | Sum | Mean) and query.by for query in asked)
    if values or places_of(tables, axes):
        return {}
    found = attributes(tables, axes, used(tables, ()))
    weights = {axis.label: 1.0 for axis in axes if axis.label in found}
    more = [axis for label, axis in found.items() if label not in weights]
    for table in tables:
        cells = 1 if largest else len(found[table.label].names)
        weight = 1.0 if table.importance is None else table.importance / cells
        weights[table.label] = max(weights.get(table.label, 0.0), weight)
    kept = (query for query in asked if not isinstance(query, Table))
    said = {label: weight for label, weight in weights.items() if weight != 1}
    return {"queries": (*kept, *more), "importance": said | dict(importance)}


def blocks_of(
    asked: Sequence[Asked],
    importance: Mapping[str, float],
    at_most: int | None,
    *,
    public: bool = False,
) -> Iterator[Block]:
    """Gather counts of equal importance into one block, and all tables with what is by cell.

    Every other query is a block of its own. ``at_most``: how many of the counts one may have.
    ``public``: whether the number of people is.
    """
    counts: dict[float, list[Query]] = {}
    tables = [query for query in asked if isinstance(query, Table)]
    values = [q for q in asked if isinstance(q, Count | Sum | Mean) and q.by]
    axes = [query for query in asked if isinstance(query, Said)]
    crossed = set(used(tables, values, axes))
    inside = [*values, *(axis for axis in axes if axis.label in crossed)]
    others = [q for q in asked if not isinstance(q, Table | Nested) and q not in inside]
    for query in others:
        if query.kind == "count":
            counts.setdefault(importance.get(query.label, 1.0), []).append(query)
    if at_most is not None and len(counts) > 1:
        rule = "counts with a joint at_most must have equal importance"
        raise NotSupportedError(f"{rule}; leave one of the two out")
    if at_most is not None and not counts:
        raise refuse("at_most", "given together with counts", at_most)
    for weight, queries in counts.items():
        size = sum(query.shape.size for query in queries)
        label = queries[0].label if len(queries) == 1 else f"{size} counts"
        shape = AtMost.of(size, check_at_most(at_most, size))
        yield Block(kind="count", shape=shape, importance=weight, label=label, asked=tuple(queries))
    for kind in KINDS[1:]:
        for query in (query for query in others if query.kind == kind):
            shape, label = query.shape, query.label
            weight = importance.get(label, 1 / shape.width**2)
            yield Block(kind=kind, shape=shape, importance=weight, label=label, asked=(query,))
    if crossed:
        yield crossing(tables, axes, values, importance, public=public)


def weighed(blocks: Iterable[Block], weight: Weight | None) -> tuple[Block, ...]:
    """Return blocks that know how often people count: all on one grid of weights."""
    found = tuple(blocks)
    if weight is None:
        return found
    for block in found:
        placed = getattr(block, "nested", None)
        if type(block.shape) not in WEIGHED or placed:
            what = "places (Nested)" if placed else repr(block.label)
            rule = f"{what} cannot be weighted: their sums are not made for that"
            raise NotSupportedError(f"{rule}; ask for them in a release without weights")
    weighing = Weighing.of(weight, max(block.shape.finer for block in found))
    return tuple(replace(block, weighing=weighing) for block in found)
