from collections.abc import Callable

import pytest

import halfnoise as hn
from halfnoise import (
    ApproxDP,
    ConcentratedDP,
    GaussianDP,
    InvalidParameterError,
    Neighbors,
    PureDP,
    RenyiDP,
)
from halfnoise.privacy.definitions import Privacy
from halfnoise.spec import groups as group_flags
from halfnoise.spec import queries as flags
from halfnoise.spec.lists import ANYWHERE
from halfnoise.spec.words import privacy, read
from halfnoise.workload.queries import Query


def budget(**given: str) -> Privacy | None:
    """Read a budget of which not all words are given."""
    return privacy(given)


def test_every_budget() -> None:
    """Each way to say a budget is its definition; a delta alone is none."""
    assert budget(epsilon="1") == PureDP(epsilon=1)
    assert budget(epsilon="1", delta="1e-6") == ApproxDP(epsilon=1, delta=1e-6)
    assert budget(mu="0.5") == GaussianDP(mu=0.5)
    assert budget(rho="0.5") == ConcentratedDP(rho=0.5)
    assert budget(rdp="8:1") == RenyiDP(alpha=8, epsilon=1)
    assert budget(delta="1e-6") is None
    assert budget() is None


@pytest.mark.parametrize(
    ("text", "name", "field", "value"),
    [
        ("age:at-least:65", "age at least 65", "at_least", "65"),
        ("old=age:above:65", "old", "above", "65"),
        ("age:below:0", "age below 0", "below", "0"),
        ("age:up-to:-5", "age up to -5", "up_to", "-5"),
        ("a=age:between:18..64", "a", "between", ("18", "64")),
        ("a=age:between:-5..-1.5", "a", "between", ("-5", "-1.5")),
        ("sex:is:F", "sex is F", "equals", "F"),
        ("n=area:is:north=west", "n", "equals", "north=west"),
        ("sex:in:F, X", "sex is in F, X", "is_in", ("F", "X")),
        ("smoker:yes:1,3", "smoker", "true", ("1", "3")),
        ("at:b:is:c", "at:b is c", "equals", "c"),
        ("t=time:is:12:30", "t", "equals", "12:30"),
    ],
)
def test_conditions(text: str, name: str, field: str, value: object) -> None:
    """A condition is [NAME=]COLUMN:WORD:VALUE, whatever marks its parts hold."""
    (query,) = flags.count(text)
    assert query.label == name
    assert getattr(query, field) == value


def test_a_column_that_is_there_is_no_pattern() -> None:
    """Names with marks in them are columns where there are such columns."""
    for text in ("q_*", "a=b", "a:b", "what?"):
        (query,) = flags.count(text, [text, "q_1"])
        assert query.column == text


def test_where_takes_a_condition_without_a_name() -> None:
    """A condition for all queries has no name and no codes for yes."""
    assert flags.where("age:at-least:18").at_least == "18"
    for text in ("x=age:at-least:18", "age", "age:yes:1"):
        with pytest.raises(InvalidParameterError, match="--where must be written COL:WORD:VALUE"):
            flags.where(text)


def test_columns_with_the_sign() -> None:
    """A sum parts at the last sign, a list at the first: columns and categories may hold it."""
    assert flags.sum_("a=b=0:20").column == "a=b"
    assert flags.bins("a=b=0,18").edges == (0, 18)
    choice = flags.choice("band=<=10,>10")
    assert (choice.column, choice.categories) == ("band", ("<=10", ">10", "other"))


def test_bounds_may_be_negative() -> None:
    """Bounds and edges are any numbers."""
    assert flags.sum_("x=-1.5:-0.5").bounds == (-1.5, -0.5)
    assert flags.mean("x=-1e3:1e3").bounds == (-1000, 1000)
    assert flags.bins("x=-10,0,10").names[0] == "x=-10 to 0"


def test_plain_numbers_plan_without_columns() -> None:
    """What-if numbers make queries that name no column, told apart where there are several."""
    asked: list[Query] = [flags.sum_("0:20"), flags.sum_("0:5"), flags.mean("0:1")]
    asked += [flags.choice("5"), flags.bins("3"), flags.items("10", 2), hn.Counts(7)]
    labels = [query.label for query in flags.distinct(asked)]
    assert len(set(labels)) == len(labels)
    assert [query.column in flags.NAMELESS for query in asked] == [True] * 6 + [False]
    assert len(flags.bins("3").names) == 4


def test_the_same_query_twice_stays_the_same() -> None:
    """Queries on a column are never renamed: asking twice is refused later."""
    labels = [query.label for query in flags.distinct([flags.sum_("x=0:1"), flags.sum_("x=0:2")])]
    assert labels == ["x", "x"]


def test_lists_drop_spaces_and_what_is_empty() -> None:
    """A list is forgiving about spaces and a trailing comma."""
    assert ANYWHERE.split(" a,b , c,,") == ("a", "b", "c")
    assert group_flags.groups(["north, south"], []) == ("north", "south")
    assert group_flags.groups(["16"], []) == 16


def test_neighbors_by_name() -> None:
    """The two rules are said by their names."""
    for rule in Neighbors:
        assert read({"counts": "1", "neighbors": rule.value}).workload.neighbors is rule


@pytest.mark.parametrize("read", [flags.choice, flags.bins, lambda text: flags.items(text, None)])
def test_so_many_are_not_tried_out(read: Callable[[str], object]) -> None:
    """Numbers alone make as many categories, bands or items, up to a limit."""
    assert read("1000")
    with pytest.raises(hn.InvalidParameterError, match="from 1 to 100,000, got '100001'"):
        read("100001")


GERMAN = ({"dialect": "de"}, {"dates": "dd.mm.yyyy"}, {"dialect": "en-us", "dates": "dd.mm.yyyy"})


@pytest.mark.parametrize("text", GERMAN)
def test_days_in_conditions_are_written_as_in_the_file(text: dict[str, str]) -> None:
    """Or in ISO form; both ask for the same."""
    words = {"row-is-person": True, "mu": "1", **text}
    for word, one, other in (
        ("at-least", "01.02.2024", "2024-02-01"),
        ("below", "1.2.2024", "2024-02-01"),
        ("between", "1.2.2024..28.02.2024", "2024-02-01..2024-02-28"),
        ("is", "01.2.2024", "2024-02-01"),
        ("in", "01.02.2024,x,65", "2024-02-01,x,65"),
    ):
        for wanted in (f"seen:{word}:", f"n=seen:{word}:"):
            asked = [read({**words, "count": [wanted + value]}) for value in (one, other)]
            assert asked[0] == asked[1]
        who = [read({**words, "count": ["x"], "where": [f"seen:{word}:{v}"]}) for v in (one, other)]
        assert who[0] == who[1]
        (asked_for,) = who[0].workload.who
        assert "2024-02-01" in asked_for.values
        if word in ("at-least", "below", "between"):
            with pytest.raises(InvalidParameterError, match=r"2026-11-15; write a day so, or as"):
                flags.where(f"seen:{word}:{one}")


def test_days_that_could_be_numbers_are_refused() -> None:
    """Where nothing parts day, month and year; a code is what it is."""
    words = {"row-is-person": True, "mu": "1", "dates": "ddmmyyyy", "count": ["x"]}
    with pytest.raises(InvalidParameterError, match=r"2024-02-01, a number 01022024\.0"):
        read({**words, "where": ["seen:at-least:01022024"]})
    for value in ("seen:is:01022024", "seen:at-least:65", "seen:at-least:01022024.0"):
        (where,) = read({**words, "where": [value]}).workload.who
        assert where.values == (value.rpartition(":")[2],)
    with pytest.raises(InvalidParameterError, match="neither numbers nor days"):
        read({**words, "dates": "dd.mm.yyyy", "where": ["seen:at-least:31.02.2024"]})
