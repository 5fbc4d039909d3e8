"""Charts of a release and of a plan: dots with intervals, bars, and lines in time, by Altair.

They are drawn in colours that can be read on light and on dark; on a page these stand for those of
the page.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

from halfnoise.report.markup import Markup, escaped
from halfnoise.report.panels import Panel
from halfnoise.report.picture import need_report_extra

if TYPE_CHECKING:
    import altair as alt

    Drawn: TypeAlias = alt.LayerChart | alt.FacetChart

TEXT, LINE, MARK, BAND = "#767676", "#8a8a8a", "#2a7fc4", "#86b4dc"
# What these are on a page.
ON_PAGE = {TEXT: "var(--quiet)", LINE: "var(--quiet)", MARK: "var(--mark)", BAND: "var(--band)"}
FONT = "Arial, Helvetica, Liberation Sans, sans-serif"
WIDTH, ROW, HEIGHT = 200, 22, 150  # of dots and bars, of one of them, of a line
LABELS = 110  # the most that labels take
DATA = "rows"


def svg(panel: Panel, words: str) -> Markup:
    """Return a chart as an element of a page, with what it shows in words."""
    need_report_extra()
    import altair as alt
    import vl_convert

    # Altair looks at every row that it is given, so it is not given any here.
    drawn = alone(chart(panel, alt.NamedData(DATA)), legible=False).to_dict()
    drawn["datasets"] = {DATA: rows_of(panel)}
    found = str(vl_convert.vegalite_to_svg(drawn))
    for colour, on_page in ON_PAGE.items():
        found = found.replace(f'"{colour}"', f'"{on_page}"')
    start, said = found.index(">"), f' role="img" aria-label="{escaped(words)}"'
    return Markup(found[:start] + said + found[start:])


def rows_of(panel: Panel) -> list[dict[str, Any]]:
    """Return the numbers of a chart, row by row."""
    return [point._asdict() for point in panel.points]


def chart(panel: Panel, data: "alt.NamedData | None" = None) -> "Drawn":
    """Return the chart of a panel, to be changed like any other; ``data``: if not its own."""
    import altair as alt

    base = alt.Chart(alt.InlineData(rows_of(panel)) if data is None else data)
    return _line(base, panel) if panel.in_time else _dots(base, panel)


def _dots(base: "alt.Chart", panel: Panel) -> "Drawn":
    import altair as alt

    y = alt.Y("label:N", title=None, sort=None)
    y = (
        y.axis(None)
        if [point.label for point in panel.points] == [""]
        else y.axis(domain=False, ticks=False, labelPadding=8, grid=False)
    )
    scale = alt.Scale(zero=True) if panel.domain is None else alt.Scale(domain=list(panel.domain))
    x = alt.X(
        "x:Q",
        title=panel.axis,
        scale=scale,
        axis=alt.Axis(tickCount=4, domain=False, ticks=False, labelPadding=6),
    )
    tips = [alt.Tooltip("label:N"), alt.Tooltip("said:N", title=panel.axis)]
    interval = base.mark_rule(strokeWidth=2, color=MARK).encode(x="low:Q", x2="high:Q", y=y)
    if panel.bars:
        bar = base.mark_bar(color=BAND, height={"band": 0.7}).encode(x=x, y=y, tooltip=tips)
        layers = [bar, interval]
    else:
        dot = base.mark_point(filled=True, opacity=1, size=55, color=MARK).encode(
            x=x, y=y, tooltip=tips
        )
        layers = [interval, dot]
    found: Drawn = alt.layer(*layers).properties(width=WIDTH, height=ROW * len(panel.points))
    return found


def _line(base: "alt.Chart", panel: Panel) -> "Drawn":
    import altair as alt

    x = alt.X("label:T", title=None, axis=alt.Axis(tickCount=4, grid=False, labelOverlap=True))
    scale = alt.Scale(zero=True) if panel.domain is None else alt.Scale(domain=list(panel.domain))
    y = alt.Y("x:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4, domain=False, ticks=False))
    tips = [alt.Tooltip("label:T"), alt.Tooltip("said:N", title=panel.axis)]
    band = base.mark_area(color=BAND).encode(x=x, y=alt.Y("low:Q", title=None), y2="high:Q")
    line = base.mark_line(color=MARK, strokeWidth=1.8).encode(x=x, y=y, tooltip=tips)
    return alt.layer(band, line).properties(width=WIDTH + 60, height=HEIGHT)


def alone(drawn: Any, *, legible: bool = True) -> Any:
    """Return a chart in the look of all of them."""
    axis: dict[str, Any] = {
        "labelColor": TEXT,
        "titleColor": TEXT,
        "gridColor": LINE,
        "gridOpacity": 0.35,
    }
    axis |= {"domainColor": TEXT, "tickColor": LINE, "labelFontSize": 12, "titleFontSize": 12}
    axis |= {"titleFontWeight": "normal", "labelLimit": LABELS, "titlePadding": 6}
    heading = {"anchor": "start", "color": TEXT, "fontSize": 13, "fontWeight": 600}
    look = {"background": "transparent", "font": FONT, "padding": 4, "view": {"stroke": None}}
    said = {} if legible else {"aria": False, "mark": {"aria": False}}
    return drawn.configure(axis=axis, title=heading, **look, **said)
