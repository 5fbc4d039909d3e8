"""A release by group as one reads it: a row for each group, a column for each estimate."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from halfnoise.report.columns import RELATIVE, Column, Columns, more, plain
from halfnoise.report.panels import (
    MOST_PANELS,
    MOST_ROWS,
    PEOPLE,
    SHARE,
    Panel,
    Part,
    Series,
    alike,
    panel,
    series,
)
from halfnoise.results.release import GroupedRelease
from halfnoise.results.wide import OPEN, Wide
from halfnoise.text import percent
from halfnoise.workload.question import Question

MOST_COLUMNS = 8  # so many numbers stand side by side; further ones in another table
OF_GROUP = "in per cent of the people in each group"


class ByGroup(Columns):
    """A release by group, in parts."""

    def counts(self, questions: Sequence[Question], *, sized: bool) -> Part:
        """Return the number of people in each group, counts, and their shares."""
        own = [column for each in questions for column in self.of(each)]
        shares = [column for each in questions for column in self.shares(each)]
        tables = self._both(PEOPLE, [*self.sizes * sized, *own], OF_GROUP, shares)
        drawn = [*self.size() * sized, *own]
        return Part(title=self._by("Counts"), tables=tables, panels=self._charts(drawn, PEOPLE))

    def sums(self, questions: Sequence[Question]) -> Part:
        """Return sums, and what each is for a person."""
        own = [column for each in questions for column in self.of(each)]
        each = [column for each in questions for column in self.per_person(each)]
        tables = self._both("sum", own, "per person", each)
        return Part(title=self._by("Sums"), tables=tables, panels=self._charts(own, "", bars=True))

    def means(self, questions: Sequence[Question]) -> Part:
        """Return means with their intervals, how many answered, and the deviation if asked for."""
        found = [self.of(question) for question in questions]
        panels = self._charts([mean for mean, *_ in found], "")
        tables = [table for mean, _, *others in found for table in self._mean(mean, *others)]
        return Part(title=self._by("Means"), tables=tables, panels=panels)

    def choice(self, question: Question) -> Part:
        """Return how many chose each, with their shares of the people in each group."""
        own, shares = (
            [plain(each, question) for each in some]
            for some in (self.of(question), self.shares(question))
        )
        tables = self._both(PEOPLE, own, OF_GROUP, shares)
        panels = self._charts(own, PEOPLE) if self._series else self._by_category(shares or own)
        return Part(title=self._by(question.name), tables=tables, panels=panels)

    def _by(self, title: str) -> str:
        return f"{title} by {', '.join(self.heads)}"

    def _both(
        self, title: str, own: Sequence[Column], other: str, beside: Sequence[Column]
    ) -> list[Wide]:
        return [*self._laid(title if beside else "", own), *self._laid(other, beside)]

    def _mean(self, mean: Column, answered: Column, *deviation: Column) -> Iterator[Wide]:
        others = (each.texts() for each in (answered, *deviation))
        cells = zip(mean.texts(), mean.ends(), mean.relative(), *others, strict=True)
        last = ("standard deviation",) * len(deviation)
        titles = ("mean", f"{percent(self.one.level)} interval", RELATIVE, "answered", *last)
        lines = [*zip(self.keys, cells, strict=True)]
        below = self._margins([replace(answered, name="answered")])
        yield Wide(title=mean.name, heads=self.heads, titles=titles, lines=lines, below=below)

    def _laid(self, title: str, columns: Sequence[Column]) -> Iterator[Wide]:
        """Lay columns out, so many side by side; or the other way round where groups are few."""
        if len(self.keys) < len(columns) and 0 < len(self.keys) <= MOST_COLUMNS:
            titles = tuple(" · ".join(key) for key in self.keys)
            lines = [((each.name,), each.texts()) for each in columns]
            below = self._margins(columns[:MOST_COLUMNS])
            yield Wide(title=title, heads=("",), titles=titles, lines=lines, below=below)
            return
        for start in range(0, len(columns), MOST_COLUMNS):
            some = columns[start : start + MOST_COLUMNS]
            cells = zip(*(each.texts() for each in some), strict=True)
            yield Wide(
                title=title,
                heads=self.heads,
                titles=tuple(each.name for each in some),
                lines=[*zip(self.keys, cells, strict=True)],
                below=self._margins(some),
            )

    def _margins(self, columns: Sequence[Column]) -> tuple[str, ...]:
        if not self.keys:
            return ()
        hidden = len(self.release.values) - len(self.keys)
        cut = [more(hidden, "groups")] if hidden else []
        said = (f"{each.name} {each.margin()}" for each in columns)
        dash = [OPEN] if any(each.open.any() for each in columns) else []
        return (f"Margin of error ({percent(self.one.level)}): {', '.join(said)}.", *dash, *cut)

    @cached_property
    def _series(self) -> list[Series]:
        release = self.release
        if not isinstance(release, GroupedRelease):
            raise TypeError
        return series(release.by, release.group_keys[: self.most])[:MOST_PANELS]

    @cached_property
    def _largest(self) -> list[int]:
        """Where the groups with the most people stand, in the order of groups."""
        size = self.size()
        order = (
            np.argsort(-size[0].numbers[0], kind="stable") if size else np.arange(len(self.keys))
        )
        return sorted(order[:MOST_ROWS].tolist())

    def _charts(self, columns: Sequence[Column], axis: str, *, bars: bool = False) -> list[Panel]:
        """Return a chart for each column: its groups as dots or bars, or as a line in time."""
        found = list[Panel]()
        labels = [" · ".join(self.keys[place]) for place in self._largest]
        for each in columns[:MOST_PANELS]:
            what, own = axis or each.name, list[Panel]()
            for title, places, moments in self._series:
                over = " · ".join(filter(None, (each.name, title)))
                own += panel(
                    over,
                    what,
                    moments,
                    each.drawn[:, places],
                    each.kind,
                    in_time=True,
                    limits=each.limits,
                )
            if not self._series:
                numbers = each.drawn[:, self._largest]
                own = panel(
                    each.name, what, labels, numbers, each.kind, bars=bars, limits=each.limits
                )
            found += alike(own, zero=each.kind != "mean") if len(own) > 1 else own
        return found[:MOST_PANELS]

    def _by_category(self, columns: Sequence[Column]) -> list[Panel]:
        """Return a chart for each group, a dot for each category."""
        axis = SHARE if columns[0].kind == "share" else PEOPLE
        found = list[Panel]()
        for place in self._largest[:MOST_PANELS]:
            numbers = np.stack([each.drawn[:, place] for each in columns[:MOST_ROWS]], axis=1)
            names = [each.name for each in columns[:MOST_ROWS]]
            found += panel(
                " · ".join(self.keys[place]),
                axis,
                names,
                numbers,
                columns[0].kind,
                limits=columns[0].limits,
            )
        return alike(found)
