"""Numbers of two releases side by side: differences and ratios. Their noises are independent.

Each number has an interval of its own, which within a release follows from its exact covariance
(``inference``). With ends d_1 and d_2 away from the numbers, x_1 - t x_2 ends

    sqrt(d_1^2 + t^2 d_2^2)

away from its own (Zou & Donner 2008): exact for what is Gaussian, and close for means and shares.
For Laplace noise it is stretched by how far two such noises reach together. A difference has t = 1;
a ratio lies between those t for which x_1 - t x_2 may be zero, which for Gaussian sums is Fieller's
interval (Donner & Zou 2012 for others).
"""

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from halfnoise.noise.law import Noise, margin_of
from halfnoise.results import by_place
from halfnoise.results.inference import ANYTHING, Errors, Floats, Range, ratios
from halfnoise.values import dataclass, replace

Places: TypeAlias = NDArray[np.intp]
Part: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """Numbers of a release that have one error, by where they stand among its values.

    ``top`` and ``bottom``: what is divided by what; no bottom where nothing is. ``over``: by which
    number without error. ``keys``: names that do not depend on the order of axes. ``limits``: what
    the true values cannot leave, and so intervals need not;
    ``positive``: none of them is below zero.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...]
    kind: str
    top: Places
    bottom: Places | None = None
    over: float = 1.0
    limits: Range = ANYTHING
    positive: bool = False

    def only(self, columns: Places) -> "Lines":
        """Return some of them."""
        names, keys = (tuple(each[i] for i in columns) for each in (self.names, self.keys))
        bottom = None if self.bottom is None else self.bottom[columns]
        return replace(self, names=names, keys=keys, top=self.top[columns], bottom=bottom)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """Lines of one release, the values of each of its groups, and their errors."""

    lines: Lines
    values: Floats
    errors: Errors

    def numbers(self, level: float) -> Floats:
        """Return estimates, standard errors and both ends of intervals, not kept within limits.

        A row for each group, a column for each line.
        """
        top, bottom, over = self.lines.top, self.lines.bottom, self.lines.over
        values, errors = self.values, self.errors
        if bottom is None:
            x = values[:, top] / over
            std, margin = (each / abs(over) for each in by_place.some(errors, top, level))
            return np.stack([x, np.broadcast_to(std, x.shape), x - margin, x + margin])
        pairs = [*zip(top.tolist(), bottom.tolist(), strict=True)]
        if errors.noise is Noise.LAPLACE:  # of which the variances do not tell all
            return np.stack([ratios(values, errors, pair, level) for pair in pairs], axis=2)
        rows = np.stack([values[:, top].ravel(), values[:, bottom].ravel()], axis=1)
        found = ratios(rows, by_place.some_beside(errors, top, bottom), (0, 1), level)
        return found.reshape(4, len(values), len(pairs))

    def parts(self, group: int, column: int, factor: float) -> Part:
        """Return the independent noises in one number times a factor, as its slope has them."""
        top, bottom = int(self.lines.top[column]), self.lines.bottom
        weights = {top: factor / self.lines.over}
        if bottom is not None:
            below = int(bottom[column])
            x, n = float(self.values[group, top]), float(self.values[group, below])
            weights = {top: factor / n, below: -factor * x / n**2} if n else {}
        return (*self.errors.parts(weights),) * self.errors.copies


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Two:
    """The same lines of two releases."""

    later: Side
    earlier: Side
    level: float

    def compared(self) -> tuple[Floats, Floats, Floats]:
        """Return earlier and later estimates, differences, and ratios of later to earlier."""
        lines, before = self.later.lines, self.earlier.lines
        one, other = (side.numbers(self.level) for side in (self.later, self.earlier))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = np.where(other[0] == 0, 0.0, one[0] / other[0])
            apart = _apart(one, other, self._reach(np.ones_like(t)))
            times = _times(one, other, t, self._reach(t))
        (least, most), (lowest, highest) = lines.limits, before.limits
        shown = [np.clip(other[0], lowest, highest), np.clip(one[0], least, most)]
        apart[[0, 2, 3]] = np.clip(apart[[0, 2, 3]], least - highest, most - lowest)
        if lines.positive and before.positive:
            times[[0, 2, 3]] = np.maximum(times[[0, 2, 3]], 0.0)
            times[3][other[0] <= 0] = math.inf  # below zero there is nothing but noise
        return np.stack(shown), apart, times

    def _reach(self, t: Floats) -> Floats | float:
        """Return how far x_1 - t x_2 reaches, relative to the two reaches squared and added."""
        sides = (self.later, self.earlier)
        if all(side.errors.noise is Noise.GAUSSIAN for side in sides):
            return 1.0
        found = np.ones_like(t)
        for group, column in np.ndindex(*t.shape):
            place = (group, column)
            one = self.later.parts(group, column, 1.0)
            other = self.earlier.parts(group, column, abs(float(t[place])))
            size = math.hypot(*one, *other)
            if 0 < size < math.inf:
                found[place] = self._together(one, other, size)
        return found

    def _together(self, one: Part, other: Part, size: float) -> float:
        # What is alike to two digits reaches alike, to two in a thousand: few are computed.
        pairs = []
        for side, part in ((self.later, one), (self.earlier, other)):
            plain = tuple(float(f"{each / size:.1e}") for each in part)
            gaussian = side.errors.noise is Noise.GAUSSIAN
            pairs.append((math.hypot(*plain), ()) if gaussian else (0.0, plain))
        return _stretch(pairs[0], pairs[1], self.level)


@lru_cache(maxsize=2**14)
def _stretch(one: tuple[float, Part], other: tuple[float, Part], level: float) -> float:
    """Return how far two noises, Gaussian and Laplace parts of each, reach together."""
    (g, some), (h, more) = one, other
    alone = math.hypot(margin_of(some, level, normal=g), margin_of(more, level, normal=h))
    both = margin_of((*some, *more), level, normal=math.hypot(g, h))
    return both / alone if alone else 1.0


def _apart(one: Floats, other: Floats, reach: Floats | float) -> Floats:
    """Return differences: estimate, standard error and both ends."""
    x, (down, up), (fall, rise) = one[0] - other[0], _ends(one), _ends(other)
    std = np.hypot(one[1], other[1])
    low, high = x - np.hypot(down, rise) * reach, x + np.hypot(up, fall) * reach
    return np.stack([x, std, low, high])


def _times(one: Floats, other: Floats, t: Floats, reach: Floats | float) -> Floats:
    """Return ratios: estimate, standard error and both ends; where there are none, infinite ones.

    Ends are roots of  t^2 (y^2 - e^2) - 2 t x y + x^2 - d^2,  where d and e are how far x and y
    reach: of a t below zero y reaches to its other side.
    """
    std = np.nan_to_num(np.hypot(one[1], t * other[1]) / np.abs(other[0]), nan=math.inf)
    top, bottom = (_turned(each, other[0] < 0) for each in (one, other))
    x, y, (down, up), (fall, rise) = top[0], bottom[0], _ends(top) * reach, _ends(bottom) * reach

    def root(side: int, d: Floats, e: Floats) -> Floats:
        rest = np.sqrt((x * e) ** 2 + (y * d) ** 2 - (d * e) ** 2)
        # The same root in two forms: neither takes away what is nearly as large.
        one, other = (x * y + side * rest) / (y**2 - e**2), (x**2 - d**2) / (x * y - side * rest)
        return np.asarray(np.where(side * x >= 0, one, other))

    def end(side: int, d: Floats, above: Floats, below: Floats) -> Floats:
        found = root(side, d, np.where(x + side * d < 0, below, above))
        return np.asarray(np.where((y > fall) & np.isfinite(found), found, side * math.inf))

    return np.stack([t, std, end(-1, down, rise, fall), end(1, up, fall, rise)])


def _turned(numbers: Floats, back: NDArray[np.bool_]) -> Floats:
    """Return numbers with the other sign where they are to be turned."""
    x, std, low, high = numbers
    return np.asarray(np.where(back, np.stack([-x, std, -high, -low]), numbers))


def _ends(numbers: Floats) -> Floats:
    """Return how far intervals reach down and up."""
    x, _, low, high = numbers
    return np.stack([x - low, high - x])
