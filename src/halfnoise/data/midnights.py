"""Days and moments beside the midnights at which days begin and end, in UTC."""

import datetime as dt
from zoneinfo import ZoneInfo

import narwhals.stable.v2 as nw
from narwhals.dtypes import DType

from halfnoise.data.logic import never


def around(day: nw.Expr, dtype: DType, low: dt.date, high: dt.date) -> tuple[nw.Expr, ...]:
    """Whether a day or moment is at least, up to, below or above days: ISO text, or of a type."""
    begin, last = _midnight(low, dtype), _midnight(high, dtype)
    if not isinstance(dtype, nw.Datetime):
        return day >= begin, day <= last, day < begin, day > last
    if high == dt.date.max:  # after which no midnight can be said
        return day >= begin, ~day.is_null(), day < begin, never(day)
    end = _midnight(high + dt.timedelta(days=1), dtype)
    return day >= begin, day < end, day < begin, day >= end


def _midnight(day: dt.date, dtype: DType) -> nw.Expr:
    """Return the begin of a day, in UTC where moments have a time zone."""
    if dtype == nw.Date:
        return nw.lit(day)
    if not isinstance(dtype, nw.Datetime):
        return nw.lit(day.isoformat())
    midnight = dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)
    zone = dtype.time_zone and ZoneInfo(dtype.time_zone)
    return nw.lit(midnight.astimezone(zone) if zone else midnight.replace(tzinfo=None))
