"""What it takes before any row: planning, importing, helping; and what an installation weighs."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

from rich.console import Console

from bench.processes import Took, in_turns, ours, python, run
from bench.sheet import Part, Sheet, held

ROOT = Path(__file__).parents[1]
ROUNDS = 9
MOST_SIZE = 250.0  # megabytes of the package with all that it needs
STARTS = {"import halfnoise": 0.3, "halfnoise --help": 0.4}  # seconds at most
PLANS = tuple(10**i for i in range(8))
PLANNED = {10**4: 1.0}  # seconds at most
PLAN = """
import time
import halfnoise as hn
workload, privacy = hn.Workload([hn.Counts({d})]), hn.ApproxDP(epsilon=1, delta=1e-6)
start = time.perf_counter()
hn.plan(workload, privacy=privacy)
print(time.perf_counter() - start)
"""


def start() -> Sheet:
    """Return what the import and the help take, as whole processes."""
    commands = {"import halfnoise": python("import halfnoise"), "halfnoise --help": ours("--help")}
    took = in_turns({"python": python("pass"), **commands}, ROUNDS)
    rows = [("python -c pass", *_both(took["python"]), "", "")]
    for name, most in STARTS.items():
        judged = held(took[name].seconds <= most)
        rows.append((name, *_both(took[name]), f"{most:g}", judged))
    columns = ("a whole process", "seconds", "of the processor", "at most", "")
    return Sheet("start", columns, rows)


def _both(took: Took) -> tuple[str, str]:
    return f"{took.seconds:.3f}", f"{took.busy:.3f}"


def plans() -> Sheet:
    """Return what planning d counts takes, in a process that did nothing before."""
    rows = []
    for d in PLANS:
        done = subprocess.run(python(PLAN.format(d=d)), capture_output=True, text=True, check=True)
        seconds, most = float(done.stdout), PLANNED.get(d)
        judged = ("", "") if most is None else (f"{most:g}", held(seconds <= most))
        rows.append((f"d = {d:,}", f"{seconds:.3f}", *judged))
    return Sheet(
        "planning d counts", ("seconds, the first in its process", "measured", "at most", ""), rows
    )


def size() -> Sheet:
    """Return how much a fresh environment grows when the package is installed into it."""
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as name:
        folder = Path(name) / "venv"
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        before = weight(folder)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        pinned = ["--constraint", str(ROOT / "constraints.txt")]
        subprocess.run([*pip, "install", "--quiet", *pinned, str(ROOT)], check=True)
        grown = (weight(folder) - before) / 1e6
        parts = _largest(folder)
    rows = [("all", f"{grown:.0f}", f"{MOST_SIZE:g}", held(grown < MOST_SIZE))]
    rows += [(name, f"{megabytes:.0f}", "", "") for name, megabytes in parts]
    columns = ("installed into a fresh environment", "MB", "under", "")
    return Sheet("installed size", columns, rows)


def weight(folder: Path) -> int:
    """Return how many bytes the files below a folder hold."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _largest(folder: Path, number: int = 5) -> list[tuple[str, float]]:
    (packages,) = (folder / "lib").glob("python*/site-packages")
    found = [(path.name, weight(path) / 1e6) for path in packages.iterdir() if path.is_dir()]
    ours = [each for each in found if each[0] == "halfnoise"]
    theirs = [each for each in found if each[0] not in ("halfnoise", "pip", "setuptools")]
    return ours + sorted(theirs, key=lambda each: -each[1])[:number]


def part(say: Callable[[str], None] = print) -> Part:
    """Measure all, and return the tables."""
    sheets = []
    for measure in (start, plans, size):
        say(measure.__name__)
        sheets.append(measure())
    return Part(sheets)


def suite(say: Callable[[str], None] = print) -> Part:
    """Measure what all tests take, as they say themselves how many there are."""
    say("make test")
    with tempfile.TemporaryDirectory(prefix="halfnoise-bench-") as folder:
        told = Path(folder) / "told.xml"
        command = ["make", "--directory", str(ROOT), "test", f"ARGS=--junitxml={told}"]
        took = run(command, 3600)
        facts = ET.parse(told).getroot()[0].attrib  # noqa: S314  # we wrote it
    minutes = f"{took.seconds / 60:.1f} minutes"
    row = ["make test", "some fail" if took.failed else minutes, f"{took.peak / 1e9:.1f} GB"]
    row += (f"{int(facts[name]):,}" for name in ("tests", "skipped"))
    return Part([Sheet("all tests", ("command", "takes", "peak", "tests", "skipped"), [row])])


def main() -> None:
    """Print the tables."""
    for sheet in part().sheets:
        Console(width=130).print(sheet.grid())
