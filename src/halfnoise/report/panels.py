"""What a chart shows, as values: dots, bars or a line in time, each number with its interval."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple, Self

import numpy as np

from halfnoise.results.inference import ANYTHING, Floats
from halfnoise.results.shown import shown
from halfnoise.results.wide import Wide
from halfnoise.values import dataclass, replace
from halfnoise.workload.by import By
from halfnoise.workload.spans import span_number

MOST_PANELS = 9  # of one part; the tables have all
MOST_ROWS = 24  # of one chart
FEWEST_MOMENTS = 3  # fewer are no time series
SHARE, PEOPLE = "share of people, %", "people"


class Point(NamedTuple):
    """A number of a chart: ``label`` is its name or, in time, when it was; ``said``: as shown."""

    label: str
    x: float
    low: float
    high: float
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One chart. ``axis``: what its numbers are; ``bars``: from zero; ``in_time``: as a line."""

    title: str
    axis: str
    points: tuple[Point, ...]
    bars: bool = False
    in_time: bool = False
    domain: tuple[float, float] | None = None

    def words(self, level: str) -> str:
        """Say what it shows to whoever cannot see it; the tables hold every number."""
        kind = "A line in time" if self.in_time else "Bars" if self.bars else "Dots"
        said = f"{kind} with {level} intervals: {self.title}, {self.axis}."
        first, last = self.points[0], self.points[-1]
        least, most = (pick(self.points, key=lambda each: each.x) for pick in (min, max))
        if self.in_time:
            said += f" From {first.said} ({first.label}) to {last.said} ({last.label});"
            return f"{said} least {least.said} ({least.label}), most {most.said} ({most.label})."
        if len(self.points) <= 6:
            return f"{said} {', '.join(f'{each.label} {each.said}' for each in self.points)}."
        number = f"{len(self.points)} numbers"
        return f"{said} {number}, from {least.said} ({least.label}) to {most.said} ({most.label})."

    def saying(self, texts: Mapping[str, str]) -> Self:
        """Return the chart with numbers as a table shows them, by their labels."""
        points = (each._replace(said=texts.get(each.label, each.said)) for each in self.points)
        return replace(self, points=tuple(points))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is read together: tables under a heading, and charts of the same numbers."""

    title: str
    tables: Sequence[Wide]
    panels: Sequence[Panel] = ()


def panel(
    title: str,
    axis: str,
    labels: Sequence[str],
    numbers: Floats,
    kind: str = "",
    *,
    factor: float = 1.0,
    bars: bool = False,
    in_time: bool = False,
    domain: tuple[float, float] | None = None,
    limits: tuple[float, float] = ANYTHING,
) -> list[Panel]:
    """Return a chart of estimates with their errors, or none where there is nothing to draw.

    ``numbers``: estimate, standard error and both ends, each for all labels; ``factor``: 100 for
    per cent. What reaches from one of the ``limits`` to the other says nothing, and is left out.
    """
    points = tuple(
        Point(label, x, low, high, shown(x, std, kind))
        for label, (x, std, low, high) in zip(labels, (factor * numbers).T.tolist(), strict=True)
        if np.isfinite([x, low, high]).all() and not (low <= limits[0] and high >= limits[1])
    )
    made = Panel(title=title, axis=axis, points=points, bars=bars, in_time=in_time, domain=domain)
    return [made] if len(points) >= (FEWEST_MOMENTS if in_time else 1) else []


def alike(panels: Iterable[Panel], *, zero: bool = True) -> list[Panel]:
    """Return charts that stand beside each other with one scale, so that one can compare."""
    found = [*panels]
    ends = [end for each in found for point in each.points for end in (point.low, point.high)]
    if not ends:
        return found
    low, high = min(ends), max(ends)
    domain = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    return [replace(each, domain=domain) for each in found]


class Series(NamedTuple):
    """Groups that follow one another in time: which they are, and when."""

    title: str
    places: list[int]
    moments: list[str]


def series(by: Sequence[By], keys: Sequence[Sequence[object]]) -> list[Series]:
    """Return the groups as series in time, one for each value of the other keys, if they are."""
    for column, each in enumerate(by):
        when = [_moment(key[column], each.every) for key in keys]
        found = dict[str, list[tuple[str, int]]]()
        for place, (key, moment) in enumerate(zip(keys, when, strict=True)):
            others = (str(value) for i, value in enumerate(key) if i != column)
            if moment is not None:
                found.setdefault(" · ".join(others), []).append((moment, place))
        if found and all(len(own) >= FEWEST_MOMENTS for own in found.values()):
            return [
                Series(title, [at for _, at in sorted(own)], [when for when, _ in sorted(own)])
                for title, own in found.items()
            ]
    return []


def _moment(key: object, every: str | None) -> str | None:
    """Return when a span of time begins, as ISO 8601 has it; None for what is no time."""
    if isinstance(key, date):
        return key.isoformat()
    if isinstance(key, str | int) and not isinstance(key, bool):
        for span in ("day", "month", "quarter", "week") if every is None else (every,):
            if span_number(key, span) is not None:
                return _begins(str(key).strip(), span)
    return None


def _begins(key: str, every: str) -> str:
    if every == "week":
        return date.fromisoformat(key).isoformat()
    if every == "quarter":
        year, quarter = key.split("-Q")
        return f"{year}-{3 * int(quarter) - 2:02d}-01"
    return key + {"year": "-01-01", "month": "-01", "hour": ":00"}.get(every, "")
