import subprocess
import sys
from pathlib import Path

import pytest

import halfnoise.cli.doctor
from halfnoise.cli.doctor import examine
from halfnoise.data import made_up
from halfnoise.noise.bits import Bits
from halfnoise.noise.rounded import draw
from halfnoise.noise.staircase import Table
from support.commands import run
from support.engines import spark_session

Kinds = dict[str, tuple[str, object]]


def without(*names: str) -> Kinds:
    """Return the kinds of tables but for some."""
    return {kind: each for kind, each in made_up.KINDS.items() if kind not in names}


@pytest.fixture(autouse=True)
def only_embedded(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Leave Spark out, which has a test of its own."""
    kinds = without() if "spark" in request.node.name else without("Spark")
    monkeypatch.setattr(halfnoise.cli.doctor, "KINDS", kinds)


def test_all_is_well() -> None:
    """Every engine and both noises work, and the versions are told."""
    ran = run("doctor")
    assert ran.status == 0, ran.out
    lines = ran.out.splitlines()
    assert [line for line in lines if line.endswith(": works")] == [
        f"{name}: works" for name in ("Gaussian noise", "Laplace noise", *without("Spark"))
    ]
    for package in ("Python", "halfnoise", "duckdb", "narwhals", "numpy"):
        assert any(line.startswith(f"{package} ") for line in lines)


def test_spark_is_well() -> None:
    """Spark reads the made-up people too."""
    spark_session()
    assert ("Spark: works", True) in list(examine())


def test_an_engine_that_adds_up_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One visit more among the made-up people, and the doctor says so."""
    columns = made_up.COLUMNS | {"visits": [3, 5, 99, None, 1]}
    monkeypatch.setattr(made_up, "COLUMNS", columns)
    ran = run("doctor")
    assert ran.status == 2
    assert "pandas: WRONG RESULTS; do not use it" in ran.out
    assert "CSV files: works" in ran.out


def test_noise_that_is_drawn_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of another scale is not that of the bits that are written down."""

    def louder(table: Table, scale: float, size: int, bits: Bits) -> object:
        return draw(table, scale * 1.01, size, bits)

    monkeypatch.setattr(halfnoise.cli.doctor, "draw", louder)
    ran = run("doctor")
    assert ran.status == 2
    assert "Gaussian noise: WRONG RESULTS" in ran.out
    assert "Laplace noise: WRONG RESULTS" in ran.out


def test_what_fails_or_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is not there is no failure; one of the wrong version is, by its kind."""

    def broken(_: Path) -> None:
        raise AttributeError("Kanarienvogel")

    kinds = {"Odd": ("pandas", broken), "Absent": ("no_such_package", broken)}
    monkeypatch.setattr(halfnoise.cli.doctor, "KINDS", kinds)
    ran = run("doctor")
    assert ran.status == 2
    assert "Odd: a package does not do what" in ran.out
    assert "expects of it (AttributeError; Python" in ran.out
    assert "Absent: no_such_package is not installed" in ran.out
    assert "Kanarienvogel" not in ran.out + ran.err


def test_what_an_engine_starts_is_not_heard(capfd: pytest.CaptureFixture[str]) -> None:
    """A program that is started meanwhile says nothing, then or later; afterwards others do."""
    loud = "import os, sys; sys.stdin.read(); os.write(2, sys.argv[1].encode())"
    with made_up._unheard():
        one = subprocess.Popen([sys.executable, "-c", loud, "first"], stdin=subprocess.PIPE)
    one.communicate()
    subprocess.run([sys.executable, "-c", loud, "second"], stdin=subprocess.DEVNULL, check=True)
    assert capfd.readouterr().err == "second"
