"""Ledgers that somebody made otherwise: under two names, or with a right chain of wrong entries."""

import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from halfnoise.errors import BudgetError, DataError
from halfnoise.ledger import one_name, sqlite_file
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.terms import Bill
from halfnoise.privacy.definitions import GaussianDP

LIMIT, FIT = GaussianDP(mu=1), 4


def bill(name: str | None = None) -> Bill:
    """Return a bill for half a mu."""
    return Bill(guarantee=GaussianDP(mu=0.5), request="asked", what="a", name=name)


def fill(path: Path) -> int:
    """Charge as often as the limit allows; return how often that was."""
    made = 0
    with contextlib.suppress(BudgetError, DataError):
        while True:
            Ledger(path).charge(bill())
            made += 1
    return made


def charged(one: Path, other: Path, patch: pytest.MonkeyPatch) -> int:
    """Return how many charges two names take, if whoever used the first dies with a full log."""
    with contextlib.closing(sqlite3.connect(one)) as reader, patch.context() as slow:
        reader.execute("select * from head").fetchall()
        slow.setattr(sqlite_file, "_checkpoint", lambda _: None)
        made = fill(one)
        left = {path: path.read_bytes() for path in one.parent.glob("a.ledger*")}
    for path, content in left.items():
        path.write_bytes(content)
    return made + fill(other)


def test_a_second_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who charges under another name does not see the log; a symbolic link leads to it."""
    path, other = tmp_path / "a.ledger", tmp_path / "b.ledger"
    Ledger.create(path, limit=LIMIT)
    other.symlink_to(path)
    Ledger(other).charge(bill())
    other.unlink()
    os.link(path, other)
    for each in map(Ledger, (path, other)):
        for work in (each.history, each.verify, lambda each=each: each.charge(bill())):
            with pytest.raises(DataError, match="a second name") as caught:
                work()
            assert caught.value.status == 3
    assert charged(path, other, monkeypatch) == 0
    monkeypatch.setattr(sqlite_file, "check_one_name", lambda *_: None)
    assert 1 + charged(path, other, monkeypatch) > FIT  # a limit that is passed


def test_a_file_that_is_mounted_alone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder may be mounted, as then its log is the same one."""
    (folder := tmp_path / "of an office").mkdir()
    ledger, mounts = Ledger.create(folder / "a.ledger"), tmp_path / "mounts"
    monkeypatch.setattr(one_name, "MOUNTS", mounts)
    for place, fine in ((folder, True), (folder / "a.ledger", False)):
        told = os.fsencode(place).replace(b" ", rb"\040")
        mounts.write_bytes(b"22 27 0:21 / /proc rw - proc\n36 35 98:0 /a %b rw - ext3\n" % told)
        if fine:
            ledger.charge(bill())
        else:
            with pytest.raises(DataError, match="mount its folder instead"):
                ledger.charge(bill())
    mounts.unlink()  # a system that does not tell
    assert len(ledger.history().charges) == 1


def test_who_dies_while_a_ledger_is_made_leaves_a_name_that_does_no_harm(tmp_path: Path) -> None:
    """For a moment it has two names; the one that it was written under goes, and no other."""
    path, others = tmp_path / "a.ledger", ["mine.partial", f".{'0' * 16}.partial"]
    Ledger.create(path)
    os.link(path, tmp_path / f".{'a' * 16}.partial")
    for name in others:
        (tmp_path / name).write_text("somebody else's")
    Ledger(path).charge(bill())
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["a.ledger", *others])
