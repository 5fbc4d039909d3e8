"""Empty text is missing on every engine, and so is text of which a part could not be read."""

import functools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from halfnoise.design.measurement import CenteredMeasurement
from halfnoise.errors import InvalidParameterError
from support import engines
from support.measured import grid_for
from support.nasty import found
from support.soak import SOAKS

KEYS = ["x", "", None, "x\0", "\0", " ", "x", "\0x"]
DAYS = ["2026-11-15 1", "", None, "2026-11-15 \0", "2026-11-15", " ", "\0", "2026-11-15T\0"]
CODES = ["E11.9", "", None, "E11\0", "E11;\0", " ", "J45;E11", "\0"]
NO_NUL = ("ods", "xlsx")  # there is no way to write it
THEN = hn.Count("d", equals="2026-11-15", name="then")
ASKED = [
    hn.Count("a"),
    hn.Count("g", equals="x"),
    THEN,
    hn.Count("d", at_least="2026-11-01", name="since"),
    hn.Choice("g", ["x", "z"], name="choice"),
    hn.Items("c", ["E11*", "J45"], split=";"),
    hn.Items("c", ["E11*", "J45"], name="alone"),
    hn.Table([hn.Choice("h", ["x", "z"]), hn.Choice("a", [1])]),
]


TOTALS = [
    [8, 2, 2, 2],
    [2, 0, 6],
    [2, 1],
    [1, 0],
    [2, 0, 6, 8, 0, 2, 0, 0, 0, 6, 0],
]  # with margins


def table(engine: str) -> pa.Table:
    """Return keys, days and codes of which most are missing."""
    lists = {"g": KEYS, "h": KEYS, "d": DAYS, "c": CODES}
    if engine in NO_NUL:
        lists = {
            name: [c and "" if "\0" in (c or "") else c for c in lists[name]] for name in lists
        }
    return pa.table({**lists, "a": [1] * len(KEYS)})


@functools.cache
def placed(*queries: Any, **groups: Any) -> tuple[hn.Workload, CenteredMeasurement]:
    """Return a workload, and a grid for it."""
    grid = grid_for(hn.plan(hn.Workload(queries), privacy=hn.GaussianDP(mu=1)))
    return hn.Workload(queries, **groups), grid


def in_groups(data: Any, **groups: Any) -> dict[Any, tuple[int, int]]:
    """Return how many rows are in each group, and how many of that day, by its key or its place."""
    workload, grid = placed(THEN, by="g", **groups)
    with open_source(data, text=TextFormat()) as opened:
        totals = prepared(opened.of(["d", "g"]), workload, grid.blocks, None)()
    keys = totals.keys or [(place,) for place in range(len(totals.people))]
    numbers = zip(totals.people, totals.sums[0][:, 0], strict=True)
    return {key: (int(n), int(then)) for (key,), (n, then) in zip(keys, numbers, strict=True)}


@pytest.mark.parametrize("engine", [*engines.READERS, *engines.KEPT])
def test_what_says_nothing_is_missing(engine: str, tmp_path: Path) -> None:
    """As a key, listed or discovered, as an id, in a condition, a choice, a day and a code."""
    data = engines.ENGINES[engine](table(engine), tmp_path)
    keys = in_groups(data, groups="discover", discover_delta=1e-7)
    assert keys == {"x": (2, 1), " ": (1, 0), None: (5, 1)}
    assert found(data, *placed(hn.Count("a")), ("g",)) == ([[1]], 1)
    if engine == "spark" and not SOAKS:  # for it takes seconds
        return
    listed = in_groups(data, groups=("x",), missing_group="none")
    assert listed == {0: (2, 1), 1: (5, 1), 2: (1, 0)}
    assert found(data, *placed(*ASKED), ()) == (TOTALS, 8)


@pytest.mark.parametrize("said", ["", " ", "\0", "a\0b"])
def test_nobody_asks_for_what_is_missing(said: str) -> None:
    """A listed value that no cell can be is refused; a code for missing may be empty."""
    for ask in (
        lambda: hn.Count("g", equals=said),
        lambda: hn.Count("g", is_in=["x", said]),
        lambda: hn.Count("g", true=[said]),
        lambda: hn.Where("g", equals=said),
        lambda: hn.Choice("g", ["x", said]),
        lambda: hn.Items("g", ["x", said]),
        lambda: hn.Workload([hn.Count("a")], by="g", groups=["x", said]),
        lambda: hn.Workload([hn.Count("a")], by=["g", "h"], groups=[("x", said)]),
    ):
        with pytest.raises(InvalidParameterError, match="empty text is missing"):
            ask()
    assert hn.Count("g", equals="x", missing=[said, "-9"]).codes == (said, "-9")
