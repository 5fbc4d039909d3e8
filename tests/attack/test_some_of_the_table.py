"""Who is in the table, where conditions say it: sizes, groups and shares follow."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from support.commands import refused, run
from support.release_schema import VALIDATOR

SHARP = hn.GaussianDP(mu=1e6)
ADULT, NORTH = hn.Where("age", at_least=18), hn.Where("region", equals="north")
ROWS = [  # person, age, region, smoker
    ("p1", 70, "north", "1"),
    ("p2", 30, "south", "1"),
    ("p3", 17, "north", "1"),
    ("p4", 40, "north", "0"),
    ("p5", 12, "north", "0"),
    ("p5", 50, "south", "1"),  # no row of p5 is of an adult in the north
    ("p6", 10, "north", "1"),
    ("p6", 60, "north", "0"),  # only the second row of p6 counts
    ("p7", None, "north", "1"),
]


def people() -> pl.DataFrame:
    """Return the table."""
    return pl.DataFrame(ROWS, schema=["person", "age", "region", "smoker"], orient="row")


def some(where: Any, **rules: Any) -> Any:
    """Release the smokers among some of the people, nearly without noise."""
    asked = [hn.Count("smoker")]
    return hn.release(people(), asked, unit="person", privacy=SHARP, where=where, **rules)


def whole(table: Any) -> tuple[int, int, float]:
    """Return the number of people, that of smokers, and their share."""
    share = table.share("smoker").estimate
    return round(table.size.estimate), round(table["smoker"].estimate), round(share, 2)


def test_sizes_and_shares_are_of_those_in_the_table() -> None:
    """A condition for the table filters the number of people, so shares are of the right whole."""
    assert whole(some((), size_importance=1)) == (7, 6, 0.86)
    assert whole(some(ADULT, size_importance=1)) == (5, 3, 0.6)
    assert whole(some([ADULT, NORTH], size_importance=1)) == (3, 1, 0.33)


def test_a_condition_of_one_query_leaves_the_table_alone() -> None:
    """There the share is of everybody, and the release says so."""
    asked = [hn.Count("smoker", where=ADULT)]
    options: dict[str, Any] = {"unit": "person", "privacy": SHARP, "size_importance": 1}
    table = hn.release(people(), asked, **options)
    assert whole(table) == (7, 3, 0.43)
    said = "smoker looks only at people with age at least 18; its share is still of all people"
    assert any(said in note for note in table.notes())
    assert not any("In the table" in note for note in table.notes())


def test_groups_follow() -> None:
    """Who is not in the table is in no group, not even in that of all others."""
    table = some(ADULT, by="region", groups=["north"])
    sizes = {key: round(group.size.estimate) for key, group in table.items()}
    assert sizes == {"north": 3, "other": 2}


def test_every_output_says_who_is_in_the_table(tmp_path: Path) -> None:
    """Plans, notes and JSON name the conditions; what is read back still does."""
    table = some([ADULT, NORTH])
    said = "only rows with age at least 18 and region is north, and the people they are about"
    assert any(said in note for note in table.notes())
    assert said in repr(hn.plan([hn.Count("smoker")], privacy=SHARP, where=[ADULT, NORTH]))
    stored = json.loads(table.to_json())
    VALIDATOR.validate(stored)
    assert stored["where"] == ["age at least 18", "region is north"]
    assert hn.Release.from_json(table.to_json()).notes() == table.notes()
    path = tmp_path / "people.csv"
    people().write_csv(path)
    words = ("release", path, "--count", "smoker", "--unit", "person", "--mu", "1e6")
    ran = run(*words, "--where", "age:at-least:18", "--where", "region:is:north")
    assert said in ran.err
    assert ran.table["smoker"] == 1
    assert (
        said
        in run(*words, "--where", "age:at-least:18", "--where", "region:is:north", "--dry-run").out
    )


def test_codes_for_no_answer_are_not_in_the_table(tmp_path: Path) -> None:
    """-99 is below 18, but nobody's age."""
    path = tmp_path / "codes.csv"
    path.write_text("person,age,x\na,-99,1\nb,9,1\nc,70,1\n", encoding="utf-8")
    words = ("release", path, "--count", "x", "--unit", "person", "--mu", "1e6")
    ran = run(*words, "--where", "age:below:18", "--missing", "N/A", "--missing", "-99")
    assert ran.table["x"] == 1


@pytest.mark.parametrize("known", [None, 3])
@pytest.mark.parametrize("groups", [{}, {"by": "region", "groups": ["north"]}])
def test_replacement_publishes_no_number_that_answers_control(
    known: int | None, groups: dict[str, Any]
) -> None:
    """Where another answer moves somebody in or out, the exact size would tell it: refused.

    Neighbours: the age of one person is 17, or 18. A known number of people is no way out, as it
    would be that of one of the two tables alone.
    """
    with pytest.raises(hn.NotSupportedError, match="goes with add-remove alone"):
        some(ADULT, neighbors=hn.Neighbors.REPLACE, known_size=known, **groups)


def test_replacement_on_the_command_line(tmp_path: Path) -> None:
    """The same in words, before any file is looked at for rows."""
    path = tmp_path / "people.csv"
    people().write_csv(path)
    words = ("release", path, "--count", "smoker", "--unit", "person", "--mu", "1")
    said = refused(*words, "--where", "age:at-least:18", "--neighbors", "replace")
    assert "goes with add-remove alone" in said


def test_the_unit_says_nothing_about_who_is_in_the_table() -> None:
    """A table of one person by name is refused."""
    with pytest.raises(hn.InvalidParameterError, match="is the unit and says who is in the table"):
        some(hn.Where("person", equals="p1"))
    for wrong in ("age", [ADULT, "age"], 3):
        with pytest.raises(hn.InvalidParameterError, match="where must be a Where, or several"):
            some(wrong)
