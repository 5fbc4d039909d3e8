"""Keys that an engine, a collation or a missing cell might confuse: found once, never again."""

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data import totals
from support import engines

FREE = hn.GaussianDP(mu=1e6)


def sizes(data: Any, **said: Any) -> dict[Any, int]:
    """Return the size of each group, without its noise."""
    given: dict[str, Any] = {"unit": "p", "by": "r", "privacy": FREE} | said
    found = hn.release(data, [hn.Count("y")], **given)
    return {key: round(one.size.estimate) for key, one in found.items()}


DISCOVER: dict[str, Any] = {"groups": "discover", "discover_delta": 1e-7}


def test_bytes_that_are_no_text_name_no_group_of_spark() -> None:
    """In Spark they look like the sign that stands for them; they are missing, and it is not."""
    session = engines.spark_session()
    sign = "select id p, true y, cast(unhex('EFBFBD') as string) r from range(50)"
    odd = "select 500L p, true y, cast(unhex('FF') as string) r"
    assert sizes(session.sql(sign), **DISCOVER) == {"\ufffd": 50}
    assert sizes(session.sql(f"{sign} union all {odd}"), **DISCOVER) == {"\ufffd": 50}
    listed = sizes(session.sql(f"{sign} union all {odd}"), groups=["\ufffd", None])
    assert listed == {"\ufffd": 50, None: 1, "other": 0}
    both = f"{sign} union all {odd} union all {odd.replace('FF', 'FE')}"
    assert sizes(session.sql(both), max_groups=2, **DISCOVER) == {"\ufffd": 50}


def test_collations_do_not_merge_keys() -> None:
    """A column that knows no case still has two keys, and nobody is in both."""
    connection = duckdb.connect()
    connection.execute("create table t (p bigint, r varchar collate nocase, y boolean)")
    connection.execute("insert into t select range, 'a', true from range(10)")
    connection.execute("insert into t select range + 10, 'A', true from range(5)")
    data = connection.table("t")
    assert sizes(data, groups=["a", "A"]) == {"a": 10, "A": 5, "other": 0}
    assert sizes(data, **DISCOVER) == {"A": 5, "a": 10}
    query = hn.Choice("r", ["a", "A"])
    found = hn.release(data, [query], unit="p", privacy=FREE, size_importance=1)
    assert [round(each.estimate) for each in found] == [10, 5, 0]
    connection.execute("set default_collation = 'nocase'")
    assert sizes(data, groups=["a", "A"]) == {"a": 10, "A": 5, "other": 0}
    crossed = hn.Table([query, hn.Choice("y", [True])])
    table: Any = hn.release(data, [crossed], unit="p", privacy=FREE)
    assert table.table("r", "y").estimates.round().tolist() == [[10, 0], [5, 0], [0, 0]]


def test_lists_reach_duckdb_in_any_case() -> None:
    """Also where a connection may not look for variables of Python."""
    connection = duckdb.connect()
    connection.execute("set python_enable_replacements = false")
    data = connection.sql("select range p, true y, 'it''s' r, 1.5 f from range(4)")
    assert sizes(data, groups=["it's"]) == {"it's": 4, "other": 0}
    assert sizes(data, by="f", groups=[1.5, 2]) == {1.5: 4, 2: 0, "other": 0}


@pytest.mark.parametrize(
    ("cells", "groups"),
    [([True] * 6 + [False] * 4, [True, "false"]), ([5] * 6 + [7] * 4, [5, "7"])],
)
def test_one_missing_cell_of_pandas_changes_no_other(cells: list[Any], groups: list[Any]) -> None:
    """It makes text of yes and no, and fractions of whole numbers; keys stay what they are."""
    whole, gap = (
        pd.DataFrame({"p": range(len(r)), "y": True, "r": r}) for r in (cells, [*cells, None])
    )
    assert sizes(whole, groups=groups) == sizes(gap, groups=groups) | {"other": 0}
    found = [list(sizes(data, **DISCOVER)) for data in (whole, gap)]
    assert [repr(key) for key in found[0]] == [repr(key) for key in found[1]]


def test_text_that_looks_like_yes_sorts_with_other_text() -> None:
    """Among objects of pandas "True" may have been yes, and stands beside words all the same."""
    cells = ["True"] * 3 + ["Unknown"] * 3 + ["False"] * 3 + [None] * 3
    for dtype, no, yes in (("object", False, True), ("str", "False", "True")):
        column = pd.Series(cells, dtype=dtype)
        data = pd.DataFrame({"p": range(12), "y": True, "r": column})
        assert list(sizes(data, **DISCOVER)) == [no, yes, "Unknown", None]


def test_moments_out_of_reach_fail_nothing() -> None:
    """A year beyond 32 bits is no key, and nothing is read before the budget is charged."""
    seconds = pd.Series(np.array([0, 10**17]).view("M8[s]"))
    data = pd.DataFrame({"p": [0, 1], "y": True, "r": seconds})
    by = hn.By("r", every="day")
    assert sizes(data, by=by, groups=["1970-01-01", None]) == {"1970-01-01": 1, None: 1, "other": 0}


def test_pandas_is_read_after_the_charge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Before the ledger is charged, only the types of columns are looked at."""
    book = hn.Ledger.create(tmp_path / "a.ledger", unit="p")
    looked: list[tuple[int, int]] = []
    original = totals._prepared

    def spy(source: Any, *others: Any) -> Any:
        looked.append((len(book.history().charges), len(source.frame.collect())))
        return original(source, *others)

    monkeypatch.setattr(totals, "_prepared", spy)
    data = pd.DataFrame({"p": [1, 2], "y": [1, 0], "r": ["a", "b"]})
    assert sizes(data, groups=["a"], ledger=book) == {"a": 1, "other": 1}
    assert looked == [(0, 0), (1, 2)]


def test_short_fractions() -> None:
    """A key of 32 bits is the number that it is written as."""
    data = pl.DataFrame(
        {"p": [1, 2, 3], "y": True, "r": pl.Series([0.1, 0.1, 0.5], dtype=pl.Float32)}
    )
    assert sizes(data, groups=[0.1, 0.5]) == {0.1: 2, 0.5: 1, "other": 0}
    assert sizes(data, **DISCOVER) == {0.1: 2}


def test_the_largest_whole_numbers() -> None:
    """Listed keys are exact far beyond 2^53."""
    data = pl.DataFrame({"p": [1, 2, 3], "y": True, "r": [2**61 + 1, 2**61 + 2, -5]})
    assert sizes(data, groups=[2**61 + 1, str(2**61 + 2), "-5"])["other"] == 0
    with pytest.raises(hn.InvalidParameterError, match="below 2"):
        sizes(data, groups=[2**62])


def test_a_session_of_spark_may_move() -> None:
    """Days are those in UTC, whatever zone the session had before."""
    session = engines.spark_session()
    zone = "spark.sql.session.timeZone"
    before = session.conf.get(zone)
    data = session.sql("select 1L p, true y, timestamp_seconds(1709247599) r")
    by = hn.By("r", every="day")
    try:
        session.conf.set(zone, "UTC")
        assert sizes(data, by=by, groups=["2024-02-29"])["2024-02-29"] == 1
        session.conf.set(zone, "Asia/Tokyo")
        with pytest.raises(hn.InvalidParameterError, match="set its session's time zone to UTC"):
            sizes(data, by=by, groups=["2024-02-29"])
        session.conf.set(zone, "UTC")
        assert sizes(data, by=by, groups=[dt.date(2024, 2, 29)])["other"] == 0
    finally:
        session.conf.set(zone, before)
