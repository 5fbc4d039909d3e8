"""A choice read as the table by one axis that it is: its intervals hold as often as they say."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from halfnoise import Choice, Count, GaussianDP, Neighbors, PureDP, Release, Table, Workload
from halfnoise.results.inference import Errors, ratios
from support.moments import covers
from support.replay import RELEASES, Many, many

X = Choice("x", ["a", "b", "c"])
LAPLACE, GAUSSIAN = PureDP(epsilon=1), GaussianDP(mu=1)
CASES: dict[str, tuple[Any, Workload]] = {
    "laplace": (LAPLACE, Workload([Table([X])])),
    "laplace with people": (LAPLACE, Workload([Table([X]), Count("y")], size_importance=1)),
    "laplace replaced": (LAPLACE, Workload([Table([X])], neighbors=Neighbors.REPLACE)),
    "gaussian": (GAUSSIAN, Workload([Table([X]), Count("y")])),
}
WEIGHTS = [2.0, -1.0, 0.5, 1.0]
ASKED: dict[str, tuple[Any, list[float]]] = {
    "total": (lambda table: table.total(x=["a", "c"]), [1, 0, 1, 0]),
    "most of it": (lambda table: table.total(x=["b", "c", "other"]), [0, 1, 1, 1]),
    "difference": (lambda table: table.difference("b", "other"), [0, 1, 0, -1]),
    "weighted": (lambda table: table.linear(WEIGHTS), WEIGHTS),
}


def wrong(found: Many, level: float) -> list[str]:
    """List what holds the truth too seldom or too often."""
    one = replace(found.one, level=level)
    question = next(each for each in one.questions if each.name == "x")
    own = found.errors[:, question.start : question.stop]
    bad = []
    for name, (ask, weights) in ASKED.items():
        got = ask(one.table("x"))
        errors, margin = own @ np.array(weights), (got.high - got.low) / 2
        assert errors.std() == pytest.approx(got.std, rel=0.1)
        if not covers(int((np.abs(errors) <= margin).sum()), RELEASES, level):
            bad.append(name)
    return bad + [name for name, hits in shares(found, one) if not covers(hits, RELEASES, level)]


def shares(found: Many, one: Release) -> Iterator[tuple[str, int]]:
    """Count how often shares hold: all at once, as the first releases say it one by one."""
    question = next(each for each in one.questions if each.name == "x")
    values, people = found.truth + found.errors, one.known_size
    first = [replace(one, values=row).table("x").shares() for row in values[:20]]
    truth = found.truth[question.start : question.stop]
    for place, true in enumerate(truth / truth.sum()):
        cell, whole = values[:, question.start + place], values[:, question.start : question.stop]
        if people is None:
            below = values[:, -1] if one.has_size else whole.sum(axis=1)
            _, errors = one.table("x")._beside(())
            _, _, low, high = ratios(np.stack([cell, below], axis=1), errors, (0, 1), one.level)
        else:
            margin = float(one.table("x").high[place] - one.table("x").estimates[place])
            low, high = (cell - margin) / people, (cell + margin) / people
        for each, ends in zip(first, np.clip([low, high], 0, 1).T, strict=False):
            assert [each.low[place], each.high[place]] == pytest.approx(ends)
        yield f"share {place}", int(((low <= true) & (true <= high)).sum())


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("case", CASES)
def test_intervals_of_a_choice_cover(case: str, level: float) -> None:
    """Of totals, differences, weighted sums and shares, with either noise."""
    privacy, workload = CASES[case]
    found = many(workload, privacy)
    assert found.one.errors.noise.value == case.split(maxsplit=1)[0]
    assert wrong(found, level) == []


def one_noise(self: Errors, top: Any, bottom: Any = ()) -> Errors:
    """Take all noises of a sum for one of the same variance."""
    weights = dict(bottom)
    both = {i: top.get(i, 0.0) + weights.get(i, 0.0) for i in (*top, *weights)}
    one, other, sum_ = map(self.covariance.of, (top, weights, both))
    return self.two(one, other, (sum_ - one - other) / 2)


def test_sums_of_noises_that_are_taken_for_one_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several Laplace noises are no Laplace noise: totals, weighted sums and shares are off."""
    monkeypatch.setattr(Errors, "alone", one_noise)
    privacy, workload = CASES["laplace"]
    found = wrong(many(workload, privacy), 0.5)
    assert {"total", "most of it", "weighted", "share 0", "share 3"} <= {*found}
