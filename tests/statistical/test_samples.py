from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.results import deviation, sampling
from support.moments import covers
from support.samples import Ask, Budget, Samples, grouped, sampled, tabled, weighted

LEVEL = 0.95
ROWS = 3_000
FEWER = 600
MANY = 2_000
ALIKE = hn.GaussianDP(mu=0.3)  # where noise of 150 people, and who they are, matter alike


@pytest.mark.parametrize(
    ("n", "privacy"),
    [
        (25, hn.GaussianDP(mu=20)),
        (25, hn.GaussianDP(mu=3)),
        (25, hn.GaussianDP(mu=1)),
        (150, hn.GaussianDP(mu=20)),
        (150, ALIKE),
        (MANY, hn.GaussianDP(mu=1)),
        (60, hn.PureDP(epsilon=3)),
    ],
)
def test_intervals_hold_what_everybody_would_say(n: int, privacy: Budget) -> None:
    """Of few people and many, near bounds and for rare answers, 95% hold the truth, or more."""
    rows = ROWS if n < MANY and isinstance(privacy, hn.GaussianDP) else FEWER
    for name, held in sampled(n, rows, privacy).hits().items():
        assert covers(held, rows, LEVEL, most=1.0), (name, held)


ASKED: dict[str, Ask] = {
    "share": lambda r: r.share("half"),
    "rare share": lambda r: r.share("rare"),
    "share of a choice": lambda r: r.share("blood=other"),
    "mean of a sum": lambda r: r.mean("visits"),
    "difference of two": lambda r: r.difference("half", "rare"),
    "difference of categories": lambda r: r.difference("blood=A", "blood=B"),
    "weighted": lambda r: r.linear({"blood=A": 1.0, "blood=B": -0.5, "visits": 0.1}),
    "of a mean": lambda r: r.linear({"income sum": 1.0, "income answered": -10.0}),
    "ratio": lambda r: r.ratio("blood=A", "blood=B"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_concluded_holds(asked: str) -> None:
    """So do shares, means per person, differences, weighted sums and ratios."""
    samples = sampled(25, FEWER, hn.GaussianDP(mu=1))
    assert covers(samples.each(ASKED[asked], FEWER), FEWER, LEVEL, most=1.0)


def test_a_known_size_holds() -> None:
    """The same where the number of people is known afterwards."""
    samples = sampled(25, FEWER, hn.GaussianDP(mu=1))
    for ask in (ASKED["share"], ASKED["mean of a sum"]):
        held = samples.each(lambda r, ask=ask: ask(r.with_known_size(25)), FEWER)  # type: ignore[misc]
        assert covers(held, FEWER, LEVEL, most=1.0)


Mutant = Callable[[Samples], dict[str, object]]
MUTANTS: dict[str, Mutant] = {
    "sampling left out": lambda _: {"sampling": None},
    "noise left out": lambda samples: samples.noiseless,
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_one_error_alone_is_too_little(mutant: str) -> None:
    """Where noise and sample are alike, intervals that leave out one of them are seen."""
    samples = sampled(150, ROWS, ALIKE)
    change = MUTANTS[mutant](samples)
    held = samples.hits(**change)
    for name in ("half", "visits", "blood=A"):
        assert not covers(held[name], ROWS, LEVEL, most=1.0), name
    for asked in ("share", "mean of a sum"):
        each = samples.each(ASKED[asked], ROWS, **change)
        assert not covers(each, ROWS, LEVEL, most=1.0), asked


def test_what_the_sample_itself_makes_of_its_variance_is_too_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where rare answers are taken for as rare as they look, too few intervals hold."""
    samples = sampled(150, ROWS, hn.GaussianDP(mu=20))
    beside = sampling.Curve.beside

    def flat(self: sampling.Curve, noise: sampling.Curve, reach: sampling.Reach) -> sampling.Curve:
        return beside(sampling.Curve(self.here), noise, reach)

    monkeypatch.setattr(sampling.Curve, "beside", flat)
    for where in (sampling, deviation):
        monkeypatch.setattr(where, "ends", partial(_without_half_a_person, sampling.ends))
    held, fewer = samples.hits(), sampled(25, ROWS, hn.GaussianDP(mu=20)).hits()
    for name in ("rare", "nearly all", "tail deviation"):
        assert not covers(held[name], ROWS, LEVEL, most=1.0)
    for name in ("tail deviation", "all or nothing deviation"):
        assert not covers(fewer[name], ROWS, LEVEL, most=1.0)


def _without_half_a_person(ends: Callable[..., object], *given: object, h: object) -> object:
    del h
    return ends(*given, h=0.0)


@pytest.mark.parametrize("effect", [1.0, 2.0])
def test_clusters_have_a_design_effect(effect: float) -> None:
    """Of people in pairs that are alike, a design effect of two holds, and one does not."""
    held = sampled(400, ROWS, hn.GaussianDP(mu=2), design_effect=effect, times=2).hits()
    for name in ("half", "blood=A", "all or nothing"):
        assert covers(held[name], ROWS, LEVEL, most=1.0) == (effect == 2.0)


def test_all_hold_at_once() -> None:
    """Intervals for all estimates at once hold together in 95% of samples, or more."""
    samples = sampled(150, ROWS, ALIKE)
    level = 1 - (1 - LEVEL) / sum(samples.one.counted)
    wide = replace(samples.one, level=level)
    for each in samples.one.intervals(level=LEVEL, simultaneous=True):
        assert (each.low, each.high) == (wide[each.name].low, wide[each.name].high)
    held = samples.hits(level=level)
    assert sum(ROWS - each for name, each in held.items() if "tail" not in name) < 0.05 * ROWS


@pytest.mark.parametrize("privacy", [ALIKE, hn.PureDP(epsilon=3)])
@pytest.mark.parametrize("level", [0.5, 0.999])
def test_other_levels_hold(privacy: Budget, level: float) -> None:
    """At 50% and 99.9% as many hold, with Laplace noise too."""
    n, rows = (150, ROWS) if privacy is ALIKE else (60, FEWER)
    for name, held in sampled(n, rows, privacy).hits(level=level).items():
        assert covers(held, rows, level, most=1.0), name


@pytest.mark.parametrize("effective", [True, False])
def test_weights_hold(effective: bool) -> None:  # noqa: FBT001
    """People who count several times over are fewer than they weigh, and intervals know it."""
    samples = weighted(200, FEWER)
    if not effective:  # a mutant for which everybody counts once
        samples = replace(samples, one=replace(samples.one, facts={}))
    for name in ("share", "mean of a sum"):
        held = samples.each(ASKED[name], FEWER)
        assert covers(held, FEWER, LEVEL, most=1.0) == effective, name


GROUPS: dict[str, Callable[[hn.GroupedRelease], hn.Estimate]] = {
    "count": lambda r: r.difference("half", "A", "B"),
    "share": lambda r: r.difference("half", "A", "B", share=True),
    "rare share": lambda r: r.difference("rare", "A", "B", share=True),
    "mean": lambda r: r.difference("income", "A", "B"),
    "total": lambda r: r.total(["A", "B"])["half"],
}


@pytest.mark.parametrize("most", [1, 2])
def test_differences_of_groups_hold(most: int) -> None:
    """Groups differ by what everybody's do, or nearly; without the error of the sample, less often.

    Where a person may be in both groups, here everybody is, with other answers in each.
    """
    in_groups = grouped(60, FEWER, most)
    for name, ask in GROUPS.items():
        truth = ask(in_groups.exact)
        found = [ask(each) for each in in_groups.releases]
        held = sum(each.low <= truth.estimate <= each.high for each in found)
        assert covers(held, FEWER, LEVEL, most=1.0), name
        if name not in ("rare share", *ALIKE_IN_BOTH[: 2 * (most - 1)]):
            alone = [ask(each.with_sampling(None)) for each in in_groups.releases]
            less = sum(each.low <= truth.estimate <= each.high for each in alone)
            assert not covers(less, FEWER, LEVEL, most=1.0), name


ALIKE_IN_BOTH = ("mean", "total")  # of people who are in both groups, these do not vary
TABLES: dict[str, Callable[[hn.Release], hn.Estimate]] = {
    "cell": lambda r: r.table("sex", "age")["f", "0 to 18"],
    "rare cell": lambda r: r.table("sex", "age")["m", "18 to 65"],
    "margin": lambda r: r.table("sex")["f"],
    "total": lambda r: r.table("sex", "age").total(sex="f", age=["0 to 18", "18 to 65"]),
    "difference": lambda r: r.table("sex", "age").difference(("f", "0 to 18"), ("f", "18 to 65")),
    "row": lambda r: r.table("sex", "age").shares("row")["f", "18 to 65"],
    "share": lambda r: r.table("sex", "age").shares()["m", "0 to 18"],
    "linear": lambda r: r.table("sex", "age").linear(np.arange(12).reshape(3, 4)),
    "mean": lambda r: r.table("sex", "age", of="income")["f", "0 to 18"],
    "mean of a margin": lambda r: r.table("sex", "age", of="income").total(sex="f"),
    "difference of means": lambda r: r.table("sex", of="income").difference("f", "m"),
    "sum": lambda r: r.table("sex", of="visits")["f"],
    "part of a sum": lambda r: r.table("sex", of="visits").shares()["f"],
}


def test_tables_hold() -> None:
    """So do cells, margins, totals, differences, shares, sums and means by cell."""
    rows = 2 * FEWER  # of fewer, cells without their noise would pass once in 400 runs
    samples = tabled(200, rows)
    for name, ask in TABLES.items():
        held = samples.each(ask, rows)
        assert covers(held, rows, LEVEL, most=1.0), name
        for mutant in MUTANTS if name in ("cell", "share", "sum") else ():
            less = samples.each(ask, rows, **MUTANTS[mutant](samples))
            assert not covers(less, rows, LEVEL, most=1.0), (name, mutant)
