"""At most k of 1,000 questions answered with yes: every mechanism for it (fig:count-sparse)."""

from typing import TYPE_CHECKING, TypeAlias

from halfnoise.report.picture import Picture, Row, drawn
from halfnoise.report.style import CORRELATED, ELLIPSE, INK, PAPER, STANDARD, styled
from halfnoise.workload.numbers import Counts
from halfnoise.workload.workload import Workload

if TYPE_CHECKING:
    import altair as alt

Range: TypeAlias = tuple[float, float]

D = 1000  # the number of counts
# Design, colour, width and dashes of each line; where lines meet, thin ones lie on thick ones.
LOOKS: dict[str, tuple[str, str, float, list[int]]] = {
    "standard noise (l2 ball)": ("standard-gaussian", STANDARD, 2, [1, 0]),
    "design for at most k": ("correlated-gaussian", CORRELATED, 8, [1, 0]),
    "Count ellipse": ("correlated-gaussian", ELLIPSE, 4, [8, 6]),
    "paper's mechanism": ("correlated-gaussian", PAPER, 2.5, [1, 0]),
    "exact optimum": ("optimal-gaussian-without-size", INK, 1, [1, 0]),
}


def density_rows() -> list[Row]:
    """Return the variance of a count for k = 1 to 1,000, line by line.

    The Count ellipse (lem:JY24-variance) is defined up to k = d/2; there the at-most-k design has
    its optimal variance. The paper's mechanism takes no notice of k.
    """
    by_k = {k: _variances(k) for k in range(1, D + 1)}
    rows: list[Row] = []
    for line, (design, *_) in LOOKS.items():
        for k, variances in by_k.items():
            if line == "Count ellipse" and 2 * k > D:
                break
            variance = by_k[D if line == "paper's mechanism" else k][design]
            row: Row = {"mechanism": line, "k": k, "variance": variance}
            rows.append(row | {"share_of_standard": variance / variances["standard-gaussian"]})
    return rows


def _variances(k: int) -> dict[str, float]:
    found = drawn(Workload((Counts(D),), at_most=k))
    return {name: design.covariance.variance(0) for name, design in found.items()}


def density_picture() -> Picture:
    """Return the figure: relative and plain variance, and the plain one enlarged around d/2."""
    import altair as alt

    rows = density_rows()
    share = alt.Y("share_of_standard:Q", title="Share of the variance of standard noise")
    plain = alt.Y("variance:Q", title="Variance of each count (people²)")
    title = f"Error of each count when one person may say yes to at most k of {D:,} questions"
    words = (
        "The design for at most k follows the Count ellipse up to k = 500 and goes on where that "
    )
    words += "ends. Budget: Gaussian differential privacy, mu = 1."
    panels = [
        _panel(
            "Variance relative to standard noise", rows, share.axis(format="%"), (0, D), (0, 1.2)
        ),
        _panel("Variance", rows, plain, (0, D), (0, 1000)),
        _panel("Variance, enlarged around k = 500", rows, plain, (480, 540), (264.6, 266.2)),
    ]
    return Picture(name="density", chart=styled(panels, title, words), rows=rows)


def _panel(title: str, rows: list[Row], y: "alt.Y", ks: Range, variances: Range) -> "alt.Chart":
    """Return one panel: all lines within these ranges of k and of y."""
    import altair as alt

    domain = list(LOOKS)
    _, *looks = zip(*LOOKS.values(), strict=True)
    colors, widths, dashes = map(list, looks)
    x = alt.X("k:Q", title="k, the most yes answers of one person")
    shown = alt.Chart(alt.InlineData([row for row in rows if ks[0] <= float(row["k"]) <= ks[1]]))
    panel: alt.Chart = shown.mark_line(clip=True).encode(
        x=x.scale(domain=list(ks), nice=False),
        y=y.scale(domain=list(variances), nice=False, zero=False),
        color=alt.Color("mechanism:N").scale(domain=domain, range=colors),
        strokeWidth=alt.StrokeWidth("mechanism:N").scale(
            domain=domain, range=widths, type="ordinal"
        ),
        strokeDash=alt.StrokeDash("mechanism:N").scale(domain=domain, range=dashes),
    )
    return panel.properties(title=title, width=300, height=300)
