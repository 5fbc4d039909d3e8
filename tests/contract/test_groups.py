"""Every engine puts people in the same groups, and gives the totals of the slow rules in each."""

import datetime as dt
import functools
import itertools
import math
import operator
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.workload.by import By
from halfnoise.workload.groups import Grouping
from halfnoise.workload.listing import Key
from support import engines, reference
from support.measured import grid_for
from support.nasty import AMOUNTS, BLOOD, COUNTS, ITEMS, nasty
from support.slow_cells import is_nothing
from support.soak import SOAKS

# Every kind of question for a few cases, and one for the others, which differ in their keys alone.
TABLES: list[Any] = [
    hn.Table([AMOUNTS[9], AMOUNTS[11]]),
    hn.Table([AMOUNTS[10], "income"]),
    hn.Mean("unit0", bounds=(5, 2000), by=["flag"], name="mean by one"),
]
QUERIES = [COUNTS[0], AMOUNTS[1], AMOUNTS[5], AMOUNTS[7], ITEMS[0], *TABLES]
FEW = [COUNTS[0]]
ALL_KINDS = (0, 8, 12)
INCOME = hn.Weight("income", bounds=(0.4, 90))
DAY, NEXT = dt.date(2026, 11, 15), dt.date(2026, 11, 16)
PERSON, ROW = ("person id",), ()
FEBRUARY = [dt.date(2024, 2, 29), dt.date(2023, 3, 1), DAY, NEXT, dt.date(2026, 12, 1), None]
DAYS = ["2024-02-29", "2023-02-29", "2026-04-31", "2026-11-15 12:00", "2026-11", "x", None]
DAYS += ["2021-01-01T02:30:59.5Z", "2020-12-31 20:00-0330", "2021-01-03T23:59 +14", "2026-11-15T24"]
DAYS += ["2021-01-01 9:05", "2026-11-15 2:30+05:30", "2026-11-15 7", "2024-02-29 7x"]
DAYS += [
    "2024-02-29 2:30 PM",
    "2026-11-15T12:00:59am",
    "2026-11-15 12:05 p.m.",
    "2024-02-29 23:59 PM",
]
BERLIN, KATHMANDU = "Europe/Berlin", "Asia/Kathmandu"  # many changes of clocks, and few
# Around a change of clocks in Berlin, and where years and weeks begin.
INSTANTS = [dt.datetime(2026, 10, 25, hour, 30, tzinfo=dt.UTC) for hour in (0, 1, 22, 23)]
INSTANTS += [dt.datetime(2020, 12, 31, 23, 59, 59, tzinfo=dt.UTC)]
INSTANTS += [dt.datetime(1, 1, 1, 3, tzinfo=dt.UTC), dt.datetime(9999, 12, 31, 23, tzinfo=dt.UTC)]
LISTED: list[tuple[dict[str, Any], Sequence[str]]] = [
    ({"by": "🙂", "groups": ["O", "A", " B "]}, PERSON),
    ({"by": "🙂", "groups": ["AB", None], "other": None}, ROW),
    ({"by": "🙂", "groups": ["O", "A", "B"], "max_groups": 2}, PERSON),
    ({"by": "🙂", "groups": ["O", "A", "B"], "max_groups": 9, "other": None}, PERSON),
    ({"by": "code", "groups": [2**40, "1", -4, None]}, PERSON),
    (
        {
            "by": ["select", By("date", every="day")],
            "groups": [[True, None], [NEXT, "2026-11-15", None]],
        },
        PERSON,
    ),
    (
        {
            "by": [By("moment`", every="month"), By("text day", every="year")],
            "groups": [["2026-11", dt.date(2024, 2, 1)], [2026, "2024", 7000]],
        },
        ROW,
    ),
    ({"by": By("text day", every="day"), "groups": [DAY, "2024-02-29"]}, PERSON),
    ({"by": ["🙂", "code"], "groups": [["A", "O"], [1, 2, None]], "max_groups": 2}, PERSON),
    ({"by": ["code", "🙂"], "groups": [(3, "B"), (None, "A")], "other": None}, PERSON),
    (
        {
            "by": [By("unit0", bands=[0.5, 12, 1e3], missing=["-99", "9" * 31]), "🙂"],
            "groups": ["A", "other one"],
            "missing_group": "B",
        },
        PERSON,
    ),
    (
        {
            "by": [By("moment`", every="week"), By("text day", every="hour")],
            "groups": [["2026-W47", dt.date(2023, 2, 27)], ["2026-11-15T12", "2021-01-01T02"]],
        },
        ROW,
    ),
    ({"by": "🙂", "groups": ["O", "A", "B"], "max_groups": 2, "weight": INCOME}, PERSON),
    ({"by": "🙂", "groups": ["O", "A"], "weight": INCOME}, ROW),
]
FOUND: list[tuple[dict[str, Any], Sequence[str]]] = [
    ({"by": "🙂"}, PERSON),
    ({"by": "code", "max_groups": 2}, PERSON),
    ({"by": [By("date", every="day"), "select"]}, ROW),
    ({"by": By("moment`", every="month")}, PERSON),
    ({"by": [By("text day", every="day"), "🙂"], "max_groups": 3}, PERSON),
    ({"by": [By("at", every="hour", zone=BERLIN), By("date", every="quarter")]}, ROW),
    ({"by": [By("text day", every="week", zone=KATHMANDU)], "missing_group": "none"}, PERSON),
    (
        {
            "by": ["code", "🙂", By("dotted.name", bands=[-7.25, 0])],
            "groups": {"code": [2, "1", None], "🙂": "discover"},
            "max_groups": 2,
        },
        PERSON,
    ),
]
# What Spark is not asked each time, for it takes seconds: other cases of the same expressions.
# Null in a list, days and yes and no, months and years, two columns with all kinds of questions.
SOME = [*(LISTED[i] for i in (1, 5, 6, 8, 11)), *(FOUND[i] for i in (2, 4, 5))]
IN_FULL = ("csv", "parquet", "polars")  # the other readers take turns, unless it is a soak


def is_left_out(engine: str, case: int, said: Any, unit: Any) -> bool:
    """Whether a case is left to other readers, which share their engine with this one."""
    if SOAKS or engine in IN_FULL or (said, unit) in SOME:
        return False
    turn = sorted(engines.READERS).index(engine)
    return engine in ("spark", "ods", "xlsx") or (case + turn) % 3 != 0


UNTYPED = ["csv", "tsv", "json", "objects", "pandas"]  # pandas, where there are gaps
UNTYPED += ["ods", "xlsx", "sqlite"]


@functools.cache
def table() -> pa.Table:
    """Return the nasty table with days that do not exist and days at the ends of months."""
    found = nasty(7, 400)
    days = list(itertools.islice(itertools.cycle(FEBRUARY), len(found)))
    moments = [day and dt.datetime.combine(day, dt.time(23, 59)) for day in days]
    texts = list(itertools.islice(itertools.cycle(DAYS), len(found)))
    found = found.drop_columns(["date", "moment`"])
    found = found.append_column("date", pa.array(days, pa.date32()))
    found = found.append_column("moment`", pa.array(moments, pa.timestamp("us")))
    at = list(itertools.islice(itertools.cycle(INSTANTS), len(found)))
    found = found.append_column("at", pa.array(at, pa.timestamp("us", "UTC")))
    return found.append_column("text day", pa.array(texts, pa.string()))


def plain(cell: Any, by: By) -> Any:
    """Return what a cell names by the slow rules, as a user would write it."""
    if by.bands is not None:
        missing = any(reference.AS_EVER.equal(cell, code) for code in by.codes)
        x = None if missing else reference.AS_EVER.number(cell)
        reached = sum(x >= edge for edge in by.bands) if x is not None else 0
        return by.names[reached - 1] if reached else None
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell + 0.0
    if is_nothing(cell) or by.every is None:
        return None if is_nothing(cell) else cell
    if isinstance(cell, str):
        cell = moment(cell)
    if isinstance(cell, dt.datetime) and cell.tzinfo is not None and by.zone is not None:
        try:
            cell = cell.astimezone(ZoneInfo(by.zone))
        except OverflowError:
            cell = None
    if by.every == "hour" and not isinstance(cell, dt.datetime):
        cell = None
    return None if cell is None else span(cell, by.every)


def moment(text: str) -> dt.date | None:
    """Return the moment that a text says, or its day alone."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d([T ].*)?", text):
        return None
    try:
        day = dt.date.fromisoformat(text[:10])
    except ValueError:
        return None
    text = re.sub("(?<=^.{10})[T ]([0-9](:|$))", r" 0\1", text)
    half = re.fullmatch("(.{11})(0[1-9]|1[0-2])(:[0-9:]+) ?([AaPp])[.]?[Mm][.]?", text)
    if half is not None:
        start, hour, rest, which = half.groups()
        text = f"{start}{int(hour) % 12 + 12 * (which in 'pP'):02}{rest}"
    text = re.sub(" PM$", "", text)  # of an hour that is none of a half day
    try:
        return dt.datetime.fromisoformat(text.replace(" +", "+")) if text[10:] else day
    except ValueError:
        return day


def span(day: Any, every: str) -> Any:
    """Return a day, or the span of time that it is in, as a user would write it."""
    iso = day.isoformat()
    if every == "day":
        return dt.date(day.year, day.month, day.day)
    if every == "week":
        return "{:04d}-W{:02d}".format(*day.isocalendar()[:2])
    if every == "quarter":
        return f"{iso[:4]}-Q{(day.month + 2) // 3}"
    return day.year if every == "year" else iso[: {"month": 7, "hour": 13}[every]]


def meant(value: Any, by: By) -> Any:
    """Return a listed value in the same form."""
    if by.every is None or value is None:
        return value
    text = value.isoformat() if isinstance(value, dt.date) else str(value)
    if not isinstance(value, dt.date) and by.every in ("week", "quarter", "hour"):
        return text
    return span(
        dt.date.fromisoformat(text + "-01-01"[len(text) - 4 :] * (len(text) < 10)), by.every
    )


def same(a: Any, b: Any) -> bool:
    """Whether a cell is a listed value, in a column with a type or in one of text."""
    if a is None or b is None:
        return a is b
    return bool(a == b) or str(a).strip() == str(b).strip()


def placed_in(key: Key, grouping: Grouping) -> Key | None:
    """Return a key whose listed parts are as they are listed, or other; None if it is left out."""
    found = []
    for value, part in zip(key, grouping.listed or (None,) * len(key), strict=True):
        alike = None if part is None else [each for each in part if same(value, each)]
        if alike == [] and grouping.other is None:
            return None
        found.append(value if alike is None else (*alike, grouping.other)[0])
    return tuple(found)


def expected(
    rows: list[dict[str, Any]],
    workload: hn.Workload,
    grid: CenteredMeasurement,
    unit: Sequence[str],
) -> dict[Key, tuple[list[list[int]], int]]:
    """Return the totals of each group by the slow rules."""
    grouping = workload.grouping
    assert grouping is not None
    named = [tuple(plain(row[by.column], by) for by in grouping.by) for row in rows]
    keys = [tuple(None if v == grouping.missing else v for v in key) for key in named]
    found_keys: list[Key | None] = list(keys)
    if grouping.keys is None:
        found_keys = [placed_in(key, grouping) for key in keys]
        there = [key for key in {*found_keys} if key is not None]
        listed = [there[place] for place in grouping.in_order(there)]
    else:
        listed = [
            tuple(meant(v, by) for v, by in zip(key, grouping.by, strict=True))
            for key in grouping.keys
        ]
    place: list[int | None] = []
    for key in found_keys:
        if key is None:
            place.append(None)
            continue
        alike = same if grouping.keys is not None else operator.eq
        found_at = [i for i, each in enumerate(listed) if all(map(alike, key, each))]
        others = None if grouping.other is None or grouping.keys is None else len(listed)
        place.append(found_at[0] if found_at else others)
    kept: dict[Any, set[int]] = {}
    for i, (row, at) in enumerate(zip(rows, place, strict=True)):
        who = tuple(reference.who(row[column]) for column in unit) or (i,)
        if at is not None and None not in who:
            kept.setdefault(who, set()).add(at)
    kept = {who: set(sorted(groups)[: grouping.most]) for who, groups in kept.items()}
    count = len(listed) + (grouping.other is not None and grouping.keys is not None)
    found = {}
    for group in range(count):
        own = [
            row
            for i, (row, at) in enumerate(zip(rows, place, strict=True))
            if at == group
            and group in kept.get(tuple(reference.who(row[c]) for c in unit) or (i,), ())
        ]
        sums, people = reference.totals(own, workload, grid, unit)
        if people or grouping.keys is not None:
            name = (*listed, ("the others",))[group] if grouping.keys is None else (group,)
            found[name] = (sums, people)
    return found


def got(
    data: Any, workload: hn.Workload, grid: CenteredMeasurement, unit: Sequence[str]
) -> tuple[dict[Key, tuple[list[list[int]], int]], int]:
    """Return the totals of each group by the engine, and the number of all people."""
    assert workload.grouping is not None
    columns = [column for query in workload.queries for column in query.columns]
    columns += [*unit, *(by.column for by in workload.grouping.by)]
    columns += [] if workload.weight is None else [workload.weight.column]
    with open_source(data, text=TextFormat()) as opened:
        source = opened.of(columns)
        exact = prepared(source, workload, grid.blocks, unit or None)()
    names = exact.keys if exact.keys is not None else [(i,) for i in range(len(exact.people))]
    found = {
        key: (
            [[int(x) - (2**64 if x >= 2**63 else 0) for x in block[i]] for block in exact.sums],
            int(exact.people[i]),
        )
        for i, key in enumerate(names)
    }
    return found, int(exact.everyone[0])


@functools.cache
def listed_case(case: int) -> tuple[hn.Workload, CenteredMeasurement, dict[Key, Any], int]:
    """Return a case of listed groups: its workload, grid, totals by the slow rules, and people."""
    said, unit = LISTED[case]
    workload, grid = placed(said, QUERIES if case in ALL_KINDS else FEW)
    rows = table().to_pylist()
    people = reference.totals(rows, workload, grid, unit)[1]
    return workload, grid, expected(rows, workload, grid, unit), people


@functools.cache
def found_case(case: int) -> tuple[hn.Workload, CenteredMeasurement, dict[Key, Any]]:
    """Return a case of groups to be found: its workload, grid and totals by the slow rules."""
    said, unit = FOUND[case]
    discover = {"groups": "discover", "discover_delta": 1e-7}
    workload, grid = placed(discover | said, QUERIES if case in ALL_KINDS else FEW)
    return workload, grid, expected(table().to_pylist(), workload, grid, unit)


def placed(
    said: dict[str, Any], queries: Sequence[Any] = QUERIES
) -> tuple[hn.Workload, CenteredMeasurement]:
    """Return the workload of a case on its grid."""
    workload = hn.Workload(queries, **said)
    plain_one = hn.Workload(queries)
    return workload, grid_for(hn.plan(plain_one, privacy=hn.GaussianDP(mu=1)))


@pytest.mark.parametrize("engine", engines.READERS)
def test_listed_groups(engine: str, tmp_path: Path) -> None:
    """People are in the first of the listed groups that their rows name, or among the others."""
    data = engines.ENGINES[engine](table(), tmp_path)
    for case, (said, unit) in enumerate(LISTED):
        if is_left_out(engine, case, said, unit):
            continue
        if engine == "sqlite" and "select" in str(said["by"]):  # it has no yes and no, only 1 and 0
            continue
        workload, grid, wanted, people = listed_case(case)
        found, everyone = got(data, workload, grid, unit)
        assert found == wanted, said
        if "max_groups" in said:
            assert everyone == people


@pytest.mark.parametrize("engine", engines.READERS)
def test_found_groups(engine: str, tmp_path: Path) -> None:
    """Keys come back as they went in, each with its totals."""
    data = engines.ENGINES[engine](table(), tmp_path)
    for case, (said, unit) in enumerate(FOUND):
        if is_left_out(engine, case, said, unit):
            continue
        if engine == "sqlite" and "select" in str(said["by"]):  # it has no yes and no, only 1 and 0
            continue
        workload, grid, wanted = found_case(case)
        found, _ = got(data, workload, grid, unit)
        if any(part in engine for part in UNTYPED) and engine != "pandas-arrow":
            # Keys of text sort as text, which decides which of them a person keeps.
            if "max_groups" in said:
                continue
            found = {as_text(key): total for key, total in found.items()}
            wanted = {as_text(key): total for key, total in wanted.items()}
        else:
            kinds = {tuple(map(type, key)) for key in found}
            assert kinds == {tuple(map(type, key)) for key in wanted}
        assert found == wanted, said


def as_text(key: Key) -> Key:
    """Return a key with its values as a file of text holds them."""
    texts = [None if value is None else str(value).removesuffix(".0") for value in key]
    return tuple(text.lower() if text in ("True", "False") else text for text in texts)


@pytest.mark.parametrize("engine", engines.READERS)
def test_nobody(engine: str, tmp_path: Path) -> None:
    """A table without rows has its listed groups, empty, and none to be found."""
    data = engines.ENGINES[engine](table()[:0], tmp_path)
    some = ((LISTED[0], QUERIES), (LISTED[2], FEW))
    for (said, unit), queries in some if SOAKS or engine != "spark" else some[1:]:
        workload, grid = placed(said, queries)
        found, everyone = got(data, workload, grid, unit)
        assert workload.grouping is not None
        assert len(found) == len(workload.grouping.released)
        assert everyone == sum(people for _, people in found.values()) == 0
    discover = {"groups": "discover", "discover_delta": 1e-7}
    workload, grid = placed(FOUND[0][0] | discover, FEW)
    assert got(data, workload, grid, PERSON) == ({}, 0)


def test_keys_of_every_type() -> None:
    """Text as it is, whole numbers of any size, fractions with one zero, days, yes and no, null."""
    cases: list[tuple[list[Any], Any, list[Any]]] = [
        (["a", " a", "", "ü", "a\0", None], pl.String, ["a", " a", "ü", None]),
        ([2**64 - 1, 0, None], pl.UInt64, [2**64 - 1, 0, None]),
        ([-(2**63), 2**63 - 1], pl.Int64, [-(2**63), 2**63 - 1]),
        ([0.0, -0.0, 1.5, math.nan, None, math.inf], pl.Float64, [0.0, 1.5, None, math.inf]),
        ([True, False, None], pl.Boolean, [True, False, None]),
        ([DAY, None], pl.Date, [DAY, None]),
        (["x", "y"], pl.Categorical, ["x", "y"]),
        (BLOOD, pl.String, list(dict.fromkeys(BLOOD))),
    ]
    for cells, dtype, wanted in cases:
        frame = pl.DataFrame({"key": pl.Series(cells, dtype=dtype)}).with_columns(a=pl.lit(1))
        workload = hn.Workload([hn.Count("a")], by="key", groups="discover", discover_delta=1e-7)
        grid = grid_for(hn.plan(hn.Workload([hn.Count("a")]), privacy=hn.GaussianDP(mu=1)))
        found = {key[0]: people for key, (_, people) in got(frame, workload, grid, ())[0].items()}
        assert set(map(repr, found)) == set(map(repr, wanted))
        assert sum(found.values()) == len(cells)


def test_rows_in_any_order() -> None:
    """Which groups of a person count does not depend on how rows are ordered."""
    frame = pl.from_arrow(table())
    assert isinstance(frame, pl.DataFrame)
    for said, unit in (LISTED[2], LISTED[8], FOUND[1]):
        more = {} if "groups" in said else {"groups": "discover", "discover_delta": 1e-7}
        workload, grid = placed(said | more)
        first = got(frame, workload, grid, unit)
        for seed in range(3):
            shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
            assert got(shuffled, workload, grid, unit) == first
