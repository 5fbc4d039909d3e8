"""What a plan says of tables."""

import json
import re
from typing import Any

import polars as pl
import pytest

import halfnoise as hn

SEX, AGE = hn.Choice("sex", ["f"]), hn.Bins("age", [18, 65])  # two and three categories
REGION = hn.Choice("region", ["n", "s", "e"])
NESTED = hn.Nested("state", "county", places=[("CA", "Kern"), ("CA", "Yolo"), ("NV", "Elko")])
GAUSSIAN = hn.GaussianDP(mu=1)
GOLDEN: list[Any] = [SEX, AGE, hn.Table(["sex", "age"], margins=0)]


def blocks(queries: Any, **terms: Any) -> list[dict[str, Any]]:
    """Return the blocks of the chosen design."""
    found = hn.plan(queries, privacy=GAUSSIAN, **terms)
    shown = json.loads(json.dumps(found.to_dict()))
    (design,) = (each for each in shown["designs"] if each["name"] == shown["chosen"])
    return list(design["blocks"])


def test_a_block_for_each_table() -> None:
    """Asked tables come first, then their margins, marked; each with its cells and error."""
    found = blocks([SEX, hn.Table(["sex", AGE, REGION]), hn.Count("x")])
    shown = [(each["kind"], each["label"], each["queries"]) for each in found]
    assert shown == [
        ("count", "x", 1),
        ("table", "sex", 2),
        ("table", "sex,age,region", 24),
        ("table", "age", 3),
        ("table", "region", 4),
        ("table", "sex,age", 6),
        ("table", "sex,region", 8),
        ("table", "age,region", 12),
    ]
    assert [each.get("asked") for each in found] == [None, True, True, *[False] * 5]
    assert all(each["margin"] == pytest.approx(1.959964 * each["std"]) for each in found)
    assert all("average_cell" not in each for each in found)


def test_the_golden_numbers_are_shown() -> None:
    """Those of the theory, as JSON and as text."""
    stds = {each["label"]: each["std"] for each in blocks(GOLDEN)}
    known = {"sex": 1.396853, "age": 1.313977, "sex,age": 1.136770}
    assert stds == pytest.approx(known, abs=1e-6)
    header, *rows = hn.plan(GOLDEN, privacy=GAUSSIAN).table().splitlines()
    assert header.split("  ")[0] == "* correlated-gaussian"
    assert [row.split() for row in rows] == [
        ["sex", "2", "1.4", "±2.74"],
        ["age", "3", "1.31", "±2.58"],
        ["sex,age", "6", "1.14", "±2.23"],
        ["people", "1.89", "±3.71"],
    ]


def test_what_an_average_cell_has() -> None:
    """With a number of people, a plan says how large the error is beside an average cell."""
    found = {each["label"]: each for each in blocks(GOLDEN, people=600)}
    assert found["sex,age"]["average_cell"] == 100
    relative = found["sex,age"]["margin"] / 100
    assert found["sex,age"]["relative_error"] == pytest.approx(relative)
    text = repr(hn.plan(GOLDEN, privacy=GAUSSIAN, people=600))
    assert "average cell" in text
    assert "±2.23%" in text
    assert "Mostly noise" not in text
    assert "average" not in repr(hn.plan(GOLDEN, privacy=GAUSSIAN))
    grouped = blocks(GOLDEN, people=600, by="g", groups=["x"], other=None)
    assert [each["average_cell"] for each in grouped] == [300, 200, 100]
    grouped = blocks(GOLDEN, people=600, by="g", groups=["x", "y"])  # and others
    assert [each["average_cell"] for each in grouped] == pytest.approx([100, 200 / 3, 100 / 3])
    with pytest.raises(hn.InvalidParameterError, match="people must be a positive number, got 0"):
        hn.plan(GOLDEN, privacy=GAUSSIAN, people=0)
    means = blocks([SEX, hn.Mean("pay", bounds=(0, 9), by=["sex"])], people=600)
    assert [each["label"] for each in means if "average_cell" in each] == ["sex"]


def test_what_is_mostly_noise() -> None:
    """Half of an average cell is the line; margins that nobody asked for are not named."""
    noise = blocks([hn.Table([SEX, AGE])])[0]["margin"]
    (few, enough) = (
        repr(hn.plan([hn.Table([SEX, AGE])], privacy=GAUSSIAN, people=6 * 2 * noise * factor))
        for factor in (0.99, 1.01)
    )
    assert "Mostly noise, by an average cell: sex,age (3." in few
    assert "; use fewer axes, coarser bands or a larger budget before you publish them." in few
    assert "Mostly noise" not in enough
    nobody = repr(hn.plan([hn.Table([SEX, AGE])], privacy=GAUSSIAN, people=1))
    assert re.search(r"cell: sex,age \(0.167 people, ±1,180%\); use", nobody)


def alone(importances: list[float], mu: float) -> float:
    """Return the least error of tables by themselves, found by trying splits of the budget."""
    one, other = importances
    return min(
        one / (mu**2 * share) + other / (mu**2 * (1 - share))
        for share in (i / 2000 for i in range(1, 2000))
    )


@pytest.mark.parametrize("importance", [1.0, 4.0])
def test_what_tables_cost_one_by_one(importance: float) -> None:
    """With the best split of the budget, each with noise on its own cells alone."""
    tables: list[Any] = [hn.Table([SEX, AGE], importance=importance), hn.Table([AGE, REGION])]
    found = hn.plan(tables, privacy=hn.GaussianDP(mu=0.5)).tables
    apart = alone([importance, 1.0], 0.5) / (importance + 1)
    assert found["one_by_one_std"] ** 2 == pytest.approx(apart, rel=1e-5)
    listed = blocks(tables)
    here = sum(each["std"] ** 2 * w for each, w in zip(listed, (importance, 1), strict=False))
    assert found["std"] ** 2 == pytest.approx(here / (importance + 1) / 0.25)
    assert found["std"] < found["one_by_one_std"]
    with_others = hn.plan([*tables, hn.Counts(9)], privacy=hn.GaussianDP(mu=0.5))
    assert with_others.tables == pytest.approx(found)
    said = "One by one, with the best split of the budget, the tables would have a standard error"
    assert said in repr(with_others)
    assert with_others.to_dict()["tables"] == with_others.tables


def test_the_largest_error_one_by_one() -> None:
    """Then every table alone has the same error, each times its importance."""
    tables = [hn.Table([SEX, AGE], importance=4), hn.Table([AGE, REGION])]
    found = hn.plan(tables, privacy=GAUSSIAN, objective="largest").tables
    assert found["one_by_one_std"] == pytest.approx(2**0.5)
    shown = blocks([hn.Table([SEX, AGE]), hn.Table([AGE, REGION])], objective="largest")
    alike = hn.plan(
        [hn.Table([SEX, AGE]), hn.Table([AGE, REGION])], privacy=GAUSSIAN, objective="largest"
    )
    assert alike.tables["std"] == pytest.approx(max(each["std"] for each in shown if each["asked"]))


def test_one_table_is_compared_with_nothing() -> None:
    """Nor are queries without tables."""
    some: list[list[Any]] = [[hn.Table([SEX, AGE])], [SEX, AGE]]
    for queries in some:
        found = hn.plan(queries, privacy=GAUSSIAN)
        assert found.tables == {}
        assert "One by one" not in repr(found)
        assert "tables" not in found.to_dict()


BESIDE: list[tuple[list[Any], list[Any], int]] = [
    ([SEX, REGION], [hn.Mean("x", bounds=(0, 9), by=["sex", "region"])], 2),
    ([SEX, REGION], [hn.Count("x", by=["sex"], within=[["region"]]), hn.Count("y")], 2),
    ([NESTED, SEX], [hn.Mean("x", bounds=(0, 9), by=["state"], within=[["county", "sex"]])], 3),
    ([hn.Table([SEX, REGION]), AGE], [hn.Sum("x", bounds=(0, 9), by=["age"])], 2),
]


@pytest.mark.parametrize(("tables", "values", "number"), BESIDE)
def test_values_by_cell_are_beside_the_tables(
    tables: list[Any], values: list[Any], number: int
) -> None:
    """One by one and together are of the tables of people alone, axes of values among them."""
    found = hn.plan([*tables, *values], privacy=GAUSSIAN).tables
    assert found["one_by_one_std"] ** 2 == pytest.approx(number)
    assert found["std"] < found["one_by_one_std"]
    heavy = {each.label: 1e6 for each in values}
    for importance in (heavy, dict.fromkeys(heavy, 1e-06)):
        other = hn.plan([*tables, *values], privacy=GAUSSIAN, importance=importance)
        assert other.tables == pytest.approx(found)


def test_values_alone_are_compared_with_nothing() -> None:
    """Axes that only values are by are no tables that somebody asked for."""
    queries: list[Any] = [hn.Table([SEX, AGE]), hn.Sum("x", bounds=(0, 9), by=["sex"])]
    assert hn.plan(queries, privacy=GAUSSIAN).tables == {}


LISTED: list[list[Any]] = [
    [SEX, REGION, hn.Table(["sex", "region"], margins=0)],
    [SEX, REGION, AGE, hn.Mean("x", bounds=(0, 9), by=["sex"], within=[["region", "age"]])],
    [NESTED, SEX, hn.Mean("x", bounds=(0, 9), by=["state"], within=[["county", "sex"]])],
    [NESTED, hn.Table(["county", SEX]), hn.Sum("x", bounds=(0, 9), by=["county", "sex"])],
]


@pytest.mark.parametrize("queries", LISTED)
@pytest.mark.parametrize("objective", ["total", "largest"])
def test_a_plan_lists_what_a_release_has(queries: list[Any], objective: Any) -> None:
    """Each table once, asked for or not, also margins that weigh nothing; with its true error."""
    rows = pl.DataFrame({name: ["1"] for name in ("sex", "region", "age", "state", "county", "x")})
    said: dict[str, Any] = {"privacy": GAUSSIAN, "objective": objective}
    release: Any = hn.release(rows, queries, row_is_person=True, ledger=None, **said)
    found = [each for each in blocks(queries, objective=objective) if "asked" in each]
    tables = {
        (f"{each.of} by " if each.of else "") + ",".join(each.labels): each
        for each in release.tables
    }
    assert len(found) == len(tables)
    assert {each["label"]: each["asked"] for each in found} == {
        label: each.asked for label, each in tables.items()
    }
    for each in found:
        table = tables[each["label"]]
        if each["kind"] == "table":
            std = release.table(*table.labels).std
            # On the grid, values by place are a few parts in 100,000 farther from their middle.
            assert each["std"] ** 2 == pytest.approx((std**2).mean(), rel=3e-5)


def test_people_replaced_cost_two_cells_each() -> None:
    """A person who is replaced leaves one cell of a table and enters another."""
    tables = [hn.Table([SEX, AGE]), hn.Table([AGE, REGION])]
    added, replaced = (
        hn.plan(tables, privacy=GAUSSIAN, neighbors=rule).tables["one_by_one_std"]
        for rule in (hn.Neighbors.ADD_REMOVE, hn.Neighbors.REPLACE)
    )
    assert replaced == pytest.approx(2**0.5 * added)


def test_budgets_side_by_side() -> None:
    """Without a budget, tables are the rows and budgets the columns."""
    header, *rows = hn.plan(GOLDEN).table().splitlines()
    assert header.split() == ["epsilon", "0.1", "0.5", "1", "2", "3", "5", "10"]
    assert [row.split()[0] for row in rows] == ["sex", "age", "sex,age", "best"]


def test_many_tables_are_not_a_book() -> None:
    """A plan as text shows some of them, and says how many more there are."""
    axes = [hn.Choice(f"a{i}", ["x"]) for i in range(9)]
    tables = [hn.Table([axes[i], axes[j]]) for i in range(9) for j in range(i)]
    found = hn.plan([hn.Table(axes), *tables], privacy=GAUSSIAN)
    text = repr(found)
    assert len(text.splitlines()) < 80
    assert "and 451 more, in the JSON" in text
    assert "and 17 more tables" in text
    assert len(found.to_dict()["designs"][0]["blocks"]) == 511
    assert max(map(len, found.table().splitlines())) < 100


@pytest.mark.parametrize("queries", [GOLDEN, [SEX, AGE, hn.Sum("pay", bounds=(0, 9), by=["sex"])]])
def test_tables_need_gaussian_noise(queries: Any) -> None:
    """Pure epsilon and Laplace noise are refused, and Laplace noise is no choice."""
    both = hn.ApproxDP(epsilon=1, delta=1e-6)
    for refused in ({"privacy": hn.PureDP(epsilon=1)}, {"privacy": both, "noise": "laplace"}):
        with pytest.raises(hn.NotSupportedError, match=r"Gaussian noise, got .*--delta 1e-6"):
            hn.plan(queries, **refused)
    with pytest.raises(hn.NotSupportedError, match=r"Gaussian noise, got .*--delta 1e-6"):
        hn.budget_for(queries, margin=10, noise="laplace")
    found = hn.plan(queries, privacy=both)
    assert "Laplace" not in repr(found)
    assert max(hn.plan(queries, privacy=hn.budget_for(queries, margin=10)).margins) <= 10


BOTH = hn.ApproxDP(epsilon=1, delta=1e-6)
TERMS: list[dict[str, Any]] = [
    {"privacy": BOTH},
    {"privacy": BOTH, "noise": "gaussian"},
    {"privacy": BOTH, "noise": "laplace"},
    {"privacy": hn.PureDP(epsilon=1)},
    {"privacy": BOTH, "neighbors": hn.Neighbors.REPLACE},
    {"privacy": BOTH, "known_size": True},
    {"privacy": BOTH, "size_importance": 1},
    {"privacy": BOTH, "objective": "largest"},
    {"privacy": BOTH, "weight": hn.Weight("w", bounds=(0, 5))},
    {"privacy": BOTH, "by": "g", "groups": ["1", "2"]},
    {"privacy": BOTH, "importance": {"sex": 7}},
]
OTHERS: list[list[Any]] = [
    [],
    [hn.Count("x")],
    [hn.Count("x"), hn.Sum("y", bounds=(0, 10)), hn.Mean("z", bounds=(1, 3))],
    [AGE],
]


@pytest.mark.parametrize("terms", TERMS, ids=lambda terms: ",".join(map(str, terms)))
def test_a_table_of_one_axis_is_a_choice(terms: Any) -> None:
    """The same designs, noise and errors, alone and beside counts, sums, means and choices."""
    for others in OTHERS:
        choice = hn.plan([*others, SEX], **terms)
        tables: list[Any] = [hn.Table([SEX])]
        for asked in (tables, [SEX, hn.Table(["sex"])]):
            table = hn.plan([*others, *asked], **terms)
            assert table.chosen.noise is choice.chosen.noise
            assert table.designs == choice.designs
            assert table.to_dict() == choice.to_dict()


@pytest.mark.parametrize("goal", ["total", "largest"])
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_importance_of_a_table_of_one_axis(goal: str, noise: str) -> None:
    """It is of the mean of all cells: that of each category times their number, or the larger."""
    tables: list[Any] = [hn.Table([SEX], importance=6), hn.Table([AGE], importance=2)]
    many = [1 if goal == "largest" else len(axis.names) for axis in (SEX, AGE)]
    weights = {"sex": 6 / many[0], "age": 2 / many[1]}
    terms: dict[str, Any] = {"privacy": BOTH, "objective": goal, "noise": noise}
    table = hn.plan([*tables, hn.Count("x")], **terms)
    choice = hn.plan([SEX, AGE, hn.Count("x")], importance=weights, **terms)
    assert table.chosen.query_std == choice.chosen.query_std
    for said in (0.5, 60):
        asked: list[Any] = [SEX, hn.Table(["sex"], importance=said), hn.Count("x")]
        more = {"sex": max(1.0, said / many[0])}
        same = hn.plan([SEX, hn.Count("x")], importance=more, **terms)
        assert hn.plan(asked, **terms).chosen.query_std == same.chosen.query_std


def test_an_average_category_is_told() -> None:
    """A choice that would be mostly noise is named as a table is, and JSON has its average."""
    plan = hn.plan([hn.Table([SEX])], privacy=BOTH, people=8)
    block = plan.to_dict()["designs"][0]["blocks"][0]
    assert block["average_cell"] == 8 / len(SEX.names)
    assert block["relative_error"] == pytest.approx(block["margin"] / block["average_cell"])
    assert f"Mostly noise, by an average cell: sex ({8 / len(SEX.names):g} people" in repr(plan)
    assert "Mostly noise" not in repr(hn.plan([SEX], privacy=BOTH, people=1200))


def test_what_is_more_than_a_table_of_one_axis_is_refused() -> None:
    """Laplace noise does not do for larger tables, values by cell and places."""
    several: list[list[Any]] = [GOLDEN, [NESTED], [SEX, hn.Count("x", by=["sex"])]]
    for queries in several:
        with pytest.raises(hn.NotSupportedError, match=r"--delta 1e-6\)$"):
            hn.plan(queries, privacy=hn.PureDP(epsilon=1))


def test_the_budget_for_a_margin_is_that_of_what_was_asked() -> None:
    """Margins of tables that nobody asked for may have more."""
    budget = hn.budget_for([hn.Table([SEX, AGE, REGION])], margin=10)
    cells, *margins = hn.plan([hn.Table([SEX, AGE, REGION])], privacy=budget).margins
    assert cells == pytest.approx(10)
    assert max(margins) > 20
