"""Tables of DuckDB files with their types, tables of SQLite files as text."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import pytest

import halfnoise as hn
from halfnoise.data.sources import databases, fetch, open_source, plain_cells, poured
from halfnoise.data.sources.source import TextFormat


def rows(data: object, *columns: str, **text: Any) -> list[tuple[Any, ...]]:
    """Return the rows of some columns, or of all."""
    with open_source(data, text=TextFormat(**text)) as source:
        source.fill()
        wanted = [*(columns or source.columns)]
        frame = source.of(wanted).rows(wanted)
        return fetch(frame.select(*(source.names[column] for column in wanted)))


def refused(data: object, **text: Any) -> str:
    """Return the sentence with which a file is refused."""
    with pytest.raises(hn.HalfnoiseError) as caught:
        rows(data, **text)
    assert caught.value.__cause__ is None
    return str(caught.value)


def in_sqlite(path: Path, *statements: str) -> Path:
    """Write a database of SQLite."""
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    return path


def in_duckdb(path: Path, *statements: str) -> Path:
    """Write a database of DuckDB."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


CELLS = {
    "7": "7",
    "-9223372036854775808": "-9223372036854775808",
    "7.0": "7",
    "0.1": "0.1",
    "-0.0": "0",
    "9e999": "inf",
    "1e22": "10000000000000000000000",
    "'7.0'": "7.0",
    "' a\nb '": " a\nb ",
    "'ä'": "ä",
    "''": None,
    "null": None,
    "x'61'": None,
    "cast(x'61ff' as text)": None,
    "cast(x'610062' as text)": None,
    "cast(x'eda080' as text)": None,
}


@pytest.mark.parametrize("rules", ["", " strict", " without rowid"])
def test_each_cell_of_sqlite_is_text(rules: str, tmp_path: Path) -> None:
    """What is no text is missing; a table of any kind and any names is read, and none fails it."""
    kind = " any" if rules == " strict" else ""
    table = f'create table "odd ""name" ("k" integer primary key, "a b"{kind}){rules}'
    cells = ", ".join(f"({i}, {cell})" for i, cell in enumerate(CELLS))
    path = in_sqlite(tmp_path / "a.sqlite", table, f'insert into "odd ""name" values {cells}')
    assert sorted(rows(path), key=lambda row: int(row[0])) == [
        (str(i), text) for i, text in enumerate(CELLS.values())
    ]
    comma = dict(rows(path, table='odd "name', decimal=","))
    assert (comma["3"], comma["7"]) == ("0,1", "7.0")
    with open_source(path, text=TextFormat()) as source:
        assert source.counted
        assert set(source.dtypes.values()) == {nw.String()}
        assert source.text.table == 'odd "name'


def test_many_rows_of_sqlite(tmp_path: Path) -> None:
    """All rows are there, also where they come in several parts."""
    numbers = "with recursive n(i) as (values(1) union all select i + 1 from n where i < 9000)"
    path = in_sqlite(tmp_path / "a.db", "create table t (a, b)",
                     f"insert into t {numbers} select i, null from n")  # fmt: skip
    assert rows(path, "b", "a") == [(None, str(i)) for i in range(1, 9001)]


def test_people_of_sqlite(tmp_path: Path) -> None:
    """A person is who the text of a cell says: 1, 1.0 and '1' are one, and '1.0' is another."""
    path = in_sqlite(tmp_path / "a.db", "create table t (id, a)",
                     "insert into t values (1, 1), (1.0, 1), ('1', 1), ('1.0', 1), (x'31', 1)",
                     "insert into t values (2, 1), (' ', 1), (null, 1), (2.5, 1)")  # fmt: skip
    sharp: Any = {"privacy": hn.GaussianDP(mu=1e6), "i_know": True, "ledger": None}
    release = hn.release(path, [hn.Count("a")], unit="id", **sharp)
    assert round(release["a"].estimate) == 4


def test_a_name_of_two_tables_is_refused(tmp_path: Path) -> None:
    """Dots in names can lead to two tables; one that no other can be called is read by it."""
    duck = in_duckdb(tmp_path / "d.duckdb", "create schema a", 'create table "a.b" as select 1 x',
                     "create table a.b as select 2 x", 'create table "main.q" as select 3 x',
                     "create table q as select 4 x")  # fmt: skip
    lite = in_sqlite(tmp_path / "a.db", 'create table "main.q" (x)', "create table q (x)",
                     'insert into "main.q" values (3)', "insert into q values (4)")  # fmt: skip
    both = """has two tables that can be meant by 'a.b', "a"."b" and "main"."a.b"; rename"""
    assert both in refused(duck, table="a.b")
    assert rows(duck, table="main.a.b") == [(1,)]
    for path, three, four in ((duck, 3, 4), (lite, "3", "4")):
        assert "two tables that can be meant by 'main.q'" in refused(path, table="main.q")
        assert rows(path, table="q") == [(four,)]
        assert rows(path, table="main.main.q") == [(three,)]
        with open_source(path, text=TextFormat(table="main.main.q")) as source:
            assert source.text.table == "main.main.q"


def test_only_tables_are_read(tmp_path: Path) -> None:
    """Views, virtual tables and columns that are worked out are not there, and nothing runs."""
    (secret := tmp_path / "secret.csv").write_text("s\n1\n", encoding="utf-8")
    lite = in_sqlite(tmp_path / "a.sqlite3", "create table t (a, s as (a) stored)",
                     "insert into t (a) values ('{')", "alter table t add column g as (json(a))",
                     "create view v as select 1 as a",
                     "create virtual table f using fts5(a)")  # fmt: skip
    duck = in_duckdb(tmp_path / "a.duckdb", f"create view v as select * from '{secret}'",
                     "create table t (a varchar, g varchar as (upper(a)))",
                     "insert into t values ('x')", "create schema other",
                     "create table other.t as select 1 as b")  # fmt: skip
    secret.unlink()
    assert rows(lite, table="t") == [("{", "{")]
    assert rows(duck, table="t") == rows(duck, table="main.t") == [("x",)]
    assert rows(duck, table="other.t") == [(1,)]
    for path in (lite, duck):
        assert "a view is no table" in refused(path, table="v")
        assert "has tables" in refused(path)
        assert "'t'" in refused(path)
        assert "did you mean 't'?" in refused(path, table="tt")
    assert "'f'" not in refused(lite).replace("'f_", "")
    assert "has no table" in refused(in_sqlite(tmp_path / "b.db", "create view v as select 1"))


def test_types_of_duckdb(tmp_path: Path) -> None:
    """Columns keep their types, text is compared letter by letter, and no cell fails."""
    path = in_duckdb(
        tmp_path / "a.db",
        "create table t (i int, d double, s varchar collate nocase, m timestamp_ns, e enum('x'))",
        "insert into t values (1, 'nan', 'A', '2026-11-15', 'x'), (2, 'inf', 'a', null, null)",
    )
    with open_source(path, text=TextFormat()) as source:
        assert source.counted
        assert source.text.table == "t"
        assert source.dtypes["i"] == nw.Int32
        assert [*source.ids] == ["m"]
        asked = "select current_setting('enable_external_access')"
        assert source.frame.to_native().query("t", asked).fetchall() == [(False,)]
        assert len(fetch(source.rows().select(nw.col("s")).unique())) == 2
    assert rows(path, "i", "d", "e") == [(1, None, "x"), (2, float("inf"), None)]


def test_a_type_that_no_query_takes(tmp_path: Path) -> None:
    """It is refused as what has no name here, not as something that it is not."""
    path = in_duckdb(tmp_path / "a.db", "create table t (m map(varchar, double))")
    with pytest.raises(hn.InvalidParameterError, match="the column 'm' holds Unknown, not"):
        hn.release(path, [hn.Count("m")], row_is_person=True, privacy=hn.GaussianDP(mu=1))


def test_a_database_that_is_open_elsewhere(tmp_path: Path) -> None:
    """Where somebody may write, the same may work later; in SQLite a reader sees one moment."""
    duck = in_duckdb(tmp_path / "a.duckdb", "create table t as select 1 as a")
    with duckdb.connect(str(duck)), pytest.raises(hn.TryAgainError, match="is open elsewhere"):
        rows(duck)
    assert rows(duck) == [(1,)]
    lite = in_sqlite(tmp_path / "a.sqlite", "pragma journal_mode = wal", "create table t (a)")
    writer = sqlite3.connect(lite)
    writer.execute("insert into t values (1)")
    assert rows(lite) == []
    writer.commit()
    assert rows(lite) == [("1",)]
    writer.close()


def test_a_copy_without_its_log(tmp_path: Path) -> None:
    """A file of SQLite may hold no table yet, as all is in its log: then that is to be copied."""
    writer = sqlite3.connect(tmp_path / "a.sqlite")
    writer.execute("pragma journal_mode = wal")
    writer.execute("create table t (a)")
    writer.commit()
    alone = shutil.copy(tmp_path / "a.sqlite", tmp_path / "b.sqlite")
    assert "copy b.sqlite-wal too" in refused(alone)
    for end in ("", "-wal"):
        shutil.copy(tmp_path / f"a.sqlite{end}", tmp_path / f"c.sqlite{end}")
    assert rows(tmp_path / "c.sqlite") == []
    writer.close()
    assert "has no table; say which one" in refused(in_sqlite(tmp_path / "d.sqlite", "vacuum"))


def test_files_that_are_no_databases(tmp_path: Path) -> None:
    """What is damaged, of another kind, or said where it is not looked at is refused in words."""
    whole = in_duckdb(tmp_path / "a.duckdb", "create table t as select 1 as a").read_bytes()
    lite = in_sqlite(tmp_path / "a.sqlite", "create table t (a)").read_bytes()
    for ending in (".duckdb", ".db", ".sqlite"):
        for content in (whole[:5000], lite[:2000], b"a,b\n1,2\n", whole[:20], b"SQLite format 3\0"):
            (path := tmp_path / f"bad{ending}").write_bytes(content)
            assert "bad" in refused(path)
    for name in ("a.duckdb", "a.sqlite"):
        for said in ({"sheet": "x"}, {"names": ["a"]}, {"skip": 1}, {"encoding": "latin-1"}):
            assert f"{next(iter(said))} must be left out" in refused(tmp_path / name, **said)
    assert "one is released at a time" in refused([tmp_path / "a.duckdb", tmp_path / "bad.duckdb"])
    (text := tmp_path / "a.csv").write_text("a\n1\n", encoding="utf-8")
    assert "table must be left out" in refused(text, table="t")
    for wrong in (1, ""):
        with pytest.raises(hn.InvalidParameterError, match="table must be the name"):
            TextFormat(table=wrong)  # type: ignore[arg-type]


def test_long_texts_of_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that is too long is missing, as is a row; the others are read, few at once."""
    for module in (plain_cells, poured, databases):
        monkeypatch.setattr(module, "LONGEST", 8)
    monkeypatch.setattr(poured, "_TEXT_AT_ONCE", 16)
    fetched, held = list[bytes](), list[int]()

    def decoded(text: bytes) -> str:
        fetched.append(text)
        return text.decode()

    def batches(coming: poured.Texts) -> Iterator[list[Any]]:
        for some in whole(coming):
            held.append(len(some))
            yield some

    whole = poured._batches
    monkeypatch.setattr(databases, "_decoded", decoded)
    monkeypatch.setattr(poured, "_batches", batches)
    texts = ["\U0001f642" * 8, "\U0001f642" * 9, "x" * 9, "\x01" * 8, "y" * 5]
    cells = [(f"{i}", text) for i, text in enumerate(texts)] + [(f"{i}", "z" * 5) for i in range(9)]
    path = in_sqlite(tmp_path / "a.db", "create table t (id, a)")
    with sqlite3.connect(path) as database:
        database.executemany("insert into t values (?, ?)", cells)
        database.execute("insert into t values ('longlong', 'long'), ('b', zeroblob(3))")
    database.close()
    known = [None, None, None, None, *("y" * 5, *["z" * 5] * 9)]
    ids = [None, "1", "2", None, "4", *map(str, range(9))]
    assert rows(path) == [*zip(ids, known, strict=True), (None, None), ("b", None)]
    assert texts[1].encode() not in fetched
    assert max(held) < 8
