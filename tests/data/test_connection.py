"""Connections that we open for frames: their folder, their memory, and what is left of them."""

import stat
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.data.sources import connection, open_source
from halfnoise.data.sources.connection import own_connection
from halfnoise.data.sources.room import Room
from halfnoise.data.sources.source import TextFormat
from support import one_database

pytestmark = pytest.mark.usefixtures("databases")
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


def test_a_small_machine_reads_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where less memory is allowed than we would ask for, the limit stays, and rows are read."""
    connect = connection._connect
    little = {"memory_limit": "400MB"}
    monkeypatch.setattr(connection, "_connect", lambda **config: connect(**config, **little))
    found = hn.release(TABLE, [hn.Count("a")], unit="id", privacy=hn.GaussianDP(mu=1e6))
    assert round(found["a"].estimate) == 1


def test_the_database_of_the_tests_is_set_as_any(tmp_path: Path) -> None:
    """What tests share differs from a database of its own in nothing but a cache of files."""
    every = "select name, value from duckdb_settings() order by name"
    with own_connection(room=Room()) as (alone, _):
        wanted = dict(alone.execute(every).fetchall())
    shared = one_database.connect(temp_directory=str(tmp_path))
    connection._disable(shared, "partial_aggregate_pushdown")
    connection._limit_memory(shared)
    found = dict(shared.execute(every).fetchall())
    shared.close()
    differ = {name for name in wanted if wanted[name] != found[name]}
    assert differ == {"temp_directory", "enable_external_file_cache"}
