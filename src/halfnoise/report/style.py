"""One calm look for all pictures: colours, letters and lines, applied chart by chart."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt

INK = "#222222"
"""Words, axes and what is exact."""

QUIET = "#6b6b6b"
"""Notes, and what stands in the background."""

# Colours that people with any kind of colour vision can tell apart (Okabe and Ito, 2008).
STANDARD = "#0072B2"
"""Standard noise: blue."""

CORRELATED = "#E69F00"
"""Correlated noise: orange."""

ELLIPSE = "#009E73"
"""The Count ellipse: green."""

PAPER = "#CC79A7"
"""The paper's mechanism where it stands beside another one: pink."""

DIAGONAL = "#F0E442"
"""The direction that all counts share: yellow."""

MARK = "#B2182B"
"""The one point to look at: red."""

FONT = "Helvetica Neue, Arial, Liberation Sans, sans-serif"


def styled(chart: "alt.HConcatChart") -> "alt.HConcatChart":
    """Return a chart in the look that all pictures share.

    >>> import altair as alt
    >>> styled(alt.hconcat(alt.Chart().mark_point())).to_dict()["config"]["background"]
    'white'
    """
    result: alt.HConcatChart = chart.configure(
        background="white",
        font=FONT,
        padding=20,
        axis={
            "domainColor": "#999999",
            "gridColor": "#ececec",
            "labelColor": QUIET,
            "labelFontSize": 11,
            "tickColor": "#999999",
            "titleColor": INK,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
        },
        concat={"spacing": 36},
        legend={
            "columns": 5,
            "labelColor": INK,
            "labelFontSize": 12,
            "labelLimit": 400,
            "orient": "top",
            "symbolSize": 600,
            "title": None,
        },
        text={"color": INK, "font": FONT, "fontSize": 12},
        title={
            "anchor": "start",
            "color": INK,
            "fontSize": 14,
            "fontWeight": "bold",
            "offset": 12,
            "subtitleColor": QUIET,
            "subtitleFontSize": 12,
            "subtitleLineHeight": 16,
            "subtitlePadding": 4,
        },
        view={"stroke": None},
    )
    return result
