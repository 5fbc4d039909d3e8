"""Fair timing on a noisy machine: candidates take turns, medians are compared."""

import statistics
import time
from collections.abc import Callable, Mapping


def medians(candidates: Mapping[str, Callable[[], object]], rounds: int = 21) -> dict[str, float]:
    """Return the median seconds of each candidate over interleaved rounds, after a warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for candidate in candidates.values():
        candidate()
    for _ in range(rounds):
        for name, candidate in candidates.items():
            start = time.perf_counter()
            candidate()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in seconds.items()}
