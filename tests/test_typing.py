"""What an editor and a type checker see of a user's script."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Set as AbstractSet
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
SCRIPT = HERE / "tests" / "typing" / "script.py"
LINES = SCRIPT.read_text(encoding="utf-8").splitlines()
MISTAKES = {i for i, line in enumerate(LINES, 1) if line.endswith("# mistake")}


def check(found: AbstractSet[int]) -> None:
    """Compare the lines that are complained about with those that are marked."""
    assert len(MISTAKES) >= 10
    assert found == MISTAKES, {i: LINES[i - 1].strip() for i in found ^ MISTAKES}


def test_mypy_finds_each_mistake() -> None:
    """Strict mypy complains about every mistake in a user's script, and about nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", HERE / "pyproject.toml", SCRIPT],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    found = re.findall(r"^(.*):(\d+): error", done.stdout, re.MULTILINE)
    assert {Path(file).name for file, _ in found} == {SCRIPT.name}, done.stdout
    check({int(line) for _, line in found})


def test_pyright_finds_each_mistake(tmp_path: Path) -> None:
    """Strict pyright complains about every mistake in a user's script, and about nothing else."""
    pyright = Path(sys.executable).parent / "pyright"
    if not pyright.exists():
        pytest.skip("pyright is not installed")
    shutil.copy(SCRIPT, tmp_path)
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(HERE / "src")]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = subprocess.run(
        [pyright, "--outputjson", "--pythonpath", sys.executable, "--project", tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout.startswith("{"):
        pytest.skip("pyright could not be set up without a network")
    found = json.loads(done.stdout)["generalDiagnostics"]
    check({each["range"]["start"]["line"] + 1 for each in found})
