import re
from collections.abc import Callable

import narwhals as nw
import pyarrow as pa
import pytest

import halfnoise as hn
from halfnoise.workload.sets import Answered, AtMost, Box, OneOf

ADULTS = hn.Where("age", at_least=18)


def test_names_of_what_comes_out() -> None:
    """Estimates are named after the query and what it counts."""
    assert hn.Count("smoker").names == ("smoker",)
    assert hn.Count("age", at_least=65, name="old").names == ("old",)
    assert hn.Sum("visits", bounds=(0, 20)).names == ("visits",)
    assert hn.Mean("income", bounds=(0, 1)).names == ("income sum", "income answered")
    assert hn.Choice("blood", ["A"], name="type").names == ("type=A", "type=other")
    assert hn.Choice("blood", ["A", "none"], other="none").names == ("blood=A", "blood=none")
    assert hn.Bins("age", [0.5, 18]).names == ("age=0.5 to 18", "age=18 and over", "age=other")
    assert hn.Items("drug", ["x"]).names == ("drug=x",)


def test_columns_that_are_read() -> None:
    """A query reads its column and that of its condition, and a plan-only one reads none."""
    assert hn.Count("smoker", where=ADULTS).columns == ("smoker", "age")
    assert hn.Sum("visits", bounds=(0, 1)).columns == ("visits",)
    assert hn.Counts(3).columns == ()
    assert hn.Count(nw.col("a") > 1, name="big").columns == ()


def test_what_one_person_may_contribute() -> None:
    """The set K: a box, one category, at most some, or an answer that may be missing."""
    assert hn.Count("a").shape == Box(1)
    assert hn.Sum("a", bounds=(-1, 4)).shape == Box(1, -1, 4)
    assert hn.Mean("a", bounds=(1, 4)).shape == Answered(1, 4)
    assert hn.Choice("a", ["x", "y"]).shape == OneOf(3)
    assert hn.Bins("a", [0, 1]).shape == OneOf(3)
    assert hn.Items("a", ["x", "y"]).shape == Box(2)
    assert hn.Items("a", ["x", "y"], at_most=2).shape == Box(2)
    assert hn.Items("a", ["x", "y", "z"], at_most=1).shape == AtMost(3, 1)


def test_a_condition_lets_people_contribute_nothing() -> None:
    """Under a condition zero and no category are possible, too."""
    assert hn.Sum("a", bounds=(2, 4), where=ADULTS).shape == Box(1, 0, 4)
    assert hn.Sum("a", bounds=(-4, -2), where=ADULTS).shape == Box(1, -4, 0)
    assert hn.Choice("a", ["x"], where=ADULTS).shape == AtMost(2, 1)


def test_lists_become_tuples_and_one_code_will_do() -> None:
    """Queries are values: equal, hashable, whatever kind of list they were made of."""
    assert hn.Choice("a", ["x", "y"]) == hn.Choice("a", ("x", "y"))
    assert hash(hn.Bins("a", [0, 1])) == hash(hn.Bins("a", (0, 1)))
    assert hn.Count("a", true="2").true == hn.Count("a", true=["2"]).true == ("2",)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: hn.Count(""), "column must be a column's name, got ''; for example 'age', or an"),
        (lambda: hn.Count(nw.col("a")), "an expression needs a name"),
        (lambda: hn.Count("a", name=""), "name must be text"),
        (lambda: hn.Count("a", true=["1"], at_least=1), "a condition or true=, not both"),
        (lambda: hn.Count("a", at_least=1, below=2), "got at_least and below"),
        (lambda: hn.Count("a", where="b"), "where must be a Where"),  # type: ignore[arg-type]
        (lambda: hn.Count("a", missing=5j), "missing must be a list"),  # type: ignore[arg-type]
        (lambda: hn.Counts(0), "counts must be a whole number of at least 1, got 0"),
        (lambda: hn.Counts(True), "counts must be a whole number"),
        (lambda: hn.Sum("a", bounds=(1, 1)), "a low number below a high one"),
        (lambda: hn.Sum("a", bounds=(0, float("inf"))), "high must be a finite number"),
        (lambda: hn.Sum("a", bounds="01"), "bounds must be two numbers"),  # type: ignore[arg-type]
        (lambda: hn.Mean("a", bounds=("0", 1)), "low must be a finite"),  # type: ignore[arg-type]
        (lambda: hn.Choice("a", "xyz"), "categories must be a list"),
        (lambda: hn.Choice("a", []), "categories must list at least one"),
        (lambda: hn.Choice("a", ["x", "x"]), "different from each other, got 'x'"),
        (lambda: hn.Bins("a", [1, 0]), "edges must be numbers in rising order"),
        (lambda: hn.Bins("a", []), "edges must be numbers in rising order"),
        (lambda: hn.Bins("a", ["x"]), "finite number, got 'x'; for example edges"),  # type: ignore[list-item]
        (lambda: hn.Items("a", ["x", "y"], at_most=3), "at_most must be at most 2, got 3"),
        (lambda: hn.Items("a", ["x", "y"], at_most=0), "at_most must be a whole number"),
        (lambda: hn.Items("a", ["x"], at_most=1.0), "at_most must"),  # type: ignore[arg-type]
    ],
)
def test_bad_queries_are_refused(make: object, said: str) -> None:
    """What cannot be asked is refused with its rule and the value."""
    assert callable(make)
    with pytest.raises(hn.InvalidParameterError) as refused:
        make()
    assert said in str(refused.value)


ONE = pa.table({"c": [1]})
HALF = "a\ud83d"  # of a surrogate pair; what a terminal makes of a byte that it cannot read


@pytest.mark.parametrize(
    "ask",
    [
        lambda: hn.Count(HALF),
        lambda: hn.Count("c", name=HALF),
        lambda: hn.Count("c", true=[HALF]),
        lambda: hn.Count("c", missing=HALF),
        lambda: hn.Choice("c", ["a", HALF]),
        lambda: hn.Choice("c", ["a"], other=HALF),
        lambda: hn.Items("c", ["a", HALF], at_most=1),
        lambda: hn.Bins("c", [0, 1], other=HALF),
        lambda: hn.Where("c", equals=HALF),
        lambda: hn.Where("c", is_in=["a", HALF]),
        lambda: hn.By(HALF),
        lambda: hn.Workload([hn.Count("c")], by="b", groups=["a", HALF]),
        lambda: hn.Workload([hn.Count("c")], by="b", groups=["a"], other=HALF),
        lambda: hn.TextFormat(names=["c", HALF]),
        lambda: hn.release(ONE, [hn.Count("c")], unit=HALF, privacy=hn.GaussianDP(mu=1)),
    ],
)
def test_half_of_a_character_is_refused_wherever_text_is_given(ask: Callable[[], object]) -> None:
    """No engine holds it and no output can show it; in a list it could meet rows of another."""
    with pytest.raises(hn.InvalidParameterError, match=re.escape(repr(HALF))):
        ask()
