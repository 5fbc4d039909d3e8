from typing import Any

import pytest

import halfnoise as hn
from halfnoise.design import cell_prices, certificate
from support.levels import MU, axes, tables
from support.soak import SOAKS
from support.table_solver import least_largest, least_total

REPLACE = hn.Neighbors.REPLACE
EXACT = 2e-4
"""What the solver leaves."""
TIGHT = 6e-4
"""By how much a bound may be lower than it could be: prices are sought no longer."""

A, B = axes((2, 3))


def total(queries: Any, **rules: Any) -> tuple[float, float]:
    """Return the error of the design that is taken, and the least of any noise.

    That is not below what plans certify, and not far above.
    """
    workload = hn.Workload(queries, **rules)
    plan, least = hn.plan(workload, privacy=MU), least_total(workload)
    bound = plan.least_error_bound
    assert bound is not None
    assert least * (1 - TIGHT) <= bound <= least * (1 + EXACT)
    return plan.chosen.total_error(workload.size_importance), least


OPTIMAL: list[tuple[Any, dict[str, Any]]] = [
    (tables((2, 3), (1, 2)), {}),
    (tables((2, 3), (2,)), {}),
    (tables((2, 3), (2,), margins=0.01), {"size_importance": 0.3}),
    (tables((3, 2), (1,), importance=3.0), {}),
    (tables((2, 3), (1, 2)), {"neighbors": REPLACE}),
    (tables((2, 3), (2,)), {"neighbors": REPLACE}),
    (tables((3, 2), (1,)), {"neighbors": REPLACE}),
    ([hn.Table([A, B]), hn.Sum("x", bounds=(-1, 1), by=["a0"])], {}),
]
MORE: list[tuple[Any, dict[str, Any]]] = [
    (tables((2, 2, 2), (1, 2)), {}),
    (tables((2, 2, 3), (2, 3)), {}),
    (tables((2, 2, 2), (1, 2)), {"neighbors": REPLACE}),
    (tables((3, 3), (1, 2)), {"neighbors": REPLACE}),
]


@pytest.mark.parametrize(("queries", "rules"), OPTIMAL + MORE * SOAKS)
def test_no_noise_has_less_error(queries: Any, rules: dict[str, Any]) -> None:
    """Tables alone, and with a sum around zero by cell: no Gaussian noise has less error."""
    ours, least = total(queries, **rules)
    assert ours == pytest.approx(least, rel=EXACT)


EACH_CELL = hn.Table([A, B], importance=6.0)
NEAR: list[tuple[Any, dict[str, Any], float]] = [
    ([*tables((2, 3), (1, 2)), hn.Counts(2)], {}, 0.0005),
    ([*tables((2, 3), (2,), importance=6.0), hn.Counts(2)], {}, 0.0045),
    ([*tables((2, 3), (2,)), hn.Sum("x", bounds=(10, 20))], {}, 0.01),
    ([hn.Table([A, B], margins=0), hn.Sum("x", bounds=(0, 10), by=["a0"])], {}, 0.008),
    ([hn.Table([A, B], margins=0), hn.Count("c", by=["a0"])], {}, 0.008),
    ([hn.Table([A], margins=0), hn.Mean("m", bounds=(5, 6), by=["a0"])], {}, 0.01),
    ([EACH_CELL, hn.Sum("x", bounds=(0, 1), by=["a0"])], {"neighbors": REPLACE}, 0.007),
]
LIGHT = hn.Table([A], importance=0.001, margins=0)
TWO_MEANS = [hn.Mean(name, bounds=(0, 1), by=["a0"]) for name in "cd"]
FARTHER: list[tuple[Any, dict[str, Any], float]] = [
    ([*tables((2, 3), (2,)), hn.Counts(2)], {}, 0.03),
    ([hn.Table([A, B], margins=0), *(hn.Count(name, by=["a0"]) for name in "cd")], {}, 0.011),
    ([LIGHT, *(hn.Count(name, by=["a0"]) for name in "cd")], {}, 0.082),
    ([LIGHT, hn.Mean("m", bounds=(5, 6), by=["a0"]), hn.Counts(2)], {}, 0.067),
    ([hn.Table([A], importance=0.01, margins=0), *TWO_MEANS], {}, 0.051),
    ([LIGHT, hn.Sum("x", bounds=(0, 1), by=["a0"])], {"neighbors": REPLACE}, 0.108),
    ([hn.Table([A, B]), hn.Sum("x", bounds=(10, 20), by=["a0"])], {"neighbors": REPLACE}, 0.022),
]
"""Where a table weighs so little that counts or sums have to carry the number of people."""


@pytest.mark.parametrize(("queries", "rules", "above"), NEAR + FARTHER)
def test_little_is_left_of_any_noise(queries: Any, rules: dict[str, Any], above: float) -> None:
    """With counts, sums and means beside or by cell, no noise has much less error."""
    ours, least = total(queries, **rules)
    assert least * (1 - EXACT) <= ours <= least * (1 + above + EXACT)


@pytest.mark.parametrize("limit", ["MOST_STATES", "MOST_KINDS"])
@pytest.mark.parametrize(("queries", "rules", "_above"), [*NEAR[3:], *FARTHER[1:]])
def test_averages_over_people_bound_any_noise_too(
    queries: Any, rules: dict[str, Any], _above: float, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where kinds of people or of changes are too many, averages over them are a bound, too."""
    monkeypatch.setattr(cell_prices, limit, 1 if limit == "MOST_STATES" else 2**6)
    workload = hn.Workload(queries, **rules)
    bound = certificate.least_error(workload, 1.0)
    assert bound is None or bound <= least_total(workload) * (1 + EXACT)
    assert bound is not None or limit == "MOST_KINDS"


@pytest.mark.parametrize("rules", [{}, {"neighbors": REPLACE}])
@pytest.mark.parametrize("levels", [(2, 3), (3, 3)])
def test_no_noise_has_a_smaller_largest_error(levels: Any, rules: dict[str, Any]) -> None:
    """Nor has any the largest error of a table smaller than where that is the objective."""
    workload = hn.Workload(tables(levels, (1, 2)), objective="largest", **rules)
    ours = hn.plan(workload, privacy=MU).chosen.error(workload)
    assert ours == pytest.approx(least_largest(workload), rel=EXACT)
