"""Places inside places: as they are listed, in words and in a spec, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.errors import HalfnoiseError
from halfnoise.identity import digest
from halfnoise.spec.toml import read_spec, write_spec
from halfnoise.spec.words import read
from support.commands import EXACT, refused, run

q: Any = hn  # what strict types would refuse is tried, too
LINES = "state,county\nN,a\nN, b\n\nS,a\nE\n"
PLACES = [("N", "a"), ("N", "b"), ("S", "a"), ("E",)]
NESTED = hn.Nested("state", "county", places=PLACES)
ONE = hn.Nested("s", places=[("N",)])
WORDS = ("--nested", "state,county=@places.csv", "--choice", "sex=f,m", "--table", "county,sex")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a list of places, and people in them."""
    monkeypatch.chdir(tmp_path)
    Path("places.csv").write_text(LINES, encoding="utf-8")
    rows = ["person_id,state,county,sex,pay", "1,N,a,f,3", "2,N,z,m,9", "3,E,a,f,1", "4,,b,m,2"]
    rows += ["5,S,,f,5", "5,S,a,f,5", "6,W,a,x,7", "6,N,b,x,7", "6,N,a,,7"]
    Path("people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    Path("three.csv").write_text("N,a,1\nN,b,2\n", encoding="utf-8")
    Path("latin.csv").write_text("N,ä\n", encoding="latin-1")
    return tmp_path


def test_a_list_is_read_from_a_file(folder: Path) -> None:
    """With its header and without, with spaces and empty lines, as it is in Python."""
    assert hn.Nested("state", "county", places="places.csv") == NESTED
    assert hn.Nested("state", "county", places=folder / "places.csv") == NESTED
    assert digest(hn.Nested("state", "county", places="places.csv")) == digest(NESTED)
    assert digest(hn.Nested("state", "county", places=PLACES[:2])) != digest(NESTED)
    words = {"nested": ["state,county=@places.csv"], "mu": "1"}
    assert list(read(words).workload.queries) == [NESTED]
    coded = read({**words, "missing": ["-9"]}).workload.queries
    assert list(coded) == [hn.Nested("state", "county", places=PLACES, missing=["-9"])]


def test_only_a_file_has_a_header(folder: Path) -> None:
    """Places that are called as the columns are places in a list, and after codes are added."""
    same = [("x", "y"), ("x", "z")]
    assert hn.Nested("x", "y", places=same).places == tuple(same)
    assert hn.Nested("x", "y", places=same).coded(["-9"]).places == tuple(same)
    assert hn.Nested("x", "y", "z", places=[("x", "y", "q")]).upto(2).places == (("x", "y"),)
    (folder / "same.csv").write_text("x,y\nx,y\nx,z\n", encoding="utf-8")
    assert hn.Nested("x", "y", places=folder / "same.csv").places == tuple(same)
    (found,) = read({"nested": ["x,y=@same.csv"], "mu": "1"}).workload.queries
    assert found == hn.Nested("x", "y", places=same)


def test_a_spec_says_the_same(folder: Path) -> None:
    """What is saved is read again; its list lies beside it."""
    said = {"nested": ["state,county=@places.csv"], "choice": ["sex=f,m"], "table": ["county,sex"]}
    text = write_spec({**said, "mu": "1"}, folder=folder)
    Path("spec.toml").write_text(text, encoding="utf-8")
    asked = read(read_spec(Path("spec.toml"), {})).workload.queries
    assert list(asked) == [hn.Choice("sex", ["f", "m"]), NESTED, hn.Table(["county", "sex"])]


def test_places_on_the_command_line(folder: Path) -> None:
    """All levels come out, whoever is in no listed place too, and a mean by places."""
    mean = ("--mean", "pay=0:9", "--by-cell", "pay=state")
    ran = run("release", folder / "people.csv", *WORDS, *mean, *EXACT)
    assert ran.status == 0, ran.err
    found = ran.table
    assert found["state=N"] == 3
    assert found["state=other"] == 1
    assert found["county=N > a"] == 2
    assert found["county=N > other"] == found["county=E > other"] == 1
    assert found["county=S > a, sex=f"] == 1
    assert found["county=N > a, sex=other"] == 1
    assert found["number of people"] == 6


def test_a_plan_and_a_check_show_all_levels(folder: Path) -> None:
    """Each is a table that was asked for; a check says how many places there are."""
    ran = run("plan", *WORDS, "--mu", "1", "--json")
    blocks = json.loads(ran.out)["designs"][-1]["blocks"]
    shown = [(block["label"], block["queries"], block["asked"]) for block in blocks]
    asked = [("state", 4, True), ("county", 7, True), ("sex", 3, True)]
    assert {*asked, ("county,sex", 21, True), ("state,sex", 12, False)} == {*shown}
    ran = run("check", folder / "people.csv", *WORDS, "--unit", "person_id", "--mu", "1")
    assert ran.status == 0, ran.out
    assert "4 of state, 7 of county" in ran.out


REFUSED: dict[str, tuple[Any, str]] = {
    "no list": (lambda: q.Nested("a"), "places"),
    "no level": (lambda: q.Nested(places=PLACES), "each level"),
    "a level twice": (lambda: q.Nested("a", "a", places=PLACES), "each once, got 'a'"),
    "too many names": (lambda: q.Nested("a", places=PLACES), "1 names, one for each level"),
    "a gap": (lambda: q.Nested("a", "b", places=[("", "x")]), "2 names, one for each level"),
    "text": (lambda: q.Nested("a", places=["x"]), "1 names, one for each level"),
    "nothing": (lambda: q.Nested("a", places=[]), "at least one"),
    "twice": (lambda: q.Nested("a", places=[("x",), ("x",)]), "different from each other"),
    "in and out": (lambda: q.Nested("a", "b", places=[("x", "y"), ("x",)]), "not both"),
    "others": (lambda: q.Nested("a", places=[("other",)]), "not called 'other'"),
    "one name": (
        lambda: q.Nested("a", "b", places=[("x > y", "z"), ("x", "y > z")]),
        "shown differently",
    ),
    "not deep enough": (lambda: q.Nested("a", "b", places=[("x",)]), "down to 'b'"),
    "no file": (lambda: q.Nested("a", places="none.csv"), "'none.csv' could not be read"),
    "two of them": (
        lambda: q.Workload([NESTED, q.Nested("x", places=[("y",)])]),
        "one attribute of tables may be nested",
    ),
    "two levels": (
        lambda: q.Workload([NESTED, q.Table(["state", "county"])]),
        "one level of places, got 'state' and 'county'; leave 'state' out",
    ),
    "a choice too": (
        lambda: q.Workload([NESTED, q.Table([q.Choice("state", ["N"]), q.Choice("sex", ["f"])])]),
        "two lists",
    ),
    "groups": (
        lambda: q.Workload([NESTED], by="g", groups=["x"]),
        "do not go with groups",
    ),
    "groups and values": (
        lambda: q.Workload([ONE, q.Count("x", by=["s"])], by="g", groups=["x"]),
        "do not go with groups",
    ),
    "weights and values": (
        lambda: q.Workload([ONE, q.Count("x", by=["s"])], weight=q.Weight("w", bounds=(0, 2))),
        r"places \(Nested\) cannot be weighted",
    ),
    "laplace": (
        lambda: q.plan([NESTED], privacy=hn.PureDP(epsilon=1)),
        "tables are released with Gaussian noise",
    ),
    "no place so deep": (
        lambda: q.Nested("state", "county", places=[("CA",)]),
        "places must be listed down to 'county'.*; name a place there, or leave 'county' out",
    ),
    "no such level": (lambda: q.Workload([NESTED, q.Table(["tract"])]), "label of .* level"),
    "no such weight": (lambda: q.Workload([NESTED], importance={"tract": 1}), "name of a query"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    """With a sentence that says what, and mostly what to do."""
    make, says = REFUSED[name]
    with pytest.raises((HalfnoiseError, TypeError), match=says):
        make()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--nested", "state,county"), "written LEVEL,LEVEL=@FILE"),
        (("--nested", "state,county=N,a"), "written LEVEL,LEVEL=@FILE"),
        (("--nested", "state=@places.csv"), "1 names, one for each level"),
        (("--nested", "state,county=@people.csv"), "people.csv' is a table of data"),
        (("--nested", "state,county=@three.csv"), "quote each, and put 2 in each line, parted by"),
        (("--nested", "state,county=@latin.csv"), "a text file in UTF-8 with one to a line"),
        ((*WORDS, "--table", ","), "given labels of --choice, --bins or --nested"),
        ((*WORDS, "--by", "sex", "--groups", "f"), "do not go with groups"),
    ],
)
def test_words_that_are_refused(folder: Path, words: tuple[str, ...], says: str) -> None:
    """Before any row is read."""
    assert says in refused(
        "release", folder / "people.csv", *words, "--unit", "person_id", "--mu", "1"
    )
