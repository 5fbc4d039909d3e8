"""A ledger that is not as it was written: refused, or provably the same, and never an empty one."""

import contextlib
import json
import os
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from halfnoise.errors import DataError, HalfnoiseError, InvalidParameterError, TryAgainError
from halfnoise.ledger import sqlite_file
from halfnoise.ledger.entries import Charge, History, Row, digest
from halfnoise.ledger.ledger import Ledger, _document
from halfnoise.ledger.terms import Bill
from halfnoise.privacy.definitions import GaussianDP
from support.commands import refused

MORE = int(os.environ.get("HALFNOISE_SOAK", "1"))
FLIPS = 200 * min(MORE, 10)
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
    except TryAgainError as error:  # nothing here becomes better by waiting
        raise AssertionError("damage must be told as such") from error
    except DataError:
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


def test_flipped_bytes(whole: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    assert len(ends) >= FLIPS
    assert ends.count("refused") > FLIPS / 5
    if MORE > 1:
        with capsys.disabled():
            print(f"\nflipped bytes: {dict(Counter(ends))}, not seen: 0")  # noqa: T201


def test_flipped_bytes_find_who_does_not_look(
    whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hashes that are not looked at let a flipped amount pass."""
    path, amount = tmp_path / "a.ledger", whole.rindex(b'"squares": "1/16"')
    path.write_bytes(whole)
    before = Ledger(path).history()
    path.write_bytes(whole[: amount + 12] + b"0" + whole[amount + 13 :])
    assert outcome(path, before) == "refused"
    monkeypatch.setattr(History, "read", blind)
    with pytest.raises(AssertionError, match="not seen"):
        outcome(path, before)


def blind(history: History, rows: Iterable[tuple[int, str, str]]) -> None:
    """Take in entries whatever they are."""
    news = dict[str, dict[str, Any]]()
    for row in rows:
        history._take(json.loads(row[1]), row[0], news)
        history.last = Row(*row)
    history.charges.update((name, Charge(**said)) for name, said in news.items())


def test_truncated(whole: bytes, tmp_path: Path) -> None:
    """At each page, within each, and to nothing: refused."""
    path = tmp_path / "a.ledger"
    path.write_bytes(whole)
    before = Ledger(path).history()
    for size in (0, 1, 99, 100, 511, *(k for k in range(2048, len(whole), 2048)), len(whole) - 1):
        for left in tmp_path.iterdir():
            left.unlink()
        path.write_bytes(whole[:size])
        assert outcome(path, before) == "refused", size


@contextlib.contextmanager
def opened_up(path: Path) -> Iterator[sqlite3.Connection]:
    """Change a ledger by SQL, as nobody should: without its triggers, which are put back."""
    triggers = [sql for sql in sqlite_file.SCHEMA if sql.startswith("CREATE TRIGGER")]
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for sql in triggers:
            connection.execute(f"drop trigger {sql.split()[2]}")
        yield connection
        for sql in triggers:
            connection.execute(sql)


def swap(path: Path) -> None:
    """Swap two entries."""
    with opened_up(path) as sql:
        for old, new in ((7, -1), (8, 7), (-1, 8)):
            sql.execute("update entries set entry = ? where entry = ?", (new, old))


def swap_bodies(path: Path) -> None:
    """Swap what two entries say, hashes included."""
    with opened_up(path) as sql:
        seven, eight = (
            sql.execute("select body, hash from entries where entry = ?", (n,)).fetchone()
            for n in (7, 8)
        )
        for n, row in ((7, eight), (8, seven)):
            sql.execute("update entries set body = ?, hash = ? where entry = ?", (*row, n))


def remove_last(path: Path) -> None:
    """Remove the last entry."""
    with opened_up(path) as sql:
        sql.execute("delete from entries where entry = (select max(entry) from entries)")


def remove_first(path: Path) -> None:
    """Remove the first entry."""
    with opened_up(path) as sql:
        sql.execute("delete from entries where entry = 0")


def remove_all(path: Path) -> None:
    """Remove all entries."""
    with opened_up(path) as sql:
        sql.execute("delete from entries")


def change_one(path: Path) -> None:
    """Change an amount, and make its own hash fit."""
    with opened_up(path) as sql:
        (body,) = sql.execute("select body from entries where entry = 4").fetchone()
        (above,) = sql.execute("select hash from entries where entry = 3").fetchone()
        body = body.replace("1/16", "0")
        new = (body, digest(above, body))
        sql.execute("update entries set body = ?, hash = ? where entry = 4", new)


def change_the_last(path: Path) -> None:
    """Change the last entry, and make its own hash fit."""
    with opened_up(path) as sql:
        last, body = sql.execute("select entry, body from entries order by 1 desc").fetchone()
        (above,) = sql.execute("select hash from entries where entry = ?", (last - 1,)).fetchone()
        new = (body + " ", digest(above, body + " "), last)
        sql.execute("update entries set body = ?, hash = ? where entry = ?", new)


def by_sql(*statements: str) -> Callable[[Path], None]:
    """Change a ledger by statements."""

    def change(path: Path) -> None:
        with opened_up(path) as sql:
            for statement in statements:
                sql.execute(statement)

    return change


def foreign(path: Path) -> None:
    """Put another file of SQLite in its place."""
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("create table notes (text)")


def another_kind(path: Path) -> None:
    """Put a file of SQLite with our tables, but not ours, in its place."""
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for sql in sqlite_file.SCHEMA:
            connection.execute(sql)


def without_entries(path: Path) -> None:
    """Put a ledger without any entry in its place."""
    another_kind(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"pragma application_id = {sqlite_file.OURS}")
        connection.execute("pragma journal_mode = wal")
        connection.execute("insert into head values (0, '')")
        connection.commit()


def instead(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Put something else in its place."""

    def change(path: Path) -> None:
        path.unlink()
        make(path)

    return change


def only_the_log(path: Path) -> None:
    """Take the file away and leave its log."""
    path.rename(path.with_name("elsewhere"))
    Path(f"{path}-wal").write_bytes(b"anything")


TRIGGER = "create trigger more after insert on entries begin delete from documents; end"
REFUSED: dict[str, Callable[[Path], None]] = {
    each.__name__: each
    for each in (swap, swap_bodies, remove_last, remove_first, remove_all, change_one)
} | {
    "change the last": change_the_last,
    "a trigger more": by_sql(TRIGGER),
    "a table more": by_sql("create table more (x)"),
    "an index more": by_sql("create index more on entries (hash)"),
    "a view more": by_sql("create view more as select 1"),
    "no head": by_sql("delete from head"),
    "two heads": by_sql("insert into head select * from head"),
    "an older head": by_sql("update head set entry = 3"),
    "a number for a body": by_sql("update entries set body = 7 where entry = 5"),
    "bytes for a body": by_sql("update entries set body = cast(body as blob) where entry = 5"),
    "an entry more": by_sql("insert into entries select 1 + max(entry), body, hash from entries"),
    "foreign": foreign,
    "another kind": another_kind,
    "without entries": without_entries,
    "text": instead(lambda path: path.write_text("person_id,smoker\n" * 999)),
    "a folder": instead(Path.mkdir),
    "a link to nothing": instead(lambda path: path.symlink_to("nowhere")),
    "a link to itself": instead(lambda path: path.symlink_to(path)),
    "a pipe": instead(os.mkfifo),
    "only the log": only_the_log,
}


def is_plain(path: Path) -> bool:
    """Whether it is a file that was there before SQLite looked at it, and no link."""
    return path.is_file() and not path.is_symlink() and not path.name.endswith("-shm")


@pytest.mark.parametrize("how", REFUSED)
def test_what_is_not_as_it_was_written_is_refused(whole: bytes, tmp_path: Path, how: str) -> None:
    """With status 3, in one sentence, by each command; nothing is put in its place."""
    path = tmp_path / "a.ledger"
    path.write_bytes(whole)
    REFUSED[how](path)
    there = {each.name: each.read_bytes() for each in tmp_path.iterdir() if is_plain(each)}
    for ledger in (Ledger(path), Ledger(path, new=True)):
        for work in (ledger.history, ledger.verify, partial(ledger.charge, bill("new"))):
            with pytest.raises(DataError, match=r"damaged|may not be read|and no ledger") as caught:
                work()
            assert caught.value.status == 3
    with pytest.raises(InvalidParameterError, match="there is something"):
        Ledger.create(path)
    refused("ledger", "show", path, status=3)
    refused("ledger", "verify", path, status=3)
    now = {each.name: each.read_bytes() for each in tmp_path.iterdir() if is_plain(each)}
    assert now == there


def test_a_ledger_that_starts_anew_is_found(
    whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever replaces what is damaged by an empty ledger fails here."""
    path = tmp_path / "a.ledger"
    path.write_bytes(whole)
    before = Ledger(path).history()
    history = Ledger.history

    def anew(ledger: Ledger) -> History:
        try:
            return history(ledger)
        except DataError:
            path.unlink()
            return history(Ledger.create(path))

    path.write_bytes(whole[:5000])
    monkeypatch.setattr(Ledger, "history", anew)
    with pytest.raises(AssertionError, match="not seen"):
        outcome(path, before)


def test_what_does_no_harm(whole: bytes, tmp_path: Path) -> None:
    """A link to it, and remains of its log and of its index, damaged or not."""
    path, seen = tmp_path / "a.ledger", tmp_path / "seen.ledger"
    path.write_bytes(whole)
    before = Ledger(path).history()
    seen.symlink_to(path)
    assert facts(Ledger(seen).history()) == facts(before)
    for ending in ("-wal", "-shm"):
        for content in (b"", b"anything", os.urandom(40_000), b"\0" * 40_000):
            for left in tmp_path.iterdir():
                left.unlink()
            path.write_bytes(whole)
            Path(f"{path}{ending}").write_bytes(content)
            assert outcome(path, before) == "harmless"


def test_a_result_that_was_changed_is_refused(whole: bytes, tmp_path: Path) -> None:
    """It is not what was drawn, and it is never drawn anew."""
    path = tmp_path / "a.ledger"
    for change in (
        "update documents set content = x'00'",
        "update documents set content = (select content from documents order by hash limit 1)",
        "delete from documents",
        "update documents set hash = hash || 'x'",
    ):
        path.write_bytes(whole)
        by_sql(change)(path)
        ledger = Ledger(path)
        charges = ledger.history().charges.values()
        refusals = 0
        for charge in charges:
            try:
                ledger.result(charge)
            except DataError:
                refusals += 1
                with pytest.raises(DataError, match="not the one that was drawn"):
                    ledger.keep(charge, b"another draw")
        assert refusals >= CHARGES - 1
        with pytest.raises(DataError, match=r"not the one that was drawn|is missing"):
            ledger.verify()


def test_an_older_copy(whole: bytes, tmp_path: Path) -> None:
    """It cannot tell its age: the head that was printed does, and whoever has it open."""
    path, copy = tmp_path / "a.ledger", tmp_path / "copy"
    path.write_bytes(whole)
    ledger, printed = Ledger(path), Ledger(path).history().head
    shutil.copy(path, copy)
    ledger.charge(bill("later"))
    head = ledger.history().head
    assert Ledger(path).verify(head).head == head
    assert Ledger(path).verify(printed.upper()).head == head
    shutil.copy(copy, path)
    assert len(Ledger(path).verify().charges) == CHARGES
    with pytest.raises(DataError, match="older copy"):
        Ledger(path).verify(head)
    assert "older copy" in refused("ledger", "verify", path, "--head", head, status=3)
    for work in (ledger.history, lambda: ledger.charge(bill("later"))):
        with pytest.raises(DataError, match="older copy"):
            work()
    written(tmp_path / "another.ledger")
    shutil.copy(tmp_path / "another.ledger", path)
    with pytest.raises(DataError, match="not the one that was open"):
        ledger.history()


class Log:
    """A ledger as it is when all who had it open died: some charges are in its log alone."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        """Make one: a charge in the file, and three that nobody was told of in the log."""
        self.path = folder / "a.ledger"
        ledger = Ledger.create(self.path, limit=GaussianDP(mu=10))
        ledger.charge(bill("safe"))
        with contextlib.closing(sqlite3.connect(self.path)) as another, patch.context() as broken:
            another.execute("select * from head").fetchall()
            broken.setattr(sqlite_file, "_checkpoint", lambda _: None)
            for name in ("a", "b", "c"):
                ledger.charge(bill(name))
            self.main, self.log = (Path(f"{self.path}{e}").read_bytes() for e in ("", "-wal"))
        self.charges = ["safe", "a", "b", "c"]

    def put_back(self, log: bytes | None, main: bytes | None = None) -> None:
        """Put the files back, the log as it is given."""
        for left in self.path.parent.iterdir():
            left.unlink()
        self.path.write_bytes(main or self.main)
        if log is not None:
            Path(f"{self.path}-wal").write_bytes(log)

    def judged(self) -> int:
        """Hold what is left to what was safe; return how many charges there are."""
        try:
            found = [*Ledger(self.path).history().charges]
            assert found == self.charges[: len(found)]
            assert found, "a charge that was safe is lost"
            Ledger(self.path).charge(bill("new"))
            assert [*Ledger(self.path).history().charges] == [*found, "new"]
        except DataError:
            return 0
        return len(found)


def test_a_damaged_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was safe stays; of the others, the first so many."""
    log, draw, ends = Log(tmp_path, monkeypatch), random.Random(3), set[int]()
    log.put_back(log.log)
    assert log.judged() == 4
    frame = 4096 + 24
    for size in range(0, len(log.log), frame // 2):
        log.put_back(log.log[:size])
        ends.add(log.judged())
    for _ in range(40 * MORE):
        log.put_back(flipped(log.log, draw, draw.randrange(len(log.log))))
        ends.add(log.judged())
    log.put_back(None)
    assert log.judged() == 1
    assert ends <= {0, 1, 2, 3, 4}
    assert {1, 3} <= ends


def test_a_log_never_takes_back_what_was_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log with all that was moved into the file, cut short, would show an older state."""

    def charged_twice() -> list[str]:
        path = tmp_path / "a.ledger"
        for left in tmp_path.iterdir():
            left.unlink()
        ledger = Ledger.create(path)
        ledger.charge(bill("first"))
        checkpoint = sqlite_file._checkpoint
        reader = sqlite3.connect(path, isolation_level=None)
        another = sqlite3.connect(path, isolation_level=None)

        def while_somebody_reads(connection: sqlite3.Connection) -> None:
            reader.execute("begin")
            reader.execute("select * from head").fetchall()
            with monkeypatch.context() as hasty:
                hasty.setattr(sqlite_file, "PATIENCE", 0.05)
                connection.execute("pragma busy_timeout = 50")
                with contextlib.suppress(TryAgainError):
                    checkpoint(connection)

        with monkeypatch.context() as reading:
            reading.setattr(sqlite_file, "_checkpoint", while_somebody_reads)
            ledger.charge(bill("second"))

        def once_they_left(connection: sqlite3.Connection) -> None:
            reader.execute("rollback")
            checkpoint(connection)

        with (
            contextlib.closing(reader),
            contextlib.closing(another),
            monkeypatch.context() as left_,
        ):
            another.execute("select * from head").fetchall()
            left_.setattr(sqlite_file, "_checkpoint", once_they_left)
            ledger.charge(bill("third"))  # this is safe now
            main, log = (Path(f"{path}{ending}").read_bytes() for ending in ("", "-wal"))
        Path(f"{path}-shm").unlink(missing_ok=True)
        path.write_bytes(main)
        Path(f"{path}-wal").write_bytes(log[:-5000])
        return [*Ledger(path).history().charges]

    assert charged_twice() == ["first", "second", "third"]

    def only_full(connection: sqlite3.Connection) -> None:
        connection.execute("pragma wal_checkpoint(full)").fetchone()

    monkeypatch.setattr(sqlite_file, "_checkpoint", only_full)
    assert charged_twice() != ["first", "second", "third"]


def test_an_older_file_below_a_newer_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two do not belong together: refused, or the newer state, or the older one."""
    log = Log(tmp_path, monkeypatch)
    new = Ledger.create(tmp_path / "empty.ledger", limit=GaussianDP(mu=10))
    empty = Path(new.store.name).read_bytes()
    log.put_back(log.log, empty)
    try:
        found = [*Ledger(log.path).history().charges]
    except DataError:
        found = []
    assert found in ([], log.charges)
