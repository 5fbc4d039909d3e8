"""Connections that we open for frames: their folder, their memory, and what is left of them."""

import stat
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import pyarrow as pa
import pytest

from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat

TABLE = pa.table({"id": [1, 2], "a": [True, False]})
MAKERS: dict[str, Any] = {
    "arrow": lambda: TABLE,
    "stream": TABLE.to_reader,
    "pandas": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "duckdb": lambda: duckdb.connect().from_arrow(TABLE),
    "ibis": lambda: ibis.memtable(TABLE),
}
SETTINGS = "select current_setting('temp_directory'), current_setting('memory_limit')"


@pytest.mark.parametrize("engine", MAKERS)
def test_frames_spill_where_only_we_look(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder for the owner alone, within a limit of memory, and gone afterwards."""
    monkeypatch.chdir(tmp_path)
    before = duckdb.connect().execute("select current_setting('memory_limit')").fetchone()
    with open_source(MAKERS[engine](), text=TextFormat()) as source:
        rows: Any = source.rows(again=True)
        ((folder, limit),) = rows.to_native().query("t", SETTINGS).fetchall()
        assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
        assert tmp_path not in Path(folder).parents
        assert (limit,) != before
    assert not Path(folder).exists()
    assert not list(tmp_path.iterdir())
