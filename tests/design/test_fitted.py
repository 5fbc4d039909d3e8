import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import halfnoise as hn
from halfnoise.design import certificate, programme
from halfnoise.design.candidates import designs
from halfnoise.design.crowd import Crowd
from halfnoise.design.duality import solve
from halfnoise.design.fitted import Fitted
from halfnoise.design.fitted_groups import FittedGroups
from halfnoise.design.people import People, Size
from halfnoise.design.rows import Rows
from halfnoise.planning.choice import best
from halfnoise.privacy.definitions import Budget
from support.any_workload import NEAR, any_workload, enumerated, hold_to_its_bound
from support.corners import corners
from support.gaps import CHOICE, GAPS, MEAN, Gap, chosen, counts, least
from support.soak import MORE


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # to a hundredth of NEAR
@pytest.mark.parametrize("gap", GAPS, ids=lambda gap: gap.words)
def test_nothing_is_better(gap: Gap) -> None:
    """No Gaussian noise has half a per cent less squared error than the design that is chosen.

    What closed forms alone and this design lack is what the documentation states.
    """
    closed, taken = gap.measure()
    assert -0.005 <= taken <= 100 * (NEAR - 1)
    assert (closed, taken) == pytest.approx(gap.above, abs=0.011)


def test_closed_forms_alone_are_not_as_good() -> None:
    """The test sees designs that are 1% above, as closed forms are: more than half of the rows."""
    worse = 0
    for workload in (gap.workload for gap in GAPS if not gap.workload.grouped and not gap.known):
        bound = certificate.least_error(workload, 1) or math.inf
        worse += chosen(workload, fitted=False).error(workload) > NEAR * bound
    assert worse >= 12


@pytest.mark.parametrize("turn", range(60 * MORE))
def test_any_mixture(turn: int) -> None:
    """Five mixtures: each within half a per cent of its bound, and no bound above an error.

    Those with a closed form for people who are given, too.
    """
    chance = random.Random(f"mixture {turn}")
    for _ in range(5):
        workload = any_workload(chance)
        hold_to_its_bound(workload, known=chance.random() < 0.2)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("turn", range(12 * MORE))
def test_the_bound_is_that_of_a_solver(turn: int) -> None:
    """The certificate is at most the least error of any noise, and close to it."""
    chance = random.Random(f"bound {turn}")
    workload = any_workload(chance)
    # Small enough for the solver: it is slow, and not exact, where there is much to choose.
    while (
        workload.size_weight != workload.size_importance
        or len(list(corners(workload))) > (4 if workload.grouped else 16)
        or workload.size > 6
    ):
        workload = any_workload(chance)
    bound, found = certificate.least_error(workload, 1.0), least(workload)
    assert bound is not None
    assert 0.998 * found <= bound <= found * (1 + 5e-5)


def ready(workload: hn.Workload, mu: float, *, known: bool = False) -> Any:
    """Return the fitted design of a workload on its grid, if there is one."""
    offered = designs(workload, Budget(mu=mu), known_size=known)
    fitted = [design for design in offered if design.name == "fitted-gaussian"]
    return fitted[0].on_grid(workload, mu) if fitted else None


@pytest.mark.parametrize("turn", range(50 * MORE))
def test_what_is_measured_costs_what_is_declared(turn: int) -> None:
    """Twenty workloads: everybody, in exact rationals, costs no more, and the worst as much.

    All of them are enumerated, those without a fitted design in the closed form that is chosen.
    """
    chance = random.Random(f"loss {turn}")
    done = fitted = 0
    while done < 20:
        workload, mu = any_workload(chance), 10 ** chance.uniform(-2, 1)
        if workload.grouped and len(list(corners(workload))) > 12:
            continue
        found = ready(workload, mu)
        fitted += found is not None
        if found is None:
            found = best(list(designs(workload, Budget(mu=mu))), workload).on_grid(workload, mu)
        cost, declared = enumerated(workload, found), Fraction(found.design.loss())
        assert cost <= declared**2
        assert float(declared) <= mu
        assert math.sqrt(cost) >= 0.999 * mu, workload
        done += 1
    assert fitted


def test_a_part_more_is_seen() -> None:
    """The same test rejects rows that hold a little more of each other than was reckoned with."""
    workload = hn.Workload((hn.Count("a"), MEAN, CHOICE, hn.Sum("s", bounds=(3, 9))))
    found = ready(workload, 1.0)
    rows = found.rows.rows
    first = rows.rows[0]
    parts = (*first.parts[:-1], first.parts[-1] + Fraction(1, 16))
    wrong = Rows(rows.people, (type(first)(parts, first.people), *rows.rows[1:]))
    moved = type(found)(
        design=found.design,
        blocks=found.blocks,
        across=found.across,
        rows=type(found.rows)(wrong, found.rows.steps),
    )
    declared = Fraction(found.design.loss()) ** 2
    assert enumerated(workload, found) <= declared < enumerated(workload, moved)


@pytest.mark.parametrize("least_weight", [1e-12, 1e-6, 1e-3])
def test_planning_ends_for_any_importance(least_weight: float) -> None:
    """Importances from 1e-12 to 1e12 are planned, half a per cent from the least at most."""
    queries = [
        hn.Count("a"),
        hn.Sum("s", bounds=(2, 7)),
        MEAN,
        hn.Items("i", list("abcd"), at_most=2),
    ]
    labels = [query.label for query in queries]
    for turn in range(4):
        weights = [least_weight if i == turn else 1 / least_weight for i in range(4)]
        importance = dict(zip(labels, weights, strict=True))
        for interest in (0.0, least_weight, 1 / least_weight):
            workload = hn.Workload(queries, importance=importance, size_importance=interest)
            bound = certificate.least_error(workload, 1.0) or 0.0
            assert chosen(workload).error(workload) <= NEAR * bound


def test_what_weighs_nothing_beside_the_rest_has_to_weigh_a_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else its noise has no place on a grid, and the test above sees what closed forms lack."""
    monkeypatch.setattr(programme, "LEAST_PART", 0.0)
    with pytest.raises(AssertionError):
        test_planning_ends_for_any_importance(1e-12)


def test_groups_recover_what_was_measured() -> None:
    """Without noise every group's sums and size come back, and the errors of two groups are one."""
    workload = hn.Workload(
        [hn.Counts(3), hn.Mean("m", bounds=(2, 5))], groups=4, max_groups=2, size_importance=0.1
    )
    (design,) = (d for d in designs(workload, Budget(mu=1.0)) if isinstance(d, FittedGroups))
    dense = design.covariance.dense()
    between = np.zeros_like(dense)
    for term in design.between:
        load = np.array([*map(term.load, range(len(dense)))])
        between += term.weight * np.outer(load, load)
    total, apart = design._errors()
    own = design.crowd.one.order.index((0, 0))
    expected = (total - apart)[own, own] / 4 / 9  # three counts share a total
    assert between[0, 0] == pytest.approx(expected, rel=1e-9)
    assert np.linalg.eigvalsh(dense - between).min() > -1e-9


def test_the_solver_agrees_with_itself() -> None:
    """The error of what is found, and its bound, agree for people and for groups."""
    one = People.of(hn.Workload([hn.Counts(6), MEAN]).blocks, Size.UNUSED)
    assert one is not None
    found = solve(one.programme)
    assert found.bound <= found.error <= found.bound * 1.001
    several = counts(2, groups=3, max_groups=2)
    crowd = Crowd.of(several.grouping, several.neighbors, counts(2).blocks, Size.UNUSED, 0.0)
    assert crowd is not None
    both = solve(crowd.programme)
    assert both.bound <= both.error <= both.bound * 1.001


def test_it_is_offered_only_where_it_pays() -> None:
    """Closed forms stay where they are the best: few designs are fitted to them."""
    for workload in (counts(1), counts(4), counts(9), hn.Workload((CHOICE,)), hn.Workload((MEAN,))):
        assert not any(isinstance(d, Fitted) for d in designs(workload, Budget(mu=1.0)))
