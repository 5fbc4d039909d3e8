"""A table of a release with its margins: its numbers as arrays, and laid out as one reads it."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import shown, unknown
from halfnoise.results import by_place, sampled
from halfnoise.results.inference import ANYTHING, Errors, Floats, Range, ratios
from halfnoise.results.labelled import PEOPLE, Labelled
from halfnoise.results.listing import Listed, listed, named, said
from halfnoise.results.nest import Nest
from halfnoise.results.pairs import Pairs
from halfnoise.results.reliability import LEFT_OUT, Reliability, marked, relative, spread
from halfnoise.results.sampled import Sampled
from halfnoise.results.shown import PEOPLE as PEOPLE_KINDS
from halfnoise.results.shown import places, written
from halfnoise.results.whole import rounded
from halfnoise.results.wide import DASH, OPEN, Wide, between
from halfnoise.text import short, spelled
from halfnoise.values import dataclass
from halfnoise.workload.question import Question


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Cells(Labelled):
    """A table by the axes ``labels``; ``order``: which axis of the question each label is."""

    release: Sampled
    question: Question
    order: tuple[int, ...]

    @classmethod
    def of(cls, release: Sampled, labels: Sequence[object], of: str | None = None) -> Self:
        """Return a table by its labels, in the order in which it is to be shown."""
        wanted = [spelled(each) if isinstance(each, Hashable) else shown(each) for each in labels]
        for question in (each.as_table for each in release.questions):
            own = [label for label, _ in question.axes]
            if wanted and named(question) == of and sorted(own) == sorted(wanted):
                return cls._made(release, question, tuple(map(own.index, wanted)))
        known = [said(each) for each in listed(release)]
        raise unknown("table", said(Listed(tuple(wanted), of, asked=True)), known)

    @classmethod
    def _made(cls, release: Sampled, question: Question, order: tuple[int, ...]) -> Self:
        axes = [question.axes[axis] for axis in order]
        return cls(
            release=release,
            question=question,
            order=order,
            labels=tuple(label for label, _ in axes),
            categories=tuple(categories for _, categories in axes),
            name=named(question) or "",
        )

    @property
    def kind(self) -> str:
        """What its numbers are: table (people), count, sum or mean."""
        return self.question.shown_as

    @property
    def level(self) -> float:
        """How often an interval holds the value that the data would give without noise."""
        return self.release.level

    @property
    def _shown(self) -> Floats:
        return self.release.whole_values if self.release.rounded_values else self.release.values

    def cells_of(self, values: Floats, part: int = 0) -> Floats:
        """Return its cells among some values, by axes; of a mean sums, and then who answered."""
        start = self.question.start + part * self.question.cells
        return self._by_axes(values[start : start + self.question.cells])

    def _by_axes(self, cells: Floats) -> Floats:
        return np.asarray(cells.reshape(self._own_shape).transpose(self.order))

    @cached_property
    def numbers(self) -> Floats:
        """Estimates, standard errors, low and high ends, by axes."""
        errors, start = self.release.errors, self.question.start
        if self.question.is_mean:
            pair = [self.cells_of(self.release.values, part).ravel() for part in (0, 1)]
            both = by_place.beside(errors, start, start + self.question.cells, self._spread)
            return self._ratios(np.stack(pair, axis=1), both, self.question.limits)
        values, many = self.release.values[np.newaxis], self.question.cells
        own = by_place.each(errors, start, self.level)
        std, margin = (np.repeat(each, many // len(each))[np.newaxis] for each in own)
        x = values[:, start : self.question.stop]
        noisy = np.stack([x, std, x - margin, x + margin])
        found = sampled.sums(self.release, self.question, values, noisy)
        _, std, low, high = (self._by_axes(each[0]) for each in found)
        shown = self.cells_of(self._shown)
        return np.stack([shown, std, np.minimum(low, shown), np.maximum(high, shown)])

    def _ratios(self, rows: Floats, errors: Errors | Pairs, bounds: Range) -> Floats:
        """Return numbers of ratios of two numbers for each cell, by axes."""
        found = ratios(rows, errors, (0, 1), self.level, bounds)
        if bounds != ANYTHING:
            found = sampled.ratios(self.release, found, rows, errors, (0, 1), bounds=bounds)
        return found.reshape(4, *self.shape)

    def _spread(self, own: Floats) -> Floats:
        """Return what each cell has of what its place has; of no places, all have the same."""
        cells = np.repeat(own, self.question.cells // len(own))
        return np.asarray(cells.reshape(self._own_shape).transpose(self.order).ravel())

    @cached_property
    def nest(self) -> Nest:
        """Which axes are places, and how these lie in each other."""
        return Nest.of(self.release.questions, self.release.errors.covariance)

    @property
    def _own_shape(self) -> tuple[int, ...]:
        return tuple(len(categories) for _, categories in self.question.axes)

    def margin(self, *labels: str) -> Self:
        """Return the margin by some of the axes."""
        return self.of(self.release, labels, self.name or None)

    def margins(self) -> Iterator[Self]:
        """Go through all margins that are tables, small ones first."""
        for number in range(1, len(self.labels)):
            yield from (self.margin(*labels) for labels in combinations(self.labels, number))

    @property
    def _whole(self) -> Self:
        """All of the value, by nothing."""
        questions = self.release.questions
        whole = next(q for q in questions if q.in_tables and not q.axes and q.name == self.name)
        return self._made(self.release, whole, ())

    def _with_margins(self, factor: float = 0.0) -> dict[frozenset[str], Floats]:
        """Return the table and all its margins by their labels, in the order of this table.

        With a ``factor`` they are rounded to whole multiples of its inverse, together.
        """
        own = self._made(self.release, self.question, (*range(len(self.order)),))
        nest = self.nest
        by = [each.labels for each in (*own.margins(), own)]
        by += [each for labels in by for each in nest.around(labels) if each not in ((), *by)]
        shown = {each: own.margin(*each).cells_of(self._shown) for each in dict.fromkeys(by)}
        shown[()] = np.array(self._all(self._shown))
        if factor:
            tables = {each: factor * cells[np.newaxis] for each, cells in shown.items()}
            whole = rounded(tables, nest)
            shown = {each: cells[0] / factor for each, cells in whole.items()}
        return {
            frozenset(each): cells.transpose([each.index(a) for a in self.labels if a in each])
            for each, cells in shown.items()
            if {*each} <= {*self.labels}
        }

    def _all(self, values: Floats) -> float:
        """Return the total of all cells."""
        if self.name:
            return float(values[self._whole.question.start])
        if not self.release.errors.covariance.in_tables(self.question.start):
            return float(self.cells_of(values).sum())
        last, known = self.release.questions[-1].stop, self.release.known_size
        if len(values) > last:
            return float(values[last])
        return float(self.cells_of(values).sum()) if known is None else known

    def _means(self, place: int) -> dict[frozenset[str], Floats]:
        """Return one of the numbers of the table and of the margins that are shown with it."""
        shown = {each: self.margin(*each) for each in (self.rows, self.columns) if each}
        shown |= {self.labels: self, (): self._whole}
        return {frozenset(each): table.numbers[place] for each, table in shown.items()}

    def _laid(self, tables: Mapping[frozenset[str], Floats], *, long: bool = False) -> Floats:
        """Return rows and columns with their totals."""
        by = (self.labels, self.rows, self.columns, ())
        cells, rows, columns, whole = (tables[frozenset(each)] for each in by)
        if long or not self.columns:
            return np.vstack([cells.reshape(-1, 1), whole.reshape(1, 1)])
        by_rows = np.hstack([cells.reshape(-1, self.shape[-1]), rows.reshape(-1, 1)])
        return np.vstack([by_rows, np.hstack([columns.reshape(1, -1), whole.reshape(1, 1)])])

    def _grid(self) -> Floats:
        return self._laid(self._means(0) if self.question.is_mean else self._with_margins())

    def wide(
        self, *, digits: int | None = None, long: bool = False, most: int | None = None
    ) -> Wide:
        """Return it in texts; counts and sums are rounded together, and add up as shown."""
        shown = self.texts(digits, long=long, most=most)
        kind = {"table": PEOPLE, "count": "count of ", "sum": "sum of ", "mean": "mean of "}
        return Wide(
            title=f"{kind[self.kind]}{self.name} by {','.join(self.labels)}",
            heads=self.labels if long else self.rows,
            titles=self._titles(1, long=long),
            lines=[*zip(self._heads(1, long=long), self._marked(shown, long=long), strict=False)],
            below=tuple(self._below_it(long=long)),
        )

    def texts(
        self, digits: int | None = None, *, long: bool = False, most: int | None = None
    ) -> list[list[str]]:
        """Return its numbers as they are shown, by rows and columns, with their totals."""
        if self.question.is_mean:
            x, std = (each[:most] for each in self._grids(long=long))
            low, high = (self._laid(self._means(place), long=long)[:most] for place in (2, 3))
            rows = zip(self._texts(x, std, digits), self._open(low, high).tolist(), strict=True)
            return [[DASH if n else text for text, n in zip(*row, strict=True)] for row in rows]
        at = self.places if digits is None else digits
        grid = self.together(at, long=long)
        return [[written(x, at) for x in row] for row in grid[:most].tolist()]

    def _open(self, low: Floats, high: Floats) -> NDArray[np.bool_]:
        """Of which means, by their intervals, the noise tells nothing: all there is is in them."""
        least, most = self.question.limits if self.question.is_mean else ANYTHING
        return np.asarray((low <= least) & (high >= most))

    @property
    def told(self) -> NDArray[np.bool_]:
        """Of which cells the noise tells something; of all, if it is of none."""
        nothing = self._open(*self.numbers[2:])
        return ~nothing | nothing.all()

    def together(self, at: int, *, long: bool = False) -> Floats:
        """Return counts or sums with totals, rounded to so many places so that they add up."""
        return self._laid(self._with_margins(10.0**at), long=long)

    def _grids(self, *, long: bool) -> tuple[Floats, Floats]:
        """Return estimates and standard errors as they are laid out."""
        if self.question.is_mean:
            x, std = (self._laid(self._means(place), long=long) for place in (0, 1))
            return x, std
        by = [each for each in (self.rows, self.columns) if each and each != self.labels]
        errors = {frozenset(each): self.margin(*each).std for each in by}
        errors |= {frozenset(self.labels): self.std, frozenset(): self._total_std}
        x, std = (self._laid(each, long=long) for each in (self._with_margins(), errors))
        return x, std

    def laid_out(
        self, rule: Reliability, *, long: bool = False
    ) -> tuple[Floats, Floats, NDArray[Any]]:
        """Return estimates, standard errors and marks by rows and columns, with their totals."""
        x, std = self._grids(long=long)
        return x, std, rule.marks(relative(x, std, counts=self.kind in PEOPLE_KINDS))

    def _marked(self, shown: list[list[str]], *, long: bool) -> list[list[str]]:
        """Mark what is not reliable, by the rule that the release keeps."""
        rule = Reliability.of(self.release.facts)
        if not rule:
            return shown
        pairs = zip(shown, self.laid_out(rule, long=long)[2].tolist(), strict=False)
        return [
            [t if t == DASH else marked(t, m) for t, m in zip(*row, strict=True)] for row in pairs
        ]

    @property
    def places(self) -> int:
        """To how many places behind the point counts or sums are shown: as the least error says."""
        least = min(float(each.std.min()) for each in (self, *self.margins()))
        least = min(least, float(self._total_std))
        return places(least, self.kind, ones=self.release.rounded_values) or 0

    def _below_it(self, *, long: bool) -> Iterator[str]:
        """Say how large the errors are, and how far cells were moved by rounding."""
        rule = Reliability.of(self.release.facts)
        shown = {"cells": _kept(self, rule)}
        for labels in (self.rows, self.columns) if not long and self.columns else ():
            shown[f"totals by {','.join(labels)}"] = _kept(self.margin(*labels), rule)
        shown["total"] = self._whole.std if self.question.is_mean else self._total_std
        parts = (f"{what} {between(std.min(), std.max())}" for what, std in shown.items())
        x, std, marks = (each[:-1] for each in self.laid_out(rule, long=True))
        share = relative(x, std, counts=self.kind in PEOPLE_KINDS)[marks != LEFT_OUT]
        cells = f"; relative ones of cells {spread(share)}" if share.size else ""
        yield f"Standard errors: {', '.join(parts)}{cells}."
        if not self.told.all():
            yield OPEN
        if self.release.rounded_values and self.kind in ("table", "count"):
            yield f"Rounding moved cells by {short(self.rounding)} (root mean square)."

    @property
    def _total_std(self) -> Floats:
        all_cells = [range(number) for number in self._own_shape]
        errors = by_place.total(self.release.errors, self.question.start, all_cells)
        return np.array(errors.std({0: 1.0}))

    @property
    def rounding(self) -> float:
        """By how much rounding moved the cells: the root mean square."""
        moved = self.cells_of(self._shown) - self.cells_of(self.release.values)
        return float(np.sqrt(np.mean(moved**2)))


def _kept(table: Cells, rule: Reliability) -> Floats:
    """Return the standard errors of cells that are not left out; of all, if none is there."""
    x, std = table.numbers[:2, table.told]
    gone = rule.marks(relative(x, std, counts=table.kind in PEOPLE_KINDS)) == LEFT_OUT
    return np.asarray(std if gone.all() else std[~gone])
