"""Where a ledger is: names that no text holds, places where none can be, and what is told then."""

import contextlib
import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import halfnoise as hn
from halfnoise import files
from halfnoise.ledger import sqlite_file
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.terms import Bill
from support.commands import refused, run, write_survey


def plain(connect: object) -> SimpleNamespace:
    """Return SQLite as it is, but for how it connects."""
    return SimpleNamespace(**vars(sqlite3) | {"connect": connect})


def bill() -> Bill:
    """Return a small bill."""
    return Bill(guarantee=hn.GaussianDP(mu=0.5), request="asked", what="a")


@pytest.mark.parametrize(
    "name", [b"sur\xffvey.csv", b"a\nb.csv", b"\x1b[2J.csv", b"a\xc2\xa0b.csv", b" a", b"a" * 240]
)
def test_any_name_that_a_file_may_have(tmp_path: Path, name: bytes) -> None:
    """What is said of it is one line that can be printed; no output may replace its files."""
    path = tmp_path / os.fsdecode(name + b".ledger")
    for _ in range(2):
        Ledger(path, new=True).charge(bill())
    ledger = Ledger(path)
    assert len(ledger.verify().charges) == 2
    title = ledger.opening.data_set
    assert title.isprintable()
    shown = run("ledger", "show", path)
    assert shown.out.splitlines()[0].startswith(f"Ledger of {title}. One person")
    assert len(ledger.store.name.encode().splitlines()) == 1
    assert Path(ledger.store.files[0]).samefile(path)


LONG = "a" * 300
PLACES = {
    "no/such/folder/a.ledger": "there is no such folder",
    "survey.csv/a.ledger": "there is no such folder",
    LONG: "no file there can have such a name",
    "b" * 251: "no file there can have such a name",  # its log could not
    "a\0b": "no file there can have such a name",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_place_where_none_can_be(tmp_path: Path, place: str) -> None:
    """The reason is told, and nothing is left behind."""
    write_survey(tmp_path)
    with pytest.raises(hn.DataError, match=PLACES[place]) as caught:
        Ledger.create(tmp_path / place)
    assert "--no-ledger" in str(caught.value)
    with pytest.raises(hn.DataError, match=PLACES[place]):
        Ledger(tmp_path / place, new=True).charge(bill())
    assert [each.name for each in tmp_path.iterdir()] == ["survey.csv"]


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.EACCES, "may not write there"), (errno.EROFS, "may not"), (errno.ENOSPC, "try again")],
)
def test_why_it_could_not_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    """As the system says it."""

    def fails(*_: object, **__: object) -> None:
        raise OSError(number, "")

    monkeypatch.setattr(files, "write_whole", fails)
    with pytest.raises(hn.DataError, match=said):
        Ledger.create(tmp_path / "a.ledger")


def test_none_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that makes it is told whole, as it works."""
    monkeypatch.chdir(tmp_path)
    said = refused("ledger", "show", "a.ledger")
    words = said.partition("make it: halfnoise ")[2].split()
    assert run(*words).status == 0
    assert run("ledger", "show", "a.ledger").status == 0


def database(path: Path) -> None:
    """Make a file of SQLite that is somebody else's."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("create table notes (text)")


INSTEAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder": (Path.mkdir, "there is a folder at"),
    "a pipe": (os.mkfifo, "something that is no file"),
    "a link": (lambda path: path.symlink_to("nowhere"), "a link that leads to no file"),
    "a log": (lambda path: Path(f"{path}-wal").write_bytes(b"x"), "only the log of a ledger"),
    "data": (lambda path: path.write_text("person_id,smoker\n1,1\n" * 9), "is no ledger"),
    "nothing": (Path.touch, "is no ledger"),
    "a database": (database, "is no ledger"),
}


@pytest.mark.parametrize("what", INSTEAD)
@pytest.mark.parametrize("name", ["a.csv", "a.ledger"])
def test_what_is_there_instead(tmp_path: Path, what: str, name: str) -> None:
    """It is told; a file is damage only where its name says that it was a ledger."""
    make, told = INSTEAD[what]
    make(tmp_path / name)
    for words in (("ledger", "show"), ("ledger", "verify")):
        said = refused(*words, tmp_path / name, status=3)
        file = told == "is no ledger"
        assert (told in said) == (not file or name == "a.csv"), said
        assert ("is damaged" in said) == (file and name == "a.ledger"), said


def test_a_ledger_by_any_name_is_damaged_as_such(tmp_path: Path) -> None:
    """Its head says what it was, where SQLite cannot read it."""
    path = tmp_path / "budget.db"
    Ledger.create(path)
    content = bytearray(path.read_bytes())
    content[16:18] = b"\0\0"  # the size of a page
    path.write_bytes(content)
    assert "is damaged" in refused("ledger", "show", path, status=3)


def test_many_may_open_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has its log from the start: who looks at it holds up nobody."""
    path = tmp_path / "a.ledger"
    Ledger.create(path)
    monkeypatch.setattr(sqlite_file, "PATIENCE", 0.05)

    def while_somebody_looks() -> None:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("begin")
            reader.execute("select * from head").fetchall()
            Ledger(path).history()

    while_somebody_looks()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
        connection.execute("pragma journal_mode = delete")  # as SQLite makes it
    with pytest.raises(hn.TryAgainError):
        while_somebody_looks()


class Failing(sqlite3.Connection):
    """A connection of which a statement fails as on a full disk."""

    at = "nothing"

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        """Run a statement, or fail."""
        if statement.startswith(self.at):
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorname = "SQLITE_FULL"
            raise error
        return super().execute(statement, *values)  # type: ignore[arg-type]  # passed on


NOTHING, PERHAPS = "nothing was charged by this", "what was charged may stand"


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("begin", NOTHING),
        ("insert", NOTHING),
        ("update", NOTHING),
        ("commit", PERHAPS),
        ("pragma wal_checkpoint", PERHAPS),
    ],
)
def test_what_a_failed_charge_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str, told: str
) -> None:
    """What is told is so: nothing where that is sure, and else that it may stand."""
    ledger = Ledger.create(tmp_path / "a.ledger")

    def connect(where: str, **how: Any) -> sqlite3.Connection:
        return sqlite3.connect(where, **how, factory=Failing)

    with monkeypatch.context() as broken:
        broken.setattr(Failing, "at", at)
        fake = plain(connect)
        broken.setattr(sqlite_file, "sqlite3", fake)
        with pytest.raises(hn.TryAgainError, match=told) as caught:
            ledger.charge(bill())
    assert (told == NOTHING) == (NOTHING in str(caught.value))
    if told == NOTHING:
        assert not Ledger(tmp_path / "a.ledger").history().charges


@pytest.mark.parametrize("read", [True, False])
def test_who_may_not_is_told_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, read: bool
) -> None:
    """Not to read is something else than not to write."""
    ledger = Ledger.create(tmp_path / "a.ledger")
    with monkeypatch.context() as broken:
        broken.setattr(os, "access", lambda *_: False)
        ledger.history()
        with pytest.raises(hn.DataError, match="may not be written to"):
            ledger.charge(bill())

    def connect(*_: object, **__: object) -> sqlite3.Connection:
        error = sqlite3.OperationalError("unable to open database file")
        error.sqlite_errorname = "SQLITE_CANTOPEN"
        raise error

    fake = plain(connect)
    monkeypatch.setattr(sqlite_file, "sqlite3", fake)
    with pytest.raises(hn.DataError, match="may not be read" if read else "may not be written"):
        ledger.history() if read else ledger.charge(bill())
