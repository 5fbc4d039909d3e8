"""How queries become blocks: what shares a scale of noise, or is measured together, is one."""

from collections.abc import Iterator, Mapping, Sequence

from halfnoise.checks import check_at_most, refuse
from halfnoise.errors import NotSupportedError
from halfnoise.workload.block import Block
from halfnoise.workload.crossing import crossing, used
from halfnoise.workload.nested import Nested
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.queries import Asked, Query
from halfnoise.workload.sets import AtMost
from halfnoise.workload.tables import Said, Table

KINDS = ("count", "sum", "mean", "choice", "bins", "items", "table")  # the order of blocks


def blocks_of(
    asked: Sequence[Asked], importance: Mapping[str, float], at_most: int | None
) -> Iterator[Block]:
    """Gather counts of equal importance into one block, and all tables with what is by cell.

    Every other query is a block of its own. ``at_most``: how many of the counts one may have.
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
        yield crossing(tables, axes, values, importance)
