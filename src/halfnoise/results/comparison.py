"""Two releases compared: what changed, by how much, and whether that is more than noise."""

import json
import math
from collections.abc import Iterator
from typing import Any

from halfnoise.checks import installed, unknown
from halfnoise.results.inference import Columns, Estimate
from halfnoise.results.shown import shown
from halfnoise.results.wide import Wide
from halfnoise.text import named, percent, spelled
from halfnoise.values import dataclass
from halfnoise.views import Viewed

DIFFERENCE = ("difference", "std", "low", "high")
RATIO = ("ratio", "ratio_std", "ratio_low", "ratio_high")
NUMBERS = ("earlier", "later", *DIFFERENCE, *RATIO)
COLUMNS = ("name", "kind", *NUMBERS, "within_noise")
WITHIN = "within the noise"
MOST_ROWS = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Comparison(Viewed):
    """What a later release says beside an earlier one: differences and ratios with intervals.

    ``table``: by column, behind the keys of groups, if there are any. ``remarks``: what goes with
    it: what intervals cover, who may be in both, and where definitions differ.
    """

    table: Columns
    level: float
    remarks: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.table["name"])

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that name groups."""
        return (*self.table,)[: -len(COLUMNS)]

    def columns(self) -> Columns:
        """Return the table by column, unrounded."""
        return dict(self.table)

    def notes(self) -> list[str]:
        """Say what goes with the numbers."""
        return [*self.remarks]

    def difference(self, name: str, *group: object) -> Estimate:
        """Return later minus earlier, of a group if there are any."""
        return self._estimate(name, group, DIFFERENCE)

    def ratio(self, name: str, *group: object) -> Estimate:
        """Return later over earlier, of a group if there are any."""
        return self._estimate(name, group, RATIO)

    def is_within_noise(self, name: str, *group: object) -> bool:
        """Whether a difference is no larger than noise alone may make it."""
        return bool(self.table["within_noise"][self._place(name, group)])

    def _estimate(self, name: str, group: tuple[object, ...], titles: tuple[str, ...]) -> Estimate:
        place = self._place(name, group)
        x, std, low, high = (float(self.table[title][place]) for title in titles)
        sign = "-" if titles is DIFFERENCE else "/"
        title = f"{name}, later {sign} earlier"
        return Estimate(name=title, estimate=x, std=std, low=low, high=high)

    def _place(self, name: str, group: tuple[object, ...]) -> int:
        wanted = (*group, name)
        named = zip(*(self.table[title].tolist() for title in (*self.keys, "name")), strict=True)
        known = []
        for place, each in enumerate(named):
            if each == wanted:
                return place
            known.append(each if group else each[-1])
        raise unknown("name", wanted if group else name, [*dict.fromkeys(known)])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON; what is infinite has no number there."""
        rows = (dict(zip(self.table, row, strict=True)) for row in self._rows())
        return {
            "level": self.level,
            "rows": [{title: _plain(value) for title, value in row.items()} for row in rows],
            "notes": self.notes(),
        }

    def to_json(self) -> str:
        """Return it as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_pandas(self) -> Any:
        """Return it as a pandas frame."""
        return installed("pandas").DataFrame(self.columns())

    def to_polars(self) -> Any:
        """Return it as a Polars frame."""
        plain = {title: each.tolist() for title, each in self.table.items()}
        plain |= {title: [*map(spelled, plain[title])] for title in self.keys}
        return installed("polars").DataFrame(plain)

    def wide(self, most: int | None = None) -> Wide:
        """Return it in texts, as one reads it: ``most`` rows of it."""
        interval = f"{percent(self.level)} interval"
        return Wide(
            title="Later beside earlier",
            heads=(*self.keys, ""),
            titles=("earlier", "later", "difference", interval, "ratio", interval, ""),
            lines=[*map(_line, self._rows(most))],
            below=self.remarks,
        )

    def _rows(self, most: int | None = None) -> Iterator[tuple[Any, ...]]:
        return zip(*(each[:most].tolist() for each in self.table.values()), strict=True)

    def text(self, most: int = MOST_ROWS) -> str:
        """Return it for a terminal."""
        return self.wide(most + 1).text(most)

    def __repr__(self) -> str:
        return self.text()


def _line(row: tuple[Any, ...]) -> tuple[list[str], list[str]]:
    """Return the texts of a row: what it is about, and its numbers as their errors allow."""
    *key, name, kind, before, after, x, std, low, high, t, error, least, most, within = row
    std = min(std, (high - low) / 2)  # within limits, that tells what a digit is worth
    numbers = [shown(each, std, kind) for each in (before, after, x, low, high)]
    cells = [*numbers[:3], f"{numbers[3]} to {numbers[4]}", "", ""]
    if math.isfinite(most):  # else it is to what may be nothing
        ratio, below, above = (shown(each, error) for each in (t, least, most))
        cells[4:] = [ratio, f"{below} to {above}"]
    return [*map(named, key), name], [*cells, WITHIN if within else ""]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | None) else spelled(value)
