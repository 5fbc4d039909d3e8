"""The calendar in whole numbers, the same on every engine: days, weeks, and clocks in a time zone.

A day is written as the number 20261115. Days are counted from the first of March of the year 0, so
that a leap day is the last of its year and no number from year 1 on is negative. What a clock in a
zone is ahead of UTC is a public list of moments at which it changes, from 1800 to 2100: before and
after, clocks stay as they are at that end.
"""

import datetime as dt
import functools
from collections.abc import Callable
from zoneinfo import ZoneInfo

import narwhals.stable.v2 as nw

from halfnoise.data.halving import step

NEW_YEAR = 306  # the number of the first of January of the year 1, a Monday
_EPOCH = dt.datetime(1, 1, 1, tzinfo=dt.UTC)
_APART = 3  # days: no clock was ever changed twice within
_FIRST, _LAST = (dt.datetime(year, 1, 1, tzinfo=dt.UTC) for year in (1800, 2101))

Column = Callable[[str, nw.Expr], nw.Expr]  # makes a column by its name, to be used many times


def parted(number: nw.Expr, by: int) -> nw.Expr:
    """Divide a number that is not negative, rounding down: exact below 2^53 for what is here."""
    # No engine's integer division is the same as another's.
    return (number.cast(nw.Float64) / float(by)).floor().cast(nw.Int64)


def day_number(date: nw.Expr, column: Column) -> nw.Expr:
    """Return the number of a day; dates of 0 get any."""
    months = column("month", parted(date, 100))
    years = column("year", parted(date, 10_000))
    march = column("march", months - years * 88 + 9)  # since March of the year before the first
    year = column("shifted", parted(march, 12))
    month, day = march - year * 12, date - months * 100
    days = (year - 1) * 365 + _leap_days(year - 1) + parted(month * 153 + 2, 5) + day - 1
    return column("days", days)


def date_of(number: nw.Expr, column: Column) -> nw.Expr:
    """Return the date of a day's number."""
    century = column("era", parted(number, 146_097))  # four of them, after which all repeats
    day = column("of_era", number - century * 146_097)
    left = day - parted(day, 1_460) + parted(day, 36_524) - parted(day, 146_096)
    year = column("of_years", parted(left, 365))
    day = column("of_year", day - year * 365 - _leap_days(year))
    month = column("of_months", parted(day * 5 + 2, 153))
    months = (century * 400 + year) * 12 + month + 2
    day = day - parted(month * 153 + 2, 5) + 1
    return column("date", (months + parted(months, 12) * 88 + 1) * 100 + day)


def week_of(date: nw.Expr, column: Column) -> nw.Expr:
    """Return the ISO week of a date, as 202646: it belongs to the year of its Thursday."""
    days, year = day_number(date, column), parted(date, 10_000)
    into = days + 2 - parted(days + 2, 7) * 7  # 0 on a Monday
    thursday = column("thursday", days - into + 3)
    before = nw.when(thursday < _new_year(year)).then(1).otherwise(0)
    after = nw.when(thursday >= _new_year(year + 1)).then(1).otherwise(0)
    year = column("week_year", year - before + after)
    return year * 100 + parted(thursday - _new_year(year), 7) + 1


def _leap_days(year: nw.Expr) -> nw.Expr:
    return parted(year, 4) - parted(year, 100) + parted(year, 400)


def _new_year(year: nw.Expr) -> nw.Expr:
    return (year - 1) * 365 + _leap_days(year - 1) + NEW_YEAR


def in_zone(second: nw.Expr, zone: str) -> nw.Expr:
    """Return what clocks show at a second in UTC, counted from the same day as days are."""
    changes, ahead = clock_changes(zone)
    return second + step(second, changes, ahead)


@functools.cache
def clock_changes(zone: str) -> tuple[list[int], list[int]]:
    """Return the seconds at which a zone's clocks change, and what they are ahead of UTC between.

    >>> changes, ahead = clock_changes("Asia/Tokyo")
    >>> ahead[-1]
    32400
    """
    clock, changes = ZoneInfo(zone), list[int]()
    ahead = [_ahead(_FIRST, clock)]
    for number in range(0, (_LAST - _FIRST).days, _APART):
        day = _FIRST + dt.timedelta(days=number)
        if (after := _ahead(day + dt.timedelta(days=_APART), clock)) == ahead[-1]:
            continue
        low, high = 0, _APART * 86_400  # it changes after low, and not after high
        while high - low > 1:
            half = (low + high) // 2
            same = _ahead(day + dt.timedelta(seconds=half), clock) == ahead[-1]
            low, high = (half, high) if same else (low, half)
        changes.append(((day - _EPOCH).days + NEW_YEAR) * 86_400 + high)
        ahead.append(after)
    return changes, ahead


def _ahead(moment: dt.datetime, clock: ZoneInfo) -> int:
    return round((moment.astimezone(clock).utcoffset() or dt.timedelta(0)).total_seconds())
