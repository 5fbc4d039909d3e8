"""Spans of time as keys: 2026-11-15T14, 2026-11-15, 2026-W46, 2026-11, 2026-Q4 and 2026.

Each is also a number that sorts as time does: 2026111514, 20261115, 202646, 202611, 202604, 2026.
"""

import datetime as dt
import re

from halfnoise.workload.conditions import Literal, as_date

# Each span of time, with a key of it.
EVERY = {
    "hour": "2026-11-15T14",
    "day": "2026-11-15",
    "week": "2026-W46",
    "month": "2026-11",
    "quarter": "2026-Q4",
    "year": "2026",
}
_FORMS = {
    every: re.compile(re.sub("[0-9]+", lambda found: f"([0-9]{{{len(found[0])}}})", key))
    for every, key in EVERY.items()
}


def span_number(key: Literal, every: str) -> int | None:
    """Return the number of the span that a key names, be it as its first day; None if it is none.

    >>> span_number("2026-W46", "week"), span_number(dt.date(2026, 10, 1), "quarter")
    (202646, 202604)
    >>> span_number("2025-W53", "week"), span_number(dt.date(2026, 10, 2), "quarter")
    (None, None)
    """
    if isinstance(key, dt.datetime) and every == "hour":
        whole = key == key.replace(minute=0, second=0, microsecond=0)
        return _number(key, every, key.hour) if whole and key.tzinfo is None else None
    if isinstance(key, dt.date) and (day := as_date(key)):
        return _number(day, every) if every != "hour" and _is_first(day, every) else None
    found = None if isinstance(key, bool | float) else _FORMS[every].fullmatch(str(key).strip())
    if found is None:
        return None
    year, *rest = map(int, found.groups())
    try:
        if every == "week":
            day = dt.date.fromisocalendar(year, rest[0], 1)
        elif every == "quarter":
            day = dt.date(year, 3 * rest[0] - 2, 1)
        else:
            day = dt.date(*(year, *rest, 1, 1)[:3])
        return _number(day, every, dt.time(rest[2] if every == "hour" else 0).hour)
    except ValueError:  # no such day
        return None


def span_key(number: int, every: str) -> Literal:
    """Return a span of time as users write it: days as such, years as numbers, all else as text.

    >>> span_key(202053, "week"), span_key(20261115, "day"), span_key(202604, "quarter")
    ('2020-W53', datetime.date(2026, 11, 15), '2026-Q4')
    """
    if every == "year":
        return number
    first, last = divmod(number, 100)
    if every in ("hour", "day"):
        date, hour = (first, last) if every == "hour" else (number, 0)
        day = dt.date(date // 10_000, date // 100 % 100, date % 100)
        return f"{day.isoformat()}T{hour:02d}" if every == "hour" else day
    later = {"week": f"W{last:02d}", "month": f"{last:02d}", "quarter": f"Q{last}"}[every]
    return f"{first:04d}-{later}"


def _number(day: dt.date, every: str, hour: int = 0) -> int:
    if every == "week":
        year, week, _ = day.isocalendar()
        return year * 100 + week
    if every == "quarter":
        return day.year * 100 + (day.month + 2) // 3
    number = day.year * 10**6 + day.month * 10**4 + day.day * 100 + hour
    return number // {"year": 10**6, "month": 10**4, "day": 100, "hour": 1}[every]


def _is_first(day: dt.date, every: str) -> bool:
    """Whether a day is the first of its span."""
    before = day.toordinal() - 1
    return before == 0 or _number(day, every) != _number(dt.date.fromordinal(before), every)
