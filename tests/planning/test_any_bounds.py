"""Plans of any bounds: refused by a rule that is told, or made."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

import halfnoise as hn

q: Any = hn
GROUPS: list[dict[str, Any]] = [
    {},
    {"by": "g", "groups": ["x", "y"]},
    {"by": "g", "groups": ["x", "y"], "max_groups": 2, "group_sizes": False},
    {"neighbors": hn.Neighbors.REPLACE},
]
KINDS: list[tuple[Any, dict[str, Any]]] = [(q.Sum, {}), (q.Mean, {})]
KINDS += [(q.Sum, {"where": q.Where("w", equals=1)}), (q.Mean, {"variance": True})]
TINY = st.sampled_from([5e-324, -5e-324, 2.2e-309, 1e-200, -1e-300])
BOUNDS = st.tuples(st.floats(-1e6, 1e6) | TINY, st.floats(-49, 49).map(lambda x: 10.0**x))


@pytest.mark.filterwarnings("error")
@settings(deadline=None, max_examples=60)
@given(
    both=st.tuples(BOUNDS, BOUNDS),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=2),
    groups=st.sampled_from(GROUPS),
    size=st.sampled_from([0, 1]),
)
@example(((2.2e-309, 1.0), (0.0, 1.0)), [KINDS[0]], GROUPS[0], 0)
@example(((0.0, 5e-45), (0.0, 1.0)), [KINDS[3]], GROUPS[0], 1)
def test_any_bounds(
    both: tuple[tuple[float, float], tuple[float, float]],
    kinds: list[tuple[Any, dict[str, Any]]],
    groups: dict[str, Any],
    size: int,
) -> None:
    """However far bounds lie apart or from zero, and from those of others, nothing else breaks."""
    try:
        asked = [
            kind(f"x{i}", bounds=(low, low + width), **own)
            for i, ((kind, own), (low, width)) in enumerate(zip(kinds, both, strict=False))
        ]
        workload = hn.Workload(asked, size_importance=size, **groups)
        plan = hn.plan(workload, privacy=hn.GaussianDP(mu=1))
    except hn.HalfnoiseError:
        return
    bound, error = plan.least_error_bound, plan.chosen.error(workload)
    assert 0 < error < float("inf")
    assert bound is None or bound <= error * (1 + 1e-9)
