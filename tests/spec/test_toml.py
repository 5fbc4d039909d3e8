import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import halfnoise as hn
from halfnoise.cli.options import OPTIONS
from halfnoise.spec.header import Header
from halfnoise.spec.toml import _filled, gather, read_spec, write_spec
from halfnoise.spec.vocabulary import LISTS, WORDS
from halfnoise.spec.words import read, text_format
from support.commands import EXACT, PEOPLE, refused, run, write_survey

SAID = {
    "count": ["smoker", "old=age:at-least:65"],
    "sum": ["visits=0:20"],
    "mean": ["income=0:1000"],
    "choice": ["blood=A,B,AB,O"],
    "bins": ["age=0,18,65"],
    "missing": ["-99", "N/A"],
    "importance": ["smoker=2"],
    "unit": ["person_id"],
    "mu": "1e6",
    "level": "0.9",
}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Return a small survey."""
    return write_survey(tmp_path)


def spec(folder: Path, text: str) -> Path:
    """Write a spec."""
    path = folder / "release.toml"
    path.write_text(text, encoding="utf-8")
    return path


def words_of(said: dict[str, object]) -> list[str]:
    """Spell what was said on the command line."""
    pairs = [
        (f"--{name}", str(each))
        for name, value in said.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    return [word for pair in pairs for word in pair]


ABOUT_SPECS = ("spec", "set", "save-spec")
WHERE_IT_RUNS = ("engine", "spark-master", "memory", "scratch")


def test_a_spec_knows_every_word_of_the_command() -> None:
    """What both commands can ask for, a spec can, but for words about specs, and where it runs."""
    options = {option.word for option in OPTIONS}
    assert options - {*ABOUT_SPECS, *WHERE_IT_RUNS} == set(WORDS)
    assert {option.word for option in OPTIONS if option.many} - {"set"} == set(LISTS)


def test_saved_and_read_is_the_same_request(survey: Path, tmp_path: Path) -> None:
    """A saved spec asks for what the words asked for."""
    path = tmp_path / "saved.toml"
    ran = run("release", survey, *words_of({**SAID}), "--dry-run", "--save-spec", path)
    assert ran.status == 0, ran.err
    assert read(read_spec(path, {})) == read(SAID)
    again = run("release", survey, "--spec", path, "--dry-run")
    assert again.out == ran.out
    first, second = (
        run("release", survey, *words) for words in (words_of({**SAID}), ("--spec", str(path)))
    )
    assert first.table == second.table


def test_python_takes_the_spec(survey: Path, tmp_path: Path) -> None:
    """The library releases what the spec says."""
    path = spec(tmp_path, write_spec(SAID))
    table = hn.release(survey, spec=path)
    assert {each.name: round(each.estimate) for each in table}["visits"] == 48
    assert table.facts["unit"] == ["person_id"]


def test_a_place_is_filled(survey: Path, tmp_path: Path) -> None:
    """A spec with a place is filled by --set, and by parameters in Python."""
    path = spec(tmp_path, 'count = ["recent=day:at-least:{day}"]\nunit = "person_id"\nmu = 1e6')
    ran = run("release", survey, "--spec", path, "--set", "day=2026-05-05")
    assert ran.table["recent"] == 2
    table = hn.release(survey, spec=path, parameters={"day": "2026-06-05"})
    assert isinstance(table, hn.Release)
    assert round(table["recent"].estimate) == 1
    assert "say --set day=..." in refused("release", survey, "--spec", path)
    both = ("--set", "day=1", "--set", "month=2")
    assert "no {month} to fill" in refused("release", survey, "--spec", path, *both)
    assert "written NAME=VALUE" in refused("release", survey, "--spec", path, "--set", "day")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(min_size=1).filter(lambda text: text.isprintable() or "\x7f" in text))
@example("{a}")
@example("{{a}}")
@example("{{{a}} {{{{b}}")
def test_any_text_survives(text: str) -> None:
    """Quotes, braces, emoji and control characters come back as they were."""
    said = tomllib.loads(write_spec({"count": [text]}))
    assert _filled(said, {})["count"] == [text]


def test_any_value_fills_a_place(tmp_path: Path) -> None:
    """A value with quotes, braces, backslashes or emoji fills a place as it is."""
    path = spec(tmp_path, 'where = "town:is:{town}"')
    for town in ('a"b', "{town}", "a\\b", "🙂", "größe"):
        assert read_spec(path, {"town": town})["where"] == [f"town:is:{town}"]


def test_braces_in_names_are_no_places(tmp_path: Path) -> None:
    """A saved column called {x} does not ask for --set."""
    path = spec(tmp_path, write_spec({"count": ["{x}"]}))
    assert read_spec(path, {})["count"] == ["{x}"]


def test_plain_toml_values_will_do(tmp_path: Path) -> None:
    """Numbers, days and single texts are understood where text or a list is usual."""
    path = spec(
        tmp_path, 'count = "a"\nepsilon = 1\ndelta = 1e-6\nrow-is-person = true\nlevel = 0.9'
    )
    asked = read(read_spec(path, {}))
    assert asked.privacy == hn.ApproxDP(epsilon=1, delta=1e-6)
    assert asked.row_is_person
    assert asked.level == 0.9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("count = ", "is not TOML"),
        ('counts_of = "a"', "a word of the spec must be one of count"),
        ("count = true", "count in the spec must be text, a number, or a list"),
        ("epsilon = true", "epsilon in the spec must be text"),
        ("count = [[1]]", "count in the spec must be text"),
        ("[count]\na = 1", "count in the spec must be text"),
        ('row-is-person = "no"', "row-is-person in the spec must be true or false, got 'no'"),
    ],
)
def test_bad_specs_get_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    """What a spec cannot say is refused by its word."""
    assert said in refused("plan", "--spec", spec(tmp_path, text))


def test_a_spec_that_is_no_text(tmp_path: Path) -> None:
    """A spec in another encoding is refused without a traceback."""
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert "could not be read; name a TOML file" in refused("plan", "--spec", path)


@pytest.mark.parametrize(
    ("stored", "said", "expected"),
    [
        ({"epsilon": 1, "delta": 1e-6}, {"mu": "2"}, {"mu": "2"}),
        ({"epsilon": 1, "delta": 1e-6}, {"epsilon": "2"}, {"epsilon": "2", "delta": "1e-06"}),
        ({"epsilon": 1, "delta": 1e-6}, {"delta": "1e-9"}, {"epsilon": "1", "delta": "1e-9"}),
        ({"mu": 1}, {"epsilon": "2"}, {"epsilon": "2"}),
        ({"unit": "a"}, {"row-is-person": True}, {"row-is-person": True}),
        ({"size-dial": 5}, {"size-importance": "1"}, {"size-importance": "1"}),
        ({"count": ["a"], "sum": ["x=0:1"]}, {"count": ["b"]}, {"sum": ["x=0:1"], "count": ["b"]}),
    ],
)
def test_the_command_line_wins(
    tmp_path: Path, stored: dict[str, object], said: dict[str, object], expected: dict[str, object]
) -> None:
    """What is said replaces what is stored, and whatever would contradict it."""
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in stored.items())
    found = gather({"spec": spec(tmp_path, text), **said})
    assert set(found.pop("beside")) == set(expected) - set(said)
    assert found == expected


def test_a_spec_is_not_overwritten(survey: Path, tmp_path: Path) -> None:
    """A spec that exists is replaced only when asked to, and never the table beside it."""
    path = spec(tmp_path, "mine")
    words = ("plan", survey, "--count", "smoker", *EXACT, "--save-spec")
    assert "exists" in refused(*words, path)
    assert path.read_text(encoding="utf-8") == "mine"
    assert run(*words, path, "--overwrite").status == 0
    assert read_spec(path, {})["count"] == ["smoker"]
    out = tmp_path / "table.csv"
    out.touch()
    both = ("release", survey, "--count", "smoker", *EXACT, "--overwrite", "--out", out)
    assert "another file than --out" in refused(*both, "--save-spec", out)


def test_units_may_hold_a_comma(tmp_path: Path) -> None:
    """A column whose name holds a comma is one column where the table has it."""
    said = {"count": ["x"], "unit": ["last, first"]}
    assert read(said, Header(["last, first", "x"])).unit == ("last, first",)
    assert read(said, Header(["last", "first", "x"])).unit == ("last", "first")
    path = tmp_path / "people.csv"
    path.write_text('"last, first",x\n"Ada, L",1\n"Ada, L",0\n', encoding="utf-8")
    ran = run("release", path, "--count", "x", "--unit", "last, first", "--mu", "1e6")
    assert ran.table == {"number of people": 1, "x": 1}


def test_budget_words_reach_the_request() -> None:
    """A known size, a delta for outlooks and text formats are part of a request."""
    asked = read({"counts": "3", "delta": "1e-9", "known-size": "10"})
    assert (asked.delta, asked.known_size) == (1e-9, 10)
    assert read({"counts": "3", "known-size": ""}).known_size is None
    for mark in ("tab", "\\t"):
        assert text_format({"delimiter": mark, "quote": "none"}).delimiter == "\t"
    assert text_format({"quote": "none"}).quote is None


def test_a_refused_release_saves_no_spec(survey: Path, tmp_path: Path) -> None:
    """A refused release saves no spec."""
    path = tmp_path / "saved.toml"
    refused("release", survey, "--count", "nobody", *PEOPLE, "--mu", "1", "--save-spec", path)
    assert not path.exists()


@pytest.mark.parametrize("text", [f"mu = {'9' * 5000}", f"count = {'[' * 5000}{']' * 5000}"])
def test_a_spec_beyond_python_is_refused(text: str, tmp_path: Path) -> None:
    """A number too long, or lists too deep, are refused in a sentence."""
    (path := tmp_path / "a.toml").write_text(text, encoding="utf-8")
    with pytest.raises(hn.InvalidParameterError, match="too long, or lists too deep"):
        read_spec(path, {})


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    """A spec, or a list that a spec names, may be called anything; it is then not there."""
    with pytest.raises(hn.InvalidParameterError, match="could not be read"):
        read_spec("\0", {})
    (path := tmp_path / "a.toml").write_text('choice = ["a=@\\u0000"]', encoding="utf-8")
    with pytest.raises(hn.InvalidParameterError, match="could not be read"):
        read(read_spec(path, {}))


def test_a_mark_at_the_start_is_none_of_the_spec(tmp_path: Path) -> None:
    """Editors of Windows put one before text in UTF-8."""
    path = spec(tmp_path, "\ufeffunit = 'a'\r\nmu = 1\r\n")
    words = read_spec(path, {})
    assert (words["unit"], words["mu"]) == (["a"], "1")
    path.write_text("unit = 'a'\n", encoding="utf-16")
    assert "could not be read; name a TOML file in UTF-8" in refused("plan", "--spec", path)
