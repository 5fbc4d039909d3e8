"""The walk of one release, from the words on the command line to the written table.

A hop leads to a function of another file: every function at the top of a module that is called, on
the way of the one command below, from another file than its own, counted once. Imports are no hops,
methods neither (the value is at hand), nor the validators of ``checks.py``, which only check.
So counted, commit 1e66783 takes 72 hops through 54 files.

``python tests/support/walk.py [ROOT ...]`` prints the hops of this checkout, or of others.
"""

import contextlib
import functools
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

HERE = Path(__file__).resolve().parents[2]
LIMIT = 140
"""As many hops may the walk take."""

SURVEY = "person_id,smoker,visits,blood\np1,1,3,A\np2,0,5,B\n"
COMMAND = (
    "release survey.csv --count smoker --sum visits=0:20 --choice blood=A,B,AB,O --unit person_id"
    " --epsilon 1 --delta 1e-6 --out table.csv"
)
Place = tuple[str, str]
"""A file within the package, and a function in it."""


def calls(package: Path) -> list[tuple[Place, Place]]:
    """Run the command and return who called whom within the package, in order."""
    from halfnoise.cli import main, releasing

    assert releasing.__file__  # which the command would import on its way
    found: list[tuple[Place, Place]] = []

    @functools.cache
    def own(code: CodeType) -> Place | None:
        path = Path(code.co_filename)
        if package not in path.parents or path == package / "values.py":  # those are dataclasses
            return None
        return str(path.relative_to(package)), code.co_qualname

    def note(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or (callee := own(frame.f_code)) is None:
            return
        above = frame.f_back
        while above is not None and own(above.f_code) is None:
            above = above.f_back
        caller = None if above is None else own(above.f_code)
        if caller is not None:
            found.append((caller, callee))

    with _survey(), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        sys.setprofile(note)
        try:
            main(COMMAND.split())
        finally:
            sys.setprofile(None)
            written = Path("table.csv").exists()
    if not written:
        raise AssertionError(COMMAND)
    return found


@contextlib.contextmanager
def _survey() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("survey.csv").write_text(SURVEY, encoding="utf-8")
        yield


def hops(found: list[tuple[Place, Place]]) -> dict[Place, Place]:
    """Return the functions that the walk leads to, each with who called it first."""
    first: dict[Place, Place] = {}
    for caller, callee in found:
        file, name = callee
        top = "." not in name and not name.startswith("<")
        if top and file not in (caller[0], "checks.py"):
            first.setdefault(callee, caller)
    return first


def walk(root: Path = HERE) -> tuple[list[str], int]:
    """Return the hops of a checkout in words, and through how many files they lead."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--here"],
        env=os.environ | {"PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    lines, files = json.loads(done.stdout)
    return lines, files


def here() -> None:
    """Walk in this process and print what was found."""
    import halfnoise

    found = calls(Path(halfnoise.__file__).parent)
    lines = [
        f"{caller[0]}:{caller[1]} -> {callee[0]}:{callee[1]}"
        for callee, caller in hops(found).items()
    ]
    files = {place[0] for pair in found for place in pair}
    sys.stdout.write(json.dumps([lines, len(files)]))


if __name__ == "__main__":
    if sys.argv[1:] == ["--here"]:
        here()
    else:
        for checkout in map(Path, sys.argv[1:] or [str(HERE)]):
            steps, through = walk(checkout.resolve())
            sys.stdout.write("\n".join(steps))
            sys.stdout.write(f"\n{checkout}: {len(steps)} hops through {through} files\n")
