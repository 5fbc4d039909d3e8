# the list of floors is nobody else's business
import re
import sys
import tomllib
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.data.sources import frames

ROOT = Path(__file__).parents[2]


def released(frame: object) -> None:
    """Release a table."""
    hn.release(frame, [hn.Count("x")], row_is_person=True, privacy=hn.GaussianDP(mu=1))


def test_old_engines_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame of an engine that is older than those tested is refused by its version."""
    monkeypatch.setitem(frames._OLDEST, "pandas", "99.1")
    said = f"pandas {pd.__version__} is too old; install 99.1 or newer"
    with pytest.raises(hn.InvalidParameterError, match=said):
        released(pd.DataFrame({"x": [1]}))
    released(pl.DataFrame({"x": [1]}))


def test_versions_are_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions are compared as numbers, not as text."""
    for version, is_old in {"3.4.9": True, "3.5.0": False, "3.10.0.dev0": False, "": True}.items():
        monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__=version))
        with pytest.raises(hn.HalfnoiseError) if is_old else nullcontext():
            frames._check_age("pyspark")


def test_floors_are_those_declared() -> None:
    """What is refused, what `make test-lowest` installs and what the documentation says agree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    own = project["project"]["dependencies"] + project["dependency-groups"]["test"]
    declared = dict(re.findall(r"([\w-]+).*?>=([\d.]+)", "\n".join(own)))
    names = {"ibis": "ibis-framework"}
    for engine, oldest in frames._OLDEST.items():
        assert declared[names.get(engine, engine)] == oldest
    table = (ROOT / "docs" / "versions.md").read_text()
    shown = dict(re.findall(r"^\| ([\w-]+) \| ([\d.]+) \|", table, re.MULTILINE))
    extra = dict(line.split(">=") for line in project["project"]["optional-dependencies"]["report"])
    assert shown == {name: (declared | extra)[name] for name in shown}
    needed = {re.split(r"\W{2}", line)[0] for line in project["project"]["dependencies"]}
    assert shown.keys() >= needed | extra.keys() | {names.get(e, e) for e in frames._OLDEST}
