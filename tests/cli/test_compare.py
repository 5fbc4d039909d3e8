"""halfnoise compare: two releases from their files."""

import csv
import io
import json
from pathlib import Path

import pytest

import halfnoise as hn
from support.commands import refused, run, write_survey

SIZED = ("--size-importance", "1", "--unit", "person_id", "--mu", "1")
ASKED = ("--count", "smoker", "--mean", "age=0:100", *SIZED)


@pytest.fixture
def years(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Release a survey twice, and stand beside the files."""
    monkeypatch.chdir(tmp_path)
    survey = write_survey(tmp_path)
    for name in ("2025.json", "2026.json"):
        assert run("release", survey, *ASKED, "--out", name).status == 0
    return "2025.json", "2026.json"


def test_what_changed_is_printed(years: tuple[str, str]) -> None:
    """A table and what goes with it; the later release comes last."""
    ran = run("compare", *years)
    assert ran.status == 0
    assert "difference" in ran.out
    assert "The same people may be in both" in ran.out
    earlier, later = (hn.Release.from_json(Path(name).read_text("utf-8")) for name in years)
    told = json.loads(run("compare", *years, "--json").out)
    assert told == later.compare(earlier).to_dict()
    shares = json.loads(run("compare", *years, "--shares", "--level", "0.5", "--json").out)
    assert shares == later.compare(earlier, shares=True, level=0.5).to_dict()


def test_files_hold_the_same_numbers(years: tuple[str, str]) -> None:
    """CSV to the last digit; Markdown as it is shown; what goes with them on the side."""
    told = json.loads(run("compare", *years, "--json").out)
    ran = run("compare", *years, "--out", "change.csv")
    assert (ran.status, ran.out) == (0, "")
    assert "The same people may be in both" in ran.err
    rows = [*csv.DictReader(io.StringIO(Path("change.csv").read_text("utf-8-sig")))]
    assert [float(row["difference"]) for row in rows] == [x["difference"] for x in told["rows"]]
    assert run("compare", *years, "--out", "change.json").status == 0
    assert json.loads(Path("change.json").read_text("utf-8")) == told
    assert run("compare", *years, "--out", "change.md").status == 0
    assert "| smoker |" in Path("change.md").read_text("utf-8")


def test_mistakes_are_told(years: tuple[str, str]) -> None:
    """A file that is none, or there already, one release twice, a level that is none."""
    assert "could not be read" in refused("compare", "2024.json", years[1], status=3)
    Path("odd.json").write_text("{}", encoding="utf-8")
    assert "'odd.json': this is not the JSON of a release" in refused(
        "compare", "odd.json", years[1], status=3
    )
    assert "the same release" in refused("compare", years[0], years[0])
    assert "--level must be a number" in refused("compare", *years, "--level", "high")
    assert ".csv, .json, .md" in refused("compare", *years, "--out", "change.txt")
    assert "another file than the input" in refused(
        "compare", *years, "--out", years[0], "--overwrite"
    )
    Path("there.csv").write_text("", encoding="utf-8")
    assert "--overwrite" in refused("compare", *years, "--out", "there.csv")
