"""Who reads files, and what it may take of this machine: no part of what is asked."""

import re
from typing import TypedDict

from halfnoise.checks import refuse
from halfnoise.data.sources.room import Room
from halfnoise.spec.queries import Words

_MASTER = re.compile(r"local(-cluster)?(\[.*\])?|(spark|sc|k8s)://.+|yarn")


class Reading(TypedDict):
    """What opens a table in one way or another."""

    spark: str | None
    room: Room


def reading(words: Words) -> Reading:
    """Read who reads files: where Spark is, or what DuckDB may take."""
    engine, master = words.get("engine", "duckdb"), words.get("spark-master")
    if engine not in ("duckdb", "spark"):
        raise refuse("--engine", "duckdb or spark", engine)
    if (engine == "spark") != (master is not None):
        rule = "said with --engine spark, and only there"
        raise refuse("--spark-master", rule, master, "for example --spark-master local[*]")
    if master is not None and not _MASTER.fullmatch(master):  # of which Java would say more
        rule = "spark://host:7077, sc://host, local[*], yarn or k8s://host"
        raise refuse("--spark-master", rule, master)
    return Reading(spark=master, room=Room.of(words.get("memory"), words.get("scratch")))
