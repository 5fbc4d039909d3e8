"""What a fault left behind, held to what is promised.

No release without a charge, no charge twice, no charge lost, and one draw for each charge: whatever
was ever seen under a name is the same, byte for byte. And the same said again goes on.
"""

import contextlib
import hashlib
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from halfnoise.ledger.entries import History
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.terms import Bill
from halfnoise.privacy.definitions import GaussianDP
from support.cheap import Job, claims, without_engine
from support.commands import Ran
from support.instants import Instants
from support.ledger_mutants import MUTANTS

MORE = int(os.environ.get("HALFNOISE_SOAK", "1"))


def judge(job: Job, ran: Ran | None = None) -> None:
    """Judge what is there after a run, or after a death, which says nothing."""
    printed = (job.folder / "printed").read_text(encoding="utf-8")
    seen, history = job.seen(printed), job.history()
    charges = {} if history is None else history.charges
    if ran is not None:
        assert "Traceback" not in ran.err
        assert claims(ran) == set(charges), "the charge stands, and nobody says so, or conversely"
    assert charges or not seen, "a release without a charge"
    for charge in charges.values():
        assert not seen or charge.document, "a release that is not kept"
    how: dict[str, Any] = {"resume": "release-1"} if charges and job.name is None else {}
    finals = list[bytes]()
    for _ in range(2 if MORE > 1 else 1):
        again = job.run(**how)
        assert again.status == 0, again
        finals += job.seen(again.out)
        how = {} if job.name else {"resume": "release-1"}
    torn = job.ending in (".jsonl", "")
    for each in (*seen, *finals):
        assert finals[0].startswith(each) if torn else finals[0] == each, "another draw"
    settled(job.history(), {job.name or "release-1": finals[0]})


def settled(history: History | None, outputs: dict[str, bytes]) -> None:
    """Hold a ledger to what is known to be out: each charged once, drawn once, and recorded."""
    assert history is not None
    assert set(history.charges) == set(outputs), "a charge lost, or made twice"
    for name, output in outputs.items():
        charge = history.charges[name]
        assert charge.outputs == (hashlib.sha256(output).hexdigest(),), "written twice, or in part"
    one = next(iter(history.charges.values())).price
    assert history.spent.squares == len(outputs) * one.squares


def instants(job: Job) -> list[str]:
    """Return the instants of a release where nothing goes wrong."""
    job.begin()
    with Instants().watched() as found:
        ran = job.run()
    assert ran.status == 0, ran
    return found.labels


def sweep(
    folders: Callable[[], Path],
    do: Callable[[str], None],
    pick: Callable[[str], bool],
    seen: Callable[[Ran], object] = bool,
    **kind: Any,
) -> int:
    """Do something at each instant of a release that is picked, and judge; return how many."""
    found = instants(Job(folder=folders(), **kind))
    picked = [at for at, label in enumerate(found) if pick(label)]
    for at in picked:
        job = Job(folder=folders(), **kind)
        job.begin()
        with Instants(at, do).watched():
            ran = job.run()
        seen(ran)
        with told(f"{found[at]}, instant {at} of {job}: {ran}"):
            judge(job, ran)
    return len(picked)


@contextlib.contextmanager
def told(where: str) -> Iterator[None]:
    """Say of a failure where it was."""
    try:
        yield
    except BaseException as error:
        error.add_note(where)
        raise


# What follows is run in a process that may be forked.


def died(work: Callable[[], object]) -> int:
    """Do something in a fork, and return how it ended: the status, or less than 0 for a signal."""
    _, how = os.waitpid(_forked(work), 0)
    return os.waitstatus_to_exitcode(how)


def _mutated(patch: pytest.MonkeyPatch, mutant: str) -> None:
    without_engine(patch)
    if mutant:
        MUTANTS[mutant](patch)


def deaths(
    root: str, mutant: str = "", *, log: bool = True, late: bool = False, **kind: Any
) -> int:
    """Die at each instant at which the files differ from those before; return how many.

    ``log``: else somebody else has the ledger open, so that nobody who closes it is the last, all
    die, and the write-ahead log of SQLite is deleted. ``late``: only once the result is kept.
    """
    with pytest.MonkeyPatch.context() as patch:
        _mutated(patch, mutant)
        states, last = list[tuple[int, str]](), None
        job = Job(folder=_made(root, "plain"), **kind)
        job.begin()
        found = Instants()

        def look(label: str) -> None:
            nonlocal last
            now = {path.name: path.read_bytes() for path in job.folder.iterdir()}
            now = {("partial" if ".partial" in name else name): x for name, x in now.items()}
            if now != last and (not late or "after step keep" in found.labels):
                states.append((len(found.labels) - 1, label))
            last = now

        found.every = look
        with found.watched():
            assert job.run().status == 0
        for at, label in states:
            job = Job(folder=_made(root, str(at)), **kind)
            job.begin()

            def die(job: Job = job, at: int = at) -> None:
                with Instants(at, lambda _: os._exit(77)).watched():
                    job.run()

            with told(f"death at {label}, instant {at} of {job}"):
                with contextlib.nullcontext() if log else looking_on(job):
                    assert died(die) == 77
                for log_file in () if log else job.folder.glob("*.ledger-*"):
                    log_file.unlink()
                judge(job)
    return len(states)


@contextlib.contextmanager
def looking_on(job: Job) -> Iterator[None]:
    """Have another process hold the ledger open, and kill it."""
    ready, told_ready = os.pipe()

    def look() -> None:
        with contextlib.closing(sqlite3.connect(job.ledger.store.name)) as connection:
            connection.execute("pragma journal_mode = wal").fetchall()
            connection.execute("select * from head").fetchall()
            os.write(told_ready, b"!")
            signal.pause()

    child = _forked(look)
    assert os.read(ready, 1) == b"!"
    for end in (ready, told_ready):
        os.close(end)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _made(root: str, name: str) -> Path:
    (folder := Path(root) / name).mkdir()
    return folder


def kills(root: str, many: int, seed: int, mutant: str = "", workers: int = 1) -> dict[str, int]:
    """Kill a process that releases one name after another at random instants, again and again.

    What was seen at each death must be there in the end. ``workers``: so many release the same.
    """
    draw, seen, known = random.Random(seed), dict[str, bytes](), set[str]()
    folder, struck = _made(root, "killed"), 0
    with pytest.MonkeyPatch.context() as patch:
        _mutated(patch, mutant)
        ledger = _job(folder, 0)
        ledger.begin()
        while struck < many:
            first = max(0, len(known | set(seen)) - draw.randrange(3))
            lives = [_living(folder, first) for _ in range(workers)]
            for child, told_of in lives:
                began = time.monotonic()
                releases = sum(len(os.read(told_of, 1)) for _ in range(draw.randrange(1, 3)))
                time.sleep(draw.random() * 1.2 * (time.monotonic() - began) / max(1, releases))
                os.kill(child, signal.SIGKILL)
                _, how = os.waitpid(child, 0)
                os.close(told_of)
                struck += os.waitstatus_to_exitcode(how) == -signal.SIGKILL
            if draw.random() < 0.5:  # else the next one is the first to look
                known |= set(ledger.ledger.history().charges)
            for path in folder.glob("n*.csv"):
                content = path.read_bytes()
                assert seen.setdefault(path.stem, content) == content, "another draw"
        for name in ledger.ledger.history().charges:
            assert name[1:].isdigit(), "a charge was made twice"
            job = _job(folder, int(name.removeprefix("n")))
            ran = job.run()
            assert ran.status == 0, ran
            (output,) = job.seen()
            assert seen.setdefault(name, output) == output, "another draw"
        assert known <= set(seen), "a charge was lost"
        settled(ledger.history(), seen)
    return {"kills": struck, "charges": len(seen)}


def _living(folder: Path, first: int) -> tuple[int, int]:
    """Start one that releases name after name; return its number, and where it tells of each."""
    told_of, told_at = os.pipe()

    def live() -> None:
        for number in range(first, 10**6):
            _job(folder, number).run(folder / f"printed-{os.getpid()}")
            os.write(told_at, b"!")

    child = _forked(live)
    os.close(told_at)
    return child, told_of


def _job(folder: Path, number: int) -> Job:
    return Job(folder=folder, name=f"n{number}", ending=".csv", table=f"n{number}")


def _forked(work: Callable[[], object]) -> int:
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(99)
    return child


def forked_ledger(root: str) -> dict[str, int]:
    """Charge in a process, in a fork of it, and again in the first, all with one ledger."""
    bill = Bill(guarantee=GaussianDP(mu=0.5), request="asked", what="a")
    ledger = Ledger.create(Path(root) / "a.ledger")
    ledger.charge(bill)
    ledger.history()
    ledger._lock.acquire()  # as a thread may have done, which the fork does not have

    def charge() -> None:
        ledger.charge(bill)
        if len(ledger.history().charges) == 2:
            os._exit(0)

    ended = died(charge)
    ledger._lock.release()
    ledger.charge(bill)
    return {"parent": len(ledger.history().charges), "child": ended}
