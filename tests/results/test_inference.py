import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gamma, multivariate_normal, nbinom, norm

from halfnoise.design.covariance import Covariance, Run, Shared
from halfnoise.noise.law import Noise, laplace_margin
from halfnoise.results.inference import (
    ANYTHING,
    Errors,
    Estimate,
    Floats,
    ratios,
)
from halfnoise.results.together import simultaneous_level

PEOPLE = Shared(4.0, (Run(0, 2, 0.5), Run(2, 3, 1.0)))
THREE = Covariance(3, (Run(0, 2, 9.0),), (PEOPLE,))
PROJECTED = Covariance(
    4,
    (Run(0, 2, 8.0), Run(2, 4, 2.0)),
    (Shared(-4.0, (Run(0, 2, 1.0),)), Shared(2.0, (Run(0, 4, 0.5),))),
)


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("covariance", [THREE, PROJECTED])
@pytest.mark.parametrize(
    "weights", [{0: 1.0}, {0: 1.0, 1: -1.0}, {0: 2.0, 1: 0.5, 2: -1.0}, {1: 1.0, 2: 1.0}]
)
def test_standard_errors_are_those_of_the_covariance(
    noise: Noise, covariance: Covariance, weights: Mapping[int, float]
) -> None:
    """The noises in a weighted sum have together the variance that the full matrix says."""
    w = np.zeros(covariance.size)
    w[list(weights)] = list(weights.values())
    expected = math.sqrt(w @ covariance.dense() @ w)
    assert Errors(noise, covariance).std(weights) == pytest.approx(expected, rel=1e-12)


def test_laplace_noise_is_projected_in_pairs() -> None:
    """Two categories hold half the difference of their noises each."""
    pair = Covariance(2, (Run(0, 2, 8.0),), (Shared(-4.0, (Run(0, 2, 1.0),)),))
    errors = Errors(Noise.LAPLACE, pair)
    assert sorted(errors.parts({0: 1.0})) == pytest.approx([1.0, 1.0])
    assert sorted(errors.parts({0: 1.0, 1: -1.0})) == pytest.approx([2.0, 2.0])
    assert errors.margin({0: 1.0, 1: 1.0}, 0.95) == 0


def test_nothing_has_no_error() -> None:
    """A sum with weights of zero has neither error nor margin."""
    for noise in Noise:
        none = Errors(noise, THREE).linear("none", np.ones(3), {0: 0.0}, 0.95)
        assert none == Estimate(name="none", estimate=0.0, std=0.0, low=0.0, high=0.0)


def test_shared_noise_cancels() -> None:
    """The difference of two counts with one centre has its own two noises alone."""
    errors = Errors(Noise.GAUSSIAN, THREE)
    found = errors.linear("a - b", np.array([7.0, 4.0, 20.0]), {0: 1.0, 1: -1.0}, 0.95)
    assert found.estimate == 3
    assert found.std == pytest.approx(math.sqrt(18))
    assert found.high - 3 == pytest.approx(norm.ppf(0.975) * math.sqrt(18))


def ratio(values: Floats, errors: Errors, pair: tuple[int, int], level: float) -> Estimate:
    """Return the ratio of two estimates."""
    x, std, low, high = ratios(values[np.newaxis], errors, pair, level)[:, 0].tolist()
    return Estimate(name="r", estimate=x, std=std, low=low, high=high)


@settings(max_examples=200, deadline=None)
@given(
    a=st.floats(-1e4, 1e4),
    b=st.integers(-(2**24), 2**24).map(lambda steps: steps / 2**10),
    own=st.floats(0.01, 100),
    level=st.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_ratios_are_fiellers(a: float, b: float, own: float, level: float) -> None:
    """An end of an interval solves Fieller's quadratic; there is none where the bottom may be 0."""
    covariance = Covariance(3, (Run(0, 2, own),), (PEOPLE,))
    found = ratio(np.array([0.0, a, b]), Errors(Noise.GAUSSIAN, covariance), (1, 2), level)
    dense, z = covariance.dense(), norm.ppf((1 + level) / 2)
    if abs(b) <= z * math.sqrt(dense[2, 2]):
        assert (found.low, found.high) == ANYTHING
        return
    assert found.estimate == pytest.approx(a / b)
    assert found.low <= found.estimate <= found.high
    for r in (found.low, found.high):
        variance = dense[1, 1] - 2 * r * dense[1, 2] + r**2 * dense[2, 2]
        assert (a - r * b) ** 2 == pytest.approx(z**2 * variance, rel=1e-6)


def within_margin(
    values: Floats, errors: Errors, pair: tuple[int, int], level: float, r: float
) -> bool:
    """Whether Fieller's interval holds a ratio."""
    a, b = (float(values[i]) for i in pair)
    return abs(a - r * b) <= errors.margin({pair[0]: 1.0, pair[1]: -r}, level)


def is_the_end(end: float, slack: float, near: float, inside: Callable[[float], bool]) -> bool:
    """Whether an interval about a ratio holds all up to an end, and nothing beyond by so much."""
    reach = end - near
    slack = math.copysign(slack, reach)
    before = [near + reach * share for share in (1e-6, 1e-3, 0.1, 0.5, 0.9)]
    return all(map(inside, [*before, end - slack])) and not inside(end + slack)


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("copies", [1, 3])
def test_ratios_end_where_the_condition_does(noise: Noise, level: float, copies: int) -> None:
    """The ends in closed form, or by waves, are where Fieller's condition ceases to hold."""
    covariance = Covariance(
        4,
        (Run(0, 1, 9.0),),
        (
            Shared(2.0, (Run(0, 1, 3.0), Run(1, 2, 1.0))),
            Shared(5.0, (Run(0, 2, 0.5), Run(3, 4, 1))),
        ),
    )
    errors = Errors(noise, covariance, copies)
    rows = np.array([[x, y, 0.0, -y] for x, y in ((-1e3, 25.0), (7.0, -300.0), (0.0, 4e5))])
    for pair in ((0, 1), (1, 0), (0, 3), (3, 1)):
        bottom = errors.margin({pair[1]: 1.0}, level)
        for row, (r, std, low, high) in zip(rows, ratios(rows, errors, pair, level).T, strict=True):
            if abs(row[pair[1]]) <= bottom:
                assert (low, high) == ANYTHING
            else:
                error = errors.std({pair[0]: 1.0, pair[1]: -r})
                assert std * abs(row[pair[1]]) == pytest.approx(error)
                inside = partial(within_margin, row, errors, pair, level)
                for end in (low, high):
                    slack = max(2e-9 * (high - low), 1e-12 * abs(end))
                    assert is_the_end(end, slack, r, inside)
                    assert not is_the_end(end + 1e-6 * (end - r), slack, r, inside)


@pytest.mark.parametrize("noise", Noise)
def test_ratios_without_two_noises(noise: Noise) -> None:
    """Where the two have one noise between them, or the bottom none, the ends are still right."""
    values = np.array([30.0, 40.0, 20.0])
    certain = Covariance(3, (Run(0, 2, 9.0),), ())
    errors = Errors(noise, certain)
    margin = errors.margin({0: 1.0}, 0.95)
    found = ratio(values, errors, (0, 2), 0.95)
    assert (found.low, found.high) == pytest.approx(((30 - margin) / 20, (30 + margin) / 20))
    assert found.std == pytest.approx(3 / 20)
    turned = ratio(values, errors, (2, 0), 0.95)
    assert (turned.low, turned.high) == pytest.approx((20 / (30 + margin), 20 / (30 - margin)))
    same = ratio(values, errors, (0, 0), 0.95)
    assert (same.estimate, same.std, same.low, same.high) == (1, 0, 1, 1)


@pytest.mark.parametrize("noise", Noise)
def test_a_bottom_just_beyond_its_margin(noise: Noise) -> None:
    """The interval is all there is up to the margin of the bottom, and very wide beyond it."""
    errors = Errors(noise, THREE)
    margin = errors.margin({2: 1.0}, 0.95)
    for factor, everything in ((1 - 1e-9, True), (1 + 1e-6, False)):
        found = ratio(np.array([50.0, 0.0, margin * factor]), errors, (0, 2), 0.95)
        assert math.isinf(found.low) == math.isinf(found.high) == everything
        assert everything or found.high > 1e4


def test_a_bottom_of_zero_is_no_failure() -> None:
    """Dividing by an estimate of exactly zero gives an interval of everything."""
    found = ratio(np.array([1.0, 2.0, 0.0]), Errors(Noise.GAUSSIAN, THREE), (0, 2), 0.95)
    assert (found.low, found.high, found.std) == (*ANYTHING, math.inf)
    assert math.isfinite(found.estimate)


def test_bounds_keep_order() -> None:
    """Whatever lies outside the bounds moves to them, and low stays below high."""
    outside = Estimate(name="x", estimate=-5.0, std=1.0, low=-6.0, high=-4.0)
    kept = outside.within(0.0, 1.0)
    assert (kept.low, kept.estimate, kept.high) == (0, 0, 0)
    assert outside.within(*ANYTHING) == outside


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_together_is_the_joint_probability(level: float) -> None:
    """All intervals hold at once with the probability that the joint distribution says."""
    covariance = Covariance(
        4, (Run(0, 2, 9.0), Run(2, 3, 1.0)), (Shared(4.0, (Run(0, 2, 0.5), Run(2, 4, 1.0))),)
    )
    each = simultaneous_level(Errors(Noise.GAUSSIAN, covariance), 3, 0, level)
    z = norm.ppf((1 + each) / 2)
    dense = covariance.dense()[:3, :3]
    reach = z * np.sqrt(np.diagonal(dense))
    joint = multivariate_normal(np.zeros(3), dense, seed=1)
    assert joint.cdf(reach, lower_limit=-reach) == pytest.approx(level, abs=1e-4)


def test_one_interval_alone_keeps_its_level() -> None:
    """With one query nothing has to be wider, and every further mean makes all wider."""
    one = Errors(Noise.GAUSSIAN, Covariance(1, (Run(0, 1, 9.0),)))
    assert simultaneous_level(one, 1, 0, 0.95) == pytest.approx(0.95, abs=1e-6)
    assert simultaneous_level(one, 1, 1, 0.95) == pytest.approx(math.sqrt(0.95), abs=1e-6)
    laplace = Errors(Noise.LAPLACE, Covariance(2, (Run(0, 2, 9.0),)))
    assert simultaneous_level(laplace, 2, 0, 0.9) == pytest.approx(0.95)


@pytest.mark.parametrize("count", [1, 2, 10])
def test_laplace_margins_hold_their_share(count: int) -> None:
    """The margin of a sum of Laplace noises leaves 5% outside, by numerical convolution."""
    covariance = Covariance(
        count, tuple(Run(i, i + 1, 2.0 * (1 + i % 3) ** 2) for i in range(count))
    )
    margin = Errors(Noise.LAPLACE, covariance).margin(dict.fromkeys(range(count), 1.0), 0.95)
    t = np.linspace(0, 40, 400_001)[1:]
    transform = np.prod([1 / (1 + (1 + i % 3) ** 2 * t**2) for i in range(count)], axis=0)
    inside = 2 / np.pi * np.trapezoid(np.sin(t * margin) / t * transform, t)
    inside += 2 / np.pi * t[0] * margin
    assert inside == pytest.approx(0.95, abs=2e-3)


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("copies", [1, 2, 7])
def test_copies_add_up(noise: Noise, copies: int) -> None:
    """Errors that add up are those of as many independent estimates, added."""
    many = Covariance(
        2 * copies,
        (Run(0, 2 * copies, 9.0),),
        tuple(Shared(4.0, (Run(2 * i, 2 * i + 2, 0.5),)) for i in range(copies)),
    )
    one = Covariance(2, (Run(0, 2, 9.0),), (Shared(4.0, (Run(0, 2, 0.5),)),))
    for weights in ((1.0, 0.0), (1.0, -2.0)):
        apart = {2 * i + j: w for i in range(copies) for j, w in enumerate(weights)}
        added = Errors(noise, one, copies)
        few = dict(enumerate(weights))
        assert added.std(few) == pytest.approx(Errors(noise, many).std(apart))
        assert added.margin(few, 0.9) == pytest.approx(Errors(noise, many).margin(apart, 0.9))


def laplace_tail(copies: int, x: float) -> float:
    """Return P(|sum of Laplace noises of scale one| > x) as a mixture of sums of exponentials."""
    steps = np.arange(1, copies + 1)
    chances = nbinom.pmf(copies - steps, copies, 0.5) * 2
    return float(np.sum(chances * gamma.sf(x, steps)))


@pytest.mark.parametrize("copies", [1, 2, 8, 9, 30, 1000])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.95, 0.999, 1 - 1e-9])
def test_margins_of_many_laplace_noises(copies: int, level: float) -> None:
    """The margin of a sum leaves outside what it shall, however many noises there are."""
    margin = laplace_margin((3.0,), level, copies)
    assert laplace_tail(copies, margin / 3) == pytest.approx(1 - level, rel=1e-7)


def test_very_many_laplace_noises_are_nearly_normal() -> None:
    """The margin of 100,000 noises is the normal one but for their fourth moment."""
    z = norm.ppf(0.975)
    correction = 3 / 100_000 * (z**3 - 3 * z) / 24
    margin = laplace_margin((1.0,), 0.95, 100_000) / math.sqrt(200_000)
    assert margin == pytest.approx(z + correction, abs=1e-9)
