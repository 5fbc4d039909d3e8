"""What a process takes: seconds, seconds of the processor and peak memory, as the system says.

The peak is that of the process and all that it started, together.
"""

import compileall
import functools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import halfnoise

Command = Sequence[str]

PATIENCE = 120  # seconds after which a process is stopped
MOST_MEMORY = 8 * 10**9  # bytes: a process that holds more is stopped as well
ROUNDS = int(os.environ.get("HALFNOISE_BENCH_ROUNDS", "5"))
ENOUGH = 60.0  # seconds: once rounds took longer, there is no further one

# It stands in between: a child's peak counts from its parent's memory. What a process holds is
# looked at from outside: a limit on its addresses would stop engines that only reserve them.
WATCH = """
import os, signal, subprocess, sys, threading, time
patience, memory = map(int, sys.argv[1:3])
start = time.perf_counter()
process = subprocess.Popen(sys.argv[3:], stdout=subprocess.DEVNULL)
signal.signal(signal.SIGALRM, lambda *_: os.kill(process.pid, signal.SIGKILL))
signal.alarm(patience)

page, peak = os.sysconf("SC_PAGE_SIZE"), 0

def held(pid):
    try:
        with open(f"/proc/{pid}/statm") as file:
            own = int(file.read().split()[1]) * page
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                own += sum(map(held, file.read().split()))
        return own
    except OSError:
        return 0

def watch():
    global peak
    while now := held(process.pid):
        peak = max(peak, now)
        if now > memory:
            os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.05)

threading.Thread(target=watch, daemon=True).start()
_, status, usage = os.wait4(process.pid, 0)
busy = usage.ru_utime + usage.ru_stime
print(time.perf_counter() - start, busy, max(usage.ru_maxrss, peak // 1024), status)
"""


@dataclass(frozen=True, slots=True)
class Took:
    """What a process took: seconds, of the processor too, peak bytes; and why it gave nothing."""

    seconds: float
    busy: float
    peak: int
    failed: str = ""

    def beyond(self, start: "Took") -> "Took":
        """Return what it took beyond its start; the peak is of all."""
        shorter = max(self.seconds - start.seconds, 1e-3), max(self.busy - start.busy, 1e-3)
        return Took(*shorter, self.peak, self.failed or start.failed)


def ours(*words: str) -> list[str]:
    """Return the command of ours."""
    return [sys.executable, "-m", "halfnoise", *words]


def python(program: str) -> list[str]:
    """Return the command that runs a program."""
    return [sys.executable, "-c", program]


@functools.cache
def _as_installed() -> dict[str, str]:
    """Return the environment of a process of an installed package: all is compiled, and once.

    An installer compiles what it installs, which here holds for the rivals; ours may be a checkout.
    """
    compileall.compile_dir(Path(halfnoise.__file__).parent, quiet=1)
    return {name: said for name, said in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run(command: Command, patience: int = PATIENCE) -> Took:
    """Run a command, and return what it took."""
    watched = [sys.executable, "-S", "-c", WATCH, str(patience), str(MOST_MEMORY), *command]
    done = subprocess.run(watched, capture_output=True, check=True, text=True, env=_as_installed())
    seconds, busy, peak, status = map(float, done.stdout.split())
    last = (done.stderr.strip().splitlines() or ["fails without a word"])[-1][:60]
    if seconds >= patience:
        last = f"over {patience} s"
    elif peak * 1024 >= MOST_MEMORY:
        last = f"over {MOST_MEMORY / 1e9:.0f} GB"
    return Took(seconds, busy, int(peak) * 1024, last if status else "")


def in_turns(
    rivals: Mapping[str, Command], rounds: int = ROUNDS, patience: int = PATIENCE
) -> dict[str, Took]:
    """Run commands in turns, and return the medians of each; who fails is not asked again."""
    took: dict[str, list[Took]] = {name: [] for name in rivals}
    start = time.perf_counter()
    for number in range(rounds):
        if number and time.perf_counter() - start > ENOUGH:
            break
        for name, command in rivals.items():
            if not any(each.failed for each in took[name]):
                took[name].append(run(command, patience))
    return {name: _middle(each) for name, each in took.items()}


def _middle(took: Sequence[Took]) -> Took:
    seconds = statistics.median(each.seconds for each in took)
    busy = statistics.median(each.busy for each in took)
    failed = next((each.failed for each in took if each.failed), "")
    return Took(seconds, busy, max(each.peak for each in took), failed)
