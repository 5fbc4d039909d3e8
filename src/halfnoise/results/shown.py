"""How a number is shown beside its standard error: people in whole numbers, and no digit of noise.

One digit of the standard error counts, and two where it is below 3.55, as particle physicists do
it: with 23.4 a number is shown to the one, with 2,340 to the hundred, with 0.0634 to the hundredth.
People are whole whatever the error is, and shown to the one up to an error of 100. This is for
eyes: tables on a terminal, Markdown, pages and sheets; JSON, CSV and Parquet keep every digit.
"""

import math

import numpy as np

from halfnoise.results.inference import Columns
from halfnoise.text import short
from halfnoise.workload.weights import HEADS

PEOPLE = ("size", "count", "table")  # the kinds of numbers that count people
TWO = 3.55  # where the digits of a standard error begin with less, two of them count


def places(std: float, kind: str = "", *, ones: bool = False) -> int | None:
    """Return how many places behind the point are shown: -2 for hundreds, None for all there are.

    ``kind``: that of the number, as files call it. ``ones``: people are shown to the last one, as
    where they were rounded to whole numbers.

    >>> places(23.4), places(2340.0), places(0.0634), places(0.0)
    (0, -2, 2, None)
    >>> places(0.5, "count"), places(2340.0, "count"), places(2340.0, "count", ones=True)
    (0, -2, 0)
    """
    counts = kind in PEOPLE
    if not 0 < std < math.inf or (counts and ones):
        return 0 if counts else None
    first = math.floor(math.log10(std))  # where the first digit of the error stands
    if counts:
        return min(1 - first, 0)
    return 1 - first if std < TWO * 10.0**first else -first


def shown(x: float, std: float, kind: str = "", *, ones: bool = False) -> str:
    """Write a number to the digit that its standard error leaves meaningful.

    >>> shown(1234.567, 0.4), shown(1234.567, 0.4, "count"), shown(0.123456, 0.01)
    ('1,234.6', '1,235', '0.123')
    >>> shown(1234567.0, 2340.0), shown(12.3, 0.0)
    ('1,234,600', '12.3')
    """
    return _to(x, places(std, kind, ones=ones))


def written(x: float, at: int) -> str:
    """Write a number to so many places behind the point: 1,234, and never a negative zero.

    >>> written(1234.5678, 2), written(1234.5678, -2), written(-0.3, 0), written(-30.0, -2)
    ('1,234.57', '1,200', '0', '0')
    """
    if at < 0:
        return f"{round(x / 10**-at) * 10**-at:,}"
    return f"{x:,.{at}f}" if round(x, at) else f"{0:.{at}f}"


def error(std: float) -> str:
    """Write a standard error with three digits."""
    return short(std) if math.isfinite(std) else "∞"


def kinds(columns: Columns) -> list[str]:
    """Return as what each row of a table by column is shown: people with weights are people too."""
    named = zip(columns["name"].tolist(), columns["kind"].tolist(), strict=True)
    return ["size" if name == HEADS and kind == "sum" else kind for name, kind in named]


def texts(columns: Columns, *, ones: bool = False) -> Columns:
    """Return a table by column with its numbers as they are shown."""
    found = dict(columns)
    errors = columns["std"].tolist()
    rows = [*zip(errors, kinds(columns), strict=True)]
    known = {row: places(*row, ones=ones) for row in {*rows}}
    at = [known[row] for row in rows]
    for name in ("estimate", "low", "high"):
        found[name] = np.array([*map(_to, columns[name].tolist(), at)], dtype=object)
    found["std"] = np.array([*map(error, errors)], dtype=object)
    return found


def _to(x: float, at: int | None) -> str:
    if not math.isfinite(x):
        return "-∞" if x < 0 else "∞"
    return f"{x:,.10g}" if at is None else written(x, at)
