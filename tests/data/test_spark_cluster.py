"""A cluster of Spark: workers that die change nothing, and neither do tasks that run twice."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support import cluster_driver
from support.cluster import HOST, Cluster, a_cluster
from support.commands import estimates

FILES, PEOPLE = 8, 400
TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of files, each with some rows of many people."""
    folder, draw = tmp_path_factory.mktemp("files"), random.Random(1)
    for k in range(FILES):
        each = range(k * PEOPLE // FILES, (k + 1) * PEOPLE // FILES)
        table = {
            "id": [*each],
            "a": [draw.random() < 0.5 for _ in each],
            "x": [draw.uniform(-1, 12) for _ in each],
            "c": [draw.choice("abc") for _ in each],
            "g": [draw.choice("pqr") for _ in each],
            "i": [draw.choice(["u;v", "v", "", "w;u"]) for _ in each],
        }
        pq.write_table(pa.table(table), folder / f"{k}.parquet")
    return folder


@pytest.fixture(scope="module")
def told(files: Path) -> dict[str, Any]:
    """Run a driver, kill a worker whenever it says that they are busy, and return what it says."""
    with a_cluster() as cluster:
        return _told(cluster, files)


def _told(cluster: Cluster, files: Path) -> dict[str, Any]:
    words = [sys.executable, "-m", "support.cluster_driver", cluster.url, str(files)]
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    environment = os.environ | {"PYTHONPATH": paths, "SPARK_LOCAL_IP": HOST}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    quiet: dict[str, Any] = {"stderr": subprocess.DEVNULL, "text": True}
    found: dict[str, Any] = {"killed": 0}
    with subprocess.Popen(words, env=environment, **pipes, **quiet) as driver:
        assert driver.stdin is not None
        assert driver.stdout is not None
        for said in map(json.loads, driver.stdout):
            found |= {said["case"]: said} if "case" in said else said
            if "busy" in said:
                cluster.kill()
                found["killed"] += 1
            elif "case" in said:
                cluster.revive()
            else:
                continue
            driver.stdin.write("go on\n")
            driver.stdin.flush()
    return found


def test_workers_of_spark_die_and_nothing_changes(told: dict[str, Any], files: Path) -> None:
    """A worker is killed among its tasks, and one that held a part of a snapshot: same totals."""
    exact = cluster_driver.ALL.totals(files)
    expected = {"sums": [each.tolist() for each in exact.sums], "n": exact.everyone.tolist()}
    assert told["killed"] == 2
    for case in ("files", "a snapshot"):
        assert told[case] == {"case": case} | expected
    assert told["again"]  # a snapshot that was lost was taken again


def test_noise_is_drawn_once_on_spark(told: dict[str, Any]) -> None:
    """Tasks that run twice, at the same time, draw nothing."""
    assert told["speculative"] > 0
    assert {*told["draws"]} == {1}


def test_spark_on_the_command_line(told: dict[str, Any], files: Path) -> None:
    """The command reads Parquet on a cluster."""
    assert told["status"] == 0, told["err"]
    answers = [cell for each in files.iterdir() for cell in pq.read_table(each)["a"].to_pylist()]
    assert estimates(told["out"]) == {"number of people": PEOPLE, "a": sum(answers)}
