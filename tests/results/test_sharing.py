import copy
import pickle
import subprocess
import sys
from collections.abc import Callable

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.checks import installed
from halfnoise.results.release import Released
from halfnoise.workload.listing import Key
from halfnoise.workload.question import SIZE
from support.grouped import EVERY_TYPE, PEOPLE, WORKLOAD, made
from support.replay import many


def one() -> hn.Release:
    """Release a table of fixed totals."""
    return many(WORKLOAD, hn.GaussianDP(mu=1), people=1000, rows=1).one


def both() -> list[Released]:
    """Return a release without groups and one with groups."""
    return [one(), made()]


def by_duckdb(release: Released) -> pl.DataFrame:
    """Read a release by its name, as DuckDB reads every variable that offers a stream."""
    assert release is not None
    rows = duckdb.sql("select * from release")
    assert rows is not None
    return pl.DataFrame(rows.fetchall(), schema=rows.columns, orient="row")


READERS: dict[str, Callable[[Released], pl.DataFrame]] = {
    "polars": pl.DataFrame,
    "pyarrow": lambda release: pl.DataFrame(pa.table(release)),
    "to_arrow": lambda release: pl.DataFrame(release.to_arrow()),
    "pandas": lambda release: pl.DataFrame(
        {str(k): v.tolist() for k, v in installed("pandas").DataFrame.from_arrow(release).items()}
    ),
    "duckdb": by_duckdb,
}


@pytest.mark.parametrize("reader", READERS)
def test_every_library_reads_a_release(reader: str) -> None:
    """Each library of frames reads a release as it is, with the rows that columns() has."""
    for release in both():
        frame = READERS[reader](release)
        assert frame.columns == list(release.columns())
        for title, column in release.columns().items():
            assert frame[title].to_list() == column.tolist()


@pytest.mark.parametrize("key", EVERY_TYPE)
def test_arrow_keeps_types(key: Key) -> None:
    """Keys of one type keep it, and where there is no group the columns still have theirs."""
    frame = pl.DataFrame(made((key, key)))
    assert frame["region"].to_list() == [key[0]] * len(frame)
    assert {type(each) for each in frame["region"]} == {type(key[0])}
    none = pl.DataFrame(made((), discovered=True))
    assert len(none) == 0
    assert none.drop("region").schema == frame.drop("region").schema


def test_a_stream_needs_no_pyarrow() -> None:
    """The stream comes from DuckDB, which is always there."""
    code = (
        "import sys\nsys.modules['pyarrow'] = None\n"
        "import halfnoise as hn, polars as pl\n"
        "frame = pl.DataFrame({'a': [True, False]})\n"
        "budget = hn.GaussianDP(mu=1)\n"
        "table = hn.release(frame, [hn.Count('a')], row_is_person=True, privacy=budget)\n"
        "print(pl.DataFrame(table)['name'].to_list()[-1])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.stdout.strip(), ran.returncode) == ("a", 0), ran.stderr


def test_names_are_in_a_release() -> None:
    """What a subscript takes is in a release, and nothing else is."""
    release = one()
    for name in (*release.names, "age", SIZE):
        assert name in release
        assert release[name].name == name
    for other in ("smokers", "", 3, None, release["smoker"]):
        assert other not in release
    without = many(
        hn.Workload([hn.Count("a"), hn.Count("b")], at_most=1), hn.GaussianDP(mu=1), rows=1
    ).one
    assert SIZE not in without
    with pytest.raises(KeyError):
        without[SIZE]


@pytest.mark.parametrize("name", ["smokr", "agee", "nroth"])
def test_an_unknown_name_is_a_key_error(name: str) -> None:
    """It is caught as a KeyError and as what every other wrong value is, and says the nearest."""
    names, keys = {"smokr": "smoker", "agee": "age"}, {"nroth": "north"}
    for release, near in ((one(), names), (made(), keys)):
        with pytest.raises(KeyError) as caught:
            release[name]
        assert isinstance(caught.value, hn.UnknownNameError)
        assert isinstance(caught.value, hn.InvalidParameterError)
        said = str(caught.value)
        assert said.startswith(("name must be one of 'smoker', ", "group must be one of 'north', "))
        hint = f"; did you mean {near[name]!r}?" if name in near else ""
        assert said.endswith(f"got {name!r}{hint}")


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda release: pickle.loads(pickle.dumps(release))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_are_the_same(again: Callable[[Released], Released]) -> None:
    """A copy, shallow, deep or through pickle, concludes the same and cannot be changed either."""
    for release in (one().rounded(), one().with_known_size(999), made(EVERY_TYPE, people=PEOPLE)):
        same = again(release)
        assert type(same) is type(release)
        assert same.to_json() == release.to_json()
        with pytest.raises(ValueError, match="read-only"):
            same.values[0] = 1.0
    grouped = again(made(EVERY_TYPE))
    assert isinstance(grouped, hn.GroupedRelease)
    assert list(grouped) == [key for (key,) in EVERY_TYPE]
    assert np.array_equal(grouped[True].values, grouped.values[3])
