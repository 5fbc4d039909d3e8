"""Promises that an earlier version broke: each stays kept."""

import gzip
import logging
import threading
from pathlib import Path

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfnoise as hn
from halfnoise.data.quiet import quietly
from halfnoise.workload.queries import Query

SHARP = hn.GaussianDP(mu=1e4)
"""Noise far below one: what comes out is what was added up."""

LINES = '{"id":"p1","x":1,"i":"a"}\n{"id":"p2","x":0,"i":"b"}\n'


@pytest.mark.parametrize("bad", ["hello", '{"id":"\\ud800","x":1}', '{"id":"p3"', '"', "{}\r{"])
@pytest.mark.parametrize("unit", ["id", None])
@pytest.mark.parametrize("items", [False, True])
def test_a_malformed_line_fails_nothing(
    tmp_path: Path, bad: str, unit: str | None, *, items: bool
) -> None:
    """A line that is no JSON leaves the others as they are, however they are asked for."""
    path = tmp_path / "lines.jsonl"
    path.write_text(f"{LINES}{bad}\n{LINES.replace('p', 'q')}", encoding="utf-8")
    query = hn.Items("i", ["a", "b"], at_most=1) if items else hn.Count("x")
    table = hn.release(path, [query], unit=unit, row_is_person=unit is None, privacy=SHARP)
    assert round(table[query.names[0]].estimate) == 2


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_file_is_read_by_its_name(tmp_path: Path, ending: str) -> None:
    """Marks of a pattern in a file's name do not lead to another file."""
    for name, rows in (("a[1]", 3), ("a1", 100)):
        frame = pl.DataFrame({"x": [1] * rows})
        path = tmp_path / f"{name}.{ending}"
        if ending == "csv":
            frame.write_csv(path)
        elif ending == "parquet":
            frame.write_parquet(path)
        else:
            frame.write_ndjson(path)
    path = tmp_path / f"a[1].{ending}"
    table = hn.release(path, [hn.Count("x")], row_is_person=True, privacy=SHARP)
    assert round(table["x"].estimate) == 3


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "parquet", "duckdb"])
def test_a_name_is_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    """Nor does a mark at its start, where a file is named from the folder it is in."""
    monkeypatch.chdir(tmp_path)
    path, home = Path(f"~a.{ending}"), tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    table = pa.table({"x": [1] * 3})
    if ending == "duckdb":
        with duckdb.connect(str(path.absolute())) as connection:
            connection.from_arrow(table).create("t")
    elif ending == "parquet":
        pq.write_table(table, path)
    else:
        text = '{"x": 1}\n' * 3 if ending == "jsonl" else "x\n1\n1\n1\n"
        path.write_bytes(gzip.compress(text.encode()) if ending == "csv.gz" else text.encode())
    found = hn.release(path, [hn.Count("x")], row_is_person=True, privacy=SHARP, ledger=None)
    assert round(found["x"].estimate) == 3


def test_a_column_of_ones_own_is_refused() -> None:
    """An expression may not bring cells that meet rows by their order."""
    frame = pl.DataFrame({"x": [True, False]})
    own = nw.new_series("s", [True, False], backend="polars")
    for expression in (nw.col("x") == own, nw.when(nw.col("x")).then(own)):
        query = hn.Count(expression, name="same")
        with pytest.raises(hn.InvalidParameterError, match="more than one row"):
            hn.release(frame, [query], row_is_person=True, privacy=SHARP)


def test_one_missing_answer_changes_no_other() -> None:
    """True counts one in a sum, also where a gap turned the column into objects."""
    for column, true in (([True] * 10, 10), ([True] * 9 + [None], 9)):
        frame = pd.DataFrame({"x": pd.Series(column)})
        table = hn.release(frame, [hn.Sum("x", bounds=(0, 1))], row_is_person=True, privacy=SHARP)
        assert round(table["x"].estimate) == true


def test_many_people_far_from_zero_do_not_wrap() -> None:
    """A sum under replacement stays right where its values are far from zero."""
    frame = pl.DataFrame({"x": [1_000_000.0] * 1_000_000})
    table = hn.release(
        frame,
        [hn.Sum("x", bounds=(999_000, 1_001_000))],
        row_is_person=True,
        privacy=hn.GaussianDP(mu=1),
        neighbors=hn.Neighbors.REPLACE,
    )
    assert abs(table["x"].estimate - 1e12) < 10 * table["x"].std


def test_nobody_has_a_share_of_nobody() -> None:
    """In an empty table under replacement a share says that it knows nothing."""
    frame = pl.DataFrame({"x": []}, schema={"x": pl.Boolean})
    table = hn.release(
        frame,
        [hn.Count("x")],
        row_is_person=True,
        privacy=SHARP,
        neighbors=hn.Neighbors.REPLACE,
    )
    assert (table.share("x").low, table.share("x").high) == (0, 1)


def test_silence_ends_when_all_have_read() -> None:
    """Two threads that read at once leave logging as it was."""
    before = logging.root.manager.disable
    inside = threading.Barrier(2, timeout=1)

    def work() -> None:
        try:
            inside.wait()
        except threading.BrokenBarrierError:
            return

    threads = [threading.Thread(target=lambda: quietly(work, "")) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert logging.root.manager.disable == before


def test_long_lists_are_not_too_deep(tmp_path: Path) -> None:
    """Hundreds of codes and bands are read from a file like a few."""
    path = tmp_path / "many.csv"
    path.write_text("x\n" + "".join(f"{i}\n" for i in range(500)), encoding="utf-8")
    queries: list[Query] = [
        hn.Count("x", is_in=tuple(range(400)), name="listed"),
        hn.Bins("x", list(range(400)), name="bands"),
    ]
    table = hn.release(path, queries, row_is_person=True, privacy=SHARP)
    assert round(table["listed"].estimate) == 400
    assert round(table["bands=399 and over"].estimate) == 101
