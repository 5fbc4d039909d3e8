"""The rules from rows to totals once more, slowly, in plain Python.

Rows are dictionaries of Python values. What every engine must agree with.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.workload.block import Block
from halfnoise.workload.categories import Bins, Choice, Items
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Where
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.nested import Level, Nested
from halfnoise.workload.numbers import Count, Mean, Squares, Sum
from halfnoise.workload.sets import AtMost
from halfnoise.workload.weights import Weight
from halfnoise.workload.workload import Workload
from support.slow_cells import SlowCells, is_nothing, literal_day, literal_number, trim

Row = Mapping[str, Any]
AS_EVER = SlowCells()
PARTS, ROW_BITS, ROW_PARTS = 2**22, 26, 2**28


def totals(
    rows: Sequence[Row],
    workload: Workload,
    grid: CenteredMeasurement,
    unit: Sequence[str],
    cells: SlowCells = AS_EVER,
) -> tuple[list[list[int]], int]:
    """Return the sums of each block and the number of people, or the sum of their weights."""
    people: dict[object, list[Row]] = {}
    for i, row in enumerate(rows):
        if not all(meets(row, condition, cells) for condition in workload.who):
            continue
        key: object = tuple(who(row[column]) for column in unit) if unit else i
        if not unit or None not in key:  # type: ignore[operator]
            people.setdefault(key, []).append(row)
    sums, weights = [], [weight(own, workload, grid, cells) for own in people.values()]
    for block, on in zip(workload.blocks, grid.blocks, strict=True):
        total = [0] * block.shape.size
        for own, k in zip(people.values(), weights, strict=True):
            adds = (
                crossed(own, on, cells, k)
                if isinstance(on, TableBlock)
                else person(own, block.asked, on, block.shape, cells, k)
            )
            for i, x in enumerate(adds):
                total[i] += x
        sums.append(rounded(total, on))
    return sums, sum(weights)


def weight(
    rows: Sequence[Row], workload: Workload, grid: CenteredMeasurement, cells: SlowCells
) -> int:
    """Return how often a person counts, in parts: once where nothing says otherwise."""
    if workload.weight is None:
        return 1
    weighing, said = grid.blocks[0].weighing, [row[workload.weight.column] for row in rows]
    known = [cell for cell in said if not missing(cell, workload.weight, cells)]
    numbers = [x for cell in known if (x := cells.number(cell)) is not None]
    low, high = float(weighing.lightest), float(weighing.heaviest)
    clipped = [Fraction(min(max(x, low), high)) for x in numbers]
    part = weighing.whole / (1 << weighing.bits)
    return max([weighing.low, *(math.floor(x / part + Fraction(1, 2)) for x in clipped)])


def who(cell: Any) -> Any:
    """Return whom a row is about, or None."""
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell + 0.0
    return None if is_nothing(cell) or (isinstance(cell, str) and not trim(cell)) else cell


def person(  # noqa: PLR0917  # as many as there are rules
    rows: Sequence[Row], asked: Sequence[Any], on: Block, shape: Any, cells: SlowCells, k: int = 1
) -> list[int]:
    """Return what one person of so many parts of a weight adds to the sums of one block."""
    query = asked[0]
    if isinstance(query, Count):
        said = [int(any(says(row, each, cells) for row in rows)) for each in asked]
        return shared(said, shape, on, k)
    rows = [row for row in rows if query.where is None or meets(row, query.where, cells)]
    if isinstance(query, Items):
        have = [code for row in rows for code in codes(row[str(query.column)], query, cells)]
        said = [int(any(is_item(code, item, cells) for code in have)) for item in query.items]
        return shared(said, shape, on, k)
    if isinstance(query, Choice | Bins):
        return [k * x for x in one_hot(rows, query, cells)]
    if isinstance(query, Squares):
        (low, high), one = query.bounds, on.weighing.whole / (1 << on.weighing.bits)
        value = min(max(float(k * one), low), high)
        return [weighed(on_grid(place(value, on), query, on), k, on)]
    given = [row[str(query.column)] for row in rows]
    given = [cell for cell in given if not missing(cell, query, cells)]
    values = [x for cell in given if (x := cells.number(cell)) is not None]
    low, high = query.bounds
    if isinstance(query, Mean):
        places = [place(min(max(x, low), high), on) for x in values]
        average = together(places) / len(places) if places else 0.0
        own = [weighed(on_grid(average, query, on), k, on), k, square(average, query, on)]
        return [each * bool(places) for each in own[: len(query.names)]]
    assert isinstance(query, Sum)
    value = min(max(0.0, low), high) if rows or query.where is None else 0.0
    if values:
        least, most = min(low, 0.0), max(high, 0.0)
        unit = 2.0 ** (math.frexp(max(-least, most))[1] - ROW_BITS)
        total = together([min(max(x, least), most) / unit for x in values]) * unit
        value = min(max(total, low), high)
    return [weighed(on_grid(place(value, on), query, on), k, on)]


def square(x: float, query: Mean, on: Block) -> int:
    """Return the squared distance of a place, in whole quanta, from the middle.

    Squares are counted in steps, of which the largest is at most a quarter of the range.
    """
    assert on.shape.bounds is not None
    ends = [place(bound, on) for bound in query.bounds]
    low, high = (Fraction(bound) / on.quantum for bound in on.shape.bounds)
    away = nearest(on) / on.quantum + math.floor(min(max(x, ends[0]), ends[1])) - (low + high) / 2
    by = 4
    while by <= 4 * (high - low):
        by *= 2
    return int((2 * away) ** 2 // by)


def weighed(x: int, k: int, on: Block) -> int:
    """Return a value times a weight, in parts of a whole one, rounded down."""
    return x * k // (1 << on.weighing.bits)


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


def crossed(rows: Sequence[Row], on: TableBlock, cells: SlowCells, k: int = 1) -> list[int]:
    """Put a person's values in one cell of every table of people, and of every value."""
    own = [] if on.nested is None else places_of(rows, on.nested, cells)
    own += [one_hot(rows, a, cells).index(1) for a in on.axes if not isinstance(a, Level)]
    adds = [k]
    for query, value in zip(on.values, on.shape.values, strict=True):
        about: Any = {"kind": query.kind, "shape": query.shape, "label": query.label}
        alone = Block(**about, importance=1.0, weighing=on.weighing)
        if not isinstance(query, Count):
            shape = query.shape.on(value.quantum)
            alone = replace(alone, shape=shape, quantum=value.quantum, offset=value.middle)
        adds += person(rows, [query], alone, query.shape, cells, k)
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


def place(x: float, on: Block) -> float:
    """Return how many quanta a value is above the point nearest to zero."""
    return (x - float(nearest(on))) / float(on.quantum)


def nearest(on: Block) -> Fraction:
    """Return the point between the bounds on the grid that is nearest to zero."""
    assert on.shape.bounds is not None
    low, high = map(Fraction, on.shape.bounds)
    return min(max(low, Fraction(0)), high)


def together(places: Sequence[float]) -> float:
    """Add up rows of one person, as whole numbers and parts of 2^-28."""
    whole = [math.floor(x) for x in places]
    parts = [math.floor((x - y) * ROW_PARTS) for x, y in zip(places, whole, strict=True)]
    return float(sum(whole)) + float(sum(parts)) / ROW_PARTS


def on_grid(x: float, query: Sum | Mean, on: Block) -> int:
    """Keep a place within its bounds, and return it from the offset, in parts of 2^-22 quanta."""
    low, high = (place(bound, on) for bound in query.bounds)
    x = min(max(x, low), high) if isinstance(query, Mean) else x
    start = (nearest(on) - on.offset) / on.quantum
    assert start.denominator == 1
    whole = math.floor(x)
    return (int(start) + whole) * PARTS + math.floor((x - whole) * PARTS)


def rounded(total: list[int], on: Block) -> list[int]:
    """Round totals of values, which are in parts, to quanta: half up."""
    pairs = zip(total, of_values(on, len(total)), strict=True)
    return [(x + PARTS // 2) // PARTS if own else x for x, own in pairs]


def of_values(on: Block, size: int) -> list[bool]:
    """Return which totals of a block are of values, not of people."""
    if not isinstance(on, TableBlock):
        return [on.kind in ("sum", "mean"), *[False] * (size - 1)]
    found = list[bool]()
    for layer in on.shape.layers:
        kind = None if layer.value is None else on.values[layer.value]
        own = isinstance(kind, Sum | Mean) and not layer.answers
        found += [own] * sum(
            math.prod(on.shape.levels[axis] for axis in axes) for axes in layer.axes
        )
    return found


def shared(said: list[int], shape: Any, on: Block, k: int) -> list[int]:
    """Scale a person with more than allowed down."""
    if not isinstance(shape, AtMost):
        return [k * x for x in said]
    whole = k if on.weighing.bits else int(1 / on.quantum)
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


def missing(cell: Any, query: ColumnQuery | Where | Weight, cells: SlowCells) -> bool:
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
