"""The rules from rows to totals once more, slowly, in plain Python.

Rows are dictionaries of Python values. What every engine must agree with.
"""

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.workload.block import Block
from halfnoise.workload.categories import Bins, Choice, Items
from halfnoise.workload.column_query import ColumnQuery
from halfnoise.workload.conditions import Where
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.sets import AtMost
from halfnoise.workload.workload import Workload

Row = Mapping[str, Any]
ENDLESS = {"inf": math.inf, "infinity": math.inf}


def totals(
    rows: Sequence[Row], workload: Workload, grid: CenteredMeasurement, unit: Sequence[str]
) -> tuple[list[list[int]], int]:
    """Return the sums of each block and the number of people."""
    people: dict[object, list[Row]] = {}
    for i, row in enumerate(rows):
        if not all(meets(row, condition) for condition in workload.who):
            continue
        key: object = tuple(who(row[column]) for column in unit) if unit else i
        if not unit or None not in key:  # type: ignore[operator]
            people.setdefault(key, []).append(row)
    sums = []
    for block, on in zip(workload.blocks, grid.blocks, strict=True):
        total = [0] * block.shape.size
        for own in people.values():
            for i, x in enumerate(person(own, block.asked, on, block.shape)):
                total[i] += x
        sums.append(total)
    return sums, len(people)


def who(cell: Any) -> Any:
    """Return whom a row is about, or None."""
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell + 0.0
    return None if isinstance(cell, str) and not cell.strip() else cell


def person(rows: Sequence[Row], asked: Sequence[Any], on: Block, shape: Any) -> list[int]:
    """Return what one person adds to the sums of one block."""
    query = asked[0]
    if isinstance(query, Count):
        said = [int(any(says(row, each) for row in rows)) for each in asked]
        return shared(said, shape, on)
    rows = [row for row in rows if query.where is None or meets(row, query.where)]
    if isinstance(query, Items):
        have = [
            row[str(query.column)] for row in rows if not missing(row[str(query.column)], query)
        ]
        said = [int(any(same_item(cell, item) for cell in have)) for item in query.items]
        return shared(said, shape, on)
    if isinstance(query, Choice | Bins):
        return one_hot(rows, query)
    cells = [row[str(query.column)] for row in rows if not missing(row[str(query.column)], query)]
    values = [x for cell in cells if (x := number(cell)) is not None]
    low, high = (math.floor(Fraction(b) / on.quantum + Fraction(1, 2)) for b in query.bounds)
    if isinstance(query, Mean):
        steps = [on_grid(x, low, high, on.quantum) for x in values]
        return [(2 * sum(steps) + len(steps)) // (2 * len(steps)), 1] if steps else [0, 0]
    assert isinstance(query, Sum)
    if query.where is not None and not rows:
        return [0]
    total = sum(on_grid(x, min(low, 0), max(high, 0), on.quantum) for x in values)
    return [min(max(total, low), high)]


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


def one_hot(rows: Sequence[Row], query: Choice | Bins) -> list[int]:
    """Choose the first listed category that any row names."""
    cells = [
        None if missing(row[str(query.column)], query) else row[str(query.column)] for row in rows
    ]
    if isinstance(query, Bins):
        names: list[Any] = [*range(len(query.edges)), "other"]
        other: Any = "other"
        found = [
            sum(x >= e for e in query.edges) - 1 for c in cells if (x := number(c)) is not None
        ]
        chosen = {band for band in found if band >= 0}
    else:
        names, other = list(query.categories), query.other
        chosen = {c for c in names if c != other and any(equal(cell, c) for cell in cells)}
    first = next((name for name in names if name in chosen), other if rows else None)
    return [int(name == first) for name in names]


def says(row: Row, query: Count) -> bool:
    """Whether a row says yes."""
    if query.where is not None and not meets(row, query.where):
        return False
    cell = row[query.label if query.label in row else str(query.column)]
    if missing(cell, query):
        return False
    if query.condition is not None:
        return holds(cell, query.condition)
    if query.true:
        return any(equal(cell, code) for code in query.true)
    if isinstance(cell, str):
        return trim(cell).lower() in ("true", "yes", "y", "t") or number(cell) == 1
    return number(cell) == 1


def meets(row: Row, where: Where) -> bool:
    """Whether a row meets a condition."""
    cell = row[where.column]
    return not missing(cell, where) and holds(cell, where)


def missing(cell: Any, query: ColumnQuery | Where) -> bool:
    """Whether there is no value."""
    return cell is None or any(equal(cell, code) for code in query.codes)


def holds(cell: Any, where: Where) -> bool:
    """Whether a cell meets a condition."""
    if where.word in ("equals", "is_in"):
        return any(equal(cell, literal) for literal in where.values)
    days = [day(literal) for literal in where.values]
    value: Any = day(cell) if None not in days else number(cell)
    bounds: list[Any] = days if None not in days else [number(each) for each in where.values]
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


def equal(cell: Any, literal: Any) -> bool:
    """Whether a cell is a literal, as text, number or day."""
    if cell is None:
        return False
    if isinstance(cell, bool):
        return literal in (True, 1, "true", "1") if cell else literal in (False, 0, "false", "0")
    if isinstance(cell, dt.date):
        return day(cell) == day(literal)
    if isinstance(cell, str):
        spelled = number(literal)
        if isinstance(literal, bool):
            words = ("true", "yes", "y", "t") if literal else ("false", "no", "n", "f")
            return trim(cell).lower() in words or number(cell) == spelled
        same = trim(cell) == str(literal).strip() or None is not day(literal) == day(cell)
        return same or (spelled is not None and number(cell) == spelled)
    return number(cell) is not None and number(cell) == number(literal)


def same_item(cell: Any, item: Any) -> bool:
    """Whether a cell is an item: exactly as text, or as a whole number."""
    return trim(cell) == str(item) if isinstance(cell, str) else bool(cell == int(item))


def trim(text: str) -> str:
    """Strip spaces as ASCII knows them."""
    return text.strip(" \t\n\r\x0b\x0c")


def number(cell: Any) -> float | None:
    """Return a cell as a number, if it is one."""
    if isinstance(cell, str):
        text = trim(cell).lower()
        if text in ("true", "false"):
            return float(text == "true")
        if text.lstrip("+-") in ENDLESS and len(text) - len(text.lstrip("+-")) < 2:
            return -math.inf if text.startswith("-") else math.inf
        if not text.isascii() or not re.fullmatch(
            r"[+-]?(\d{1,30}(\.\d*)?|\.\d+)(e[+-]?\d+)?", text
        ):
            return None
        return float(text) if math.isfinite(float(text)) else None
    if cell is None or isinstance(cell, dt.date) or math.isnan(cell):
        return None
    return float(cell)


def day(cell: Any) -> dt.date | None:
    """Return a cell as a day, if it is one."""
    if isinstance(cell, dt.datetime):
        return cell.date()
    if isinstance(cell, dt.date):
        return cell
    if not isinstance(cell, str) or trim(cell)[10:11] not in ("", "T", " "):
        return None
    try:
        return dt.date.fromisoformat(trim(cell)[:10]) if trim(cell)[4:5] == "-" else None
    except ValueError:
        return None
