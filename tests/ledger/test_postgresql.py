"""What is special about a ledger on a server: connections, settings, rights, and its death."""

import contextlib
import functools
import importlib
import os
import pickle
import random
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.errors import (
    DataError,
    InvalidParameterError,
    MissingExtraError,
    NotSupportedError,
    TryAgainError,
)
from halfnoise.ledger import links, session
from halfnoise.ledger import postgresql as tables
from halfnoise.ledger.entries import Opening, Row
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.session import Session
from support import postgres
from support.commands import PEOPLE, refused, run, write_survey
from support.postgres import Server
from support.stores import Hasty, OnServer, bill

MORE = int(os.environ.get("HALFNOISE_SOAK", "1"))
FIRST = Row.after(None, **Opening(data_set="survey").to_dict())
SECOND = Row.after(FIRST, kind="later")
PAGE = Path(__file__).parents[2] / "docs" / "ledger-postgresql.md"
Connect = Callable[[Server], Any]


def _psycopg2(server: Server, **how: Any) -> Any:
    return importlib.import_module("psycopg2").connect(server.url(), **how)


def _pg8000(server: Server) -> Any:
    socket = str(server.folder / f".s.PGSQL.{server.port}")
    module = importlib.import_module("pg8000.dbapi")
    return module.connect("halfnoise", unix_sock=socket, database="postgres")


def _dicts(server: Server) -> Any:
    from psycopg.rows import dict_row

    return server.connect(row_factory=dict_row)


def _dicts_of_psycopg2(server: Server) -> Any:
    extras = importlib.import_module("psycopg2.extras")
    return _psycopg2(server, cursor_factory=extras.RealDictCursor)


DRIVERS: dict[str, Connect] = {
    "psycopg": Server.connect,
    "psycopg with dicts": _dicts,
    "psycopg2": _psycopg2,
    "psycopg2 with dicts": _dicts_of_psycopg2,
    "pg8000": _pg8000,
}


@pytest.fixture(params=DRIVERS)
def connection(request: pytest.FixtureRequest, postgresql: Server) -> Iterator[Any]:
    """Return a connection of each driver."""
    pytest.importorskip(request.param.split()[0])
    with contextlib.closing(DRIVERS[request.param](postgresql)) as found:
        yield found


@pytest.fixture
def place(postgresql: Server) -> str:
    """Return the address of a ledger with a limit."""
    where = OnServer(postgresql, None).place()
    Ledger.create(where, limit=hn.GaussianDP(mu=9))
    return where


def title(place: str) -> str:
    """Return the name of a ledger in its address."""
    return place.rpartition("#")[2]


def test_every_driver_goes_all_the_way(connection: Any, place: str) -> None:
    """Made, charged, kept and read back, text and bytes as they were, nothing left open."""
    made = Ledger.create(Ledger.postgresql(connection, title(place) + "_own"))
    assert made.opening.data_set == title(place) + "_own"
    drawn = b"\x00\xff\\x00'%s \xc3\xa9"
    charge = made.charge(bill("é 'a' %s ?"))
    assert made.keep(charge, drawn) == made.result(charge) == drawn
    made.released(charge, b"csv")
    assert made.verify().charges["é 'a' %s ?"].state == "released"
    with pytest.raises(InvalidParameterError, match="already"):
        Ledger.create(made.store)
    assert not session._is_inside(connection)
    assert not made.store.files


def test_a_connection_that_commits_by_itself_is_refused(connection: Any, place: str) -> None:
    """Without a transaction nothing could be written whole; nothing is."""
    connection.autocommit = True
    made = Ledger.postgresql(connection, title(place))
    before = Ledger(place).history().head
    for look in (made.history, lambda: made.charge(bill("a"))):
        with pytest.raises(InvalidParameterError, match="turn autocommit off"):
            look()
    assert Ledger(place).history().head == before


@pytest.mark.parametrize("asked", [True, False], ids=["driver says", "server says"])
def test_a_transaction_of_others_is_refused(
    connection: Any, place: str, monkeypatch: pytest.MonkeyPatch, *, asked: bool
) -> None:
    """What others did is neither committed nor rolled back, whether or not a driver tells."""
    if not asked:
        monkeypatch.setattr(session, "_is_inside", lambda _: False)
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.execute("create temporary table theirs (x integer)")
        made = Ledger.postgresql(connection, title(place))
        for look in (made.history, lambda: made.charge(bill("a"))):
            with pytest.raises(InvalidParameterError, match="inside a transaction"):
                look()
        if asked:  # it goes on as if nothing had been
            cursor.execute("select count(*) from theirs")
            assert cursor.fetchall()
    connection.rollback()
    assert made.charge(bill("a")).entry == 1


def test_a_ledger_that_does_not_ask_ends_the_work_of_others(
    postgresql: Server, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without those looks a charge would commit what others had only begun, or not be whole."""
    monkeypatch.setattr(session, "_is_inside", lambda _: False)
    monkeypatch.setattr(session, "_WRITE", ())
    theirs = f"theirs_{title(place)}"
    with contextlib.closing(postgresql.connect()) as connection:
        connection.execute(f"create table {theirs} (x integer)")
        Ledger.postgresql(connection, title(place)).charge(bill("a"))
        connection.rollback()
        assert connection.execute(f"select count(*) from {theirs}").fetchall()
        connection.rollback()
        connection.autocommit = True
        monkeypatch.setattr(Session, "begin", lambda *_, **__: None)
        store = Ledger.postgresql(connection, title(place)).store
        with contextlib.suppress(KeyError), store.writing() as rows:
            rows.append(Row.after(Row(1, "", ""), kind="half"))
            raise KeyError
        with store.reading() as rows:
            assert rows.head()[0] == 2


def test_a_connection_inside_and_at_every_level(postgresql: Server, place: str) -> None:
    """In a block of a transaction it is refused; whatever level one has, all charges succeed."""
    from psycopg import IsolationLevel

    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(contextlib.closing(postgresql.connect())) for _ in range(3)]
        for each, level in zip(opened, list(IsolationLevel)[1:], strict=True):
            each.isolation_level = level
        ledgers = [Ledger.postgresql(each, title(place)) for each in opened]
        assert [each.charge(bill()).entry for each in ledgers * 2] == [1, 2, 3, 4, 5, 6]
        with opened[0].transaction(), pytest.raises(InvalidParameterError, match="inside"):
            ledgers[0].charge(bill())


def second_writer(place: str) -> str:
    """Return what becomes of a writer who waited for another."""
    told = list[str]()

    def charge() -> None:
        try:
            told.append(str(Ledger(place).charge(bill()).entry))
        except TryAgainError as error:
            told.append(str(error))

    thread = threading.Thread(target=charge)
    store = Ledger(place).store
    with store.writing() as rows:
        thread.start()
        thread.join(0.2)
        last, head = rows.head()
        before = Row(last, "", head)
        rows.append(Row.after(before, **_charged(place)))
    thread.join()
    return told[0]


def _charged(place: str) -> dict[str, Any]:
    """Return an entry for a charge as another would write it."""
    from halfnoise.ledger.pricing import priced

    return priced(Ledger(place).history(), bill())[1].to_dict()


def test_who_waited_reads_what_the_other_wrote(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second writer follows the first; at a level that looks before it waits, he cannot."""
    assert second_writer(place) == "2"
    monkeypatch.setattr(session, "_WRITE", ("read committed", "serializable"))
    assert "may stand, and the same --name goes on" in second_writer(place)


def test_who_waits_too_long_is_told(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that is held ends in advice, not in a hang."""
    monkeypatch.setattr(session, "_SET", session._SET.replace(session.WAIT, "50ms"))
    assert "try again" in second_writer(place)


def snapshot_holds(place: str) -> bool:
    """Whether one look sees one state."""
    store = Ledger(place).store
    with store.reading() as rows:
        before = [*rows.since(0), rows.head()]
        Ledger(place).charge(bill())
        return [*rows.since(0), rows.head()] == before


def test_a_look_sees_one_state(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader sees no half of a charge, and one who looks at each statement anew is found."""
    assert snapshot_holds(place)
    monkeypatch.setattr(session, "_READ", ("serializable", "read committed"))
    assert not snapshot_holds(place)


@pytest.fixture
def altered(postgresql: Server) -> Iterator[Callable[[str], None]]:
    """Return what changes a setting of the server, until the test ends."""

    def alter(setting: str) -> None:
        postgresql.run(f"alter system set {setting}")
        reload()

    def reload() -> None:
        postgresql.run("select pg_reload_conf()")
        with contextlib.closing(postgresql.connect()) as look:  # a new one has what is new
            look.execute("select pg_sleep(0.05)")

    yield alter
    postgresql.run("alter system reset all")
    reload()


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_may_lose_what_it_committed_is_refused(
    place: str, altered: Callable[[str], None], setting: str
) -> None:
    """Nothing is charged or made there; it can be read."""
    altered(f"{setting} = off")
    with pytest.raises(NotSupportedError, match="may lose what it committed"):
        Ledger(place).charge(bill())
    with pytest.raises(NotSupportedError, match="may lose what it committed"):
        Ledger.create(f"{place}_other")
    assert not Ledger(place).verify().charges


def test_a_charge_waits_for_the_disk_whatever_is_set(
    place: str, altered: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting is on inside a charge, a stricter one stays, and it is read back."""
    for asked, found in {"off": "on", "local": "on", "remote_apply": "remote_apply"}.items():
        altered(f"synchronous_commit = {asked}")
        with Ledger(place).store.writing() as rows:
            assert rows._run("show synchronous_commit") == [(found,)]
    altered("synchronous_commit = off")
    monkeypatch.setattr(session, "_SET", session._SET.replace("else 'on'", "else 'off'"))
    with pytest.raises(NotSupportedError, match="may lose"):
        Ledger(place).charge(bill())


def test_other_text_and_old_servers_are_refused(
    postgresql: Server, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text would not come back as it was."""
    with contextlib.closing(postgresql.connect(client_encoding="latin1")) as connection:
        made = Ledger.postgresql(connection, title(place))
        with pytest.raises(NotSupportedError, match="UTF8"):
            made.charge(bill("a"))
        assert not session._is_inside(connection)
    monkeypatch.setattr(session, "OLDEST", 10**6)
    with pytest.raises(NotSupportedError, match="older"):
        Ledger(place).history()


TAMPERED = {
    "a table that a crash empties": "alter table @entries set unlogged",
    "a trigger that is off": "alter table @entries disable trigger kept",
    "a trigger that replicas pass": "alter table @head enable trigger kept",
    "rows that are hidden": "alter table @entries enable row level security",
    "rows that are diverted": "create rule away as on insert to @entries do instead nothing",
    "no key": "alter table @entries drop constraint entries_pkey",
    "another type": "alter table @head alter entry type integer",
    "a trigger without teeth": "create or replace function @only_added() returns trigger"
    " language plpgsql as 'begin return null; end'",
    "a trigger more": "create trigger more before insert on @entries"
    " for each row execute function @only_added()",
}


@pytest.mark.parametrize("tampered", TAMPERED)
def test_tables_that_are_not_as_they_were_made_are_refused(
    postgresql: Server, place: str, tampered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever could lose, hide or change an entry is seen before anything is charged."""
    own = f"halfnoise_{title(place)}."
    postgresql.run(TAMPERED[tampered].replace("@", own))
    for look in (Ledger(place).history, lambda: Ledger(place).charge(bill())):
        with pytest.raises(DataError, match="damaged: the tables of"):
            look()
    monkeypatch.setattr(tables.PostgresqlTables, "_check", lambda *_: None)
    assert not Ledger(place).history().charges  # nothing else would have told


def granted(place: str) -> list[str]:
    """Return the statements of the page that give rights, for a ledger and a role of its name."""
    (text,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    own = text.replace("halfnoise_survey", f"halfnoise_{title(place)}")
    return [line.removesuffix(";") for line in own.replace("jobs", title(place)).splitlines()]


def test_a_role_can_do_what_the_page_says(postgresql: Server, place: str) -> None:
    """With those rights one can charge and not change; with fewer one is told so, in our words."""
    role, own = title(place), f"halfnoise_{title(place)}"
    postgresql.run(f"create role {role} login")
    theirs = f"{postgresql.url(role)}#{role}"
    usage, *tables = granted(place)
    assert Ledger(theirs).is_there()
    for each, look in ((usage, "history"), *((table, "charge") for table in tables)):
        asked = Ledger(theirs)
        words: list[Any] = [bill("a")] if look == "charge" else []
        with pytest.raises(DataError, match="lacks a right") as told:
            getattr(asked, look)(*words)
        assert role not in str(told.value).replace(asked.store.name, "")
        postgresql.run(each)
    ledger = Ledger(theirs)
    ledger.keep(ledger.charge(bill("a")), b"drawn")
    assert ledger.verify().charges
    for statement in (
        f"delete from {own}.entries",
        f"update {own}.documents set hash = ''",
        f"truncate {own}.head",
        f"alter table {own}.entries disable trigger kept",
        f"drop schema {own} cascade",
    ):
        with (
            contextlib.closing(postgres.connected(postgresql.url(role))) as connection,
            pytest.raises(Exception, match=r"permission denied|must be owner"),
        ):
            connection.execute(statement)
    with pytest.raises(DataError, match="lacks a right"):
        Ledger.create(f"{theirs}_other")


def test_of_a_failed_creation_nothing_is_left(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All or nothing is made, wherever it fails; committed one by one, something would be left."""
    statements = [*tables._made("{0}")]
    with contextlib.closing(postgresql.connect()) as connection:
        made = Ledger.postgresql(connection, "never")
        for n in range(1, len(statements) + 1):
            some = [each.format("halfnoise_never") for each in statements[:n]]
            monkeypatch.setattr(tables, "_made", lambda _, some=some: [*some, "select 1 / 0"])
            with pytest.raises(DataError, match="PostgreSQL refused"):
                Ledger.create(made)
            assert not made.store.exists()
        connection.autocommit = True
        monkeypatch.setattr(Session, "begin", lambda *_, **__: None)
        with pytest.raises(InvalidParameterError, match="already"):
            Ledger.create(made)
        assert made.is_there()


class Meddled(Session):
    """A transaction that somebody else ends just before its commit."""

    def commit(self) -> None:
        """Lose everything first."""
        self._connection.rollback()
        super().commit()


class Unkept(Session):
    """A transaction that somebody else ends at the very moment of its commit."""

    def commit(self) -> None:
        """Lose everything."""
        self._connection.rollback()


@pytest.mark.parametrize("how", [Meddled, Unkept])
def test_a_commit_that_did_not_happen_is_seen(
    place: str, how: type[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told of a charge that is not there, whoever else uses the connection."""
    monkeypatch.setattr(tables, "Session", how)
    with pytest.raises(DataError, match="something else ended its transaction"):
        Ledger(place).charge(bill("a"))
    assert not Ledger(place).history().charges


def test_an_open_connection_stays_where_it_is(
    postgresql: Server, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is neither pickled nor used after a fork; what connects anew is."""
    with contextlib.closing(postgresql.connect()) as connection:
        made = Ledger.postgresql(connection, title(place))
        assert made.charge(bill("a")).entry == 1
        with pytest.raises(TypeError, match="name the ledger by its address"):
            pickle.dumps(made)
        monkeypatch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(InvalidParameterError, match="open one in this process"):
            made.history()
    for other in (Ledger(place), Ledger.postgresql(postgresql.connect, title(place))):
        assert other.history().charges
    assert pickle.loads(pickle.dumps(Ledger(place))).history().charges


def test_threads_take_turns_on_a_connection(postgresql: Server, place: str) -> None:
    """Threads that share a ledger charge one after the other."""
    with contextlib.closing(postgresql.connect()) as connection:
        made, told = Ledger.postgresql(connection, title(place)), list[int]()
        charge = functools.partial(made.charge, bill())
        threads = [threading.Thread(target=lambda: told.append(charge().entry)) for _ in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert sorted(told) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "name", ["", "A", "1a", "a-b", "a.b", 'a"b', "a b", "é", "a" * 41, "a%", 7]
)
def test_a_name_needs_no_quotes(name: Any) -> None:
    """What would have to be quoted is refused before anything is asked."""
    with pytest.raises(InvalidParameterError, match="a letter first"):
        Ledger.postgresql(lambda: None, name)


@pytest.mark.parametrize("given", [None, "dbname=office", 7, object()])
def test_what_is_no_connection_is_refused(given: Any) -> None:
    """A connection has a cursor, and ends transactions."""
    with pytest.raises(InvalidParameterError, match="PEP 249"):
        Ledger.postgresql(given, "survey")


class Promising:
    """A connection whose calls are promises."""

    async def commit(self) -> None:
        """Promise to commit."""

    cursor = rollback = commit


def test_a_connection_for_coroutines_is_refused() -> None:
    """It would promise to charge."""
    with pytest.raises(InvalidParameterError, match="PEP 249"):
        Ledger.postgresql(Promising(), "survey")


SECRET = "s3cr3t"  # noqa: S105
WRONG = {
    f"postgresql://127.0.0.1:1/{SECRET}#survey": 5,
    f"postgresql:///{SECRET}?host=/nowhere#survey": 5,
    f"postgresql://me:{SECRET}@host/db#survey": 2,
    f"postgresql://host/db?password={SECRET}#survey": 2,
    f"postgresql://host/db?sslpassword={SECRET}#survey": 2,
    f"postgresql://host/{SECRET}": 2,
    f"postgresql://host/db?{SECRET}=1#survey": 2,
    f"postgresql://host:{SECRET}/db#survey": 5,
    f"postgres://host/{SECRET}#not a name": 2,
}


@pytest.mark.parametrize("address", WRONG)
def test_no_message_holds_an_address(address: str) -> None:
    """Wherever it fails: no host, no password, no word of the engine."""
    for words in (("show",), ("verify",), ("init", "--mu", "1", *PEOPLE)):
        said = refused("ledger", words[0], address, *words[1:], status=WRONG[address])
        assert SECRET not in said
        assert "connection failed" not in said


def test_words_of_the_driver_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: a driver's words hold the address."""
    monkeypatch.setattr(links, "ours", lambda error, _: DataError(str(error)))
    with pytest.raises(DataError, match=r"connection failed.*127\.0\.0\.1"):
        Ledger("postgresql://127.0.0.1:1/db#survey").history()


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address alone needs a package."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install psycopg\[binary\]"):
        Ledger("postgresql://host/db#survey")


def test_the_command_takes_an_address(postgresql: Server, tmp_path: Path) -> None:
    """Made, charged, the same name again, shown, verified; a table is written beside nothing."""
    place = OnServer(postgresql, None).place()
    assert "--epsilon 3" in refused("ledger", "show", place)
    made = run("ledger", "init", place, "--mu", "3", *PEOPLE)
    assert made.status == 0, made
    assert "already" in refused("ledger", "init", place, "--mu", "3", *PEOPLE)
    survey = write_survey(tmp_path)
    release = ("release", survey, "--count", "smoker", *PEOPLE, "--one-of", "9", "--name", "x")
    one, two = (run(*release, "--ledger", place) for _ in range(2))
    assert one.status == two.status == 0, (one, two)
    assert one.out == two.out
    assert f"in postgresql://...#{title(place)}" in one.err
    assert "Returned as it was drawn" in two.err
    head = Ledger(place).history().head
    assert run("ledger", "verify", place, "--head", head).status == 0
    shown = run("ledger", "show", place)
    assert f"Ledger of {title(place)}." in shown.out
    assert "room for 8 more" in shown.out
    assert str(postgresql.folder) not in made.out + one.err + two.err + shown.out
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]


def charge_until_killed(
    server: Server, place: str, after: float, prefix: str
) -> tuple[list[str], str]:
    """Charge one after the other; return the names that were granted, and the one that was not."""
    timer = threading.Timer(after, server.kill)
    ledger, told = Ledger(place), list[str]()
    timer.start()
    try:
        for i in range(10_000):
            name = f"{prefix}-{i}"
            ledger.charge(bill(name, mu=0.01))
            told.append(name)
    except TryAgainError as error:
        assert "may stand, and the same --name goes on" in str(error)  # noqa: PT017
        return told, name
    finally:
        timer.join()
        server.start()
    raise AssertionError(name)


def lost(place: str, told: list[str]) -> set[str]:
    """Return the names that were granted and are not there; all that is there must be sound."""
    return set(told) - Ledger(place).verify().charges.keys()


def test_charges_outlive_a_server_that_is_killed(
    postgresql: Server, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """At whatever moment it dies: what was told stands, once, and the same name goes on."""
    draw, told, kills = random.Random(), list[str](), 3 * MORE
    stood = 0
    for kill in range(kills):
        granted, open_ = charge_until_killed(postgresql, place, draw.uniform(0, 0.15), f"k{kill}")
        told += granted
        assert not lost(place, told)
        before = Ledger(place).history()
        assert set(before.charges) - set(told) <= {open_}
        stood += open_ in before.charges
        Ledger(place).charge(bill(open_, mu=0.01))
        told.append(open_)
        assert len(Ledger(place).history().charges) == len(told)
    if MORE > 1:
        with capsys.disabled():
            print(f"\n{kills} kills, {len(told)} charges, {stood} stood untold, 0 lost")  # noqa: T201


class Early(Session):
    """A transaction that says that it is committed before it is."""

    def commit(self) -> None:
        """Do nothing yet."""


@pytest.mark.parametrize("broken", [Early, Hasty])
def test_a_charge_that_does_not_wait_is_lost(
    postgresql: Server, place: str, broken: type[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who says so before the commit, or before the disk has it, loses charges to the same death."""
    with monkeypatch.context() as patch:
        patch.setattr(tables, "Session", broken)
        with postgresql.held("walwriter"):  # which would write it later
            ledger = Ledger(place)
            told = [ledger.charge(bill("a")).name]
            postgresql.kill()
    postgresql.start()
    assert lost(place, told)


class Dies(Session):
    """A transaction whose server dies at its commit."""

    server: Server
    late: bool

    def commit(self) -> None:
        """Kill it before or after."""
        if self.late:
            super().commit()
        self.server.kill()
        if not self.late:
            super().commit()


@pytest.mark.parametrize("late", [False, True], ids=["before the commit", "after the commit"])
def test_a_server_that_dies_at_the_commit(
    postgresql: Server, place: str, monkeypatch: pytest.MonkeyPatch, *, late: bool
) -> None:
    """Both ways one is told the same, and the same name charges once."""
    made = type("", (Dies,), {"server": postgresql, "late": late})
    with monkeypatch.context() as patch:
        patch.setattr(tables, "Session", made)
        with pytest.raises(TryAgainError, match="may stand, and the same --name goes on"):
            Ledger(place).charge(bill("a"))
    postgresql.start()
    assert (["a"] if late else []) == [*Ledger(place).verify().charges]
    assert Ledger(place).charge(bill("a")).entry == 1
    assert Ledger(place).verify().spent.squares == 1


@pytest.mark.parametrize("code", ["40001", "40P01", "53100", "53300", "55P03", "57P01", "08006"])
def test_what_may_work_later_is_told_so_by_every_driver(code: str) -> None:
    """The same state means the same, wherever a driver puts it; none of its words is said."""
    from_psycopg, from_psycopg2 = OSError("w0rd"), ValueError("w0rd")
    from_psycopg.sqlstate = code  # type: ignore[attr-defined]
    from_psycopg2.pgcode = code  # type: ignore[attr-defined]
    for error in (from_psycopg, from_psycopg2, ValueError({"C": code, "M": "w0rd"})):
        found = session.ours(error, "survey")
        assert isinstance(found, TryAgainError)
        assert "w0rd" not in str(found)


@pytest.mark.parametrize("code", ["42501", "25006", "28P01", "3D000", "XX001", "42703"])
def test_what_will_not_work_later_is_not_tried_again(code: str) -> None:
    """Nothing of it is worth another try."""
    found = session.ours(ValueError({"C": code, "M": "w0rd"}), "survey")
    assert type(found) is DataError
    assert "w0rd" not in str(found)


def test_bytes_come_back_however_a_driver_gives_them() -> None:
    """As bytes, as memory that is lent, or as PostgreSQL's digits."""
    row = (b"\x00a", memoryview(b"\x00a"), bytearray(b"\x00a"), "\\x0061", 7, "text")
    same = (b"\x00a",) * 4
    assert session._plain(row) == session._plain(dict(enumerate(row))) == (*same, 7, "text")


def test_nothing_is_skipped_where_a_server_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none is installed tests are skipped, unless .ci/run found one."""
    monkeypatch.setattr(postgres, "binaries", lambda: None)
    monkeypatch.delenv(postgres.REQUIRED, raising=False)
    with pytest.raises(pytest.skip.Exception, match="no server"):
        postgres.needed()
    monkeypatch.setenv(postgres.REQUIRED, "required")
    with pytest.raises(pytest.fail.Exception, match="though"):
        postgres.needed()
    script = (PAGE.parents[1] / ".ci" / "run").read_text(encoding="utf-8")
    assert f"export {postgres.REQUIRED}=" in script


def test_no_connection_is_left_open(place: str) -> None:
    """Each look closes what it opened."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Ledger(place).history()
        with pytest.raises(InvalidParameterError):
            Ledger(f"{place}_not_there").history()
    assert not caught
