"""Something goes wrong at each step of a release, and the same said again goes on.

No release without a charge, no charge twice, no charge lost, and one draw for each charge: whatever
was ever seen under a name is the same, byte for byte.
"""

import errno
import os
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.cheap import without_engine
from support.commands import Ran
from support.judge import MORE, sweep
from support.ledger_mutants import MUTANTS
from support.warm import Call, JobFailedError, warm

FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108  # memory, not a disk
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    without_engine(monkeypatch)


@pytest.fixture
def folders() -> Iterator[Callable[[], Path]]:
    """Give empty folders, in memory where there is such a place."""
    with tempfile.TemporaryDirectory(dir=FAST) as root:
        count = iter(range(10**6))

        def another() -> Path:
            (folder := Path(root) / str(next(count))).mkdir()
            return folder

        yield another


def after(label: str) -> bool:
    """Whether something that could matter has just been done."""
    dull = MORE == 1 and ("sql pragma sync" in label or "sql select" in label)
    return label.startswith("after") and not dull


def of_output(label: str) -> bool:
    """Whether it is about the output, which each format writes in its way."""
    return after(label) and any(word in label for word in ("os ", "printed", "step write"))


class UnforeseenError(Exception):
    """Nobody expects this."""


def fail(_: str) -> None:
    """Raise what nobody expects."""
    raise UnforeseenError


@pytest.mark.parametrize(("name", "own"), [("monday", True), (None, False)])
def test_an_exception_after_each_step(
    folders: Callable[[], Path], name: str | None, *, own: bool
) -> None:
    """Whether it has a name or not, and whether the ledger is there or made on the way."""
    assert sweep(folders, fail, after, ending=".csv", name=name, own=own) > 30


@pytest.mark.parametrize("ending", [".json", ".jsonl", ""])
def test_an_exception_while_it_is_written(folders: Callable[[], Path], ending: str) -> None:
    """In each format; lines are appended to others once, and those others stay."""
    assert sweep(folders, fail, of_output, ending=ending) > 0


def test_a_signal_after_each_step(folders: Callable[[], Path]) -> None:
    """The status says which, standard error whether the charge stands, and it goes on later."""
    ended = list[int]()
    for number, ending in zip(STOPS, (".jsonl", ".csv", ""), strict=True):

        def stop(_: str, number: int = number) -> None:
            os.kill(os.getpid(), number)

        places = range(STOPS.index(number), 10**6, 1 if MORE > 1 else len(STOPS))
        count = iter(range(10**6))

        def pick(label: str, count: Iterator[int] = count, places: range = places) -> bool:
            return after(label) and next(count) in places

        runs = list[Ran]()
        sweep(folders, stop, pick, ending=ending, seen=runs.append)
        assert {ran.status for ran in runs} == {128 + number}
        ended += [ran.status for ran in runs]
    assert len(ended) > 30


def full(label: str) -> None:
    """Say that there is no room left, as the system or as SQLite says it."""
    if label.startswith("before os"):
        raise OSError(errno.ENOSPC, "Kanarienvogel")
    error = sqlite3.OperationalError("Kanarienvogel")
    error.sqlite_errorname = "SQLITE_FULL"
    raise error


def needs_room(label: str) -> bool:
    """Whether it takes room on the disk."""
    words = ["os open", "os write", "os fsync", "os link", "os replace"]
    words += ["sql insert", "sql update", "sql commit", "sql pragma wal", "sql pragma journal"]
    return label.startswith("before") and any(word in label for word in words)


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_no_room_at_each_step(folders: Callable[[], Path], ending: str) -> None:
    """The same may work later: status 5, or nothing at all where a folder cannot be made safe."""
    runs = list[Ran]()
    kind: dict[str, Any] = {"ending": ending, "own": ending == ".csv", "seen": runs.append}
    assert sweep(folders, full, needs_room, **kind) > 10
    assert {ran.status for ran in runs} <= {0, 5}
    assert sum(ran.status for ran in runs) > 5 * len(runs) * 0.8
    assert not any("Kanarienvogel" in ran.err for ran in runs)


@pytest.fixture(scope="module")
def forks() -> Iterator[Call]:
    """Give what has jobs done by forks of a process without threads."""
    if not hasattr(os, "fork"):
        pytest.skip("a system without forks")
    with warm() as call:
        yield call


@pytest.mark.parametrize("ending", [".csv", ".json", ".jsonl", ""])
def test_death_at_each_step(folders: Callable[[], Path], forks: Call, ending: str) -> None:
    """Whatever is on disk at that instant is enough to go on."""
    kind = {"ending": ending, "own": ending == ".csv"}
    assert forks("deaths", root=str(folders()), **kind) > 10


def test_death_at_each_step_and_the_log_is_lost(folders: Callable[[], Path], forks: Call) -> None:
    """Whatever was seen is in the file itself, also while others keep SQLite from tidying up."""
    assert forks("deaths", root=str(folders()), ending="", log=False) > 10


@pytest.mark.parametrize(
    ("mutant", "kind"),
    {
        "keep_after_writing": {"ending": ".csv"},
        "no_checkpoint": {"ending": "", "log": False},
        "draw_anew": {"ending": ""},
        "append_twice": {"ending": ".jsonl"},
        "charge_twice": {"ending": ".csv"},
    }.items(),
)
def test_death_finds_mutants(
    folders: Callable[[], Path], forks: Call, mutant: str, kind: dict[str, Any]
) -> None:
    """Each of these loses something at some instant."""
    with pytest.raises(JobFailedError, match="AssertionError"):
        forks("deaths", root=str(folders()), mutant=mutant, **kind)


def test_an_exception_finds_who_says_nothing(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A charge that was committed when something went wrong must be told."""
    MUTANTS["say_nothing"](monkeypatch)
    with pytest.raises(AssertionError, match="nobody says so"):
        sweep(folders, fail, after, ending=".csv")


def test_killed_again_and_again(
    folders: Callable[[], Path], forks: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    """At random instants, alone and with others that release the same names."""
    alone = forks("kills", root=str(folders()), many=20 * MORE, seed=1)
    others = forks("kills", root=str(folders()), many=20 * MORE, seed=2, workers=2)
    assert alone["kills"] >= 20 * MORE
    assert others["kills"] >= 20 * MORE
    if MORE > 1:
        with capsys.disabled():
            print(f"\nkilled: {alone}, among others: {others}; violations: 0")  # noqa: T201


def test_no_room_on_a_real_disk(folders: Callable[[], Path], forks: Call) -> None:
    """With ever more room, page by page, until there is enough."""
    for own in (True, False):
        found = forks("full_disk", root=str(folders()), ending=".csv", own=own)
        if isinstance(found, str):
            pytest.skip(found)
        assert set(found) == {"0", "5"}, found
        assert found["5"] >= 10


def test_no_file_may_be_large(folders: Callable[[], Path], forks: Call) -> None:
    """As where a quota ends in the middle of a write."""
    found = forks("small_files", root=str(folders()), ending=".csv")
    assert set(found) <= {"0", "3", "5"}, found
    assert sum(found.values()) >= 5


@pytest.mark.parametrize("what", ["folder", "folder without", "file"])
def test_nothing_may_be_written(folders: Callable[[], Path], forks: Call, what: str) -> None:
    """Refused before anything is spent, what was spent can still be read, and it goes on later."""
    found = forks("not_writable", root=str(folders()), what=what)
    status, out, err = found["first"]
    assert (status, out) == (3, ""), found
    assert err.count("\n") == 1
    assert "may not" in err
    assert not [name for name in found["files"] if name.endswith(("-wal", "-shm", "partial"))]
    if what != "folder without":
        assert found["charges"] == ["before"]
    assert found["again"][0] == 0, found
