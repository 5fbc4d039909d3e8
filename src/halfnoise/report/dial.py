"""The dial C at 10,000 counts: what a better number of people costs (fig:covariance-d-10000)."""

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

from halfnoise.report.picture import Picture, Row, drawn
from halfnoise.report.style import CORRELATED, MARK, QUIET, STANDARD, styled
from halfnoise.workload.numbers import Counts
from halfnoise.workload.workload import Workload

if TYPE_CHECKING:
    import altair as alt

D = 10_000  # the number of counts
# The two settings that the paper names: best for the counts, and best worth having for n.
LEAST, MOST = D**0.25, D**0.5
# How finely C is drawn, and how far; beyond 173 the counts are worse than with standard noise.
STEPS_PER_DECADE, HIGHEST = 50, 200.0
TICKS = [1, 2, 5, 10, 20, 50, 100, 200]
# Where the label of a C stands beside its point: its alignment, and how far to the right and down.
Places: TypeAlias = dict[float, tuple[Literal["left", "right"], float, float]]


def dial_rows() -> list[Row]:
    """Return the variances of a count and of the number of people, for C from 1 to 200."""
    reference = drawn(Workload((Counts(D),)))["standard-gaussian"].covariance.variance(0)
    rows: list[Row] = []
    for step in range(round(STEPS_PER_DECADE * math.log10(HIGHEST)) + 1):
        C = 10 ** (step / STEPS_PER_DECADE)
        count, people = _variances(C)
        row: Row = {"C": C, "offered": "yes" if C >= LEAST else "no", "count_variance": count}
        rows.append(row | {"people_variance": people, "standard_count_variance": reference})
    return rows


def _variances(C: float) -> tuple[float, float]:
    """Return (A+B)/4 and A: by lem:error-function-of-c where a workload refuses the dial."""
    if C < LEAST:
        A, B = D / C**2 + 1, D + C**2
        return (A + B) / 4, A
    covariance = drawn(Workload((Counts(D),), size_dial=C))["correlated-gaussian"].covariance
    return covariance.variance(0), covariance.variance(D)


def dial_picture() -> Picture:
    """Return the figure: on the left the counts, on the right the number of people."""
    import altair as alt

    rows = dial_rows()
    y = alt.Y("count_variance:Q", title="Variance of each count (people²)")
    y = y.scale(domain=[0, 14_000]).axis(format=",.0f")
    beside: Places = {LEAST: ("left", 6, 16), MOST: ("right", -11, -4)}
    standard = {"count_variance": rows[0]["standard_count_variance"]}
    reference = alt.Chart(alt.InlineData([standard])).encode(y=y)
    rule = reference.mark_rule(color=STANDARD, strokeDash=[6, 4], strokeWidth=1.5)
    name = reference.mark_text(align="left", dx=6, dy=-9, color=STANDARD, text="standard noise")
    left = alt.layer(rule, name.encode(x=alt.value(0)), *_lines(rows, "count_variance", y, beside))

    y = alt.Y("people_variance:Q", title="Variance of the number of people (people²)")
    y = y.scale(type="log", domain=[1, 100_000]).axis(format=",.0f", tickCount=5)
    below: Places = dict.fromkeys(beside, ("right", -9, 11))
    right = alt.layer(*_lines(rows, "people_variance", y, below))
    titled = {"Each count": left, "The number of people": right}
    panels = [each.properties(title=name, width=380, height=300) for name, each in titled.items()]
    title = f"What a better number of people costs the {D:,} counts beside it"
    words = [
        "The dial C shifts budget from the counts to the number of people.",
        "Dashed, below C = 10: both get worse. Budget: Gaussian differential privacy, mu = 1.",
    ]
    return Picture(name="dial", chart=styled(panels, title, words), rows=rows)


def _lines(rows: list[Row], field: str, y: "alt.Y", places: Places) -> list["alt.Chart"]:
    """Return the curve, dashed where it is not offered, and the marked settings with labels."""
    import altair as alt

    x = alt.X("C:Q", title="Dial C", axis=alt.Axis(values=TICKS, grid=False))
    x = x.scale(type="log", domain=[1, HIGHEST], nice=False)
    refused = alt.Chart(alt.InlineData([row for row in rows if float(row["C"]) <= LEAST]))
    offered = alt.Chart(alt.InlineData([row for row in rows if row["offered"] == "yes"]))
    layers = [
        refused.mark_line(color=QUIET, strokeDash=[4, 4]).encode(x=x, y=y),
        offered.mark_line(color=CORRELATED, strokeWidth=3).encode(x=x, y=y),
    ]
    for C, (align, dx, dy) in places.items():
        row = next(row for row in rows if row["C"] == C)
        marked = alt.Chart(alt.InlineData([row]))
        label = f"C = {C:g}: {float(row[field]):,.6g}"
        words = marked.mark_text(text=label, fontWeight="bold", align=align, dx=dx, dy=dy)
        layers += [
            marked.mark_rule(color=QUIET, strokeDash=[2, 3], opacity=0.6).encode(x=x),
            marked.mark_point(color=MARK, filled=True, size=70, opacity=1).encode(x=x, y=y),
            words.encode(x=x, y=y),
        ]
    return layers
