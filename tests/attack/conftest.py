"""What the fuzzing of the command stands on."""

from pathlib import Path

import pytest

from support.fuzz import Meter


@pytest.fixture
def meter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ledgers: None) -> Meter:  # noqa: ARG001  # for what it does
    """Let every release of the command be charged beside its file, in a folder of its own."""
    (folder := tmp_path / "far" / "below").mkdir(parents=True)
    monkeypatch.chdir(folder)  # whatever it writes
    return Meter(folder)
