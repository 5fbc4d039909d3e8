"""Where peers live: a virtual environment for each, made when it is asked for and kept.

Nothing of theirs enters the environment of this project. Versions are pinned; whoever raises one
gets a new environment, since its name follows from what is in it.
"""

import functools
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("HALFNOISE_PEERS", ROOT / ".cache" / "peers"))
PATIENCE = 900  # seconds in which a peer has to be installed


@dataclass(frozen=True, slots=True)
class Peer:
    """A library: what is installed, with which Python if not ours, and what shows that it works."""

    name: str
    packages: Sequence[str]
    check: str
    python: str = ""

    @property
    def folder(self) -> Path:
        """Return where its environment is."""
        said = " ".join((self.interpreter, *sorted(self.packages)))
        return CACHE / f"{self.name}-{hashlib.sha256(said.encode()).hexdigest()[:12]}"

    @property
    def interpreter(self) -> str:
        """Return the name of the Python that makes its environment."""
        return self.python or "python{}.{}".format(*sys.version_info)


PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            "opendp",
            ("opendp==0.16.0", "polars==1.36.1", "pyarrow==26.0.1", "numpy==2.4.6"),
            "import opendp.prelude, polars",
        ),
        Peer(
            "diffprivlib",
            ("diffprivlib==0.6.6", "scikit-learn==1.6.1", "numpy==2.4.6", "duckdb==2.0.0"),
            "import diffprivlib",
        ),
        Peer("pipeline-dp", ("pipeline-dp==0.3.1", "numpy==2.4.6"), "import pipeline_dp"),
        Peer(
            "tumult",
            ("tmlt.analytics==0.21.0", "pyspark==3.5.9", "numpy==1.26.4", "setuptools<81"),
            "import tmlt.analytics",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Ready:
    """A peer that can be run by its Python, or the reason why it cannot."""

    python: str = ""
    why_not: str = ""


@functools.cache
def ready(name: str) -> Ready:
    """Return a peer that is installed, installing it where it is not; a failure is kept as well."""
    peer = PEERS[name]
    done, failed = peer.folder / "ready", peer.folder.with_suffix(".failed")
    if failed.exists():
        return Ready(why_not=failed.read_text(encoding="utf-8"))
    if not done.exists():
        shutil.rmtree(peer.folder, ignore_errors=True)
        why_not = _install(peer)
        if why_not:
            shutil.rmtree(peer.folder, ignore_errors=True)
            failed.write_text(why_not, encoding="utf-8")
            return Ready(why_not=why_not)
        done.touch()
    return Ready(python=str(peer.folder / "bin" / "python"))


def versions(name: str) -> dict[str, str]:
    """Return what a peer is pinned to."""
    pinned = (package.partition("==") for package in PEERS[name].packages)
    return {package: version for package, _, version in pinned if version}


def _install(peer: Peer) -> str:
    """Make an environment, and return why that failed, or nothing."""
    interpreter = shutil.which(peer.interpreter) if peer.python else sys.executable
    if interpreter is None:
        return f"{peer.interpreter} is not here"
    python = str(peer.folder / "bin" / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    steps = (
        [interpreter, "-m", "venv", str(peer.folder)],
        [*pip, *peer.packages],
        [python, "-c", peer.check],
    )
    peer.folder.parent.mkdir(parents=True, exist_ok=True)
    for step in steps:
        try:
            done = subprocess.run(
                step, capture_output=True, text=True, check=False, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return f"not installed within {PATIENCE} s"
        if done.returncode:
            return reason(done.stderr)
    return ""


def reason(said: str) -> str:
    """Return the line of an installer's or a program's words that says why it failed."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:") or "Error: " in line]
    found = (errors or lines or ["fails without a word"])[-1]
    return found.removeprefix("ERROR: ")[:200]
