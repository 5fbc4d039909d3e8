"""A spec beside other words: queries in Python, options of the command line, outputs and lists."""

import os
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.spec.toml import gather, read_spec
from halfnoise.spec.words import read
from support.commands import EXACT, PEOPLE, SURVEY, refused, run, write_survey

MU = hn.GaussianDP(mu=1e6)


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Return a small survey."""
    return write_survey(tmp_path)


def spec(folder: Path, text: str) -> Path:
    """Write a spec."""
    path = folder / "release.toml"
    path.write_text(text, encoding="utf-8")
    return path


def rounded(table: Any) -> dict[str, float]:
    """Return estimates without their noise."""
    return {each.name: round(4 * each.estimate) / 4 for each in table}


RULES = (
    'where = "age:at-least:65"',
    'missing = ["1"]',
    'missing = ["30", "70"]\nwhere = "age:above:18"',
    'by = "blood"\ngroups = ["A", "B"]',
    'by = "blood"\ngroups = ["A", "B"]\nother = "none"\nmax-groups = 2\nno-group-sizes = true',
    'neighbors = "replace"\nknown-size = 6',
    'importance = "smoker=4"\nsize-importance = 3\nlevel = 0.5',
    "at-most = 1",
)


@pytest.mark.parametrize("rules", RULES)
def test_rules_stay_beside_queries_in_python(survey: Path, tmp_path: Path, rules: str) -> None:
    """Queries in Python replace those of the spec, and all else holds, as on the command line."""
    path = spec(tmp_path, f'sum = "visits=0:20"\nunit = "person_id"\nmu = 1e6\n{rules}\n')
    (words := tmp_path / "words.toml").write_text(
        f'count = ["smoker", "age:at-least:65"]\nunit = "person_id"\nmu = 1e6\n{rules}\n',
        encoding="utf-8",
    )
    asked = [hn.Count("smoker"), hn.Count("age", name="age at least 65", at_least="65")]
    mine, theirs = hn.release(survey, asked, spec=path), hn.release(survey, spec=words)
    assert [*mine.columns()["name"]] == [*theirs.columns()["name"]]
    for one, other in zip(mine.columns().values(), theirs.columns().values(), strict=True):
        if one.dtype == object:
            assert [*one] == [*other]
        else:
            assert one == pytest.approx(other, abs=0.01)
    assert mine.facts == theirs.facts
    assert mine.level == theirs.level


def test_what_the_spec_no_longer_fits_is_refused(survey: Path, tmp_path: Path) -> None:
    """The importance of a query that is not asked, and rules beside a workload given whole."""
    path = spec(
        tmp_path, 'sum = "visits=0:20"\nimportance = "visits=2"\nunit = "person_id"\nmu = 1'
    )
    with pytest.raises(hn.InvalidParameterError, match="importance must be given for the name of"):
        hn.release(survey, [hn.Count("smoker")], spec=path)
    with pytest.raises(hn.InvalidParameterError, match=r"rules for a workload \(importance\)"):
        hn.release(survey, hn.Workload([hn.Count("smoker")]), spec=path)
    path = spec(tmp_path, 'sum = "visits=0:20"\nunit = "person_id"\nmu = 1e6')
    assert rounded(hn.release(survey, hn.Workload([hn.Count("q_a")]), spec=path))["q_a"] == 4
    wrong: Any
    for wrong in ("smoker", 3, [], ["smoker"]):
        with pytest.raises(hn.InvalidParameterError):
            hn.release(survey, wrong, spec=path)


def test_python_wins_and_conditions_join(survey: Path, tmp_path: Path) -> None:
    """What Python says too replaces the word of the spec; a condition holds beside the spec's."""
    text = 'count = ["q_a"]\nunit = "person_id"\nmu = 1e6\nwhere = "age:at-least:65"\n'
    text += 'missing = ["70"]\nby = "blood"\ngroups = ["A", "B"]\nsize-dial = 9\n'
    path = spec(tmp_path, text)
    table = hn.release(
        survey, spec=path, groups=["O"], where=hn.Where("visits", up_to=20), size_importance=0.5
    )
    assert isinstance(table, hn.GroupedRelease)
    assert table.keys() == ["O", "other"]
    assert table.facts["where"] == ["age at least 65", "visits up to 20"]
    assert round(table["O"]["q_a"].estimate) == 1
    assert round(table["other"]["q_a"].estimate) == 1  # p6, as 70 stands for no answer


def test_items_take_the_limit_of_the_spec(survey: Path, tmp_path: Path) -> None:
    """On the command line at-most is the limit of items; an own limit wins."""
    path = spec(tmp_path, 'count = "smoker"\nat-most = 1\nunit = "person_id"\nmu = 1e6')
    for own, most in ((None, 1), (2, 2)):
        asked = [hn.Items("blood", ["A", "B", "O"], at_most=own)]
        stored = read(read_spec(path, {}), asked=asked).workload
        (query,) = stored.queries
        assert isinstance(query, hn.Items)
        assert query.at_most == most
        assert rounded(hn.release(survey, asked, spec=path))["blood=A"] == 2


def test_conditions_and_codes_join_those_of_a_spec(survey: Path, tmp_path: Path) -> None:
    """They hold together, and each list is looked for where it was named."""
    (folder := tmp_path / "specs").mkdir()
    (folder / "blood.txt").write_text("A\nB\n", encoding="utf-8")
    (tmp_path / "codes.txt").write_text("70\n", encoding="utf-8")
    path = spec(folder, 'count = "q_a"\nwhere = "blood:in:@blood.txt"\nmissing = ["80"]\n')
    codes = ("--missing", f"@{tmp_path / 'codes.txt'}")
    words = ("release", survey, "--spec", path, *EXACT)
    assert run(*words).table["q_a"] == 2
    assert run(*words, "--where", "age:at-least:1").table == {"number of people": 2, "q_a": 1}
    both = run(*words, "--where", "age:at-least:1", *codes)
    assert both.table == {"number of people": 1, "q_a": 0}
    said = gather({"spec": path, "where": ["age:at-least:1"], "missing": ["70"]})
    asked = read(said)
    assert [str(each) for each in asked.workload.who] == ["blood is in A, B", "age at least 1"]
    assert asked.workload.who[0].missing == ("80", "70")
    saved = folder / "saved.toml"
    ran = run(
        "plan", survey, "--spec", path, *EXACT, "--where", "age:above:1", "--save-spec", saved
    )
    assert ran.status == 0, ran.err
    assert read_spec(saved, {})["where"] == ["blood:in:@blood.txt", "age:above:1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('unit = ["person_id,age"]', "unit in the spec must be a list of single values"),
        ('by = ["blood,age"]\ngroups = "A"', "by in the spec must be a list of single values"),
        ('level = ""', "level in the spec must be given a value"),
        ('epsilon = " "', "epsilon in the spec must be given a value"),
        ('where = ""', "where in the spec must be given a value"),
        ('count = ["smoker", ""]', "count in the spec must be given a value"),
        ('groups = ["a\\nb", "c"]\nby = "blood"', "a list must stand on one line"),
        ('groups = "a\\nb,c"\nby = "blood"', "a list must stand on one line"),
        ('choice = "blood=a\\nb"', "a list must stand on one line"),
        ('missing = ["a\\nb"]', "a list must stand on one line"),
        ('unit = ["person_id", "person_id"]', "unit must be columns that are each named once"),
        ("epsilon = {e}", 'a place to fill stands in quotes: "{e}"'),
    ],
)
def test_what_a_spec_cannot_say(survey: Path, tmp_path: Path, text: str, said: str) -> None:
    """One sentence each, and none in the words of a parser of ours."""
    more = "" if text.startswith("count") else 'count = "smoker"\n'
    assert said in refused("plan", survey, "--spec", spec(tmp_path, more + text))


def test_words_that_are_empty_or_said_twice(survey: Path) -> None:
    """On the command line too."""
    words = ("plan", survey, "--count", "smoker", "--mu", "1")
    assert "named once" in refused(*words, *PEOPLE, *PEOPLE)
    assert "named once" in refused(*words, "--unit", "person_id,person_id")
    assert "--level must be a number" in refused(*words, *PEOPLE, "--level", "")
    assert "on one line" in refused(*words, "--missing", "a\nb,c")
    with pytest.raises(hn.InvalidParameterError, match="named once"):
        hn.release(survey, [hn.Count("smoker")], unit=["age", "age"], privacy=MU)


def test_columns_are_saved_as_they_are_read(tmp_path: Path) -> None:
    """Several columns in one text, and one column with a comma."""
    path = tmp_path / "odd.csv"
    path.write_text('"a,b",c,d,x\n1,2,3,1\n', encoding="utf-8")
    for unit, by, saved in (("a,b", "c,d", ['"a,b"']), ("c,d", "a,b", ["c", "d"])):
        words = ("plan", path, "--count", "x", "--unit", unit, "--by", by, "--mu", "1")
        groups = ("--groups", "1,", "--groups", "2,") if by == "c,d" else ("--groups", "1,")
        ran = run(*words, *groups, "--save-spec", tmp_path / "s.toml", "--overwrite")
        assert ran.status == 0, ran.err
        assert read_spec(tmp_path / "s.toml", {})["unit"] == saved
        assert run("plan", path, "--spec", tmp_path / "s.toml").out == ran.out


@pytest.mark.parametrize("kind", ['"{x}"', "'{x}'", '"""{x}"""', "'''{x}'''"])
def test_what_fills_a_place_stays_text(tmp_path: Path, kind: str) -> None:
    """Whatever quotes are around a place, nothing that fills it becomes another value."""
    path = spec(tmp_path, f"where = [{kind}]\n# a {{place}} in a comment is none")
    for value in ('a"b', "a'b", "a', 'b", 'a", "b', "a\\b", "a\\u0041", "\n", "'''", '"""', "{x}"):
        assert read_spec(path, {"x": f"c:is:{value}"})["where"] == [f"c:is:{value}"]
    path = spec(tmp_path, f"missing = [{kind}]")
    with pytest.raises(hn.InvalidParameterError, match="a list of single values"):
        read_spec(path, {"x": "a,b"})
    with pytest.raises(hn.InvalidParameterError, match="the parameter x must be text"):
        read_spec(path, {"x": 1})  # type: ignore[dict-item]  # as somebody may


@pytest.mark.parametrize("other", ["t.csv", "./t.csv", "sub/../t.csv", "away/t.csv", "link.toml"])
def test_outputs_are_different_files(
    survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """A saved spec never takes the place of the release, whatever both are called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "away").symlink_to(tmp_path)
    (tmp_path / "link.toml").symlink_to("t.csv")
    words = ("release", survey, "--count", "smoker", *EXACT, "--out", "t.csv")
    for more in ((), ("--overwrite",)):
        said = refused(*words, "--save-spec", other, *more)
        assert "another file than --out" in said or "exists" in said
        assert not (tmp_path / "t.csv").exists()
    assert run(*words, "--save-spec", "s.toml").status == 0


def test_outputs_spare_lists_and_specs(survey: Path, tmp_path: Path) -> None:
    """What the words are read from is not overwritten by what they say."""
    (listed := tmp_path / "blood.csv").write_text("A\nB\n", encoding="utf-8")
    os.link(listed, tmp_path / "hard.csv")
    path = spec(tmp_path, f'choice = "blood=@{listed.name}"\nmu = 1\nunit = "person_id"')
    path.rename(path := tmp_path / "release.json")
    own = ("--choice", f"blood=@{listed}", *PEOPLE, "--mu", "1")
    where = ("--count", f"x=blood:in:@{listed}", *PEOPLE, "--mu", "1")
    for words in (own, where, ("--spec", str(path))):
        for target in (listed, tmp_path / "hard.csv"):
            for flag in ("--save-spec", "--out"):
                said = refused("release", survey, *words, flag, target, "--overwrite")
                assert "another file than the input" in said
    said = refused("release", survey, "--spec", path, "--out", path, "--overwrite")
    assert "another file than the input" in said
    assert listed.read_text(encoding="utf-8") == "A\nB\n"
    assert survey.read_text(encoding="utf-8") == SURVEY
