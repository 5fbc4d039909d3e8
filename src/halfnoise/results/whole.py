"""Whole numbers that add up: controlled rounding of all tables of a release at once.

To round each cell by itself breaks the sums. Instead small tables are rounded first, and each
larger one is moved to fit its rounded margins: what these lack is spread evenly along each axis, as
one pass over the axes does. Its sums over all cells up to one, S[x] = sum of f[y] over y <= x along
every axis, are then whole wherever x is last along an axis. So differences of the rounded S are
whole cells that add up to exactly these margins, however tables overlap. They are up to 2^(k-1)
away for k axes; swapping ones between pairs of categories along every axis, which no margin sees,
brings them nearer: to about 0.3 to 0.5 in the root mean square, where rounding each by itself has
0.29. A table by one axis is rounded up or down, the largest remainders up.

Places inside places are rounded from the first level on: those inside one add up to it.

Cells below zero stay below zero: to cut them off would break the sums, and add people to every
margin. Everything depends on the values of a table and its margins alone.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from halfnoise.design.covariance import Covariance
from halfnoise.results.inference import Floats
from halfnoise.results.nest import Labels, Nest, Whole
from halfnoise.workload.question import Question
from halfnoise.workload.sets.residuals import flat

Tables: TypeAlias = Mapping[Labels, Floats]  # each with a first axis of groups
PLAIN = Nest()
SWAPS, FEWEST, WORK = 128, 4, 2**26  # how often pairs are tried: at most, at least, for all cells


def rounded(tables: Tables, nest: Nest = PLAIN) -> dict[Labels, Floats]:
    """Return tables and all their margins in whole numbers that add up; () is their total.

    Of tables by places those by coarser ones are among them.

    >>> cells, rows = np.array([[[1.4, 1.4], [1.4, 1.4]]]), np.array([[2.8, 2.8]])
    >>> found = rounded({(): np.array([5.6]), ("a",): rows, ("b",): rows, ("a", "b"): cells})
    >>> found["a", "b"][0].tolist(), found["a",][0].tolist(), found[()].tolist()
    ([[2.0, 1.0], [1.0, 2.0]], [3.0, 3.0], [6.0])
    """
    found = dict[Labels, Floats]()
    for labels in sorted(tables, key=nest.order):
        cells, level = tables[labels], nest.level(labels)
        margins = [found[labels[:axis] + labels[axis + 1 :]] for axis in range(len(labels))]
        made = _fitting(cells, margins) if level < 0 else np.empty_like(cells)
        if level >= 0:  # inside each place by itself, as in a table of its own
            margins[0] = found[next(nest.around(labels))]
            margins[0] = margins[0] if level else margins[0][:, np.newaxis]
            for at, inside in nest.alike(level):
                own = (margins[0][:, at], *(margin[:, inside] for margin in margins[1:]))
                rows = [each.reshape(-1, *each.shape[2:]) for each in (cells[:, inside], *own)]
                made[:, inside] = _fitting(rows[0], rows[1:]).reshape(cells[:, inside].shape)
        found[labels] = made + 0.0  # which makes a negative zero positive
    return found


def _fitting(cells: Floats, margins: Sequence[Floats]) -> Floats:
    """Return a table in whole numbers that add up to whole margins, one along each axis."""
    if len(margins) < 2:
        return _one_way(cells, margins[0]) if margins else np.rint(cells)
    for axis, margin in enumerate(margins, start=1):
        lacking = np.expand_dims(margin, axis) - cells.sum(axis=axis, keepdims=True)
        cells = cells + lacking / cells.shape[axis]
    return _nearer(_by_sums(cells), cells)


def _one_way(cells: Floats, total: Floats) -> Floats:
    """Round each cell up or down, so many with the largest remainders up that all add up."""
    low = np.floor(cells)
    up = (total - low.sum(axis=1))[:, np.newaxis]
    ranks = np.argsort(np.argsort(low - cells, axis=1, kind="stable"), axis=1)
    return np.asarray(low + up // cells.shape[1] + (ranks < up % cells.shape[1]))


def _by_sums(cells: Floats) -> Floats:
    """Return whole cells from rounded sums over all cells up to each."""
    for axis in range(1, cells.ndim):
        cells = cells.cumsum(axis=axis)
    cells = np.rint(cells)
    for axis in range(1, cells.ndim):
        cells = np.diff(cells, axis=axis, prepend=0.0)
    return cells


def _nearer(made: Floats, cells: Floats) -> Floats:
    """Swap ones between pairs of categories along every axis at once, wherever that helps.

    With d by how far cells are off, and D their sum over the 2^k cells of such pairs, each with its
    sign, taking s from those with a plus and adding it to the others changes the sum of squares by
    2^k s^2 - 2 s D, which is least at s = D/2^k.
    """
    off = made - cells
    corners = [*itertools.product((0, 1), repeat=cells.ndim - 1)]
    for turn in range(min(SWAPS, max(FEWEST, WORK // cells.size))):
        pairs = [_pairs(turn, axis, number) for axis, number in enumerate(cells.shape[1:])]
        signed = off
        for axis, (one, other) in enumerate(pairs, start=1):
            signed = signed.take(one, axis) - signed.take(other, axis)
        swapped = np.rint(signed / len(corners))
        for corner in corners if swapped.any() else ():
            own = (pair[side] for pair, side in zip(pairs, corner, strict=True))
            off[np.ix_(np.arange(len(off)), *own)] -= (-1) ** sum(corner) * swapped
    return np.rint(cells + off)


def _pairs(turn: int, axis: int, number: int) -> tuple[Whole, Whole]:
    """Return pairs of categories: those that add up to some r modulo their number.

    Turn by turn r goes through all of them, along each axis in steps of another irrational number.
    """
    r = 1 if number == 2 else int(number * (turn * math.log(axis + 2) % 1))
    every = np.arange(number)
    one = every[every < (r - every) % number]
    return one, (r - one) % number


class Family(NamedTuple):
    """Tables that add up: ``question`` is the first of them, whose ``part`` they are."""

    question: Question
    part: int
    tables: dict[Labels, tuple[int, tuple[int, ...]]]  # where each starts, and its shape

    @property
    def counts(self) -> bool:
        """Whether they count people, which are whole."""
        return self.question.is_count(self.part * self.question.cells)

    def cells(self, values: Floats) -> dict[Labels, Floats]:
        """Return the cells of each table, group by group."""
        return {
            labels: values[:, start : start + math.prod(shape)].reshape(len(values), *shape)
            for labels, (start, shape) in self.tables.items()
        }


def families(questions: Sequence[Question]) -> Iterator[Family]:
    """Go through what adds up: all tables of people, or of one value, sums and counts apart."""
    found = dict[tuple[str, str, int], Family]()
    for question in (each for each in questions if each.in_tables):
        labels = tuple(label for label, _ in question.axes)
        shape = tuple(len(categories) for _, categories in question.axes)
        of = "" if question.kind == "table" else question.name
        for part, start in enumerate(range(question.start, question.stop, math.prod(shape))):
            own = found.setdefault((question.kind, of, part), Family(question, part, {}))
            own.tables[labels] = (start, shape)
    yield from found.values()


def whole(
    questions: Sequence[Question],
    values: Floats,
    covariance: Covariance,
    known_size: float | None = None,
) -> Floats:
    """Return estimates with all counts, and the number of people, in whole numbers.

    ``values`` has a row for each group, the number of people last where it was measured. What is in
    no table that adds up is within [0, number of people].
    """
    made, count, nest = np.array(values), questions[-1].stop, Nest.of(questions, covariance)
    made[:, count:] = np.maximum(np.rint(values[:, count:]), 0.0)
    for family in (each for each in families(questions) if each.counts):
        cells = family.cells(values)
        if () not in cells:  # people, whose total is their number
            first = flat(next(iter(cells.values())))
            total = first.sum(axis=1) if known_size is None else np.full(len(values), known_size)
            cells[()] = values[:, count] if values.shape[1] > count else total
        found = rounded(cells, nest)
        for labels, (start, shape) in family.tables.items():
            own = slice(start, start + math.prod(shape))
            made[:, own] = flat(found[labels])
        if family.question.kind == "table" and values.shape[1] > count:
            made[:, count] = found[()]
    most = np.full((len(made), 1), math.inf if known_size is None else np.rint(known_size))
    most = np.maximum(made[:, count:] if values.shape[1] > count else most, 0.0)
    for question in (each for each in questions if not each.in_tables and not each.is_sum):
        start = question.start + question.is_mean  # of a mean, how many answered
        own = slice(start, start + question.cells)
        counts = values[:, own]
        counts = _shared_out(counts, most) if question.as_table.axes else counts
        made[:, own] = np.clip(np.rint(counts), 0.0, most) + 0.0
    return made


def _shared_out(cells: Floats, people: Floats) -> Floats:
    """Round categories, none below zero, so that they add up to all people, or to what they do.

    First each gives up as much as the others, and none more than it has, which brings it to the
    nearest that add up and are not below zero.
    """
    alone = np.maximum(np.rint(cells.sum(axis=1, keepdims=True)), 0.0)
    total, large = np.where(np.isinf(people), alone, people), -np.sort(-cells, axis=1)
    each = (large.cumsum(axis=1) - total) / np.arange(1, cells.shape[1] + 1)
    giving = np.maximum((large > each).sum(axis=1, keepdims=True), 1)  # so many have enough
    kept = np.maximum(cells - np.take_along_axis(each, giving - 1, axis=1), 0.0)
    return _one_way(kept, total[:, 0])
