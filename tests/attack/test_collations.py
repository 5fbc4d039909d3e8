"""Text that an engine takes for equal: no lookup may multiply rows, and no key be two."""

import warnings
from pathlib import Path
from typing import Any

import duckdb
import ibis
import narwhals as nw
import pytest

import halfnoise as hn
from support import engines
from support.loss import Scale
from support.soak import SOAKS

q: Any = hn  # queries also take lists and expressions, which their annotations do not say

SPELLINGS = ["a", "A", "á", "Á", "b"]
MANY = [("p", spelling) for spelling in SPELLINGS]


def rows(people: list[tuple[str, str]], collation: str) -> str:
    """Return a query for rows whose text columns, also inside of a struct, have a collation."""
    listed = ", ".join(f"('{who}', '{cell}')" for who, cell in people) or "(null, null)"
    same = f"c{collation}"
    return (
        f"select id{collation} as id, {same} as c, {same} as i, struct_pack(f := {same}) as s"
        f" from (values {listed}) t(id, c)"
    )


def on_columns(people: list[tuple[str, str]], _: Path) -> Any:
    """Return a relation whose columns have a collation."""
    return duckdb.connect().sql(rows(people, " collate noaccent.nocase"))


def by_default(people: list[tuple[str, str]], _: Path) -> Any:
    """Return a relation of a connection that compares otherwise by default."""
    connection = duckdb.connect()
    connection.execute("set default_collation = 'noaccent.nocase'")
    return connection.sql(rows(people, ""))


def attached(people: list[tuple[str, str]], folder: Path) -> Any:
    """Return a table of another database, attached to a connection."""
    path = folder / f"{len(list(folder.iterdir()))}.db"
    with duckdb.connect(path) as other:
        other.execute("create table t (id varchar collate nocase, c varchar collate nocase)")
        other.executemany("insert into t values (?, ?)", people or [(None, None)])
    connection = duckdb.connect()
    connection.execute(f"attach '{path}' as other (read_only)")
    return connection.sql("select *, c as i, struct_pack(f := c) as s from other.t")


def in_ibis(people: list[tuple[str, str]], _: Path, collation: str = " collate nocase") -> Any:
    """Return a table of Ibis over DuckDB."""
    schema = {"id": "string", "c": "string", "i": "string", "s": "struct<f: string>"}
    connection = ibis.duckdb.connect()
    if not collation:
        connection.raw_sql("set default_collation = 'noaccent.nocase'")
    return connection.sql(rows(people, collation), schema=ibis.schema(schema))


MAKERS: dict[str, Any] = {
    "duckdb columns": on_columns,
    "duckdb default": by_default,
    "duckdb attached": attached,
    "ibis columns": in_ibis,
    "ibis default": lambda people, folder: in_ibis(people, folder, ""),
}
FIELD = nw.col("s").struct.field("f")
SCALES = {
    "choice": Scale([q.Choice("c", SPELLINGS)], hn.PureDP(epsilon=1)),
    "choice of a field": Scale([q.Choice(FIELD, SPELLINGS, name="f")]),
    "table": Scale([q.Table([q.Choice("c", SPELLINGS), q.Choice("i", SPELLINGS)])]),
    "items": Scale([q.Items("i", SPELLINGS, at_most=1)]),
    "groups": Scale([q.Count("c", equals="a")], by="c", groups=SPELLINGS[:4]),
    "two groups": Scale([q.Count("c", equals="a")], by="c", groups=SPELLINGS, max_groups=2),
}
SOME_SCALES = ("choice", "table", "two groups")


# All kinds of lookup where the rows are and in a copy; the others lead there, as some kinds show.
ASKED = {made: SCALES if made.startswith("duckdb c") or SOAKS else SOME_SCALES for made in MAKERS}
ASKED["duckdb default"] = SCALES


@pytest.mark.parametrize(("made", "asked"), [(m, a) for m, some in ASKED.items() for a in some])
def test_no_lookup_multiplies_rows(made: str, asked: str, tmp_path: Path) -> None:
    """One person more, with a row that is spelled in one way or in all, costs what is declared."""
    make, scale = MAKERS[made], SCALES[asked]
    others = [("q", "a"), ("r", "Á")]
    without = scale.totals(make(others, tmp_path))
    for own in ([("p", "A")], MANY, [("Q", "b")]):
        assert scale.excess(without, make([*others, *own], tmp_path)) <= 1
    assert scale.people(make([("p", "a"), ("P", "a"), ("p", "A")], tmp_path)) == 2


def test_no_lookup_of_spark_multiplies_rows() -> None:
    """The same in Spark 4, whose columns and fields of structs may have collations."""
    session = engines.spark_session()

    def make(people: list[tuple[str, str]], collation: str) -> Any:
        listed = ", ".join(f"('{who}', '{cell}')" for who, cell in people)
        c = f"c collate {collation}"
        query = f"select id collate {collation} id, {c} c, {c} i, named_struct('f', {c}) s"
        return session.sql(f"{query} from values {listed} t(id, c)")

    others = [("q", "a"), ("r", "Á")]
    scale = Scale(
        [
            q.Choice("c", SPELLINGS),
            q.Choice(FIELD, SPELLINGS, name="f"),
            q.Items("i", SPELLINGS, at_most=1),
            q.Table([q.Choice("i", SPELLINGS, name="x"), q.Choice(FIELD, SPELLINGS, name="y")]),
        ]
    )
    assert scale.excess(make(others, "UTF8_LCASE"), make([*others, *MANY], "UTF8_LCASE")) <= 1
    again = make([*others, ("Q", "a"), ("q ", "a")], "UTF8_BINARY_RTRIM")
    assert SCALES["groups"].people(again) == 4


def test_other_engines_below_ibis_are_refused() -> None:
    """What is not known to compare text letter by letter is refused, before a row is read."""
    table = ibis.sqlite.connect().create_table(
        "t", schema=ibis.schema({"id": "string", "c": "string"})
    )
    with pytest.raises(hn.InvalidParameterError, match="of Ibis it reads DuckDB, "):
        hn.release(table, [q.Count("c")], unit="id", privacy=hn.GaussianDP(mu=1))


def test_ibis_over_spark_is_spark() -> None:
    """A table of Ibis over PySpark is read as the frame that it stands for."""
    session = engines.spark_session()
    zone = session.conf.get("spark.sql.session.timeZone")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it doubts pandas 3.0, which nothing here touches
        backend = ibis.pyspark.connect(session)
    try:
        session.sql(
            "select c collate UTF8_LCASE as id, c collate UTF8_LCASE as c,"
            " c collate UTF8_LCASE as i from values ('a'), ('A'), ('b'), (null),"
            " (cast(unhex('FF') as string)) t(c)"
        ).createOrReplaceTempView("halfnoise_test")
        schema = ibis.schema({"id": "string", "c": "string", "i": "string"})
        table = backend.sql("select * from halfnoise_test", schema=schema)
        exact = SCALES["items"].totals(table)
        assert int(exact.everyone[0]) == 3
        assert [int(x) // 2**16 for x in exact.sums[0][0]] == [1, 1, 0, 0, 1]
    finally:
        session.conf.set("spark.sql.session.timeZone", zone)
