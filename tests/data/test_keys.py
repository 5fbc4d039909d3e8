"""Keys of groups at the edges: time zones, and columns that hold no keys."""

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import halfnoise as hn

# In UTC these are on the 31st of December and on the 1st of January.
MOMENTS = [dt.datetime(2025, 12, 31, 23, 30, tzinfo=dt.UTC)] * 2
MOMENTS += [dt.datetime(2026, 1, 1, 0, 30, tzinfo=dt.UTC)] * 3
BY = hn.By("at", every="day")
DAYS = [dt.date(2025, 12, 31), dt.date(2026, 1, 1)]


def sizes(data: Any) -> list[int]:
    """Return how many people there are on each of the two days, and elsewhere."""
    found = hn.release(
        data,
        [hn.Count("a")],
        row_is_person=True,
        by=BY,
        groups=DAYS,
        size_importance=1,
        privacy=hn.GaussianDP(mu=1e6),
    )
    return [round(one.size.estimate) for _, one in found.items() if one.size]


def table(zone: str) -> pl.DataFrame:
    """Return the moments in a time zone."""
    moments = pl.Series(MOMENTS).cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)
    return pl.DataFrame({"at": moments, "a": [1] * 5})


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_moments_belong_to_days_in_utc(
    zone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the zone of the column or of the machine."""
    monkeypatch.setenv("TZ", "America/New_York")
    frame = table(zone)
    path = tmp_path / "moments.parquet"
    frame.write_parquet(path)
    for data in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow(), path):
        assert sizes(data) == [2, 3, 0]


def test_a_session_elsewhere() -> None:
    """A connection that only knows the days of its own zone is not asked for those of another."""
    connection = duckdb.connect()
    connection.execute("set TimeZone = 'Asia/Tokyo'")
    relation = connection.from_arrow(table("UTC").to_arrow())
    assert sizes(relation) == [2, 3, 0]
    connection.execute("set TimeZone = 'UTC'")
    assert sizes(relation) == [2, 3, 0]


@pytest.mark.parametrize("cells", [[[1], [2]], [b"a", b"b"], [dt.time(1), dt.time(2)]])
def test_columns_without_keys(cells: list[Any]) -> None:
    """Lists, bytes and times of day name no groups."""
    data = pl.DataFrame({"key": cells, "a": [1, 0]})
    with pytest.raises(hn.InvalidParameterError, match="not text, numbers, days, or yes and no"):
        hn.release(
            data,
            [hn.Count("a")],
            row_is_person=True,
            by="key",
            groups=["x"],
            privacy=hn.GaussianDP(mu=1),
        )


def test_a_span_of_what_is_no_day() -> None:
    """Numbers have no months."""
    data = pl.DataFrame({"at": [1, 2], "a": [1, 0]})
    with pytest.raises(hn.InvalidParameterError, match="not days"):
        sizes(data)
