import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import halfnoise as hn
from halfnoise.design.centered import Centered, Size, best_scales
from halfnoise.design.centers import laplace_centers
from halfnoise.design.design import Setting
from halfnoise.noise.law import Noise
from halfnoise.workload.queries import Query
from halfnoise.workload.sets.base import Center
from support.small_workloads import design_of

PURE = hn.PureDP(epsilon=1)
LAPLACE = "correlated-laplace"


def error_at(workload: hn.Workload, centers: Sequence[Center]) -> float:
    """Return the total error of Laplace noise around given centres, at epsilon = 1."""
    setting = Setting(workload=workload, noise=Noise.LAPLACE, budget=1.0)
    design = best_scales(setting, centers, "", Size.LEANED)
    return design.total_error(workload.size_importance)


def chosen(workload: hn.Workload) -> tuple[Center, ...]:
    """Return the centres by the prefix rule."""
    return laplace_centers(workload.blocks, workload.size_importance)


def tail_by_integration(scales: Sequence[float], t: float) -> float:
    """Return P(|sum of Laplace noises| > t) from the characteristic function."""

    def excess(w: float) -> float:
        # The single widest noise is known in closed form; what is left decays fast.
        return math.prod(1 / (1 + (b * w) ** 2) for b in scales) - 1 / (1 + (widest * w) ** 2)

    widest = max(scales)
    part, _ = quad(lambda w: 2 / math.pi * excess(w) * math.sin(t * w) / w, 0, np.inf, limit=4000)
    return math.exp(-t / widest) - float(part)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 27, 100])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_counts(d: int, epsilon: float) -> None:
    """From three counts on the variance is (d^(2/3) + 1)^3/(2 eps^2), before it is 2 d^2/eps^2."""
    workload, privacy = hn.Workload((hn.Counts(d),)), hn.PureDP(epsilon=epsilon)
    standard = design_of(workload, "standard-laplace", privacy).query_std[0] ** 2
    ours = design_of(workload, LAPLACE, privacy).query_std[0] ** 2
    assert standard == pytest.approx(2 * d**2 / epsilon**2, rel=1e-12)
    expected = (d ** (2 / 3) + 1) ** 3 / (2 * epsilon**2) if d >= 3 else standard
    assert ours == pytest.approx(expected, rel=1e-12)
    assert ours <= standard * (1 + 1e-12)


@pytest.mark.parametrize("d", [3, 8, 27])
def test_ratio_of_the_noises(d: int) -> None:
    """The noise of f - n/2 is C = d^(1/3) times the noise of n/2."""
    design = design_of(hn.Workload((hn.Counts(d),)), LAPLACE, PURE)
    assert isinstance(design, Centered)
    assert design.size_scale is not None
    assert design.scales[0][0] / (design.size_scale / 2) == pytest.approx(d ** (1 / 3), rel=1e-12)


@pytest.mark.parametrize(("d", "k"), [(4, 1), (4, 2), (7, 3), (20, 10)])
def test_at_most_half_is_not_centred(d: int, k: int) -> None:
    """At most k of d with k <= d/2 is measured around zero, at 2 k^2 for each count."""
    workload = hn.Workload((hn.Counts(d),), at_most=k)
    design = design_of(workload, LAPLACE, PURE)
    assert chosen(workload) == (None,)
    assert design.query_std[0] ** 2 == pytest.approx(2 * k**2, rel=1e-12)


@pytest.mark.parametrize("d", [1, 3, 20])
def test_replacement_in_groups_is_half_the_budget(d: int) -> None:
    """Where people may change group, counts get the design of half the budget."""
    workload = hn.Workload((hn.Counts(d),), neighbors=hn.Neighbors.REPLACE, groups=2)
    ours = design_of(workload, LAPLACE, PURE)
    half = design_of(hn.Workload((hn.Counts(d),)), LAPLACE, hn.PureDP(epsilon=0.5))
    np.testing.assert_allclose(ours.covariance.dense(), half.covariance.dense(), rtol=1e-12)


@st.composite
def workloads(draw: st.DrawFn) -> hn.Workload:
    """Draw up to five queries of any kind, of any importance."""
    queries: list[Query] = []
    for i, kind in enumerate(draw(st.lists(st.sampled_from("csmoi"), min_size=1, max_size=5))):
        low, width = draw(st.floats(-5, 5)), draw(st.floats(0.1, 5))
        size = draw(st.integers(2, 4))
        kinds: dict[str, Query] = {
            "c": hn.Count(f"q{i}"),
            "s": hn.Sum(f"q{i}", bounds=(low, low + width)),
            "m": hn.Mean(f"q{i}", bounds=(low, low + width)),
            "o": hn.Choice(f"q{i}", tuple(range(size - 1))),
            "i": hn.Items(f"q{i}", tuple(range(size)), at_most=draw(st.integers(1, size))),
        }
        queries.append(kinds[kind])
    weights = {query.label: draw(st.floats(0.01, 100)) for query in queries if draw(st.booleans())}
    interest = draw(st.sampled_from([0.0, 0.01, 1.0]))
    return hn.Workload(tuple(queries), importance=weights, size_importance=interest)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(workloads())
def test_prefix_rule_is_the_best_of_all_subsets(workload: hn.Workload) -> None:
    """No other choice of which blocks to centre has less error than the prefix rule's."""
    either = [
        (Fraction(0) if block.kind == "mean" else None, block.shape.midpoint)
        for block in workload.blocks
    ]
    best = min(error_at(workload, centers) for centers in itertools.product(*either))
    assert error_at(workload, chosen(workload)) <= best * (1 + 1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 10])
def test_no_centre_between_is_better_for_counts(d: int) -> None:
    """For counts alone, without interest in the size, zero or one half is the best of all."""
    workload = hn.Workload((hn.Counts(d),))
    ours = error_at(workload, chosen(workload))
    for step in range(101):
        assert ours <= error_at(workload, [Fraction(step, 200)]) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("query", "interest", "percent"),
    [
        (hn.Count("a"), 0.0, 0.0),
        (hn.Count("a"), 0.005, 2.8),
        (hn.Count("a"), 0.02, 7.1),
        (hn.Count("a"), 0.03, 3.0),
        (hn.Count("a"), 0.05, 0.0),
        (hn.Mean("m", bounds=(0, 1)), 0.0, 0.0),
        (hn.Mean("m", bounds=(0, 1)), 0.1, 8.9),
        (hn.Mean("m", bounds=(0, 1)), 1.0, 19.9),
    ],
)
def test_gap_to_the_best_centre(query: hn.Count | hn.Mean, interest: float, percent: float) -> None:
    """With an interest in the size a centre between can be better, by no more than stated."""
    workload = hn.Workload((query,), size_importance=interest)
    best = min(error_at(workload, [Fraction(step, 400)]) for step in range(401))
    gap = 100 * (error_at(workload, chosen(workload)) / best - 1)
    assert percent - 0.1 <= gap <= percent + 1e-9


@pytest.mark.parametrize(
    "scales", [[2.0], [1.0, 1.0], [3.0, 0.5], [1.0, 1.0, 1.0], [5.0, 0.01], [2.0, 1.0, 0.3]]
)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_margin_of_sums(scales: list[float], level: float) -> None:
    """The margin of a sum of Laplace noises leaves out what its level says, by integration."""
    margin = Noise.LAPLACE.margin(scales, level)
    assert tail_by_integration(scales, margin) == pytest.approx(1 - level, abs=2e-7)


def test_margin_of_two_equal_noises() -> None:
    """For two equal noises the tail is e^(-t)(1 + t/2), so the margin is known."""
    t = Noise.LAPLACE.margin([1.0, 1.0], 0.95)
    assert math.exp(-t) * (1 + t / 2) == pytest.approx(0.05, rel=1e-10)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_margin_by_simulation(level: float) -> None:
    """A million draws of a count's error stay within its margin as often as they should."""
    design = design_of(hn.Workload((hn.Counts(8),)), LAPLACE, PURE)
    assert isinstance(design, Centered)
    assert design.size_scale is not None
    rng = np.random.default_rng(11)
    error = rng.laplace(scale=design.scales[0][0], size=10**6)
    error += rng.laplace(scale=design.size_scale, size=10**6) / 2
    inside = (abs(error) <= design.noise.margin(design.parts()[0]["sum"], level)).mean()
    # Five standard errors: a false alarm once in 1.7 million.
    assert inside == pytest.approx(level, abs=5 * math.sqrt(level * (1 - level) / 10**6))
    assert error.std() == pytest.approx(design.query_std[0], rel=0.01)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_margin_of_gaussian_noise(level: float) -> None:
    """The margin of Gaussian noises is the quantile of their common standard error."""
    margin = Noise.GAUSSIAN.margin([3.0, 4.0], level)
    assert math.erf(margin / 5 / math.sqrt(2)) == pytest.approx(level, rel=1e-12)
