"""PipelineDP on the same job; run by the Python of its own environment."""

import json
import sys

import pipeline_dp as pdp

EPSILON, DELTA = 1.0, 1e-6


def errors(d: int, repeats: int, people: int) -> None:
    """Count who has each item, again and again: each is had by half of the people."""
    rows = [(p, i) for p in range(people) for i in range(d) if (p + i) % 2]
    asked = pdp.AggregateParams(
        noise_kind=pdp.NoiseKind.GAUSSIAN,
        metrics=[pdp.Metrics.COUNT],
        max_partitions_contributed=d,
        max_contributions_per_partition=1,
    )
    told = pdp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda _: 0,
    )
    for _ in range(repeats):
        budget = pdp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
        engine = pdp.DPEngine(budget, pdp.LocalBackend())
        found = engine.aggregate(rows, asked, told, public_partitions=list(range(d)))
        budget.compute_budgets()
        print(json.dumps([value.count for _, value in sorted(found)]), flush=True)


if __name__ == "__main__":
    errors(*map(int, sys.argv[-3:]))
