"""Something goes wrong at each step of a release, and the same said again goes on.

No release without a charge, no charge twice, no charge lost, and one draw for each charge: whatever
was ever seen under a name is the same, byte for byte.
"""

import errno
import hashlib
import os
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.cheap import Job, claims, without_engine
from support.commands import Ran
from support.instants import Instants

MORE = int(os.environ.get("HALFNOISE_SOAK", "1"))
ENDINGS = (".csv", ".json", ".jsonl", "")
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


def labels(job: Job) -> list[str]:
    """Return the instants of a release where nothing goes wrong."""
    job.begin()
    with Instants().watched() as instants:
        assert job.run().status == 0
    return instants.labels


def judge(job: Job, ran: Ran | None = None, printed: str = "") -> None:
    """Hold what a fault left behind to what is promised, and go on."""
    seen = job.seen(printed if ran is None else ran.out)
    history = job.history()
    charges = {} if history is None else history.charges
    if ran is not None:
        assert "Traceback" not in ran.err
        assert claims(ran) == set(charges), "the charge stands, and nobody says so, or conversely"
    for charge in charges.values():
        assert not seen or charge.document, "a release that was not kept"
    assert charges or not seen, "a release without a charge"
    how = {"resume": "release-1", "name": None} if charges and job.name is None else {}
    finals = list[bytes]()
    for _ in range(2 if job.name or how else 1):
        again = job.run(**how)
        assert again.status == 0, again
        finals += job.seen(again.out)
        if job.name is None:
            how = {"resume": "release-1", "name": None}
    assert len(set(finals)) == 1, "another draw"
    torn = job.ending in (".jsonl", "")
    for each in seen:
        assert finals[0].startswith(each) if torn else finals[0] == each, "another draw"
    history = job.history()
    assert history is not None
    (charge,) = history.charges.values()
    assert charge.outputs == (hashlib.sha256(finals[0]).hexdigest(),), "written twice, or in part"
    assert history.spent == charge.price


def sweep(
    folders: Callable[[], Path],
    do: Callable[[str], None],
    pick: Callable[[str], bool],
    **kind: Any,
) -> int:
    """Do something at each instant of a release that is picked, and judge; return how many."""
    found = labels(Job(folder=folders(), **kind))
    picked = [at for at, label in enumerate(found) if pick(label)]
    for at in picked:
        job = Job(folder=folders(), **kind)
        job.begin()
        with Instants(at, do).watched():
            ran = job.run()
        try:
            judge(job, ran)
        except BaseException as error:
            error.add_note(f"{found[at]}, instant {at} of {job}: {ran}")
            raise
    return len(picked)


def after(label: str) -> bool:
    """Whether something has just been done."""
    return label.startswith("after")


def of_output(label: str) -> bool:
    """Whether it is about the output, which each format writes in its way."""
    return after(label) and ("os" in label or "echo" in label or "write" in label)


class UnforeseenError(Exception):
    """Nobody expects this."""


def fail(_: str) -> None:
    """Raise what nobody expects."""
    raise UnforeseenError


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("name", ["monday", None])
def test_an_exception_after_each_step(
    folders: Callable[[], Path], name: str | None, *, own: bool
) -> None:
    """Whether it has a name or not, and whether the ledger is there or made on the way."""
    assert sweep(folders, fail, after, ending=".csv", name=name, own=own) > 50
