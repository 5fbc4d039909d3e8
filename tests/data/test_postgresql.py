"""Tables of PostgreSQL: what its cells become, one snapshot, and who may read what."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.data.sources import open_source, postgresql
from halfnoise.data.sources.source import TextFormat
from halfnoise.data.totals import prepared
from support.commands import run
from support.loss import Scale
from support.postgres import shared
from support.postgres_tables import LOOSE, connection

q: Any = hn  # queries also take lists, which their annotations do not say

SHARP = hn.GaussianDP(mu=1e6)
ITEMS = Scale([q.Count("a"), q.Items("i", ["x"])])
CROWD = 200
ROWS = f"select id, true as a, 'x'::text as i from generate_series(1, {CROWD}) as id"


@contextmanager
def made(name: str, *statements: str) -> Iterator[Any]:
    """Run statements that make a table, and drop it afterwards."""
    connection()  # which makes the collation
    shared().run(*statements)
    try:
        yield connection().table(name)
    finally:
        shared().run(f"drop table {name} cascade")


def read(data: Any, text: TextFormat | None = None) -> dict[str, list[str | None]]:
    """Return all cells as DuckDB holds them, as text, and what tells people apart."""
    with open_source(data, text=text or TextFormat()) as source:
        rows = source.rows().to_native()
        shown = ", ".join(f'"{name}"::varchar' for name in rows.columns)
        found = rows.project(shown).fetchall()
        return dict(zip(rows.columns, map(list, zip(*found, strict=True)), strict=True))


CELLS: dict[str, tuple[list[str], list[str | None]]] = {
    "boolean": (["true", "false"], ["true", "false"]),
    "smallint": (["-32768"], ["-32768"]),
    "bigint": (["9223372036854775807"], ["9223372036854775807"]),
    "real": (["'NaN'", "1e-40", "'-Infinity'", "0.1"], [None, "1e-40", "-inf", "0.1"]),
    "double precision": (
        ["'NaN'", "5e-324", "1.7976931348623157e308", "'-0'", "0.1"],
        [None, "5e-324", "1.7976931348623157e+308", "-0.0", "0.1"],
    ),
    "numeric(38, 2)": (["'NaN'", "-0.05", "999e33"], [None, "-0.05", f"999{'0' * 33}.00"]),
    "numeric": (
        ["'NaN'", "1e131071", "-1e400", "1e-400", "'Infinity'", "2.50"],
        [None, "inf", "-inf", "0.0", "inf", "2.5"],
    ),
    "numeric(4, -2)": (["1234"], ["1200.0"]),
    "date": (
        ["'infinity'", "'-infinity'", "'4713-01-01 BC'", "'5874897-12-31'", "'2026-11-15'"],
        ["infinity", "-infinity", "4713-01-01 (BC)", "5874897-12-31", "2026-11-15"],
    ),
    # Of the last 29 years that the server tells, nobody else does.
    "timestamp": (
        [
            *("'infinity'", "'4713-01-01 BC'", "'294247-01-10 04:00:54.775806'"),
            *("'294247-01-10 04:00:54.775807'", "'294276-12-31'", "'2026-11-15 12:00:00.000001'"),
        ],
        [
            *("infinity", "4713-01-01 (BC) 00:00:00", "294247-01-10 04:00:54.775806"),
            *(None, None, "2026-11-15 12:00:00.000001"),
        ],
    ),
    "timestamptz": (["'2026-11-15 00:30+05'"], ["2026-11-14 19:30:00+00"]),
    "bytea": (["'\\x00ff5c0a'", "''"], ["\\x00\\xFF\\x5C\\x0A", ""]),
    "text": (
        [r"E'a\tb\\n\nc\\\\\r\b\f\x0B\\'", r"'\N'", "''", "'x '", "'ä🙂'"],
        ["a\tb\\n\nc\\\\\r\b\f\x0b\\", "\\N", "", "x ", "ä🙂"],
    ),
    "char(3)": (["'a'"], ["a"]),
    "uuid": (["'A0EEBC999C0B4EF8BB6D6BB9BD380A11'"], ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    "jsonb": (["""'{"a":  1}'"""], ['{"a": 1}']),
    "integer[]": (["'{1}'"], [None]),
    "interval": (["'1 day'"], [None]),
}


@pytest.mark.parametrize("kind", CELLS)
def test_postgresql_cells(kind: str) -> None:
    """Each cell comes over as it is, however far out; what cannot be told is missing."""
    cells, told = CELLS[kind]
    with made("t", f"create table t (c {kind})", f"insert into t values ({'), ('.join(cells)})"):
        shared().run("insert into t values (null)")
        assert read(connection().table("t"))["c"] == [*told, None]


@pytest.mark.parametrize("kind", ["integer[]", "interval", "inet"])
def test_postgresql_types_that_no_query_takes(kind: str) -> None:
    """They are refused as what has no name here, not as something that they are not."""
    with (
        made("t", f"create table t (id integer, c {kind})") as t,
        pytest.raises(hn.InvalidParameterError, match="the column 'c' holds Unknown, not"),
    ):
        Scale([q.Count("c")]).totals(t)


def test_postgresql_numbers_are_people() -> None:
    """Numbers without end tell people apart to the last digit; 2.5 and 2.50 are one person."""
    cells = "('NaN'), (1e400), (1e400 + 1), (2.5), (2.50), ('Infinity'), (null)"
    with made("t", "create table t (id numeric, a boolean)", f"insert into t values {cells}") as t:
        assert Scale([q.Count("a")]).people(t) == 4


def test_postgresql_text_is_compared_letter_by_letter() -> None:
    """A collation for which a, A and á are one makes them neither one person nor one group."""
    rows = "select w collate halfnoise_loose as id, w collate halfnoise_loose as c"
    rows += " from (values ('a'), ('A'), ('á'), ('a ')) t(w)"
    with made("t", f"create table t as {rows}") as t:
        assert LOOSE in rows
        ((same,),) = connection().con.execute("select count(distinct id) from t").fetchall()
        assert same == 2  # to the server
        exact = Scale([q.Choice("c", ["a", "A", "á"])]).totals(t)
        assert int(exact.everyone[0]) == 4
        by_group = Scale([q.Count("c", equals="A")], by="c", groups=["a", "A", "á"]).totals(t)
        assert by_group.people.tolist() == [2, 1, 1, 0]


def test_postgresql_days_are_those_of_utc() -> None:
    """Whatever zone the session has, the day of a moment is the one in UTC."""
    rows = "select 1 as id, timestamptz '2026-11-15 00:30+05' as t"
    with made("t", f"create table t as {rows}") as t:
        late = Scale([q.Count("t", at_least="2026-11-15")])
        own = connection().con
        for zone in ("Asia/Tokyo", "America/New_York", "UTC"):
            own.execute(f"set timezone = '{zone}'")
            assert int(late.totals(t).sums[0][0, 0]) == 0
        own.execute("set timezone = 'UTC'")


def test_postgresql_totals_are_of_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What others write while rows are copied is in no total."""
    pour = postgresql._lines
    written: list[int] = []

    def writes(blocks: Any) -> Iterator[str]:
        for lines in pour(blocks):
            shared().run("delete from t where id > 10")
            written.append(len(lines))
            yield lines

    monkeypatch.setattr(postgresql, "_lines", writes)
    monkeypatch.setattr(postgresql, "_AT_ONCE", 100)
    for address in (False, True):
        with made("t", f"create table t as {ROWS}") as t:
            data: Any = shared().url() if address else t
            with open_source(data, text=TextFormat(table="t" if address else None)) as source:
                exact = prepared(source, ITEMS.workload, ITEMS.grid.blocks, ["id"])()
        (counts, items), (number,) = exact.sums, exact.everyone
        quantum = ITEMS.grid.blocks[1].quantum
        assert int(counts[0, 0]) == int(number) == int(items[0, 0]) * quantum == CROWD
    assert len(written) > 4


def test_postgresql_leaves_a_connection_as_it_was() -> None:
    """A transaction of somebody's own goes on, and nothing that was set stays."""
    shown = "select current_setting('datestyle'), current_setting('extra_float_digits'), "
    shown += "current_setting('transaction_read_only'), count(*) from t"
    with made("t", f"create table t as {ROWS}") as t:
        own = connection().con
        with own.transaction():
            own.execute("set local datestyle = 'German'; set local extra_float_digits = 0")
            own.execute("insert into t values (0, true, 'x')")
            before = own.execute(shown).fetchall()
            assert ITEMS.people(t) == CROWD + 1
            assert own.execute(shown).fetchall() == before
        assert own.info.transaction_status == 0


def test_postgresql_cells_too_long_are_missing() -> None:
    """A text of many megabytes is missing, and what is beside it is not."""
    rows = "select 1 as id, true as a, repeat('x', 9000000) as i union all select 2, true, 'x'"
    with made("t", f"create table t as {rows}") as t:
        exact = ITEMS.totals(t)
        assert int(exact.everyone[0]) == int(exact.sums[0][0, 0]) == 2
        assert int(exact.sums[1][0, 0]) * ITEMS.grid.blocks[1].quantum == 1


def test_a_server_of_postgresql_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the server ends the connection, the same may work later, and nothing else is said."""
    pour = postgresql._lines

    def dies(blocks: Any) -> Iterator[str]:
        yield next(pour(blocks))
        shared().run(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'halfnoise' and pid <> pg_backend_pid()"
        )
        yield from pour(blocks)

    monkeypatch.setattr(postgresql, "_lines", dies)
    monkeypatch.setattr(postgresql, "_AT_ONCE", 2**16)
    big = ROWS.replace(str(CROWD), "1000000")
    with made("t", f"create table t as {big}"), pytest.raises(hn.TryAgainError, match="try again"):
        hn.release(
            shared().url(),
            [q.Count("a")],
            unit="id",
            privacy=SHARP,
            ledger=None,
            text=hn.TextFormat(table="t"),
        )


ASKED = ("--count", "a", "--unit", "id", "--mu", "1e6", "--no-ledger")


@pytest.mark.usefixtures("ledgers")
def test_postgresql_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is named by its address; its password is in no message and in no ledger."""
    word, ledger = "Kanarienvogel", tmp_path / "ledger.db"
    shared().run(f"create role reader login password '{word}'")
    url = f"postgresql://reader@127.0.0.1:{shared().port}/postgres"
    monkeypatch.setenv("PGPASSWORD", word)
    with made("visits", f"create table visits as {ROWS}"):
        shared().run("grant select (id, a) on visits to reader")
        where = (url, "--table", "visits")
        said = [run("release", *where, *ASKED)]
        assert said[0].table["a"] == CROWD
        init = ("ledger", "init", str(ledger), "--unit", "id", "--mu", "2e6", "--i-know")
        said += [run(*init)]
        own = (*where, *ASKED[:-1], "--ledger", str(ledger))
        said += [run(each, *own) for each in ("plan", "check", "release")]
        assert [each.status for each in said] == [0] * 5, said
        hidden = run("release", *where, "--count", "i", *ASKED[2:])
        assert "there is no column 'i'" in hidden.err  # this user may not read it
        none = run("release", *where, *ASKED[:-1])
        assert "what is on a server has no ledger beside it" in none.err
        monkeypatch.setenv("PGPASSWORD", "wrong")
        wrong = run("release", *where, *ASKED)
        assert wrong.status == 5
        told = run("release", url.replace("reader", f"reader:{word}"), *ASKED)
        assert told.status == 2
        assert "must hold no password" in told.err
        for each in (*said, hidden, wrong, told, none):
            assert word not in each.out + each.err
        assert word.encode() not in ledger.read_bytes()
        assert word not in Path("/proc/self/cmdline").read_text(encoding="utf-8")
    shared().run("drop role reader")


def test_postgresql_reads_tables_alone() -> None:
    """A view, which could fail on a row, is no table; nor is what others own."""
    url = shared().url()
    with made(
        "t",
        f"create table t as {ROWS}",
        "create view v as select 1 / 0 as id",
        "create materialized view m as select * from t",
        "create schema other",
        "create table other.t as select 7 as x",
    ):
        assert read(url, TextFormat(table="other.t")) == {"x": ["7"]}
        assert len(read(url, TextFormat(table="m"))["id"]) == CROWD
        assert len(read(url, TextFormat(table="public.t"))["id"]) == CROWD
        for name, said in (("v", "a view is no table"), (None, "has tables 'other.t', 'm', 't'")):
            with pytest.raises(hn.InvalidParameterError, match=said):
                read(url, TextFormat(table=name))
        with pytest.raises(hn.InvalidParameterError, match="delimiter must be left out"):
            read(url, TextFormat(table="t", delimiter=";"))
        with pytest.raises(hn.InvalidParameterError, match="one is released at a time"):
            read([url, url])
        shared().run("drop schema other cascade")


def test_postgresql_hides_no_row() -> None:
    """Where a policy hides rows from a user, nothing is released of those that are left."""
    with made(
        "t",
        f"create table t as {ROWS}",
        "alter table t enable row level security",
        "create role clerk login",
        "grant select on t to clerk",
        "create policy p on t to clerk using (id < 10)",
    ):
        assert len(read(shared().url(), TextFormat(table="t"))["id"]) == CROWD
        with pytest.raises(hn.DataError, match="a policy hides rows"):
            read(shared().url("clerk"), TextFormat(table="t"))
    shared().run("drop role clerk")


def test_postgresql_in_another_encoding_is_refused() -> None:
    """Bytes that nobody checked could be no text, and fail everything."""
    shared().run("create database bytes encoding 'SQL_ASCII' template template0")
    url = shared().url().replace("/postgres?", "/bytes?")
    with pytest.raises(hn.NotSupportedError, match="in UTF8"):
        read(url, TextFormat(table="t"))


def test_postgresql_in_threads() -> None:
    """Several releases at once, on one connection, each have all rows."""
    found: list[int] = []
    with made("t", f"create table t as {ROWS}") as t:
        threads = [threading.Thread(target=lambda: found.append(ITEMS.people(t))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [CROWD] * 3
