"""Totals that belong together are of the same rows, also where rows differ from scan to scan."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.totals import prepared
from support import engines
from support.loss import Scale

q: Any = hn  # queries also take lists and expressions, which their annotations do not say

CROWD = 200
ROWS = f"select range as id, true as a, 'x' as i, range % 2 as g from range({CROWD})"
ITEMS = Scale([q.Count("a"), q.Items("i", ["x"])])
GROUPS = Scale([q.Count("a")], by="g", groups=[0, 1], max_groups=2)
FOUND = Scale(
    [q.Count("a"), q.Items("i", ["x"])],
    hn.ApproxDP(epsilon=1, delta=1e-6),
    by="g",
    groups="discover",
)


def of_polars() -> pl.LazyFrame:
    """Return a lazy frame that draws its rows anew whenever it is computed."""
    ids = list(range(CROWD))
    table = pl.DataFrame({"id": ids, "a": True, "i": "x", "g": [i % 2 for i in ids]})

    def some(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.Series([random.random() < 0.5 for _ in range(len(frame))]))

    return table.lazy().map_batches(some)


def of_ibis() -> Any:
    """Return a table of Ibis whose rows are drawn anew."""
    schema = ibis.schema({"id": "int64", "a": "boolean", "i": "string", "g": "int64"})
    return ibis.duckdb.connect().sql(f"{ROWS} where random() < 0.5", schema=schema)


def of_spark() -> Any:
    """Return a frame of Spark whose rows are drawn anew: its own rand() has a fixed seed."""
    drawn = "pmod(hash(reflect('java.util.UUID', 'randomUUID')), 2) = 0"
    rows = f"select id, true as a, 'x' as i, id % 2 as g from range({CROWD}) where {drawn}"
    return engines.spark_session().sql(rows)


def of_a_stream() -> Any:
    """Return Arrow memory that is drawn anew whenever it is asked for."""
    return of_polars().collect().to_arrow().to_reader()


RESTLESS: dict[str, Callable[[], Any]] = {
    "duckdb": lambda: duckdb.connect().sql(f"{ROWS} where random() < 0.5"),
    "ibis": of_ibis,
    "polars": of_polars,
    "arrow": of_a_stream,
    "spark": of_spark,
}


@pytest.mark.parametrize("engine", RESTLESS)
def test_totals_are_of_the_same_rows(engine: str) -> None:
    """Items, counts and people, in groups and overall, agree on who is there."""
    exact = ITEMS.totals(RESTLESS[engine]())
    (counts, items), (number,) = exact.sums, exact.everyone
    quantum = ITEMS.grid.blocks[1].quantum
    assert 0 < int(number) < CROWD
    assert int(counts[0, 0]) == int(number) == int(items[0, 0]) * quantum
    exact = GROUPS.totals(RESTLESS[engine]())
    assert int(exact.people.sum()) == int(exact.everyone[0]) == int(exact.sums[0].sum())
    exact = FOUND.totals(RESTLESS[engine]())
    quantum = FOUND.grid.blocks[1].quantum
    for counts, items, number in zip(*exact.sums, exact.people, strict=True):
        assert int(counts[0]) == int(number) == int(items[0]) * quantum


def test_a_table_that_is_written_to() -> None:
    """A row that comes between two scans is in all totals or in none."""
    connection = duckdb.connect()
    connection.execute(f"create table t as {ROWS}")
    late: list[int] = []

    def writes(cell: int) -> int:
        if not late:
            late.append(cell)
            connection.cursor().execute(f"insert into t select id + {CROWD}, a, i, g from t")
        return cell

    connection.create_function("writes", writes, ["BIGINT"], "BIGINT", side_effects=True)
    exact = ITEMS.totals(connection.sql("select writes(id) as id, a, i, g from t"))
    (counts, items), (number,) = exact.sums, exact.everyone
    assert int(counts[0, 0]) == int(number) == int(items[0, 0]) * ITEMS.grid.blocks[1].quantum
    assert late


def test_one_scan_needs_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relation that is read once is read where it is, and a lazy frame is not collected."""
    from halfnoise.data.sources import duckdb_relations

    def no_copy(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(duckdb_relations, "_copied", no_copy)
    connection = duckdb.connect()
    connection.execute("set TimeZone = 'UTC'")
    relation = connection.sql(ROWS)
    plain = Scale([q.Count("a")])
    assert plain.people(relation) == CROWD
    with pytest.raises(hn.DataError):
        ITEMS.people(relation)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_file_that_is_written_to_is_refused(ending: str, tmp_path: Path) -> None:
    """Each look at it may find other rows; what was added up by then is not released."""
    path, later = tmp_path / f"t.{ending}", tmp_path / f"later.{ending}"
    write = {"csv": "", "jsonl": "(format json)", "parquet": ""}[ending]
    duckdb.sql(f"copy ({ROWS}) to '{path}' {write}")
    duckdb.sql(f"copy ({ROWS} limit 3) to '{later}' {write}")
    with open_source(path, text=hn.TextFormat()) as source:
        known = source.of(["id", "a", "i"])
        add_up = prepared(known, ITEMS.workload, ITEMS.grid.blocks, ["id"])
        assert add_up().people == [CROWD]
        later.replace(path)
        with pytest.raises(hn.TryAgainError, match="changed while it was read"):
            add_up()
