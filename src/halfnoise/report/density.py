"""At most k of 1,000 questions answered with yes: every mechanism for it (fig:count-sparse)."""

from typing import TYPE_CHECKING

from halfnoise.design.candidates import designs
from halfnoise.privacy.definitions import Budget
from halfnoise.report.picture import Picture, Row
from halfnoise.report.style import CORRELATED, ELLIPSE, INK, PAPER, STANDARD, styled
from halfnoise.workload.numbers import Counts
from halfnoise.workload.workload import Workload

if TYPE_CHECKING:
    import altair as alt

D = 1000
"""The number of counts."""

LOOKS: dict[str, tuple[str, float, list[int]]] = {
    "standard noise (l2 ball)": (STANDARD, 2, [1, 0]),
    "design for at most k": (CORRELATED, 8, [1, 0]),
    "Count ellipse": (ELLIPSE, 4, [8, 6]),
    "paper's mechanism": (PAPER, 2.5, [1, 0]),
    "exact optimum": (INK, 1, [1, 0]),
}
"""Colour, width and dashes of each line; where lines meet, thin ones lie on thick ones."""


def density_rows() -> list[Row]:
    """Return the variance of a count for k = 1 to 1,000, line by line.

    The Count ellipse (lem:JY24-variance) is defined up to k = d/2; there the at-most-k design has
    its optimal variance. The paper's mechanism takes no notice of k.

    >>> [round(row["variance"], 3) for row in density_rows() if row["k"] == 500]
    [500.0, 265.803, 265.803, 266.061, 265.803]
    """
    rows: list[Row] = []
    paper = _variances(D)["correlated-gaussian"]
    by_k = {k: _variances(k) for k in range(1, D + 1)}
    for line in LOOKS:
        for k, found in by_k.items():
            if line == "Count ellipse" and 2 * k > D:
                continue
            standard, correlated = found["standard-gaussian"], found["correlated-gaussian"]
            variance = {
                "standard noise (l2 ball)": standard,
                "paper's mechanism": paper,
                "exact optimum": found["optimal-gaussian-without-size"],
            }.get(line, correlated)
            row: Row = {"mechanism": line, "k": k, "variance": variance}
            rows.append(row | {"share_of_standard": variance / standard})
    return rows


def _variances(k: int) -> dict[str, float]:
    workload = Workload((Counts(D),), at_most=k)
    found = designs(workload, Budget(mu=1.0))
    return {design.name: design.covariance.variance(0) for design in found}


def density_picture() -> Picture:
    """Return the figure: relative and plain variance, and the plain one enlarged around d/2.

    >>> density_picture().name
    'density'
    """
    import altair as alt

    rows = density_rows()
    share = alt.Y("share_of_standard:Q", title="Share of the variance of standard noise")
    plain = alt.Y("variance:Q", title="Variance of each count (people²)")
    wide = (0.0, float(D))
    panels = [
        _panel(rows, share.axis(format="%"), wide, (0, 1.2)).properties(
            title="Variance relative to standard noise"
        ),
        _panel(rows, plain, wide, (0, 1000)).properties(title="Variance"),
        _panel(rows, plain, (480.0, 540.0), (264.6, 266.2)).properties(
            title="Variance, enlarged around k = 500"
        ),
    ]
    title = alt.TitleParams(
        f"Error of each count when one person may say yes to at most k of {D:,} questions",
        subtitle="The design for at most k follows the Count ellipse up to k = 500 and goes on "
        "where that ends. Budget: Gaussian differential privacy, mu = 1.",
        fontSize=18,
    )
    chart = styled(alt.hconcat(*panels, title=title))
    return Picture(name="density", chart=chart, rows=rows)


def _panel(
    rows: list[Row], y: "alt.Y", ks: tuple[float, float], reach: tuple[float, float]
) -> "alt.Chart":
    """Return one panel: all lines within these ranges of k and of y."""
    import altair as alt

    names = list(LOOKS)
    colors, widths, dashes = zip(*LOOKS.values(), strict=True)
    low, high = ks
    shown = [row for row in rows if low <= float(row["k"]) <= high]
    panel: alt.Chart = (
        alt.Chart(alt.InlineData(shown), width=300, height=300)
        .mark_line(clip=True)
        .encode(
            x=alt.X(
                "k:Q",
                title="k, the most yes answers of one person",
                scale=alt.Scale(domain=[low, high], nice=False),
            ),
            y=y.scale(domain=list(reach), nice=False, zero=False),
            color=alt.Color("mechanism:N", scale=alt.Scale(domain=names, range=list(colors))),
            strokeWidth=alt.StrokeWidth(
                "mechanism:N", scale=alt.Scale(domain=names, range=list(widths), type="ordinal")
            ),
            strokeDash=alt.StrokeDash(
                "mechanism:N", scale=alt.Scale(domain=names, range=list(dashes))
            ),
        )
    )
    return panel
