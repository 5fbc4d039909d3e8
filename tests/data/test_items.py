import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data import items
from halfnoise.data import totals as prepare
from halfnoise.data.sources import open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.spelling import Spelling
from support.commands import run
from support.measured import grid_for
from support.nasty import found
from support.reference import is_item
from support.slow_cells import SlowCells

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


def test_a_column_of_another_type() -> None:
    """It is refused for what it holds, whichever items are listed."""
    days = pl.DataFrame({"i": ["2026-11-15"]}).with_columns(pl.col("i").str.to_date())
    for listed in (["a"], [1]):
        with pytest.raises(hn.InvalidParameterError, match="holds Date, not text or whole"):
            totals(days.with_columns(id=1), q.Items("i", listed))


def test_many_items() -> None:
    """A list of a hundred thousand items is joined, not spelled out."""
    query = q.Items("item", range(100_000), at_most=3)
    found_ = totals(rows((1, 99_999), (2, 5), (3, 5)), query)
    assert (found_[5], found_[99_999], sum(found_)) == (2 * WHOLE, WHOLE, 3 * WHOLE)


def weighed(frame: Any, query: Any, unit: Sequence[str] = ()) -> list[int]:
    """Return totals, in parts of a person; each row is one, unless a unit is named."""
    workload = hn.Workload([query]) if unit else hn.Workload([query]).of_rows()
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    sums: list[int] = found(frame, workload, grid, unit)[0][0]
    return sums


def by_id(frame: Any, query: Any, unit: Sequence[str] = ()) -> list[list[int]]:
    """Return the totals of each id, in parts of a person."""
    workload = hn.Workload([query], by="id", groups=range(len(PARTED)), other=None)
    grid = grid_for(hn.plan(hn.Workload([query]), privacy=hn.GaussianDP(mu=1)))
    with open_source(frame, text=TextFormat()) as source:
        exact = prepare.prepared(source.of(["id", "item"]), workload, grid.blocks, unit or None)()
    sums: list[list[int]] = exact.sums[0].tolist()
    return sums


CODES = q.Items("item", ["J45", "E11.9", "E11.*", "E1*"], split=";", at_most=2)
PARTED: list[tuple[str | None, list[float]]] = [
    ("J45", [1, 0, 0, 0]),
    (" x ;; J45; ", [1, 0, 0, 0]),
    ("J45;J45;J45 ;E10", [1, 0, 0, 1]),
    ("J45;E11.9", [0.5, 0.5, 0.5, 0.5]),
    ("E11.91;E10;j45", [0, 0, 1, 1]),
    ("E11", [0, 0, 0, 1]),
    ("J45;" * 2500, [1, 0, 0, 0]),
    ("J45;" * 2501, [0, 0, 0, 0]),
    (";" * 200_000, [0, 0, 0, 0]),
    ("", [0, 0, 0, 0]),
    (None, [0, 0, 0, 0]),
]


@pytest.mark.parametrize("frame", [pl.DataFrame.lazy, pl.DataFrame.to_arrow])
def test_codes_in_a_cell(frame: Callable[[pl.DataFrame], Any]) -> None:
    """Parts are stripped, count once, and share what a person may add: by row and by person."""
    table = rows(*((place, cell) for place, (cell, _) in enumerate(PARTED)))
    both = [[int(part * WHOLE) for part in parts] for _, parts in PARTED]
    twice = pl.concat([table, table, rows((None, "J45"))])
    assert by_id(frame(twice), CODES, ["id"]) == both
    assert by_id(frame(twice), CODES) == [[2 * part for part in parts] for parts in both]


def test_parts_of_several_rows_are_one_set() -> None:
    """A person's rows are put together before they are weighed; other people's are not."""
    frame = rows((1, "J45;E10"), (1, "E10;E11.9"), (2, "E10"))
    assert weighed(frame, CODES, ["id"]) == [WHOLE // 2, WHOLE // 2, WHOLE // 2, 3 * WHOLE // 2]


def test_no_row_adds_more_than_it_may() -> None:
    """Whatever is in a cell, the row's parts add up to at most what is allowed."""
    draw = random.Random(5)
    pieces = ["J45", " E11.9", "E11.9 ", "E11.2", "E1", "", "-99", "x", "J45;J45"]
    for mark in (";", ", ", "\\E", ".*", "é", "\n"):
        query = replace(CODES, split=mark, items=("J45", "E1*", "E11*", "x"), missing=("-99",))
        for _ in range(3):
            cells = mark.join(draw.choices(pieces, k=draw.randint(0, 12)))
            for unit in ((), ("id",)):
                assert sum(weighed(rows((1, cells)), query, unit)) <= 2 * WHOLE


def test_a_code_for_missing_is_none() -> None:
    """A code for missing is none as a part, and as the whole cell, which may hold the mark."""
    query = replace(CODES, missing=("E11.9", "J45;none"))
    assert weighed(rows((1, "E11.9 ;J45")), query) == [WHOLE, 0, 0, 0]
    assert weighed(rows((1, "J45;none")), query) == [0, 0, 0, 0]
    assert weighed(rows((1, "none;J45")), query) == [WHOLE, 0, 0, 0]


def test_numbers_are_not_split() -> None:
    """A column of numbers has one code in each cell, as if there were no mark."""
    query = q.Items("item", [1, 2, 3], split="2", at_most=1)
    assert weighed(rows((1, 12), (2, 2)), query) == [0, WHOLE, 0]


def test_beginnings_without_parts() -> None:
    """A cell of one code can be as many items as begin so: each row is held to that."""
    query = q.Items("item", ["E11.9", "E11.*", "E*", r"G63\*", "A*1"])
    assert query.of_rows().at_most == 3
    frame = rows((1, "E11.9"), (2, "E1"), (3, "G63*"), (4, "G63.1"), (5, "A*1"), (6, "Axx1"))
    frame = pl.concat([frame, rows((7, "A*1234"), (8, "E11.9" * 2))])
    assert weighed(frame, query) == [WHOLE, 2 * WHOLE, 3 * WHOLE, WHOLE, WHOLE]
    few = replace(query, at_most=1)
    third, half = WHOLE // 3, WHOLE // 2
    assert weighed(frame, few) == [third, third + half, WHOLE + third + half, WHOLE, WHOLE]
    assert weighed(frame, few, ["id"]) == weighed(frame, few)


@pytest.mark.parametrize("ignore_case", [False, True])
def test_no_code_is_more_items_than_a_row_may_have(ignore_case: bool) -> None:  # noqa: FBT001
    """Whatever is listed and whatever a file says of case, or some would count as a fraction."""
    draw, cells = random.Random(3), SlowCells(spelling=Spelling(ignore_case=ignore_case))
    letters, several = "eE 1\u0130i\u0307\u03a3\u03c3\u03c2\xdf\u1e9eSs", 0
    for _ in range(2_000):
        texts = ["".join(draw.choices(letters, k=draw.randint(1, 3))).strip() for _ in range(4)]
        apart = {cells.code(text): text for text in texts if text.strip()}
        listed = [f"{text}{draw.choice(['*', ''])}" for text in apart.values()] or ["e"]
        most = q.Items("item", listed).of_rows().at_most
        for text in texts:
            codes = [text + draw.choice(["", *letters]) for _ in range(3)]
            each = [sum(is_item(code, item, cells) for item in listed) for code in codes]
            assert max(each) <= most, (listed, codes)
            several += max(each) > 1
    assert several > 100


def test_only_beginnings_of_one_length() -> None:
    """A list of beginnings alone needs no whole codes beside them."""
    query = q.Items("item", ["E1*", "J4*", "K*"][:2], at_most=1)
    assert weighed(rows((1, "E10"), (2, "J"), (3, "J45")), query) == [WHOLE, WHOLE]


@pytest.mark.parametrize("items", [["E11*", "E11* "], ["a", " a"], ["a*", "a*"]])
def test_beginnings_that_read_the_same(items: list[str]) -> None:
    """A beginning twice is refused; beside the code of the same letters it is another item."""
    with pytest.raises(hn.InvalidParameterError, match=r"read the same|different from each"):
        totals(rows((1, "a")), q.Items("item", items, at_most=1))
    assert totals(rows((1, "a")), q.Items("item", ["a", "a*"])) == [1, 1]


def test_codes_in_any_case(tmp_path: Path) -> None:
    """Where case and spaces do not matter, they matter neither in parts nor in beginnings."""
    (path := tmp_path / "a.csv").write_text(
        "item\n j 45;e11.9 \nE 11.2\nJ45;j45\n", encoding="utf-8"
    )
    query = q.Items("item", ["J45", "E 11.*"], split=";", at_most=1)
    workload = hn.Workload([query])
    grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
    with open_source(path, text=TextFormat(ignore_case=True)) as source:
        exact = prepare.prepared(source.of(["item"]), workload, grid.blocks, None)()
    assert exact.sums[0].tolist() == [[WHOLE // 2 + WHOLE, WHOLE // 2 + WHOLE]]
    path.write_text("item\nE11.9\ne 11.9\nE10\nj\n", encoding="utf-8")
    beginning = ("--items", "item=E11.9,e11*,E 1*", "--ignore-case", "--row-is-person")
    assert [*run("release", path, *beginning, "--mu", "1e6").table.values()] == [2, 2, 3]


def hold() -> None:
    """Hold what is said above of cells."""
    test_codes_in_a_cell(pl.DataFrame.to_arrow)
    test_a_code_for_missing_is_none()
    test_beginnings_without_parts()


FAULTS = {
    "not stripped": ("part.code().alias", "nw.col(_ITEM).alias"),
    "too short": ("1 + max(map(len, self.keys))", "max(map(len, self.keys))"),
    "not distinct": (
        'rows.group_by(*people, *weight, *group, PLACE).agg(nw.len().alias("hn_rows"))',
        "rows",
    ),
    "not weighed": ("(query.at_most or items) < items", "False"),
    "each cell once": ("(counts * times)", "(counts * 1)"),
    "of any length": ("<= LONGEST_CELL", ">= 0"),
    "cells by themselves": ("not people and (splits or listed.several)", "False"),
    "missing parts count": (".filter(part.present())", ""),
    "missing cells count": ("own.text(), own.present()", "own.text(), nw.lit(value=True)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds of the cells above does not hold where one step is left out."""
    right, wrong = FAULTS[fault]
    source = Path(items.__file__).read_text(encoding="utf-8")
    assert right in source
    broken = ModuleType("broken")
    exec(source.replace(right, wrong), vars(broken))  # noqa: S102  # our own, with a fault
    monkeypatch.setattr(prepare, "item_totals", broken.item_totals)
    with pytest.raises(AssertionError):
        hold()
