"""Margins of error as readers will see them: of shares in points, of means in their unit.

A share or mean r of n people is off by  (error of the top - r times error of the bottom)/n.  What
r is nobody knows before there are data, so this is the worst there is: at one end of its range.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from halfnoise.design.covariance import Covariance
from halfnoise.design.design import Design
from halfnoise.noise.law import Noise
from halfnoise.text import short
from halfnoise.workload.block import Block, Line
from halfnoise.workload.crossing import TableBlock

POINTS = 100.0  # of a share, in all
DIVIDE = (
    "Divide the margin of a mean by the number of people who answered, or say how many there may be"
    " (--people 4400, people=4400)."
)
AS_MEANS = "Margins of means hold if all of these people answer; if half of them do, they double."


class Read(NamedTuple):
    """A line of a plan and its margin of error as a reader sees it, of a share or of a mean."""

    line: Line
    margin: float
    is_mean: bool

    @property
    def relative(self) -> float:
        """The margin relative to the range: of a share, as it is."""
        return self.margin / self.line.width if self.is_mean else self.margin

    @property
    def says_nothing(self) -> bool:
        """Whether the margin is as wide as the whole range."""
        return self.relative >= 1

    def __str__(self) -> str:
        return "says nothing" if self.says_nothing else self.off

    @property
    def off(self) -> str:
        """How far off it is, though that be more than there is."""
        if self.is_mean:
            return f"±{short(self.margin)}"
        return f"±{in_points(self.margin)}"


def in_points(share: float) -> str:
    """Write a part of a share.

    >>> in_points(0.02), in_points(0.01)
    ('2 points', '1 point')
    """
    points = short(POINTS * share)
    return f"{points} point{'s' * (points != '1')}"


class _Place(NamedTuple):
    """Where the first estimate of a line stands, what it is divided by, and the ratio's range."""

    top: int
    bottom: int | None
    ends: tuple[float, float]


def read(design: Design, level: float, people: float) -> list[Read]:
    """Return every line of a design as read where so many people are in the table.

    Of a mean, all of them answer; of one by cell, as many as in an average cell.
    """
    covariance, found, start = design.covariance, list[Read](), 0
    size = None if design.size_scale is None else covariance.size - 1
    for block in design.blocks:
        for line, place in zip(block.lines, _places(block, start, size), strict=True):
            is_mean = line.kind in ("mean", "sum")
            within = people / line.queries if is_mean else people
            widest = max(_margin(design, covariance, place, r, level) for r in place.ends)
            found.append(Read(line, widest / within, is_mean))
        start += block.shape.size
    return found


def mean_margins(design: Design, level: float, people: float | None) -> tuple[float, ...]:
    """Return the margin of error of each line; those of means as means where people are known."""
    margins = design.margins(level)
    if people is None or not any(line.kind == "mean" for line in design.lines):
        return margins
    pairs = zip(read(design, level, people), margins, strict=True)
    return tuple(each.margin if each.line.kind == "mean" else own for each, own in pairs)


def _margin(design: Design, covariance: Covariance, place: _Place, r: float, level: float) -> float:
    """Return how far  top - r bottom  is off."""
    weights: Mapping[int, float] = {place.top: 1.0}
    if place.bottom is not None:
        weights = {place.top: 1.0, place.bottom: -r}
    noise = design.noise
    if noise is Noise.GAUSSIAN:
        return noise.margin([math.sqrt(max(0.0, covariance.of(weights)))], level)
    unit = noise.unit_variance
    return noise.margin([math.sqrt(each / unit) for each in covariance.noises(weights)], level)


def _places(block: Block, start: int, size: int | None) -> Iterator[_Place]:
    """Go through the lines of a block: where each stands, and what it is a part or a mean of."""
    if not isinstance(block, TableBlock):
        ends = block.shape.bounds or (0.0, 1.0)
        bottom = start + 1 if block.kind == "mean" else size
        yield _Place(start, bottom, ends if block.kind in ("mean", "sum") else (0.0, 1.0))
        return
    asked = {
        (
            each.name if each.kind != "table" else None,
            ",".join(label for label, _ in each.axes),
        ): each
        for each in block.questions(start)
    }
    for table in block.tables:
        value = None if table.value is None else block.values[table.value]
        own = asked[None if value is None else value.label, block.named(table.axes)]
        bottom = own.start + own.cells if own.is_mean else None if own.is_sum else size
        yield _Place(own.start, bottom, own.limits if own.is_mean or own.is_sum else (0.0, 1.0))
