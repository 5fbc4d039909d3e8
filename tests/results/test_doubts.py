from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from halfnoise.results.doubts import doubts

PEOPLE = 5000
TABLE = pl.DataFrame(
    {
        "smoker": ["yes", "no"] * (PEOPLE // 2),
        "day": ["5 January 26"] * PEOPLE,
        "income": ["1.234,50 EUR"] * PEOPLE,
        "age": ["unknown"] * PEOPLE,
        "drug": ["Aspirin"] * PEOPLE,
        "town": ["North "] * PEOPLE,
        "old": [0, 1] * (PEOPLE // 2),
    }
)
MU = hn.GaussianDP(mu=1)
EMPTY: Any = {
    "a count whose codes match nobody": (hn.Count("smoker", true=["ja"]), "smoker"),
    "a sum of text": (hn.Sum("income", bounds=(0, 10)), "income"),
    "bands of text": (hn.Bins("age", [0, 18, 65]), "age"),
    "items in another spelling": (hn.Items("drug", ["aspirin", "statin"]), "drug"),
}


def notes(queries: Any, **rules: Any) -> list[str]:
    """Release the table, with margins that hold but once in a million, and return what is said."""
    table = hn.release(TABLE, queries, row_is_person=True, privacy=MU, level=0.999999, **rules)
    again = hn.Release.from_json(table.to_json())
    assert again.notes() == table.notes()  # from what was released alone
    return list(table.notes())


@pytest.mark.parametrize("case", EMPTY)
def test_what_is_empty_is_said(case: str) -> None:
    """A number within its margin of zero is named in one line; with others beside it, alone."""
    query, name = EMPTY[case]
    said = notes([query, hn.Count("old")])
    (line,) = (line for line in said if "perhaps nobody" in line)
    assert f"perhaps nobody: {name}; check" in line
    assert "old" not in line
    grouped = notes([query, hn.Count("old")], by="old", groups=[0, 1], other=None)
    assert line in grouped


def test_a_mean_that_nobody_gave() -> None:
    """It is named with what to check."""
    said = notes([hn.Mean("income", bounds=(0, 10)), hn.Count("old")])
    assert said == ["perhaps nobody answered income; check how the values are written"]


def test_groups_and_categories_that_match_nothing() -> None:
    """What is nearly all ``other`` is said of groups, of dates that no rule reads, of choices."""
    for by, groups in (("town", ["Nord"]), (hn.By("day", every="month"), ["2026-01"])):
        rules: Any = {"by": by, "groups": groups, "size_importance": 1}
        assert any(
            line.startswith("other is 100% of all") for line in notes([hn.Count("old")], **rules)
        )
    said = notes([hn.Choice("town", ["Nord", "South"])])
    assert any("town=other is 100% of town" in line for line in said)
    assert not any("perhaps" in line for line in said)


def test_nothing_is_said_of_what_is_there() -> None:
    """Full columns, and sums that may well be about zero, raise no doubt."""
    there = [hn.Count("old"), hn.Mean("old", bounds=(0, 1), name="m"), hn.Bins("old", [0, 1])]
    assert notes([*there, hn.Sum("income", bounds=(-10, 10))]) == []


def test_many_names_are_cut_short() -> None:
    """Of many empty counts five are named, and the number of people as one of them."""
    queries = [hn.Count("old", equals=7 + i, name=f"c{i}") for i in range(9)]
    table = hn.release(TABLE, queries, row_is_person=True, privacy=MU, level=0.999999)
    (line,) = doubts(table)
    assert "perhaps nobody: c0, c1, c2, c3, c4 and 4 more; check" in line
    nobody = replace(table, values=table.values * 0)
    assert "number of people, c0" in doubts(nobody)[0]
    known = replace(nobody, known_size=5000.0)
    assert "number of people" not in doubts(known)[0]


def test_it_is_a_matter_of_the_margin() -> None:
    """Just inside the margin it is said, on both sides of zero; just outside it is not."""
    table = hn.release(TABLE, [hn.Count("old")], row_is_person=True, privacy=MU)
    margin = table.errors.margin({0: 1.0}, 0.95)
    for factor, said in ((0.99, True), (-0.99, True), (1.01, False), (-1.01, False)):
        values = table.values.copy()
        values[0] = factor * margin
        assert bool(doubts(replace(table, values=values))) == said


@pytest.mark.parametrize("neighbors", hn.Neighbors)
def test_a_number_of_people_that_cannot_be(neighbors: hn.Neighbors) -> None:
    """One that is given and wrong moves all counts: below zero, or above itself, that is said."""
    asked = [hn.Count("smoker", true=["ja"]), hn.Count("old")]
    for size, odd in ((PEOPLE, False), (10, True)):
        said = notes(asked, neighbors=neighbors, known_size=size)
        assert any("above the number of people: smoker; check" in line for line in said) == odd
