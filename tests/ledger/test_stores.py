"""What every place for a ledger has to do, in a file and on a server alike."""

import contextlib
import os
import pickle
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.errors import BudgetError, DataError, InvalidParameterError, TryAgainError
from halfnoise.ledger import entries, ledger, postgresql, sqlite_file
from halfnoise.ledger.entries import Opening, Row
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.postgresql import PostgresqlTables
from halfnoise.ledger.store import Store
from support.chargers import Told, together
from support.stores import (
    BROKEN,
    Backend,
    CommitsAnyway,
    InFiles,
    OnServer,
    WithoutLock,
    bill,
)

MORE = int(os.environ.get("HALFNOISE_SOAK", "1"))
FIRST = Row.after(None, **Opening(data_set="survey").to_dict())
SECOND = Row.after(FIRST, kind="later")
DRAWN = b"\x00\xff\\x00 drawn \xc3\xa9" * 9


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Return a kind of place."""
    if request.param == "sqlite":
        yield InFiles(tmp_path)
        return
    server = request.getfixturevalue("postgresql")
    with contextlib.closing(server.connect()) as connection:
        yield OnServer(server, connection)


@pytest.fixture
def store(backend: Backend) -> Store:
    """Return a place with one entry."""
    made = Ledger(backend.place()).store
    made.create(FIRST)
    return made


def state(store: Store) -> list[tuple[Any, ...]]:
    """Return all entries, and the head."""
    with store.reading() as rows:
        return [*rows.since(0), rows.head()]


def test_it_is_made_once(backend: Backend) -> None:
    """A place is empty, then has its first entry, and is never made anew."""
    made = Ledger(backend.place()).store
    assert not made.exists()
    with pytest.raises(InvalidParameterError, match="there is no ledger"):
        state(made)
    made.create(FIRST)
    assert made.exists()
    with pytest.raises(FileExistsError):
        made.create(SECOND)
    assert state(made) == [tuple(FIRST), (0, FIRST.hash)]


def test_of_many_who_make_it_one_does(backend: Backend) -> None:
    """Made by several at once, it is made whole by one, and the others are told."""
    place, told = backend.place(), list[str]()

    def make(data_set: str) -> None:
        row = Row.after(None, **Opening(data_set=data_set).to_dict())
        try:
            Ledger(place).store.create(row)
            told.append(data_set)
        except FileExistsError:
            told.append("")

    threads = [threading.Thread(target=make, args=(name,)) for name in "abcd"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [Ledger(place).opening.data_set] == [name for name in told if name]
    assert len(told) == 4


def test_what_is_written_is_read(store: Store) -> None:
    """Entries and results come back as they were."""
    with store.writing() as rows:
        rows.append(SECOND)
        rows.keep("hash", DRAWN)
    assert state(store) == [tuple(FIRST), tuple(SECOND), (1, SECOND.hash)]
    with store.reading() as rows:
        assert rows.since(1) == [tuple(SECOND)]
        assert rows.document("hash") == DRAWN
        assert rows.document("other") is None


def rolls_back(store: Store) -> bool:
    """Whether a writer who fails leaves nothing behind."""
    before = state(store)
    with contextlib.suppress(KeyError), store.writing() as rows:
        rows.keep("hash", DRAWN)
        rows.append(SECOND)
        raise KeyError
    return state(store) == before


def test_a_writer_who_fails_leaves_nothing(store: Store) -> None:
    """All or nothing is written, and the next writer is not held up; a broken store is found."""
    assert rolls_back(store)
    assert not rolls_back(CommitsAnyway(store))


def writers_exclude(store: Store) -> bool:
    """Whether one who writes is alone until he has done."""
    inside, done = threading.Event(), list[str]()

    def other() -> None:
        with store.writing():
            done.append("other")
            inside.set()

    thread = threading.Thread(target=other)
    with store.writing() as rows:
        thread.start()
        inside.wait(0.3)
        rows.append(SECOND)
        done.append("one")
    thread.join()
    return done == ["one", "other"]


def test_one_writes_at_a_time(store: Store) -> None:
    """A second writer waits for the first, and a store without the lock is found."""
    assert writers_exclude(store)


def test_a_store_without_a_lock_is_found(store: Store) -> None:
    """The test above can fail."""
    assert not writers_exclude(WithoutLock(store))


def test_readers_do_not_wait(store: Store) -> None:
    """Who reads beside a writer sees what was there before."""
    before = state(store)
    with store.writing() as rows:
        rows.append(SECOND)
        assert state(store) == before
    assert state(store) != before


@pytest.mark.parametrize(
    "statement",
    [
        "update @entries set body = ''",
        "update @entries set entry = 7",
        "delete from @entries",
        "update @documents set hash = ''",
        "delete from @documents",
    ],
)
def test_entries_are_only_added(backend: Backend, store: Store, statement: str) -> None:
    """Nobody changes or deletes by accident; who puts the triggers away can, so this can fail."""
    with store.writing() as rows:
        rows.keep("hash", DRAWN)
    before = state(store)
    with pytest.raises(Exception, match="a ledger is only added to"):
        backend.spoil(store, statement, aside=False)
    assert state(store) == before
    backend.spoil(store, statement)


def test_a_ledger_goes_its_way(backend: Backend) -> None:
    """Charged, kept, released; the same name goes on; the first result wins; all is accounted."""
    made = Ledger.create(backend.place(), limit=hn.GaussianDP(mu=2), unit="person_id", data_set="é")
    whose: dict[str, Any] = {"unit": ("person_id",)}
    charge = made.charge(bill("a", **whose))
    assert Ledger(made).charge(bill("a", **whose)).entry == charge.entry == 1
    with pytest.raises(InvalidParameterError, match="another request"):
        made.charge(bill("a", request="1", **whose))
    assert made.find("b", "") is None
    assert made.result(charge) is None
    assert made.keep(charge, DRAWN) == made.keep(charge, b"second") == DRAWN
    assert Ledger(made).result(charge) == DRAWN
    assert made.released(charge, b"csv").head == made.released(charge, b"csv").head
    with pytest.raises(BudgetError):
        made.charge(bill(mu=1.8, **whose))
    other = pickle.loads(pickle.dumps(made))
    assert [other.charge(bill(**whose)).entry for _ in range(3)] == [4, 5, 6]
    with pytest.raises(BudgetError):
        made.charge(bill(mu=1e-9, **whose))
    found = made.verify(charge_head := made.history().head)
    assert found.head == charge_head
    assert (found.charges["a"].state, float(found.spent.squares)) == ("released", 4)
    assert other.opening.data_set == "é"


Patch = Callable[[pytest.MonkeyPatch], None]


def _blind_to(*names: str) -> Patch:
    """Return what takes away a ledger's look at something."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        changes: dict[str, tuple[object, str, Any]] = {
            "head": (ledger, "_check_head", lambda *_: None),
            "documents": (ledger, "_document", lambda rows, hashed: rows.document(hashed)),
            "tables": (PostgresqlTables, "_check", lambda *_: None),
            "file": (sqlite_file.SqliteFile, "_check", lambda *_: None),
            "chain": (entries, "digest", lambda *_: Anything("")),
        }
        for name in names:
            monkeypatch.setattr(*changes[name])

    return patch


class Anything(str):
    """A hash that is like any other."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # it has none of its own

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


@dataclass(frozen=True)
class Damage:
    """Something done to a ledger, and what must look away for it to go unseen, if one thing."""

    statements: tuple[str, ...]
    unseen: Patch | None = None
    aside: bool = True


_LAST = "(select max(entry) from @entries)"
DAMAGE = {
    "the last entry removed": Damage(
        (f"delete from @entries where entry = {_LAST}",), _blind_to("head")
    ),
    "the last but one removed": Damage((f"delete from @entries where entry = {_LAST} - 1",)),
    "two entries swapped": Damage(
        (
            "update @entries set entry = -1 where entry = 1",
            "update @entries set entry = 1 where entry = 2",
            "update @entries set entry = 2 where entry = -1",
        ),
    ),
    "a body changed": Damage(
        ("update @entries set body = replace(body, '\"1\"', '\"0\"') where entry = 1",),
        _blind_to("chain"),
    ),
    "the limit changed": Damage(
        ("update @entries set body = replace(body, '9', '99') where entry = 0",),
        _blind_to("chain"),
    ),
    "a hash changed": Damage(
        ("update @entries set hash = 'abc' where entry = 2",), _blind_to("chain")
    ),
    "the head changed": Damage(("update @head set entry = 1",), _blind_to("head")),
    "the head removed": Damage(("delete from @head",), _blind_to("head")),
    "two heads": Damage(("insert into @head select entry, hash from @head",), _blind_to("head")),
    "all entries removed": Damage(("delete from @entries",), _blind_to("head")),
    "a column more": Damage(
        ("alter table @entries add column more text",), _blind_to("tables", "file")
    ),
    "a table removed": Damage(("alter table @documents rename to other",), aside=False),
}
A_RESULT = {
    "a result changed": "update @documents set content = OTHER",
    "a result removed": "delete from @documents",
}


@pytest.fixture
def spent(backend: Backend) -> Ledger:
    """Return a ledger with two charges, and a result."""
    made = Ledger.create(backend.store(), limit=hn.GaussianDP(mu=9))
    first = made.charge(bill("a"))
    made.charge(bill("b"))
    made.keep(first, DRAWN)
    return made


def refuses(place: Ledger) -> bool:
    """Whether a ledger that is opened anew is found damaged, by all who look, and not written."""
    looks: list[Callable[[Ledger], object]] = [
        lambda it: it.verify(),
        lambda it: it.history(),
        lambda it: it.charge(bill("c")),
    ]
    for look in looks:
        try:
            look(Ledger(place.store))
        except DataError as error:
            if "damaged" not in str(error) or isinstance(error, TryAgainError):
                raise
        else:
            return False
    assert place.is_there()
    with pytest.raises(InvalidParameterError, match="already"):
        Ledger.create(place.store)
    return True


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found(
    backend: Backend, spent: Ledger, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at it refuses, nothing is taken for an empty ledger; a blind ledger sees less."""
    done = DAMAGE[damage]
    backend.spoil(spent.store, *done.statements, aside=done.aside)
    assert refuses(spent)
    if done.unseen is not None:
        done.unseen(monkeypatch)
        assert not refuses(spent)


@pytest.mark.parametrize("damage", A_RESULT)
def test_a_result_that_was_changed_is_never_returned(
    backend: Backend, spent: Ledger, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is it returned, nor drawn anew."""
    digits = "x'{}'" if isinstance(backend, InFiles) else r"'\x{}'"
    other = digits.format(zlib.compress(b"other").hex())
    backend.spoil(spent.store, A_RESULT[damage].replace("OTHER", other))
    charge = spent.history().charges["a"]
    for look in (spent.verify, lambda: spent.result(charge), lambda: spent.keep(charge, b"new")):
        with pytest.raises(DataError, match="damaged: a result"):
            look()
    _blind_to("documents")(monkeypatch)
    assert spent.result(charge) != DRAWN


def test_triggers_that_are_gone_are_missed(backend: Backend, spent: Ledger) -> None:
    """A ledger whose entries could be changed is refused before it is changed."""
    name = "entries_update" if isinstance(backend, InFiles) else "kept on @entries"
    backend.spoil(spent.store, f"drop trigger {name}", aside=False)
    assert refuses(spent)


def test_an_old_copy_is_told_by_its_head(backend: Backend, spent: Ledger) -> None:
    """Whoever had it open sees that it went back; others by the head that was printed."""
    head = spent.verify().head
    first = spent.history().charges["a"]
    spent.released(first, b"csv")
    late = spent.history().head
    assert spent.verify(head).head == late
    backend.spoil(
        spent.store,
        f"delete from @entries where entry = {_LAST}",
        f"update @head set entry = {_LAST}, hash = '{head}'",
    )
    with pytest.raises(DataError, match="older copy"):
        spent.history()
    fresh = Ledger(spent.store)
    assert fresh.verify(head).head == head
    with pytest.raises(DataError, match="older copy"):
        fresh.verify(late)


PROCESSES, EACH = (16, 50) if MORE > 1 else (8, 12)


def violations(place: str, told: list[Told], fits: int) -> list[str]:
    """Return what went wrong where so many charges fit exactly."""
    found = Ledger(place).verify()
    stands = {(charge.entry, charge.name) for charge in found.charges.values()}
    granted = [(entry, name) for what, entry, name in told if entry]
    alone = [each for what, *each in told if what == "alone"]
    wrong = [what for what, *_ in told if what not in ("alone", "shared", "refused")]
    wrong += ["not as many as fit"] if len(stands) != fits else []
    wrong += ["told, and not there"] if set(granted) - stands else []
    wrong += ["there, and nobody was told"] if stands - set(granted) else []
    wrong += ["two were told the same"] if len({*map(tuple, alone)}) < len(alone) else []
    wrong += ["not exact"] if found.spent.squares != fits else []
    return wrong


def test_a_budget_fits_exactly_however_many_charge_at_once(
    backend: Backend, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of processes let go together as many charges are granted as fit; broken stores are found."""
    places = {backend.place(): (name, 4, 4) for name in BROKEN if name}
    places[backend.place()] = ("", PROCESSES, EACH)
    for place, (_, processes, each) in places.items():
        Ledger.create(place, limit=hn.ConcentratedDP(rho=processes * each // 4 / 2))
    for place, told in together(places).items():
        broken, processes, each = places[place]
        assert len(told) == processes * each
        assert bool(violations(place, told, len(told) // 4)) == bool(broken), broken
    if MORE > 1:
        with capsys.disabled():
            print(f"\n{type(backend).__name__}: {PROCESSES} x {EACH} charges, 0 violations")  # noqa: T201


def test_the_look_at_tables_knows_what_is_made() -> None:
    """What a whole ledger looks like is said once for making and once for looking."""
    assert len([*postgresql._facts()]) == 1 + 3 + 7 + 2 + 3
