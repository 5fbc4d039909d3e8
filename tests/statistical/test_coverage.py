from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from unittest import mock

import numpy as np
import pytest

from halfnoise import Count, GaussianDP, PureDP, Release, Workload, plan
from halfnoise.privacy.definitions import Privacy
from halfnoise.results import inference
from halfnoise.results.inference import Estimate
from support.fixed_workloads import KINDS
from support.measured import closed
from support.moments import covers
from support.replay import RELEASES, Many, many

LEVEL = 0.95
# Margins short by so much must be seen: with 20,000 intervals, and with more of them.
SHORT, LITTLE_SHORT = 0.92, 0.95
MORE = 5 * RELEASES
# Where each release is asked by itself.
FEWER = 4000

GAUSSIAN = GaussianDP(mu=1)
LAPLACE = PureDP(epsilon=1)
Ask = Callable[[Release], Estimate]


def hits(found: Iterable[Estimate], truth: float) -> int:
    """Count the intervals that hold the truth."""
    return sum(each.low <= truth <= each.high for each in found)


CASES: list[tuple[str, int, Privacy, bool, str]] = [
    ("counts", 1, GAUSSIAN, False, "c0"),
    ("counts", 2, GAUSSIAN, False, "c1"),
    ("counts", 9, GAUSSIAN, False, "c3"),
    ("counts", 9, GAUSSIAN, True, "c3"),
    ("at_most", 16, GAUSSIAN, False, "c5"),
    ("sums", 4, GAUSSIAN, False, "s3"),
    ("means", 2, GAUSSIAN, False, "m1 sum"),
    ("means", 2, GAUSSIAN, False, "m1 answered"),
    ("choice", 4, GAUSSIAN, False, "x=other"),
    ("bins", 9, GAUSSIAN, True, "x=0 to 1"),
    ("items", 9, GAUSSIAN, False, "x=8"),
    ("mixture", 16, GAUSSIAN, False, "s"),
]


@pytest.mark.parametrize(("kind", "d", "privacy", "known", "name"), CASES)
def test_intervals_cover(kind: str, d: int, privacy: Privacy, known: bool, name: str) -> None:  # noqa: FBT001
    """Of 20,000 intervals 95% hold the true value; with margins 8% short too few do.

    All releases have one margin about their own estimate, as a thousand of them show.
    """
    table = many(KINDS[kind](d), privacy, known=known)
    (margin,) = margins([table.one[name]])
    errors = table.errors[:, table.one.names.index(name)]
    found = [each[name] for each in table.each(1000)]
    assert margins(found) == pytest.approx(margin, rel=1e-9)
    estimates = [each.estimate for each in found]
    assert estimates == pytest.approx(table.true(name) + errors[:1000], rel=1e-12)
    assert covers(int((np.abs(errors) <= margin).sum()), RELEASES, LEVEL)
    assert not covers(int((np.abs(errors) <= SHORT * margin).sum()), RELEASES, LEVEL)


@pytest.mark.parametrize(
    "privacy", [GaussianDP(mu=3e6), GaussianDP(mu=2.14e6), PureDP(epsilon=4e6)]
)
@pytest.mark.parametrize(("kind", "d"), [("counts", 1), ("counts", 4), ("means", 1), ("choice", 4)])
def test_noise_of_a_few_steps_covers(kind: str, d: int, privacy: Privacy) -> None:
    """Where noise is hardly larger than the step that it is rounded to, 95% hold the truth too."""
    table = many(KINDS[kind](d), privacy, people=10)
    for index, name in enumerate(table.one.names):
        (margin,) = margins([table.one[name]])
        error = np.abs(table.errors[:, index])
        assert covers(int((error <= margin).sum()), RELEASES, LEVEL, most=LEVEL + 0.005)
        assert not covers(int((error <= SHORT * margin).sum()), RELEASES, LEVEL, most=1.0)


def test_rounding_is_in_the_errors() -> None:
    """A release says how far it varies, rounding to the step included, and so do its groups."""
    for rules in ({}, {"by": "g", "groups": ["x", "y"], "max_groups": 2}):
        found = plan(Workload([Count("a"), Count("b")], **rules), privacy=GaussianDP(mu=3e6))  # type: ignore[arg-type]  # rules of a workload
        ready = closed(found).measurement
        least = min(scales.min() for scales in ready.scales)
        more = ready.drawn.covariance.diagonal() / ready.design.covariance.diagonal() - 1
        assert more == pytest.approx(1 / (12 * least**2), rel=1e-3)
        if rules:
            assert ready.drawn.common > ready.design.common
            assert (ready.drawn.people_std or 0) > (ready.design.people_std or 0)


@pytest.mark.parametrize("name", ["number of people", "c0"])
def test_other_levels_cover(name: str) -> None:
    """An interval at 50% holds the truth half of the time, that of the size too."""
    table = many(KINDS["counts"](4), GAUSSIAN)
    truth = 1000.0 if name == "number of people" else table.true(name)
    found = [replace(each, level=0.5)[name] for each in table.each()]
    assert covers(hits(found, truth), RELEASES, 0.5)


def margins(found: Iterable[Estimate]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the margins of symmetric intervals, which do not depend on the values."""
    return np.array([(each.high - each.low) / 2 for each in found])


@pytest.mark.parametrize(
    ("kind", "d"),
    [("counts", 1), ("counts", 4), ("counts", 100), ("choices", 16), ("sums", 9), ("items", 4)],
)
def test_laplace_intervals_cover(kind: str, d: int) -> None:
    """With Laplace noise 95% hold the truth too; with margins 5% short too few do."""
    table = many(KINDS[kind](d), LAPLACE, rows=MORE)
    assert "laplace" in table.one.facts["design"]["name"]
    for index in {0, len(table.one.names) - 1}:
        (margin,) = margins([table.one[table.one.names[index]]])
        error = np.abs(table.errors[:, index])
        assert covers(int((error <= margin).sum()), MORE, LEVEL)
        assert not covers(int((error <= LITTLE_SHORT * margin).sum()), MORE, LEVEL)


COMBINED: list[tuple[str, Privacy, dict[str, float]]] = [
    ("counts", GAUSSIAN, {"c0": 1.0, "c8": -1.0}),
    ("counts", GAUSSIAN, {"c0": 1.0, "c1": 2.0, "number of people": -0.5}),
    ("choice", GAUSSIAN, {"x=0": 1.0, "x=1": -1.0}),
    ("mixture", GAUSSIAN, {"c0": 1.0, "s": 0.1, "m sum": 0.2, "x=a": -3.0}),
    ("counts", LAPLACE, {"c0": 1.0, "c8": -1.0}),
    ("choices", LAPLACE, {"x0=yes": 1.0, "x1=yes": 1.0, "x1=other": -0.5}),
    ("sums", LAPLACE, {"s0": 1.0, "s1": 1.0, "s3": 0.5}),
]


@pytest.mark.parametrize(("kind", "privacy", "weights"), COMBINED)
def test_weighted_sums_cover(kind: str, privacy: Privacy, weights: dict[str, float]) -> None:
    """Differences and weighted sums, where shared noise cancels, keep their level."""
    table = many(KINDS[kind](9), privacy, rows=MORE)
    places = {"number of people": len(table.one.names)}
    w = np.zeros(len(table.truth))
    for name, weight in weights.items():
        w[places.get(name, -1) if name in places else table.one.names.index(name)] = weight
    found = table.one.linear(weights)
    assert found.estimate == pytest.approx(float(w @ table.one.values), rel=1e-9)
    (margin,) = margins([found])
    error = np.abs(table.errors @ w)
    assert covers(int((error <= margin).sum()), MORE, LEVEL)
    assert not covers(int((error <= LITTLE_SHORT * margin).sum()), MORE, LEVEL)
    assert float((table.errors @ w).std()) == pytest.approx(found.std, rel=0.05)


def test_rounded_counts_cover() -> None:
    """Rounding leaves an interval that holds the truth as often, or more often."""
    for mu in (1.0, 20.0):
        table = many(KINDS["counts"](4), GaussianDP(mu=mu), people=10)
        for name in table.one.names:
            found = [each.rounded()[name] for each in table.each(FEWER)]
            assert covers(hits(found, table.true(name)), FEWER, LEVEL, most=1.0)
            assert all(each.low <= each.estimate <= each.high for each in found)


@pytest.mark.parametrize("kind", ["counts", "means", "choice", "mixture"])
def test_a_size_known_afterwards_covers(kind: str) -> None:
    """Knowing the number of people narrows intervals, and they still hold 95% of the time."""
    table = many(replace(KINDS[kind](4), size_importance=0.1), GAUSSIAN)
    name = table.one.names[1]
    error, lean = table.errors, table.one.errors.covariance.given_last()[1]
    for size, right in ((1000, True), (1004, False)):
        known = [each.with_known_size(size)[name] for each in table.each(500)]
        margin = margins(known)[0]
        assert margins(known) == pytest.approx(margin, rel=1e-9)
        off = error[:, 1] - lean[1] * (error[:, -1] + 1000 - size)
        own = [each.estimate - table.true(name) for each in known]
        assert off[:500] == pytest.approx(own, abs=1e-9)
        assert covers(int((np.abs(off) <= margin).sum()), RELEASES, LEVEL) == right
        assert known[0].std < table.one[name].std


def means_of(people: int, mu: float, ask: Ask, kind: str, d: int) -> Callable[[float], int]:
    """Return how many of the intervals of a ratio hold the truth, margins times a factor.

    What one release asks about its own values is asked about those of all releases at once; some
    of them are asked by themselves, too.
    """
    table = many(KINDS[kind](d), GaussianDP(mu=mu), people=people)
    exact = replace(table.one, values=table.truth.copy())
    truth = ask(exact).estimate

    def count(short: float) -> int:
        some = table.each(50, short=short)
        with mock.patch.object(inference, "ratios", wraps=inference.ratios) as asked:
            own = [ask(each) for each in some]
        _, *others = asked.call_args.args
        ratio, std, low, high = inference.ratios(table.truth + table.errors, *others)
        for found, each in zip(zip(ratio, std, low, high, strict=True), own, strict=False):
            assert found == pytest.approx((each.estimate, each.std, each.low, each.high))
        return int(((low <= truth) & (truth <= high)).sum())

    return count


RATIOS: list[tuple[str, str, int, Ask]] = [
    ("share", "counts", 9, lambda r: r.share("c3")),
    ("share-of-choice", "choice", 4, lambda r: r.share("x=1")),
    ("mean", "means", 2, lambda r: r.mean("m1")),
    ("mean-far-from-zero", "sums", 4, lambda r: r.mean("s3")),
    ("ratio", "counts", 9, lambda r: r.ratio("c3", "c6")),
]
EVERY_RATIO = pytest.mark.parametrize(
    ("kind", "d", "ask"), [each[1:] for each in RATIOS], ids=[each[0] for each in RATIOS]
)


@EVERY_RATIO
def test_ratios_cover(kind: str, d: int, ask: Ask) -> None:
    """Means, shares and ratios of 50 people hold 95% of the time; with margins 8% short, less."""
    count = means_of(50, 2.0, ask, kind, d)
    assert covers(count(1.0), RELEASES, LEVEL)
    assert not covers(count(SHORT), RELEASES, LEVEL)


@EVERY_RATIO
def test_ratios_cover_where_the_bottom_may_be_zero(kind: str, d: int, ask: Ask) -> None:
    """With so much noise that 50 people may be none, intervals without ends keep the level."""
    count = means_of(50, 0.15, ask, kind, d)
    assert covers(count(1.0), RELEASES, LEVEL, most=1.0)


def test_some_ratios_have_no_ends() -> None:
    """The test above does meet intervals without ends, and ones that have them."""
    table = many(KINDS["counts"](9), GaussianDP(mu=0.15), people=50, rows=1000)
    wide = [each.ratio("c3", "number of people") for each in table.each()]
    endless = sum(np.isinf(each.low) and np.isinf(each.high) for each in wide)
    assert 0 < endless < len(wide)
    assert all(np.isfinite(each.estimate) for each in wide)


@pytest.mark.parametrize(
    ("kind", "top", "bottom"), [("counts", "c3", "c6"), ("means", "m1 sum", "m1 answered")]
)
def test_laplace_ratios_cover(kind: str, top: str, bottom: str) -> None:
    """An interval holds a ratio if and only if top - ratio * bottom is within its margin: 95%."""
    table = many(KINDS[kind](9), PureDP(epsilon=20), people=50)
    ratio = table.true(top) / table.true(bottom)
    weights = {top: 1.0, bottom: -ratio}
    (margin,) = margins([table.one.linear(weights)])
    error = sum(table.errors[:, table.one.names.index(n)] * w for n, w in weights.items())
    inside = np.abs(error) <= margin
    assert covers(int(inside.sum()), RELEASES, LEVEL)
    for each, expected in zip(table.each(20), inside[:20], strict=True):
        found = each.ratio(top, bottom)
        assert (found.low <= ratio <= found.high) == expected


def within_all(table: Many, level: float, short: float = 1.0) -> int:
    """Count the releases in which all intervals hold at once."""
    found = {each.name: each for each in table.one.intervals(level=level, simultaneous=True)}
    reach = margins(found[name] for name in table.one.names)
    return int((np.abs(table.errors[:, : len(reach)]) <= short * reach).all(axis=1).sum())


TOGETHER: list[tuple[str, int, Privacy, float]] = [
    ("counts", 1, GAUSSIAN, 0.0),
    ("counts", 2, GAUSSIAN, 0.02),
    ("counts", 9, GAUSSIAN, 0.0),
    ("counts", 100, GAUSSIAN, 0.0),
    ("sums", 9, GAUSSIAN, 0.0),
    ("items", 16, GAUSSIAN, 0.02),
    ("choice", 9, GAUSSIAN, 0.02),
    ("mixture", 9, GAUSSIAN, 0.03),
    ("counts", 9, LAPLACE, 0.02),
]


@pytest.mark.parametrize(("kind", "d", "privacy", "waste"), TOGETHER)
def test_simultaneous_intervals_cover(kind: str, d: int, privacy: Privacy, waste: float) -> None:
    """All intervals hold at once as often as they say, and not much more often."""
    table = many(KINDS[kind](d), privacy)
    assert covers(within_all(table, LEVEL), RELEASES, LEVEL, most=LEVEL + waste)
    assert not covers(within_all(table, LEVEL, short=0.9), RELEASES, LEVEL, most=1.0)


def test_simultaneous_means_cover() -> None:
    """Means are among the intervals that hold at once."""
    rows = 1200
    table = many(KINDS["means"](2), GAUSSIAN, people=100, rows=rows)
    exact = replace(table.one, values=table.truth.copy())
    truth = [each.estimate for each in exact]
    assert [each.name for each in table.one.intervals(level=LEVEL, simultaneous=True)] == [
        each.name for each in exact
    ]
    ask = partial(Release.intervals, level=LEVEL, simultaneous=True)
    held = sum(
        all(each.low <= x <= each.high for each, x in zip(ask(release), truth, strict=True))
        for release in table.each(rows)
    )
    assert covers(held, rows, LEVEL, most=0.99)
