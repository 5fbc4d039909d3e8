"""Lists in files: the data is none, and a spec names only files beside it."""

import gzip
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import halfnoise as hn
from support.commands import EXACT, PEOPLE, SURVEY, Ran, run, write_survey

CANARIES = ("p1,1,70", "2026-01-05", "p6,")  # of rows


def silent(ran: Ran, said: str) -> None:
    """Check that a run refuses, and shows no row of the data."""
    assert ran.status == 2, ran
    assert said in ran.err
    assert not any(row in ran.out + ran.err for row in CANARIES)


def _same(data: Path) -> str:
    return str(data)


def _dotted(data: Path) -> str:
    return f"{data.parent}/./{data.name}"


def _link(data: Path) -> str:
    (link := data.with_name("list.txt")).symlink_to(data)
    return str(link)


def _link_to_a_link(data: Path) -> str:
    (link := data.with_name("second.txt")).symlink_to(_link(data))
    return str(link)


def _hard_link(data: Path) -> str:
    (link := data.with_name("hard.txt")).hardlink_to(data)
    return str(link)


def _copy(data: Path) -> str:
    (copy := data.with_name("copy.txt")).write_bytes(data.read_bytes())
    return str(copy)


NAMES: list[Callable[[Path], str]] = [_same, _dotted, _link, _link_to_a_link, _hard_link, _copy]
OPTIONS = (
    "--choice blood={}",
    "--items blood={}",
    "--by blood --groups {}",
    "--by blood,smoker --groups {}",
    "--missing {}",
    "--where blood:in:{}",
    '--where "blood:in:  {}"',
    "--count x=blood:in:{}",
    "--count blood:yes:{}",
    "--by {} --groups A",
)


@pytest.mark.parametrize("name", NAMES)
def test_the_data_is_no_list(tmp_path: Path, name: Callable[[Path], str]) -> None:
    """A file of rows, under whatever name, is refused in every place that takes a list."""
    survey = write_survey(tmp_path)
    listed = f"@{name(survey)}"
    for option in OPTIONS if name is _same else OPTIONS[:3]:
        words = [word.replace("{}", listed) for word in shlex.split(option)]
        asked = () if "--count" in words else ("--count", "smoker")
        for command in (["release"], ["release", "--dry-run"]) if option == OPTIONS[0] else ():
            silent(run(*command, survey, *asked, *words, *EXACT), "is a table of data")
        silent(run("plan", survey, *asked, *words, *EXACT), "is a table of data")
    unit = run("release", survey, "--count", "smoker", "--unit", listed, "--mu", "1")
    silent(unit, "is a table of data")


def test_a_list_with_letters_of_the_header_is_a_list(tmp_path: Path) -> None:
    """Columns a and b are not found in a list that begins with cab, nor a column of its own."""
    (data := tmp_path / "d.csv").write_text("a,b\ncab,1\nb,2\n", encoding="utf-8")
    for content in ("cab\nb\n", "a\ncab\n", "a\n", "x,y\ncab\n"):
        (listed := tmp_path / "l.txt").write_text(content, encoding="utf-8")
        ran = run("release", data, "--choice", f"a=@{listed}", "--unit", "b", "--mu", "1e6")
        assert ran.status == 0, ran.err
    (tmp_path / "l.txt").write_text('"a" ;b\n', encoding="utf-8")
    ran = run("release", data, "--choice", f"a=@{listed}", "--unit", "b", "--mu", "1e6")
    assert "is a table of data" in ran.err


def test_a_list_among_several_files(tmp_path: Path) -> None:
    """One of many files, named by a pattern or in a list, is data like the others."""
    for i in range(3):
        (tmp_path / f"part{i}.jsonl").write_text('{"who":"p1","blood":"A"}\n', encoding="utf-8")
    words = ("--items", f"blood=@{tmp_path / 'part1.jsonl'}", "--unit", "who", "--mu", "1")
    every = [tmp_path / f"part{i}.jsonl" for i in range(3)]
    for data in ([tmp_path / "*.jsonl"], [f"{tmp_path}/**/part[0-9].jsonl"], every):
        ran = run("release", *data, *words)
        assert ran.status == 2
        assert "is a table of data" in ran.err
        assert "p1" not in ran.out + ran.err


def test_zipped_data_is_no_list(tmp_path: Path) -> None:
    """A zipped file is no text, and data at that."""
    path = tmp_path / "survey.csv.gz"
    path.write_bytes(gzip.compress(b"id,x\n1,2\n"))
    ran = run("release", path, "--choice", f"x=@{path}", "--unit", "id", "--mu", "1")
    assert ran.status == 2


@pytest.mark.parametrize("kind", ["absolute", "above", "link", "folder link", "missing"])
def test_a_spec_names_only_files_beside_it(tmp_path: Path, kind: str) -> None:
    """No path leads from a spec to a file elsewhere, and nothing of such a file is shown."""
    survey = write_survey(tmp_path)
    (outside := tmp_path / "secret.txt").write_text("Kanarienvogel\n", encoding="utf-8")
    (folder := tmp_path / "specs").mkdir()
    (folder / "link.txt").symlink_to(outside)
    (folder / "away").symlink_to(tmp_path)
    named = {
        "absolute": str(outside),
        "above": "../secret.txt",
        "link": "link.txt",
        "folder link": "away/secret.txt",
        "missing": "nowhere.txt",
    }[kind]
    spec = folder / "a.toml"
    said = "could not be read" if kind == "missing" else "a file beside the spec"
    for line in (
        'choice = "blood=@{}"',
        'items = "blood=@{}"',
        'where = "blood:in:@{}"',
        'count = "x=blood:in:@{}"',
        'missing = "@{}"',
        'unit = "@{}"',
        'by = "blood"\ngroups = "@{}"',
        'by = "@{}"\ngroups = "a"',
    ):
        more = "" if line.startswith("count") else 'count = "smoker"\n'
        spec.write_text(more + line.replace("{}", named), encoding="utf-8")
        people = () if line.startswith("unit") else PEOPLE
        ran = run("release", survey, "--spec", spec, *people, "--mu", "1")
        silent(ran, said)
        assert "Kanarienvogel" not in ran.out + ran.err
        with pytest.raises(hn.InvalidParameterError, match=said):
            hn.release(survey, spec=spec, unit=people[1:], privacy=hn.GaussianDP(mu=1))


def test_a_list_beside_a_spec_is_read_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not from the folder that the command is run in; on the command line it is the other way."""
    survey = write_survey(tmp_path)
    (folder := tmp_path / "specs" / "lists").mkdir(parents=True)
    (folder / "blood.txt").write_text("A\n", encoding="utf-8")
    (spec := folder.parent / "a.toml").write_text(
        'choice = "blood=@lists/blood.txt"', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    ran = run("release", survey, "--spec", spec, *EXACT)
    assert ran.table["blood=A"] == 2
    ran = run("release", survey, "--choice", "blood=@specs/lists/blood.txt", *EXACT)
    assert ran.table["blood=A"] == 2


def test_the_data_is_no_spec(tmp_path: Path) -> None:
    """Rows that happen to be TOML are not read as words."""
    path = tmp_path / "rows.csv"
    path.write_text("Kanarienvogel = 1\n", encoding="utf-8")
    os.link(path, tmp_path / "spec.toml")
    for spec in (path, tmp_path / "spec.toml"):
        for command in ("plan", "release"):
            ran = run(command, path, "--spec", spec)
            assert ran.status == 2
            assert "another file than the data" in ran.err
            assert "Kanarienvogel" not in ran.err
        with pytest.raises(hn.InvalidParameterError, match="another file than the data"):
            hn.release(path, spec=spec)


TABLES = (
    SURVEY,
    SURVEY.partition("\n")[2],  # without its header
    "\n" + SURVEY.replace("\n", "\r\n\r\n"),
    SURVEY.replace(",", ";"),
    SURVEY.replace(",", "\t"),
    SURVEY.replace(",", " | "),
    SURVEY.replace(",A,", ',"A, B",'),
    '{"who":"p1","day":"2026-01-05"}\n{"who":"p6,","day":"2026-01-05"}\n',
)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_no_list_where_there_is_no_data(tmp_path: Path, table: str) -> None:
    """Lines with the same mark as often are rows, and nothing of them is shown by any plan."""
    (path := tmp_path / "some.txt").write_text(table, encoding="utf-8", newline="")
    for option in OPTIONS:
        words = [word.replace("{}", f"@{path}") for word in shlex.split(option)]
        asked = () if "--count" in words else ("--count", "smoker")
        silent(run("plan", *asked, *words, "--mu", "1"), "is a table of data")
    data = tmp_path / "other.csv"
    data.write_text("who,blood\nx,A\n", encoding="utf-8")
    words = ["--choice", f"blood=@{path}", "--unit", "who", "--mu", "1"]
    silent(run("release", data, *words), "is a table of data")


def test_values_with_marks_are_quoted(tmp_path: Path) -> None:
    """A line in quotes is one value; a list of pairs is one for two columns alone."""
    (data := tmp_path / "d.csv").write_text('a,b\n"x, y",1\nz,2\n"q""r",3\n', encoding="utf-8")
    listed = tmp_path / "l.txt"
    words = ("--unit", "b", "--mu", "1e6")
    for content in ('"x, y"\n"q""r"\n', '  "x, y"  \n"z, z"\n', "x, y\nz\n"):
        listed.write_text(content, encoding="utf-8")
        ran = run("release", data, "--choice", f"a=@{listed}", *words)
        assert ran.table["a=x, y"] == 1, ran.err
    listed.write_text("x, y\nz, z\n", encoding="utf-8")
    assert "quote each" in run("plan", "--choice", f"a=@{listed}", "--mu", "1").err
    by = ("plan", "--count", "c", "--mu", "1", "--groups", f"@{listed}", "--by")
    assert run(*by, "a,b").status == 0
    assert "is a table of data" in run(*by, "a,b,d").err
    assert "is a table of data" in run(*by, "a").err
