"""A release without groups as one reads it: a row for each estimate."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from halfnoise.report.columns import Column, Columns, plain
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

    def counts(self, questions: Sequence[Question]) -> Part:
        """Return the number of people, and counts with their shares of it."""
        own = [column for question in questions for column in self.of(question)]
        shares = [column for question in questions for column in self.shares(question)]
        return self._people("Counts", [*self.size(), *own], shares)

    def choice(self, question: Question) -> Part:
        """Return how many chose each, with shares of all people."""
        own = [plain(each, question) for each in self.of(question)]
        return self._people(question.name, own, self.shares(question))

    def sums(self, questions: Sequence[Question]) -> Part:
        """Return sums, and what each is for a person."""
        rows = [(*self.of(question), *self.per_person(question)) for question in questions]
        panels = [
            found
            for sum_, *_ in rows[:MOST_PANELS]
            for found in panel("", sum_.name, [""], sum_.numbers, "sum", bars=True)
        ]
        return Part(title="Sums", tables=[self._wide(["sum", "per person"], rows)], panels=panels)

    def means(self, questions: Sequence[Question]) -> Part:
        """Return means, and how many answered."""
        rows = [(mean, answered) for mean, _, answered in map(self.of, questions)]
        panels = [
            found
            for (mean, _), question in zip(rows[:MOST_PANELS], questions, strict=False)
            for found in panel("", mean.name, [""], mean.numbers, "mean", domain=question.limits)
        ]
        return Part(title="Means", tables=[self._wide(["mean", "answered"], rows)], panels=panels)

    def _people(self, title: str, own: list[Column], shares: list[Column]) -> Part:
        """Return numbers of people with their shares; the first has none if it is all of them."""
        counted = [each for each in own if each.kind != "size"]
        rows: list[tuple[Column, ...]] = [(each,) for each in own if each.kind == "size"]
        rows += zip(counted, *([shares] if shares else []), strict=True)
        panels = self._dots(counted)
        return Part(
            title=title, tables=[self._wide([PEOPLE, "share of people"], rows)], panels=panels
        )

    def _dots(self, columns: list[Column]) -> list[Panel]:
        if not columns:
            return []
        numbers = np.concatenate([each.numbers for each in columns[:MOST_ROWS]], axis=1)
        return panel("", PEOPLE, [each.name for each in columns[:MOST_ROWS]], numbers, "count")

    def _wide(self, titles: Sequence[str], rows: Sequence[Sequence[Column]]) -> Wide:
        """Lay rows out: each column with its interval beside it."""
        width = max(map(len, rows))
        lines = []
        for row in rows:
            cells = [text for each in row for text in (*each.texts(), *each.ends())]
            lines.append(((row[0].name,), cells + [""] * 2 * (width - len(row))))
        over = [text for title in titles[:width] for text in (title, self.interval)]
        return Wide(title="", heads=("",), titles=tuple(over), lines=lines, below=())
