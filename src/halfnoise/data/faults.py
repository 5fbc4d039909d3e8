"""All for which the columns of a table are refused; no row is read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from narwhals.dtypes import DType

from halfnoise.data.cells import Cell
from halfnoise.data.columns import beside
from halfnoise.data.groups import check_keys
from halfnoise.data.sources import Source
from halfnoise.data.totals import prepared
from halfnoise.data.who import who
from halfnoise.errors import HalfnoiseError
from halfnoise.workload.queries import each_alone
from halfnoise.workload.workload import Workload


def column_faults(
    source: Source, workload: Workload, unit: Sequence[str]
) -> Iterator[HalfnoiseError]:
    """Yield what is refused: columns that are not there, and what those that are cannot be."""
    named = [column for query in workload.queries for column in query.columns]
    named += [*(each.column for each in beside(workload)), *unit, *workload.group_columns]
    columns = [*dict.fromkeys(named)]
    there = columns if source.extract is not None else [c for c in columns if c in source.dtypes]
    for column in columns:
        if column not in there:
            yield from _refusal(partial(source.of, [column, *there]))
    whole = [] if len(there) < len(columns) else [*_refusal(partial(_read, source, workload, unit))]
    if whole or len(there) < len(columns):
        parts = [*_of_parts(source.of(there), workload, unit)]
        yield from {str(error): error for error in parts or whole}.values()


def types_of(source: Source, columns: Sequence[str]) -> dict[str, DType]:
    """Return the types of those columns that there are."""
    table = source if source.extract is None else source.of(columns)
    return {column: table.dtypes[column] for column in columns if column in table.dtypes}


def _read(source: Source, workload: Workload, unit: Sequence[str]) -> None:
    blocks = [block.on_grid(None, block.shape.reach(None)) for block in workload.blocks]
    prepared(source, workload, blocks, unit)


def _of_parts(table: Source, workload: Workload, unit: Sequence[str]) -> Iterator[HalfnoiseError]:
    """Yield what is refused of each query, condition, unit and group by itself."""
    dtypes, spelling = table.dtypes, table.text.spelling
    for query in each_alone(workload.queries):
        if all(column in dtypes for column in query.columns):
            yield from _refusal(partial(_read, table, Workload([query]), ()))
    for where in workload.who:
        if where.column in dtypes:
            cell = Cell(name="", dtype=dtypes[where.column], label=where.column, spelling=spelling)
            yield from _refusal(partial(replace(cell, missing=where.codes).meets, where))
    if (weight := workload.weight) is not None and weight.column in dtypes:
        cell = Cell(name="", dtype=dtypes[weight.column], label=weight.column, spelling=spelling)
        yield from _refusal(cell.number)
    for column in unit:
        if column in dtypes:
            cell = Cell(name="", dtype=dtypes[column], label=column)
            yield from _refusal(partial(who, cell))
    grouping = workload.grouping
    if grouping is not None and all(by.column in dtypes for by in grouping.by):
        yield from _refusal(partial(check_keys, dtypes, grouping, spelling))


def _refusal(work: Callable[[], object]) -> Iterator[HalfnoiseError]:
    try:
        work()
    except HalfnoiseError as error:
        yield error
