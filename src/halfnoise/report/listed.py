"""A release without groups as one reads it: a row for each estimate."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from halfnoise.report.columns import RELATIVE, Column, Columns, more, plain
from halfnoise.report.panels import MOST_PANELS, MOST_ROWS, PEOPLE, Panel, Part, panel
from halfnoise.results.wide import Wide
from halfnoise.text import percent
from halfnoise.workload.question import Question


class Listed(Columns):
    """A release without groups, in parts."""

    @cached_property
    def interval(self) -> str:
        """What stands above intervals."""
        return f"{percent(self.one.level)} interval"

    def counts(self, questions: Sequence[Question], *, sized: bool) -> Part:
        """Return the number of people, and counts with their shares of it."""
        some = questions[: self.most]
        own = [column for question in some for column in self.of(question)]
        shares = [column for question in some for column in self.shares(question)]
        hidden = sum(each.cells for each in questions) - len(own)
        sizes = len(self.sizes) * sized
        return self._people("Counts", [*self.sizes * sized, *own], shares, hidden, sizes)

    def choice(self, question: Question) -> Part:
        """Return how many chose each, with shares of all people."""
        own = [plain(each, question) for each in self.of(question)]
        return self._people(question.name, own, self.shares(question), question.cells - len(own))

    def sums(self, questions: Sequence[Question]) -> Part:
        """Return sums, and what each is for a person."""
        some = questions[: self.most]
        rows = [(*self.of(question), *self.per_person(question)) for question in some]
        panels = [
            found
            for own, *_ in rows[:MOST_PANELS]
            for found in panel("", own.name, [""], own.drawn, "sum", bars=True)
        ]
        table = self._wide(["sum", "per person"], rows, len(questions) - len(some))
        return Part(title="Sums", tables=[table], panels=panels)

    def means(self, questions: Sequence[Question]) -> Part:
        """Return means, how many answered and, where it was asked for, the standard deviation."""
        some = questions[: self.most]
        rows = [(mean, *others) for mean, _, *others in map(self.of, some)]
        panels = [
            found
            for (mean, *_), question in zip(rows[:MOST_PANELS], some, strict=False)
            for found in panel("", mean.name, [""], mean.drawn, "mean", domain=question.limits)
        ]
        table = self._wide(
            ["mean", "answered", "standard deviation"], rows, len(questions) - len(some)
        )
        return Part(title="Means", tables=[table], panels=panels)

    def _people(
        self, title: str, own: list[Column], shares: list[Column], hidden: int, sizes: int = 0
    ) -> Part:
        """Return numbers of people with their shares; the first, of all people, have none."""
        counted, rows = own[sizes:], list[tuple[Column, ...]]((each,) for each in own[:sizes])
        rows += zip(counted, *([shares] if shares else []), strict=True)
        table = self._wide([PEOPLE, "share of people"], rows, hidden)
        return Part(title=title, tables=[table], panels=self._dots(counted))

    def _dots(self, columns: list[Column]) -> list[Panel]:
        if not columns:
            return []
        numbers = np.concatenate([each.drawn for each in columns[:MOST_ROWS]], axis=1)
        return panel("", PEOPLE, [each.name for each in columns[:MOST_ROWS]], numbers, "count")

    def _wide(self, titles: Sequence[str], rows: Sequence[Sequence[Column]], hidden: int) -> Wide:
        """Lay rows out: each column with its interval and relative standard error beside it."""
        width = max(map(len, rows))
        lines = []
        for row in rows:
            own = ((*each.texts(), *each.ends(), *each.relative()) for each in row)
            cells = [text for three in own for text in three]
            lines.append(((row[0].name,), cells + [""] * 3 * (width - len(row))))
        over = tuple(text for title in titles[:width] for text in (title, self.interval, RELATIVE))
        below = (more(hidden, "rows"),) if hidden else ()
        return Wide(title="", heads=("",), titles=over, lines=lines, below=below)
