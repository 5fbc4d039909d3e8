"""Parquet files read by Spark, in a session of our own that is gone afterwards."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from halfnoise.checks import installed, refuse
from halfnoise.data.quiet import quietly
from halfnoise.data.sources.source import OF_CELLS, OF_LINES, PLACES, Source, TextFormat
from halfnoise.data.sources.spark_frames import spark_source
from halfnoise.errors import MissingExtraError

_FAR = "sc://"  # a server of Spark Connect
_OTHERS = (".csv", ".tsv", ".tab", ".txt", ".gz", ".jsonl", ".ndjson", ".xlsx", ".ods", ".db")
_SETTINGS = {
    # Days of long ago are read as they are stored: as an error they would tell of a row.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.session.timeZone": "UTC",
    # What a folder's name says is text, whatever the other folders are called.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
# Whatever Spark logs may quote cells.
_OF_THE_DRIVER = {"spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}


@contextmanager
def open_with_spark(paths: Sequence[str], master: str, text: TextFormat) -> Iterator[Source]:
    """Open Parquet files, or folders of them, by names that all workers know."""
    text.check_unused("a file says itself how it is written", *OF_LINES, *OF_CELLS, *PLACES)
    for path in paths:
        if Path(path).suffix.lower() in _OTHERS:
            rule, remedy = "Parquet where Spark reads it", "leave --engine out, or write Parquet"
            raise refuse("the file", rule, path, remedy)
    with ExitStack() as stack:
        failed = "Spark could not be started; check --spark-master and that it can be reached"
        session = quietly(lambda: _session(master), failed)
        stack.callback(session.stop)
        named = ", ".join(map(repr, paths[:3]))
        failed = f"{named} could not be read as Parquet by Spark; check that all workers know it"
        frame = quietly(lambda: session.read.parquet(*paths), failed)
        source = quietly(lambda: spark_source(frame, text, stack), failed)
        names = (path if "://" in path else os.path.realpath(path) for path in paths)
        yield replace(source, files=tuple(sorted(names)))


def _session(master: str) -> Any:
    sql = installed("pyspark.sql", "pyspark")
    builder = sql.SparkSession.builder.appName("halfnoise")
    own = dict(_SETTINGS)
    if master.startswith(_FAR):
        builder = builder.remote(master)
    else:
        if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            said = "Spark needs Java, and there is none; install Java 17 or newer"
            raise MissingExtraError(f"{said}, or name a server of Spark Connect: sc://host")
        builder, own = builder.master(master), own | _OF_THE_DRIVER
    for name, value in own.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
