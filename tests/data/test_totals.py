import math
from typing import Any

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data import batches, contributions, many
from halfnoise.data.sources import frames, open_source, parquet
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.spelling import PLAIN
from halfnoise.data.totals import prepared
from halfnoise.design.measurement import CenteredMeasurement
from support import engines, nasty_cells
from support.measured import grid_for
from support.nasty import found
from support.quanta import out_of_quanta
from support.soak import SOAKS

q: Any = hn  # what strict types would refuse is tried, too


def people(unit: list[Any], dtype: Any = None) -> int:
    """Return how many people a column of units tells apart."""
    frame = pl.DataFrame({"id": pl.Series(unit, dtype=dtype), "a": [True] * len(unit)})
    workload, grid = placed(q.Count("a"))
    sums, number = found(frame, workload, grid, ["id"])
    assert sums == [[number]]
    return int(number)


def placed(*queries: Any) -> tuple[hn.Workload, CenteredMeasurement]:
    """Return queries on their grid."""
    workload = hn.Workload(queries)
    return workload, grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))


def test_units() -> None:
    """Rows without a unit are nobody's, and what is equal is one person."""
    assert people([1, 1, 2, None]) == 2
    assert people([0.0, -0.0, float("nan"), None, 1.5]) == 2
    assert people(["a", "A", "a ", "", "  ", None]) == 3
    assert people([2**53, 2**53 + 1]) == 2
    assert people([2**64 - 1, 2**64 - 2], pl.UInt64) == 2
    assert people([True, False, None]) == 2
    assert people(["x", "y", "x"], pl.Categorical) == 2
    assert people([b"\xff", b"\xfe", b"\xff"]) == 2


def test_units_of_mixed_objects() -> None:
    """A person's row never changes how another's unit is read; a number is not its text."""
    workload, grid = placed(q.Count("a"))
    units = ["7", 8, "9", 7.5, "8"]
    for extra in ([], [b"\xff"], ["\ud800"], [None], [object()]):
        frame = pd.DataFrame({"id": pd.Series([*units, *extra], dtype=object)})
        _, number = found(frame.assign(a=True), workload, grid, ["id"])
        assert number == 5 + (extra == [b"\xff"])  # what is no text names nobody


@pytest.mark.parametrize(
    "name", ["hn_unit1", "unit0", "HN_UNIT0", "cell0", "hn0_0", "s0", "people", "hn_item", "hn_0"]
)
@pytest.mark.parametrize("engine", ["polars", "duckdb", "csv", "pandas"])
def test_names_of_our_own(name: str, engine: str, tmp_path: Any) -> None:
    """Columns named like those made on the way split nobody in two."""
    table = pl.DataFrame({"id": ["p", "p", "q"], name: ["1", "2", "1"]}).to_arrow()
    workload, grid = placed(q.Count(name, name="n"), q.Items(name, ["1", "2"], at_most=1, name="i"))
    sums, number = found(engines.ENGINES[engine](table, tmp_path), workload, grid, ["id"])
    assert (sums, number) == ([[2], [2**15 + 2**16, 2**15]], 2)


EXPRESSIONS = {
    "flag": (q.Count(nw.col("x") > 2, name="e"), [2]),
    "either": (q.Count((nw.col("x") > 2) | (nw.col("y") == "b"), name="e"), [3]),
    "number": (q.Count(nw.col("x") - 2, name="e"), [1]),
    "when": (q.Count(nw.when(nw.col("x") > 1).then(nw.lit("yes")), name="e"), [3]),
    "sum": (q.Sum(nw.col("x") * 2, bounds=(0, 7), name="e"), [2 + 4 + 6 + 7]),
    "choice": (q.Choice(nw.col("y").str.to_uppercase(), ["A", "B"], name="e"), [2, 1, 1]),
}


# Spark, which takes long, is asked for a condition, a number and a text.
ASKED = [
    (engine, name)
    for engine in sorted(engines.TYPED.keys() - {"pandas-objects"})
    for name in EXPRESSIONS
    if SOAKS or engine != "spark" or name in ("when", "sum", "choice")
]


@pytest.mark.parametrize(("engine", "name"), ASKED)
def test_expressions(engine: str, name: str, tmp_path: Any) -> None:
    """An expression that looks at one row at a time is read like a column of its own type."""
    query: Any
    query, expected = EXPRESSIONS[name]
    table = pl.DataFrame({"x": [1, 2, 3, 4], "y": ["a", "b", "a", "c"]}).to_arrow()
    workload, grid = placed(query)
    sums, people = found(engines.ENGINES[engine](table, tmp_path), workload, grid, ())
    assert out_of_quanta(sums[0], grid.blocks[0], people) == expected


@pytest.mark.parametrize(
    "expression",
    [
        nw.col("x") > nw.col("x").mean(),
        nw.col("x").rank() > 1,
        nw.col("x").shift(1) > 1,
        nw.col("x").is_unique(),
        nw.col("x").max().over("y") > 1,
        nw.col("x").fill_null(strategy="forward") > 1,
        nw.when(nw.col("x") > 1).then(nw.col("x").max()) > 1,
        nw.col("x").map_batches(lambda s: s) > 1,
        nw.len() > 1,
    ],
)
def test_expressions_over_several_rows(expression: Any) -> None:
    """An expression through which one person could change another's part is refused."""
    frame = pl.DataFrame({"x": [1, 2, 3]})
    workload, grid = placed(q.Count(expression, name="e"))
    with pytest.raises(hn.InvalidParameterError, match="more than one row"):
        found(frame, workload, grid, ())


def test_order_does_not_matter() -> None:
    """Totals are the same in every order of rows."""
    frame = pl.DataFrame({"id": [i % 50 for i in range(500)], "x": [i * 0.37 for i in range(500)]})
    workload, grid = placed(q.Sum("x", bounds=(0, 99.9)), q.Mean("x", bounds=(3, 77), name="m"))
    first = found(frame, workload, grid, ["id"])
    for seed in range(3):
        shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
        assert found(shuffled, workload, grid, ["id"]) == first


MANY = 2**16 + 3  # rows, beyond what the small number holds that says yes


@pytest.mark.parametrize("engine", ["polars", "duckdb", "parquet", "spark"])
def test_many_people_add_up(engine: str, tmp_path: Any) -> None:
    """Yes is a small number, but not what it adds up to, nor in a group."""
    table = pl.DataFrame({"a": [True] * MANY, "g": ["x"] * MANY}).to_arrow()
    data = engines.ENGINES[engine](table, tmp_path)
    workload, grid = placed(q.Count("a"))
    assert found(data, workload, grid, ()) == ([[MANY]], MANY)
    by = hn.Workload([q.Count("a")], by="g", groups=["x"])
    assert found(data, by, grid_for(hn.plan(by, privacy=hn.GaussianDP(mu=1))), ()) == (
        [[MANY]],
        MANY,
    )


@pytest.mark.parametrize("engine", ["csv", "jsonl", "parquet", "polars", "duckdb"])
@pytest.mark.parametrize("unit", [(), ("id",)])
def test_batches(
    engine: str, unit: tuple[str, ...], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts that are read in several batches are the same as those read in one."""
    columns = {f"c{i}": [i % 2, i % 3 == 0, 1, i % 5 > 1] for i in range(8)}
    table = pl.DataFrame({"id": ["p", "p", "q", "r"]} | columns, strict=False).to_arrow()
    workload, grid = placed(*(q.Count(name) for name in columns))
    data = engines.ENGINES[engine](table, tmp_path)
    whole = found(data, workload, grid, unit)
    monkeypatch.setattr(batches, "_COLUMNS", 3)
    assert len(batches.batched(grid.blocks, apart=True)) == 3
    assert found(data, workload, grid, unit) == whole


def test_a_column_missing_in_a_later_batch(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who knows a column is told the nearest one, in whichever batch it would be."""
    monkeypatch.setattr(batches, "_COLUMNS", 1)
    (path := tmp_path / "x.csv").write_text("smoker,drinker\n1,0\n")
    with pytest.raises(hn.InvalidParameterError, match="did you mean 'drinker'"):
        hn.release(
            path,
            [q.Count("smoker"), q.Count("drinkr")],
            row_is_person=True,
            privacy=hn.GaussianDP(mu=1),
            ledger=None,
        )


@pytest.mark.parametrize("engine", ["csv", "duckdb", "polars"])
@pytest.mark.parametrize("codes", [(), ("J45", 2, "it's"), (True, "ja")])
def test_what_is_made_once_for_many_is_the_same(
    engine: str, codes: tuple[Any, ...], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts whose rule is made once for all of them, or for each: any cells say the same."""
    kept = [cell for cell in nasty_cells.cells(PLAIN, 5) if cell is None or "\0" not in cell][:120]
    rows = len(kept) // 3
    plain = ["J45", "2", "it's", "1", "ja", "n", "-99"]
    table = pl.DataFrame({f'a"{i}': [*plain, *kept[i * rows :][:rows]] for i in range(3)})
    missing = {'a"2': ("-99", "n")}
    asked = [hn.Count(c, true=codes, missing=missing.get(c, ())) for c in table.columns]
    workload, grid = placed(*asked)
    data = engines.ENGINES[engine](table.to_arrow(), tmp_path)
    seen = []
    for least in (1, 100):
        monkeypatch.setattr(contributions, "_ALIKE", least)
        seen.append(found(data, workload, grid, []))
    assert seen[0] == seen[1]
    assert sum(seen[0][0][0]) > 0


LINES = [
    "1,yes,0,no",
    "",
    '"1",Ja,"y, or n",1',
    "1",
    '0,"1',
    "T,1.0, 1 ,TRUE,1,1",
    "\x001,1,,true",
    'x,"no","""1""",N',
]


@pytest.mark.parametrize("spelling", [{}, {"yes": ("ja",), "quote": None}, {"ignore_case": True}])
@pytest.mark.parametrize("codes", [(), ("J45", 1, "no"), (True, "x")])
@pytest.mark.parametrize("missing", [(), ("1", "N")])
def test_counts_in_rows(
    spelling: Any, codes: Any, missing: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many counts of a text file whose cells become rows are those of its columns.

    Whatever cells say, lines are short, too long or blank, and one column is asked twice.
    """
    (path := tmp_path / "x.csv").write_text("a,b,c,d\n" + "\n".join(LINES * 3) + "\n")
    asked = [hn.Count(c, true=codes, missing=missing, name=f"{c}{i}") for i, c in enumerate("dacb")]
    workload, grid = placed(*asked, hn.Count("a", true=codes, missing=missing, name="again"))
    text = TextFormat(**spelling)
    seen = []
    for most in (400, 3):
        monkeypatch.setattr(batches, "_COLUMNS", most)
        with open_source(path, text=text) as source:
            exact = prepared(source, workload, grid.blocks, None)()
        seen.append((exact.sums[0].tolist(), exact.people.tolist(), exact.everyone.tolist()))
    assert seen[0] == seen[1]
    assert seen[0][1] == [len(LINES) * 3]
    assert sum(seen[0][0][0]) > 0


KINDS = {
    "yes": pl.Series([True, None, False, True, False]),
    "small": pl.Series([1, 0, None, 2, 255], dtype=pl.UInt8),
    "below": pl.Series([-1, 1, None, 0, -99], dtype=pl.Int16),
    "large": pl.Series([1, 2**63 - 1, None, -(2**63), 1], dtype=pl.Int64),
    "half": pl.Series([1.0, math.nan, None, -0.0, math.inf], dtype=pl.Float32),
    "part": pl.Series([1.0, math.nan, None, 0.5, 1 + 2**-52]),
    "money": pl.Series([1, 2, None, 0, 99], dtype=pl.Decimal(9, 2)),
    'odd"name': pl.Series([1, 1, None, 1, 2]),
}


@pytest.mark.parametrize("codes", [(), (1,), ("2", 0.5, -99), (True, "x")])
@pytest.mark.parametrize("missing", [(), (1, "-99")])
def test_counts_of_a_type_at_once(
    codes: Any, missing: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many counts of a wide Parquet file are the same whether they are read at once or apart.

    Whatever the types, what is missing, and where one column is asked twice.
    """
    pl.DataFrame(KINDS).write_parquet(path := tmp_path / "x.parquet")
    asked = [hn.Count(column, true=codes, missing=missing) for column in KINDS]
    workload, grid = placed(*asked, hn.Count("small", true=codes, missing=missing, name="again"))
    seen, read = [], []

    def summed(*given: Any) -> Any:
        read.append(len(given[1]))
        return frames.summed(*given)

    monkeypatch.setattr(many, "summed", summed)
    for usual, at_once in ((400, 0), (3, 0), (3, 5)):
        monkeypatch.setattr(batches, "_COLUMNS", usual)
        monkeypatch.setattr(parquet, "_MANY", at_once)
        with open_source(path, text=TextFormat()) as source:
            exact = prepared(source, workload, grid.blocks, None)()
        seen.append((exact.sums[0].tolist(), exact.people.tolist(), exact.everyone.tolist()))
    assert seen[0] == seen[1] == seen[2]
    assert read == [5, 4]
    assert seen[0][1] == [5]


def test_counts_are_in_rows_where_they_ask_the_same() -> None:
    """Counts that differ in anything but their columns are not; nor those of some lines alone."""
    some = [hn.Count("a", true=["1"]), hn.Count("b", true=["1"])]
    others = [
        hn.Count("c"),
        hn.Count("c", true=[1]),
        hn.Count("c", true=["1"], missing=["2"]),
        hn.Count("c", at_least=1),
        hn.Count("c", true=["1"], where=q.Where("a", equals=1)),
    ]
    for other in (None, *others):
        workload, grid = placed(*some, *([] if other is None else [other]))
        assert many.ask_the_same(workload, grid.blocks[0]) is (other is None)
    for rules in ({"where": [q.Where("a", equals=1)]}, {"at_most": 1}, {"by": "c", "groups": [1]}):
        workload = hn.Workload(some, **rules)
        grid = grid_for(hn.plan(workload, privacy=hn.GaussianDP(mu=1)))
        assert not many.ask_the_same(workload, grid.blocks[0])


@pytest.mark.parametrize("engine", ["csv", "polars"])
def test_one_and_true_are_not_the_same(
    engine: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codes that Python takes for equal, and cells do not, stay apart in counts that are alike."""
    table = pl.DataFrame({"a": ["yes", "1"], "b": ["yes", "1"]}).to_arrow()
    workload, grid = placed(hn.Count("a", true=[True]), hn.Count("b", true=[1]))
    monkeypatch.setattr(contributions, "_ALIKE", 1)
    data = engines.ENGINES[engine](table, tmp_path)
    assert found(data, workload, grid, [])[0] == [[2, 1]]
