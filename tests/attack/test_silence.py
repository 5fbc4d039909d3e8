import gzip
import itertools
import logging
import re
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfnoise as hn
from halfnoise.data.meaning import kind_of
from halfnoise.data.quiet import quietly
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from halfnoise.workload.totals import Totals
from support import engines
from support.measured import grid_for

q: Any = hn  # what strict types would refuse is tried, too

CANARY = "Kanarienvogel"
SECRET = 98765.4321
ENGINE_WORDS = (
    "duckdb",
    "polars",
    "narwhals.",
    "pyarrow",
    "pandas.",
    "py4j",
    "psycopg",
    "pyspark",
    "Error: ",
    "LINE 1",
)
SIMILAR = ["csv-folder", "csv-gz", "jsonl", "pandas-arrow", "parquet-folder", "parquet-split"]
SIMILAR += ["tsv", "xls", "xlsb"]
MU = hn.GaussianDP(mu=1)
# The kind of a failure and the versions at work, which are said of what was not foreseen.
KIND = re.compile(r" \([A-Za-z0-9_]+; Python [\w., -]+; halfnoise doctor looks at these\)")


def table() -> pa.Table:
    """Return a table full of what must not be seen."""
    return pa.table(
        {
            "id": pa.array([CANARY + str(i) for i in range(40)]),
            "word": pa.array([CANARY] * 39 + ["12"]),
            "number": pa.array([SECRET] * 40),
            "other": pa.array([CANARY] * 40),
        }
    )


FAILING = q.Count(nw.col("word").cast(nw.Int64) > 1, name="cast")
QUERIES: dict[str, list[Any]] = {
    "failing cast": [FAILING],
    "unknown column in an expression": [q.Count(nw.col("nowhere") > 1, name="unknown")],
    "text in arithmetic": [q.Count(nw.col("word") * nw.col("number") > 1, name="times")],
    "more than one row": [q.Count(nw.col("number") > nw.col("number").mean(), name="mean")],
    "a fold": [q.Count(nw.col("number").sum().over("id") > 1, name="over")],
    "an expression of text as a sum": [
        q.Sum(nw.col("word").str.to_date(), bounds=(0, 1), name="s")
    ],
    "unknown column": [q.Count("wort")],
}


def silent(provoke: Callable[[], object], caplog: pytest.LogCaptureFixture) -> hn.HalfnoiseError:
    """Provoke a failure and check that nothing is said about the data or the engine."""
    with warnings.catch_warnings(record=True) as warned, caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        with pytest.raises(hn.HalfnoiseError) as caught:
            provoke()
    error = caught.value
    printed = "".join(traceback.format_exception(error))
    assert not warned
    # Whenever Python collects garbage, py4j tells the JVM so, and logs it.
    others = [record for record in caplog.records if not record.name.startswith("py4j")]
    assert not [record for record in others if record.name != "halfnoise"]
    said = [str(error), repr(error), *(record.getMessage() for record in others)]
    for text in [*said, printed, caplog.text]:
        assert CANARY not in text
        assert "98765" not in text
    for text in (KIND.sub("", text) for text in said):
        assert not any(word in text for word in ENGINE_WORDS), text
        assert not re.search(r"row \d", text)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "\n" not in str(error)
    return error


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("engine", [name for name in engines.ENGINES if name not in SIMILAR])
def test_failing_queries_are_silent(
    engine: str, query: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever fails in an engine, the error says nothing of data and engine."""
    data = engines.ENGINES[engine](table(), tmp_path)
    silent(lambda: hn.release(data, QUERIES[query], unit="id", privacy=MU), caplog)


def test_a_file_that_vanishes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file deleted after it was opened ends in one sentence."""
    workload = hn.Workload([q.Count("word")])
    grid = grid_for(hn.plan(workload, privacy=MU))
    for make in ("csv", "parquet", "jsonl"):
        path = engines.ENGINES[make](table(), tmp_path)
        if make == "csv":  # one that needs no copy is not kept open
            path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
        with open_source(path, text=TextFormat()) as opened:
            source = opened.of(["word"])
            path.unlink()
            silent(lambda source=source: prepared(source, workload, grid.blocks, None)(), caplog)  # type: ignore[misc]


def test_a_closed_connection(caplog: pytest.LogCaptureFixture) -> None:
    """A relation whose connection was closed ends in one sentence."""
    connection = duckdb.connect()
    relation = connection.from_arrow(table())
    connection.close()
    silent(lambda: hn.release(relation, [q.Count("word")], unit="id", privacy=MU), caplog)


def test_lazy_frames_that_fail(caplog: pytest.LogCaptureFixture) -> None:
    """A user's own lazy step that fails on a cell is not quoted."""
    made = pl.DataFrame(pl.from_arrow(table())).lazy()
    lazy = made.with_columns(pl.col("word").cast(pl.Int64))
    silent(lambda: hn.release(lazy, [q.Count("word")], unit="id", privacy=MU), caplog)
    relation = duckdb.connect().from_arrow(table()).project("id, cast(word as integer) as word")
    silent(lambda: hn.release(relation, [q.Count("word")], unit="id", privacy=MU), caplog)


def test_broken_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Files cut off or of another format are not quoted."""
    whole = tmp_path / "whole.parquet"
    pq.write_table(table(), whole)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole.read_bytes()[:-20])
    csv = tmp_path / "cut.csv.gz"
    csv.write_bytes(gzip.compress(f"id,word\n{CANARY},{CANARY}\n".encode() * 50_000)[:-30])
    fake = tmp_path / "fake.parquet"
    fake.write_text(f"id,word\n{CANARY},1\n", encoding="utf-8")
    zipped = tmp_path / "fake.csv.gz"
    zipped.write_text(f"id,word\n{CANARY},1\n", encoding="utf-8")
    for path in (cut, csv, fake, zipped):
        said = silent(
            lambda path=path: hn.release(path, [q.Count("word")], unit="id", privacy=MU),  # type: ignore[misc]
            caplog,
        )
        assert isinstance(said, hn.DataError)
    encoded = TextFormat(encoding="utf-16")
    silent(lambda: hn.release(csv, [q.Count("word")], unit="id", privacy=MU, text=encoded), caplog)


def test_odd_cells_warn_nobody(recwarn: pytest.WarningsRecorder) -> None:
    """Overflow and infinities in cells raise no warning, which would tell that they are there."""
    odd = pd.DataFrame({"x": [1e308, float("inf"), -float("inf"), float("nan"), 2.0**63]})
    hn.release(odd, [q.Sum("x", bounds=(0, 1e40))], row_is_person=True, privacy=MU)
    assert not recwarn.list


def test_types_that_hold_rows(caplog: pytest.LogCaptureFixture) -> None:
    """Frames make names inside structs, and categories, from rows: a type is called, not shown."""
    words = pl.Enum([CANARY])
    inside = {
        "struct": pl.Series([{CANARY: 1}]),
        "struct of words": pl.Series([{"x": CANARY}], dtype=pl.Struct({"x": words})),
        "list of words": pl.Series([[CANARY]], dtype=pl.List(words)),
    }
    made = pl.DataFrame({"id": ["a"], **inside})
    asked = [q.Count, lambda name: q.Sum(name, bounds=(0, 1)), lambda name: q.Choice(name, ["a"])]
    for (name, own), ask in itertools.product(inside.items(), asked):
        silent(lambda n=name, a=ask: hn.release(made, [a(n)], unit="id", privacy=MU), caplog)  # type: ignore[misc]
        silent(lambda n=name: hn.release(made, [q.Count("id")], unit=n, privacy=MU), caplog)  # type: ignore[misc]
        assert CANARY not in kind_of(nw.from_native(own, series_only=True).dtype)


def test_totals_show_nothing() -> None:
    """Totals have a repr without numbers, and so has what holds them."""
    data = pl.DataFrame({"x": [True] * 4321})
    workload = hn.Workload([q.Count("x")])
    grid = grid_for(hn.plan(workload, privacy=MU))
    with open_source(data, text=TextFormat()) as opened:
        source = opened.of(["x"])
        exact = prepared(source, workload, grid.blocks, None)()
        assert isinstance(exact, Totals)
        assert "4321" not in f"{exact!r} {exact!s} {source!r}".replace(hex(id(exact)), "")


def test_quietly_keeps_our_own_words() -> None:
    """Our own errors pass, an engine's do not, and a panic is no exception to that."""

    class PanicError(BaseException):
        """What Polars raises."""

    def panic() -> None:
        raise PanicError(CANARY)

    with pytest.raises(hn.DataError, match=r"^sorry \(PanicError; Python ") as caught:
        quietly(panic, "sorry")
    assert caught.value.__context__ is None
    assert quietly(lambda: 3, "sorry") == 3
    with pytest.raises(KeyboardInterrupt):
        quietly(_interrupt, "sorry")


def _interrupt() -> None:
    raise KeyboardInterrupt


def asked(name: str, cells: object) -> object:
    """Make a workload with something handed over by a keyword."""
    return q.Workload([hn.Count("word")], **{name: cells})


def released(name: str, cells: object) -> object:
    """Make a release with it."""
    given = {"queries": [hn.Count("word")], "privacy": MU, "unit": "id", name: cells}
    return q.release(table(), **given)


ASKED = ("by", "where", "weight", "neighbors", "max_groups", "size_importance")
RELEASED = ("queries", "privacy", "unit", "level", "known_size", "i_know", "noise", "name")
TAKEN: dict[str, Callable[[Any], object]] = {  # what somebody may hand a column to
    **{name: partial(asked, name) for name in ASKED},
    **{name: partial(released, name) for name in RELEASED},
    "column": hn.Count,
    "a comparison": lambda cells: hn.Count("word", true=cells),
    "bounds": lambda cells: hn.Sum("number", bounds=cells),
    "categories": lambda cells: hn.Choice("word", cells),
    "items": lambda cells: hn.Items("word", cells),
    "epsilon": lambda cells: hn.PureDP(epsilon=cells),
    "delimiter": lambda cells: hn.TextFormat(delimiter=cells),
}


@pytest.mark.parametrize("kind", ["pandas", "pandas frame", "polars", "polars frame", "numpy"])
@pytest.mark.parametrize("name", TAKEN)
def test_cells_in_the_place_of_words_are_not_shown(name: str, kind: str) -> None:
    """A column, or a table, where a word or a number belongs is refused by its type."""
    frame = table().select(["word"])
    cells = {
        "pandas": frame["word"].to_pandas(),
        "pandas frame": frame.to_pandas(),
        "polars": pl.Series(frame["word"].to_pylist()),
        "polars frame": pl.DataFrame(frame.to_pydict()),
        "numpy": frame["word"].to_pandas().to_numpy(),
    }[kind]
    if name in ("categories", "items") and kind.endswith("frame"):
        pytest.skip("a frame lists the names of its columns")
    with pytest.raises(hn.InvalidParameterError) as caught:
        TAKEN[name](cells)
    assert CANARY not in str(caught.value)
    assert f"{type(cells).__name__}(...)" in str(caught.value)
