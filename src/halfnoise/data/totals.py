"""Exact totals: the sums over all people and the number of people, as integers.

The same on every engine, in every order and however the rows are split: only integers are added,
and no sum can overflow below 2^40 people (``workload.grid``).
"""

import operator
from collections.abc import Callable, Mapping, Sequence

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from halfnoise.data.apart import check_apart
from halfnoise.data.batches import are_many, batched, joined
from halfnoise.data.columns import Columns, beside
from halfnoise.data.contributions import Contribution
from halfnoise.data.expressions import expressions, roots
from halfnoise.data.groups import Frame, Groups, Values
from halfnoise.data.handed import ByColumn, Handed
from halfnoise.data.items import item_totals
from halfnoise.data.many import (
    Counted,
    ask_the_same,
    counted,
    counted_in_columns,
    counted_in_rows,
    have_types,
)
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.frames import added_up
from halfnoise.data.sources.source import Source
from halfnoise.data.tables import TableTotals, table_totals
from halfnoise.data.together import read_together
from halfnoise.data.weighing import WEIGHT, in_parts, size
from halfnoise.values import dataclass, replace
from halfnoise.workload.block import Block
from halfnoise.workload.categories import Items
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.grid import Ring
from halfnoise.workload.totals import Totals
from halfnoise.workload.weights import Weighing
from halfnoise.workload.workload import Workload

FAILED = (
    "the table could not be read to the end; check that every file is complete and of the format"
    " that its name says, and that an expression of yours cannot fail on a row"
)


def prepared(
    source: Source, workload: Workload, blocks: Sequence[Block], unit: Sequence[str] | None
) -> Callable[[], Totals]:
    """Return what reads the exact totals; what a column's type forbids is refused before that.

    **Guarantee.** All totals are of the same rows: where they take more than one scan, and the rows
    might differ from scan to scan, they are of a snapshot.
    """
    check_apart(workload, source.text.spelling)
    people, is_split = unit or (), source.in_rows is not None

    needed = _needed(workload, blocks, people)
    source.check(needed)
    source.check_whole()

    def at_once(block: Block) -> int:
        if people or not are_many(block) or not ask_the_same(workload, block):
            return 0
        typed = source.at_once if source.at_once and have_types(source, block) else 0
        return len(block.asked) if is_split else typed

    batches = batched(blocks, apart=not workload.discovers, most=at_once)

    def prepare(source: Source) -> list[_Prepared]:
        # In turns: whatever was begun before a table became known, DuckDB would look at once more.
        found = list[_Prepared]()
        for batch in batches:
            needed = _needed(workload, batch, people)
            if at_once(batch[0]):
                many = counted_in_rows if is_split else counted_in_columns
                table = source if is_split else source.of(needed)
                frame, read = many(table, batch[0])
                found.append(_Prepared([frame], read, scans=1))
            else:
                found.append(_prepared(source.of(needed), workload, batch, people))
        return found

    tried = quietly(lambda: prepare(source), FAILED)
    scans = sum(each.scans for each in tried)

    def add_up() -> Totals:
        rows = source.rows(needed, again=scans > 1)
        parts = tried if rows is source.frame else prepare(replace(source, frame=rows, narrow=None))
        handed = Handed([frame for part in parts for frame in part.frames], source.progress)
        return joined(blocks, batches, [part.read(handed) for part in parts])

    return lambda: quietly(lambda: source.read(add_up), FAILED)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Frames, what makes totals of what they say, and how often they go through the rows."""

    frames: Sequence[Frame]
    read: Callable[[Handed], Totals]
    scans: int


def _needed(workload: Workload, blocks: Sequence[Block], unit: Sequence[str]) -> list[str]:
    """Return the columns that are read for some blocks."""
    queries = [query for block in blocks for query in block.asked]
    named = [column for query in queries for column in query.columns]
    named += [each.column for each in beside(workload)]
    named += [c for e in expressions(queries).values() for c in sorted(roots(e))]
    return [*dict.fromkeys([*named, *unit, *workload.group_columns])]


def _prepared(
    source: Source, workload: Workload, blocks: Sequence[Block], unit: Sequence[str]
) -> _Prepared:
    columns = Columns.of(source, workload, blocks, unit)
    # Who does not meet the conditions is not in the table, before anything else is asked of it.
    who = [columns(condition).meets(condition) for condition in workload.who]
    frame = columns.frame.filter(*who) if who else columns.frame
    people, weighing = [f"unit{i}" for i in range(len(unit))], blocks[0].weighing
    frame = frame.filter(*columns.told) if people else frame
    if workload.weight is not None:
        weight = in_parts(columns(workload.weight), weighing)
        frame = frame.with_columns(**{WEIGHT: weight})
    groups = Groups.of(frame, workload.grouping, columns.by, people, weighing)
    parts = [_part(groups, block, columns, people, f"hn{i}") for i, block in enumerate(blocks)]
    wide = [part for part in parts if isinstance(part, Contribution)]
    together = _together(groups, wide, people, weighing)
    sizes = [len(part.person) for part in wide]
    # Where a person may be in several groups, or in none.
    everybody = groups.everybody
    if everybody is not None:
        all_of_them = nw.col(WEIGHT).sum() if weighing.bits else nw.len()
        everybody = everybody.select(all_of_them.alias("people"))
    frames = [together, *(part.frame for part in parts if not isinstance(part, Contribution))]
    frames += [] if everybody is None else [everybody]

    def read(handed: Handed) -> Totals:
        columns, present = _fetched(groups, handed, together)
        places = groups.places(present) if len(wide) < len(parts) else {}
        own_sums = iter(np.split(columns, np.cumsum(sizes), axis=1))
        sums = tuple(
            part.totals(next(own_sums))
            if isinstance(part, Contribution)
            else _own(part, handed, places, block.shape.size)
            for block, part in zip(blocks, parts, strict=True)
        )
        number, heads = columns[:, -1], None
        if weighing.bits:
            number, heads = columns[:, -2], columns[:, -1]
        everyone = number.sum(dtype=np.uint64, keepdims=True)
        if everybody is not None:
            (row,) = handed.rows(everybody)
            everyone = np.array([int(row[0] or 0)], dtype=np.uint64)
        keys = groups.keys(present)
        return Totals(sums=sums, people=number, everyone=everyone, heads=heads, keys=keys)

    return _Prepared(frames, read, scans=groups.scans + len(parts) - len(wide))


def _part(
    groups: Groups, block: Block, columns: Columns, people: Sequence[str], prefix: str
) -> Contribution | Counted | TableTotals:
    """Return how a block is read: as columns beside those of others, or, if long, in rows."""
    if isinstance(block, TableBlock):
        return table_totals(groups, block, columns, people)
    if isinstance(query := block.asked[0], Items):
        return item_totals(groups, query, block, columns, people)
    part = Contribution(block, columns, prefix, alone=not people)
    return counted(groups, part, people) if part.in_order else part


def _together(
    groups: Groups, parts: Sequence[Contribution], people: Sequence[str], weighing: Weighing
) -> Frame:
    """Return a row for each group: what names it, all sums and, last, the number of people."""
    group, named = groups.columns, groups.named
    table = read_together(groups.rows, parts, people, group, weighing)
    sums = {f"s{i}": e for i, e in enumerate(e for part in parts for e in part.person)}
    number = [nw.len().alias("heads" if weighing.bits else "people")]
    sums |= {"people": size(weighing)} if weighing.bits else {}
    if not group:
        return table.select(*(e.sum().alias(name) for name, e in sums.items()), *number)
    by = group if named is None else named.columns
    each = (nw.col(name).sum() for name in sums)
    added = table.select(*by, **sums).group_by(*by).agg(*each, *number)
    if named is None:
        # Keys that are found come in order, and so lie near each other in memory ever after.
        ordered = groups.number is None and added.implementation.is_duckdb()
        return added.sort(*group[1::2]) if ordered else added
    names = [*sums, "heads" if weighing.bits else "people"]
    if not added.implementation.is_spark_like():  # where a sum has more bits, as DuckDB's 128
        added = added.with_columns(nw.col(*names).cast(nw.Int64))
    added = added if named.read is None else named.read(added)
    return added_up(named.place(added), group[0], names, named.alone)


def _fetched(groups: Groups, handed: Handed, together: Frame) -> tuple[Ring, ByColumn]:
    """Return integers modulo 2^64 with a row for each group, and the groups that were found."""
    # Engines keep keys apart as we do; if one did not, nobody's rows would be lost.
    if not groups.columns:
        (row,) = handed.rows(together)
        return np.array([[int(value or 0) % 2**64 for value in row]], dtype=np.uint64), []
    if groups.number is not None:
        _, (at, *sums) = handed.columns(together, 0)
        return _added(at, sums, groups.number), []
    named, sums = handed.columns(together, len(groups.columns))
    if any(all(map(operator.lt, column, column[1:])) for column in named):
        return np.column_stack(sums).view(np.uint64), named  # each is there once
    places = dict[Values, int]()
    found = [places.setdefault(v, len(places)) for v in zip(*named, strict=True)]
    ring = _added(np.array(found, dtype=np.int64), sums, len(places))
    return ring, [[*column] for column in zip(*places, strict=True)]


def _added(at: NDArray[np.int64], sums: Sequence[NDArray[np.int64]], groups: int) -> Ring:
    """Return sums with a row for each group, each added where it belongs."""
    ring = np.zeros((groups, len(sums)), dtype=np.uint64)
    for i, own in enumerate(sums):
        np.add.at(ring[:, i], at, own.view(np.uint64))
    return ring


def _own(
    part: Counted | TableTotals, handed: Handed, places: Mapping[Values, int], size: int
) -> Ring:
    if isinstance(part, TableTotals):
        return part.ring(handed, places)
    return _ring(part.sums(handed.rows(part.frame)), places, size)


def _ring(rows: Mapping[Values, Sequence[int]], places: Mapping[Values, int], size: int) -> Ring:
    """Return integers modulo 2^64 with a row for each group; one that has no row has nobody."""
    ring = np.zeros((len(places), size), dtype=np.uint64)
    at = [places[group] for group in rows]
    values = (value % 2**64 for row in rows.values() for value in row)
    ring[at] = np.fromiter(values, dtype=np.uint64).reshape(len(at), size)
    return ring
