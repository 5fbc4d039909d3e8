"""Names of groups that are spelled in many ways: what is fetched is as short as the list."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data import handed
from halfnoise.data.sources import fetch_columns

LISTED = ["a", "b", "c"]
WAYS = [f"{' ' * before}a{' ' * behind}" for before in range(30) for behind in range(30)]
ROWS = ["a"] * 5 + WAYS + ["b", "b ", *(f"elsewhere{i}" for i in range(1000)), None, ""]


def test_few_rows_are_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each name as it was listed, and one for all others of its group."""
    fetched = list[int]()

    def watched(*asked: Any) -> Any:
        names, sums = fetch_columns(*asked)
        fetched.append(len(sums[0]))
        return names, sums

    monkeypatch.setattr(handed, "fetch_columns", watched)
    path = tmp_path / "a.parquet"
    pl.DataFrame({"name": ROWS, "q": [True] * len(ROWS)}).write_parquet(path)
    said: dict[str, Any] = {"row_is_person": True, "ledger": None, "i_know": True}
    said["privacy"] = hn.GaussianDP(mu=1e6)
    table = hn.release(path, [hn.Count("q")], by="name", groups=LISTED, **said)
    counted = [round(table[key]["q"].estimate) for key in table]
    assert counted == [5 + len(WAYS), 2, 0, len(ROWS) - len(WAYS) - 7]
    assert fetched == [2 + 3]  # a and b, as they are listed; a, b and elsewhere, as they are not
