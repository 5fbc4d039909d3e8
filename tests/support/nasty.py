"""A table of everything that engines may read differently, queries about it, and its totals."""

import datetime as dt
import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from halfnoise.design.measurement import CenteredMeasurement

q: Any = hn  # what strict types would refuse is tried, too

BIG = 2**53
NUMBERS = [None, float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1e308, -1e308, 2.5, -7.25]
WORDS = [
    None,
    "yes",
    "NO",
    " y ",
    "T",
    "true",
    "1",
    "1.0",
    "0",
    "2",
    "maybe",
    "\u212a",
    "-99",
    "N/A",
]
SPELLED = [
    *(
        None,
        " 12 ",
        "1e3",
        "abc",
        "NaN",
        "inf",
        "+Infinity",
        "-INF",
        "1e400",
        "1e308",
        "0x10",
        "9" * 31,
    ),
    *(
        "1_000",
        "१२",
        "12\u0085",
        "12\u2028",
        "\u00a012",
        "-99",
        "N/A",
        "12.",
        ".5",
        "+3",
        "--3",
        "1d",
        "",
    ),
    *("9007199254740993", "-0.0", "1e-200", "\x0b7\x0c"),
]
DAYTEXT = [
    *(None, "2026-11-15", "2026-11-15T10:00:00", " 2026-11-14 ", "2026-11-16 23:59", "2026-13-01"),
    *("20261115", "soon", "2026-11-15\u0085", "2026-11-155", "1999-01-01", "0001-01-01"),
]
DAYS = [None, dt.date(2026, 11, 14), dt.date(2026, 11, 15), dt.date(2026, 11, 16), dt.date(1, 1, 1)]
CODES = [
    *(
        None,
        "",
        ";",
        "J45",
        " E11.9 ; J45;;J45",
        "E11.91;E11.9;-99",
        "-99",
        "E11;e11.9",
        "E1;x,E11.",
    ),
    *(
        "E1;x,E11.",
        "G63.2*;G63.2",
        "\u00e9 1;e\u03011",
        "\U0001f642\U0001f1e9a;\U0001f642",
        "J45;;" * 2001,
    ),
]
BLOOD = [None, "A", "B", "AB", " O ", "other", "a", "A ", "C", "7"]


def nasty(seed: int, rows: int) -> pa.Table:
    """Return a table of everything that engines may read differently."""
    draw = random.Random(seed)
    noon = dt.time(12, 30)
    days = draw.choices(DAYS[:-1], k=rows)
    unit = [None if draw.random() < 0.05 else draw.randrange(rows // 3 + 1) for _ in range(rows)]
    columns = {
        "person id": pa.array(unit, pa.int64()),
        "wave": pa.array(draw.choices(["x", "y", "'; drop", None], k=rows), pa.string()),
        "select": pa.array(draw.choices([True, False, None], k=rows), pa.bool_()),
        'a "word", or\'two': pa.array(draw.choices(WORDS, k=rows), pa.string()),
        "dotted.name": pa.array(draw.choices(NUMBERS, k=rows), pa.float64()),
        "order by": pa.array(
            draw.choices([BIG + 1, -BIG - 1, 2**63 - 1, -(2**63), 3, 0], k=rows), pa.int64()
        ),
        "unit0": pa.array(draw.choices(SPELLED, k=rows), pa.string()),
        "🙂": pa.array(draw.choices(BLOOD, k=rows), pa.string()),
        "date": pa.array(days, pa.date32()),
        "moment`": pa.array(
            [day and dt.datetime.combine(day, noon) for day in days], pa.timestamp("us")
        ),
        "cell0": pa.array(draw.choices(DAYTEXT, k=rows), pa.string()),
        "item": pa.array(draw.choices([None, "a", "b", " c ", "d", "A"], k=rows), pa.string()),
        "code": pa.array(draw.choices([None, 1, 2, 3, -4, 2**40], k=rows), pa.int64()),
        "income": pa.array([round(draw.uniform(-50, 250), 2) for _ in range(rows)]),
        "codes": pa.array(draw.choices(CODES, k=rows), pa.string()),
    }
    return pa.table(columns)


SMOKER = 'a "word", or\'two'
ADULT = q.Where("unit0", at_least=3, missing=("-99",))
NOVEMBER = q.Where("date", between=(dt.date(2026, 11, 15), dt.date(2026, 11, 16)))

COUNTS = [
    q.Count(SMOKER, name="yes"),
    q.Count(SMOKER, true=("NO", 2, "maybe"), name="coded"),
    q.Count(SMOKER, equals=True, missing=("1", "N/A"), name="is true"),
    q.Count(SMOKER, is_in=("-99", "N/A"), name="is in"),
    q.Count("select"),
    q.Count("select", where=ADULT, name="selected adult"),
    q.Count("dotted.name", at_least=0, name="at least"),
    q.Count("dotted.name", above=1e307, name="above"),
    q.Count("dotted.name", below=-1e308, name="below"),
    q.Count("dotted.name", up_to=0, missing=(-7.25,), name="up to"),
    q.Count("dotted.name", between=(-7.25, 2.5), name="between"),
    q.Count("dotted.name", equals=0, name="zero"),
    q.Count("order by", above=BIG, name="huge"),
    q.Count("order by", is_in=(3, "0"), name="small"),
    q.Count("unit0", at_least=12, name="spelled"),
    q.Count("unit0", above=1e308, name="endless"),
    q.Count("unit0", equals=12, name="twelve"),
    q.Count("unit0", name="spelled one"),
    *(
        q.Count(column, **{word: "2026-11-15"}, name=f"{column} {word}")
        for column in ("date", "moment`", "cell0")
        for word in ("at_least", "above", "below", "up_to", "equals")
    ),
    q.Count("cell0", between=("2026-11-14", dt.date(2026, 11, 15)), name="two days"),
    q.Count("code", equals="2", where=NOVEMBER, name="code of November"),
]
AMOUNTS = [
    q.Sum("dotted.name", bounds=(-3, 20), name="sum"),
    q.Sum("income", bounds=(0.1, 99.7), name="positive"),
    q.Sum("income", bounds=(-40, -0.3), where=ADULT, name="negative of adults"),
    q.Sum("unit0", bounds=(0, 1e6), missing=(-99, "N/A"), name="spelled sum"),
    q.Sum("order by", bounds=(-(2.0**60), 2.0**61), name="huge sum"),
    q.Mean("income", bounds=(-10, 200)),
    q.Mean("unit0", bounds=(5, 2000), where=q.Where("🙂", is_in=["A", "B"]), name="mean"),
    q.Choice("🙂", ["AB", "A", "B", "O"], name="blood"),
    q.Choice("code", [2, "1", 2**40, 7], where=ADULT, name="code"),
    q.Choice("select", [True, False], name="flag"),
    q.Choice(SMOKER, ["yes", "other", "2"], missing="yes", name="other second"),
    q.Bins("income", [-20, 0, 18, 65]),
    q.Bins("unit0", [0, 10, 1000], where=NOVEMBER, name="bins"),
    q.Sum("unit0", bounds=(9.99, 9.9901), name="narrow sum"),
    q.Sum("income", bounds=(-1e-9, 1 / 3 * 1e-9), name="tiny sum"),
    q.Mean("income", bounds=(-20.1, -20.0999), name="narrow mean"),
    q.Mean("income", bounds=(-10, 200), variance=True, name="varying"),
    q.Mean("unit0", bounds=(-3, 4), where=ADULT, variance=True, name="varying of adults"),
]
# Two tables that overlap, one with more categories than have columns of their own, and values by
# cell; one attribute is asked for by itself as well.
MANY = [2, "1", 2**40, 7, *range(1000, 1060)]
TABLES = [
    q.Table([AMOUNTS[7], AMOUNTS[9], AMOUNTS[11]]),
    q.Table(["income", q.Choice("code", MANY, name="many")]),
    q.Table([AMOUNTS[10], "blood"]),
    AMOUNTS[9],
    q.Count("unit0", at_least=12, by=["many"], name="spelled by many"),
    q.Sum("unit0", bounds=(5, 2000), where=ADULT, by=["flag", "blood"], name="sum by two"),
    q.Mean("income", bounds=(-10, 200), by=["blood"], within=[["flag"]], name="mean by two"),
]
# Attributes of so many cells together that no engine counts who agrees in all of them.
WIDE = [
    q.Table(["blood", q.Choice("code", MANY, name="many")]),
    q.Table([AMOUNTS[9], AMOUNTS[11], AMOUNTS[10]]),
    q.Table([q.Bins("unit0", [0, 10, 1000], name="bands"), q.Choice("wave", ["y", "x", "z"])]),
    q.Table([q.Choice("item", ["d", "c", "b", "a", "e"]), "wave"]),
    q.Mean("income", bounds=(-10, 200), by=["bands"], name="mean by one"),
]

# Places inside places: days, texts and large numbers, of which one list is looked up in a table.
WHERE = [
    ("2026-11-15", "J45", BIG + 1),
    ("2026-11-15", "J45", 3),
    ("soon", "J45", 0),
    ("soon", "-99", 2**63 - 1),
    ("soon", "e"),
    *((f"1999-01-{i:02}", "J45", i) for i in range(1, 29)),
    ("1999-01-01", "G63.2*;G63.2", -BIG - 1),
]
PLACES = [
    q.Nested("cell0", "codes", "order by", places=WHERE, missing="-99"),
    q.Table(["codes", AMOUNTS[9]]),
    q.Sum("income", bounds=(0.1, 99.7), by=["cell0", "flag"], name="by places"),
]

ITEMS = [
    q.Items("item", ["a", "b", "c", "nobody's"], at_most=2),
    q.Items("item", ["d", "A"], where=ADULT, missing=("A",), name="all items"),
    q.Items("code", [3, "2", 1, 2**40], at_most=1, name="whole"),
    q.Items(
        "codes",
        ["E11.9", "E11.*", "E1*", r"G63.2\*", "J45", "e\u0301*", "\U0001f642\U0001f1e9*"],
        split=";",
        at_most=2,
        missing=("-99",),
        name="codes",
    ),
    q.Items("codes", ["J45*", "E11*"], where=ADULT, name="cells that begin so"),
    q.Items("code", [2, 1], split=";", name="numbers are not split"),
]


def found(data: Any, workload: hn.Workload, grid: CenteredMeasurement, unit: Sequence[str]) -> Any:
    """Return the totals of a table as whole numbers."""
    columns = [column for query in workload.queries for column in query.columns]
    columns += [condition.column for condition in workload.who]
    columns += [] if workload.weight is None else [workload.weight.column]
    with open_source(data, text=TextFormat()) as opened:
        source = opened.of([*columns, *unit])
        exact = prepared(source, workload, grid.blocks, unit or None)()
    sums = [[int(x) - (2**64 if x >= 2**63 else 0) for x in block[0]] for block in exact.sums]
    return sums, int(exact.people[0])
