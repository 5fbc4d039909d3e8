"""A bench compares speed, which means something only where both give the same answer."""

import csv
from pathlib import Path
from typing import Any

import duckdb
import pytest
from bench import places, tables
from bench.jobs import JOBS, Job
from bench.made import Maker

import halfnoise as hn
from support.commands import run

NEARLY = 0.01  # what is left of noise and of rounding
NULLS_AS_ZERO = "avg(coalesce(nullif(score, -99), 0))"


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    """Return a maker of files."""
    return Maker(tmp_path_factory.mktemp("bench"))


@pytest.mark.parametrize("name", JOBS)
def test_rivals_give_the_same_answer(maker: Maker, name: str) -> None:
    """Whatever DuckDB finds is among what ours finds."""
    assert not _missed(JOBS[name], JOBS[name].sql, maker)


def test_another_answer_is_noticed(maker: Maker) -> None:
    """A mean that reads no answer as zero is not among what ours finds."""
    assert _missed(JOBS["eight mixed"], f"select {NULLS_AS_ZERO} from {{data}}", maker)


def test_tables_are_those_of_the_rival(tmp_path: Path) -> None:
    """Each table of the bench has as many people in each cell as DuckDB counts there."""
    levels, path = (3, 4, 2, 5), tmp_path / "people.parquet"
    tables.make(levels, 300, path)
    found = hn.release(
        path,
        tables.asked(levels),
        row_is_person=True,
        privacy=hn.GaussianDP(mu=1e6),
        ledger=None,
        i_know=True,
    )
    for query in tables.largest(levels, path):
        rows = duckdb.execute(query).fetchall()
        axes = [name.strip() for name in query.split(" by ")[-1].split(",")]
        (asked,) = (each for each in found.questions if each.name == ",".join(axes))
        cells = found.values[asked.start : asked.start + len(asked.names)].tolist()
        assert sorted(x for x in map(round, cells) if x) == sorted(row[-1] for row in rows)


def test_places_are_those_of_the_rival(tmp_path: Path) -> None:
    """Each place of the bench has as many people as DuckDB counts there."""
    path = tmp_path / "people.parquet"
    places.make((2, 3, 2), 300, path)
    exact: Any = {"privacy": hn.GaussianDP(mu=1e6), "i_know": True, "ledger": None}
    found = hn.release(path, places.asked((2, 3, 2)), row_is_person=True, **exact)
    assert isinstance(found, hn.Release)
    for state, county, tract, sex, number in duckdb.execute(places.counted(path)).fetchall():
        cell = found[f"tract={state} > {county} > {tract}, sex={sex}"]
        assert round(cell.estimate) == number


def _missed(job: Job, sql: str, maker: Maker) -> list[float]:
    """Return the numbers that DuckDB finds and ours does not."""
    made = maker.file(job.kind, "csv", 300)
    exact = ("--mu=1e6", "--i-know", "--no-ledger", "--size-importance=1", "--out=-")
    printed = csv.DictReader(run("release", made.whole, *job.ask, *exact).out.splitlines())
    found = [float(line["estimate"]) for line in printed]
    with duckdb.connect() as connection:
        rows = connection.execute(sql.format(data=made.read(made.whole))).fetchall()
    numbers = [float(cell) for row in rows for cell in row if not isinstance(cell, str)]
    assert numbers
    return [x for x in numbers if all(abs(x - ours) > NEARLY for ours in found)]
