from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from support.measured import grid_for
from support.nasty import found

q: Any = hn  # what strict types would refuse is tried, too

WHOLE = 2**16


def totals(frame: pl.DataFrame, query: Any) -> list[int]:
    """Return the totals of items."""
    workload = hn.Workload([query])
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    sums: list[int] = found(frame, workload, grid, ["id"])[0][0]
    return sums


def rows(*pairs: tuple[Any, Any]) -> pl.DataFrame:
    """Return a table of people and items."""
    return pl.DataFrame({"id": [a for a, _ in pairs], "item": [b for _, b in pairs]}, strict=False)


def test_sets() -> None:
    """A person's repeated rows of one item count once, unlisted items and nulls never."""
    frame = rows((1, "a"), (1, "a"), (1, "z"), (1, None), (2, "b"), (None, "b"))
    assert totals(frame, q.Items("item", ["a", "b", "c"], at_most=2)) == [WHOLE, WHOLE, 0]
    assert totals(frame, q.Items("item", ["a", "b", "c"])) == [1, 1, 0]


def test_busy_people_are_scaled_down() -> None:
    """Who has more than allowed counts a fraction for each; unlisted items do not weigh."""
    frame = rows((1, "a"), (1, "b"), (1, "c"), (1, "z"), (2, "a"))
    third = 2 * WHOLE // 3
    query = q.Items("item", ["a", "b", "c"], at_most=2)
    assert totals(frame, query) == [WHOLE + third, third, third]


@pytest.mark.parametrize(
    ("items", "cell"),
    [(["a", "a "], "a"), ([1, "01"], 1), ([1, "1 "], 1)],
)
def test_items_that_read_the_same(items: list[Any], cell: Any) -> None:
    """Two items that one row would count for are refused: a person would add too much."""
    with pytest.raises(hn.InvalidParameterError, match="read the same"):
        totals(rows((1, cell)), q.Items("item", items, at_most=1))


@pytest.mark.parametrize("items", [["a"], [1.5], [2**62], ["9" * 400], [float("inf")]])
def test_items_of_numbers(items: list[Any]) -> None:
    """Items of a column of numbers must be whole numbers."""
    with pytest.raises(hn.InvalidParameterError, match="a whole number below"):
        totals(rows((1, 1)), q.Items("item", [1, *items], at_most=1))


def test_whole_numbers() -> None:
    """Whole numbers are the same as integers, as floats and beyond 2^53; fractions are not."""
    query = q.Items("item", [1, "2", 3.0], at_most=1)
    assert totals(rows((1, 1), (2, 2), (3, 9)), query) == [WHOLE, WHOLE, 0]
    floats = rows((1, 1.0), (2, 2.5), (3, float("nan")), (4, float("inf")), (5, 1e300), (6, 3.0))
    assert totals(floats, query) == [WHOLE, 0, WHOLE]
    near = q.Items("item", [2**60, 2**60 + 1], at_most=1)
    assert totals(rows((1, 2**60 + 1)), near) == [0, WHOLE]


def test_many_items() -> None:
    """A list of a hundred thousand items is joined, not spelled out."""
    query = q.Items("item", range(100_000), at_most=3)
    found_ = totals(rows((1, 99_999), (2, 5), (3, 5)), query)
    assert (found_[5], found_[99_999], sum(found_)) == (2 * WHOLE, WHOLE, 3 * WHOLE)
