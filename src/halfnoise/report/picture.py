"""A picture: a chart and the numbers it shows, saved together."""

import csv
import importlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from halfnoise.design.candidates import designs
from halfnoise.design.design import Design
from halfnoise.errors import MissingExtraError
from halfnoise.files import write_whole
from halfnoise.privacy.definitions import Budget
from halfnoise.values import dataclass
from halfnoise.views import PACKAGES
from halfnoise.workload.workload import Workload

if TYPE_CHECKING:
    import altair as alt

# One line of the numbers behind a chart.
Row: TypeAlias = dict[str, str | int | float]


def need_report_extra() -> None:
    """Refuse to go on, in one sentence, where a package that draws is missing."""
    for module, package in PACKAGES.items():
        try:
            importlib.import_module(module)
        except ImportError as error:
            why = f"drawing needs the package {package}, which is not installed; "
            every = " ".join(PACKAGES.values())
            raise MissingExtraError(f"{why}run pip install {every}") from error


def drawn(workload: Workload) -> dict[str, Design]:
    """Return the designs for a workload by name, all at the budget of the pictures, mu = 1."""
    return {each.name: each for each in designs(workload, Budget(mu=1.0), known_size=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart with a name, and the numbers it shows."""

    name: str
    chart: "alt.TopLevelMixin"
    rows: Sequence[Row]

    def save(self, folder: Path) -> list[Path]:
        """Write the picture as SVG and as PNG, and its numbers as CSV; return the three paths."""
        vector, pixels, numbers = io.StringIO(), io.BytesIO(), io.StringIO(newline="")
        self.chart.save(vector, format="svg")
        self.chart.save(pixels, format="png", scale_factor=2)
        table = csv.DictWriter(numbers, fieldnames=list(self.rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(self.rows)
        contents = {"svg": vector.getvalue().encode(), "png": pixels.getvalue()}
        contents["csv"] = numbers.getvalue().encode()
        for ending, content in contents.items():
            write_whole(folder / f"{self.name}.{ending}", content)
        return [folder / f"{self.name}.{ending}" for ending in contents]
