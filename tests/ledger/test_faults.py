"""Something goes wrong at each step of a release, and the same said again goes on.

No release without a charge, no charge twice, no charge lost, and one draw for each charge: whatever
was ever seen under a name is the same, byte for byte.
"""

import datetime as dt
import errno
import functools
import hashlib
import os
import shutil
import signal
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from halfnoise.ledger import sqlite_file
from halfnoise.ledger.ledger import Ledger
from support import instants as instants_module
from support.cheap import Job, without_engine
from support.commands import Ran
from support.instants import Instants
from support.judge import MORE, judge, sweep
from support.judge import instants as instants_of
from support.ledger_mutants import MUTANTS
from support.warm import Call, JobFailedError, warm

pytestmark = pytest.mark.usefixtures("ledgers")

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
    early = ending == ".csv" or MORE > 1  # until the result is kept formats do not differ
    kind = {"ending": ending, "own": ending == ".csv", "late": not early}
    assert forks("deaths", root=str(folders()), **kind) > (10 if early else 5)


def test_death_at_each_step_and_the_log_is_lost(folders: Callable[[], Path], forks: Call) -> None:
    """Whatever was seen is in the file itself, also while others keep SQLite from tidying up."""
    assert forks("deaths", root=str(folders()), ending="", log=False) > 10


@pytest.mark.parametrize(
    ("mutant", "kind"),
    {
        "keep_after_writing": {"ending": ".csv"},
        "no_checkpoint": {"ending": "", "log": False},
        "draw_anew": {"ending": "", "late": True},
        "append_twice": {"ending": ".jsonl", "late": True},
        "charge_twice": {"ending": "", "own": True},
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
    total = Counter[str]()
    for seed in range(MORE):
        for workers in (1, 2):
            how = {"many": 20, "seed": seed + workers * 1000, "workers": workers}
            total.update(forks("kills", root=str(folders()), **how))
    assert total["kills"] >= 40 * MORE
    assert total["charges"] > total["kills"] / 4
    if MORE > 1:
        with capsys.disabled():
            print(f"\nkills survived, charges: {dict(total)}, violations: 0")  # noqa: T201


@pytest.mark.parametrize("mutant", ["draw_anew", "charge_twice"])
def test_kills_find_mutants(folders: Callable[[], Path], forks: Call, mutant: str) -> None:
    """Who draws anew, or charges anew, after a death; when one dies is up to the machine."""

    def finds(seed: int) -> bool:
        try:
            forks("kills", root=str(folders()), many=8, seed=seed, mutant=mutant)
        except JobFailedError as error:
            return "AssertionError" in str(error)
        return False

    assert any(map(finds, range(1, 9)))


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


def ledger_without_log(job: Job, folder: Path) -> Ledger:
    """Return a copy of the ledger as it is at this instant, without its log."""
    copy = folder / "copy.ledger"
    copy.unlink(missing_ok=True)
    shutil.copy(job.ledger.store.name, copy)
    return Ledger(copy)


def looking_on(job: Job) -> sqlite3.Connection:
    """Return another who has the ledger open, so that nobody who closes it is the last."""
    another = sqlite3.connect(job.ledger.store.name, isolation_level=None)
    for statement in ("pragma journal_mode = wal", "select * from head"):
        another.execute(statement).fetchall()
    return another


def charged_before_reading(folders: Callable[[], Path]) -> bool:
    """Whether the charge is in the file itself when the first row is read, others looking on."""
    job, found = Job(folder=folders()), list[str]()
    job.begin()
    instants = Instants()

    def look(label: str) -> None:
        if label == "before step add up":
            found.extend(ledger_without_log(job, folders()).history().charges)

    instants.every = look
    with closing(looking_on(job)), instants.watched():
        assert job.run().status == 0
    return found == [job.name]


def test_charged_before_any_row_is_read(folders: Callable[[], Path]) -> None:
    """And on disk: a log that is lost takes nothing with it."""
    assert charged_before_reading(folders)


@pytest.mark.parametrize("mutant", ["charge_after_reading", "no_checkpoint"])
def test_charged_too_late(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch, mutant: str
) -> None:
    """Whoever charges later, or not yet on disk, is found."""
    MUTANTS[mutant](monkeypatch)
    assert not charged_before_reading(folders)


def handed_over_again(folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a result that was in the log alone is in the file before it is handed over again."""
    job, found = Job(folder=folders(), ending=".csv"), list[str | None]()
    job.begin()
    with closing(looking_on(job)):
        with monkeypatch.context() as dying:
            MUTANTS["no_checkpoint"](dying)
            with Instants(death(job, "before step write"), fail).watched():
                assert job.run().status == 2
        instants = Instants()

        def look(label: str) -> None:
            if label == "before step write":
                charges = ledger_without_log(job, folders()).history().charges
                found.extend(charge.document for charge in charges.values())

        instants.every = look
        with instants.watched():
            assert job.run().status == 0
    return bool(found and found[0])


def death(job: Job, label: str) -> int:
    """Return the number of an instant in such a job."""
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        return instants_of(replace(job, folder=Path(folder))).index(label)


def test_handed_over_again_from_disk_alone(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two deaths and a lost log do not let one charge be drawn twice."""
    assert handed_over_again(folders, monkeypatch)

    def result(ledger: Ledger, charge: Any) -> bytes | None:
        with ledger.store.reading() as rows:
            hashed = ledger._read(rows).charges[charge.name].document
            return None if hashed is None else rows.document(hashed)

    monkeypatch.setattr(Ledger, "result", result)
    assert not handed_over_again(folders, monkeypatch)


def between(folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> int:
    """Have another charge the same name between looking and writing; return how many charges stood.

    In the end there must be one, whoever made it.
    """
    monkeypatch.setattr(sqlite_file, "PATIENCE", 0.05)
    job, through = Job(folder=folders()), list[int]()
    job.begin()

    def charge_too(_: str) -> None:
        # A process of its own would do the same; this one is another as far as SQLite is concerned.
        with monkeypatch.context() as plain:
            plain.setattr(sqlite_file, "sqlite3", sqlite3)
            replace(job, ending=".json").run(job.folder / "other")
            through.append(len(job.ledger.history().charges))

    labels = instants_of(replace(job, folder=folders()))
    begins = [n for n, label in enumerate(labels) if label == "after sql select entry, hash"]
    inside = [n for n in begins if labels[n + 1].startswith("before sql insert")]
    with Instants(inside[0], charge_too).watched():
        job.run()
    assert len(through) == 1
    assert job.run().status == 0
    history = job.history()
    assert history is not None
    assert [*history.charges] == [job.name]
    return sum(through)


def test_nobody_gets_between_looking_and_writing(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger is locked before it is looked at."""
    assert between(folders, monkeypatch) == 0


def test_who_looks_before_locking_is_found(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that begins only with the first write lets others in between."""

    class Late(sqlite3.Connection):
        """Locks late."""

        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            return super().execute(statement.replace("begin immediate", "begin"), *values)

    connect = functools.partial(sqlite3.connect, factory=Late)
    monkeypatch.setattr(instants_module, "sqlite3", plain(connect=connect, Connection=Late))
    assert between(folders, monkeypatch) == 1


def test_a_name_is_looked_up_where_it_is_charged(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another may have charged it since the first look; who trusts that look charges twice."""

    def charged_meanwhile() -> None:
        job = Job(folder=folders())
        job.begin()

        def charge_too(_: str) -> None:
            assert replace(job, ending=".csv").run(job.folder / "other").status == 0

        before = instants_of(replace(job, folder=folders())).index("before step make")
        with Instants(before, charge_too).watched():
            ran = job.run()
        assert ran.status == 0, ran
        history = job.history()
        assert history is not None
        assert [*history.charges] == [job.name]

    charged_meanwhile()
    monkeypatch.setattr(Ledger, "_standing", lambda *_, **__: None)
    with pytest.raises(AssertionError):
        charged_meanwhile()


def plain(**instead: Any) -> Any:
    """Return the library of SQLite with something else in it."""
    return SimpleNamespace(**vars(sqlite3) | instead)


@pytest.mark.parametrize("lock", ["begin immediate", "begin exclusive"])
def test_a_locked_ledger(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch, lock: str
) -> None:
    """The same may work later; nothing is spent, and later it works."""
    monkeypatch.setattr(sqlite_file, "PATIENCE", 0.05)
    job = Job(folder=folders(), ending=".csv")
    job.begin()
    with closing(looking_on(job)) as another:
        another.execute(lock)
        ran = job.run()
        another.execute("rollback")
    assert (ran.status, ran.out) == (5, "")
    assert ran.err.count("\n") == 1
    assert "try again" in ran.err
    judge(job, ran)


def test_locked_on_the_way(folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each step but the charge the lock of another leaves the charge standing."""
    monkeypatch.setattr(sqlite_file, "PATIENCE", 0.05)
    for label in ("before step add up", "before step keep", "before step handed_over"):
        job = Job(folder=folders(), ending=".jsonl")
        job.begin()
        at = instants_of(replace(job, folder=folders())).index(label)
        with closing(looking_on(job)) as another:

            def lock(_: str, another: sqlite3.Connection = another) -> None:
                another.execute("begin immediate")

            with Instants(at, lock).watched():
                ran = job.run()
            another.execute("rollback")
        assert ran.status == 5
        assert "stands" in ran.err
        judge(job, ran)


@pytest.mark.parametrize(("pragma", "instead"), [("= full", "= off"), ("= wal", "= delete")])
def test_what_does_not_last_is_refused(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch, pragma: str, instead: str
) -> None:
    """What SQLite did not set is seen when it is read back; who does not look back goes on."""

    class Deaf(sqlite3.Connection):
        """Does something else than what it is told."""

        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            heard = statement.startswith("pragma")
            return super().execute(
                statement.replace(pragma, instead) if heard else statement, *values
            )

    job = Job(folder=folders())
    job.begin()
    connect = functools.partial(sqlite3.connect, factory=Deaf)
    monkeypatch.setattr(sqlite_file, "sqlite3", plain(connect=connect))
    ran = job.run()
    assert (ran.status, ran.out) == (3, "")
    assert "cannot be kept safely" in ran.err
    monkeypatch.setattr(sqlite_file.SqliteFile, "_settle", lambda *_: None)
    assert job.run().status == 0


def test_the_clock_is_set_back(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entries follow one another whatever time it is, and nothing else is decided by it."""
    job, times = Job(folder=folders()), ("2030-05-05", "1970-01-01", "2999-12-31", "2026-01-01")
    job.begin()

    class Clock(dt.datetime):
        """A clock that somebody sets."""

        shown = ""

        @classmethod
        def now(cls, tz: Any = None) -> "Clock":
            """Say what is shown."""
            return cls.fromisoformat(cls.shown).replace(tzinfo=tz)

    monkeypatch.setattr(dt, "datetime", Clock)
    outputs = list[str]()
    for Clock.shown in times:
        ran = job.run(name=Clock.shown)
        assert ran.status == 0, ran
        outputs.append(ran.out)
    for Clock.shown, out in zip(reversed(times), reversed(outputs), strict=True):
        assert job.run(name=Clock.shown).out == out
    history = job.history()
    assert history is not None
    assert [charge.time[:10] for charge in history.charges.values()] == [*times]
    assert history.spent.squares == 4 * Fraction("0.125") ** 2


def appended_at_once(folders: Callable[[], Path]) -> None:
    """Have two append the result of one name at the same time, and one fail among others' lines."""
    job = Job(folder=folders(), ending=".jsonl")
    job.begin()
    at = instants_of(replace(job, folder=folders())).index("before step write")
    others = list[Ran]()
    with Instants(at, lambda _: others.append(job.run(job.folder / "other"))).watched():
        assert job.run().status == 0
    assert [ran.status for ran in others] == [0]
    (output,) = job.seen()
    history = job.history()
    assert history is not None
    (charge,) = history.charges.values()
    assert set(charge.outputs) == {hashlib.sha256(output).hexdigest()}, "written twice"


def test_lines_are_appended_once(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever else appends the same meanwhile."""
    appended_at_once(folders)
    MUTANTS["append_twice"](monkeypatch)
    with pytest.raises(AssertionError, match="written twice"):
        appended_at_once(folders)


def test_a_file_system_without_links(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There names are taken first; what fails then leaves nothing behind."""

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    runs = list[Ran]()
    kind: dict[str, Any] = {"ending": ".csv", "own": True, "seen": runs.append}
    count = sweep(folders, full, lambda label: label == "before os replace", **kind)
    assert count == 2
    assert [ran.status for ran in runs] == [5, 5]


def test_a_fork_starts_anew(folders: Callable[[], Path], forks: Call) -> None:
    """What was read, and a lock that a thread held, stays with the parent."""
    assert forks("forked_ledger", root=str(folders())) == {"parent": 3, "child": 0}


def test_a_signal_is_heard_while_waiting(folders: Callable[[], Path]) -> None:
    """Nobody waits for the lock of another until patience ends."""
    job = Job(folder=folders())
    job.begin()
    alarm = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    with closing(looking_on(job)) as another:
        another.execute("begin immediate")
        began = time.monotonic()
        alarm.start()
        ran = job.run()
        assert time.monotonic() - began < sqlite_file.PATIENCE / 3
        another.execute("rollback")
    assert ran.status == 130
    judge(job, ran)


def test_where_sqlite_has_gone_back_itself(
    folders: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk it may have; that is no damage."""

    class Full(sqlite3.Connection):
        """Has no room for an entry."""

        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if statement.startswith("insert"):
                super().execute("rollback")
                full("before sql insert")
            return super().execute(statement, *values)

    job = Job(folder=folders())
    job.begin()
    with monkeypatch.context() as patch:
        connect = functools.partial(sqlite3.connect, factory=Full)
        patch.setattr(sqlite_file, "sqlite3", plain(connect=connect))
        ran = job.run()
    assert ran.status == 5, ran
    judge(job, ran)
