import functools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from support import engines, reference
from support.measured import grid_for
from support.nasty import (
    ADULT,
    AMOUNTS,
    COUNTS,
    ITEMS,
    MANY,
    NOVEMBER,
    PLACES,
    TABLES,
    WIDE,
    found,
    nasty,
)
from support.soak import SOAKS


def crowd() -> pa.Table:
    """Return the table with one person of 10,000 rows, shuffled."""
    table, busy = nasty(1, 300), nasty(2, 10_000)
    busy = busy.set_column(0, "person id", pa.array([5] * 10_000, pa.int64()))
    both = pa.concat_tables([table, busy])
    order = list(range(len(both)))
    random.Random(3).shuffle(order)
    return both.take(order)


# One of each kind of cell, of comparison and of sum, where an engine takes long for each of them.
EACH = [COUNTS[i] for i in (0, 3, 4, 7, 9, 12, 14, 15, 18, 24, 30, 33)]
EACH += [AMOUNTS[i] for i in (1, 3, 4, 6, 7, 8, 11, 13)]
KINDS = [AMOUNTS[7], AMOUNTS[8], ITEMS[3], *WIDE]
# Every kind of sum, weighted by fractions, by whole numbers and by text, with codes for no weight.
MIXED = [COUNTS[0], COUNTS[14], *(AMOUNTS[i] for i in (0, 2, 5, 6, 8)), ITEMS[0], *ITEMS[2:4]]
MIXED += [hn.Choice("code", MANY, where=ADULT, name="many alone")]
INCOME = hn.Weight("income", bounds=(0.3, 120.7))
SPELLED = hn.Weight("unit0", bounds=(0, 13), missing=("-99", "12."))
WHOLE = hn.Weight("order by", bounds=(0, 5))
WORKLOADS = {
    "each": hn.Workload(EACH),
    "counts": hn.Workload(COUNTS),
    "at most": hn.Workload(COUNTS[3:8], at_most=2),
    "amounts": hn.Workload(AMOUNTS),
    "items": hn.Workload(ITEMS),
    "some": hn.Workload([COUNTS[0], AMOUNTS[1], AMOUNTS[5], ITEMS[0]], where=[ADULT, NOVEMBER]),
    "tables": hn.Workload([*TABLES, COUNTS[0], AMOUNTS[1], AMOUNTS[8]]),
    "places": hn.Workload([*PLACES, COUNTS[0]]),
    "weighted": hn.Workload([*MIXED, *TABLES], weight=INCOME, effective_size=True),
    "weighted by text": hn.Workload([*MIXED, AMOUNTS[7], *WIDE], weight=SPELLED),
    "weighted, at most": hn.Workload(COUNTS[3:8], at_most=2, weight=WHOLE, where=[ADULT]),
    "few": hn.Workload([COUNTS[0], COUNTS[14], AMOUNTS[1], AMOUNTS[5], *KINDS, PLACES[0]]),
}
UNITS: dict[str, Sequence[str]] = {
    "person": ("person id",),
    "several": ("person id", "wave"),
    "row": (),
}


@functools.cache
def on_grid(name: str) -> Any:
    """Return the grid of a workload."""
    return grid_for(hn.plan(WORKLOADS[name], privacy=hn.GaussianDP(mu=1)))


@functools.cache
def table(name: str) -> pa.Table:
    """Return a table by name."""
    return crowd() if name == "crowd" else nasty(1, 600)[: None if name == "few" else 0]


@functools.cache
def expected(workload: str, unit: str, rows: str) -> tuple[list[list[int]], int]:
    """Return the totals by the slow rules, which agree on cells with types and cells of text."""
    rules = (WORKLOADS[workload], on_grid(workload), UNITS[unit])
    typed = reference.totals(table(rows).to_pylist(), *rules)
    assert typed == reference.totals(engines.as_text(table(rows)), *rules)
    return typed


TOTALS = ["counts", "at most", "amounts", "items", "some", "tables", "places"]
TOTALS += ["weighted", "weighted, at most"]
READERS = (*engines.READERS, *engines.KEPT)
SLOW = () if SOAKS else ("spark", *engines.KEPT)
ASKED = dict.fromkeys(READERS, TOTALS) | {engine: ["each", "items"] for engine in SLOW}
ASKED |= {} if SOAKS else {"spark": ["each", "items", "tables", "places", "weighted"]}


@pytest.mark.parametrize(
    ("engine", "workload"), [(engine, asked) for engine, some in ASKED.items() for asked in some]
)
def test_same_totals(engine: str, workload: str, tmp_path: Path) -> None:
    """Every engine gives the totals of the slow rules."""
    data = engines.ENGINES[engine](table("few"), tmp_path)
    got = found(data, WORKLOADS[workload], on_grid(workload), UNITS["person"])
    assert got == expected(workload, "person", "few")


PEOPLE = [
    (unit, rows, engine)
    for unit, rows in [
        ("person", "crowd"),
        ("several", "few"),
        ("row", "few"),
        ("person", "empty"),
        ("row", "empty"),
    ]
    for engine in READERS
    # Some take seconds for each: rows are people there in some groups, too, nobody adds up to
    # nothing as in rows without people, and those of one person are added up as any others.
    if engine not in SLOW or (unit, rows) in (("several", "few"), ("row", "empty"))
]


@pytest.mark.parametrize(("unit", "rows", "engine"), PEOPLE)
def test_same_people(engine: str, unit: str, rows: str, tmp_path: Path) -> None:
    """A person of 10,000 rows, units of several columns, rows and no rows: the slow rules again."""
    data = engines.ENGINES[engine](table(rows), tmp_path)
    got = found(data, WORKLOADS["few"], on_grid("few"), UNITS[unit])
    assert got == expected("few", unit, rows)


@pytest.mark.parametrize("engine", [each for each in READERS if each not in SLOW])
def test_same_weights_of_rows(engine: str, tmp_path: Path) -> None:
    """Where each row is a person, each has a weight of its own: the slow rules again."""
    asked = "weighted by text"
    data = engines.ENGINES[engine](table("few"), tmp_path)
    got = found(data, WORKLOADS[asked], on_grid(asked), UNITS["row"])
    assert got == expected(asked, "row", "few")


def cells(engine: str, folder: Path, *, again: bool) -> tuple[Any, ...]:
    """Return all that an engine hands over: who computes, types, what is inferred, every cell."""
    given = table("few")
    with open_source(engines.ENGINES[engine](given, folder), text=TextFormat()) as opened:
        source = opened.of(given.column_names)
        source.fill()
        rows = source.rows(given.column_names, again=again)
        read = rows.select(*(source.names[column] for column in given.column_names))
        types = [*read.collect_schema().values()]
        handed = sorted(map(repr, read.collect().iter_rows()))
        return rows.implementation, types, source.ids, set(source.inferred), handed


@pytest.mark.parametrize("engine", engines.LIKE)
def test_same_cells(engine: str, tmp_path: Path) -> None:
    """Some engines hand over what others do, read once or again, and then nothing can differ."""
    like = cells(engines.LIKE[engine], tmp_path, again=True)
    for again in (True, False):
        assert cells(engine, tmp_path, again=again) == like
    data = engines.ENGINES[engine](table("few"), tmp_path)
    got = found(data, WORKLOADS["few"], on_grid("few"), UNITS["several"])
    assert got == expected("few", "several", "few")


def test_other_cells_are_seen(tmp_path: Path) -> None:
    """The same comparison tells engines apart of which one takes NaN for nothing at once."""
    one, other = (cells(engine, tmp_path, again=True) for engine in ("arrow", "parquet"))
    assert one[:-1] == other[:-1]
    assert one != other
