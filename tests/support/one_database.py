"""A DuckDB database that the tests of a process share: a new one takes longer than most of them."""

import functools
import os
from typing import Any

import duckdb

from halfnoise.data.sources import connection

_alone = connection._connect
# What is read must not be what a file of the same name held in another test.
CONFIG = {"enable_external_file_cache": False}


@functools.cache
def _shared(_: int) -> Any:
    return _alone(**CONFIG)


def connect(**config: Any) -> Any:
    """Return a connection with settings and a temporary schema of its own to what is shared.

    Whoever asks for more than a folder to spill into gets a database; so does whoever asks for
    another folder once something was spilled.
    """
    if not config.keys() <= {"temp_directory"}:
        return _alone(**config)
    found = _shared(os.getpid()).cursor()  # threads of DuckDB do not survive a fork
    spill = config.get("temp_directory", "")
    try:
        found.execute(connection.QUIET)
        found.execute(f"set temp_directory = '{spill}'")
    except duckdb.Error:
        found.close()
        return _alone(**CONFIG, **config)
    return found
