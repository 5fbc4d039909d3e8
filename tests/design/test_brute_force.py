import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halfnoise as hn
from halfnoise.design.centered import Centered
from halfnoise.design.design import Design
from halfnoise.noise.law import Noise
from halfnoise.workload.queries import Query
from support.brute_force import covariance_cost, exact_cost
from support.quadratic import quadratic_form
from support.small_workloads import QUERIES, RELATIONS, ROUGH, designs_of, maker
from support.soak import SOAKS

PRIVACY = hn.ApproxDP(epsilon=0.7, delta=1e-5)
CLOSE = 1e-12
"""How far below the budget a loss may stay."""

FROM_COVARIANCE = 1e-8
"""What rounding in a dense pseudo-inverse leaves of a loss."""


def target(design: Design, privacy: hn.ApproxDP) -> float:
    """Return the budget of a design."""
    return privacy.mu if design.noise is Noise.GAUSSIAN else privacy.epsilon


def check_design(design: Design, workload: hn.Workload, budget: float) -> None:
    """Assert all that must hold of the loss of one design at one budget."""
    loss = design.loss()
    assert budget * (1 - CLOSE) <= loss <= budget
    power = 2 if design.noise is Noise.GAUSSIAN else 1
    exact = exact_cost(design, workload)
    assert exact <= Fraction(loss) ** power
    assert exact >= Fraction(math.nextafter(loss, 0)) ** power
    if design.noise is Noise.GAUSSIAN:
        assert math.sqrt(covariance_cost(design, workload)) == pytest.approx(
            loss, rel=FROM_COVARIANCE
        )


def check_errors(design: Design) -> None:
    """Assert that a design's standard errors and its covariance's operations are of one mind."""
    cov = design.covariance
    dense = cov.dense()
    assert dense.shape == (cov.size, cov.size)
    np.testing.assert_allclose(dense, dense.T, rtol=1e-15)
    np.testing.assert_allclose(cov.diagonal(), np.diag(dense), rtol=1e-12)
    start = 0
    for block, std in zip(design.blocks, design.query_std, strict=True):
        # Of a mean's two estimates the sum of its values comes first.
        queries = 1 if block.kind == "mean" else block.shape.size
        for i in range(start, start + queries):
            assert math.sqrt(max(0, dense[i, i])) == pytest.approx(std, rel=1e-7, abs=1e-12)
            assert cov.variance(i) == pytest.approx(dense[i, i], rel=1e-12)
        start += block.shape.size
    if design.size_std is not None:
        assert math.sqrt(dense[-1, -1]) == pytest.approx(design.size_std, rel=1e-12)
        start += 1
    assert start == cov.size
    x = np.random.default_rng(5).normal(size=cov.size)
    np.testing.assert_allclose(cov @ x, dense @ x, rtol=1e-9, atol=1e-9 * abs(dense).max())
    assert quadratic_form(cov, x) == pytest.approx(x @ dense @ x, rel=1e-9)


# Corners in several groups are many: there the size matters or not in turn.
LISTED = [
    (queries, relation, importance)
    for i, queries in enumerate(QUERIES)
    for relation in RELATIONS
    for importance in (0.0, 0.6)
    if SOAKS or "two groups" not in relation or (i % 2 == 1) == (importance > 0)
    if queries not in ROUGH or "replace" not in relation
]


@pytest.mark.parametrize(("queries", "relation", "size_importance"), LISTED)
def test_loss_is_the_budget(queries: str, relation: str, size_importance: float) -> None:
    """Every design costs its budget, never more, and listing all corners agrees."""
    workload = maker(queries)(**RELATIONS[relation], size_importance=size_importance)
    for design in designs_of(workload, PRIVACY):
        if queries not in ROUGH or design.noise is Noise.GAUSSIAN:
            check_design(design, workload, target(design, PRIVACY))
        check_errors(design)


@pytest.mark.parametrize("d", [1000, 10**6, 10**12])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_loss_of_many_counts(d: int, share: float) -> None:
    """However many counts there are, every design costs its budget and never more."""
    workload = hn.Workload((hn.Counts(d),), at_most=max(1, round(share * d)))
    for design in designs_of(workload, PRIVACY):
        budget = target(design, PRIVACY)
        assert budget * (1 - CLOSE) <= design.loss() <= budget


@pytest.mark.parametrize(
    ("relation", "names"),
    [
        ("add-remove", "standard correlated known-size optimal"),
        ("replace", "standard"),
        ("add-remove in groups", "standard correlated optimal"),
        ("replace in groups", "standard correlated"),
        ("add-remove in up to two groups", "standard correlated two-level"),
    ],
)
def test_every_design_is_listed(relation: str, names: str) -> None:
    """The designs that the tests here walk over are all those that apply."""
    workload = maker("five counts")(**RELATIONS[relation])
    found = [d.name for d in designs_of(workload, PRIVACY)]
    gaussian = {
        "standard": "standard-gaussian",
        "correlated": "correlated-gaussian",
        "two-level": "two-level-gaussian",
        "known-size": "known-size-gaussian",
        "optimal": "optimal-gaussian-without-size",
    }
    laplace = ["standard-laplace", "correlated-laplace"][: 2 if "correlated" in names else 1]
    assert found == [gaussian[name] for name in names.split()] + laplace


def test_a_smaller_scale_costs_more() -> None:
    """The brute force sees a noise that is too small by one part in ten million millions."""
    workload = maker("mixture")()
    designs = {d.name: d for d in hn.plan(workload, privacy=PRIVACY).designs}
    design = designs["correlated-gaussian"]
    assert isinstance(design, Centered)
    scales = ((design.scales[0][0] * (1 - 1e-13),), *design.scales[1:])
    broken = dataclasses.replace(design, scales=scales)
    assert exact_cost(broken, workload) > Fraction(PRIVACY.mu) ** 2


BOUNDS = st.tuples(
    st.floats(-100, 100, allow_nan=False), st.floats(0.01, 100, allow_nan=False)
).map(lambda pair: (pair[0], pair[0] + pair[1]))
WEIGHT = st.floats(0.01, 100)
KINDS = ["counts", "sum", "mean", "choice", "items"]


@st.composite
def random_workloads(draw: st.DrawFn) -> hn.Workload:
    """Draw up to three queries of any kind with everything that can be set."""
    queries: list[Query] = []
    weights: dict[str, float] = {}
    options: dict[str, Any] = {}
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3))
    for i, kind in enumerate(kinds):
        name = f"{kind}{i}"
        if kind == "counts" and not any(isinstance(q, hn.Counts) for q in queries):
            queries.append(hn.Counts(number := draw(st.integers(1, 4))))
            if draw(st.booleans()):
                options["at_most"] = draw(st.integers(1, number))
        elif kind == "sum":
            queries.append(hn.Sum(name, bounds=draw(BOUNDS)))
        elif kind == "mean":
            queries.append(hn.Mean(name, bounds=draw(BOUNDS)))
        elif kind == "choice":
            queries.append(hn.Choice(name, tuple(range(draw(st.integers(1, 3))))))
        elif kind == "items":
            size = draw(st.integers(1, 3))
            queries.append(hn.Items(name, tuple(range(size)), at_most=draw(st.integers(1, size))))
    for query in queries:
        if draw(st.booleans()):
            weights[query.label] = draw(WEIGHT)
    relation = draw(st.sampled_from(list(RELATIONS)))
    interest = draw(st.sampled_from([0.0, 1e-6, 1.0]) | WEIGHT)
    return hn.Workload(
        tuple(queries),
        importance=weights,
        size_importance=interest,
        **options,
        **RELATIONS[relation],
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(random_workloads(), st.floats(1e-3, 20))
def test_loss_is_the_budget_of_any_workload(workload: hn.Workload, mu: float) -> None:
    """Whatever is asked, every Gaussian design costs its budget and the corners agree."""
    for design in designs_of(workload, hn.GaussianDP(mu=mu)):
        check_design(design, workload, mu)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(random_workloads(), st.floats(1e-3, 20))
def test_laplace_loss_is_the_budget_of_any_workload(workload: hn.Workload, epsilon: float) -> None:
    """Whatever is asked, every Laplace design costs its budget and the corners agree."""
    for design in designs_of(workload, hn.PureDP(epsilon=epsilon)):
        check_design(design, workload, epsilon)
