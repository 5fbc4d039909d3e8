"""What frames say when they are run: each when it is asked for, but on Spark all in one job.

There each is some rows of one table, beside those of others: a number says whose they are, and
columns of one type share a place.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from halfnoise.data.sources import comes_in_rows, fetch, fetch_columns
from halfnoise.data.sources.progress import Progress
from halfnoise.data.sources.spark_frames import functions_of

Rows = list[tuple[Any, ...]]
ByColumn = list[list[Any]]
Frame = nw.LazyFrame[Any]
_WHOSE = "hn_whose"


class Handed:
    """The rows of some frames."""

    def __init__(self, frames: Sequence[Frame], progress: Progress) -> None:
        """Run them at once, where that is better."""
        self._progress = progress
        progress.begin(len(frames))
        self._rows: dict[int, Rows] = {}
        if len(frames) > 1 and comes_in_rows(frames[0]):
            self._rows = dict(zip(map(id, frames), _at_once(frames), strict=True))

    def rows(self, frame: Frame) -> Rows:
        """Return the rows of a frame."""
        found = self._rows[id(frame)] if id(frame) in self._rows else fetch(frame)
        self._progress.done += 1
        return found

    def columns(self, frame: Frame, names: int) -> tuple[ByColumn, list[NDArray[np.int64]]]:
        """Return by column what its first columns name, and the others, whole numbers."""
        found = fetch_columns(frame, names, self._rows.get(id(frame)))
        self._progress.done += 1
        return found


def _at_once(frames: Sequence[Frame]) -> list[Rows]:
    """Return the rows of several frames of Spark, in one job."""
    natives: list[Any] = [frame.to_native() for frame in frames]
    f = functions_of(natives[0])
    places: list[list[str]] = []
    parts = []
    for whose, native in enumerate(natives):
        kinds = [field.dataType.simpleString() for field in native.schema]
        own = [f"hn_{kind}_{kinds[:i].count(kind)}" for i, kind in enumerate(kinds)]
        places.append(own)
        parts.append(native.toDF(*own).withColumn(_WHOSE, f.lit(whose)))
    table = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    at = {name: i for i, name in enumerate(table.columns)}
    found: list[Rows] = [[] for _ in frames]
    slots = [[at[name] for name in own] for own in places]
    for row in table.collect():
        whose = row[at[_WHOSE]]
        found[whose].append(tuple(row[i] for i in slots[whose]))
    return found
