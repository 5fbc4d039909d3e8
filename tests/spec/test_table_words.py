"""Tables and values by cell in words: on the command line and in a spec."""

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.spec.header import Header
from halfnoise.spec.tables import parted
from halfnoise.spec.toml import read_spec, write_spec
from halfnoise.spec.words import read, text_format
from support.commands import run

AXES = {"choice": ["sex=f,m", "region=n,s,e"], "bins": ["age=18,65"], "mu": "1"}
PAID = {"mean": ["pay=0:9"], "sum": ["rent=0:5"], "count": ["old=age:at-least:65"]}
SEX, REGION = hn.Choice("sex", ["f", "m"]), hn.Choice("region", ["n", "s", "e"])
AGE = hn.Bins("age", [18, 65])


def asked(**words: Any) -> Any:
    """Return the queries that words ask for beside the axes."""
    said = {name.replace("_", "-"): value for name, value in words.items()}
    return read({**AXES, **said}).workload.queries


def test_tables_in_words() -> None:
    """A table is by labels of what is said too, which is asked for as well."""
    found = asked(table=["sex,age", "age, region"], margins="0.5")
    tables = [hn.Table(["sex", "age"], margins=0.5), hn.Table(["age", "region"], margins=0.5)]
    assert list(found) == [SEX, REGION, AGE, *tables]
    assert asked(table=["sex,age"], importance=["sex,age=2"])[-1] == hn.Table(["sex", "age"])
    own = asked(table=["sex,age", {"axes": ["age", "region"], "margins": "0.2"}], margins="0.5")
    assert [table.margins for table in own[-2:]] == [0.5, 0.2]
    weighed = read({**AXES, "table": ["sex,age"], "importance": ["sex,age=2"]}).workload
    twice = hn.Workload([SEX, REGION, AGE, hn.Table(["sex", "age"], importance=2)])
    assert weighed.blocks == twice.blocks
    assert [each.weight for each in weighed.blocks[-1].tables] == [  # type: ignore[attr-defined]
        each.weight
        for each in twice.blocks[-1].tables  # type: ignore[attr-defined]
    ]


def test_a_table_of_one_axis_is_the_choice_that_is_said() -> None:
    """It asks for nothing more; what a spec says of its importance counts where that is more."""
    assert asked(table=["sex"]) == asked(table=[{"axes": ["sex"]}]) == asked()
    more = read({**AXES, "table": [{"axes": ["sex"], "importance": "6"}]}).workload
    assert more.importance == {"sex": 6 / len(SEX.names)}
    beside = asked(table=["sex", "sex,age"])
    assert [*beside] == [SEX, REGION, AGE, hn.Table(["sex"]), hn.Table(["sex", "age"])]


def test_a_label_with_a_comma_is_quoted() -> None:
    """Labels are read as any list is."""
    words = {"choice": ["sex=f,m", "a, b=x,y"], "table": ['"a, b",sex'], "mu": "1"}
    *_, table = read(words, Header(["sex", "a, b"])).workload.queries
    assert table == hn.Table(["a, b", "sex"])


def test_values_by_cell_in_words() -> None:
    """What is said of one query again are further tables of it."""
    again = ["pay=sex,age", "pay=region", "pay=sex", "old=sex", "rent=sex,region"]
    found = {query.label: query for query in asked(**PAID, by_cell=again)}
    mean = hn.Mean("pay", bounds=(0, 9), by=["sex", "age"], within=[["region"], ["sex"]])
    assert found["pay"] == mean
    assert found["rent"] == hn.Sum("rent", bounds=(0, 5), by=["sex", "region"])
    assert found["old"].by == ("sex",)
    assert [query.kind for query in found.values()] == [
        "count",
        "sum",
        "mean",
        "choice",
        "choice",
        "bins",
    ]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no axis": ({"table": [","]}, "given labels of --choice, .* got ','"),
    "no axis in a spec": ({"table": [{"axes": []}]}, "given labels of --choice"),
    "an axis twice": ({"table": ["sex,sex"]}, "different axes, got 'sex'; name each one once"),
    "an unknown label": ({"table": ["sex,regoin"]}, "got 'regoin'; did you mean 'region'"),
    "a label far from all": ({"table": ["sex,zzz"]}, "got 'zzz'; say what its categories are"),
    "a number as an axis": (PAID | {"table": ["sex,pay"]}, "--mean pay has no categories"),
    "items as an axis": (
        {"items": ["drug=a,b"], "table": ["sex,drug"]},
        "got 'drug'; --items drug has no categories",
    ),
    "a table twice": ({"table": ["sex,age", "sex,age"]}, "'sex,age' is asked twice"),
    "margins alone": ({"margins": "1"}, "--margins must be given together with --table, got '1'"),
    "margins below zero": ({"table": ["sex,age"], "margins": "-1"}, "margins must be .*got -1"),
    "no number": ({"table": ["sex,age"], "margins": "x"}, "--margins must be .*got 'x'"),
    "by cell of nobody": (PAID | {"by-cell": ["pya=sex"]}, "got 'pya'; did you mean 'pay'"),
    "by cell of a choice": (PAID | {"by-cell": ["sex=age"]}, "--count, --sum or --mean .*'sex'"),
    "by no cell": (PAID | {"by-cell": ["pay="]}, "written NAME=AXIS,AXIS, got 'pay='"),
    "by cell alone": (PAID | {"by-cell": ["pay"]}, "written NAME=AXIS,AXIS, got 'pay'"),
    "by an unknown cell": (PAID | {"by-cell": ["pay=sexx"]}, "got 'sexx'; did you mean 'sex'"),
    "by a cell twice": (PAID | {"by-cell": ["pay=sex,sex"]}, "different axes, got 'sex'"),
    "by the same cells": (
        PAID | {"by-cell": ["pay=sex,age", "pay=age,sex"]},
        "said once for each table, got 'pay=age,sex'",
    ),
    "a column with two lists": (
        {"choice": ["sex=f,m", "sex=a,b", "region=n"], "table": ["sex,region"]},
        "'sex=other' is asked twice",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    """It says what, the value, the rule and the remedy."""
    words, said = REFUSED[name]
    with pytest.raises(hn.HalfnoiseError, match=said):
        read({**AXES, **words})


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["visits"], {"file-table": "visits"}),
        (['"a, b"'], {"file-table": "a, b"}),
        (['odd "name'], {"file-table": 'odd "name'}),
        (["@home"], {"file-table": "@home"}),
        (["visits", "sex,age"], {"table": ["sex,age"], "file-table": "visits"}),
        (["sex,age"], {"table": ["sex,age"]}),
        ([{"axes": ["sex"]}], {"table": [{"axes": ["sex"]}]}),
    ],
)
def test_a_name_alone_is_the_table_of_a_file(said: list[Any], words: dict[str, Any]) -> None:
    """Several names are axes; one is a table of a file, unless it is an axis that is said."""
    assert parted({"table": said, "mu": "1"}) == {"mu": "1", **words}
    assert text_format({"table": said}).table == words.get("file-table")
    assert parted(parted({"table": said})) == parted({"table": said})


def test_a_table_of_nothing_says_what_is_missing() -> None:
    """Without its axes there is nothing to publish, and it says which word is missing."""
    with pytest.raises(hn.InvalidParameterError, match=r"got 'sex'; .*--choice sex=A,B,C or"):
        read({"table": ["sex,age"], "mu": "1"})


def test_an_axis_is_no_table_of_a_file() -> None:
    """What is the label of a choice is one axis; the other word names the file's table."""
    assert parted({"table": ["sex"], "choice": ["sex=f,m"]})["table"] == ["sex"]
    words = {"file-table": "sex", "choice": ["sex=f,m"]}
    assert parted(words) == words
    with pytest.raises(hn.InvalidParameterError, match="a name alone"):
        parted({"table": ["visits"], "file-table": "people"})


SPEC = """
choice = ["sex=f,m", "region={region}"]
bins = "age=18,65"
mean = "pay=0:9"
by-cell = ["pay=sex,region", "pay=sex"]
mu = 1
row-is-person = true
file-table = "visits"

[[table]]
axes = ["sex", "age"]

[[table]]
axes = ["{one}", "region"]
importance = 2
margins = "0.1"
"""


def test_tables_in_a_spec(tmp_path: Path) -> None:
    """A table has its own weights there, and what is written back says the same."""
    (spec := tmp_path / "a.toml").write_text(SPEC, encoding="utf-8")
    words = read_spec(spec, {"one": "sex", "region": "n,s,e"})
    request = read(words)
    mean = hn.Mean("pay", bounds=(0, 9), by=["sex", "region"], within=[["sex"]])
    weighed = hn.Table(["sex", "region"], importance=2, margins=0.1)
    tables = [hn.Table(["sex", "age"]), weighed]
    assert list(request.workload.queries) == [mean, SEX, REGION, AGE, *tables]
    assert text_format(words).table == "visits"
    (again := tmp_path / "b.toml").write_text(write_spec(words, request), encoding="utf-8")
    stored = read_spec(again, {})
    assert read(stored) == request
    assert text_format(stored) == text_format(words)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[table]]\nimportance = 1", "axes of a table of the spec must be a list of labels"),
        ('[[table]]\naxes = "sex,age"', "a list of labels, got 'sex,age'; for example axes = "),
        ("[[table]]\naxes = [1, 2]", "a list of labels"),
        ('[[table]]\naxes = ["a", "b"]\nmargin = 1', "got 'margin'; did you mean 'margins'"),
        ('[[table]]\naxes = ["a", "b"]\nmargins = true', "must be a number, got True"),
        ("table = true", "labels, or given axes, got True"),
        ('table = [["sex", "age"]]', "labels, or given axes"),
        ('table = " "', "labels, or given axes"),
        ('table = ["a", "b"]', "a name alone"),
    ],
)
def test_tables_of_a_spec_that_are_none(text: str, said: str, tmp_path: Path) -> None:
    """They are refused where the file is read."""
    (spec := tmp_path / "a.toml").write_text(text, encoding="utf-8")
    with pytest.raises(hn.InvalidParameterError, match=said):
        read_spec(spec, {})


def test_a_spec_and_queries_in_python(tmp_path: Path) -> None:
    """Queries of Python replace tables too, and codes for no answer hold for their axes."""
    (spec := tmp_path / "a.toml").write_text(f'missing = ["x"]\n{SPEC}', encoding="utf-8")
    people = pl.DataFrame({"sex": ["f", "m"] * 20, "age": [20, 70] * 20})
    table = hn.Table([SEX, AGE])
    said: dict[str, Any] = {"parameters": {"one": "sex", "region": "n"}, "text": hn.TextFormat()}
    release = hn.release(people, [table, SEX], spec=spec, **said)
    assert {q.name for q in release.questions} >= {"sex", "age", "sex,age"}


def test_a_file_with_an_axis_as_a_table_says_how_to_name_it(tmp_path: Path) -> None:
    """Where a label is a table of the file too, the message names the word that picks that."""
    with duckdb.connect(str(path := tmp_path / "a.duckdb")) as own:
        for name in ("sex", "other"):
            own.execute(f"create table {name} as select 'f' as sex, 'n' as region")
    said = ["--choice", "sex=f,m", "--choice", "region=n,s", "--mu", "1", "--row-is-person"]
    tables = ["--table", "sex", "--table", "sex,region"]
    found = run("check", path, *said, *tables)
    assert found.status
    assert "say which one, --file-table NAME" in found.err + found.out
