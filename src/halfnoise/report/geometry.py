"""Two counts, seen from above: the shapes of noise and of people (fig:geometric-intuition)."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from halfnoise.design.candidates import designs
from halfnoise.design.design import Design
from halfnoise.privacy.definitions import Budget, Neighbors
from halfnoise.report.picture import Picture, Row
from halfnoise.report.style import CORRELATED, DIAGONAL, INK, MARK, QUIET, STANDARD, styled
from halfnoise.workload.numbers import Counts
from halfnoise.workload.workload import Workload

if TYPE_CHECKING:
    import altair as alt

Points: TypeAlias = Sequence[tuple[float, float]]

CORNERS = 240
"""How many corners stand for a round shape."""

REACH, SIDE = 1.6, 210
"""How far a panel looks in both directions, and its width and height in pixels."""

PANELS = {
    "replaced": (
        "Replace one person",
        ["Standard noise: the circle", "touches all four corners"],
    ),
    "added or removed": (
        "Add or remove one person",
        ["The same circle touches only", "two corners: room to spare"],
    ),
    "centred": (
        "Move the centre",
        ["Half the radius covers who is added;", "more noise goes along the diagonal"],
    ),
    "correlated": (
        "Correlated noise",
        ["The ellipse covers both boxes", "(dashed: the exact optimum)"],
    ),
}
"""The title of each panel and the words under it."""

LOOKS: dict[str, dict[str, Any]] = {
    "people": {"fill": "#8c8c8c", "fillOpacity": 0.3, "stroke": QUIET, "strokeWidth": 1},
    "standard noise": {"stroke": STANDARD, "strokeWidth": 2.5},
    "noise around the centre": {"stroke": CORRELATED, "strokeWidth": 2.5},
    "shared noise": {"stroke": DIAGONAL, "strokeWidth": 5},
    "correlated noise": {"stroke": CORRELATED, "strokeWidth": 2.5},
    "exact optimum": {"stroke": INK, "strokeWidth": 1, "strokeDash": [4, 3]},
}


def geometry_rows() -> list[Row]:
    """Return the outlines of all shapes, corner by corner, with f(X) at the origin.

    >>> sorted({row["shape"] for row in geometry_rows() if row["panel"] == "correlated"})
    ['correlated noise', 'exact optimum', 'people']
    """
    replaced = _design("standard-gaussian", Neighbors.REPLACE)
    standard = _design("standard-gaussian")
    known = _design("known-size-gaussian")
    correlated = _design("correlated-gaussian")
    optimum = _design("optimal-gaussian-without-size")
    either = [_box(0, 1), _box(-1, 0)]
    shapes: dict[str, list[tuple[str, Points]]] = {
        "replaced": [("people", _box(-1, 1)), ("standard noise", _outline(replaced))],
        "added or removed": [
            *(("people", box) for box in either),
            ("standard noise", _outline(standard)),
        ],
        "centred": [
            ("people", _box(0, 1)),
            ("shared noise", [(-1.3, -1.3), (1.3, 1.3)]),
            ("noise around the centre", _outline(known, around=0.5)),
        ],
        "correlated": [
            *(("people", box) for box in either),
            ("correlated noise", _outline(correlated)),
            ("exact optimum", _outline(optimum)),
        ],
    }
    return [
        {"panel": panel, "part": part, "shape": shape, "point": point, "x": x, "y": y}
        for panel, parts in shapes.items()
        for part, (shape, points) in enumerate(parts)
        for point, (x, y) in enumerate(points)
    ]


def _design(name: str, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Design:
    workload = Workload((Counts(2),), neighbors=neighbors)
    found = designs(workload, Budget(mu=1.0), known_size=True)
    return next(design for design in found if design.name == name)


def _outline(design: Design, around: float = 0.0) -> Points:
    """Return the points x with x^T Cov^-1 x = 1: noise hides a person who stays within."""
    root = np.linalg.cholesky(design.covariance.dense()[:2, :2])
    turns = [2 * math.pi * i / CORNERS for i in range(CORNERS)]
    points = [root @ (math.cos(turn), math.sin(turn)) for turn in turns]
    return [(around + float(x), around + float(y)) for x, y in points]


def _box(low: float, high: float) -> Points:
    return [(low, low), (low, high), (high, high), (high, low)]


def geometry_picture() -> Picture:
    """Return the figure: four panels, left to right.

    >>> geometry_picture().name
    'geometry'
    """
    import altair as alt

    rows = geometry_rows()
    panels = [
        alt.layer(
            *_layers([row for row in rows if row["panel"] == panel]),
            title=alt.TitleParams(title, subtitle=words),
            width=SIDE,
            height=SIDE,
        )
        for panel, (title, words) in PANELS.items()
    ]
    title = alt.TitleParams(
        "Two counts: the noise must hide whatever one person can change",
        subtitle="Red cross: the true counts. Grey: where they can be after the change. "
        "Outline: how far the noise hides it.",
        fontSize=18,
    )
    chart = styled(alt.hconcat(*panels, title=title, spacing=24))
    return Picture(name="geometry", chart=chart, rows=rows)


def _layers(rows: Sequence[Row]) -> list["alt.Chart"]:
    import altair as alt

    scale = alt.Scale(domain=[-REACH, REACH], nice=False)
    axis = alt.Axis(values=[-1, 0, 1])
    x = alt.X("x:Q", title="Change in the first count", scale=scale, axis=axis)
    y = alt.Y("y:Q", title="Change in the second count", scale=scale, axis=axis)
    layers = []
    for part in sorted({row["part"] for row in rows}):
        points = [row for row in rows if row["part"] == part]
        line = alt.Chart(alt.InlineData(points)).mark_line(
            interpolate="linear-closed", **LOOKS[str(points[0]["shape"])]
        )
        layers.append(line.encode(x=x, y=y, order="point:Q"))
    truth = alt.Chart(alt.InlineData([{"x": 0, "y": 0}])).encode(x=x, y=y)
    cross = truth.mark_point(shape="cross", angle=45, size=110, color=MARK, filled=True, opacity=1)
    return [*layers, cross]
