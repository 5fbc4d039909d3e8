"""Which noise is taken: Gaussian, unless Laplace noise is worth it or asked for."""

import json
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from halfnoise.noise.law import Noise
from halfnoise.planning.choice import WORTH, best
from halfnoise.privacy.definitions import DiscoveryDP
from support.commands import PEOPLE, refused, run
from support.small_workloads import QUERIES, RELATIONS, maker

APPROX = hn.ApproxDP(epsilon=1, delta=1e-6)


def error(found: hn.Plan, kind: Noise) -> float:
    """Return the error by which designs are compared, of the best with one kind of noise."""
    design = best(found.designs, found.workload, kind)
    assert design.noise is kind
    return float(design.total_error(found.workload.size_importance) ** 0.5)


@pytest.mark.parametrize("budget", [APPROX, hn.ApproxDP(epsilon=0.1, delta=1e-9)], ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_laplace_noise_must_be_worth_it(relation: str, budget: hn.ApproxDP) -> None:
    """Of every kind of workload, Laplace noise is taken where it has a fifth less error."""
    for name in QUERIES:
        found = hn.plan(maker(name)(**RELATIONS[relation]), privacy=budget)
        laplace, gaussian = error(found, Noise.LAPLACE), error(found, Noise.GAUSSIAN)
        taken = Noise.LAPLACE if laplace <= WORTH * gaussian else Noise.GAUSSIAN
        assert found.chosen.noise is taken
        assert found.chosen is best(found.designs, found.workload, taken)


def test_by_the_number_of_counts() -> None:
    """At (1, 1e-6) four counts are the most for which Laplace noise is taken; it was eight once."""
    names = [hn.plan([hn.Counts(d)], privacy=APPROX).chosen.noise for d in range(1, 10)]
    assert names == [Noise.LAPLACE] * 4 + [Noise.GAUSSIAN] * 5


@pytest.mark.parametrize("d", [1, 7, 20])
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_noise_that_is_asked_for_is_taken(noise: str, d: int) -> None:
    """Either kind can be had, and both are shown."""
    found = hn.plan([hn.Counts(d)], privacy=APPROX, noise=noise)
    assert found.chosen.noise.value == noise
    assert {each.noise for each in found.designs} == set(Noise)
    shown = repr(found)
    assert "standard-gaussian" in shown
    assert "standard-laplace" in shown
    stored = json.loads(json.dumps(found.to_dict()))
    assert stored["noise"]["chosen"] == noise
    assert {each["noise"] for each in stored["designs"]} == {"gaussian", "laplace"}


def test_what_each_costs_when_releases_add_up() -> None:
    """One line says what ten releases come to; it is in the JSON too, and right."""
    found = hn.plan([hn.Counts(7)], privacy=APPROX)
    ten = found.ten_releases
    mu = best(found.designs, found.workload, Noise.GAUSSIAN).guarantee.mu
    assert ten["gaussian"] == pytest.approx(hn.GaussianDP(mu=mu * 10**0.5).epsilon(1e-6))
    assert ten["laplace"] == pytest.approx(10)
    (line,) = (line for line in repr(found).splitlines() if "add up" in line)
    assert "epsilon 3.52 with Gaussian noise and 10 with Laplace noise, at delta 1e-06" in line
    assert "54.8% and 73.2%" in line
    assert found.to_dict()["noise"]["ten_releases"] == ten
    assert "Laplace noise would have" in found.why
    for budget in (hn.GaussianDP(mu=1), hn.PureDP(epsilon=1)):
        alone = hn.plan([hn.Counts(7)], privacy=budget)
        assert alone.ten_releases == {}
        assert "add up" not in repr(alone)


@pytest.mark.parametrize(
    ("budget", "noise", "said"),
    [
        (hn.PureDP(epsilon=1), "gaussian", "noise must be 'laplace' with this budget"),
        (hn.GaussianDP(mu=1), "laplace", "noise must be 'gaussian' with this budget"),
        (hn.ConcentratedDP(rho=0.1), "laplace", "noise must be 'gaussian' with this budget"),
        (APPROX, "Gaussian", "noise must be 'gaussian' or 'laplace', got 'Gaussian'"),
        (APPROX, 1, "noise must be 'gaussian' or 'laplace'"),
    ],
)
def test_noise_that_cannot_keep_the_promise_is_refused(budget: Any, noise: Any, said: str) -> None:
    """In a plan and in a release, before any row is read."""
    with pytest.raises(hn.InvalidParameterError, match=said):
        hn.plan([hn.Count("a")], privacy=budget, noise=noise)
    people = pl.DataFrame({"a": [True]})
    with pytest.raises(hn.InvalidParameterError, match=said):
        hn.release(people, [hn.Count("a")], row_is_person=True, privacy=budget, noise=noise)


def test_a_release_takes_the_noise_of_its_plan() -> None:
    """The guarantee is that of the noise drawn, and so is the promise in words."""
    people = pl.DataFrame({"a": [True, False]})
    for noise, kind, said in (
        ("gaussian", hn.GaussianDP, "Promised: epsilon 1, delta 1e-06."),
        ("laplace", hn.PureDP, "Promised: pure epsilon 1."),
    ):
        rules: Any = {"row_is_person": True, "privacy": APPROX, "noise": noise}
        table = hn.release(people, [hn.Count("a")], **rules)
        assert isinstance(table.guarantee, kind)
        assert table.facts["design"]["noise"] == noise
        assert said in repr(table)
        assert said in table._repr_html_()


@pytest.mark.parametrize("noise", [None, "gaussian", "laplace"])
@pytest.mark.parametrize("queries", [[hn.Counts(d)] for d in (1, 5, 9)])
def test_a_budget_for_a_margin(noise: str | None, queries: Any) -> None:
    """The budget for a margin keeps it with the noise that is taken at that budget."""
    budget = hn.budget_for(queries, margin=20, noise=noise)
    found = hn.plan(queries, privacy=budget, noise=noise)
    assert max(found.margins) <= 20
    assert noise is None or found.chosen.noise.value == noise
    # Not much less would do.
    less = hn.ApproxDP(epsilon=budget.epsilon * 0.99, delta=1e-6)
    assert max(hn.plan(queries, privacy=less, noise=noise).margins) > 20


def test_the_word_on_the_command_line(tmp_path: Any) -> None:
    """``--noise`` says it in a plan, in a release and in a spec."""
    budget = ("--epsilon", "1", "--delta", "1e-6", "--noise", "laplace")
    shown = json.loads(run("plan", "--counts", "20", *budget, "--json").out)
    assert shown["noise"]["chosen"] == "laplace"
    people = tmp_path / "people.csv"
    people.write_text("person_id,a\n1,1\n2,0\n")
    spec = tmp_path / "spec.toml"
    words = (people, "--count", "a", *PEOPLE, *budget, "--save-spec", spec)
    assert "Promised: pure epsilon 1." in run("release", *words).err
    assert 'noise = "laplace"' in spec.read_text()
    assert "noise must be" in refused("plan", "--counts", "2", *budget[:4], "--noise", "any")


@pytest.mark.parametrize("own", [None, 1e-9, 5e-7])
def test_ten_releases_pay_for_discovering_too(own: float | None) -> None:
    """What is said is an upper bound for ten releases, or is not said."""
    rules: Any = {"by": "shop", "groups": "discover", "discover_delta": own}
    found = hn.plan([hn.Counts(7)], privacy=APPROX, **rules)
    ten = found.ten_releases
    for kind in ("gaussian", "laplace"):
        one = hn.plan([hn.Counts(7)], privacy=APPROX, noise=kind, **rules).measurement.guarantee
        together = hn.compose(*[one] * 10)
        if own == 5e-7:  # ten of these are more than delta
            assert kind not in ten
            continue
        assert isinstance(together, DiscoveryDP)
        assert together.epsilon(1e-6) == ten[kind]
    assert ("add up" in repr(found)) == (len(ten) == 2)
    assert found.to_dict()["noise"]["ten_releases"] == ten
