"""The rules from rows to totals once more, slowly, in plain Python.

Rows are dictionaries of Python values. What every engine must agree with.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.workload.block import Block
from halfnoise.workload.categories import Bins, Choice, Items
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Where
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.nested import Level, Nested
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.sets import AtMost
from halfnoise.workload.workload import Workload
from support.slow_cells import SlowCells, is_nothing, literal_day, literal_number, trim

Row = Mapping[str, Any]
AS_EVER = SlowCells()


def totals(
    rows: Sequence[Row],
    workload: Workload,
    grid: CenteredMeasurement,
    unit: Sequence[str],
    cells: SlowCells = AS_EVER,
) -> tuple[list[list[int]], int]:
    """Return the sums of each block and the number of people."""
    people: dict[object, list[Row]] = {}
    for i, row in enumerate(rows):
        if not all(meets(row, condition, cells) for condition in workload.who):
            continue
        key: object = tuple(who(row[column]) for column in unit) if unit else i
        if not unit or None not in key:  # type: ignore[operator]
            people.setdefault(key, []).append(row)
    sums = []
    for block, on in zip(workload.blocks, grid.blocks, strict=True):
        total = [0] * block.shape.size
        for own in people.values():
            adds = (
                crossed(own, on, cells)
                if isinstance(on, TableBlock)
                else person(own, block.asked, on, block.shape, cells)
            )
            for i, x in enumerate(adds):
                total[i] += x
        sums.append(total)
    return sums, len(people)


def who(cell: Any) -> Any:
    """Return whom a row is about, or None."""
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell + 0.0
    return None if is_nothing(cell) or (isinstance(cell, str) and not cell.strip()) else cell


def person(
    rows: Sequence[Row], asked: Sequence[Any], on: Block, shape: Any, cells: SlowCells
) -> list[int]:
    """Return what one person adds to the sums of one block."""
    query = asked[0]
    if isinstance(query, Count):
        said = [int(any(says(row, each, cells) for row in rows)) for each in asked]
        return shared(said, shape, on)
    rows = [row for row in rows if query.where is None or meets(row, query.where, cells)]
    if isinstance(query, Items):
        have = [code for row in rows for code in codes(row[str(query.column)], query, cells)]
        said = [int(any(is_item(code, item, cells) for code in have)) for item in query.items]
        return shared(said, shape, on)
    if isinstance(query, Choice | Bins):
        return one_hot(rows, query, cells)
    given = [row[str(query.column)] for row in rows]
    given = [cell for cell in given if not missing(cell, query, cells)]
    values = [x for cell in given if (x := cells.number(cell)) is not None]
    low, high = (math.floor(Fraction(b) / on.quantum + Fraction(1, 2)) for b in query.bounds)
    if isinstance(query, Mean):
        steps = [on_grid(x, low, high, on.quantum) for x in values]
        return [(2 * sum(steps) + len(steps)) // (2 * len(steps)), 1] if steps else [0, 0]
    assert isinstance(query, Sum)
    if query.where is not None and not rows:
        return [0]
    total = sum(on_grid(x, min(low, 0), max(high, 0), on.quantum) for x in values)
    return [min(max(total, low), high)]


def places_of(rows: Sequence[Row], nested: Nested, cells: SlowCells) -> list[int]:
    """Put a person in the place that a row names farthest down, the first one in the list."""
    found = list[tuple[int, int]]()
    for row in rows:
        said = [one_hot([row], choice, cells).index(1) for choice in nested.choices]
        path = [choice.categories[at] for choice, at in zip(nested.choices, said, strict=True)]
        for at, place in enumerate(nested.places):
            agree = [one == other for one, other in zip(place, path, strict=False)]
            found.append((-[*agree, False].index(False), at))
    deep, at = min(found)
    first = (*nested.places[at][:-deep], *[nested.other] * len(nested.columns))
    return [level.paths.index(first[: i + 1]) for i, level in enumerate(nested.levels)]


def crossed(rows: Sequence[Row], on: TableBlock, cells: SlowCells) -> list[int]:
    """Put a person's values in one cell of every table of people, and of every value."""
    own = [] if on.nested is None else places_of(rows, on.nested, cells)
    own += [one_hot(rows, a, cells).index(1) for a in on.axes if not isinstance(a, Level)]
    adds = [1]
    for query, value in zip(on.values, on.shape.values, strict=True):
        about: Any = {"kind": query.kind, "shape": query.shape, "label": query.label}
        alone = Block(**about, importance=1.0, quantum=value.quantum)
        adds += person(rows, [query], alone, query.shape, cells)
    found = []
    for layer, x in zip(on.shape.layers, adds, strict=True):
        for axes in layer.axes:
            table = [0] * math.prod(on.shape.levels[axis] for axis in axes)
            place = 0
            for axis in axes:
                place = place * on.shape.levels[axis] + own[axis]
            table[place] = x
            found += table
    return found


def on_grid(x: float, low: int, high: int, unit: Fraction) -> int:
    """Clip, and round half up."""
    x = min(max(x, float(low * unit)), float(high * unit))
    return math.floor(Fraction(x) / unit + Fraction(1, 2))


def shared(said: list[int], shape: Any, on: Block) -> list[int]:
    """Scale a person with more than allowed down."""
    if not isinstance(shape, AtMost):
        return said
    whole = int(1 / on.quantum)
    return [x * (shape.most * whole // max(sum(said), shape.most)) for x in said]


def one_hot(rows: Sequence[Row], query: Choice | Bins, cells: SlowCells) -> list[int]:
    """Choose the first listed category that any row names."""
    each = {(type(cell), cell): cell for cell in (row[str(query.column)] for row in rows)}
    given = [None if missing(cell, query, cells) else cell for cell in each.values()]
    if isinstance(query, Bins):
        names: list[Any] = [*range(len(query.edges)), "other"]
        other: Any = "other"
        found = [
            sum(x >= e for e in query.edges) - 1
            for cell in given
            if (x := cells.number(cell)) is not None
        ]
        chosen = {band for band in found if band >= 0}
    else:
        names, other = list(query.categories), query.other
        chosen = {c for c in names if c != other and any(cells.equal(cell, c) for cell in given)}
    first = next((name for name in names if name in chosen), other if rows else None)
    return [int(name == first) for name in names]


def says(row: Row, query: Count, cells: SlowCells) -> bool:
    """Whether a row says yes."""
    if query.where is not None and not meets(row, query.where, cells):
        return False
    cell = row[query.label if query.label in row else str(query.column)]
    if missing(cell, query, cells):
        return False
    if query.condition is not None:
        return holds(cell, query.condition, cells)
    if query.true:
        return any(cells.equal(cell, code) for code in query.true)
    return cells.is_yes(cell)


def meets(row: Row, where: Where, cells: SlowCells) -> bool:
    """Whether a row meets a condition."""
    cell = row[where.column]
    return not missing(cell, where, cells) and holds(cell, where, cells)


def missing(cell: Any, query: ColumnQuery | Where, cells: SlowCells) -> bool:
    """Whether there is no value."""
    return is_nothing(cell) or any(cells.equal(cell, code) for code in query.codes)


def holds(cell: Any, where: Where, cells: SlowCells) -> bool:
    """Whether a cell meets a condition."""
    if where.word in ("equals", "is_in"):
        return any(cells.equal(cell, literal) for literal in where.values)
    days = [literal_day(literal) for literal in where.values]
    value: Any = cells.number(cell) if None in days else cells.day(cell)
    bounds: list[Any] = [*map(literal_number, where.values)] if None in days else days
    first, last = bounds[0], bounds[-1]
    if value is None:
        return False
    return bool(
        {
            "at_least": value >= first,
            "above": value > first,
            "below": value < first,
            "up_to": value <= first,
            "between": first <= value <= last,
        }[where.word]
    )


def codes(cell: Any, query: Items, cells: SlowCells) -> list[Any]:
    """Return the codes in a cell."""
    if missing(cell, query, cells):
        return []
    if query.split is None or not isinstance(cell, str):
        return [cell]
    found = trim(cell).split(query.split) if len(trim(cell)) <= 10_000 else []
    return [part for part in found if trim(part) and not missing(part, query, cells)]


def is_item(code: Any, item: Any, cells: SlowCells) -> bool:
    """Whether a code is an item, or begins with it, or is the whole number."""
    if not isinstance(code, str):
        return bool(code == int(item))
    if str(item).endswith("\\*"):
        return cells.code(code) == cells.code(f"{item[:-2]}*")
    if str(item).endswith("*"):
        return cells.code(code).startswith(cells.code(item[:-1]))
    return cells.code(code) == cells.code(str(item))
