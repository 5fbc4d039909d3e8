"""A design that only this file knows goes through the whole house."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
import polars as pl
import pytest
from flint import arb

import halfnoise as hn
from halfnoise.design import candidates
from halfnoise.design.covariance import Covariance, Run
from halfnoise.design.design import Design, Measurement, Recovered, Setting
from halfnoise.design.threshold import Threshold
from halfnoise.noise.law import Noise
from halfnoise.proof import ball
from halfnoise.workload.block import Block
from halfnoise.workload.grid import Floats, Ring
from halfnoise.workload.sets.base import Parts
from halfnoise.workload.totals import Totals
from halfnoise.workload.workload import Workload
from support.commands import run
from support.release_schema import VALIDATOR

STEP = Fraction(1, 2**20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Twice(Design):
    """Every count and the number of people, measured twice with noise of one scale."""

    blocks: tuple[Block, ...]
    scale: float
    touched: int

    name = "twice-gaussian"
    noise = Noise.GAUSSIAN

    @classmethod
    def offers(cls, setting: Setting) -> "Iterator[Twice]":
        """Offer it for counts."""
        workload, budget = setting.workload, setting.budget
        counts = all(block.shape.ones is not None for block in workload.blocks)
        if setting.noise is Noise.GAUSSIAN and counts and not workload.discovers:
            design = cls(blocks=workload.blocks, scale=1 / budget, touched=workload.touched)
            yield design.certified(budget)

    @property
    def size(self) -> int:
        """The number of what is measured: all counts, and the number of people."""
        return sum(block.shape.size for block in self.blocks) + 1

    @property
    def size_scale(self) -> float:
        """The scale of the average of two noises."""
        return self.scale / math.sqrt(2)

    @property
    def covariance(self) -> Covariance:
        """All averages are independent."""
        return Covariance(self.size, (Run(0, self.size, self.size_scale**2),))

    def parts(self) -> tuple[Parts, ...]:
        """Return the one noise in each estimate."""
        return tuple({"sum": [self.size_scale]} for _ in self.blocks)

    def worst(self) -> arb:
        """Return what somebody costs who says yes to everything, in each of their groups."""
        return ball(2 * self.touched * self.size).sqrt() / ball(self.scale)

    def stretched(self, factor: float) -> Self:
        """Return the design with all its scales times ``factor``."""
        return replace(self, scale=self.scale * factor)

    def on_grid(self, workload: Workload, budget: float) -> "TwiceMeasured":
        """Return it as it is: counts are whole people, on any grid."""
        del workload, budget
        return TwiceMeasured(design=self, blocks=self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwiceMeasured(Measurement):
    """The two measurements, side by side."""

    design: Twice
    blocks: tuple[Block, ...]
    threshold: Threshold | None = None

    @property
    def scales(self) -> list[Floats]:
        """One scale for all, in steps."""
        return [np.full(2 * self.design.size, math.ceil(self.design.scale / STEP), dtype=float)]

    @property
    def facts(self) -> Mapping[str, Any]:
        """The grid of everything."""
        return {"units": ["1"], "steps": [str(STEP)], "people": str(STEP)}

    def measure(self, totals: Totals) -> list[Ring]:
        """Return everything in steps, twice."""
        once = np.column_stack([*totals.sums, totals.people]) * np.uint64(1 / STEP)
        return [np.concatenate([once, once], axis=1)]

    def recover(self, noisy: list[Ring], known_size: float | None = None) -> Recovered:
        """Return the averages."""
        del known_size
        values = noisy[0].view(np.int64).astype(np.float64) * float(STEP)
        both = (values[:, : self.design.size] + values[:, self.design.size :]) / 2
        return Recovered(estimates=both[:, :-1], sizes=both[:, -1])

    def discovering(self, most: int, delta: float) -> Self:
        """Refuse: this design is for groups that are listed."""
        raise NotImplementedError

    def passed(self, noisy: list[Ring]) -> list[int]:
        """Refuse, too."""
        raise NotImplementedError


@pytest.fixture
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the house offer nothing else."""
    monkeypatch.setattr(candidates, "CANDIDATES", (Twice,))


PEOPLE = pl.DataFrame({"a": [True, False] * 500, "b": [True] * 1000, "place": ["n", "s"] * 500})
COUNTS = [hn.Count("a"), hn.Count("b")]
# A million people hide nothing from this budget: estimates are far within 0.01 of the truth.
EXACT = hn.GaussianDP(mu=1e4)


def test_it_is_offered_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more line in candidates is all it takes; the best design is still chosen."""
    monkeypatch.setattr(candidates, "CANDIDATES", (*candidates.CANDIDATES, Twice))
    plan = hn.plan(hn.Workload([hn.Counts(9)]), privacy=hn.GaussianDP(mu=1))
    assert "twice-gaussian" in plan.table()
    assert plan.chosen.name == "correlated-gaussian"
    (ours,) = (design for design in plan.designs if design.name == "twice-gaussian")
    assert 1 - 1e-12 < ours.loss() <= 1
    assert ours.query_std[0] == pytest.approx(math.sqrt(10))


@pytest.mark.usefixtures("_alone")
def test_it_is_planned_and_released(tmp_path: Any) -> None:
    """A plan in words and JSON, a release, its file and its JSON: none asks which design it is."""
    plan = hn.plan(hn.Workload(COUNTS), privacy=EXACT)
    assert "It is the only design that applies here." in repr(plan)
    assert json.loads(run("plan", "--counts", "3", "--mu", "1", "--json").out)["chosen"] == (
        "twice-gaussian"
    )
    release = hn.release(PEOPLE, COUNTS, row_is_person=True, privacy=EXACT)
    assert release["a"].estimate == pytest.approx(500, abs=0.01)
    assert release.size is not None
    assert release.size.estimate == pytest.approx(1000, abs=0.01)
    assert release.guarantee == hn.GaussianDP(mu=plan.chosen.loss())
    back = hn.Release.from_json(release.to_json())
    assert repr(back) == repr(release)
    PEOPLE.write_csv(tmp_path / "people.csv")
    words = ("--count", "a", "--row-is-person", "--mu", "1e4")
    assert run("release", tmp_path / "people.csv", *words).table["a"] == 500


@pytest.mark.usefixtures("_alone")
def test_it_is_released_by_group() -> None:
    """Groups, their totals and differences, and JSON and back."""
    table = hn.release(
        PEOPLE, COUNTS, row_is_person=True, privacy=EXACT, by="place", groups=["n", "s"]
    )
    assert table.facts["design"]["name"] == "twice-gaussian"
    assert table["n"]["a"].estimate == pytest.approx(500, abs=0.01)
    assert table["s"]["a"].estimate == pytest.approx(0, abs=0.01)
    assert table.total()["b"].estimate == pytest.approx(1000, abs=0.01)
    assert table.difference("a", "n", "s").estimate == pytest.approx(500, abs=0.01)
    text = table.to_json()
    VALIDATOR.validate(json.loads(text))
    assert hn.GroupedRelease.from_json(text).to_json() == text
