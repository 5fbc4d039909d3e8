"""What a peer's program answers: a line of JSON for each release, until it ends or is stopped."""

import json
import math
import os
import signal
import subprocess
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.peers.environments import ready, reason

PROGRAMS = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Answers:
    """Releases of a peer, each the numbers of one; and why there are no more."""

    releases: Sequence[Sequence[float]]
    why_no_more: str = ""

    def error(self, truth: float) -> float:
        """Return the root of the mean squared error of a number."""
        squares = [(x - truth) ** 2 for release in self.releases for x in release]
        return math.sqrt(math.fsum(squares) / len(squares)) if squares else math.nan


def ask(peer: str, words: Sequence[str], patience: float) -> Answers:
    """Run the program of a peer with some words, and stop it when it has had its time."""
    there = ready(peer)
    if there.why_not:
        return Answers((), there.why_not)
    return run([there.python, str(program(peer)), *words], patience)


def program(peer: str) -> Path:
    """Return the file of ours that a peer runs."""
    return PROGRAMS / f"with_{peer.replace('-', '_')}.py"


def run(command: Sequence[str], patience: float) -> Answers:
    """Run a command, and return what it answers until it ends or its time is over."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        timer = threading.Timer(patience, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        said, complaint = process.communicate()
        timer.cancel()
    why = ""
    if process.returncode == -signal.SIGKILL:
        why = f"stopped after {patience:.0f} s"
    elif process.returncode:
        why = reason(complaint)
    return Answers(parsed(said.splitlines(keepends=True)), why)


def parsed(lines: Iterable[str]) -> list[list[float]]:
    """Return the releases among lines; the last one may be cut in the middle."""
    whole = (line for line in lines if line.startswith("[") and line.endswith("]\n"))
    return [[float(x) for x in json.loads(line)] for line in whole]
