import hashlib
from pathlib import Path

import duckdb
import pytest

from halfnoise.cli import demo
from halfnoise.cli.demo import CONDITIONS, PEOPLE, QUERIES, write_survey
from support.commands import refused, run


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Run the demonstration once."""
    folder = tmp_path_factory.mktemp("demo")
    ran = run("demo", "--folder", folder)
    assert (ran.status, ran.err) == (0, "")
    return folder, ran.out


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    """Write the survey once more, and keep what is true of it."""
    path, truth = write_survey(tmp_path_factory.mktemp("again"))
    return path, dict(truth)


def rows(text: str) -> dict[str, list[str]]:
    """Return the table's cells by name of estimate."""
    lines = text.split("standard margin\n")[1].split("\n\n", maxsplit=1)[0].splitlines()
    cells = [line.split("  ") for line in lines]
    return {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in cells}


def test_the_survey_is_the_same_each_time(
    shown: tuple[Path, str], again: tuple[Path, dict[str, float]]
) -> None:
    """The people who do not exist are the same, byte for byte."""
    (first,) = shown[0].iterdir()
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (first, again[0])}
    assert len(digests) == 1
    assert f"is in {first}." in shown[1]


def test_the_survey_is_as_described(shown: tuple[Path, str]) -> None:
    """It has 200,000 people, 24 conditions, a choice, visits, spending with gaps, and regions."""
    (path,) = shown[0].iterdir()
    table = duckdb.read_csv(str(path))
    assert len(CONDITIONS) == 24
    named = {"person", *CONDITIONS, "visits", "spending", "exercise", "region"}
    assert set(table.columns) == named
    counted = "count(distinct person), count(spending), count(*)"
    people, answered, total = table.aggregate(counted).fetchall()[0]
    assert people == total == PEOPLE == 200_000
    assert 0.8 < answered / PEOPLE < 0.9


def test_truth_stands_beside_the_private_table(shown: tuple[Path, str]) -> None:
    """Every estimate has its margin, the true value, and the margin of the usual way."""
    found = rows(shown[1])
    assert found.keys() == {
        "number of people",
        "spending",
        *(name for query in QUERIES for name in query.names),
    }
    assert found["number of people"][2].split(".")[0] == "200,000"
    for name in CONDITIONS:
        private, margin, true, usual = found[name]
        # Ten margins are twenty standard errors: once in 10^80 runs.
        value, reach = float(margin[1:]), float(usual[1:])
        distance = float(private.replace(",", "")) - float(true.replace(",", ""))
        assert abs(distance) < 10 * value
        assert value < 0.7 * reach


def test_the_truth_is_true(again: tuple[Path, dict[str, float]]) -> None:
    """The true values are those of the file."""
    path, truth = again
    said = "sum(asthma), sum(visits), avg(spending), count(spending)"
    asthma, visits, spending, answered = duckdb.read_csv(str(path)).aggregate(said).fetchall()[0]
    assert truth["asthma"] == float(asthma)
    assert truth["visits"] == float(visits)
    assert truth["spending answered"] == float(answered)
    assert truth["spending"] == pytest.approx(float(spending), rel=1e-9)


@pytest.mark.usefixtures("ledgers")
def test_the_commands_it_suggests_work(shown: tuple[Path, str]) -> None:
    """The last lines can be run as they stand."""
    release, show = (line.split() for line in shown[1].splitlines()[-2:])
    assert release[0] == show[0] == "halfnoise"
    ran = run(*release[1:])
    assert ran.status == 0
    assert "asthma" in ran.table
    assert "One release so far" in run(*show[1:]).out


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    """A folder that cannot be made is refused with one sentence."""
    path = tmp_path / "file"
    path.touch()
    assert "must be a folder that can be written to" in refused("demo", "--folder", path)


def test_no_survey_of_yours_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The made-up survey has a name of its own, so that it replaces no survey.csv."""
    monkeypatch.setattr(demo, "PEOPLE", 10)
    mine = tmp_path / "survey.csv"
    mine.write_text("mine", encoding="utf-8")
    write_survey(tmp_path)
    assert mine.read_text(encoding="utf-8") == "mine"
