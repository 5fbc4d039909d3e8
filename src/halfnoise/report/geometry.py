"""Two counts, seen from above: the shapes of noise and of people (fig:geometric-intuition)."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from halfnoise.design.design import Design
from halfnoise.privacy.definitions import Neighbors
from halfnoise.report.picture import Picture, Row, drawn
from halfnoise.report.style import CORRELATED, DIAGONAL, INK, MARK, QUIET, STANDARD, styled
from halfnoise.workload.numbers import Counts
from halfnoise.workload.workload import Workload

if TYPE_CHECKING:
    import altair as alt

Points: TypeAlias = Sequence[tuple[float, float]]

CORNERS = 240  # how many corners stand for a round shape
REACH, SIDE = 1.6, 210  # how far a panel looks in all directions, and its sides in pixels
# The title of each panel and the two lines under it.
PANELS = {
    "replaced": "Replace one person|Standard noise: the circle|touches all four corners",
    "added or removed": "Add or remove one person|"
    "The same circle touches only|two corners: room to spare",
    "centred": "Move the centre|"
    "Half the radius covers who is added;|more noise goes along the diagonal",
    "correlated": "Correlated noise|The ellipse covers both boxes|(dashed: the exact optimum)",
}
LOOKS: dict[str, dict[str, Any]] = {
    "people": {"fill": "#8c8c8c", "fillOpacity": 0.3, "stroke": QUIET, "strokeWidth": 1},
    "standard noise": {"stroke": STANDARD, "strokeWidth": 2.5},
    "noise around the centre": {"stroke": CORRELATED, "strokeWidth": 2.5},
    "shared noise": {"stroke": DIAGONAL, "strokeWidth": 5},
    "correlated noise": {"stroke": CORRELATED, "strokeWidth": 2.5},
    "exact optimum": {"stroke": INK, "strokeWidth": 1, "strokeDash": [4, 3]},
}


def geometry_rows() -> list[Row]:
    """Return the outlines of all shapes, corner by corner, with f(X) at the origin."""
    of = drawn(Workload((Counts(2),)))
    replaced = drawn(Workload((Counts(2),), neighbors=Neighbors.REPLACE))["standard-gaussian"]
    either = [("people", _box(0, 1)), ("people", _box(-1, 0))]
    shapes: dict[str, list[tuple[str, Points]]] = {
        "replaced": [("people", _box(-1, 1)), ("standard noise", _outline(replaced))],
        "added or removed": [*either, ("standard noise", _outline(of["standard-gaussian"]))],
        "centred": [
            ("people", _box(0, 1)),
            ("shared noise", [(-1.3, -1.3), (1.3, 1.3)]),
            ("noise around the centre", _outline(of["known-size-gaussian"], around=0.5)),
        ],
        "correlated": [
            *either,
            ("correlated noise", _outline(of["correlated-gaussian"])),
            ("exact optimum", _outline(of["optimal-gaussian-without-size"])),
        ],
    }
    return [
        {"panel": panel, "part": part, "shape": shape, "point": point, "x": x, "y": y}
        for panel, parts in shapes.items()
        for part, (shape, points) in enumerate(parts)
        for point, (x, y) in enumerate(points)
    ]


def _outline(design: Design, around: float = 0.0) -> Points:
    """Return the points x with x^T Cov^-1 x = 1: noise hides a person who stays within."""
    root = np.linalg.cholesky(design.covariance.dense()[:2, :2])
    turns = [2 * math.pi * i / CORNERS for i in range(CORNERS)]
    points = [root @ (math.cos(turn), math.sin(turn)) for turn in turns]
    return [(around + float(x), around + float(y)) for x, y in points]


def _box(low: float, high: float) -> Points:
    return [(low, low), (low, high), (high, high), (high, low)]


def geometry_picture() -> Picture:
    """Return the figure: four panels, left to right."""
    import altair as alt

    rows = geometry_rows()
    panels = []
    for panel, words in PANELS.items():
        title, *under = words.split("|")
        layers = alt.layer(*_layers([row for row in rows if row["panel"] == panel]))
        heading = alt.TitleParams(title, subtitle=under)
        panels.append(layers.properties(title=heading, width=SIDE, height=SIDE))
    title = "Two counts: the noise must hide whatever one person can change"
    legend = "Red cross: the true counts. Grey: where they can be after the change. "
    legend += "Outline: how far the noise hides it."
    return Picture(name="geometry", chart=styled(panels, title, legend, spacing=24), rows=rows)


def _layers(rows: Sequence[Row]) -> list["alt.Chart"]:
    import altair as alt

    scale = alt.Scale(domain=[-REACH, REACH], nice=False)
    axis = alt.Axis(values=[-1, 0, 1])
    x = alt.X("x:Q", title="Change in the first count", scale=scale, axis=axis)
    y = alt.Y("y:Q", title="Change in the second count", scale=scale, axis=axis)
    layers = []
    for part in sorted({row["part"] for row in rows}):
        points = [row for row in rows if row["part"] == part]
        look = {"interpolate": "linear-closed"} | LOOKS[str(points[0]["shape"])]
        line = alt.Chart(alt.InlineData(points)).mark_line(**look)
        layers.append(line.encode(x=x, y=y, order="point:Q"))
    truth = alt.Chart(alt.InlineData([{"x": 0, "y": 0}])).encode(x=x, y=y)
    cross = truth.mark_point(shape="cross", angle=45, size=110, color=MARK, filled=True, opacity=1)
    return [*layers, cross]
