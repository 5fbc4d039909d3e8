"""Tables on the command line: planned, checked, released, refused."""

import csv
import json
import random
from pathlib import Path

import pytest

from support import stored
from support.commands import EXACT, refused, run

AXES = ("--choice", "sex=f,m", "--bins", "age=18,65", "--choice", "region=@regions.txt")
TABLE = (*AXES, "--table", "sex,age,region")
BY = ("--mean", "pay=0:9", "--by-cell", "pay=sex,region")


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a made-up survey of 60 people, with a list of regions beside it."""
    monkeypatch.chdir(tmp_path)
    Path("regions.txt").write_text("north\nsouth\n", encoding="utf-8")
    chance = random.Random(7)
    with Path("survey.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["person_id", "sex", "age", "region", "pay"])
        for i in range(60):
            sex, region = chance.choice(["f", "m", ""]), chance.choice(["north", "south", "?"])
            rows.writerow([f"p{i}", sex, chance.randrange(90), region, chance.randrange(9)])
    return Path("survey.csv")


def cells(survey: Path, *named: str) -> dict[str, int]:
    """Count people in cells, slowly."""
    found: dict[str, int] = {}
    with survey.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            age = int(row["age"])
            kept = {
                "sex": row["sex"] or "other",
                "age": "other" if age < 18 else "18 to 65" if age < 65 else "65 and over",
                "region": "other" if row["region"] == "?" else row["region"],
            }
            name = ", ".join(f"{axis}={kept[axis]}" for axis in named)
            found[name] = found.get(name, 0) + 1
    return found


def test_a_table_is_released_with_its_margins(survey: Path) -> None:
    """All cells are there, in every table, and the axes are asked for as well."""
    ran = run("release", survey, *TABLE, *EXACT)
    assert ran.status == 0, ran.err
    for named in (["sex", "age", "region"], ["sex", "age"], ["sex"], ["region"]):
        assert cells(survey, *named).items() <= ran.table.items()
    assert ran.table["number of people"] == 60


def test_a_plan_has_a_block_for_each_table(survey: Path) -> None:
    """Its label is the axes as they were said, and asked tables come first."""
    ran = run("plan", survey, *TABLE, "--table", "sex,age", *BY, "--mu", "1", "--json")
    assert ran.status == 0, ran.err
    (*_, design) = json.loads(ran.out)["designs"]
    shown = [(each["kind"], each["label"], each["queries"]) for each in design["blocks"]]
    asked = [each["asked"] for each in design["blocks"]]
    assert ("table", "sex,age,region", 27) in shown[: asked.count(True)]
    assert ("table", "sex,age", 9) in shown[: asked.count(True)]
    assert ("mean", "pay by sex,region", 9) in shown[: asked.count(True)]
    assert ("table", "age,region", 9) in shown[asked.count(True) :]
    assert asked == sorted(asked, reverse=True)


def test_people_tell_what_is_mostly_noise(survey: Path) -> None:
    """For so many people a plan and a check say how large errors are beside a cell."""
    for many, noisy in ((60, True), (200_000, False)):
        words = (survey, *TABLE, "--people", str(many), "--unit", "person_id", "--mu", "1")
        for command in ("plan", "check"):
            ran = run(command, *words)
            assert ran.status == 0, ran.err
            assert "average cell" in ran.out
            assert ("Mostly noise" in ran.out) is noisy
    known = run("plan", *TABLE, "--known-size", "60", "--mu", "1").out
    assert "Mostly noise" in known
    assert "--people must be a number, got 'x'" in refused("plan", *TABLE, "--people", "x")


def test_a_check_says_what_a_table_will_have(survey: Path) -> None:
    """Cells, how many, by which axes; and what is refused beside them."""
    ran = run("check", survey, *TABLE, *BY, "--unit", "person_id", "--mu", "1")
    assert ran.status == 0, ran.err
    assert "table 'sex,age,region': people by sex, age and region, with all margins" in ran.out
    assert "  27 cells: 3 x 3 x 3, with what is missing or not listed" in ran.out
    assert "  in each cell of sex x region, with all margins" in ran.out
    bad = run("check", survey, *TABLE, "--table", "sex,zzz", "--table", "sex,sex", "--mu", "1")
    assert bad.status == 2
    assert "got 'zzz'" in bad.out
    assert "name each one once" in bad.out
    assert "27 cells" in bad.out
    nameless = run("check", survey, "--choice", "3", "--bins", "age=18", "--table", "(choice),age")
    assert "--choice must be given a column to release" in nameless.out


def test_weights(survey: Path) -> None:
    """A table that weighs more has less error, and so have margins that do."""

    def std(label: str, *words: str) -> float:
        ran = run("plan", *TABLE, "--table", "sex,region", *words, "--mu", "1", "--json")
        (*_, design) = json.loads(ran.out)["designs"]
        (found,) = (each["std"] for each in design["blocks"] if each["label"] == label)
        return float(found)

    assert survey.exists()
    assert std("sex,region", "--importance", "sex,region=9") < std("sex,region")
    assert std("sex,age", "--margins", "1") < std("sex,age")
    assert std("sex,age", "--objective", "largest") != std("sex,age", "--objective", "total")
    assert "'total' or 'largest', got 'x'" in refused("plan", *TABLE, "--objective", "x")
    assert std("sex,age", "--margins", "0.01") == std("sex,age")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--epsilon", "1"), "Gaussian noise, got"),
        (("--epsilon", "1", "--delta", "1e-6", "--noise", "laplace"), "Gaussian noise, got"),
        (("--mu", "1", "--table", "sex,age,region"), "'sex,age,region' is asked twice"),
        (("--mu", "1", "--choice", "sex=a,b"), "is asked twice"),
        (("--mu", "1", "--bins", "sex=1,2"), "asked twice"),
        (("--mu", "1", "--importance", "sex,ages=2"), "did you mean 'sex,age,region'?"),
        (("--mu", "1", "--margins", "1", "--margins", "2"), "--margins is said twice"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], said: str, survey: Path) -> None:
    """Before any row is read, in one sentence."""
    assert said in refused("release", survey, *TABLE, *words, "--row-is-person")


def test_the_table_of_a_file_is_still_a_table(tmp_path: Path, survey: Path) -> None:
    """In a file with tables, a name alone says which; beside tables of people too."""
    names, *rows = csv.reader(survey.read_text(encoding="utf-8").splitlines())
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    path = stored.sqlite(columns, tmp_path)
    both = ("--table", "visits", "--table", "sex,age")
    for words in (both, ("--file-table", "visits", "--table", "sex,age")):
        ran = run("release", path, *AXES, *words, *EXACT)
        assert ran.status == 0, ran.err
        assert cells(survey, "sex", "age").items() <= ran.table.items()
    assert run("spec", path, "--table", "visits").status == 0
    assert "left out where a file is one table, got 'visits'" in refused(
        "release", survey, *AXES, *both, *EXACT
    )


def test_a_saved_spec_says_the_same(survey: Path) -> None:
    """Tables, weights and values by cell come back."""
    words = (*TABLE, "--margins", "0.1", *BY, "--by-cell", "pay=sex", "--importance", "pay=2")
    first = run("plan", survey, *words, "--mu", "1", "--save-spec", "a.toml")
    assert first.status == 0, first.err
    again = run("plan", survey, "--spec", "a.toml")
    assert (again.status, again.out) == (0, first.out)
