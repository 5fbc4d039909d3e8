"""One calm look for all pictures: colours, letters and lines, applied chart by chart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import altair as alt

    Panel: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart

INK = "#222222"  # words, axes and what is exact
QUIET = "#6b6b6b"  # notes, and what stands in the background
# Colours that people with any kind of colour vision can tell apart (Okabe and Ito, 2008).
STANDARD = "#0072B2"  # standard noise: blue
CORRELATED = "#E69F00"  # correlated noise: orange
ELLIPSE = "#009E73"  # the Count ellipse: green
PAPER = "#CC79A7"  # the paper's mechanism where it stands beside another one: pink
DIAGONAL = "#F0E442"  # the direction that all counts share: yellow
MARK = "#B2182B"  # the one point to look at: red
FONT = "Helvetica Neue, Arial, Liberation Sans, sans-serif"


def styled(
    panels: Sequence["Panel"], title: str, subtitle: str | Sequence[str], spacing: int = 36
) -> "alt.HConcatChart":
    """Return panels side by side under a title, in the look that all pictures share."""
    import altair as alt

    axis: dict[str, Any] = {"domainColor": "#999999", "gridColor": "#ececec"}
    axis |= {"labelColor": QUIET, "labelFontSize": 11, "tickColor": "#999999", "titlePadding": 8}
    axis |= {"titleColor": INK, "titleFontSize": 12, "titleFontWeight": "normal"}
    legend = {"columns": 5, "orient": "top", "symbolSize": 600, "title": None}
    legend |= {"labelColor": INK, "labelFontSize": 12, "labelLimit": 400}
    heading: dict[str, Any] = {"anchor": "start", "color": INK, "fontSize": 14, "offset": 12}
    heading |= {"fontWeight": "bold", "subtitleColor": QUIET, "subtitleFontSize": 12}
    heading |= {"subtitleLineHeight": 16, "subtitlePadding": 4}
    look: dict[str, Any] = {"background": "white", "font": FONT, "padding": 20}
    look |= {"axis": axis, "legend": legend, "title": heading, "view": {"stroke": None}}
    look |= {"text": {"color": INK, "font": FONT, "fontSize": 12}}
    over = alt.TitleParams(title, subtitle=subtitle, fontSize=18)
    page: alt.HConcatChart = alt.hconcat(*panels, title=over, spacing=spacing).configure(**look)
    return page
