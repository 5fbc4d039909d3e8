import datetime as dt

import pytest

import halfnoise as hn
from halfnoise.workload.conditions import WORDS, as_date, as_number

DAY = dt.date(2026, 11, 15)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (hn.Where("age", at_least=65), "age at least 65"),
        (hn.Where("age", up_to=17.5), "age up to 17.5"),
        (hn.Where("sex", equals="F"), "sex is F"),
        (hn.Where("sex", is_in=["F", "X"]), "sex is in F, X"),
        (hn.Where("day", between=(DAY, "2026-12-31")), "day between 2026-11-15 and 2026-12-31"),
    ],
)
def test_conditions_say_themselves(where: hn.Where, said: str) -> None:
    """A condition reads like a sentence."""
    assert str(where) == said


def test_one_word_and_no_more() -> None:
    """Exactly one word is given."""
    for words in ({}, {"at_least": 1, "below": 5}):
        with pytest.raises(hn.InvalidParameterError, match=r"'age' needs one of at_least, above"):
            hn.Where("age", **words)  # type: ignore[arg-type]


@pytest.mark.parametrize("word", [word for word in WORDS if word not in ("equals", "is_in")])
@pytest.mark.parametrize("value", ["old", "", "nan", "1_0", True])
def test_an_order_needs_numbers_or_days(word: str, value: object) -> None:
    """Text has no order here: no engine would agree on one."""
    given = (value, value) if word == "between" else value
    with pytest.raises(hn.InvalidParameterError, match="compares with neither numbers nor days"):
        hn.Where("age", **{word: given})  # type: ignore[arg-type]


@pytest.mark.parametrize("pair", [(9, 1), ("10", "9"), ("2026-12-31", DAY)])
def test_between_goes_from_low_to_high(pair: tuple[object, object]) -> None:
    """Bounds the wrong way round would let nobody through, and are refused."""
    with pytest.raises(hn.InvalidParameterError, match="a lowest and a highest value"):
        hn.Where("age", between=pair)  # type: ignore[arg-type]


def test_days_and_numbers_do_not_mix() -> None:
    """A day and a number are not compared with one column."""
    with pytest.raises(hn.InvalidParameterError, match="neither numbers nor days"):
        hn.Where("age", between=(1, DAY))


@pytest.mark.parametrize(
    "given",
    [
        {"is_in": []},
        {"between": (1, 2, 3)},
        {"equals": float("nan")},
        {"equals": object()},
        {"is_in": 2 + 3j},
    ],
)
def test_what_cannot_be_compared_is_refused(given: dict[str, object]) -> None:
    """Empty lists, three bounds, NaN and foreign things are refused."""
    with pytest.raises(hn.InvalidParameterError, match="must be"):
        hn.Where("age", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("column", ["", None, 5])
def test_a_condition_has_a_column(column: str) -> None:
    """A column is named by text."""
    with pytest.raises(hn.InvalidParameterError, match="column must be a column's name"):
        hn.Where(column, at_least=1)


def test_numbers_that_values_spell() -> None:
    """Numbers are spelled as in files: not as in Python code, and NaN is none."""
    assert [as_number(x) for x in ("65", " 6.5e1 ", 65, "-0")] == [65, 65, 65, 0]
    assert [as_number(x) for x in ("1_000", "nan", "F", True, DAY, 10**400)] == [None] * 6


def test_days_that_values_spell() -> None:
    """Days are spelled year-month-day; a moment is on its day."""
    assert as_date("2026-11-15") == as_date(DAY) == as_date(dt.datetime(2026, 11, 15, 9)) == DAY
    assert [as_date(x) for x in ("15.11.2026", "20261115", "2026-13-01", 20261115)] == [None] * 4
