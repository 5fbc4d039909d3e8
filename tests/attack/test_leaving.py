"""Leaving: rows do not stay behind, whatever ends the command, and the status says why."""

import contextlib
import fcntl
import logging
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
import halfnoise.cli.releasing
from halfnoise.ledger.booking import NO_LEDGER
from halfnoise.scratch import LOCK, MARK, own_folder, sweep
from support.commands import EXACT, SURVEY, run, write_survey
from support.fuzz import spent

pytestmark = pytest.mark.usefixtures("databases")
# A command that is stopped while it reads: in Python, or in a query that takes DuckDB hours.
PROGRAM = """
import sys, time
import duckdb
import halfnoise.data.handed as handed
from halfnoise.cli import main

def busy(*_):
    print("ready", flush=True)
    if sys.argv.pop(1) == "python":
        time.sleep(60)
    duckdb.sql("select sum(a.range * b.range) from range(1e9::int) a, range(1e5::int) b").fetchall()

handed.fetch = handed.fetch_columns = busy
engine = sys.argv[1]
main(sys.argv[2:])
"""


@contextlib.contextmanager
def reading(folder: Path, engine: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command on a file in another encoding, whose rows are copied; yield it at work."""
    (path := folder / "survey.csv").write_bytes(SURVEY.encode("utf-16"))
    (temporary := folder / "temporary").mkdir()
    words = [engine, "release", str(path), "--count", "smoker", *EXACT, "--encoding", "utf-16"]
    words.append("--i-know")
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n", process.stderr and process.stderr.read()
            assert rows_in(temporary)
            yield process
        finally:
            process.kill()


def rows_in(folder: Path) -> list[Path]:
    """Return the files that hold a row of the survey."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if b"p3,Yes" in path.read_bytes()]


@pytest.mark.parametrize(
    ("engine", "number", "status"),
    [
        ("python", signal.SIGTERM, 143),
        ("duckdb", signal.SIGTERM, 143),
        ("duckdb", signal.SIGINT, 130),
    ],
)
def test_a_signal_leaves_nothing_behind(
    tmp_path: Path, engine: str, number: signal.Signals, status: int
) -> None:
    """Copies of rows are gone, nothing of the data is said, and the status names the signal."""
    with reading(tmp_path, engine) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    standing, stopped = err.splitlines()
    assert (out, stopped) == ("", "halfnoise: stopped")
    assert re.fullmatch("halfnoise: the charge 'release-1' stands in '.*' and .*", standing)
    assert not list((tmp_path / "temporary").iterdir())


def test_a_killed_command_is_cleaned_up_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left is removed by the next run; while the command lives, it is left alone."""
    temporary = tmp_path / "temporary"
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    (tmp_path / "next").mkdir()
    survey = write_survey(tmp_path / "next")
    with reading(tmp_path, "python") as process:
        assert run("release", survey, "--count", "smoker", *EXACT).status == 0
        assert rows_in(temporary)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    assert rows_in(temporary)
    assert run("release", survey, "--count", "smoker", *EXACT).status == 0
    assert not list(temporary.iterdir())


def test_only_folders_that_are_left_are_removed(tmp_path: Path) -> None:
    """A lock that is held, a folder without one or that is not surely ours, a link and a file."""
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (elsewhere / LOCK).write_bytes(MARK)
    locks = {"left_123": MARK, "held1234": MARK, "unlocked": None, "empty123": b""}
    locks |= {"project": b"", "projects": b"mine", "longer123": MARK, "Upper123": MARK}
    locks |= {"more1234": MARK + b"mine", "readable": MARK}
    for name, mark in locks.items():
        (folder := tmp_path / f"halfnoise-{name}").mkdir(mode=0o700)
        (folder / "rows").touch()
        if mark is not None:
            (folder / LOCK).write_bytes(mark)
    (tmp_path / "halfnoise-readable").chmod(0o755)
    (tmp_path / "halfnoise-left_123" / "deep" / "er").mkdir(parents=True)
    (tmp_path / "halfnoise-left_123" / "link").symlink_to(elsewhere)
    (tmp_path / "halfnoise-link1234").symlink_to(elsewhere)
    (tmp_path / "halfnoise-file1234").touch()
    with (tmp_path / "halfnoise-held1234" / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sweep(tmp_path)
    names = {path.name.removeprefix("halfnoise-") for path in tmp_path.iterdir()}
    assert names == {*locks, "elsewhere", "link1234", "file1234"} - {"left_123"}
    assert (elsewhere / LOCK).exists()


@pytest.mark.parametrize("words", ["plan --counts 3", "plan --counts 3 --json", "--help"])
def test_nobody_reads_along(words: str) -> None:
    """Where the reader of what is printed has gone, the command ends quietly, and not with 1."""
    code = "import sys; from halfnoise.cli import main; main(sys.argv[1:])"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", code, *words.split()],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (5, "")


def test_a_full_disk_behind_a_pipe() -> None:
    """What cannot be printed because a disk is full may work later."""
    if not Path("/dev/full").exists():
        pytest.skip("there is no such device")
    code = "from halfnoise.cli import main; main(['plan', '--counts', '3'])"
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 5
    assert "try again" in done.stderr
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


@pytest.mark.parametrize(("column", "status"), [("a", 0), ("nowhere", 2)])
def test_what_nobody_can_hear_changes_nothing(column: str, status: int, tmp_path: Path) -> None:
    """Where notes and refusals cannot be written, the result and the status are as ever."""
    if not Path("/dev/full").exists():
        pytest.skip("there is no such device")
    (path := tmp_path / "t.csv").write_text("a,b\n1,0\n", encoding="utf-8")
    code = "import sys; from halfnoise.cli import main; main(sys.argv[1:])"
    words = ["release", str(path), "--count", column, "--row-is-person", "--mu", "1"]
    with Path("/dev/full").open("w") as full:
        whole = [sys.executable, "-c", code, *words, "--no-ledger"]
        done = subprocess.run(whole, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
    assert done.returncode == status
    assert ("a" in done.stdout) == (not status)


@pytest.mark.parametrize(("closed", "status"), [("2>&-", 0), (">&-", 2)])
def test_what_is_closed(closed: str, status: int, tmp_path: Path) -> None:
    """Without a place for notes a release is made; without one for it nothing is charged."""
    shell = shutil.which("sh")
    if shell is None:
        pytest.skip("there is no shell that closes what a command prints to")
    (path := tmp_path / "t.csv").write_text("a,b\n1,0\n", encoding="utf-8")
    words = [sys.executable, "-m", "halfnoise", "release", str(path), "--count", "a", "--mu", "1"]
    asked = f"{shlex.join([*words, '--row-is-person'])} {closed}"
    done = subprocess.run([shell, "-c", asked], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert ("number of people" in done.stdout) == (not status)
    assert ("say --out" in done.stderr) == bool(status)
    assert spent(tmp_path) == (not status)


def test_a_folder_is_its_own_processs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is locked from the moment it has its name, and a fork does not remove it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with own_folder() as folder:
        sweep(tmp_path)
        assert folder.is_dir()
        monkeypatch.setattr(os, "getpid", lambda: -1)
    assert folder.is_dir()
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with contextlib.suppress(KeyError), own_folder() as another:
        (another / "deep").mkdir()
        raise KeyError
    assert not another.exists()


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (hn.InvalidParameterError("no"), 2),
        (hn.NotSupportedError("no"), 2),
        (hn.MissingExtraError("no"), 2),
        (hn.DataError("no"), 3),
        (hn.BudgetError("no"), 4),
        (hn.TryAgainError("no"), 5),
        (MemoryError("Kanarienvogel"), 5),
        (OSError(28, "Kanarienvogel"), 5),
        (ZeroDivisionError("Kanarienvogel"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_the_status_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int
) -> None:
    """Each kind of failure has its status, and a sentence that shows nothing of its words."""

    def fails(*_: object, **__: object) -> None:
        raise error

    survey = write_survey(tmp_path)
    monkeypatch.setattr(halfnoise.cli.releasing, "carry_out", fails)
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    ran = run("release", survey, "--count", "smoker", *EXACT)
    assert (ran.status, ran.out) == (status, "")
    assert "Kanarienvogel" not in ran.err
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_the_log_tells_steps_and_durations_alone(caplog: pytest.LogCaptureFixture) -> None:
    """Neither a cell, a number of rows nor a column is in any record; a failing step is told."""
    names = ["Kanarienvogel", "Kanarienvogelei", "Kanarienvogelnest"]
    people = pl.DataFrame({name: ["Kanarienvogel"] * 4321 for name in names})
    alone, *choices = [hn.Choice(name, ["Kanarienvogel"]) for name in names]
    asked: list[Any] = [alone, hn.Table(choices)]
    with caplog.at_level(logging.DEBUG, "halfnoise"):
        hn.release(people, asked, row_is_person=True, privacy=hn.GaussianDP(mu=1))
    *said, last = [record.getMessage() for record in caplog.records]
    assert {record.name for record in caplog.records} == {"halfnoise"}
    assert last == NO_LEDGER  # of a frame
    assert all(re.fullmatch(r"[a-z ]+: done after \d+\.\d{3} s", each) for each in said), said
    steps = ["planning", "looking at columns", "adding up", "adding noise"]
    assert [each.partition(":")[0] for each in said] == steps
    parts = [part for record in caplog.records for part in vars(record).values()]
    assert "Kanarienvogel" not in str(parts)
    told = [each for record in caplog.records for each in record.args or ()]
    assert not any("4321" in str(each) for each in told if not isinstance(each, float))
    assert 4321.0 not in told
    caplog.clear()
    lazy = people.lazy().with_columns(pl.col("Kanarienvogel").cast(pl.Int64))
    with caplog.at_level(logging.DEBUG, "halfnoise"), pytest.raises(hn.DataError):
        hn.release(lazy, asked, row_is_person=True, privacy=hn.GaussianDP(mu=1))
    assert "failed after" in caplog.records[-1].getMessage()
    assert "Kanarienvogel" not in caplog.text
