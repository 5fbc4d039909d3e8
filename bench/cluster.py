"""A cluster on paper: tasks on many cores, with stragglers, failures, retries and second copies.

One driver hands tasks out one after another, which takes it some time for each. A task that fails
is run again, at most so many times that the job lives; one that straggles takes some times longer,
unless a second copy is started once it is late (speculation). Results count once in any case.
"""

import heapq
import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """So many cores, what handing out a task takes, and how often something goes wrong."""

    cores: int = 1_000
    launch: float = 0.0  # seconds of the driver for each task
    straggling: float = 0.0  # chance that a task takes `slower` times as long
    slower: float = 10.0
    failing: float = 0.0  # chance that a task fails, at any moment of its run
    attempts: int = 4  # spark.task.maxFailures: after so many the job is given up
    late: float = 0.0  # spark.speculation.multiplier: a second copy once so late; 0: never


@dataclass(frozen=True, slots=True)
class Run:
    """What came of it: seconds until the end, seconds of cores, and what went wrong on the way."""

    seconds: float
    busy: float
    failures: int
    copies: int
    given_up: bool


def simulate(tasks: int, seconds: float, cluster: Cluster, seed: int = 1) -> Run:
    """Run so many tasks of so many seconds each."""
    draw = random.Random(seed)  # noqa: S311  # no secret hangs on it
    free, again = [0.0] * cluster.cores, list[tuple[float, int]]()  # when, and how often it failed
    driver = end = busy = 0.0
    failures = copies = 0
    while tasks or again:
        core = heapq.heappop(free)
        since, failed = 0.0, 0
        if again and (not tasks or again[0][0] <= core):
            since, failed = heapq.heappop(again)
        else:
            tasks -= 1
        driver = start = max(core, driver, since) + cluster.launch
        took, spare = seconds, 0.0
        if draw.random() < cluster.straggling:
            took *= cluster.slower
            if 0 < cluster.late < cluster.slower - 1:  # the copy is done first
                took, spare, copies = (cluster.late + 1) * seconds, seconds, copies + 1
        if draw.random() < cluster.failing:
            took *= draw.random()
            failures, failed = failures + 1, failed + 1
            if failed >= cluster.attempts:
                return Run(start + took, busy + took, failures, copies, given_up=True)
            heapq.heappush(again, (start + took, failed))
        heapq.heappush(free, start + took + spare)  # one core bears the time of both copies
        busy, end = busy + took + spare, max(end, start + took)
    return Run(end, busy, failures, copies, given_up=False)


def chance_given_up(tasks: int, cluster: Cluster) -> float:
    """Return the chance that some task fails as often as a job bears."""
    return 1 - (1 - cluster.failing**cluster.attempts) ** tasks
