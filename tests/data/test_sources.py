import gzip
import os
import socket
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfnoise as hn
from halfnoise.data.sources import fetch, open_source
from halfnoise.data.sources.files import _KNOWN
from halfnoise.data.sources.source import TextFormat
from halfnoise.spec.header import Header

q: Any = hn  # what strict types would refuse is tried, too

Row = tuple[Any, ...]


def read(data: object, columns: list[str], **text: Any) -> list[Row]:
    """Return the rows of some columns."""
    with open_source(data, text=TextFormat(**text)) as opened:
        source = opened.of(columns)
        source.fill()
        own = [source.names[column] for column in columns]
        return fetch(source.rows().select(*own))


def refused(data: object, columns: list[str], **text: Any) -> str:
    """Return the sentence with which a table is refused."""
    with pytest.raises(hn.HalfnoiseError) as caught:
        read(data, columns, **text)
    assert caught.value.__context__ is None or isinstance(caught.value, hn.InvalidParameterError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def written(path: Path, content: bytes | str, encoding: str = "utf-8") -> Path:
    """Write a file and return its path."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    """A missing, empty or foreign file is each one sentence that names it."""
    empty = written(tmp_path / "empty.csv", "")
    foreign = written(tmp_path / "table.sav", "$FL2")
    blank = written(tmp_path / "blank.csv.gz", gzip.compress(b""))
    assert "there is no file" in refused(tmp_path / "nowhere.csv", ["a"])
    assert "there is no file" in refused(str(tmp_path / "*.tsv"), ["a"])
    assert "has not even a header" in refused(empty, ["a"])
    assert "no header line there" in refused(blank, ["a"])
    assert "--skip 1" in refused(written(tmp_path / "a.csv", "\na,b\n"), ["a"])
    assert "by its ending" in refused(foreign, ["a"])
    assert "download it" in refused("https://example.org/table.csv", ["a"])
    assert "download it" in refused("s3://bucket/table.parquet", ["a"])


@pytest.mark.parametrize("ending", _KNOWN)
@pytest.mark.parametrize("way", ["alone", "named", "folder", "link"])
def test_what_is_no_file(ending: str, way: str, tmp_path: Path) -> None:
    """A pipe, which nobody may ever write to, or a device without end, is told at once."""
    path = tmp_path / f"x{ending}"
    path.symlink_to("/dev/zero") if way == "link" else os.mkfifo(path)
    text = {"names": ["a"]} if way == "named" and ending in (".csv", ".tsv", ".xlsx") else {}
    assert "a pipe or a device" in refused(tmp_path if way == "folder" else path, ["a"], **text)


def test_text_under_the_name_of_what_is_zipped(tmp_path: Path) -> None:
    """Text is not unzipped, and its name says so."""
    for ending in ("csv.gz", "jsonl.gz"):
        plain = written(tmp_path / f"a.{ending}", "a,b\n1,2\n")
        assert "is not zipped as .gz files are; leave .gz out" in refused(plain, ["a"])


def test_a_file_that_is_taken_away(tmp_path: Path) -> None:
    """Where a file goes while it is read, that is told as any other change."""
    path = written(tmp_path / "a.csv", "a\n1\n")
    with open_source(path, text=TextFormat()) as opened:
        path.unlink()
        with pytest.raises(hn.TryAgainError, match="changed while it was read"):
            opened.unchanged()


@pytest.mark.parametrize("ending", [".csv.bz2", ".csv.zst", ".tsv.xz", ".zip", ".parquet.gz"])
def test_what_is_packed(ending: str, tmp_path: Path) -> None:
    """Nobody is told to rename it, which would make a header of its bytes."""
    said = refused(written(tmp_path / f"x{ending}", "a"), ["a"])
    assert "unpack it" in said
    assert "rename" not in said


def test_broken_files(tmp_path: Path) -> None:
    """Truncated gzip and broken Parquet are told as incomplete files."""
    zipped = gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)
    cut = written(tmp_path / "cut.csv.gz", zipped[:8])
    late = written(tmp_path / "late.csv.gz", zipped[:-20])
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    parquet = written(tmp_path / "cut.parquet", whole[:-9])
    assert "complete" in refused(cut, ["a"])
    assert "complete" in refused(cut, ["a"], encoding="latin-1")
    assert "complete" in refused(late, ["a"], encoding="latin-1")
    assert "complete" in refused(parquet, ["a"])
    with pytest.raises(hn.DataError, match="is complete"):
        hn.release(late, [q.Count("a")], row_is_person=True, privacy=hn.GaussianDP(mu=1))


def test_unknown_columns(tmp_path: Path) -> None:
    """An unknown column is told with the nearest and with all there are, to who knows another."""
    path = written(tmp_path / "table.csv", "smoker,age\n1,2\n")
    said = refused(path, ["age", "smokr"])
    assert "did you mean 'smoker'?" in said
    assert "'smoker', 'age'" in said
    assert "did you mean" not in refused(path, ["zzz", "age"])
    said = refused(path, ["smokr"])
    assert "has no column 'smokr'" in said
    assert "--names" in said
    assert "'smoker'" not in said
    old = written(tmp_path / "old.csv", "raucher;größe\n1;170\n".encode("latin-1"))
    assert all(word in refused(old, ["raucher"]) for word in ("--delimiter ';'", "--encoding"))
    pq.write_table(pa.table({"smoker": [1]}), tmp_path / "table.parquet")
    assert "did you mean 'smoker'?" in refused(tmp_path / "table.parquet", ["smokr"])


def test_spaces_around_names(tmp_path: Path) -> None:
    """Names of columns are what is between the spaces, and two that are then one are refused."""
    path = written(tmp_path / "table.csv", "id, smoker ,\tage\n1, yes,30\n")
    with open_source(path, text=TextFormat()) as source:
        assert source.columns == ["id", "smoker", "age"]
    twice = written(tmp_path / "twice.csv", "age, age\n1,2\n")
    assert "the same name" in refused(twice, ["age"])


def test_what_is_often_met(tmp_path: Path) -> None:
    """A line for Excel, titles, other line ends and other formats are told with what to do."""
    for mark in (None, ";"):
        path = written(tmp_path / "excel.csv", "sep=;\nid;smoker\n1;yes\n")
        assert "--skip 1 --delimiter ';'" in refused(path, ["smoker"], delimiter=mark)
    with open_source(path, text=TextFormat(skip=1, delimiter=";")) as source:
        assert source.columns == ["id", "smoker"]
    for text in ("Clinic, 2026\nid,smoker\n1,yes\n", "id,smoker\r1,yes\r"):
        said = refused(written(tmp_path / "titles.csv", text), ["smoker"])
        assert "--skip 3" in said
        assert "line feed" in said
    assert "jq" in refused(written(tmp_path / "list.json", "[]"), ["a"])
    assert "save it" in refused(written(tmp_path / "table.sav", "x"), ["a"])
    assert "of that format" in refused(written(tmp_path / "text.xlsx", "a,b\n1,2\n"), ["a"])


ROWS = (
    "Quirin Zoe,1958-03-02,HIV+",
    "Quirin,no,12",
    "Quirin,,zebra",
    "Quirin,a@zebra.org,zebra",
    "Quirin,zebra,zebra",
    '"Quirin;1958-03-02"',
    "Quirin 1958",
    "Quirin," + "zebra " * 20,
)


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_a_row_for_a_header(row: str, tmp_path: Path) -> None:
    """Where a file has no header, what is said shows no cell of its first row."""
    path = written(tmp_path / "table.csv", f"{row}\n{row}\n")
    other = written(tmp_path / "other.csv", "Xaver,1960-01-01,HIV-\n")
    for asked in (["name", "born"], ["Quirin", "born"], ["zebra", "Quiri"], ["HIV+", "Quiri"]):
        for paths in ([path], [path, other]):
            said = refused(paths, asked)
            shown = [cell for cell in ("Quirin", "zebra", "1958", "HIV", "Xaver") if cell in said]
            assert all(any(cell in name for name in asked) for cell in shown)


def test_a_row_matches_no_pattern(tmp_path: Path) -> None:
    """The cells of what could be a row are not shown as columns."""
    path = written(tmp_path / "table.csv", "Quirin,1958-03-02,HIV+\n")
    with open_source(path, text=TextFormat()) as source:
        assert source.could_be_a_row
        assert not Header.of(source).shown(["Qui*"], ["HIV+"])
    with open_source(path, text=TextFormat(names=("who", "born"))) as source:
        assert not source.could_be_a_row
        assert Header.of(source).shown(["*"], []) == ["who", "born"]


def test_a_file_without_a_header(tmp_path: Path) -> None:
    """Names that are declared make the first line a row, in each of several files."""
    one = written(tmp_path / "1.csv", "Alice,1\nBob,0\n")
    two = written(tmp_path / "2.csv.gz", gzip.compress(b"Carl,1"))
    assert read([one, two], ["who", "x"], names=["who", "x"]) == [
        ("Alice", "1"), ("Bob", "0"), ("Carl", "1")
    ]  # fmt: skip
    assert "there is no column 'y'; the table has 'who'" in refused(one, ["y"], names=["who"])
    lines = written(tmp_path / "3.jsonl", "{}\n")
    assert "names must be left out" in refused(lines, ["a"], names=["a"])


def test_no_row_at_all(tmp_path: Path) -> None:
    """A file without a header and without rows is a table of nobody, which is no error."""
    for name, content in (
        ("a.csv", b""),
        ("a.csv.gz", gzip.compress(b"")),
        ("b.csv", b"\xef\xbb\xbf"),
    ):
        assert read(written(tmp_path / name, content), ["a"], names=["a"]) == []


def test_options_of_other_files(tmp_path: Path) -> None:
    """What is said about text is refused where nothing of it would be looked at."""
    table = pa.table({"a": ["1"]})
    pq.write_table(table, tmp_path / "a.parquet")
    lines = written(tmp_path / "a.jsonl", '{"a": "1"}\n')
    options: dict[str, Any] = {"delimiter": ";", "quote": "'", "names": ["a"]}
    options |= {"quote_newlines": True, "encoding": "latin-1"}
    for name, value in options.items():
        for data in (tmp_path / "a.parquet", table, table.to_pandas()):
            assert f"{name} must be left out" in refused(data, ["a"], **{name: value})
        if name != "encoding":
            assert f"{name} must be left out" in refused(lines, ["a"], **{name: value})
    assert "quote must be left out" in refused(lines, ["a"], quote=None)
    for path in (tmp_path / "a.parquet", lines):
        assert read(path, ["a"], encoding="UTF8", decimal=",", quote='"') == [("1",)]


@pytest.mark.parametrize("encoding", ["utf-16", "UTF16", "utf_32", "U32"])
def test_names_need_the_order_of_bytes(encoding: str, tmp_path: Path) -> None:
    """Without a header a mark at the start is the first person's: it decides nothing for others."""
    width = "16" if "16" in encoding else "32"
    with pytest.raises(hn.InvalidParameterError, match=f"says its byte order.*utf-{width}-be"):
        TextFormat(names=["a"], encoding=encoding)
    lines = written(tmp_path / "a.jsonl", "{}\n")
    assert "says its byte order" in refused(lines, ["a"], encoding=encoding)
    for order in ("le", "be"):
        for start in ("", "\ufffe", "\ufeff"):
            rows = f"{start}1\nä\n".encode(f"utf-{width}-{order}", "surrogatepass")
            path = written(tmp_path / "a.csv", rows)
            found = read(path, ["a"], names=["a"], encoding=f"utf-{width}-{order}")
            assert found == [(f"{start.strip(chr(0xFEFF))}1",), ("ä",)]


def test_our_own_separator_is_no_mark() -> None:
    """The mark that stands between our cells is neither a delimiter nor a quote."""
    for name in ("delimiter", "quote", "decimal"):
        for mark in "\x1e\r\n\0":
            with pytest.raises(hn.InvalidParameterError, match=f"{name} must be one character"):
                TextFormat(**{name: mark})  # type: ignore[arg-type]  # one of three


def test_headers(tmp_path: Path) -> None:
    """Repeated columns, another delimiter and headers that differ are told from headers alone."""
    twice = written(tmp_path / "twice.csv", "a,b,a\n1,2,3\n")
    other = written(tmp_path / "other.csv", "a;b\n1;2\n")
    one = written(tmp_path / "1.csv", "a,b\n1,2\n")
    two = written(tmp_path / "2.csv", "b,a\n1,2\n")
    assert "have the same name" in refused(twice, ["a"])
    assert "--delimiter ';'" in refused(other, ["a"])
    assert read(other, ["b"], delimiter=";") == [("2",)]
    assert "differs from" in refused([one, two], ["a"])
    assert "named twice" in refused([one, one], ["a"])
    assert "one format" in refused([one, written(tmp_path / "3.tsv", "a\tb\n")], ["a"])


def test_repeated_columns_of_frames() -> None:
    """Repeated columns of a frame are told by name, and names must be text."""
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert "'a' is there twice" in refused(twice, ["a"])
    assert "there twice" in refused(pa.table([[1], [2]], names=["a", "a"]), ["a"])
    assert "must be text" in refused(pd.DataFrame([[1]]), ["a"])


def test_parquet_files_agree(tmp_path: Path) -> None:
    """Parquet files whose columns or types differ are refused: a cast could fail on a row."""
    pq.write_table(pa.table({"a": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "2.parquet")
    pq.write_table(pa.table({"b": [1]}), tmp_path / "3.parquet")
    assert "differ from" in refused([tmp_path / "1.parquet", tmp_path / "2.parquet"], ["a"])
    assert "differ from" in refused([tmp_path / "1.parquet", tmp_path / "3.parquet"], ["a"])


def test_folders_are_not_columns(tmp_path: Path) -> None:
    """A path such as year=2026 adds no column."""
    (tmp_path / "year=2026").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "year=2026" / "x.parquet")
    assert "no column 'year'" in refused(tmp_path / "year=2026" / "x.parquet", ["year"])


def test_formats_of_text() -> None:
    """A mark of several characters and an encoding that does not exist are refused."""
    wrong: dict[str, Any]
    for wrong in (
        {"delimiter": "ab"},
        {"quote": ""},
        {"decimal": None},
        {"decimal": "e"},
        {"delimiter": '"'},
        {"encoding": "utf-99"},
        {"encoding": None},
        {"names": []},
        {"names": "ab"},
        {"names": ["a", ""]},
        {"names": ["a", "a"]},
        {"quote": None, "quote_newlines": True},
    ):
        with pytest.raises(hn.InvalidParameterError):
            TextFormat(**wrong)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "cp1252"])
@pytest.mark.parametrize("zipped", [False, True])
def test_encodings(encoding: str, zipped: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """A declared encoding is read as declared, zipped or not, with a byte-order mark or not."""
    content = "näme,b\r\nä,1\r\nß,2\r\n".encode(encoding)
    name = "table.csv.gz" if zipped else "table.csv"
    path = written(tmp_path / name, gzip.compress(content) if zipped else content)
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    assert read(path, ["näme", "b"], encoding=declared) == [("ä", "1"), ("ß", "2")]


STATEFUL = ("iso2022_jp", "ISO-2022-KR", "hz", "utf-7", "unicode_escape", "raw_unicode_escape",
            "idna", "punycode")  # fmt: skip


@pytest.mark.parametrize("encoding", STATEFUL)
def test_encodings_that_remember(encoding: str) -> None:
    """An encoding in which one line can change how later ones are read is refused, with a way."""
    with pytest.raises(hn.InvalidParameterError, match=r"lines can be read alone.*iconv"):
        TextFormat(encoding=encoding)


def test_quotes(tmp_path: Path) -> None:
    """A quote does not span lines, unless that was said; with quote=None it is a letter."""
    path = written(tmp_path / "table.csv", 'a,b\n1,"x\n2,y"\n')
    assert read(path, ["b"], quote=None) == [('"x',), ('y"',)]
    assert read(path, ["a", "b"]) == [("1", None), ("2", 'y"')]
    assert read(path, ["a", "b"], quote_newlines=True) == [("1", "x\n2,y")]
    latin = written(tmp_path / "latin.csv", 'ä,b\r\n1,"ß\r\nß"\r\n2,\0\r\n', "latin-1")
    rows = read(latin, ["ä", "b"], quote_newlines=True, encoding="latin-1")
    assert rows == [("1", "ß\nß"), ("2", None)]


def test_empty_tables(tmp_path: Path) -> None:
    """A header alone, with or without a line end, and empty JSON lines are empty tables."""
    assert read(written(tmp_path / "1.csv", "a,b"), ["b"]) == []
    assert read(written(tmp_path / "2.csv", "a,b\r\n"), ["b"]) == []
    assert read(written(tmp_path / "3.jsonl", ""), ["b"]) == []
    release = hn.release(tmp_path / "1.csv", [q.Count("b")], unit="a", privacy=hn.GaussianDP(mu=1))
    assert abs(release["b"].estimate) < 100


def test_names_of_columns(tmp_path: Path) -> None:
    """Names that differ by case, are empty, quoted, or hold a line break are like others."""
    path = written(tmp_path / "table.csv", 'a,A,,"x ""y"" z","line\nbreak",hn_1\n1,2,3,4,5,6\n')
    columns = ["a", "A", "", 'x "y" z', "line\nbreak", "hn_1"]
    assert read(path, columns, quote_newlines=True) == [("1", "2", "3", "4", "5", "6")]
    table = pa.table([[1], [2]], names=["a", "A"])
    assert read(table, ["A", "a"]) == [(2, 1)]


def test_json_lines(tmp_path: Path) -> None:
    """Lines that are no object are rows of missing cells, whatever they are; names are exact."""
    lines = [
        b'\xef\xbb\xbf{"a/b~c": "x", "A": 1}',
        b'{"A": 2, "A": 3, "n": {"x": 1}}',
        b"{nope", b"5", b"null", b"[1]", b"", b'{"A": "\xff"}', b'{"A": 1} {"A": 2}',
        b'{"A": "' + b"z" * 4_000_000 + b'"}',
        b'{"A": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"A": null, "a/b~c": true}',
    ]  # fmt: skip
    path = written(tmp_path / "table.jsonl", b"\n".join(lines))
    rows = [
        row if len(row[1] or "") < 10 else (None,) * 3 for row in read(path, ["a/b~c", "A", "a"])
    ]
    nothing = (None, None, None)
    expected = [("x", "1", None), (None, "2", None), *[nothing] * 9, ("true", None, None)]
    assert rows == expected


def test_frames_that_are_not_promised() -> None:
    """What is no table is refused by kind, also a column, which Arrow can stream."""
    for data in (3, None, [], {"a": [1]}, pl.Series([1]), pa.chunked_array([[1]]), object()):
        assert "must be a path, or a pandas" in refused(data, ["a"])


class Stream:
    """Memory of Arrow that can be read once, as of any library that speaks its protocol."""

    def __init__(self, table: Any) -> None:
        """Start with nobody having read."""
        self.table, self.read = table, 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the memory out, and count."""
        self.read += 1
        assert self.read == 1
        return self.table.__arrow_c_stream__(requested_schema)


def test_streams_of_arrow_are_read_once() -> None:
    """A stream is a table, however many passes over its rows the queries need."""
    table = pl.DataFrame({"id": [1, 1, 2], "a": ["x", "y", "x"], "odd name": [1, 0, 1]})
    assert read(Stream(table), ["a", "odd name"]) == [("x", 1), ("y", 0), ("x", 1)]
    assert len(read(table.to_arrow().to_reader(), ["id"])) == 3
    queries = [q.Items("a", ["x", "y"], at_most=2)]
    rules: Any = {"unit": "id", "by": "odd name", "groups": [0, 1], "max_groups": 2}
    regions = hn.release(Stream(table), queries, privacy=hn.GaussianDP(mu=1e6), **rules)
    assert [round(each["a=x"].estimate) for _, each in regions.items()] == [0, 2, 0]
    assert "there is no column 'b'" in refused(Stream(table), ["b"])


def test_nothing_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network is used, and no extension can load itself."""

    def no_network(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(socket.socket, "connect", no_network)
    path = written(tmp_path / "table.csv", "a\n1\n")
    with open_source(path, text=TextFormat()) as opened:
        source = opened.of(["a"])
        settings = "select current_setting('autoload_known_extensions'), current_setting('autoinstall_known_extensions')"  # noqa: E501
        assert source.frame.to_native().query("t", settings).fetchall() == [(False, False)]


def test_a_relation_stays_as_it_is() -> None:
    """A user's relation is read on its own connection, and its tables stay."""
    connection = duckdb.connect()
    connection.execute("create table halfnoise_people as select 1 as id, 'x' as a")
    relation = connection.table("halfnoise_people")
    queries = [q.Items("a", ["x", "y"], at_most=1)]
    hn.release(relation, queries, unit="id", privacy=hn.GaussianDP(mu=1))
    assert connection.table("halfnoise_people").fetchall() == [(1, "x")]
