"""An environment of its own, with a wheel and what that requires, and nothing else.

Nothing is downloaded: what a package consists of is linked from where the tests run.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A folder with a Python of its own."""

    folder: Path

    @property
    def packages(self) -> Path:
        """Where it has its packages."""
        (found,) = self.folder.glob("lib/python3*/site-packages")
        return found

    def run(self, *command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run what is in it, in its folder, with nothing of the tests' own on the path."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        program, *words = command
        return subprocess.run(
            [self.folder / "bin" / program, *words],
            cwd=self.folder,
            env=kept | {"OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            encoding="utf-8",
            check=check,
        )


def made(folder: Path, wheel: Path) -> Environment:
    """Make an environment with a wheel and what it requires."""
    environment = Environment(folder=folder)
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", folder), check=True)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python")
    install = ("install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel)
    subprocess.run((*pip, folder / "bin" / "python", *install), check=True)
    (info,) = environment.packages.glob("*.dist-info")
    for package in required(Distribution.at(info)):
        for entry in entries(distribution(package)):
            link = environment.packages / entry.name
            if not link.exists():
                link.symlink_to(entry)
    return environment


def required(of: Distribution) -> set[str]:
    """Return the names of all packages that one requires, and those that they require in turn."""
    found, waiting = set[str](), [of]
    while waiting:
        for line in waiting.pop().requires or ():
            each = Requirement(line)
            name = canonicalize_name(each.name)
            if name not in found and (each.marker is None or each.marker.evaluate({"extra": ""})):
                found.add(name)
                waiting.append(distribution(name))
    return found


def entries(of: Distribution) -> Iterator[Path]:
    """Yield the files and folders that a package put beside those of others."""
    names = {path.parts[0] for path in of.files or () if path.parts[0] not in ("..", "__pycache__")}
    yield from (Path(str(of.locate_file(name))) for name in sorted(names))
