"""Groups by an attribute of tables: the list is known, and no table inside is by it."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from support.commands import run

SEX, REGION = hn.Choice("sex", ["f", "m"]), hn.Choice("region", ["n", "s"], other="elsewhere")
AGE = hn.Bins("age", [18, 65])
MEAN = hn.Mean("pay", bounds=(0, 9), by=["sex", "region"], within=[["region"], ["sex"]])
MU = hn.GaussianDP(mu=1)
ROWS = pl.DataFrame(
    {
        "sex": ["f", "m", "f", None, "f", "m"],
        "region": ["n", "n", "s", "s", "w", None],
        "age": [3, 20, 70, 30, 20, 66],
        "pay": [1, 2, 3, 4, 5, 6],
    }
)

SAME: list[tuple[list[Any], str | list[str], list[Any], Any, Any]] = [
    ([hn.Table([SEX, REGION])], "region", [hn.Table([SEX])], "region", ["n", "s"]),
    ([REGION, hn.Table([SEX, AGE])], "region", [hn.Table([SEX, AGE])], "region", ["n", "s"]),
    ([hn.Table([REGION]), hn.Count("pay")], "region", [hn.Count("pay")], "region", ["n", "s"]),
    (
        [SEX, hn.Table([REGION, "sex"], importance=3), hn.Table(["sex"], margins=0.5), MEAN],
        "region",
        [
            SEX,
            hn.Mean("pay", bounds=(0, 9), by=["sex"]),
            hn.Table(["sex"], importance=3, margins=0.5),
        ],
        "region",
        ["n", "s"],
    ),
    (
        [REGION, hn.Sum("pay", bounds=(0, 9), by=["region"])],
        "region",
        [hn.Sum("pay", bounds=(0, 9))],
        "region",
        ["n", "s"],
    ),
    (
        [hn.Table([SEX, REGION, AGE])],
        ["sex", "region"],
        [hn.Table([AGE])],
        ["sex", "region"],
        {"sex": ["f", "m"], "region": ["n", "s"]},
    ),
]


@pytest.mark.parametrize(("queries", "by", "inside", "same", "groups"), SAME)
def test_the_list_is_that_of_the_groups(
    queries: list[Any], by: Any, inside: list[Any], same: Any, groups: Any
) -> None:
    """It is the workload that says the groups and leaves the attribute out of tables."""
    other = "other" if len(by) == 2 else "elsewhere"
    found = hn.Workload(queries, by=by)
    told = hn.Workload(inside, by=same, groups=groups, other=other)
    assert found.grouping == told.grouping
    assert found.queries == told.queries
    assert found.blocks == told.blocks
    again = hn.Workload(found.queries, by=found.by, groups=found.groups, other=found.other)
    assert again == found


def test_bands_are_groups_too() -> None:
    """An axis that is bands makes groups by these."""
    found = hn.Workload([hn.Table([SEX, AGE])], by="age")
    told = hn.Workload([hn.Table([SEX])], by=hn.By("age", bands=[18, 65]))
    assert found.grouping == told.grouping
    assert found.queries == told.queries


def test_weights_go_by_the_new_names() -> None:
    """What was said of a table holds for what is left of it."""
    asked: Any = [hn.Table([SEX, REGION, AGE]), hn.Table(["sex", "age"], importance=2)]
    found = hn.Workload(asked, by="region", importance={"sex,region,age": 3})
    assert found.queries == (hn.Table([SEX, AGE], importance=3),)
    one = hn.Workload([hn.Table([SEX, REGION])], by="region", importance={"sex,region": 6})
    assert (one.queries, one.importance) == ((SEX,), {"sex": 6 / len(SEX.names)})


def test_groups_come_out() -> None:
    """Each group has its table, and all of them together have everybody."""
    release: Any = hn.release(
        ROWS,
        [hn.Table([SEX, REGION]), MEAN],
        by="region",
        row_is_person=True,
        privacy=hn.GaussianDP(mu=1e6),
        ledger=None,
        i_know=True,
    ).rounded()
    assert release.keys() == ["n", "s", "elsewhere"]
    assert release["n"].table("sex").estimates.tolist() == [1, 1, 0]
    assert release["s"].table("sex").estimates.tolist() == [1, 0, 1]
    assert release["elsewhere"].table("sex").estimates.tolist() == [1, 1, 0]
    assert release["s"].table("sex", of="pay")["f"].estimate == pytest.approx(3, abs=0.01)


def test_the_command_line_takes_the_list_too(tmp_path: Path) -> None:
    """``--by`` of an axis needs no ``--groups``."""
    ROWS.write_csv(path := tmp_path / "people.csv")
    words = ("--choice", "sex=f,m", "--choice", "region=n,s", "--table", "sex,region")
    people = ("--by", "region", "--row-is-person", "--mu", "1e6", "--i-know")
    ran = run("release", path, *words, *people)
    assert ran.status == 0, ran.err
    header, *rows = (line.split(",") for line in ran.out.splitlines())
    assert header[:2] == ["region", "name"]
    assert [row[1] for row in rows if row[0] == "s"][1:] == ["sex=f", "sex=m", "sex=other"]


REFUSED: list[tuple[list[Any], dict[str, Any], str]] = [
    ([hn.Table([SEX, REGION])], {"groups": ["n", "s"]}, "is no axis of tables; leave groups out"),
    ([REGION, hn.Count("x", by=["region"])], {"groups": ["n"]}, "by 'region', so that inside"),
    ([hn.Table([SEX, REGION])], {"groups": "discover"}, "is no axis of tables"),
    ([REGION], {}, "groups by 'region' have nothing to be asked inside them; leave by out"),
    ([hn.Table([SEX, REGION]), hn.Choice("region", ["n"])], {}, "two lists of categories"),
    ([hn.Table([SEX, AGE])], {}, "the groups by 'region' must be listed, got none"),
]


@pytest.mark.parametrize(("queries", "more", "said"), REFUSED)
def test_what_is_refused(queries: list[Any], more: dict[str, Any], said: str) -> None:
    """An axis that is the same in a whole group, two lists, and nothing inside."""
    with pytest.raises(hn.InvalidParameterError, match=said):
        hn.plan(queries, by="region", privacy=MU, **more)
