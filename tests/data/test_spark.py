"""Frames of Spark: how many jobs a release takes, and settings of a session that change nothing."""

import functools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.sources.spark_calls import _CLASSES, remembered
from halfnoise.data.sources.spark_plans import FixedFiles
from halfnoise.data.totals import prepared
from support import engines
from support.loss import Scale
from support.measured import grid_for

q: Any = hn  # queries also take lists, which their annotations do not say
C, B = q.Choice("c", ["a", "b"]), q.Bins("x", [0, 5, 10])
MIXED = [q.Count("a"), q.Items("i", ["u", "v"], split=";"), q.Table([C, B])]
TWO: dict[str, Any] = {"by": "g", "groups": ["p", "q"], "max_groups": 2}
FOUND: dict[str, Any] = {"by": "g", "groups": "discover"}
ASKED: dict[str, Scale] = {
    "a table": Scale([q.Table([C, B])]),
    "items": Scale(MIXED[:2]),
    "codes": Scale([q.Items("i", ["u", "u*", "v*"], at_most=1)]),
    "a long list": Scale([q.Choice("c", [*"abdefhijklm"])]),
    "all": Scale(MIXED, **TWO),
    "found": Scale(MIXED, hn.ApproxDP(epsilon=1, delta=1e-6), **FOUND),
}


@functools.cache
def rows() -> pa.Table:
    """Return a small table, some of whose people are in several groups."""
    draw, size = random.Random(3), 300
    return pa.table(
        {
            "id": [draw.randrange(100) for _ in range(size)],
            "a": [draw.random() < 0.5 for _ in range(size)],
            "x": [draw.uniform(-1, 12) for _ in range(size)],
            "c": draw.choices("abc", k=size),
            "g": draw.choices("pqr", k=size),
            "i": draw.choices(["u;v", "v", "", "w;u"], k=size),
        }
    )


@contextmanager
def set_to(session: Any, **settings: str) -> Iterator[None]:
    """Let a session have other settings."""
    names = {name.replace("_", "."): value for name, value in settings.items()}
    before = {name: session.conf.get(name) for name in names}
    for name, value in names.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


def jobs(session: Any, scale: Scale, frame: Any) -> int:
    """Return how many jobs Spark runs to add a frame up."""
    context, group = session.sparkContext, f"jobs{random.random()}"
    context.setJobGroup(group, group)
    try:
        scale.totals(frame)
        context._jsc.sc().listenerBus().waitUntilEmpty()
        return len(context.statusTracker().getJobIdsForGroup(group))
    finally:
        context.setJobGroup("", "")


@pytest.mark.parametrize("asked", ASKED)
def test_files_take_one_job_of_spark(asked: str, tmp_path: Path) -> None:
    """Tables, items and groups are added up in one job, and as elsewhere."""
    session, scale = engines.spark_session(), ASKED[asked]
    frame = engines.spark(rows(), tmp_path)
    assert jobs(session, scale, frame) == 1
    if asked != "found":  # in which order they are found, an engine decides
        same(scale, frame)


ODD: dict[str, Scale] = {
    "a column of nothing": Scale([q.Count("n"), q.Choice("n", ["x"])]),
    "no column at all": Scale([hn.Count(nw.lit(1) == 1, name="all")]),
    "groups of nothing": Scale(MIXED[:1], by=["g", "n"], groups=[("p", None), ("q", "x")]),
    "two that name groups": Scale(MIXED[:1], by=["g", "c"], groups=[("p", "a"), ("q", "b")]),
    "groups of weights": Scale(
        MIXED[:1], by="g", groups=["p", "q"], weight=hn.Weight("w", bounds=(1, 3))
    ),
}


@pytest.mark.parametrize("asked", ODD)
def test_odd_columns_have_the_same_totals(asked: str) -> None:
    """Columns that are asked for alone are looked at, and say the same as elsewhere."""
    from pyspark.sql import functions as f

    scale, table = ODD[asked], rows().append_column("w", pa.array([1.0, 2.5, 4.0] * 100))
    told = table.to_pylist()
    words = ", ".join(
        f"({row['a']}, '{row['c']}', '{row['g']}', {row['w']}D)".lower() for row in told
    )
    frame = engines.spark_session().sql(f"select * from values {words} as t(a, c, g, w)")
    frame = frame.withColumn("n", f.lit(None))
    table = table.append_column("n", pa.nulls(len(told), pa.string()))
    found = []
    for data in (frame, table):
        with open_source(data, text=TextFormat()) as source:
            totals = prepared(source, scale.workload, scale.grid.blocks, None)()
        assert source.dtypes["n"] == nw.String
        found.append(([own.tolist() for own in totals.sums], totals.people.tolist()))
    assert found[0] == found[1]


def same(scale: Scale, frame: Any) -> None:
    """Hold that a frame has the totals of the same rows in memory."""
    one, other = scale.totals(frame), scale.totals(rows())
    assert [each.tolist() for each in one.sums] == [each.tolist() for each in other.sums]
    assert one.everyone.tolist() == other.everyone.tolist()


def test_functions_of_spark_are_looked_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each function of PySpark's is asked of the JVM once for a release, not at each use."""
    from pyspark.sql import functions

    session, frame, asked = engines.spark_session(), engines.spark(rows(), tmp_path), list[str]()
    gateway = type(session._jvm)
    looked_up = gateway.__getattr__

    def counted(jvm: Any, name: str) -> Any:
        asked.append(name)
        return looked_up(jvm, name)

    monkeypatch.setattr(gateway, "__getattr__", counted)
    ASKED["all"].totals(frame)
    assert max(asked.count(name) for name in _CLASSES) == 1
    assert not {*_CLASSES} & {*vars(session._jvm)}
    asked.clear()
    session.range(1).select(functions.lit(1), functions.lit(2))
    assert max(asked.count(name) for name in _CLASSES) == 2


def test_columns_of_spark_are_made_once(tmp_path: Path) -> None:
    """A name and a plain value become columns once; values that are equal stay what they are."""
    from pyspark.sql import functions as f

    frame = engines.spark(rows(), tmp_path)
    values: list[Any] = [1, True, 1.0, "1", 0.0, -0.0]
    with remembered(frame):
        made = [f.lit(value)._jc for value in values]
        again = [f.lit(value)._jc for value in values]
        assert [one is other for one, other in zip(made, again, strict=True)] == [True] * 6
        assert f.col("x")._jc is f.col("x")._jc
        said = [
            f"{type(v).__name__} {v!r}" for v in frame.limit(1).select(*map(f.lit, values)).head()
        ]
    assert said == [f"{type(value).__name__} {value!r}" for value in values]
    assert f.lit(1)._jc is not f.lit(1)._jc


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("collation", ["", "UTF8_LCASE"])
def test_bytes_that_are_no_text_are_no_answer(
    collation: str, tmp_path: Path, *, ignore_case: bool
) -> None:
    """Bytes are compared before it is known that they are text, and count only if they are."""
    from pyspark.sql import functions as f

    odd = [b"north\xc2", b"\xc2north", b" north\xe2\x80", b"\xff", b"X\xff", b"x\xff", b"north\x00"]
    cells = [b"north", b" north\t", b"NORTH", "s\u00f3uth".encode(), b"", None, *odd]
    stored = pa.array(cells, pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(cells), stored.buffers())
    frame = engines.spark(pa.table({"id": [*range(len(cells))], "c": text}), tmp_path)
    if collation and not hasattr(f, "collate"):
        pytest.skip("before version 4 there are no collations")
    frame = frame.withColumn("c", f.collate("c", collation)) if collation else frame
    listed, north = ("north", "s\u00f3uth", "x\ufffd"), 3 if ignore_case else 2
    each = [north, 1, 0, len(cells) - north - 1]
    asked = [hn.Choice("c", listed), q.Count("c", true=listed[1:], name="one")]
    alone, grouped = hn.Workload(asked), hn.Workload(asked[1:], by="c", groups=listed)
    for workload, sums, people in (
        (alone, [[each], [[1]]], [len(cells)]),
        (grouped, [[[0], [1], [0], [0]]], each),
    ):
        grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
        for unit in (None, ["id"]):
            with open_source(frame, text=TextFormat(ignore_case=ignore_case)) as source:
                found = prepared(source, workload, grid.blocks, unit)()
            assert sorted(own.tolist() for own in found.sums) == sorted(sums)
            assert found.people.tolist() == people


NAMES = ["a", " a", "a\t", "A", "true", "TRUE", " True", "none", "None ", "", " ", None, "a\0", "b"]
SPELLED: dict[str, dict[str, Any]] = {
    "some": {"by": "t", "groups": ["a", "True"], "other": None},
    "a missing one": {"by": "t", "groups": ["b", "a", None], "missing_group": "none"},
    "none plain": {"by": "t", "groups": ["A", None]},
    "two": {"by": ["t", "s"], "groups": [("a", "b"), ("true", "A"), ("b", None)]},
}


@pytest.mark.parametrize("asked", SPELLED)
@pytest.mark.parametrize("ignore_case", [False, True])
def test_names_of_groups_are_read_by_the_full_rules(
    asked: str, tmp_path: Path, *, ignore_case: bool
) -> None:
    """Texts that are just as listed are found as they stand, all others as on another engine."""
    pairs = [(t, s) for t in NAMES for s in NAMES]
    texts = {name: [*column] for name, column in zip("ts", zip(*pairs, strict=True), strict=True)}
    if ignore_case and asked == "some":
        texts["t"] = [f" {text} " if text else text for text in texts["t"]]
    table = pa.table({**texts, "id": [i // 3 for i in range(len(pairs))]})
    spark = engines.spark(table, tmp_path)
    workload = hn.Workload([q.Count("s", true=["b"])], **SPELLED[asked])
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    for unit in (None, ["id"]):
        found = []
        for data in (spark, table):
            with open_source(data, text=TextFormat(ignore_case=ignore_case)) as source:
                totals = prepared(source, workload, grid.blocks, unit)()
            found.append(([own.tolist() for own in totals.sums], totals.people.tolist()))
        assert found[0] == found[1]
        assert sum(found[0][1]) > 0


@pytest.mark.parametrize("most", [None, 3])
@pytest.mark.parametrize("listed", [64, 65, 130, 300])
def test_items_in_several_words(listed: int, most: int | None, tmp_path: Path) -> None:
    """However many items are listed, each has the total that it has elsewhere, in each group."""
    draw, size = random.Random(5), 2000
    items = [*map(str, range(listed))]
    columns: dict[str, list[Any]] = {
        "i": [draw.randrange(listed + 9) for _ in range(size)],
        "g": draw.choices("pq", k=size),
    }
    columns["i"][:4] = [0, 62, 63, listed - 1]
    table = pa.table({"id": [draw.randrange(300) for _ in range(size)], **columns})
    scale, found = Scale([hn.Items("i", items, at_most=most)], **TWO), []
    for data in (engines.spark(table, tmp_path), table):
        totals = scale.totals(data)
        found.append(([own.tolist() for own in totals.sums], totals.everyone.tolist()))
    assert found[0] == found[1]
    assert all(map(sum, zip(*found[0][0][0], strict=True)))


def test_what_may_change_takes_a_snapshot_of_spark(tmp_path: Path) -> None:
    """Where rows might differ from scan to scan, one job more stores them; for one scan, none."""
    session = engines.spark_session()
    frame = engines.spark(rows(), tmp_path).limit(10**6)
    assert jobs(session, ASKED["all"], frame) == 2
    assert jobs(session, Scale([q.Count("a")]), frame) == 1


def test_what_is_made_of_files_alone_in_spark(tmp_path: Path) -> None:
    """Only what is the same in every scan is scanned again."""
    session = engines.spark_session()
    frame = engines.spark(rows(), tmp_path)
    frame.createOrReplaceTempView("halfnoise_rows")
    within = "select * from halfnoise_rows where id in (select id from range(3) limit 1)"
    fixed = {
        "a file": frame,
        "a view": session.sql("select id + 1 as id from halfnoise_rows where a"),
        "both": frame.union(frame),
    }
    others = {
        "a limit": frame.limit(3),
        "a sample": frame.sample(0.5),
        "a join": frame.join(frame.select("id"), "id"),
        "a query within": session.sql(within),
        "drawn": session.sql("select * from halfnoise_rows where rand() < 0.5"),
        "memory": session.range(3),
    }
    assert {
        name: FixedFiles.below(each) is not None for name, each in fixed.items()
    } == dict.fromkeys(fixed, True)
    assert {
        name: FixedFiles.below(each) is not None for name, each in others.items()
    } == dict.fromkeys(others, False)


def test_a_file_of_spark_that_is_written_to_is_refused(tmp_path: Path) -> None:
    """What was added up by then is not released."""
    path = engines.parquet(rows(), tmp_path)
    frame = engines.spark_session().read.parquet(str(path))
    files = FixedFiles.below(frame)
    assert files is not None
    files.check()
    engines.parquet(rows()[:3], tmp_path).replace(path)
    with pytest.raises(hn.TryAgainError, match="changed while it was read"):
        ASKED["all"].totals(frame)


SETTINGS: list[dict[str, str]] = [
    {"spark_sql_ansi_enabled": "false", "spark_sql_adaptive_enabled": "true"},
    {"spark_sql_session_timeZone": "Asia/Tokyo", "spark_sql_ansi_enabled": "true"},
    {"spark_sql_caseSensitive": "true", "spark_sql_ansi_enabled": "false"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=["plain", "tokyo", "case"])
def test_settings_of_spark_change_nothing(settings: dict[str, str], tmp_path: Path) -> None:
    """Whether overflow is an error or silent, where a session lives, how it plans: same totals."""
    session = engines.spark_session()
    with set_to(session, **settings):
        same(ASKED["all"], engines.spark(rows(), tmp_path))


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_numbers_that_overflow_in_spark(ansi: str, tmp_path: Path) -> None:
    """Numbers at the end of their range neither fail nor wrap; text that is none is missing."""
    largest = 2**63 - 1
    table = pa.table(
        {
            "id": [*range(6)],
            "n": pa.array([largest, largest, -largest - 1, 1, None, 0], pa.int64()),
            "f": [1e308, 1e308, float("nan"), float("inf"), -1e308, None],
            "t": ["9" * 400, "-1e400", "seven", "1e3", "", None],
        }
    )
    bounds: Any = {"bounds": (0, 10)}
    scale = Scale([q.Sum("n", **bounds), q.Sum("f", **bounds), q.Sum("t", **bounds)])
    with set_to(engines.spark_session(), spark_sql_ansi_enabled=ansi):
        found = scale.totals(engines.spark(table, tmp_path))
    quanta = [block.quantum for block in scale.grid.blocks]
    sums = [int(x) for ring in found.sums for x in ring[0]]
    assert [x * quanta[0] for x in sums] == [21, 30, 10]


@pytest.mark.parametrize("asked", ["items", "all"])
def test_spark_connect_has_the_same_totals(asked: str, tmp_path: Path) -> None:
    """A session far away adds up the same."""
    same(ASKED[asked], engines.spark_connect(rows(), tmp_path))
