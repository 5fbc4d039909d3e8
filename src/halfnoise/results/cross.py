"""A table of a release, to be asked: shares, totals and differences with their errors.

All cells of a table have the same error, and all covariances are sums over common margins, so what
is said of every cell is computed once (``design.cross_errors``), and no matrix is built.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from halfnoise.checks import refuse, unknown
from halfnoise.errors import NotSupportedError
from halfnoise.results import by_place, sampled, spread
from halfnoise.results.inference import (
    ANYTHING,
    Errors,
    Estimate,
    Floats,
    Pair,
    Range,
    apart_by,
    ratios,
)
from halfnoise.results.labelled import Labelled
from halfnoise.results.pairs import Pairs
from halfnoise.results.sampled import estimate_of
from halfnoise.results.tabled import Cells
from halfnoise.results.wide import DASH, OPEN, Wide, between
from halfnoise.text import spelled
from halfnoise.values import dataclass

WORDS = ("row", "column", "total")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Shares(Labelled):
    """What part of its margin each cell is, with Fieller's intervals; ``of``: by what that is."""

    of: tuple[str, ...]
    level: float
    found: Floats
    limits: Range

    @property
    def open(self) -> NDArray[np.bool_]:
        """Of which cells nothing can be told: the interval is all there is."""
        low, high = self.limits
        return np.asarray((self.low <= low) & (self.high >= high))

    @property
    def numbers(self) -> Floats:
        """Estimates, standard errors, low and high ends, by axes."""
        return self.found

    def wide(
        self, *, digits: int | None = None, long: bool = False, most: int | None = None
    ) -> Wide:
        """Return it in texts, in per cent."""
        columns = 1 if long or not self.columns else self.shape[-1]
        x, std = (100 * each.reshape(-1, columns) for each in (self.estimates, self.std))
        rows = zip(self._texts(x[:most], std[:most], digits), self._open(columns), strict=False)
        shown = [[DASH if no else text for text, no in zip(*row, strict=True)] for row in rows]
        kind = f"share of {self.name}" if self.name else "share of people"
        within = f" in {','.join(self.of)}" if self.of else ""
        known = 100 * self.std[~self.open]
        errors = f"{between(known.min(), known.max())} per cent" if known.size else DASH
        return Wide(
            title=f"{kind}{within}, in per cent, by {','.join(self.labels)}",
            heads=self.labels if long else self.rows,
            titles=self._titles(0, long=long),
            lines=[*zip(self._heads(0, long=long), shown, strict=False)],
            below=(f"Standard errors: {errors}.", *([OPEN] if self.open.any() else [])),
        )

    def _open(self, columns: int) -> list[list[bool]]:
        return self.open.reshape(-1, columns).tolist()


class CrossTable(Cells):
    """A table by the axes ``labels``: of people, or of a value by cell."""

    def total(self, chosen: Mapping[str, object] | None = None, /, **more: object) -> Estimate:
        """Return the total over some categories of each axis, and all of the axes not named.

        Of a table of means it is the mean of all in these cells. The variance is a sum over
        margins, however many cells there are.
        """
        given = {**(chosen or {}), **more}
        if strange := [label for label in given if label not in self.labels]:
            raise unknown("label", strange[0], self.labels)
        places, said = [], []
        for axis, label in enumerate(self.labels):
            wanted = given.get(label, self.categories[axis])
            several = (
                [wanted] if isinstance(wanted, str) or not isinstance(wanted, Sequence) else wanted
            )
            own = [self._place(axis, each) for each in several]
            if not own or len({*own}) < len(own):
                raise refuse(label, "at least one category, each once", wanted)
            places.append(own)
            said += [f"{label}={' or '.join(map(spelled, several))}"] if label in given else []
        name = ", ".join([*([self.name] if self.name else []), *(said or ["total"])])
        return self._block(name, places)

    def _block(self, name: str, places: list[list[int]]) -> Estimate:
        release, start, inside = self.release, self.question.start, np.ix_(*places)
        along = dict(zip(self.order, places, strict=True))
        chosen = [along[axis] for axis in range(len(self.order))]
        below, covariance = start + self.question.cells, release.errors.covariance
        if self.question.is_mean:
            top, bottom = (covariance.block(each, each, chosen) for each in (start, below))
            both = release.errors.two(top, bottom, covariance.block(start, below, chosen))
            sums = [float(self.cells_of(release.values, part)[inside].sum()) for part in (0, 1)]
            rows, bounds = np.array([sums]), self.question.limits
            found = ratios(rows, both, (0, 1), self.level, bounds)
            found = sampled.ratios(release, found, rows, both, (0, 1), bounds=bounds)
            return estimate_of(name, found[:, 0])
        x, shown = (
            float(self.cells_of(each)[inside].sum()) for each in (release.values, self._shown)
        )
        errors = by_place.total(release.errors, start, chosen)
        one = errors.linear(name, np.array([x]), {0: 1.0}, self.level)
        if self.kind == "table" and math.prod(map(len, places)) == self.question.cells:
            return one.moved(shown)  # how many were asked, which is the same in every sample
        people = self._people[inside].sum() if self.kind == "sum" else None
        return spread.block(release, self.question, one, people).moved(shown)

    def difference(self, one: object, other: object) -> Estimate:
        """Return one cell minus another; noise that the two share cancels."""
        a, b = (self._at(self._cell(each)) for each in (one, other))
        name, release = f"{self._named(one)} - {self._named(other)}", self.release
        if a == b:
            return Estimate(name=name, estimate=0.0, std=0.0, low=0.0, high=0.0)
        if self.question.is_mean:
            far, (least, most) = self.question.cells, self.question.limits
            pairs = ((a, a + far), (b, b + far))
            wider = None if release.sampling is None else self._wider
            found = apart_by(release.values, release.errors, pairs, self.level, wider)
            return estimate_of(name, found).within(least - most, most - least)
        weights, shown = {a: 1.0, b: -1.0}, float(self._shown[a] - self._shown[b])
        apart = release.errors.linear(name, release.values, weights, self.level)
        return spread.linear(release, apart, weights).moved(shown)

    def _wider(self, pair: Pair, numbers: Floats) -> Floats:
        release, limits = self.release, self.question.limits
        about = (release.values[np.newaxis], release.errors, pair)
        return sampled.ratios(release, numbers, *about, bounds=limits, beyond=True)

    @property
    def _people(self) -> Floats:
        """The number of people in each cell, by axes."""
        return self.of(self.release, self.labels).cells_of(self.release.values)

    @property
    def _total_std(self) -> Floats:
        if self.release.sampling is None:
            return super()._total_std
        return np.array(self.total().std)

    def linear(self, weights: object, *, name: str = "weighted sum") -> Estimate:
        """Return a weighted sum of all cells; ``weights``: an array by the same axes."""
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != self.shape or not np.isfinite(w).all():
            raise refuse("weights", f"finite numbers in the shape {self.shape}", weights)
        if self.question.is_mean:
            raise refuse("a table", "of people, counts or sums", self.name, "means have no total")
        own = w.transpose(np.argsort(self.order))
        errors = by_place.weighted(self.release.errors, self.question.start, own)
        x, shown = (
            float((w * self.cells_of(each)).sum()) for each in (self.release.values, self._shown)
        )
        one = errors.linear(name, np.array([x]), {0: 1.0}, self.level)
        return spread.cells(self.release, self.question, one, own).moved(shown)

    def shares(self, part: str = "total", *, of: Sequence[str] | None = None) -> Shares:
        """Return what part of its row, its column or the total each cell is.

        ``of``: any margin, by the labels it has; () is the total, and a coarser level of places is
        the place around. With V the variance of a cell of a margin, which holds m cells, its
        covariance with each of these is V/m.
        """
        by = {"row": self.rows, "column": self.columns, "total": ()}
        if part not in by:
            raise refuse("a share", f"of {', '.join(WORDS)}", part, "or say of=(labels)")
        margin = by[part] if of is None else (of,) if isinstance(of, str) else tuple(of)
        around = self._around(margin)
        if strange := [label for label in margin if label not in around]:
            raise unknown("label", strange[0], self.labels)
        if tuple(around) == self.labels or self.question.is_mean:
            raise refuse(
                "a share", "of a margin, and of people, counts or sums", margin or self.name
            )
        low, high = self.question.bounds or (0.0, 1.0)
        bounds = (0.0, 1.0) if low >= 0 or high <= 0 else ANYTHING
        known = self.release.known_size
        if margin or self.name or known is None:
            found = self._parts(margin, bounds)
        else:
            found = self._of_known(known)
        return Shares(
            labels=self.labels,
            categories=self.categories,
            name=self.name,
            of=margin,
            level=self.level,
            found=found.reshape(4, *self.shape),
            limits=bounds,
        )

    def _around(self, labels: Sequence[str]) -> dict[str, str]:
        """Return the labels of a margin with those of this table's axes that lie inside them."""
        found = dict[str, str]()
        for own in self.labels:
            around = next((x for x in labels if x == own or self.nest.holds(x, own)), None)
            found |= {} if around is None else {around: own}
        return found

    def _beside(self, labels: Sequence[str]) -> tuple[Floats, Errors | Pairs]:
        """Return cells, each with its cell of a margin, and the errors of such a pair."""
        release, start, last = self.release, self.question.start, self.release.questions[-1].stop
        top = self.cells_of(release.values)
        if labels or self.name:
            found, nest = self._around(labels), self.nest
            margin = self.margin(*found) if found else self._whole
            below, at = margin.cells_of(release.values), margin.question.start
            for axis, (around, own) in enumerate(found.items()):
                if own != around:
                    below = np.take(below, nest.above(own, around), axis)
            held = {*found.values()}
            kept = [n if x in held else 1 for x, n in zip(self.labels, self.shape, strict=True)]
            below = below.reshape(kept)
        elif len(release.values) > last:
            below, at = release.values[last], last
        elif not release.errors.covariance.in_tables(start):  # of all who are in some category
            cells = dict.fromkeys(range(start, self.question.stop), 1.0)
            rows = np.stack([top, np.full_like(top, top.sum())], axis=1)
            return rows, release.errors.alone({start: 1.0}, cells)
        else:
            raise NotSupportedError("this release does not give the number of people; say of=...")
        pairs = [each.ravel() for each in np.broadcast_arrays(top, below)]
        return np.stack(pairs, axis=1), by_place.beside(release.errors, start, at, self._spread)

    def _parts(self, margin: Sequence[str], bounds: Range) -> Floats:
        """Return cells as parts of those of a margin."""
        rows, errors = self._beside(margin)
        if self.kind != "sum" or self.release.sampling is None:
            return self._ratios(rows, errors, bounds)
        found = ratios(rows, errors, (0, 1), self.level, bounds)
        return spread.parts_of_sums(self.release, found, rows, self._inside(margin), self.question)

    def _inside(self, margin: Sequence[str]) -> Floats:
        """Return the number of people in each cell, and in its cell of the margin."""
        found = self._around(margin)
        held = {*found.values()}
        gone = tuple(i for i, label in enumerate(self.labels) if label not in held)
        own = self._people
        total = own.sum(axis=gone, keepdims=True)
        for around, label in found.items():
            if label != around:
                at = self.nest.above(label, around)
                moved = np.moveaxis(total, self.labels.index(label), 0)
                summed = np.zeros((int(at.max()) + 1, *moved.shape[1:]))
                np.add.at(summed, at, moved)
                total = np.moveaxis(summed[at], 0, self.labels.index(label))
        both = np.broadcast_arrays(own, total)
        return np.stack([each.ravel() for each in both], axis=1)

    def _of_known(self, people: float) -> Floats:
        """Return cells as shares of a number of people without error; of nobody, anything."""
        cells, errors = self.cells_of(self.release.values).ravel(), self.release.errors
        both = by_place.each(errors, self.question.start, self.level)
        std, margin = map(self._spread, both)
        if not people:
            std, margin, people = np.full_like(std, math.inf), np.full_like(std, math.inf), 1.0
        numbers = np.stack([cells, std, cells - margin, cells + margin])[:, np.newaxis]
        if np.isfinite(std).all():
            values = self.release.values[np.newaxis]
            numbers = sampled.sums(self.release, self.question, values, numbers)
        with np.errstate(over="ignore"):
            shares, stds, *ends = numbers[:, 0] / people
        return np.vstack([np.clip(shares, 0.0, 1.0), stds, np.clip(ends, 0.0, 1.0)])

    def _at(self, cell: tuple[int, ...]) -> int:
        own = [cell[axis] for axis in np.argsort(self.order)]
        return self.question.start + int(np.ravel_multi_index(own, self._own_shape))
