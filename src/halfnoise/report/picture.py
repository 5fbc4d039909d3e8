"""A picture: a chart and the numbers it shows, saved together."""

import csv
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from halfnoise.errors import MissingExtraError

if TYPE_CHECKING:
    import altair as alt

Row: TypeAlias = dict[str, str | int | float]
"""One line of the numbers behind a chart."""

PACKAGES = {"altair": "altair", "vl_convert": "vl-convert-python"}
"""What the extra ``[report]`` brings, by the name under which it is imported."""


def need_report_extra() -> None:
    """Refuse to go on, in one sentence, where a package that draws is missing.

    >>> need_report_extra()
    """
    for module, package in PACKAGES.items():
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise MissingExtraError(
                f"drawing needs the package {package}, which is not installed; "
                'run pip install "halfnoise[report]"'
            ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart with a name, and the numbers it shows.

    >>> from halfnoise.report.dial import dial_picture
    >>> dial_picture().name
    'dial'
    """

    name: str
    chart: "alt.TopLevelMixin"
    rows: Sequence[Row]

    def save(self, folder: Path) -> list[Path]:
        """Write the picture as SVG and as PNG, and its numbers as CSV; return the three paths."""
        vector, pixels, numbers = (folder / f"{self.name}.{end}" for end in ("svg", "png", "csv"))
        self.chart.save(vector, format="svg")
        self.chart.save(pixels, format="png", scale_factor=2)
        with numbers.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, fieldnames=list(self.rows[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(self.rows)
        return [vector, pixels, numbers]
