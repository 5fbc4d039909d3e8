import contextlib
import math
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.design.centered import Centered
from halfnoise.errors import HalfnoiseError
from halfnoise.workload.crossing import TableBlock
from support.levels import ADULT, CPS, LOANS, MU, axes, tables
from support.table_workloads import drawn

REPLACE = hn.Neighbors.REPLACE
SIX = 1e-6
"""Six digits."""


def chosen(queries: Any, **rules: Any) -> Centered:
    """Return the design that a plan takes."""
    found = hn.plan(queries, privacy=MU, **rules).chosen
    assert isinstance(found, Centered)
    return found


def test_the_worked_example() -> None:
    """Attributes of 2 and 3 categories, all three tables: scales and errors are as worked out."""
    design = chosen(tables((2, 3), (1, 2)))
    squares = [scale**2 for scale in design.scales[0]]
    assert squares == pytest.approx([2.114943, 1.993987, 2.229345], rel=SIX)
    assert design.size_scale is not None
    assert design.size_scale**2 == pytest.approx(3.574905, rel=SIX)
    assert design.total_error(0) == pytest.approx(2.229345**2, rel=SIX)
    assert design.query_std == pytest.approx([1.396853, 1.313977, 1.136770], rel=SIX)
    assert design.size_std == pytest.approx(1.890742, rel=SIX)
    cov = design.covariance
    assert cov.between(5, 0) == pytest.approx(0.650399, rel=SIX)
    assert cov.between(0, 2) == pytest.approx(0.595818, rel=SIX)


def test_the_worked_example_replaced() -> None:
    """So it is where people are replaced and the number of people is public."""
    design = chosen(tables((2, 3), (1, 2)), neighbors=REPLACE)
    assert design.size_scale is None
    assert design.total_error(0) == pytest.approx(7.173935, rel=SIX)
    squares = [scale**2 for scale in design.scales[0]]
    assert squares == pytest.approx([5.081945, 4.149391, 2.678420], rel=SIX)


def test_the_worked_example_with_a_count_and_a_sum_by_cell() -> None:
    """And with a count beside, and a sum in [0, 10] by the first attribute."""
    beside = [hn.Count("yes"), hn.Sum("z", bounds=(0, 10), by=["a0"])]
    design = chosen([*tables((2, 3), (1, 2)), *beside])
    count, crossed = ([scale**2 for scale in scales] for scales in design.scales)
    assert count == pytest.approx([1.749756], rel=SIX)
    people, summed = crossed[:3], crossed[3:]
    assert people == pytest.approx([2.999582, 3.130059, 3.499512], rel=SIX)
    assert summed == pytest.approx([349.951229, 174.975615], rel=SIX)
    assert design.size_scale is not None
    assert design.size_scale**2 == pytest.approx(4.178574, rel=SIX)
    assert design.total_error(0) == pytest.approx(3.499512**2, rel=SIX)
    assert design.query_std[0] == pytest.approx(1.671646, rel=SIX)
    assert design.query_std[-1] == pytest.approx(15.446245, rel=SIX)


PUBLISHED = [
    (ADULT, (3.047, 6.359, 10.515, 10.665)),
    (CPS, (1.744, 2.035, 2.048, 2.276)),
    (LOANS, (2.875, 5.634, 8.702, 8.876)),
]


@pytest.mark.parametrize(("levels", "published"), PUBLISHED, ids=["adult", "cps", "loans"])
def test_published_errors(levels: tuple[int, ...], published: tuple[float, ...]) -> None:
    """Each cell once: the root mean squared errors that ResidualPlanner+ publishes."""
    for orders, error in zip(((1,), (2,), (3,), (1, 2, 3)), published, strict=True):
        size = float(len(orders) > 1)
        found = tables(levels, orders, each_cell=True)
        design = chosen(found, size_importance=size)
        cells = sum(line.queries for line in design.lines) + size
        assert round(math.sqrt(design.total_error(size) / cells), 3) == error


@pytest.mark.parametrize(
    ("each_cell", "errors"),
    [
        (True, (3.45, 2.61, 2.17, 2.13, 1.79, 1.42, 1.17)),
        (False, (2.17, 1.98, 2.01, 1.76, 1.80, 1.85, 1.67)),
    ],
)
def test_all_tables_of_three_attributes(*, each_cell: bool, errors: tuple[float, ...]) -> None:
    """Standard errors of 2 x 5 x 10 with all margins, by what an importance is of."""
    design = chosen(tables((2, 5, 10), (1, 2, 3), each_cell=each_cell))
    assert [round(std, 2) for std in design.query_std] == list(errors)


@pytest.mark.parametrize(
    ("margins", "errors"),
    [
        (0.0, (1.0,)),
        (0.01, (1.052, 3.36, 2.98, 2.74)),
        (0.1, (1.244, 2.46, 2.24, 2.25)),
        (1.0, (1.666, 2.17, 1.98, 2.01)),
    ],
)
def test_margins_are_cheap(margins: float, errors: tuple[float, ...]) -> None:
    """What margins of 2 x 5 x 10 have for an error, by what they weigh."""
    design = chosen(tables((2, 5, 10), (3,), margins=margins))
    assert design.query_std[: len(errors)] == pytest.approx(errors, abs=6e-3)


LARGEST = [
    ((2, 3), (1, 2), 1.726048),
    (CPS, (1,), 4.346419),
    (CPS, (2,), 7.897033),
    (CPS, (3,), 7.705844),
    (CPS, (0, 1, 2, 3), 13.215573),
    (ADULT, (1,), 12.046539),
    (ADULT, (2,), 67.802126),
]


@pytest.mark.parametrize(("levels", "orders", "variance"), LARGEST)
def test_the_least_largest_error(
    levels: tuple[int, ...], orders: tuple[int, ...], variance: float
) -> None:
    """The largest variance of all cells is the least that the authors of others' code find."""
    size = float(0 in orders)
    asked = tables(levels, [order for order in orders if order])
    found = hn.plan(asked, privacy=MU, objective="largest", size_importance=size)
    assert found.chosen.error(found.workload) == pytest.approx(variance, rel=3e-7)
    largest = max(*found.chosen.query_std, (found.chosen.size_std or 0.0) * size)
    assert largest**2 == pytest.approx(variance, rel=3e-7)
    ready = found.measurement.design
    assert ready.query_std == pytest.approx(found.chosen.query_std, rel=1e-9)
    assert ready.size_std == pytest.approx(found.chosen.size_std, rel=1e-9)


def test_the_largest_error_of_all_kinds() -> None:
    """Tables, a count, a sum and a mean: those that bind have one error, less than otherwise."""
    mean = hn.Mean("m", bounds=(5, 9), by=["a1"])
    asked = [*tables((3, 4), (1, 2)), hn.Count("c"), hn.Sum("s", bounds=(0, 10)), mean]
    weights = {"s": 4 / 100}
    best = hn.plan(asked, privacy=MU, importance=weights, objective="largest")
    usual = hn.plan(asked, privacy=MU, importance=weights)
    errors = best.chosen.errors(best.workload)
    assert sum(error > 0.9999 * max(errors) for error in errors) == 5
    assert max(errors) < 0.95 * max(usual.chosen.errors(best.workload))
    assert best.chosen.total_error(0) != usual.chosen.total_error(0)


@pytest.mark.parametrize("v", [2, 3, 7])
@pytest.mark.parametrize("size", [0.0, 1.0])
def test_a_table_of_one_axis_is_a_choice(v: int, size: float) -> None:
    """The same scales and errors, alone and beside a count, replaced and in groups."""
    (axis,) = axes((v,))
    rules: list[dict[str, Any]] = [{}, {"groups": 3}, {"neighbors": REPLACE}]
    for rule in rules:
        for others in ([], [hn.Count("c")]):
            table = chosen(
                [hn.Table([axis], importance=v, margins=0), *others], size_importance=size, **rule
            )
            plan = hn.plan([axis, *others], privacy=MU, size_importance=size, **rule)
            choice = next(d for d in plan.designs if d.name == table.name)
            mine, theirs = sorted(table.query_std), sorted(choice.query_std)
            assert mine == pytest.approx(theirs, rel=1e-9 if rule else 1e-12), rule
            assert (table.size_std or 0.0) == pytest.approx(choice.size_std or 0.0, rel=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5, 30])
def test_tables_of_two_categories_are_counts(d: int) -> None:
    """The errors of d of them are (sqrt d + 1)/2, and sqrt(sqrt d + 1) for people."""
    design = chosen(tables((2,) * d, (1,)))
    assert design.query_std == pytest.approx([(math.sqrt(d) + 1) / 2] * d, rel=1e-12)
    assert design.size_std == pytest.approx(math.sqrt(math.sqrt(d) + 1), rel=1e-12)


def test_groups_are_one_more_attribute() -> None:
    """Where all tables hold an attribute, they are those of groups by it, each by itself."""
    levels = (3, 2, 4)
    inside = chosen([hn.Table(axes(levels), margins=0)])
    g, *others = axes(levels)
    grouped = chosen([hn.Table(others, margins=0)], by="a0", groups=list(g.categories)[:-1])
    assert inside.query_std[0] == pytest.approx(grouped.query_std[0], rel=1e-12)


def test_a_known_size_is_not_measured() -> None:
    """The empty set is left out, and its share of the budget goes to all others."""
    asked = tables((2, 3), (1, 2))
    found = {d.name: d for d in hn.plan(asked, privacy=MU, known_size=True).designs}
    design = found["known-size-gaussian"]
    assert design.size_scale is None
    assert design.size_is_given
    measured = 2.229345 - 0.623610  # T without its first term
    without = measured**2
    assert design.total_error(0) == pytest.approx(without, rel=SIX)
    assert design.covariance.size == 11


@pytest.mark.parametrize("kind", [hn.Sum, hn.Count])
@pytest.mark.parametrize("v", [2, 5])
def test_values_by_cell_are_those_of_groups(kind: Any, v: int) -> None:
    """A sum, or a count, by the cells of one table: what groups give, number for number."""
    (axis,) = axes((v,))
    bounds = {"bounds": (-1, 7)} if kind is hn.Sum else {}
    by_cell = chosen([hn.Table([axis], importance=0.01), kind("x", by=["a0"], **bounds)])
    groups = list(axis.categories)[:-1]
    asked = [kind("x", **bounds)]
    grouped = chosen(asked, by="a0", groups=groups, size_importance=0.01)
    assert by_cell.query_std[-1] == pytest.approx(grouped.query_std[0], rel=1e-9)
    assert by_cell.query_std[0] == pytest.approx(grouped.size_std, rel=1e-9)


@pytest.mark.parametrize("privacy", [hn.PureDP(epsilon=1), hn.ApproxDP(epsilon=1, delta=1e-6)])
def test_laplace_noise_is_refused(privacy: Any) -> None:
    """An epsilon without delta, and Laplace noise asked for, are refused with the reason."""
    asked, noise = tables((2, 3), (2,)), None if isinstance(privacy, hn.PureDP) else "laplace"
    with pytest.raises(HalfnoiseError, match="tables are released with Gaussian noise"):
        hn.plan(asked, privacy=privacy, noise=noise)
    if noise:
        offered = hn.plan(asked, privacy=privacy).designs
        assert {design.noise.value for design in offered} == {"gaussian"}
        assert hn.budget_for(asked, margin=50).epsilon > 0


ITEMS: Any = hn.Items("i", ["u"])
REFUSED: list[tuple[Any, str]] = [
    (lambda: hn.Table([ITEMS]), "an axis must be a Choice, Bins, Nested or a label"),
    (lambda: hn.Workload([hn.Table(["i"]), ITEMS]), "label of a Choice, Bins or level"),
    (
        lambda: hn.Workload([hn.Table(["sex", "age"])]),
        r"\(none\), got 'sex'; say its categories: Choice\('sex', \[\"a\", \"b\"\]\)",
    ),
    (lambda: hn.Workload([hn.Choice("sex", ["f"]), hn.Table(["sxe"])]), "did you mean 'sex'?"),
    (lambda: hn.Workload(tables((1025, 1025, 129), (3,))), "at most 2\\^27 cells, got 135,530,625"),
    (
        lambda: hn.plan(tables((500, 400, 300), (3,)), privacy=hn.GaussianDP(mu=1e-4)),
        "too small for a table of 60,000,000 cells",
    ),
    (lambda: hn.Workload(tables((2,), (1,)), objective="least"), "'total' or 'largest'"),
    (
        lambda: hn.Workload([hn.Bins("a0", [1], name="b"), *tables((2, 3), (2,))]),
        "the column 'a0' is in tables as 'a0' and as 'b'; a column is one attribute",
    ),
    (
        lambda: hn.Workload([hn.Choice("a0", ["c0"], name="b"), *tables((2, 3), (2,))]),
        "the column 'a0' is in tables as 'a0' and as 'b'",
    ),
]


@pytest.mark.parametrize(("make", "says"), REFUSED)
def test_what_cannot_be_released_is_refused(make: Any, says: str) -> None:
    """With a sentence that says what, and what to do."""
    with pytest.raises(HalfnoiseError, match=says):
        make()


@pytest.mark.parametrize("rules", [{}, {"neighbors": REPLACE}, {"objective": "largest"}])
def test_searches_end_whatever_the_importances(rules: dict[str, Any]) -> None:
    """From 1e-12 to 1e12, for tables, values by cell and the number of people."""
    for one, other in ((1e-12, 1e12), (1e12, 1e-12), (1e-12, 1e-12), (1e12, 1.0)):
        mean = hn.Mean("m", bounds=(0, 1), by=["a0"])
        asked = [*tables((2, 3, 2), (1, 3), importance=1.0), mean]
        weights = {"a0,a1,a2": one, "m": other, "a1": 1.0}
        size = 0.0 if "neighbors" in rules else one
        workload = hn.Workload(asked, importance=weights, size_importance=size, **rules)
        if workload.objective == "largest" and one != other:  # no grid has errors that far apart
            with contextlib.suppress(HalfnoiseError):
                hn.plan(workload, privacy=MU)
            continue
        found = hn.plan(workload, privacy=MU)
        assert found.measurement.design.loss() <= 1
        assert found.chosen.error(found.workload) > 0


def test_many_attributes_can_be_replaced() -> None:
    """Up to 16 attributes every change is looked at; of more, a bound is taken for each."""
    few, many = (
        hn.plan(tables((3,) * k, (1, 2)), privacy=MU, neighbors=REPLACE).chosen for k in (16, 17)
    )
    for design in (few, many):
        assert 1 - 1e-9 < design.loss() <= 1
    added = [hn.plan(tables((3,) * k, (1, 2)), privacy=MU, known_size=True) for k in (16, 17)]
    least = [
        next(d for d in plan.designs if d.name == "known-size-gaussian").total_error(0)
        for plan in added
    ]
    ratios = [design.total_error(0) / x for design, x in zip((few, many), least, strict=True)]
    assert 1.9 < ratios[0] < 2.1
    assert ratios[0] < ratios[1] < 1.5 * ratios[0]


def test_lines_and_covariances_are_of_one_mind() -> None:
    """The error that a plan states of a table is what the covariance says of each of its cells."""
    value = hn.Sum("v", bounds=(-1, 1), by=["a0", "a1"], within=[["a2", "a3"], ["a2"]])
    pairs = [hn.Table(["a0", "a1"]), hn.Table(["a2", "a3"])]
    alike = hn.Workload([*axes((2,) * 4), *pairs, value])  # of people, not of the value
    for workload in (alike, *map(drawn, range(40))):
        design, start = hn.plan(workload, privacy=MU).chosen, 0
        variances = design.covariance.diagonal()
        stated = iter(design.query_std)
        for block in workload.blocks:
            if not isinstance(block, TableBlock):
                next(stated)
                start += block.shape.size
                continue
            places, at = dict[Any, int](), start
            for kind, by in block.shape.tables:
                places[kind, by] = at
                at += math.prod(block.shape.levels[axis] for axis in by)
            for table in block.tables:
                kind = 0 if table.value is None else block.shape.layer_of(table.value)
                variance = variances[places[kind, table.axes]]
                assert next(stated) == pytest.approx(variance**0.5, rel=1e-9)


@pytest.mark.parametrize("neighbors", hn.Neighbors)
def test_people_come_with_values_wherever_these_are_asked(neighbors: hn.Neighbors) -> None:
    """Also where a value does not lean on them: its midpoint is zero, and no table has its axes."""
    a, b, c = (hn.Choice(label, ["x", "y"]) for label in "abc")
    value = hn.Sum("v", bounds=(-5, 5), by=["a"], within=[["b", "c"]])
    tables = [hn.Table([a, b], margins=0), hn.Table([a, c], margins=0)]
    found = hn.plan([*tables, value], privacy=hn.GaussianDP(mu=1), neighbors=neighbors)
    assert all(0 < std < math.inf for std in found.chosen.query_std)


@pytest.mark.parametrize("number", [16, 20, 27])
def test_margins_without_end_are_refused(number: int) -> None:
    """A table of few cells may have more margins, and margins of these, than can be counted."""
    axes = [hn.Choice(f"a{i}", ["yes"]) for i in range(number)]
    with pytest.raises(hn.NotSupportedError, match="fewer attributes"):
        hn.Workload([hn.Table(axes)])
