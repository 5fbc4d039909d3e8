"""What the fuzzing of the command stands on."""

from pathlib import Path
from typing import Any

import pytest

from halfnoise.cli import commands
from halfnoise.mechanism import carry_out
from support.fuzz import Meter


@pytest.fixture
def meter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Meter:
    """Let every release of the command be charged to a meter; its folder is where it runs."""
    (folder := tmp_path / "far" / "below").mkdir(parents=True)
    monkeypatch.chdir(folder)  # whatever it writes
    metered = Meter(folder)

    def charged(*given: Any, **named: Any) -> Any:
        return carry_out(*given, **{**named, "ledger": metered})

    monkeypatch.setattr(commands, "carry_out", charged)
    return metered
