"""No cell changes how others are read: neither a column's type, nor what a file says of it."""

import enum
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfnoise as hn
from halfnoise.data import lookup
from support.loss import Scale, exact_totals
from support.soak import SOAKS

q: Any = hn  # queries also take lists and expressions, which their annotations do not say
c = nw.col
NAN = math.nan
CROWD = 300


def crowd(**added: int) -> pd.DataFrame:
    """Return people who all answer 1, 7, 2 and a large number, and perhaps one who is added."""
    all_say = {"a": 1, "k": 7, "b": 2, "big": 2**53 + 1}
    columns = {name: [said] * CROWD for name, said in all_say.items()}
    for name, cells in columns.items() if added else ():
        cells.append(added.get(name, all_say[name]))
    return pd.DataFrame({"id": range(len(columns["a"]))} | columns).astype(np.int64)


SOME = nw.when(c("a") > 0).then(c("k"))
REST = nw.when(c("b") != 0).then(c("k") % c("b"))  # by zero, DuckDB would fail
LARGE = nw.when(c("a") > 0).then(c("big"))
IN_ROWS = {
    "text of some": [q.Count(SOME.cast(nw.String).str.len_chars() == 1, name="q")],
    "joined text": [q.Choice(nw.concat_str([nw.lit("k"), SOME.cast(nw.String)]), ["k7"], name="q")],
    "items of text": [q.Items(SOME.cast(nw.String), ["7", "8"], at_most=1, name="q")],
    "large numbers": [q.Items(LARGE, [2**53 + 1, 5], at_most=1, name="q")],
    "largest of two": [q.Items(nw.max_horizontal(LARGE, c("a")), [2**53 + 1], name="q")],
    "whole parts": [q.Count((c("k") // c("b")).cast(nw.String) == "3", name="q")],
    "remainders": [q.Count(REST.cast(nw.String) == "1", name="q")],
    "yes or nothing": [q.Count(nw.when(c("a") > 0).then(nw.lit(value=True)), name="q")],
    "compared": [q.Count(nw.when(c("a") > 0).then(c("k") > 2), name="q")],
    "replaced": [q.Count(c("a").replace_strict([1], [True], default=None), name="q")],
    "roots": [q.Count((c("a") - 2).sqrt() > 1, name="q")],
}


@pytest.mark.parametrize("asked", IN_ROWS)
def test_expressions_of_pandas_look_at_one_row(asked: str) -> None:
    """A cell for which an expression has no value leaves the type of all others as it is."""
    scale = Scale(IN_ROWS[asked])
    with np.errstate(all="raise"):  # as users may have it
        without = scale.totals(crowd())
        for added in ({"a": 0}, {"b": 0}, {"a": -4}):
            assert scale.excess(without, crowd(**added)) <= 1, added


class Color(str, enum.Enum):  # noqa: UP042  # as people write it, whose text is "Color.RED"
    """Text that shows itself in another way."""

    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize("odd", [7, "\ud800", b"\xff", None, object()])
def test_text_of_another_kind_stays_text(odd: object) -> None:
    """What is derived from text is that text, whatever else is in its column."""

    def made(*cells: object) -> pd.DataFrame:
        column = pd.Series([Color.RED] * CROWD + list(cells), dtype=object)
        return pd.DataFrame({"id": range(len(column)), "c": column})

    for scale in (
        Scale([q.Choice("c", ["red", "blue"])]),
        Scale([q.Items("c", ["red", "blue"], at_most=1)]),
        Scale([q.Count("c", true=["red"])], by="c", groups=["red", "blue"]),
    ):
        assert scale.excess(made(), made(odd)) <= 1
    ids = pd.Series([Color.RED, "red", Color.BLUE, "blue"], dtype=object)
    more = pd.Series([*ids, odd], dtype=object)
    frames = [pd.DataFrame({"id": each, "c": "x"}) for each in (ids, more)]
    count = Scale([q.Count("c")])
    assert count.people(frames[0]) == 2
    assert count.people(frames[1]) == 2 + (odd in (7, b"\xff"))


def of_arrow(table: pa.Table, path: Path) -> Path:
    """Write a file whose statistics leave NaN out."""
    pq.write_table(table, path)
    return path


def of_polars(table: pa.Table, path: Path) -> Path:
    """Write the same with Polars."""
    found = pl.from_arrow(table)
    assert isinstance(found, pl.DataFrame)
    found.write_parquet(path, statistics=True)
    return path


READERS: dict[str, Callable[[Path], Any]] = {
    "file": lambda path: path,
    "duckdb": lambda path: duckdb.connect().read_parquet(str(path)),
    "ibis": lambda path: ibis.duckdb.connect().sql(
        f"from '{path}'", schema=ibis.Schema.from_pyarrow(pq.read_schema(path))
    ),
}
NUMBERS = {
    "sum": Scale([q.Sum("x", bounds=(0, 10))]),
    "mean": Scale([q.Mean("x", bounds=(0, 10))]),
    "at least": Scale([q.Count("x", at_least=0)]),
    "below": Scale([q.Count("x", below=5)]),
    "bins": Scale([q.Bins("x", [0, 5])]),
    "choice": Scale([q.Choice("x", [1, 2])]),
    "groups": Scale([q.Count("a")], by="x", groups=[1, 2]),
    "where": Scale([q.Count("a")], where=hn.Where("x", at_least=-1)),
    "expression": Scale([q.Count(c("x") < 5, name="q")]),
    "not a number": Scale([q.Count(~c("x").is_nan(), name="q")]),
    "items and count": Scale([q.Count("a"), q.Items("x", [1, 2])]),
}


# Relations see what a file says as it does itself: of one writer each, of both in a soak.
WRITTEN = [
    (reader, write, kind)
    for reader in READERS
    for write in (of_arrow, of_polars)
    for kind in (pa.float64(), pa.float32())
    if SOAKS or reader == "file" or (write is of_arrow) == (kind == pa.float64())
]


@pytest.mark.parametrize(("reader", "write", "kind"), WRITTEN)
def test_what_a_file_says_of_its_numbers_is_not_believed(
    reader: str, write: Callable[[pa.Table, Path], Path], kind: pa.DataType, tmp_path: Path
) -> None:
    """DuckDB takes a column for free of NaN if one number more gives it a range."""

    def made(name: str, *cells: float) -> Any:
        x = pa.array([1.0] + [NAN] * CROWD + list(cells), kind)
        table = pa.table({"id": range(len(x)), "x": x, "a": [True] * len(x)})
        return READERS[reader](write(table, tmp_path / f"{name}.parquet"))

    one, other = made("one"), made("other", 2.0)
    for name, scale in NUMBERS.items():
        assert scale.excess(one, other) <= 1, name


@pytest.mark.parametrize("reader", READERS)
def test_not_a_number_names_nobody_whatever_a_file_says(reader: str, tmp_path: Path) -> None:
    """The same for ids."""
    count = Scale([q.Count("a")])
    for ids in ([1.0, NAN, NAN], [1.0, 0.0, NAN, NAN]):
        table = pa.table({"id": ids, "a": [True] * len(ids)})
        data = READERS[reader](of_arrow(table, tmp_path / "ids.parquet"))
        assert count.people(data) == len(ids) - 2


@pytest.mark.parametrize("reader", READERS)
def test_numbers_within_other_types_are_refused(reader: str, tmp_path: Path) -> None:
    """There NaN cannot be kept apart, so no expression sees them."""
    cells = [1.0, 2.0, NAN]
    table = pa.table({"id": range(3), "s": [{"x": x} for x in cells], "l": [[x] for x in cells]})
    data = READERS[reader](of_arrow(table, tmp_path / "nested.parquet"))
    for within in (c("s").struct.field("x") < 5, c("l").list.get(0) < 5):
        with pytest.raises(hn.HalfnoiseError):
            Scale([q.Count(within, name="q")]).totals(data)


def relation(query: str, *before: str) -> Any:
    """Return a relation of a connection of its own."""
    connection = duckdb.connect()
    for each in before:
        connection.execute(each)
    return connection.sql(query)


def test_columns_that_duckdb_takes_for_one_are_refused() -> None:
    """The unit would be read from another column than the one that is named."""
    tables = "create table a as select i as id from range(9) r(i)"
    others = 'create table b as select 7 as "ID", i as k, true as x from range(9) r(i)'
    both = relation("select * from a join b on a.id = b.k", tables, others)
    with pytest.raises(hn.InvalidParameterError, match="takes two columns for one, 'id'"):
        Scale([q.Count("x")]).totals(both)


def test_a_column_called_like_ours_is_refused(tmp_path: Path) -> None:
    """It would tell people apart in place of the unit."""
    table = pa.table({"id": [7] * 9, "hn_id_id": range(9), "a": [True] * 9})
    count = Scale([q.Count("a")])
    for reader in READERS.values():
        with pytest.raises(hn.InvalidParameterError, match="'hn_id_id' is called as only"):
            count.totals(reader(of_arrow(table, tmp_path / "t.parquet")))
    assert count.people(table) == count.people(table.to_pandas()) == 1


def test_a_table_of_the_users_is_not_taken_for_our_list() -> None:
    """Lists have a name that nobody can have given to a table, and leave none behind."""
    before = set(vars(lookup))
    listed = "'a' as hn0_text_listed, 1 as hn0_text_rank, 0 as hn_place"
    theirs = f"create table halfnoise_listed_values as select {listed} from range(7)"
    data = relation("select 'a' as c, range as id from range(10)", theirs)
    assert Scale([q.Choice("c", ["a", "b"])]).totals(data).sums[0].tolist() == [[10, 0, 0]]
    assert set(vars(lookup)) == before


def test_a_column_by_its_place_is_refused() -> None:
    """Inside, columns of ours may stand between those of the table."""
    with pytest.raises(hn.InvalidParameterError, match="looks at more than one row"):
        Scale([q.Count(nw.nth(1) == 1, name="q")]).totals(crowd())


@pytest.mark.parametrize("name", ["a.b", "A", "größe"])
def test_an_expression_names_plain_columns(name: str) -> None:
    """A column that has another name inside is refused, not looked for in vain."""
    table = pa.table({"id": [1], "a": [1], name: [1]})
    with pytest.raises(hn.InvalidParameterError, match=f"rename the column '{name}'"):
        Scale([q.Count(c(name) == 1, name="q")]).totals(table)
    with pytest.raises(hn.InvalidParameterError, match="there is no column 'b'; the table has"):
        Scale([q.Count(c("b") == 1, name="q")]).totals(table)


def test_an_expression_on_json_lines(tmp_path: Path) -> None:
    """Its columns are among those that are taken from each line."""
    (path := tmp_path / "a.jsonl").write_text('{"id": 1, "x": "a"}\n{"id": 2}\n', encoding="utf-8")
    scale = Scale([q.Count(c("x") == "a", name="q")])
    assert scale.totals(path).sums[0].tolist() == [[1]]


def answers(cells: list[Any], dtype: Any = None) -> pd.DataFrame:
    """Return answers as pandas holds them."""
    return pd.DataFrame({"id": range(len(cells)), "c": pd.Series(cells, dtype=dtype)})


@pytest.mark.parametrize("word", ["true", "TRUE", "yes", "no", "False", "t", "1", True])
def test_yes_and_no_among_objects(word: Any) -> None:
    """One missing answer turns a column of yes and no into objects, compared as before."""
    cells: list[Any] = [True] * CROWD + [False] * CROWD
    for query in (
        q.Count("c", true=[word]),
        q.Choice("c", [word, "x"]),
        q.Mean("c", bounds=(0, 1), missing=[word]),
        q.Count("c", where=hn.Where("c", equals=word)),
    ):
        assert Scale([query]).excess(answers(cells), answers([*cells, None])) <= 1, query


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_bytes_that_are_no_text_however_text_is_stored(kind: pa.DataType) -> None:
    """They are missing, also in views."""
    bare = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}

    def made(*cells: bytes) -> pa.Table:
        stored = pa.array([b"a"] * 9 + list(cells), bare.get(kind, pa.binary_view()))
        return pa.table({"id": range(len(stored)), "c": stored.view(kind)})

    assert Scale([q.Choice("c", ["a", "b"])]).excess(made(), made(b"\xff")) <= 1


def test_text_within_cells_of_a_file_is_refused(tmp_path: Path) -> None:
    """What is no text there would fail all rows, and nothing can mend it."""
    table = pa.table({"id": [1], "s": [{"z": "ok"}]})
    within = Scale([q.Count(c("s").struct.field("z") == "ok", name="q")])
    with pytest.raises(hn.HalfnoiseError):
        within.totals(of_arrow(table, tmp_path / "t.parquet"))


def test_sparse_objects_are_objects() -> None:
    """Whether all of them are text or not, the column has one type."""
    count = Scale([q.Count("c")])
    for ids, people in ((["a", "b", "a"], 2), (["a", 1, "a"], 2), (["a", None, "a"], 1)):
        sparse = pd.arrays.SparseArray(ids, dtype=pd.SparseDtype(object, "a"))
        assert count.people(pd.DataFrame({"id": sparse, "c": True})) == people


@pytest.mark.parametrize("label", ["DOUBLE", "FLOAT", "STRUCT(x DOUBLE)", "it's a DOUBLE"])
def test_a_label_is_no_type(label: str) -> None:
    """An ENUM may have a label that reads like a type: it is the answer of somebody."""
    scale = Scale([q.Choice("c", ["red", "blue"])])

    def made(last: str) -> Any:
        connection = duckdb.connect()
        said = last.replace("'", "''")
        connection.execute(f"create type color as enum ('red', '{said}')")
        rows = f"select i as id, (case when i < 300 then 'red' else '{said}' end)::color as c"
        return connection.sql(f"{rows} from range(301) r(i)")

    assert scale.excess(made("blue"), made(label)) <= math.sqrt(2)  # one answer is another


def test_a_column_called_like_our_expressions_stays() -> None:
    """It tells people apart all the same, whatever it is called."""
    name = "halfnoise_expression0"
    table = pa.table({"id": range(100), name: range(100), "c": [2] * 100})
    workload = [q.Count(c("c") > 1, name="q")]
    scale = Scale(workload)
    for data in (table, table.to_pandas(), pl.from_arrow(table), duckdb.from_arrow(table)):
        found = exact_totals(data, scale.grid, scale.workload, [name])
        assert int(found.everyone[0]) == 100


def test_a_choice_among_words_on_numbers() -> None:
    """None of them can be, so everybody is elsewhere."""
    table = pa.table({"id": range(9), "c": range(9)})
    for data in (table, table.to_pandas(), pl.from_arrow(table)):
        assert Scale([q.Choice("c", ["x", "y"])]).totals(data).sums[0].tolist() == [[0, 0, 9]]


def test_no_missing_number_changes_what_is_said() -> None:
    """Where one is missing, pandas makes fractions of whole numbers: no error tells of that."""
    said, query = set[str](), hn.Count("x", at_least="2026-01-01")
    for last in (3, None, 0.5):
        frame = pd.DataFrame({"id": [1, 2], "x": [1, last]})
        with pytest.raises(hn.InvalidParameterError) as caught:
            hn.release(frame, [query], unit="id", privacy=hn.GaussianDP(mu=1))
        said.add(str(caught.value))
    assert len(said) == 1
