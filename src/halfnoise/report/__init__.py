"""The figures of the paper, drawn again from our designs; they need the extra ``[report]``."""

from pathlib import Path

from halfnoise.checks import refuse
from halfnoise.report.density import density_picture
from halfnoise.report.dial import dial_picture
from halfnoise.report.geometry import geometry_picture
from halfnoise.report.picture import need_report_extra

# fig:geometric-intuition, fig:covariance-d-10000 and fig:count-sparse.
PICTURES = (geometry_picture, dial_picture, density_picture)


def draw_figures(folder: Path) -> list[Path]:
    """Draw the paper's three figures into a folder, which is made if it is missing.

    Each is written as SVG and as PNG, with the plotted numbers as CSV. No data are needed.
    """
    need_report_extra()
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [path for picture in PICTURES for path in picture().save(folder)]
    except OSError as error:
        rule, remedy = "a folder that can be written to", "name another one"
        if folder.is_file():
            rule, remedy = (
                "a folder, not a file",
                "name another folder; it is made if it is missing",
            )
        raise refuse("folder", rule, str(folder), remedy) from error
