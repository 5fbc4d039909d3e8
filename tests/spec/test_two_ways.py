"""What can be read in two ways is refused, in specs and on the command line."""

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.spec.first import _column
from halfnoise.spec.header import Header
from halfnoise.spec.toml import gather, read_spec, write_spec
from halfnoise.spec.words import read
from support.commands import refused, run, write_survey

BY = 'count = "smoker"\nby = "os"\nmu = 1\n'
TWO = 'count = "smoker"\nby = ["os", "sex"]\nmu = 1\n'


def spec(folder: Path, text: str) -> Path:
    """Write a spec."""
    path = folder / "release.toml"
    path.write_text(text, encoding="utf-8")
    return path


def groups_of(folder: Path, text: str) -> Any:
    """Return the groups that a spec asks for."""
    return read(read_spec(spec(folder, text), {})).workload.groups


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ('["win,mac,linux"]', "a list of single values"),
        ('["win,mac", "linux"]', "a list of single values"),
        ('["win", "mac,"]', None),
        ('["win", ""]', "a list of single values"),
        ('["win", " , "]', "a list of single values"),
        ('["discover"]', 'say groups = "discover"'),
        ('["A", "discover"]', 'say groups = "discover"'),
        ('["@groups.txt"]', 'say groups = "@groups.txt"'),
        ("[20]", "groups = 20 for how many"),
        ('["20"]', "groups = 20 for how many"),
        ('[["win", "mac"]]', "a list of groups"),
        ('["win", ["mac"]]', "text, a number, or a list"),
        ("[true, false]", "text, a number, or a list"),
        ("{a = 1}", "text, a number, or a list"),
        ('"A,discover"', "said in one way alone"),
        ('"A,@groups.txt"', "values, or one file alone"),
    ],
)
def test_groups_in_a_spec(tmp_path: Path, groups: str, said: str | None) -> None:
    """A list holds one key in each place; words and files stand alone, without brackets."""
    path = spec(tmp_path, f"{BY}groups = {groups}\n")
    if said is None:
        assert run("plan", "--spec", path).status == 0
    else:
        assert said in refused("plan", "--spec", path)


@pytest.mark.parametrize(
    ("groups", "keys"),
    [
        ('["win", "mac"]', ("win", "mac")),
        ('[\'"win,mac"\', "linux"]', ("win,mac", "linux")),
        ("['\"discover\"', '\"@home\"']", ("discover", "@home")),
        ('"win,mac"', ("win", "mac")),
        ("[20, 21]", ("20", "21")),
        ('"20,"', ("20",)),
        ('["20,"]', ("20",)),
        ("20", 20),
        ('"discover"', "discover"),
        ("[2026-01-02]", ("2026-01-02",)),
    ],
)
def test_groups_that_read_one_way(tmp_path: Path, groups: str, keys: object) -> None:
    """Quotes inside make one key of anything."""
    assert groups_of(tmp_path, f"{BY}groups = {groups}\n") == keys


def test_groups_by_several_columns(tmp_path: Path) -> None:
    """Several columns have a list for each, not texts that could be keys as well."""
    listed = groups_of(tmp_path, f'{TWO}groups = [["win", "mac"], ["f"]]\n')
    assert list(listed) == [["win", "mac"], ["f"]]
    for groups in ('["win", "f"]', '["win,mac", "f,m"]'):
        path = spec(tmp_path, f"{TWO}groups = {groups}\n")
        assert "groups in the spec must be a list" in refused("plan", "--spec", path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--groups", "A,B", "--groups", "discover"), 'a group of this name is quoted: "discover"'),
        (("--groups", "discover", "--groups", "discover"), "said in one way alone"),
        (("--groups", "discover,"), "said in one way alone"),
        (("--groups", "A,discover"), "said in one way alone"),
        (("--groups", "16", "--groups", "17"), "--groups 16,"),
        (("--groups", "A", "--groups", "16"), "--groups 16,"),
        (("--groups", "A,@list.txt"), "values, or one file alone"),
        (("--choice", "c=A,@list.txt"), "values, or one file alone"),
        (("--missing", "-99,@list.txt"), "values, or one file alone"),
        (("--count", "a,b"), "say it once for each column"),
        (("--sum", "a,b=0:1"), "say it once for each column"),
        (("--count", "q_*"), "a column where there is no table"),
        (("--count", "a=b"), "NAME=COLUMN:WORD:VALUE"),
        (("--count", "a:is:b:is:c"), "it may be on 'a' or 'a:is:b'"),
        (("--count", "n=a=b:is:c"), "it may be on 'a=b' or 'b'"),
        (("--where", "a:is:b:in:c"), "it may be on 'a' or 'a:is:b'"),
    ],
)
def test_words_that_read_two_ways(words: tuple[str, ...], said: str) -> None:
    """Each is refused with the two ways, or with how to say one of them."""
    assert said in refused("plan", "--counts", "2", "--mu", "1", *words)


def test_the_header_tells_conditions_apart(tmp_path: Path) -> None:
    """Where only one of the readings names a column, it is that one; of two, none."""
    path = tmp_path / "odd.csv"
    path.write_text("id,a:is:b,a=b\n1,c,d\n", encoding="utf-8")
    words = ("--unit", "id", "--mu", "1e6")
    for text, name in (("x=a:is:b:is:c", "x"), ("x=a=b:is:d", "x"), ("a=b:is:d", "a=b is d")):
        assert run("release", path, "--count", text, *words).table[name] == 1
    path.write_text("id,a:is:b,a,b,a=b\n1,c,d,e,f\n", encoding="utf-8")
    for text in ("a:is:b:is:c", "a=b:is:d"):
        assert "reads one way" in refused("release", path, "--count", text, *words)


def test_whatever_a_column_is_called_words_are_about_it() -> None:
    """What a first spec says of a column is read as that column, or told to read two ways.

    Some columns are called as others are with a sign, a word or a mark behind it.
    """
    draw, told, parts = random.Random(5), 0, ["a", "b", "=", ":", ":is:", ":in:", ":day", "..", '"']
    parts += ["'", "*", "@", ":bands:", ":variance", " x", ";"]
    for _ in range(1_000):
        names = ["c" + "".join(draw.choices(parts, k=draw.randrange(4))) for _ in range(3)]
        names, meant = [*names, f"{names[0]}={names[1][1:]}", "pid"], draw.choice(names)
        meant = names[3] if draw.random() < 0.3 else meant
        lines = _column(meant, "").splitlines()[1:]
        said = {line[4:].partition(": ")[0]: tomllib.loads(f"x=[{line.partition(': ')[2]}]")["x"]
                for line in lines}  # fmt: skip
        said = {kind: texts for kinds, texts in said.items() for kind in kinds.split(", ")}
        for kind in ("choice", "items", "bins", "sum", "mean", "count"):
            texts = said[kind]
            for text in (text.replace("LOW:HIGH", "0:9") for text in texts):
                try:
                    asked: Any = read({kind: [text], "unit": ["pid"], "mu": "1"}, Header(names))
                    found = [each.column for each in asked.workload.queries]
                except hn.InvalidParameterError as error:
                    found, told = [meant] * ("one way" in str(error)), told + 1
                assert found == [meant], (names, text)
    assert told < 900


def test_columns_with_a_comma() -> None:
    """A table with a column a,b and columns a and b leaves open which are meant."""
    columns = ["a,b", "a", "b", "x"]
    with pytest.raises(hn.InvalidParameterError, match="--unit must be columns that read one way"):
        read({"count": ["x"], "unit": ["a,b"]}, Header(columns))
    with pytest.raises(hn.InvalidParameterError, match="--by must be columns that read one way"):
        read({"count": ["x"], "by": ["a,b"], "groups": ["n"]}, Header(columns))
    assert read({"count": ["x"], "unit": ["a,b"]}, Header(["a,b", "a", "x"])).unit == ("a,b",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epsilon = [1, 2]", "epsilon in the spec must be given once"),
        ('encoding = ["utf-8"]', "encoding in the spec must be given once"),
        ('missing = ["-99,N/A"]', "missing in the spec must be a list of single values"),
        ('missing = ["@codes.txt"]', 'say missing = "@codes.txt"'),
    ],
)
def test_other_words_of_a_spec(tmp_path: Path, text: str, said: str) -> None:
    """A word that is said once takes no list, and codes are listed one by one."""
    assert said in refused("plan", "--spec", spec(tmp_path, f'count = "x"\n{text}\n'))


def test_conditions_in_a_spec_join(tmp_path: Path) -> None:
    """A list of conditions was once read as one condition with a comma in its value."""
    path = spec(tmp_path, 'count = "x"\nwhere = ["region:is:north", "sex:is:f"]\n')
    who = read(read_spec(path, {})).workload.who
    assert [str(condition) for condition in who] == ["region is north", "sex is f"]


@pytest.mark.parametrize(
    "words",
    [
        {"by": ["os"], "groups": ['win,"a, b",say "x","@home","discover"']},
        {"by": ["os"], "groups": ["20,"]},
        {"by": ["os"], "groups": ["discover"]},
        {"by": ["os", "sex"], "groups": ['win,"a, b"', "16,"]},
        {"missing": ['-99,"a, b"', "N/A"]},
        {"where": ["os:in:a,b", "sex:is:f"]},
    ],
)
def test_what_is_saved_reads_the_same(tmp_path: Path, words: dict[str, Any]) -> None:
    """Whatever the command line can say, a spec that it saves says too."""
    words = {"count": ["x"], **words}
    request = read(words)
    text = write_spec(words, request, tmp_path)
    stored = gather({"spec": spec(tmp_path, text)})
    assert read(stored) == request
    assert write_spec(stored, request, tmp_path) == text


def test_a_saved_spec_lies_beside_its_lists(tmp_path: Path) -> None:
    """A list is named as the new spec must name it; one that lies elsewhere is refused."""
    survey, listed = write_survey(tmp_path), tmp_path / "lists" / "blood.txt"
    listed.parent.mkdir()
    listed.write_text("A\nB\n", encoding="utf-8")
    words = ("plan", survey, "--choice", f"blood=@{listed}", "--missing", f"@{listed}")
    saved = tmp_path / "saved.toml"
    assert run(*words, "--mu", "1", "--save-spec", saved).status == 0
    assert read_spec(saved, {})["choice"] == ["blood=@lists/blood.txt"]
    assert run("plan", survey, "--spec", saved).status == 0
    (elsewhere := tmp_path / "elsewhere").mkdir()
    said = refused(*words, "--mu", "1", "--save-spec", elsewhere / "saved.toml")
    assert "beside the lists that it names" in said


@pytest.mark.parametrize("word", ["--groups={} --by b --count a", "--choice=b={}", "--items=b={}"])
@pytest.mark.parametrize("text", ["A;B", "A|B", "list.txt"])
def test_a_list_that_is_surely_meant_otherwise(
    word: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One value that holds another mark, or is a file, is refused before anything is spent."""
    monkeypatch.chdir(tmp_path)
    Path("list.txt").write_text("A\nB\n", encoding="utf-8")
    words = (*word.format(text).split(), "--unit", "id", "--mu", "1")
    assert f'quote it: "{text}"' in refused("plan", *words)
    assert run("plan", *word.format(f'"{text}"').split(), "--unit", "id", "--mu", "1").status == 0


@pytest.mark.parametrize("text", ["Discover", "DISCOVER", "discovered"])
def test_nearly_discover(text: str) -> None:
    """What looks like the word for finding groups is no group, unless it is quoted."""
    words = ("plan", "--count", "a", "--by", "b", "--unit", "id", "--mu", "1", "--groups")
    assert "--groups must be discover, or a list" in refused(*words, text)
    assert run(*words, f'"{text}"').status == 0
