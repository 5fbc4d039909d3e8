from fractions import Fraction

import halfnoise as hn
from support.soak import MORE, tell
from support.table_people import costs
from support.table_workloads import drawn

MU = hn.GaussianDP(mu=0.7)
CLOSE = Fraction(1, 10**9)
MANY = 60 if MORE == 1 else max(300, 60 * MORE)


def test_everybody_costs_no_more_than_declared_and_somebody_that() -> None:
    """Whatever is asked: everybody listed, in rationals, from what is measured in whole steps."""
    kinds = set[str]()
    least = Fraction(1)
    for seed in range(MANY):
        workload = drawn(seed)
        known = seed % 3 == 0 and not workload.grouped
        plan = hn.plan(workload, privacy=MU, known_size=known)
        declared = Fraction(plan.measurement.design.loss()) ** 2
        found, complete = costs(plan)
        assert max(found) <= declared, seed
        if complete:
            least = min(least, max(found) / declared)
            assert max(found) >= declared * (1 - CLOSE), (seed, float(max(found) / declared))
            kinds.add(f"{workload.neighbors.value} {workload.touched} {plan.chosen.name}")
    tell("loss of tables", kinds=sorted(kinds), least=float(least))
