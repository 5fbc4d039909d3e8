"""Charts of releases and plans: which kind is drawn for what, and that they can be changed."""

import datetime as dt
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.report.panels import MOST_PANELS, MOST_ROWS, series
from halfnoise.report.parts import parts
from support.grouped import made
from support.tabled import everything

PRIVACY = hn.ApproxDP(epsilon=1, delta=1e-6)
ASKED: Any = [hn.Count("smoker"), hn.Sum("visits", bounds=(0, 20)), hn.Choice("blood", ["A", "B"])]


def charts(drawn: Any) -> list[dict[str, Any]]:
    """Return the charts of a chart, each as a dictionary with the rows it draws."""
    found: dict[str, Any] = drawn.to_dict()
    made = list(found.get("concat", [found]))
    return [each | {"rows": found["datasets"][_data(each)["name"]]} for each in made]


def _data(chart: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = chart.get("data") or chart["layer"][0]["data"]
    return data


def marks(chart: dict[str, Any]) -> set[str]:
    """Return how a chart draws."""
    layers = chart.get("layer", [chart])
    return {layer["mark"]["type"] for layer in layers}


def rows(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the numbers of a chart."""
    return list(chart["rows"])


def test_dots_bars_and_lines() -> None:
    """Counts, means and shares are dots with intervals, sums are bars, and months a line."""
    one = made()["north"]
    found = {name: charts(one.plot(name))[0] for name in ("smoker", "visits", "age", "blood")}
    dots = {"point", "rule"}
    assert [marks(each) for each in found.values()] == [dots, {"bar", "rule"}, dots, dots]
    estimate = one["smoker"]
    (row,) = rows(found["smoker"])
    assert (row["x"], row["low"], row["high"]) == (estimate.estimate, estimate.low, estimate.high)
    assert rows(found["blood"])[0]["label"] == "A"
    keys = [(f"2026-{month:02}",) for month in range(1, 13)]
    monthly = made([*keys, ("other",)], (hn.By("m", every="month"),))
    for name in ("smoker", "visits", "blood"):
        first = charts(monthly.plot(name))[0]
        assert marks(first) == {"area", "line"}
        assert [row["label"] for row in rows(first)] == [f"{key}-01" for (key,) in keys]


def test_small_multiples() -> None:
    """A choice by group has a chart for each group, a table one for each row, on one scale."""
    for drawn, titles in (
        (made().plot("blood"), ["north", "south", "other"]),
        (everything().plot("age,work"), ["a1", "a2", "other"]),
    ):
        found = charts(drawn)
        assert [each["title"].split(": ")[-1] for each in found] == titles
        scales = [each["layer"][1]["encoding"]["x"]["scale"]["domain"] for each in found]
        assert len({*map(tuple, scales)}) == 1


def test_a_chart_can_be_changed() -> None:
    """What is returned is a chart of Altair like any other; one alone is no concatenation."""
    chart = made()["north"].plot("blood")
    changed = chart.properties(width=500, title="Mine").configure_axis(labelFontSize=20)
    found = changed.to_dict()
    assert (found["width"], found["title"]) == (500, "Mine")
    assert found["config"]["axis"]["labelFontSize"] == 20
    assert "concat" in made().plot().to_dict()


def test_names_are_checked_and_nothing_is_said() -> None:
    """An unknown name is refused with those that there are, and no group is no chart."""
    with pytest.raises(hn.UnknownNameError, match="smoker"):
        made().plot("smokr")
    with pytest.raises(hn.NotSupportedError, match="nothing to draw"):
        made(()).plot()


def test_plans() -> None:
    """A plan shows the margins of each design, the chosen one marked; an outlook, of budgets."""
    plan = hn.plan(ASKED, privacy=PRIVACY)
    found = charts(plan.plot())
    assert [each["title"] for each in found] == ["smoker", "sum of visits", "blood"]
    margins = {design.name: design.margins(0.95) for design in plan.designs}
    for place, each in enumerate(found):
        assert marks(each) == {"bar"}
        assert {row["design"]: row["margin"] for row in rows(each)} == {
            name: own[place] for name, own in margins.items()
        }
        assert each["encoding"]["color"]["condition"]["test"]["equal"] == plan.chosen.name
    budgets = charts(hn.plan(ASKED).plot())
    assert {row["epsilon"] for row in rows(budgets[0])} >= {0.1, 1.0, 10.0}
    table = hn.plan([hn.Table([hn.Choice("a", ["x"]), hn.Choice("b", ["y"])])], privacy=PRIVACY)
    assert "a,b" in [each["title"] for each in charts(table.plot())]


def test_many_groups_are_drawn_by_their_largest() -> None:
    """Of very many groups the largest are drawn, in their order; tables have all."""
    release = made([(f"g{i:03}",) for i in range(100)])
    (first, *_) = parts(release)
    labels = [point.label for point in first.panels[0].points]
    sizes = {key: size.estimate for key in release if (size := release[key].size) is not None}
    largest = sorted(sizes, key=sizes.__getitem__)[-MOST_ROWS:]
    assert labels == sorted(largest)
    assert len(first.panels) <= MOST_PANELS


@pytest.mark.parametrize(
    ("every", "keys", "first"),
    [
        ("year", [2024, 2025, 2026], "2024-01-01"),
        ("quarter", ["2025-Q4", "2026-Q1", "2026-Q2"], "2025-10-01"),
        ("month", ["2026-02", "2026-01", "2026-03"], "2026-01-01"),
        ("week", ["2020-W53", "2021-W01", "2021-W02"], "2020-12-28"),
        ("day", [dt.date(2026, 1, day) for day in (1, 2, 3)], "2026-01-01"),
        ("hour", ["2026-01-02T09", "2026-01-02T10", "2026-01-02T11"], "2026-01-02T09:00"),
        (None, [dt.date(2026, 1, day) for day in (3, 2, 1)], "2026-01-01"),
        (None, ["2026-01-03", "2026-01-02", "2026-01-05"], "2026-01-02"),
        (None, ["2026-01", "2026-02", "2026-03"], "2026-01-01"),
    ],
)
def test_what_is_a_time_series(every: str | None, keys: list[Any], first: str) -> None:
    """Spans of time are, also those that text names; in the order of time, without other keys."""
    by = hn.By("when", every=every)
    ((title, places, moments),) = series([by], [*((key,) for key in keys), ("other",), (None,)])
    assert title == ""
    assert moments[0] == first
    assert moments == sorted(moments)
    assert sorted(places) == [0, 1, 2]
    two = [(key, name) for key in keys for name in ("north", "south")]
    found = series([by, hn.By("region")], two)
    assert [each.title for each in found] == ["north", "south"]
    assert not series([by], [(key,) for key in keys[:2]])


def test_what_is_no_time_series() -> None:
    """Names, numbers and yes or no are none."""
    for keys in (["a", "b", "c"], [1, 2, 3], [True, False, None], ["2026", "2027", "2028"]):
        assert not series([hn.By("x")], [(key,) for key in keys])
