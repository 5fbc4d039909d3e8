"""Headers that could be rows: nothing of them is shown, and words mean the same as ever."""

import gzip
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.data.sources import TextFormat, open_source
from support.commands import refused, run

ROWS = "dorothea,anton,female,hiv\nemil,berta,male,none given\n"


@pytest.mark.parametrize(
    "pattern", ["*", "d*", "?*", "*a", "[a-z]*", "[!x][a-z]*", "d*[a-z]", "??"]
)
@pytest.mark.parametrize("command", ["plan", "release", "check"])
def test_a_pattern_shows_no_row(tmp_path: Path, pattern: str, command: str) -> None:
    """What fits anything needs a column that is known; whether it fits is not told either."""
    (path := tmp_path / "nohead.csv").write_text(ROWS, encoding="utf-8")
    words = (command, path, "--count", pattern, "--mu", "1")
    for more in ((), ("--unit", "person_id"), ("--count", "smoker"), ("--count", "z*")):
        ran = run(*words, *more)
        said = ran.out + ran.err
        assert ran.status == 2
        assert "fits nearly any column" in said
        assert not any(cell in said for cell in ("dorothea", "anton", "female", "hiv"))
    names = ("--names", "who,other,sex,answer", "--unit", "who")
    assert "fits nearly any" not in run(*words, *names).err


@pytest.mark.parametrize(
    "known",
    [
        ("--unit", "id"),
        ("--by", "sex", "--groups", "f"),
        ("--where", "sex:is:f"),
        ("--count", "q_b"),
        ("--sum", "q_b=0:1"),
        ("--count", "x=sex:is:f"),
    ],
)
def test_who_knows_a_column_may_see_the_others(tmp_path: Path, known: tuple[str, ...]) -> None:
    """One that is named and found will do; so will two characters of those that are meant."""
    path = tmp_path / "d.csv"
    path.write_text("id,sex,q_a,q_b\n1,f,1,0\n", encoding="utf-8")
    ran = run("plan", path, "--count", "*_a", "--mu", "1", *known)
    assert ran.status == 0, ran.err
    assert run("plan", path, "--count", "?_a", "--mu", "1", *known).status == 0
    assert run("plan", path, "--count", "*a", "--mu", "1", *known).status == 0
    for alone in ("q_*", "*_a", "q?a"):
        assert run("plan", path, "--count", alone, "--mu", "1").status == 0


def test_frames_have_names(tmp_path: Path) -> None:
    """Names that do not come from a line of text are no cells."""
    import polars as pl

    path = tmp_path / "d.parquet"
    pl.DataFrame({"id": [1], "a": [True]}).write_parquet(path)
    assert run("plan", path, "--count", "?", "--mu", "1").status == 0


def test_a_name_like_a_value_changes_no_meaning(tmp_path: Path) -> None:
    """A column y hides the header from messages, not from what decides between two readings."""
    path = tmp_path / "odd.csv"
    head = '"visited:month","a,b",x,q_1,a:is:b,"p*"'
    for more in ("", ",y"):
        cells = '"may","k",1,1,c,1' + (",1" if more else "")
        path.write_text(f"{head}{more}\n{cells}\n", encoding="utf-8")
        words = ("release", path, "--mu", "1e6", "--count")
        ran = run(*words, "x", "--unit", "a,b", "--by", "visited:month", "--groups", "may")
        assert ran.status == 0, ran.err
        assert ran.out.partition("\n")[2].startswith("may,")
        assert run(*words, "n=a:is:b:is:c", "--unit", "a,b").table["n"] == 1
        assert run(*words, "p*", "--unit", "a,b").table["p*"] == 1
    path.write_text("a,b,y,x\n1,2,1,1\n", encoding="utf-8")
    both = tmp_path / "both.csv"
    both.write_text('a,b,y,x,"a,b"\n1,2,1,1,3\n', encoding="utf-8")
    assert run("release", path, "--count", "x", "--unit", "a,b", "--mu", "1").status == 0
    said = refused("release", both, "--count", "x", "--unit", "a,b", "--mu", "1")
    assert "columns that read one way" in said
    said = refused("release", path, "--count", "q_*", "--unit", "a", "--mu", "1")
    assert "no column of the header matches" in said
    for source in (path, both):
        with pytest.raises(hn.InvalidParameterError, match="the header of the file has no column"):
            hn.release(source, [hn.Count("z")], unit="a", privacy=hn.GaussianDP(mu=1))


FIRST = (
    b"1958,7,8",
    b"1958,7,7",
    b"1958,7,8\r9",
    b"\x1f\x8b\x08\0\r,7",
    b"19,5,8" + b"7" * 200_000,
)


def test_no_row_in_its_place_says_anything(tmp_path: Path) -> None:
    """Whatever the first row is, of which two cells may be alike, the answer is the same."""
    path, said = tmp_path / "nohead.csv", set[str]()
    for first in FIRST:
        path.write_bytes(first + b"\n1,2,3\n")
        for words in (("release",), ("check",)):
            ran = run(*words, path, "--count", "smoker", "--unit", "id", "--mu", "1")
            assert ran.status == 2
            said.add(ran.out + ran.err)
        said.add(refused("spec", path))
    assert len(said) == 3
    path.write_bytes(b"id,smoker,2019,2019\n1,1,5,6\n")
    assert run("release", path, "--count", "smoker", "--unit", "id", "--mu", "1e6").table
    asked = ("--sum", "2019=0:9", "--unit", "id", "--mu", "1")
    assert "has no column '2019'" in refused("release", path, *asked)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-be"])
def test_no_row_says_whether_bytes_are_whole(tmp_path: Path, encoding: str) -> None:
    """Read in a wrong encoding a file has no header, however many bytes its rows have."""
    path, said = tmp_path / "plain.csv", set[str]()
    for more in range(4):
        path.write_bytes(b"id,smoker\n1,1\n2," + b"1" * more + b"\n")
        asked = ("--count", "smoker", "--unit", "id", "--mu", "1", "--encoding", encoding)
        said.add(refused("release", path, *asked))
    assert len(said) == 1


@pytest.mark.parametrize("said", [{}, {"yes": ["dakor"]}])
def test_a_row_with_a_word_for_yes_is_no_header(said: dict[str, Any], tmp_path: Path) -> None:
    """Words of dialects, and those that are declared, could be answers: such names stay unseen."""
    word = "dakor" if said else "Ja"
    (path := tmp_path / "t.csv").write_text(f"{word},gesund\nx,y\n", encoding="utf-8")
    with open_source(path, text=TextFormat(**said)) as source:
        assert source.could_be_a_row
        with pytest.raises(hn.InvalidParameterError) as caught:
            source.of(["gesund", "nobody"])
    assert word not in str(caught.value)
    with open_source(path, text=TextFormat()) as source:
        assert source.could_be_a_row == (not said)


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("order", ["le", "be"])
def test_the_mark_of_another_encoding_is_told(
    encoding: str, order: str, tmp_path: Path, *, zipped: bool
) -> None:
    """Before a header alone: where names are declared, the first bytes are a person's."""
    content = "\ufeffa,b\n1,2\n".encode(f"{encoding}-{order}")
    path = tmp_path / ("t.csv.gz" if zipped else "t.csv")
    path.write_bytes(gzip.compress(content) if zipped else content)
    with pytest.raises(
        hn.DataError, match=f"mark of {encoding.upper()}; try --encoding {encoding}$"
    ):
        read(path)
    assert read(path, encoding=encoding) == ["a", "b"]
    assert read(path, names=["x", "y"]) == ["x", "y"]
    # In other encodings such bytes may be letters, as in no text of UTF-8.
    assert len(read(path, encoding="latin-1")) == 2


def read(path: Path, **text: Any) -> list[str]:
    """Return the columns of a file."""
    with open_source(path, text=TextFormat(**text)) as source:
        return source.columns


def test_a_header_of_several_lines_is_none(tmp_path: Path) -> None:
    """Its second line would be a person, and columns would be missing: it is refused, or named."""
    (path := tmp_path / "t.csv").write_bytes(b'id,"smoker\n(yes or no)",age\n1,yes,2\n2,no,3\n')
    words = ("--count", "smoker", "--unit", "id", "--mu", "1e6")
    said = refused("release", path, *words)
    assert "has no column 'smoker'" in said
    assert "or that has line breaks in quotes" in said
    assert "or that has line breaks in quotes" in refused("spec", path)
    named = ("--skip", "2", "--names", "id,smoker,age")
    assert run("release", path, *words, *named).table == {"number of people": 2, "smoker": 1}
    count = ("--count", "n=smoker\n(yes or no):is:yes", "--quote-newlines")
    assert run("release", path, *count, *words[2:]).table["number of people"] == 2
    path.write_bytes(b'id,"smo""k""er",a"ge\n1,yes,2\n')  # a quote that is closed, or is a letter
    with open_source(path, text=TextFormat()) as source:
        assert source.columns == ["id", 'smo"k"er', 'a"ge']
