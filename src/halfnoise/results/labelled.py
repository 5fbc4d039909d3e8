"""Numbers by the categories of some attributes: arrays, single cells by name, and wide frames."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from halfnoise.checks import installed, refuse, unknown
from halfnoise.results.inference import Estimate, Floats
from halfnoise.results.lines import CSV, MARKDOWN
from halfnoise.results.sampled import estimate_of
from halfnoise.results.shown import shown, written
from halfnoise.results.wide import TOTAL, Wide
from halfnoise.text import spelled
from halfnoise.values import dataclass
from halfnoise.views import Viewed

PEOPLE = "people"
MOST_ROWS = 200  # a longer table is cut off on the screen; files hold all of it


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Labelled(Viewed):
    """Estimates and their errors, each an array with an axis for each of ``labels``.

    What is by several axes is laid out by rows, of all axes but the last, and by columns.
    """

    labels: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    name: str

    @property
    def numbers(self) -> Floats:
        """Estimates, standard errors, low and high ends, by axes."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """How many categories there are along each axis."""
        return tuple(map(len, self.categories))

    @property
    def estimates(self) -> Floats:
        """The estimates, by axes."""
        return np.asarray(self.numbers[0])

    @property
    def std(self) -> Floats:
        """The standard errors, by axes."""
        return np.asarray(self.numbers[1])

    @property
    def low(self) -> Floats:
        """The lower ends of the intervals, by axes."""
        return np.asarray(self.numbers[2])

    @property
    def high(self) -> Floats:
        """The upper ends of the intervals, by axes."""
        return np.asarray(self.numbers[3])

    @property
    def rows(self) -> tuple[str, ...]:
        """The labels whose categories stand at the left."""
        return self.labels[:-1] or self.labels

    @property
    def columns(self) -> tuple[str, ...]:
        """The label whose categories stand above, if there are several axes."""
        return self.labels[1:][-1:]

    def __getitem__(self, key: object) -> Estimate:
        """Return the estimate of one cell, by its categories in the order of ``labels``."""
        cell: Any = (slice(None), *self._cell(key))
        return estimate_of(self._named(key), self.numbers[cell])

    def _cell(self, key: object) -> tuple[int, ...]:
        given = key if isinstance(key, tuple) else (key,)
        if len(given) != len(self.labels):
            raise refuse("a cell", f"a category of each of {', '.join(self.labels)}", key)
        return tuple(self._place(axis, each) for axis, each in enumerate(given))

    def _place(self, axis: int, category: object) -> int:
        known, shown = self.categories[axis], spelled(category)
        if shown not in known:
            raise unknown(f"category of {self.labels[axis]}", category, known)
        return known.index(shown)

    def _named(self, key: object) -> str:
        given = key if isinstance(key, tuple) else (key,)
        parts = (f"{label}={spelled(each)}" for label, each in zip(self.labels, given, strict=True))
        return ", ".join([*([self.name] if self.name else []), *parts])

    def _grid(self) -> Floats:
        """Return the estimates as rows and columns; what heirs have of totals, at the ends."""
        return self.estimates.reshape(-1, self.shape[-1] if self.columns else 1)

    def _titles(self, more: int, *, long: bool = False) -> tuple[str, ...]:
        """Return what stands above the columns, ``more`` of which are totals."""
        only = (self.name or PEOPLE,)
        return only if long or not self.columns else (*self.categories[-1], *[TOTAL] * more)

    def _heads(self, more: int, *, long: bool = False) -> Iterator[tuple[str, ...]]:
        """Go through the categories of each row, ``more`` of which are totals."""
        rows = self.labels if long else self.rows
        yield from itertools.product(*self.categories[: len(rows)])
        yield from [(TOTAL, *[""] * (len(rows) - 1))] * more

    def _wide(self) -> dict[str, Any]:
        grid = self._grid()
        rows, columns = grid.shape
        heads = self._heads(rows - math.prod(self.shape[: len(self.rows)]))
        titles = self._titles(columns - (self.shape[-1] if self.columns else 1))
        found: dict[str, Any] = {}
        texts = zip(self.rows, map(list, zip(*heads, strict=True)), strict=True)
        for title, each in (*texts, *zip(titles, grid.T, strict=True)):
            unique = title
            while unique in found:
                unique += " (column)"
            found[unique] = each
        return found

    def to_pandas(self) -> Any:
        """Return it as a wide pandas frame: rows by all axes but the last."""
        return installed("pandas").DataFrame(self._wide())

    def to_polars(self) -> Any:
        """Return it as a wide Polars frame."""
        return installed("polars").DataFrame(self._wide())

    def to_arrow(self) -> Any:
        """Return it as a wide PyArrow table."""
        return installed("pyarrow").table(self._wide())

    def to_csv(self) -> str:
        """Return it as CSV as one reads it, unrounded: rows by all axes but the last."""
        columns = {
            title: each if isinstance(each, np.ndarray) else np.array(each, dtype=object)
            for title, each in self._wide().items()
        }
        return (CSV.head(columns) + CSV.by_cell(columns)).decode()

    def to_markdown(self, *, digits: int | None = None) -> str:
        """Return it as Markdown as one reads it; ``digits`` behind the point."""
        return self.wide(digits=digits).markdown(MARKDOWN.text)

    @staticmethod
    def _texts(x: Floats, std: Floats, digits: int | None) -> list[list[str]]:
        """Write rows of numbers, each as its standard error makes it meaningful unless said."""
        pairs = (zip(*row, strict=True) for row in zip(x.tolist(), std.tolist(), strict=True))
        return [
            [shown(v, s) if digits is None else written(v, digits) for v, s in row] for row in pairs
        ]

    def wide(
        self, *, digits: int | None = None, long: bool = False, most: int | None = None
    ) -> Wide:
        """Return it in texts, as one reads it: ``most`` rows of it.

        ``digits``: so many behind the point; ``long``: with all axes at the left.
        """
        raise NotImplementedError

    def text(self, *, digits: int | None = None, most: int = MOST_ROWS) -> str:
        """Return it as text: wide if that fits on a terminal; ``digits`` behind the point."""
        found = self.wide(digits=digits, most=most + 1)
        if found.is_too_wide():
            found = self.wide(digits=digits, long=True, most=most + 1)
        return found.text(most)

    def __repr__(self) -> str:
        return self.text()
