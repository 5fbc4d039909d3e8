"""Keys of groups at the edges: time zones, and columns that hold no keys."""

import datetime as dt
import random
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data import spans
from halfnoise.data.calendar import NEW_YEAR, clock_changes
from halfnoise.data.cells import Cell
from halfnoise.data.spans import Span
from halfnoise.workload.spans import span_number
from support.soak import MORE

# In UTC these are on the 31st of December and on the 1st of January.
MOMENTS = [dt.datetime(2025, 12, 31, 23, 30, tzinfo=dt.UTC)] * 2
MOMENTS += [dt.datetime(2026, 1, 1, 0, 30, tzinfo=dt.UTC)] * 3
BY = hn.By("at", every="day")
MUCH = hn.GaussianDP(mu=1e6)
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


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("make", [pl.DataFrame.to_arrow, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_moments_before_the_first_year_are_missing(zone: str, make: Any) -> None:
    """Also where they are one by a clock elsewhere: programs write the first moment they know."""
    seconds = pl.Series([-62135596800 - 3600, -62135596800, -62200000000, -9223372036854, 0])
    moments = (seconds * 10**6).cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)
    data = make(pl.DataFrame({"at": moments, "a": [1] * 5}))
    said: dict[str, Any] = {"row_is_person": True, "size_importance": 1, "privacy": MUCH}
    by = hn.By("at", every="year")
    found = hn.release(data, [hn.Count("a")], by=by, groups=["0001", "0002", None], **said)
    counts = [round(one.size.estimate) for _, one in found.items() if one.size]
    assert counts == [1, 0, 3, 1]


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


def test_days_have_no_hours() -> None:
    """A column of days is refused by its type; text without a time is missing."""
    by, groups = hn.By("at", every="hour"), ["2026-01-01T05"]
    said: dict[str, Any] = {"row_is_person": True, "by": by, "groups": groups, "privacy": MUCH}
    days = pl.DataFrame({"at": [dt.date(2026, 1, 1)], "a": [1]})
    with pytest.raises(hn.InvalidParameterError, match="not moments"):
        hn.release(days, [hn.Count("a")], **said)
    texts = ["2026-01-01T05:59", "2026-01-01 05", "2026-01-01", "2026-01-01 5:00", "2026-01-01T50"]
    data = pl.DataFrame({"at": texts, "a": [1] * 5})
    found = hn.release(data, [hn.Count("a")], **said, missing_group="no hour")
    assert {key: round(each.size.estimate) for key, each in found.items() if each.size} == {
        "2026-01-01T05": 3,
        "no hour": 2,
        "other": 0,
    }


def in_calendar(dates: pl.Series, every: str, zone: str | None = None) -> list[int]:
    """Return the spans of days or moments as the numbers that engines compute."""
    dtype: Any = nw.Date() if dates.dtype == pl.Date else nw.Datetime("us")
    cell = Cell(name="at", dtype=dtype, label="at")
    span = Span(cell, hn.By("at", every=every, zone=zone), zone is not None)
    number, rows = span.number(), nw.from_native(pl.DataFrame({"at": dates}))
    for step in span.steps:
        rows = rows.with_columns(**step)
    found: list[int] = rows.select(number=number).to_native()["number"].to_list()
    return found


def test_every_week_of_the_calendar() -> None:
    """Weeks and quarters are Python's on the days around new year, in every year that there is."""
    years = range(1, 10_000)
    some = ((1, 1), (1, 4), (2, 28), (12, 29), (12, 31))
    ends = [dt.date(year, *day) for year in years for day in some]
    weeks = [year * 100 + week for year, week, _ in (day.isocalendar() for day in ends)]
    assert in_calendar(pl.Series(ends), "week") == weeks
    quarters = [day.year * 100 + (day.month + 2) // 3 for day in ends]
    assert in_calendar(pl.Series(ends), "quarter") == quarters


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/St_Johns", "Pacific/Apia"])
def test_clocks_of_a_zone(zone: str) -> None:
    """Days and hours are those that Python shows, around every change of clocks and elsewhere."""
    changes, _ = clock_changes(zone)
    first, zero = dt.datetime(1, 1, 1), NEW_YEAR * 86_400  # in UTC, as all here
    near = [first + dt.timedelta(seconds=c - zero + s) for c in changes for s in (-1, 0, 1)]
    near += [dt.datetime(1, 1, 2), dt.datetime(1850, 1, 1), dt.datetime(2100, 12, 30, 12)]
    shown = [at.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(zone)) for at in near]
    hours = [span_number(at.isoformat()[:13], "hour") for at in shown]
    assert in_calendar(pl.Series(near), "hour", zone) == hours


def odd_moment(chance: random.Random) -> str:
    """Return text that says a moment, or nearly."""
    day = chance.choice(["2026-03-29", "2025-10-26", "2026-1-5", "0001-01-01", "9999-12-31"])
    clock = [f"{chance.randint(0, 25):02d}", f"{chance.randint(0, 61):02d}"]
    clock += [chance.choice(["00", "59", "60", "07.5", "07,25", "1"])] * chance.randint(0, 1)
    said = day + chance.choice("TTT t") + ":".join(clock[: chance.randint(1, 3)])
    said += chance.choice(["", "", "Z", "Z", "z", " Z", "+01:00", "-0330", "+02", " PM", " am"])
    if chance.random() < 0.3:
        at = chance.randint(10, len(said))
        said = said[:at] + chance.choice(["", "Z", ":", "-", "é", " ", "9"]) + said[at + 1 :]
    return chance.choice(["", "", " "]) + said


def in_text(texts: list[str], every: str, zone: str | None, *, branches: bool) -> list[int]:
    """Return the spans of text as DuckDB computes them: the usual ones quickly, or all in full."""
    cell = Cell(name="at", dtype=nw.String(), label="at", branches=branches)
    span = Span(cell, hn.By("at", every=every, zone=zone), aware=False)
    number, listed = span.number(), pl.DataFrame({"at": texts, "i": range(len(texts))})
    rows: Any = nw.from_native(duckdb.sql("from listed"))
    assert len(listed) == len(texts)
    for step in span.steps:
        rows = rows.with_columns(**step)
    found = rows.select(number=number, i=nw.col("i")).to_native().order("i").fetchall()
    return [number for number, _ in found]


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("every", ["hour", "day"])
def test_usual_moments_are_read_as_all_others(every: str, zone: str | None) -> None:
    """What is quick where text is written in the usual way says what the full rules say."""
    chance = random.Random(f"{every} {zone}")
    texts = [odd_moment(chance) for _ in range(4000 * MORE)]
    quick = in_text(texts, every, zone, branches=True)
    assert quick == in_text(texts, every, zone, branches=False)
    assert len({*quick}) > 2


@pytest.mark.parametrize(
    "usual", [r"^[T ][0-9:.]+Z?\z", r"^[T ][0-9:]+\z", r"^[T ][0-9]{2}:[0-9]{2}:[0-9]{2}.*\z"]
)
def test_what_is_not_usual_is_seen(usual: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test sees text that is taken for usual and is not."""
    monkeypatch.setattr(spans, "_USUAL", usual)
    with pytest.raises((AssertionError, duckdb.Error)):
        test_usual_moments_are_read_as_all_others("hour", "Europe/Berlin")


def test_listed_text_in_any_case() -> None:
    """Where case is ignored, so it is for listed keys and for the name of rows without one."""
    cells = ["North", " NORTH", "no rth", "TRUE", "un known", None]
    data = pl.DataFrame({"at": cells, "a": [1] * 6})
    said: dict[str, Any] = {"row_is_person": True, "by": "at", "missing_group": "Unknown"}
    for text, wanted in (
        (hn.TextFormat(ignore_case=True), {"north": 3, "true": 1, "Unknown": 2, "other": 0}),
        (hn.TextFormat(), {"north": 0, "true": 1, "Unknown": 1, "other": 4}),
    ):
        given = said | {"groups": ["north", "true"], "text": text, "privacy": MUCH}
        found = hn.release(data, [hn.Count("a")], **given)
        assert {k: round(each.size.estimate) for k, each in found.items() if each.size} == wanted
    given = said | {"groups": ["north", "North"], "text": hn.TextFormat(ignore_case=True)}
    with pytest.raises(hn.InvalidParameterError, match="'north' and 'North' are the same"):
        hn.release(data, [hn.Count("a")], **given, privacy=MUCH)


@pytest.mark.parametrize("key", [" Unknown", "Unknown\t", ("Unknown ", "x")])
def test_no_key_is_what_rows_without_one_are_called(key: Any) -> None:
    """A listed key that reads as that name would be nobody's, and is refused."""
    data = pl.DataFrame({"at": ["Unknown", None], "on": ["x", "x"], "a": [1, 1]})
    by = "at" if isinstance(key, str) else ["at", "on"]
    given: dict[str, Any] = {"row_is_person": True, "by": by, "missing_group": "Unknown"}
    with pytest.raises(hn.InvalidParameterError, match=r"groups '.*' and 'Unknown' are the same"):
        hn.release(data, [hn.Count("a")], groups=[key], **given, privacy=MUCH)
    others: list[Any] = ["an Unknown", "Unknown 2"]  # each of which is somebody's
    listed = others if isinstance(key, str) else [(each, " Unknown 2") for each in others]
    found = hn.release(data, [hn.Count("a")], groups=listed, **given, privacy=MUCH)
    assert len(found) == len(listed) + 1 + isinstance(key, str)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas", "arrow"])
@pytest.mark.parametrize("other", ["other", None])
def test_names_added_up_first_are_read_as_in_every_row(engine: str, other: str | None) -> None:
    """However a name is written, rows are in the groups that people with one row each are in."""
    cells = ["a", " a", "a\t", "A", "TRUE", "true ", "b", "b", "", " ", None, "c", "c", "é"] * 2
    frame = pl.DataFrame({"id": range(len(cells)), "at": cells, "a": [1, 0] * 14})
    made = {"pandas": frame.to_pandas, "arrow": frame.to_arrow}
    data: Any = made.get(
        engine, lambda: duckdb.sql("from frame") if engine == "duckdb" else frame
    )()
    said: dict[str, Any] = {"by": "at", "groups": ["a", "True", "b ", None, "z"], "other": other}
    by_row, by_person = (
        hn.release(data, [hn.Count("a")], **said, **who, privacy=MUCH, ledger=None)
        for who in ({"row_is_person": True}, {"unit": "id"})
    )
    shown = [np.rint(each.values).tolist() for each in (by_row, by_person)]
    assert shown[0] == shown[1]
    assert [size for _, size in shown[0]] == [6, 4, 4, 4, 0] + [10] * (other is not None)
    with pytest.raises(hn.InvalidParameterError, match="'a' and 'a ' are the same"):
        hn.release(
            data,
            [hn.Count("a")],
            **said | {"groups": ["a", "a "]},
            row_is_person=True,
            privacy=MUCH,
        )
