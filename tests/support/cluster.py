"""A real cluster of Spark from the pyspark package: a master and workers on the loopback address.

A worker dies as a machine does: it and what it runs at once.
"""

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

# Set by .ci/run where there is Java: then nothing may be skipped for want of it.
REQUIRED = "HALFNOISE_SPARK"
HOST = "127.0.0.1"
# Two names of that address: Spark starts no second copy of a task where the first one runs.
NAMES = (HOST, "localhost")
PATIENCE = 60.0
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.master.rest.enabled=false"
QUIET = "rootLogger.level = off\n"


def needed() -> Path:
    """Return where Spark is; skip where there is no Java, unless there must be."""
    missing = "" if shutil.which("java") else "Spark needs Java, and there is none"
    if missing and os.environ.get(REQUIRED):
        pytest.fail(f"{missing}, though {REQUIRED} says that there is one")
    if missing:
        pytest.skip(missing)
    found = importlib.util.find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def free_port() -> int:
    """Return a port of the loopback address that nobody has now."""
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


class Cluster:
    """A master and two workers."""

    def __init__(self, folder: Path, spark: Path) -> None:
        """Start them."""
        self.folder, self.spark = folder, spark
        self.port, self.page = free_port(), free_port()
        (folder / "log4j2.properties").write_text(QUIET)
        self.environment = os.environ | {
            "SPARK_HOME": str(spark),
            "SPARK_CONF_DIR": str(folder),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_DAEMON_MEMORY": "128m",
            "SPARK_DAEMON_JAVA_OPTS": JAVA,
        }
        own = ("--host", HOST, "--port", str(self.port), "--webui-port", str(self.page))
        self.master = self._start("master.Master", *own)
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.revive()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"spark://{HOST}:{self.port}"

    def kill(self) -> None:
        """Kill the first worker with all that runs on it."""
        _kill(self.workers.pop(next(iter(self.workers))))

    def revive(self) -> None:
        """Start workers until there are two."""
        for name in NAMES:
            if name not in self.workers:
                self.workers[name] = self._worker(name)
        self.await_workers(len(NAMES))

    def stop(self) -> None:
        """Kill everything."""
        for process in (*self.workers.values(), self.master):
            _kill(process)

    def await_workers(self, number: int) -> None:
        """Wait until the master knows so many workers that are alive."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with (
                contextlib.suppress(OSError),
                urllib.request.urlopen(f"http://{HOST}:{self.page}/json/", timeout=5) as page,
            ):
                if json.load(page)["aliveworkers"] >= number:
                    return
            time.sleep(0.1)
        raise TimeoutError

    def _worker(self, name: str) -> subprocess.Popen[bytes]:
        where = self.folder / f"work{time.monotonic_ns()}"
        own = ("--host", name, "--cores", "2", "--memory", "1g", "--work-dir", str(where))
        return self._start("worker.Worker", *own, "--webui-port", str(free_port()), self.url)

    def _start(self, kind: str, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self.spark / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # what it starts dies with it
        )


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def a_cluster() -> Iterator[Cluster]:
    """Start a cluster, and remove everything afterwards."""
    spark = needed()
    with tempfile.TemporaryDirectory(prefix="hn-", ignore_cleanup_errors=True) as folder:
        cluster = Cluster(Path(folder), spark)
        try:
            yield cluster
        finally:
            cluster.stop()
