import pytest

from halfnoise.text import above, at_most, percent, short, text_table, width


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (0.0, "0"),
        (45.54, "45.5"),
        (999.6, "1,000"),
        (1e-7, "1e-07"),
        (1234567.0, "1,230,000"),
        (-0.05, "-0.05"),
    ],
)
def test_three_digits_count(x: float, said: str) -> None:
    """A margin is shown with three digits."""
    assert short(x) == said


def test_probabilities_are_never_rounded_to_certainty() -> None:
    """Only what is certain is 100%."""
    assert percent(0.9996) == "over 99.9%"
    assert percent(1.0) == "100%"
    assert percent(0.5) == "50%"


@pytest.mark.parametrize("x", [0.5, 0.5001, 0.547, 0.54712, 0.691, 0.999, 0.9990001, 0.99953, 1.0])
def test_bounds_of_probabilities_are_bounds(x: float) -> None:
    """What a guess is right in at most is not less than it is, nor much more, nor certain."""
    said = float(at_most(x).removesuffix("%")) / 100
    assert said == pytest.approx(above(x), abs=1e-15)
    assert x - 1e-15 <= said < x + 0.001
    assert (said == 1) == (x == 1)


def test_columns_are_aligned() -> None:
    """Text stands to the left, numbers to the right, and no line ends in spaces."""
    lines = text_table(["", "a", "long name"], [["x", "1", ""], ["yy", "22", "3"]]).splitlines()
    assert lines == ["     a  long name", "x    1", "yy  22          3"]


ODD = "日本\n語\x1b[31m\r\t\x9b2J\u202e\x85\u2028\x00"


def test_a_cell_is_on_one_line_and_orders_no_terminal() -> None:
    """Whatever somebody wrote into a list: a row is a line, without control characters."""
    text = text_table(["a", ODD], [[ODD, "1"], ["b", "2"]])
    assert text.count("\n") == 2
    assert not {*text} & {*"\x1b\r\t\x9b\u202e\x85\u2028\x00"}
    assert len({width(line) for line in text.split("\n")}) == 1


def test_wide_characters_align() -> None:
    """Characters that take two columns, or none, leave the columns of a table straight."""
    names = ["smoker", "\u6771\u4eac", "cafe\u0301", "\uff21", "\u200bhidden"]
    rows = text_table(["", "x"], [[name, "1"] for name in names]).splitlines()[1:]
    assert {width(row) for row in rows} == {9}
    assert [len(row) for row in rows] == [9, 7, 10, 8, 10]
