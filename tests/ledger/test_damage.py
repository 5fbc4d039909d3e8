"""A ledger that is not as it was written: refused, or provably the same, and never an empty one."""

import contextlib
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from halfnoise.errors import BudgetError, DataError, HalfnoiseError, InvalidParameterError
from halfnoise.ledger import sqlite_file
from halfnoise.ledger.entries import History
from halfnoise.ledger.ledger import Ledger, _document
from halfnoise.ledger.terms import Bill
from halfnoise.privacy.definitions import GaussianDP
from support.commands import refused, run

MORE = int(os.environ.get("HALFNOISE_SOAK", "1"))
FLIPS = 200 * MORE
CHARGES = 12
LARGE = os.urandom(6000)  # does not fit into a page, and does not shrink


def bill(name: str | None = None) -> Bill:
    """Return a small bill."""
    return Bill(guarantee=GaussianDP(mu=0.25), request=f"asked for {name}", what="a", name=name)


def result(number: int) -> bytes:
    """Return what was released."""
    return b"result %d" % number + (LARGE if number == 3 else b"")


def written(path: Path) -> bytes:
    """Write a ledger with some releases, all of it in the file itself; return the file."""
    ledger = Ledger.create(path, limit=GaussianDP(mu=10))
    for number in range(CHARGES):
        charge = ledger.charge(bill(f"n{number}"))
        ledger.released(charge, ledger.keep(charge, result(number)))
    return path.read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the file of a ledger."""
    return written(tmp_path_factory.mktemp("whole") / "a.ledger")


def facts(history: History) -> tuple[object, ...]:
    """Return what a history says."""
    return history.head, dict(history.charges), history.spent, history.opening


def outcome(path: Path, before: History) -> str:
    """Say what becomes of a damaged ledger: refused, with nothing written, or the same history."""
    content = path.read_bytes()
    try:
        found = Ledger(path).history()
    except DataError as error:
        assert error.status == 3, error  # noqa: PT017
        assert "a.ledger" in str(error) or "the ledger" in str(error)
        assert path.read_bytes() == content, "what is damaged must stay as it is"
        with pytest.raises(HalfnoiseError):
            Ledger(path, new=True).charge(bill("new"))
        assert path.read_bytes() == content, "what is damaged must stay as it is"
        return "refused"
    assert facts(found) == facts(before), "damage that is not seen"
    with Ledger(path).store.reading() as rows:
        for name, charge in before.charges.items():
            with contextlib.suppress(DataError, sqlite3.Error):
                kept = _document(rows, str(charge.document))
                assert kept == result(int(name.removeprefix("n"))), "another result"
    try:
        ledger = Ledger(path)
        ledger.keep(ledger.charge(bill("new")), LARGE + b"another")  # which takes new pages
    except DataError:
        return "refused later"
    assert len(Ledger(path).history().charges) == CHARGES + 1, "a charge was lost"
    return "harmless"


def flipped(content: bytes, draw: random.Random, at: int) -> bytes:
    """Return the same but for one byte."""
    return content[:at] + bytes([content[at] ^ draw.randrange(1, 256)]) + content[at + 1 :]


def places(content: bytes, draw: random.Random) -> list[int]:
    """Return places in each page, most of them in the first bytes, which say how to read it."""
    page = int.from_bytes(content[16:18], "big")
    pages = range(0, len(content), page)
    each = FLIPS // len(pages) + 1
    return [
        start + (draw.randrange(110) if number % 3 == 0 else draw.randrange(page))
        for start in pages
        for number in range(each)
    ]


def test_flipped_bytes(whole: bytes, tmp_path: Path) -> None:
    """Wherever one is flipped, the ledger is refused, or says the same as before."""
    draw, path = random.Random(11), tmp_path / "a.ledger"
    path.write_bytes(whole)
    before = Ledger(path).history()
    ends = list[str]()
    for at in places(whole, draw):
        for left in tmp_path.iterdir():
            left.unlink()
        path.write_bytes(flipped(whole, draw, at))
        try:
            ends.append(outcome(path, before))
        except BaseException as error:
            error.add_note(f"byte {at} of {len(whole)}")
            raise
    counts = {each: ends.count(each) for each in set(ends)}
    print(counts)
    assert len(ends) >= FLIPS
    assert counts["refused"] > FLIPS / 5
