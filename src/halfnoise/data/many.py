"""Many categories, and many counts, in rows and not in columns, of which each has its price.

Of a choice or of bands, people are counted by rank. Of counts that ask the same of cells of a text
file, where each line is a person, cells become rows, so that lines are split once for all of them.
Of cells that have a type, they stay in columns, and what is asked is said once for all of a type.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeGuard

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.dtypes import DType

from halfnoise.data.cells import Cell
from halfnoise.data.contributions import Contribution, yes_of
from halfnoise.data.groups import Frame, Groups, Values
from halfnoise.data.handed import Handed, Rows
from halfnoise.data.logic import FEW
from halfnoise.data.sources.duckdb_relations import Rule
from halfnoise.data.sources.frames import summed
from halfnoise.data.sources.source import Source
from halfnoise.data.sources.split import CELL, PLACE
from halfnoise.data.together import read_together
from halfnoise.data.weighing import WEIGHT
from halfnoise.values import dataclass
from halfnoise.workload.block import Block
from halfnoise.workload.numbers import Count
from halfnoise.workload.totals import Totals
from halfnoise.workload.workload import Workload


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows of counts, and what makes sums for each group of them."""

    frame: Frame
    sums: Callable[[Rows], dict[Values, list[int]]]


def counted(groups: Groups, part: Contribution, people: Sequence[str]) -> Counted:
    """Return how many people there are of each rank, put in the order of the categories."""
    group, (rank,), weighing = groups.columns, part.rows, part.block.weighing
    table = read_together(groups.placed, [part], people, group, weighing)
    total = nw.col(WEIGHT).sum() if weighing.bits else nw.len()
    totals = table.group_by(*group, rank).agg(total.alias("hn_total"))
    places = {rank: place for place, rank in enumerate(part.in_order)}

    def added(rows: Rows) -> dict[Values, list[int]]:
        sums: dict[Values, list[int]] = {}
        for *values, own, total in rows:
            if own not in places:  # nobody is to be counted
                continue
            group = tuple(values)
            if group not in sums:
                sums[group] = [0] * len(places)
            sums[group][places[own]] = int(total)
        return sums

    return Counted(totals, added)


def ask_the_same(workload: Workload, block: Block) -> bool:
    """Whether all lines of a table are asked, and the counts of a block ask the same of cells."""
    ones, size = block.shape.ones, block.shape.size
    if workload.grouping is not None or workload.who or ones not in (None, size):
        return False
    if workload.weight is not None:
        return False
    # In words: 1 and True are equal, but not the same.
    rules = {repr((q.listed, q.codes)) if _is_plain(q) else None for q in block.asked}
    return len(rules) == 1 and None not in rules


def _is_plain(query: object) -> TypeGuard[Count]:
    """Whether a query counts who says yes, or a listed code, in a column of the table."""
    if not isinstance(query, Count) or not isinstance(query.column, str):
        return False
    return query.listed is not None and query.where is None


def have_types(source: Source, block: Block) -> bool:
    """Whether no cell that a block counts is text, nor one of a long list: both have long rules."""
    queries = [query for query in block.asked if _is_plain(query)]
    if any(len(query.listed or ()) > FEW or len(query.codes) > FEW for query in queries):
        return False
    kinds = {source.dtypes[str(query.column)] for query in queries}
    return all(kind == nw.Boolean or kind.is_numeric() for kind in kinds)


def counted_in_columns(source: Source, block: Block) -> tuple[Frame, Callable[[Handed], Totals]]:
    """Return what adds up many counts that ask the same of numbers, where each row is a person."""
    queries = [query for query in block.asked if _is_plain(query)]
    rules, asked = dict[DType, Rule](), list[tuple[str, Rule]]()
    for query in queries:
        column = str(query.column)
        if (kind := source.dtypes[column]) not in rules:
            cell = Cell(
                name=column,
                dtype=kind,
                label=column,
                missing=query.codes,
                spelling=source.text.spelling,
                branches=True,
                nulled=source.nulled,
            )
            rules[kind] = partial(yes_of, cell, query.listed or ())
        asked.append((source.names[column], rules[kind]))
    totals = summed(source.frame, asked)

    def read(handed: Handed) -> Totals:
        ((*sums, people),) = handed.rows(totals)
        ring = np.array([[int(each or 0) for each in sums]], dtype=np.uint64)
        number = np.array([int(people)], dtype=np.uint64)
        return Totals(sums=(ring,), people=number, everyone=number)

    return totals, read


def counted_in_rows(source: Source, block: Block) -> tuple[Frame, Callable[[Handed], Totals]]:
    """Return what adds up many counts that ask the same, where each line is a person."""
    queries = [query for query in block.asked if _is_plain(query)]
    assert source.in_rows is not None  # noqa: S101  # lines are split
    cells, query = source.in_rows([str(query.column) for query in queries]), queries[0]
    frame = cells.frame
    cell = Cell(
        name=CELL,
        dtype=nw.String(),
        label="",
        missing=query.codes,
        spelling=cells.text.spelling,
        branches=bool(frame.implementation.is_duckdb()),
        nulled=cells.nulled,
    )
    rows = frame.select(PLACE, hn_yes=cell.yes(query.listed or ()).cast(nw.Int16))
    totals = rows.group_by(PLACE).agg(nw.col("hn_yes").sum(), nw.len().alias("hn_people"))

    def read(handed: Handed) -> Totals:
        sums, people = np.zeros((1, len(queries)), dtype=np.uint64), 0
        for place, yes, lines in handed.rows(totals):
            sums[0, place], people = int(yes or 0), int(lines)  # as many lines for each of them
        number = np.array([people], dtype=np.uint64)
        return Totals(sums=(sums,), people=number, everyone=number)

    return totals, read
