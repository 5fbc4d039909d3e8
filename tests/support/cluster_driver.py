"""A driver on a cluster, which says when its workers are busy: then somebody kills one of them.

It writes a line of JSON for each thing that it says, and goes on when it hears a line.
"""

import json
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

from pyspark.sql import functions

import halfnoise as hn
from halfnoise.noise.law import Noise
from support import commands
from support.loss import Scale

q: Any = hn  # queries also take lists, which their annotations do not say
C, B = q.Choice("c", ["a", "b"]), q.Bins("x", [0, 5, 10])
ALL = Scale(
    [q.Count("a"), q.Items("i", ["u", "v"], split=";"), q.Table([C, B])],
    by="g",
    groups=["p", "q"],
    max_groups=2,
)
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.files.openCostInBytes": "64m",  # each file is a task
    "spark.sql.files.maxPartitionBytes": "64m",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A second copy of whatever takes longer than others.
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.minTaskRuntime": "50ms",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.multiplier": "1.1",
}
TRIES = 8  # until a task runs twice


def say(**what: Any) -> None:
    """Say something."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def hear() -> None:
    """Wait until somebody says something."""
    sys.stdin.readline()


def once_busy(context: Any, then: Callable[[], None]) -> None:
    """Do something as soon as some tasks are done while others run."""
    tracker = context.statusTracker()
    while True:
        for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()):
            if stage and stage.numCompletedTasks and stage.numActiveTasks:
                then()
                return
        time.sleep(0.01)


def killed() -> None:
    """Have a worker killed, and wait until it is."""
    say(busy=True)
    hear()


def session(master: str) -> Any:
    """Return a session on a cluster."""
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = SparkSession.builder.master(master).appName("halfnoise")
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def main(master: str, path: str) -> None:
    """Add up the same table while workers die; then release it as the command does."""
    spark = session(master)
    plain = spark.read.parquet(path)
    # Before a worker dies: what it ran may then run where the others do.
    draws, last = [], plain.withColumn("a", functions.expr(_long("if(id < 350, 20000, 400000)")))
    for _ in range(TRIES):  # whether a task is slow enough hangs on the machine
        with mock.patch.object(Noise, "draw", autospec=True, side_effect=Noise.draw) as draw:
            hn.release(last, [q.Count("a")], unit="id", privacy=hn.GaussianDP(mu=1), ledger=None)
        draws.append(draw.call_count)
        if copies := _second_copies(spark.sparkContext):
            break
    say(draws=draws, speculative=copies)
    slow = plain.withColumn("a", functions.expr(_long("20000 + cast(id % 2 as int)")))
    thread = threading.Thread(target=once_busy, args=(spark.sparkContext, killed))
    thread.start()
    tell("files", slow)
    thread.join()
    hear()
    with _dying_after_checkpoint(type(plain)):
        tell("a snapshot", plain.limit(10**6))
    hear()
    where = ("--engine", "spark", "--spark-master", master, path)
    asked = ("--count", "a", "--unit", "id", "--mu", "1e6", "--i-know", "--no-ledger")
    ran = commands.run("release", *where, *asked)
    say(status=ran.status, out=ran.out, err=ran.err)


def _long(steps: str) -> str:
    """Return an expression that is what the column a is, which takes so many steps to see."""
    return f"a and aggregate(sequence(0, {steps}), 0L, (s, x) -> s + x) > 0"


def tell(case: str, table: Any) -> None:
    """Say the exact totals of a table."""
    exact = ALL.totals(table)
    say(case=case, sums=[each.tolist() for each in exact.sums], n=exact.everyone.tolist())


def _dying_after_checkpoint(kind: Any) -> Any:
    """Have a worker killed once after a snapshot was taken, before anybody looks at it."""
    checkpoint = kind.localCheckpoint
    times: list[int] = []

    def dies(self: Any, *args: Any, **more: Any) -> Any:
        kept = checkpoint(self, *args, **more)
        if not times:
            killed()
        times.append(1)
        if len(times) == 2:
            say(again=True)
        return kept

    return mock.patch.object(kind, "localCheckpoint", dies)


def _second_copies(context: Any) -> int:
    """Return how many tasks were started a second time while the first still ran."""
    store = context._jsc.sc().statusStore()
    none = context._gateway.new_array(context._jvm.double, 0)
    stages = store.stageList(None, False, False, none, None)
    found = 0
    for stage in (stages.apply(i) for i in range(stages.size())):
        tasks = store.taskList(stage.stageId(), stage.attemptId(), 1000)
        found += sum(tasks.apply(i).speculative() for i in range(tasks.size()))
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
