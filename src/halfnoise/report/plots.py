"""Charts to be changed: of a release, of a plan, and of what budgets bring."""

from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from halfnoise.errors import NotSupportedError
from halfnoise.planning.outlook import EPSILONS, Outlook
from halfnoise.planning.plan import Plan
from halfnoise.planning.tables import entries
from halfnoise.report.charts import BAND, MARK, ROW, WIDTH, alone, chart
from halfnoise.report.panels import MOST_PANELS, MOST_ROWS
from halfnoise.report.parts import parts
from halfnoise.report.picture import need_report_extra
from halfnoise.results.release import GroupedRelease, Release, Released
from halfnoise.text import percent, short

if TYPE_CHECKING:
    import altair as alt

COLUMNS = 3  # charts side by side


@singledispatch
def plotted(shown: object, *names: str) -> "alt.TopLevelMixin":
    """Return a chart of something; ``names``: of these questions alone."""
    raise NotImplementedError(type(shown), names)


@plotted.register(Release)
@plotted.register(GroupedRelease)
def _release(release: Released, *names: str) -> "alt.TopLevelMixin":
    need_report_extra()
    found = []
    for part in parts(release, names=names):
        for panel in part.panels:
            title = ": ".join(filter(None, (part.title, panel.title)))
            found.append(chart(panel).properties(title=title))
    return _beside(found)


@plotted.register(Plan)
def _plan(plan: Plan) -> "alt.TopLevelMixin":
    need_report_extra()
    import altair as alt

    names = [each.name for each in entries(plan.chosen.blocks)]
    axis, found = f"margin of error ({percent(plan.level)})", []
    margins = {design.name: design.margins(plan.level) for design in plan.designs}
    for place, name in enumerate(names[:MOST_PANELS]):
        rows: list[dict[str, Any]] = [
            {"design": design, "margin": each[place], "said": f"±{short(each[place])}"}
            for design, each in [*margins.items()][:MOST_ROWS]
        ]
        drawn = alt.Chart(alt.InlineData(rows)).mark_bar(height={"band": 0.7})
        chosen = alt.FieldEqualPredicate(field="design", equal=plan.chosen.name)
        y = alt.Y("design:N", title=None, sort=None, axis=alt.Axis(domain=False, ticks=False))
        drawn = drawn.encode(
            x=alt.X("margin:Q", title=axis, axis=alt.Axis(tickCount=4, domain=False)),
            y=y,
            color=alt.condition(chosen, alt.value(MARK), alt.value(BAND)),
            tooltip=[alt.Tooltip("design:N"), alt.Tooltip("said:N", title=axis)],
        )
        found.append(drawn.properties(title=name, width=WIDTH, height=ROW * len(rows)))
    return _beside(found)


@plotted.register(Outlook)
def _outlook(outlook: Outlook) -> "alt.TopLevelMixin":
    need_report_extra()
    import altair as alt

    names = [each.name for each in entries(outlook.workload.blocks)][:MOST_PANELS]
    level = percent(outlook.plans[0].level)
    rows: list[dict[str, Any]] = [
        {"epsilon": epsilon, "what": name, "margin": margin}
        for epsilon, plan in zip(EPSILONS, outlook.plans, strict=True)
        for name, margin in zip(names, plan.margins, strict=False)
    ]
    drawn = alt.Chart(alt.InlineData(rows)).mark_line(point=True)
    axis = alt.Axis(values=list(EPSILONS), grid=False)
    drawn = drawn.encode(
        x=alt.X("epsilon:Q", scale=alt.Scale(type="log"), axis=axis),
        y=alt.Y("margin:Q", title=f"margin of error ({level})", scale=alt.Scale(type="log")),
        color=alt.Color("what:N", title=None, sort=None),
        tooltip=["what:N", "epsilon:Q", "margin:Q"],
    )
    return _beside([drawn.properties(width=2 * WIDTH, height=WIDTH)])


def _beside(charts: Sequence[Any]) -> "alt.TopLevelMixin":
    """Return charts side by side, or the only one as it is."""
    import altair as alt

    if not charts:
        raise NotSupportedError("there is nothing to draw: no group, or no number with an end")
    one = charts[0] if len(charts) == 1 else alt.concat(*charts, columns=COLUMNS, spacing=24)
    found: alt.TopLevelMixin = alone(one)
    return found
