"""Every line is a row, whatever is in it, and no line reaches into another."""

import gzip
import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import halfnoise as hn
from halfnoise.data.sources import fetch, open_source, split
from halfnoise.data.sources import lines as own
from halfnoise.data.sources.source import TextFormat
from support import text_rows

NAMES = ("aa", "bb", "cc", "dd")
FORMATS: dict[str, dict[str, Any]] = {
    "csv": {},
    "tsv": {},
    "semicolons": {"delimiter": ";"},
    "single quotes": {"quote": "'"},
    "no quotes": {"quote": None},
    "a mark of several bytes": {"delimiter": "ä", "quote": "😀"},
}
ENCODINGS = ("latin-1", "cp1252", "cp037", "utf-16", "utf-16-be", "utf-32", "utf-32-be", "gb18030",
             "shift_jis", "euc_jis_2004", "big5", "utf-8-sig", "ascii")  # fmt: skip
WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


def read(data: object, columns: Sequence[str] = NAMES, **text: Any) -> list[text_rows.Row]:
    """Return the rows of a file in their order."""
    with open_source(data, text=TextFormat(**text)) as opened:
        source = opened.of(columns)
        source.fill()
        return fetch(source.frame.select(*(source.names[column] for column in columns)))


def write(path: Path, content: bytes) -> Path:
    """Write a file, zipped where its name says so."""
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_odd_lines(name: str, tmp_path: Path) -> None:
    """Files of the oddest lines are read as a slow rule reads them, line by line."""
    text, draw = FORMATS[name], random.Random(name)
    ending = "tsv" if name == "tsv" else "csv"
    mark = text.get("delimiter", "\t" if name == "tsv" else ",")
    header = mark.join(NAMES).encode() + b"\n"
    rule = {"columns": 4, "delimiter": mark, "quote": text.get("quote", '"')}
    for i, lines in enumerate((0, 1, 2, 300, 300)):
        body = text_rows.odd_file(draw, b"\n", lines).replace(b",", mark.encode())
        path = write(tmp_path / f"{i}.{ending}{'.gz' if i % 2 else ''}", header + body)
        assert read(path, **text) == text_rows.rows(header + body, header=True, **rule)
        marked = b"\xef\xbb\xbf" * (i % 2) + (body or b"\n")
        bare = write(tmp_path / f"bare{i}.{ending}{'.gz' if i > 2 else ''}", marked)
        expected = text_rows.rows(marked, header=False, **rule)
        assert read(bare, names=NAMES, **text) == expected


@pytest.mark.parametrize(("letters", "most"), [('x,"', 9), ('x,"\x1e', 6)])
def test_all_short_lines(letters: str, most: int, tmp_path: Path) -> None:
    """Every line of a few letters, quotes and delimiters is split as a slow rule splits it."""
    drawn = (itertools.product(letters, repeat=size) for size in range(most + 1))
    content = "".join(f"{''.join(line)}\n" for lines in drawn for line in lines).encode()
    names = [f"c{i}" for i in range(6)]
    path = write(tmp_path / "all.csv", content)
    expected = text_rows.rows(content, header=False, columns=6)
    assert read(path, names, names=names) == expected


def test_plain_files_together(tmp_path: Path) -> None:
    """Files that need no copy, zipped or not, with a mark at their start or not, are all read."""
    clean = b'1,"a, b",3\n\n"4","5"\n6,"7\n8\n'
    expected = [("1", "a, b", "3"), (None,) * 3, ("4", "5", None), ("6", None, None)]
    expected.append(("8", None, None))
    for names, header in ((NAMES[:3], b""), (None, b"aa,bb,cc\n")):
        contents = [header + clean, b"\xef\xbb\xbf" + header + clean] * 2
        endings = ("csv", "csv", "csv.gz", "csv.gz")
        paths = [
            write(tmp_path / f"{i}.{e}", c)
            for i, (e, c) in enumerate(zip(endings, contents, strict=True))
        ]
        assert read(paths, NAMES[:3], names=names) == expected * 4
    for more in (b"", b"\r\n"):  # which needs a copy
        twice = write(tmp_path / "twice.csv", b"\xef\xbb\xbf\xef\xbb\xbf1\n" + more)
        assert read(twice, ["aa"], names=["aa"])[0] == ("1",)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "jsonl.gz"])
def test_whoever_comes_first_is_read_as_others(ending: str, tmp_path: Path) -> None:
    """A mark at the start of a row is left out wherever it stands, not of the first row alone."""
    marked, plain = "\ufeff1", "\ufeff\ufeff2"
    asked: dict[str, Any] = {"names": ["aa"]}
    if ending.startswith("jsonl"):
        marked, plain, asked = '\ufeff{"aa": 1}', '\ufeff\ufeff{"aa": 2}', {}
    for lines in ([marked, plain], [plain, marked]):
        path = write(tmp_path / f"a.{ending}", "".join(f"{line}\n" for line in lines).encode())
        found = read(path, ["aa"], **asked)
        assert found == [("1" if line == marked else "2",) for line in lines]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_odd_lines_in_other_encodings(encoding: str, tmp_path: Path) -> None:
    """Bytes that an encoding does not know, or that end within a character, spoil one line.

    Those of a line break end one where they are a unit, and not where they lie in two.
    """
    draw = random.Random(encoding)
    plain = encoding.removesuffix("-sig")
    plain += "-le" if plain in ("utf-16", "utf-32") else ""

    width = len("\n".encode(plain))

    def line() -> bytes:
        odd = text_rows.odd_line(draw)
        if draw.random() > 0.3:
            return odd.decode("utf-8", "ignore").encode(plain, "ignore")
        if width > 1 and draw.random() < 0.5:
            odd += bytes(draw.choices(b"\n\0\0\0\xd8\xdc\xff", k=40))
        return odd[: len(odd) // width * width]

    for i in range(3):
        start = "\ufeff" if i == 1 and encoding.startswith("utf") else ""
        lines = [(start + ",".join(NAMES)).encode(plain), *(line() for _ in range(200))]
        content = "\n".encode(plain).join(lines)
        path = write(tmp_path / f"{i}.csv", content)
        declared = encoding.removesuffix("-sig")
        expected = text_rows.rows(content, header=True, encoding=declared, columns=4)
        assert read(path, encoding=encoding) == expected


@pytest.mark.parametrize("encoding", WIDE)
def test_a_line_break_is_a_whole_unit(encoding: str, tmp_path: Path) -> None:
    """Letters between which lie the bytes of a line break are one person's, also many of them."""
    texts = ["\u0a17\u4e00", "\u4e00\u0a17", "\u010a\u0a00" * 9, "\U00010a00\U00010000", "\ud800"]
    for i, text in enumerate([*texts, "\u0a17\u4e00" * 600_000]):
        for last in ("", "\n"):
            lines = ["aa,bb", f"{text},1", "2,2", f"3,{text}"]
            content = ("\ufeff" * (i % 2) + "\n".join(lines)).encode(encoding, "surrogatepass")
            content += last.encode(encoding)
            expected = text_rows.rows(content, header=True, encoding=encoding, columns=2)
            assert len(expected) == 3
            assert (
                read(write(tmp_path / "a.csv", content), NAMES[:2], encoding=encoding) == expected
            )


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl"])
def test_half_of_a_character_at_the_end(name: str, encoding: str, tmp_path: Path) -> None:
    """A file that is not made of whole units is refused: by its size, or once it is unzipped."""
    whole = "aa,bb\n" + "1,2\n" * 2000
    for cut in range(1, 4 if "32" in encoding else 2):
        path = write(tmp_path / name, whole.encode(encoding)[:-cut])
        refusal = pytest.raises(hn.DataError, match="is cut short: its bytes are not whole")
        with open_source(path, text=TextFormat(encoding=encoding)) as source, refusal:
            (source.of(["aa"]).fill if name.endswith(".gz") else source.check_whole)()


def test_padded_gzip(tmp_path: Path) -> None:
    """Zeros after and between the parts of a zipped file change nothing, with odd rows or not."""
    for rows in (b"1\n2\n", b"1\n2\r\n", b"1\n2\n" * 200):
        one = gzip.compress(b"aa\n" + rows)
        for zeros in (0, 1, 2, 3, 4, 512):
            for times, more in ((1, []), (2, [gzip.compress(rows)]), (1, [gzip.compress(b"")])):
                content = b"".join(part + b"\0" * zeros for part in [one, *more])
                (path := tmp_path / "a.csv.gz").write_bytes(content)
                expected = [("1",), ("2",)] * rows.count(b"1")
                assert read(path, ["aa"]) == expected * times


def test_odd_json_lines(tmp_path: Path) -> None:
    """A line that is no JSON object is a row of missing cells, and others hold them as text."""
    draw = random.Random(5)
    columns = text_rows.KEYS
    lines = [text_rows.odd_object(draw) for _ in range(1000)]
    lines += [b'{"aa": "\xff", "bb": "1"}', b'{"aa": "a\rb"}', b'{"bb": "1"}\r', b'{"aa": "\0"}']
    lines += [b'{"aa": "' + b"x" * 2**21 + b'"}', b'{"aa": "' + b"x" * (2**21 - 10) + b'"}', b"{}"]
    draw.shuffle(lines)
    for name, some in (("a.jsonl", lines), ("b.jsonl.gz", lines), ("c.jsonl", lines[:20])):
        content = b"\n".join(some)
        path = write(tmp_path / name, content)
        assert read(path, columns) == text_rows.objects(content, columns)


def test_no_memory_is_no_missing_cell() -> None:
    """What forgives a line that is no JSON does not forgive a line for which memory is short."""
    with duckdb.connect(config={"temp_directory": "", "threads": 1}) as engine:
        long = """'{"a": [' || repeat('1,', 2000000) || '1]}'"""
        engine.execute(f"create table lines as select unnest([{long}, '{{']) as line")
        read = "select count(try(json_extract_string(line, ['/b']))) from lines"
        assert engine.execute(read).fetchall() == [(1,)]
        engine.execute("set memory_limit = '24MB'")
        with pytest.raises(duckdb.OutOfMemoryException):
            engine.execute(read)


def test_tables_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of some columns each are filled together, and all bytes are looked at once."""
    looked_at: list[Path] = []
    copy = own.Lines.copy

    def copied(lines: own.Lines, path: Path, rows: None) -> own.Readable:
        looked_at.append(path)
        return copy(lines, path, rows)

    monkeypatch.setattr(own.Lines, "copy", copied)
    path = write(tmp_path / "a.csv", b"aa,bb,cc\n1,2,3\r\n")
    with open_source(path, text=TextFormat()) as opened:
        tables = [(columns, opened.of(columns)) for columns in (["cc", "aa"], ["bb"], [])]
        tables[0][1].fill()
        found = [fetch(table.frame) for _, table in tables]
        assert found == [[("3", "1")], [("2",)], [(1,)]]
        (later := opened.of(["bb"]).of(["aa"])).fill()
        assert fetch(later.frame) == [("1",)]
    assert len(looked_at) == 1


def test_long_lines(tmp_path: Path) -> None:
    """A line of two MB is read; of one byte more all cells are missing, wherever it stands."""
    longest = text_rows.LONGEST
    draw = random.Random(6)
    sizes = [longest, longest + 1, longest - 1, 5 * longest, 3, longest, 3, 0, longest + 2, 7]
    for encoding in ("utf-8", "utf-16-le"):
        width = len("x".encode(encoding))
        draw.shuffle(sizes)
        lines = [("1,2,3," + "x" * (size // width - 6))[: size // width] for size in sizes]
        content = "\n".join([",".join(NAMES), *lines]).encode(encoding)
        path = write(tmp_path / "long.csv", content)
        expected = text_rows.rows(content, header=True, columns=4, encoding=encoding)
        assert read(path, encoding=encoding) == expected
        assert len(expected) == len(sizes)


@pytest.mark.parametrize("encoding", ["cp1252", "koi8-r", "shift_jisx0213", "gb18030"])
def test_long_lines_that_grow(encoding: str, tmp_path: Path) -> None:
    """Of what is three bytes of UTF-8 for one of its own, two MB are still a row."""
    (longest,) = [mark for mark in "€╠ナか" if len(mark.encode(encoding, "ignore")) in (1, 2)][:1]
    row = longest.encode(encoding)
    row = b"1,2,3," + row * ((text_rows.LONGEST - 6) // len(row))
    content = b"\n".join([",".join(NAMES).encode(), b"1,2,3,4", row, b"5,6,7,8", b""])
    found = read(write(tmp_path / "long.csv", content), encoding=encoding)
    assert [each[:3] for each in found] == [("1", "2", "3"), ("1", "2", "3"), ("5", "6", "7")]


@pytest.mark.parametrize("encoding", ["utf-8", *WIDE])
def test_lines_between_blocks(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever blocks end, lines are those that a look at all bytes finds, long ones left out."""
    draw = random.Random(encoding)
    end = "\n".encode(encoding)
    for _ in range(400):
        monkeypatch.setattr(own, "LONGEST", longest := draw.choice([8, 16, 40]))
        size = 4 * draw.choice([1, 2, longest // 4])
        odd = bytes(draw.choices(b"\n\0\0\0\xd8a", k=4 * draw.randint(0, 60)))
        content = odd.replace(b"a", end * draw.randint(0, 2)) if draw.random() < 0.5 else odd
        path = write(tmp_path / "a.csv", content := content[: len(content) // 4 * 4])
        with path.open("rb") as file:
            blocks = [*own.Lines.of(path, file, encoding).blocks(size)]
        found = [
            line
            for block in blocks
            for line in ([None] if block is None else text_rows.cut(block, end)[:-1])
        ]
        expected = text_rows.cut(content, end)
        expected = expected if expected[-1] else expected[:-1]
        assert found == [None if len(line) > longest else line for line in expected]


@pytest.mark.parametrize("quote", ['"', None])
def test_no_line_is_lost_between_threads(
    quote: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file is cut into many parts that are read at once, each line is in one of them."""
    draw = random.Random(7)
    odd = {*text_rows.UNREADABLE, "\ufffd"}
    pieces = [piece for piece in text_rows.PIECES if not odd & {*piece.decode("utf-8", "replace")}]
    for longest in (310, 500, 501, 1000, 4096):
        monkeypatch.setattr(split, "LONGEST", longest)
        lines = [b"".join(draw.choices(pieces, k=draw.choice([0, 0, 1, 3]))) for _ in range(4000)]
        lines = [line[:longest] if line[:longest].isascii() else b"" for line in lines]
        content = b"aa,bb,cc,dd\n" + b"\n".join(lines) + b"\n" * (longest % 2)
        path = write(tmp_path / f"many.csv{'.gz' if longest == 500 else ''}", content)
        expected = text_rows.rows(content, header=True, columns=4, quote=quote)
        assert read(path, quote=quote) == expected
